//! Blocks: pieces of device memory with one ordering state and one way to be released.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

use cuda_sys::CUdeviceptr;

use super::host_wait::wait_on_host;
use crate::call;
use crate::context::{ContextCore, Deferred, drop_owner};
use crate::error::{Result, count};
use crate::order::{Access, Effect, Order, Queue, Range};
use crate::process;
use crate::stream::StreamCore;

/// How a block ends.
pub(super) enum Release {
    /// Freed in the order of its home stream.
    StreamOrdered,
    /// Freed after the host has waited for its last use.
    Synchronous,
    /// The owner is dropped after the last use.
    Kept(Mutex<Option<Box<dyn Any + Send>>>),
    /// Nothing: it is empty, or lent to us for the time of a closure.
    Nothing,
}

/// # Invariants
/// * `address..address + size` is live device memory of `context`, or memory that its device can access, until the
///   release; empty blocks have size 0.
/// * Everything enqueued on it is known to `order`.
pub struct Block {
    address: CUdeviceptr,
    size: usize,
    order: Order<StreamCore>,
    release: Release,
}

impl Block {
    /// A block at home on `home`, on which its allocation is the first work if `dirty`.
    #[inline]
    pub(super) fn at_home(
        home: &Arc<StreamCore>,
        address: CUdeviceptr,
        size: usize,
        release: Release,
        dirty: bool,
    ) -> Self {
        Self {
            address,
            size,
            order: Order::at_home(Arc::clone(home), dirty),
            release,
        }
    }

    /// A block that is lent to us and has no home.
    pub(crate) fn lent(context: &Arc<ContextCore>, address: CUdeviceptr, size: usize) -> Self {
        Self {
            address,
            size,
            order: Order::homeless(Arc::clone(context)),
            release: Release::Nothing,
        }
    }

    /// Moves the block out, and leaves one that stands for nothing.
    pub(super) fn take(&mut self) -> Self {
        let nothing = Self::lent(&Arc::clone(self.context()), 0, 0);
        std::mem::replace(self, nothing)
    }

    /// Keeps the block from being released.
    pub(super) fn disarm(&mut self) {
        self.release = Release::Nothing;
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    #[inline(always)]
    pub(crate) fn order(&self) -> &Order<StreamCore> {
        &self.order
    }

    /// The context that the block belongs to.
    #[inline]
    pub(crate) fn context(&self) -> &Arc<ContextCore> {
        self.order.domain()
    }

    pub(super) fn release(&self) -> &Release {
        &self.release
    }

    /// The access of an operation to the bytes from `address` on.
    pub(crate) fn access(
        &self,
        address: CUdeviceptr,
        bytes: u64,
        write: bool,
    ) -> Access<'_, StreamCore> {
        let start = address.wrapping_sub(self.address);
        Access {
            order: &self.order,
            range: Range {
                start,
                end: start.saturating_add(bytes),
            },
            effect: write.into(),
        }
    }

    /// The access of an operation that may do anything to the block, and is ordered against others of its kind by somebody
    /// else.
    pub(crate) fn unknown_access(&self) -> Access<'_, StreamCore> {
        Access {
            order: &self.order,
            range: Range::ALL,
            effect: Effect::Unknown,
        }
    }

    /// The address of the block.
    pub(crate) fn address(&self) -> &CUdeviceptr {
        &self.address
    }

    /// Makes the host wait for everything that is in flight on the block.
    pub(crate) fn wait_on_host(&self) -> Result<()> {
        wait_on_host(&self.order, false)
    }

    /// Makes the home stream wait for everything on the block.
    pub(super) fn gather_at_home(&self) -> Result<()> {
        match self.order.home() {
            Some(home) => self.order.gather(home),
            None => Ok(()),
        }
    }

    /// Puts everything on the block before what comes next on the home stream; where the stream cannot be made to wait, the host does.
    #[inline]
    fn gather_or_wait(&self, home: &StreamCore) -> Result<()> {
        match self.order.gather(home) {
            Ok(()) => Ok(()),
            Err(_) => wait_on_host(&self.order, false),
        }
    }

    #[inline]
    fn free_in_stream_order(&self) -> Result<()> {
        let Some(home) = self.order.home() else {
            return Ok(());
        };
        self.gather_or_wait(home)?;
        home.enqueue(|| {
            // SAFETY: the address was allocated by the stream-ordered allocator, all use of it is ordered before this
            // on the home stream, and nothing refers to it any more.
            unsafe { call!(home.driver(), cuMemFreeAsync(self.address, home.as_raw())) }
        })
    }

    fn free_synchronously(&self) -> Result<()> {
        wait_on_host(&self.order, false)?;
        let _current = self.context().push()?;
        // SAFETY: the address was allocated by `cuMemAlloc`, its last use is done, and nothing refers to it any more.
        unsafe { call!(self.context().driver(), cuMemFree_v2(self.address)) }
    }

    /// Drops the owner after the last use, which may still be running.
    fn release_owner(&self, owner: Box<dyn Any + Send>) {
        let mut owner = Some(owner);
        let mut is_over = self.order.home().is_none();
        self.context()
            .release("await the last use of kept memory", || {
                let Some(home) = self.order.home() else {
                    return Ok(());
                };
                self.gather_or_wait(home)?;
                let recorded = self.context().take_event().and_then(|event| {
                    home.enqueue(|| event.record(self.context(), home.as_raw()))?;
                    Ok(event)
                });
                match (recorded, owner.take()) {
                    (Ok(event), Some(owner)) => self.context().defer(Deferred::new(event, owner)),
                    (_, kept) => {
                        owner = kept;
                        home.finish()?;
                        is_over = true;
                    }
                }
                Ok(())
            });
        self.context().collect();
        if let Some(owner) = owner {
            if is_over {
                drop_owner(owner);
            } else {
                log::error!("the owner of kept memory is leaked: its last use cannot be awaited");
                std::mem::forget(owner);
            }
        }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if process::in_host_function() {
            if !matches!(self.release, Release::Nothing) {
                let remains = self.take();
                process::postpone(Box::new(remains));
            }
            return;
        }
        if self.order.is_lost() {
            log::error!(
                "device memory of {} is leaked: an operation on it cannot be awaited",
                count(self.size, "byte")
            );
            if let Release::Kept(owner) = &mut self.release {
                std::mem::forget(
                    owner
                        .get_mut()
                        .unwrap_or_else(PoisonError::into_inner)
                        .take(),
                );
            }
            return;
        }
        match &self.release {
            Release::StreamOrdered => self
                .context()
                .release("free device memory", || self.free_in_stream_order()),
            Release::Synchronous => {
                self.context()
                    .release("free device memory", || self.free_synchronously());
            }
            Release::Kept(owner) => {
                let owner = owner.lock().unwrap_or_else(PoisonError::into_inner).take();
                if let Some(owner) = owner {
                    self.release_owner(owner);
                }
            }
            Release::Nothing => {}
        }
    }
}

impl std::fmt::Debug for Block {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Block")
            .field("address", &format_args!("{:#x}", self.address))
            .field("size", &self.size)
            .field("order", &self.order)
            .finish_non_exhaustive()
    }
}

/// The number of the home stream, for `Debug`.
pub(super) fn home_number(block: &Block) -> Option<u64> {
    block.order.home().map(|home| home.number())
}
