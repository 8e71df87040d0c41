//! Programmatic dependent launch: a kernel that begins before the one before it has ended.

use std::fmt;

use crate::Memory;

/// The launch before, as a kernel sees it that may begin ahead of its end.
///
/// A thread has waited for it once it has executed `griddepcontrol.wait`, or has come through a barrier of its block or cluster, or a `.sync`
/// instruction of its warp, together with a thread that had. What else may order threads, such as flags in memory, is not followed.
pub trait Prerequisite: fmt::Debug + Sync {
    /// Global memory for threads that have not waited.
    fn memory(&self) -> &dyn Memory;

    /// A thread waits. On return, the launch before has ended, and the launch's own memory shows what it wrote.
    ///
    /// # Errors
    /// It has failed, and with it this launch.
    fn wait(&self) -> Result<(), Abandoned>;
}

/// The launch before has failed: see [`Prerequisite::wait`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abandoned;
