//! Words of memory that streams write and wait for.

use crate::code;
use crate::report::{AccessKind, Report, ReportKind};
use crate::state::State;
use crate::state::order::clock::{Clock, Mark};
use crate::state::queue::{OperationId, Work};
use crate::state::space::Presence;

/// A word with a value to be written, or to be compared with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Word {
    pub(crate) address: u64,
    /// Bytes: 4 or 8.
    pub(crate) width: usize,
    pub(crate) value: u64,
}

/// What a wait wants of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Condition {
    /// No less than the value, counted around.
    AtLeast,
    Equal,
    /// A bit is set that is set in the value.
    And,
    /// A bit is clear that is clear in the value.
    Nor,
}

impl Condition {
    fn holds(self, found: u64, word: &Word) -> bool {
        let value = word.value;
        // The sign that counts is that of the word.
        let unused = 64 - 8 * word.width as u32;
        match self {
            Self::AtLeast => (found.wrapping_sub(value) << unused).cast_signed() >= 0,
            Self::Equal => found << unused == value << unused,
            Self::And => found & value != 0,
            Self::Nor => !(found | value) << unused != 0,
        }
    }
}

impl State {
    /// What a word holds; nothing where it is not there, or nobody has written it.
    fn word(&self, word: &Word) -> Option<u64> {
        let block = self.space.covering(word.address)?;
        let mut bytes = [0; 8];
        let part = bytes.get_mut(..word.width)?;
        let offset = (word.address - block.address) as usize;
        block.read(offset, part).is_none().then_some(())?;
        Some(u64::from_le_bytes(bytes))
    }

    /// Whether an operation waits for a word whose value is not there yet. A wait for memory that is gone does not: it fails.
    pub(crate) fn is_blocked(&self, operation: OperationId) -> bool {
        let operation = self.operations.get(&operation);
        let Some(Work::Await { word, condition }) = operation.map(|operation| &operation.work)
        else {
            return false;
        };
        let live = self
            .space
            .covering(word.address)
            .is_some_and(|block| matches!(block.presence, Presence::Live(_)));
        let context = operation.map(|operation| operation.context);
        let healthy = context.is_some_and(|context| self.healthy(context).is_ok());
        let holds = |found| condition.holds(found, word);
        live && healthy && !self.word(word).is_some_and(holds)
    }

    /// Ends a wait whose condition holds: whoever wrote the word comes before what follows in the stream.
    pub(crate) fn end_wait(&mut self, word: &Word, wait: Mark) {
        let Some(block) = self.space.covering(word.address) else {
            return;
        };
        let start = word.address..word.address + word.width as u64;
        let touched = self.touches(AccessKind::Read, std::iter::once(start));
        let mut seen = Clock::default();
        let history = self.space.histories.of(block.address);
        for access in history.into_iter().flat_map(|history| history.iter()) {
            let here = |touch: &crate::state::order::check::Touch| {
                touch.bytes.first_common(&access.bytes).is_some()
            };
            if access.kind != AccessKind::Read && touched.iter().any(here) {
                seen.join(&access.actor.moment.seen());
            }
        }
        self.order.put_before(wait, seen);
    }

    /// Gives up waits that nothing has ended for long: their contexts are lost, as when a kernel runs for too long.
    pub(crate) fn give_up_waits(&mut self, blocked: &[OperationId]) {
        for id in blocked {
            let Some(operation) = self.operations.get(id) else {
                continue;
            };
            let (context, call) = (operation.context, operation.call);
            if let Work::Await { word, condition } = operation.work {
                let found = match self.word(&word) {
                    Some(found) => format!("holds {found:#x}"),
                    None => String::from("was never written"),
                };
                let message = format!(
                    "a stream waits for the word at {:#x} to compare with {:#x} ({condition:?}); the word {found}, and nothing wrote \
                     it in {:?}: a real driver would wait for ever",
                    word.address, word.value, self.options.wait_patience
                );
                let mut report = Report::new(ReportKind::Deadlock, message, call);
                report.address = Some(word.address);
                report.size = Some(word.width);
                self.add_report(report);
            }
            self.poison(context, code::LAUNCH_TIMEOUT);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_look_at_their_word_only() {
        let word = |width, value| Word {
            address: 0,
            width,
            value,
        };
        let small = word(4, 5);
        for (found, at_least, equal) in [(4, false, false), (5, true, true), (6, true, false)] {
            assert_eq!(Condition::AtLeast.holds(found, &small), at_least);
            assert_eq!(Condition::Equal.holds(found, &small), equal);
        }
        // Counted around: 2 comes after 0xffff_fff0.
        assert!(Condition::AtLeast.holds(2, &word(4, 0xffff_fff0)));
        assert!(!Condition::AtLeast.holds(2, &word(8, u64::MAX / 2 + 1)));
        assert!(Condition::And.holds(6, &word(4, 2)) && !Condition::And.holds(5, &word(4, 2)));
        assert!(!Condition::Nor.holds(0xffff_fff0, &word(4, 15)));
        assert!(Condition::Nor.holds(0xffff_fff0, &word(8, 15)));
    }
}
