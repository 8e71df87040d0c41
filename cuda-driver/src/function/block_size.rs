//! The block size with which the device is fullest.

use std::any::Any;
use std::cell::Cell;
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::NonNull;

use super::occupancy::shared_bytes;
use super::{Function, OccupancyFlags};
use crate::call;
use crate::error::{Error, Result};
use crate::launch::LaunchConfig;
use crate::process;

/// The block size with which most threads run at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PotentialBlockSize {
    /// Threads in a block.
    pub block: u32,
    /// The fewest blocks that fill the device.
    pub min_grid: u32,
}

impl Function {
    /// The block size with which most threads of this kernel run at the same time, where a block of `n` threads has
    /// `dynamic_shared_bytes(n)` bytes of dynamic shared memory.
    ///
    /// The closure is called for several sizes, and must not call this crate.
    ///
    /// # Errors
    /// What the driver returns.
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # #[cfg(feature = "simulator")] {
    /// # let context = cuda_driver::Driver::simulated()?.device(0)?.primary_context()?;
    /// # let module = context.load_ptx(
    /// #     ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry nothing() { ret; }",
    /// # )?;
    /// let nothing = module.function("nothing")?;
    /// let best = nothing.potential_block_size(|threads| threads * 8)?;
    /// assert!(best.block >= 32 && best.min_grid > 0);
    /// # }
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "cuOccupancyMaxPotentialBlockSize")]
    pub fn potential_block_size(
        &self,
        mut dynamic_shared_bytes: impl FnMut(u32) -> u32,
    ) -> Result<PotentialBlockSize> {
        self.search(None, &mut dynamic_shared_bytes)
    }

    /// The same among blocks of up to `block_limit` threads (0 for no limit of its own), with flags.
    ///
    /// # Errors
    /// As [`Function::potential_block_size`].
    #[doc(alias = "cuOccupancyMaxPotentialBlockSizeWithFlags")]
    pub fn potential_block_size_with(
        &self,
        block_limit: u32,
        flags: OccupancyFlags,
        mut dynamic_shared_bytes: impl FnMut(u32) -> u32,
    ) -> Result<PotentialBlockSize> {
        let limit = c_int::try_from(block_limit).unwrap_or(c_int::MAX);
        self.search(Some((limit, flags)), &mut dynamic_shared_bytes)
    }

    fn search(
        &self,
        options: Option<(c_int, OccupancyFlags)>,
        closure: &mut dyn FnMut(u32) -> u32,
    ) -> Result<PotentialBlockSize> {
        let (mut grid, mut block) = (0, 0);
        let ask = || {
            self.core.ask(|function| {
                let (grid, block) = (&raw mut grid, &raw mut block);
                let (driver, raw) = (function.context.driver(), function.raw);
                match options {
                    // SAFETY: the function is live, the pointers are to live integers, the callback may be called until
                    // the return, and the context is current.
                    None => unsafe {
                        call!(
                            driver,
                            cuOccupancyMaxPotentialBlockSize(
                                grid,
                                block,
                                raw,
                                Some(shared_of),
                                0,
                                0
                            )
                        )
                    },
                    // SAFETY: as above.
                    Some((limit, flags)) => unsafe {
                        call!(
                            driver,
                            cuOccupancyMaxPotentialBlockSizeWithFlags(
                                grid,
                                block,
                                raw,
                                Some(shared_of),
                                0,
                                limit,
                                flags.bits(),
                            )
                        )
                    },
                }
            })
        };
        Question::ask(closure, ask)?;
        Ok(PotentialBlockSize {
            block: u32::try_from(block)?,
            min_grid: u32::try_from(grid)?,
        })
    }
}

/// A closure that the driver is asking, which can hand only a block size to a C function.
struct Question<'a> {
    closure: &'a mut dyn FnMut(u32) -> u32,
    panic: Option<Box<dyn Any + Send>>,
}

thread_local! {
    /// The question that this thread's call of the driver is about.
    ///
    /// While it is there, it is live and used by nobody else: the call has not returned.
    static ASKED: Cell<Option<NonNull<Question<'static>>>> = const { Cell::new(None) };
}

impl Question<'_> {
    /// Runs `body`, in which the driver may ask the closure through [`shared_of`] on this thread.
    fn ask<R>(closure: &mut dyn FnMut(u32) -> u32, body: impl FnOnce() -> Result<R>) -> Result<R> {
        /// Puts the question before back, also after a panic.
        struct Before(Option<NonNull<Question<'static>>>);
        impl Drop for Before {
            fn drop(&mut self) {
                let _ = ASKED.try_with(|asked| asked.set(self.0));
            }
        }
        let mut question = Question {
            closure,
            panic: None,
        };
        let pointer = NonNull::from(&mut question).cast::<Question<'static>>();
        let Ok(before) = ASKED.try_with(|asked| asked.replace(Some(pointer))) else {
            return Err(Error::invalid("the thread is ending"));
        };
        let guard = Before(before);
        let result = body();
        drop(guard);
        match question.panic {
            Some(panic) => resume_unwind(panic),
            None => result,
        }
    }

    fn answer(&mut self, threads: c_int) -> usize {
        let Ok(threads) = u32::try_from(threads) else {
            return 0;
        };
        if self.panic.is_some() {
            return 0;
        }
        // What the driver holds while it asks is not known, so it is not called from here.
        let ask = || process::host_function(|| (self.closure)(threads));
        match catch_unwind(AssertUnwindSafe(ask)) {
            Ok(bytes) => shared_bytes(bytes),
            Err(panic) => {
                self.panic = Some(panic);
                0
            }
        }
    }
}

/// The dynamic shared memory of a block of that many threads, by the closure that is being asked.
unsafe extern "system" fn shared_of(threads: c_int) -> usize {
    let Some(mut question) = ASKED.try_with(Cell::get).ok().flatten() else {
        return 0;
    };
    // SAFETY: what is in `ASKED` is live and used by nobody else.
    unsafe { question.as_mut() }.answer(threads)
}

impl LaunchConfig {
    /// At least one thread for each of `len` elements, in blocks of the size with which most threads of that kernel run at
    /// the same time on its device; at least one block.
    ///
    /// # Errors
    /// What the driver returns.
    ///
    /// ```
    /// # fn main() -> cuda_driver::Result<()> {
    /// # #[cfg(feature = "simulator")] {
    /// # let context = cuda_driver::Driver::simulated()?.device(0)?.primary_context()?;
    /// # let module = context.load_ptx(
    /// #     ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry nothing() { ret; }",
    /// # )?;
    /// use cuda_driver::LaunchConfig;
    ///
    /// let nothing = module.function("nothing")?;
    /// let config = LaunchConfig::for_kernel(&nothing, 100_000)?;
    /// assert!(u64::from(config.grid.x) * u64::from(config.block.x) >= 100_000);
    /// # }
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "cuOccupancyMaxPotentialBlockSize")]
    pub fn for_kernel(kernel: &Function, len: usize) -> Result<Self> {
        let best = kernel.potential_block_size(|_| 0)?;
        Ok(Self::for_len_with_block(len, best.block.max(1)))
    }
}
