//! Vector clocks: of each stream the last operation that something is known to come after.

use crate::state::queue::{OperationId, StreamId};

/// One operation of a stream, as clocks know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) stream: StreamId,
    pub(crate) operation: OperationId,
}

/// What something comes after.
///
/// # Invariants
/// Sorted by stream, each stream once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Clock(Vec<Mark>);

impl Clock {
    /// Whether the operation comes before.
    pub(crate) fn knows(&self, mark: Mark) -> bool {
        match self.position(mark.stream) {
            Ok(index) => self
                .0
                .get(index)
                .is_some_and(|last| last.operation >= mark.operation),
            Err(_) => false,
        }
    }

    fn position(&self, stream: StreamId) -> Result<usize, usize> {
        self.0.binary_search_by_key(&stream, |mark| mark.stream)
    }

    /// Adds an operation, and with it all before it in its stream.
    pub(crate) fn add(&mut self, mark: Mark) {
        match self.position(mark.stream) {
            Ok(index) => {
                if let Some(last) = self.0.get_mut(index) {
                    last.operation = last.operation.max(mark.operation);
                }
            }
            Err(index) => self.0.insert(index, mark),
        }
    }

    /// Adds everything that `other` comes after.
    pub(crate) fn join(&mut self, other: &Self) {
        if self.0.is_empty() {
            self.0.clone_from(&other.0);
            return;
        }
        for mark in &other.0 {
            self.add(*mark);
        }
    }

    /// Whether joining `other` would change nothing.
    pub(crate) fn includes(&self, other: &Self) -> bool {
        other.0.iter().all(|mark| self.knows(*mark))
    }

    /// Keeps the entries for which `keep` says yes.
    pub(crate) fn retain(&mut self, keep: impl Fn(Mark) -> bool) {
        self.0.retain(|mark| keep(*mark));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(stream: u64, operation: u64) -> Mark {
        Mark {
            stream: StreamId(stream),
            operation: OperationId(operation),
        }
    }

    #[test]
    fn joining_keeps_the_later_operation_of_each_stream() {
        let (mut one, mut other) = (Clock::default(), Clock::default());
        one.add(mark(2, 5));
        one.add(mark(1, 9));
        other.add(mark(2, 7));
        other.add(mark(3, 8));
        assert!(!one.includes(&other));
        one.join(&other);
        assert!(one.includes(&other));
        assert!(one.knows(mark(2, 7)) && !one.knows(mark(2, 8)));
        assert!(one.knows(mark(1, 1)) && !one.knows(mark(4, 1)));
    }
}
