//! Prepared launches of declared kernels.

use std::fmt;
use std::marker::PhantomData;

use super::declared::Declared;
use crate::error::{Error, ErrorKind, Result};
use crate::function::Function;
use crate::launch::{
    self, ExtendedLaunchConfig, KernelArguments, Known, LaunchConfig, PreparedLaunch,
};
use crate::stream::AnyStream;

/// A launch of one kernel of the declaration `Set`, whose configuration has been checked.
///
/// Its field in the type that the macro writes is open to the code beside the declaration, as [`Declared`] is.
///
/// # Invariants
/// The function does what the kernel's declaration says, and the declaration lets the configuration through where it does not depend on
/// arguments.
pub struct DeclaredLaunch<Set, const NUMBER: usize> {
    launch: PreparedLaunch<ExtendedLaunchConfig>,
    /// The fewest elements that have this grid by `for_len`.
    fewest: u64,
    /// How many more may be there.
    more: u64,
    set: PhantomData<fn() -> Set>,
}

impl<Set, const NUMBER: usize> Declared<Set, NUMBER> {
    /// Checks a configuration against kernel and device.
    ///
    /// # Errors
    /// As [`Function::prepare`].
    ///
    /// # Safety
    /// The kernel's declaration lets the configuration through where it does not depend on arguments.
    pub unsafe fn prepare(
        &self,
        config: ExtendedLaunchConfig,
    ) -> Result<DeclaredLaunch<Set, NUMBER>> {
        let LaunchConfig { grid, block, .. } = config.config;
        let (blocks, threads) = (u64::from(grid.x), u64::from(block.x));
        // The first block is there for no elements too.
        let fewest = match blocks {
            0 | 1 => 0,
            more => (more - 1) * threads + 1,
        };
        Ok(DeclaredLaunch {
            launch: self.function().prepare(config)?,
            fewest,
            more: (blocks * threads).saturating_sub(fewest),
            set: PhantomData,
        })
    }
}

impl<Set, const NUMBER: usize> DeclaredLaunch<Set, NUMBER> {
    /// Enqueues the kernel as [`PreparedLaunch::launch`] does. The software driver knows its name, as that of [`Declared::launch_declared`].
    ///
    /// # Errors
    /// As [`Function::launch`].
    ///
    /// # Safety
    /// As [`Declared::launch_declared`].
    #[inline(always)]
    pub unsafe fn launch_declared<const NO_GLOBALS: bool, S: AnyStream, A: KernelArguments>(
        &self,
        stream: &S,
        arguments: A,
    ) -> Result<()> {
        let known = Known {
            fits: true,
            touches_no_globals: NO_GLOBALS,
        };
        // SAFETY: the caller's promise.
        unsafe { launch::launch(self.function(), stream, &self.launch, known, arguments) }
    }

    /// Whether the grid is that of `for_len` with so many elements.
    #[inline(always)]
    #[must_use]
    pub fn is_for_len(&self, len: usize) -> bool {
        let len = u64::try_from(len).unwrap_or(u64::MAX);
        len.wrapping_sub(self.fewest) <= self.more
    }

    /// That the elements have another grid by the declaration, of which `text` is the length.
    #[cold]
    #[inline(never)]
    #[must_use]
    pub fn wrong_len(&self, kernel: &'static str, text: &'static str, len: usize) -> Error {
        let LaunchConfig { grid, block, .. } = self.config().config;
        let (fewest, most) = (self.fewest, self.fewest.saturating_add(self.more));
        let reason = format!(
            "`{text}` is {len}, and it is prepared for {fewest} to {most}, which is a grid of {grid} with blocks of {block}"
        );
        Error::new(ErrorKind::ArgumentMismatch, reason)
            .doing(format!("launch `{kernel}`"))
            .remedied_by("prepare another launch for so many, or launch it unprepared")
    }

    /// The configuration, with what the declaration adds.
    #[must_use]
    pub fn config(&self) -> ExtendedLaunchConfig {
        self.launch.config()
    }

    /// The function.
    #[must_use]
    pub fn function(&self) -> &Function {
        self.launch.function()
    }
}

impl<Set, const NUMBER: usize> Clone for DeclaredLaunch<Set, NUMBER> {
    fn clone(&self) -> Self {
        Self {
            launch: self.launch.clone(),
            ..*self
        }
    }
}

impl<Set, const NUMBER: usize> fmt::Debug for DeclaredLaunch<Set, NUMBER> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.launch.fmt(f)
    }
}
