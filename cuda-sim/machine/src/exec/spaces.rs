//! The address spaces and the windows through which generic addresses see them.

use crate::{LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, WINDOW_SIZE};

/// Address at which the parameter memory of calls starts within the parameter space; the kernel's own parameters lie below.
pub(crate) const CALL_PARAMS: u64 = 1 << 20;

/// The state space that an instruction names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Space {
    Generic,
    /// `.global` and `.const`
    Global,
    /// The block's own shared memory.
    Shared,
    Local,
    Param,
    /// The shared memory of all blocks of the cluster.
    Cluster,
}

impl Space {
    /// As it travels in an instruction.
    pub(crate) const fn code(self) -> u32 {
        self as u32
    }

    pub(crate) fn from_code(code: u32) -> Self {
        match code {
            1 => Self::Global,
            2 => Self::Shared,
            3 => Self::Local,
            4 => Self::Param,
            5 => Self::Cluster,
            _ => Self::Generic,
        }
    }
}

/// The window that a generic address lies in, and its offset there.
fn window_of(address: u64) -> Option<(Space, u64)> {
    let offset = address & 0xffff_ffff_ffff;
    let space = match address - offset {
        SHARED_WINDOW => Space::Cluster,
        LOCAL_WINDOW => Space::Local,
        PARAM_WINDOW => Space::Param,
        _ => return None,
    };
    (offset < WINDOW_SIZE).then_some((space, offset))
}

/// Where a generic address leads.
pub(crate) fn resolve(space: Space, address: u64) -> (Space, u64) {
    if space == Space::Generic {
        window_of(address).unwrap_or((Space::Global, address))
    } else {
        (space, address)
    }
}
