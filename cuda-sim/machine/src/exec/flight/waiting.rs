//! Threads that ask a barrier in memory again and again: when none of them can ever get another answer.

use super::SharedAt;
use crate::exec::findings::Seen;

/// Questions in vain after which threads that do nothing else are taken to wait for ever: far more than any that gives up after a while
/// asks, for on a GPU each one takes its time.
const ENOUGH: u64 = 20_000;

/// A question that was answered with no.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Poll {
    pub(crate) seen: Seen,
    /// The barrier.
    pub(crate) at: SharedAt,
}

/// What the threads of a cluster have done since somebody looked.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    /// Accesses that were no questions.
    pub(crate) accesses: u64,
    /// Questions in vain, and the last one of them.
    pub(crate) polls: u64,
    pub(crate) last: Option<Poll>,
    /// Questions in vain since anything else was done.
    in_vain: u64,
}

/// What has happened in a round of turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Round {
    /// Something other than questions.
    Busy,
    /// Questions, all of them in vain.
    Quiet,
    /// And so for so long that it will stay so, unless something in flight helps.
    Hopeless,
}

impl Waiting {
    /// Looks at a round in which something beside accesses happened or not.
    pub(crate) fn round(&mut self, happened: bool) -> Round {
        let accesses = std::mem::take(&mut self.accesses);
        let polls = std::mem::take(&mut self.polls);
        if happened || accesses > 0 || polls == 0 {
            self.in_vain = 0;
            return Round::Busy;
        }
        self.in_vain += polls;
        if self.in_vain < ENOUGH {
            Round::Quiet
        } else {
            Round::Hopeless
        }
    }
}
