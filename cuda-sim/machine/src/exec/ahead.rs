//! Threads that run ahead of the end of the launch before: what they see of memory, and how they come to have waited for it.

use crate::code::Instr;
use crate::exec::env::{Env, LaneError};
use crate::exec::scope::Scope;
use crate::{FaultKind, Launch, Memory};

/// The lanes of a warp at its start for which the launch before has ended.
pub(super) fn at_start(launch: &Launch<'_>) -> u32 {
    if launch.prerequisite.is_some() {
        0
    } else {
        u32::MAX
    }
}

impl<'a> Env<'a> {
    /// Global memory as those lanes see it together.
    #[inline(always)]
    pub(crate) fn memory(&self, lanes: u32) -> &'a dyn Memory {
        if lanes & !self.waited == 0 {
            self.shape.memory
        } else {
            self.early_memory()
        }
    }

    #[cold]
    fn early_memory(&self) -> &'a dyn Memory {
        let before = self.shape.launch.prerequisite;
        before.map_or(self.shape.memory, |before| before.memory())
    }

    /// Lanes have met: what one of them has waited for, the others have too.
    #[inline(always)]
    pub(crate) fn share_waiting(&mut self, lanes: u32) {
        if self.waited & lanes != 0 {
            self.waited |= lanes;
        }
    }
}

/// `griddepcontrol.wait`
pub(crate) fn wait(
    _: &Instr,
    _: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
) -> Result<(), LaneError> {
    if mask & !env.waited != 0
        && let Some(before) = env.shape.launch.prerequisite
    {
        before.wait().map_err(|_| LaneError {
            lane: mask.trailing_zeros() as usize,
            kind: FaultKind::Abandoned,
        })?;
    }
    env.waited |= mask;
    Ok(())
}
