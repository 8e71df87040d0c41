//! Page-locked buffers of ours, which copies from and to ordinary slices go through.
//!
//! Copies to the device go through a ring of buffers that each stream has: a buffer is filled, and when it is full an
//! event is recorded behind it, so a small copy is one driver call. Copies to the host borrow a buffer for the time of the
//! copy. Idle buffers are the context's.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuda_sys::CU_MEMHOSTALLOC_PORTABLE;

use crate::call;
use crate::context::{ContextCore, RawEvent};
use crate::error::{Doing, Result};
use crate::launch::RecentLaunches;
use crate::stream::{StreamCore, relaxed};

/// Copies up to this many bytes share a buffer.
pub(super) const SMALL: usize = 64 << 10;
/// Larger copies are cut into pieces of this many bytes.
pub(super) const LARGE: usize = 4 << 20;
/// The size of a buffer that small copies share.
const SHARED: usize = 256 << 10;
/// How many buffers of each size a stream may have in flight before a copy waits for the oldest.
const DEPTH: usize = 3;
/// Copies start at multiples of this.
const ALIGNMENT: usize = 64;

/// A page-locked buffer.
///
/// # Invariants
/// `start` is live page-locked memory of `size` bytes, allocated by the driver of the context it is used with.
struct Buffer {
    start: *mut u8,
    size: usize,
}

// SAFETY: the buffer is plain memory that no thread owns.
unsafe impl Send for Buffer {}

impl Buffer {
    fn allocate(context: &ContextCore, size: usize) -> Result<Self> {
        let _current = context.push()?;
        let mut start = std::ptr::null_mut();
        let out = &raw mut start;
        let result = relaxed(context.driver(), || {
            // SAFETY: the pointer is to a live pointer, and the context is current.
            unsafe {
                call!(
                    context.driver(),
                    cuMemHostAlloc(out, size, CU_MEMHOSTALLOC_PORTABLE)
                )
            }
        });
        context
            .watch(result)
            .doing(|| "allocate a staging buffer")?;
        Ok(Self {
            start: start.cast(),
            size,
        })
    }
}

/// The idle buffers of a context, some with an event that must be done first.
pub(crate) struct StagingPool {
    idle: Mutex<Vec<(Buffer, Option<RawEvent>)>>,
}

impl StagingPool {
    pub(crate) const fn new() -> Self {
        Self {
            idle: Mutex::new(Vec::new()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(Buffer, Option<RawEvent>)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes an idle buffer of that size, or allocates one.
    fn take(context: &ContextCore, size: usize) -> Result<Buffer> {
        let candidate = {
            let mut idle = context.staging().lock();
            let free = idle
                .iter()
                .position(|(buffer, event)| buffer.size == size && event.is_none());
            let any = free.or_else(|| idle.iter().position(|(buffer, _)| buffer.size == size));
            any.map(|index| idle.swap_remove(index))
        };
        match candidate {
            None => Buffer::allocate(context, size),
            Some((buffer, None)) => Ok(buffer),
            Some((buffer, Some(event))) => {
                let complete = context.event_is_complete(&event)?;
                if complete {
                    context.put_event(event);
                    return Ok(buffer);
                }
                context.staging().lock().push((buffer, Some(event)));
                Buffer::allocate(context, size)
            }
        }
    }

    /// Frees all idle buffers of a context that ends and is current. Freeing waits for what is in flight on them.
    pub(crate) fn destroy(context: &ContextCore) {
        let idle = std::mem::take(&mut *context.staging().lock());
        for (buffer, event) in idle {
            // SAFETY: the buffer is live, and nothing of ours refers to it any more; the driver waits for the device.
            let freed = unsafe { call!(context.driver(), cuMemFreeHost(buffer.start.cast())) };
            if let Err(error) = freed {
                log::error!("cannot free a staging buffer: {error}");
            }
            if let Some(event) = event {
                context.put_event(event);
            }
        }
    }
}

/// Where to put bytes, or what stands in the way.
pub(super) enum Reserved {
    Place(*mut u8),
    Busy(Busy),
}

/// A buffer from which the device still copies.
pub(super) struct Busy {
    buffer: Buffer,
    event: RawEvent,
}

/// Buffers of one size, used in turn by one stream.
struct Ring {
    size: usize,
    current: Option<Buffer>,
    used: usize,
    full: VecDeque<(Buffer, RawEvent)>,
    spare: Vec<Buffer>,
}

impl Ring {
    const fn new(size: usize) -> Self {
        Self {
            size,
            current: None,
            used: 0,
            full: VecDeque::new(),
            spare: Vec::new(),
        }
    }

    /// A part of a buffer that nothing in flight uses, or one to be waited for first.
    fn reserve(&mut self, stream: &StreamCore, bytes: usize) -> Result<Reserved> {
        if (self.current.is_none() || self.used + bytes > self.size)
            && let Some(busy) = self.turn(stream)?
        {
            return Ok(Reserved::Busy(busy));
        }
        let at = self.used;
        self.used = (at + bytes).next_multiple_of(ALIGNMENT);
        let start = self
            .current
            .as_ref()
            .map_or(std::ptr::null_mut(), |buffer| buffer.start);
        // SAFETY: there is a buffer now, and `at + bytes` does not exceed its size.
        Ok(Reserved::Place(unsafe { start.add(at) }))
    }

    /// Puts the full buffer behind an event, and takes the next one; or returns the one that must be waited for.
    #[cold]
    fn turn(&mut self, stream: &StreamCore) -> Result<Option<Busy>> {
        let context = stream.context();
        if self.current.is_some() {
            let event = context.take_event()?;
            stream.enqueue(|| event.record(context, stream.as_raw()))?;
            if let Some(buffer) = self.current.take() {
                self.full.push_back((buffer, event));
            }
        }
        self.used = 0;
        if let Some(buffer) = self.spare.pop() {
            self.current = Some(buffer);
            return Ok(None);
        }
        let complete = match self.full.front() {
            Some((_, event)) => context.event_is_complete(event)?,
            None => false,
        };
        if (complete || self.full.len() >= DEPTH)
            && let Some((buffer, event)) = self.full.pop_front()
        {
            if !complete {
                return Ok(Some(Busy { buffer, event }));
            }
            context.put_event(event);
            self.current = Some(buffer);
            return Ok(None);
        }
        self.current = Some(StagingPool::take(context, self.size)?);
        Ok(None)
    }

    /// Gives all buffers to the context, behind the events that they wait for.
    fn retire(&mut self, stream: &StreamCore) {
        let context = stream.context();
        if let Some(buffer) = self.current.take() {
            let recorded = context.take_event().and_then(|event| {
                stream.enqueue(|| event.record(context, stream.as_raw()))?;
                Ok(event)
            });
            match recorded {
                Ok(event) => self.full.push_back((buffer, event)),
                // What the stream still does with the buffer cannot be awaited: it is leaked.
                Err(error) => log::error!("a staging buffer is leaked: {error}"),
            }
        }
        let mut idle = context.staging().lock();
        idle.extend(self.spare.drain(..).map(|buffer| (buffer, None)));
        idle.extend(
            self.full
                .drain(..)
                .map(|(buffer, event)| (buffer, Some(event))),
        );
    }
}

/// The staging buffers of one stream.
pub(crate) struct Staging {
    small: Ring,
    large: Ring,
}

impl Staging {
    pub(crate) const fn new() -> Self {
        Self {
            small: Ring::new(SHARED),
            large: Ring::new(LARGE),
        }
    }

    /// A place for that many bytes, or a buffer to wait for first.
    fn reserve(&mut self, stream: &StreamCore, bytes: usize) -> Result<Reserved> {
        let ring = if bytes <= SMALL {
            &mut self.small
        } else {
            &mut self.large
        };
        ring.reserve(stream, bytes)
    }

    /// Gives all buffers back when the stream ends.
    pub(crate) fn retire(mut self, stream: &StreamCore) {
        if stream.context().may_release() {
            self.small.retire(stream);
            self.large.retire(stream);
        }
    }
}

impl StreamCore {
    /// A place for that many bytes, and the staging buffers, locked until what uses it is enqueued.
    ///
    /// Nothing is locked while a buffer is waited for.
    pub(super) fn reserve_staging(
        &self,
        bytes: usize,
    ) -> Result<(MutexGuard<'_, Staging>, *mut u8)> {
        loop {
            let mut staging = self
                .staging()
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let Busy { buffer, event } = match staging.reserve(self, bytes)? {
                Reserved::Place(place) => return Ok((staging, place)),
                Reserved::Busy(busy) => busy,
            };
            drop(staging);
            self.context().event_synchronize(&event)?;
            self.context().put_event(event);
            let mut staging = self
                .staging()
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let small = buffer.size == SHARED;
            let ring = if small {
                &mut staging.small
            } else {
                &mut staging.large
            };
            ring.spare.push(buffer);
        }
    }
}

/// A buffer that one copy to the host goes through.
///
/// # Invariants
/// While `pending`, the device may write to the buffer; then it is not given back.
pub(super) struct Bounce {
    buffer: Option<Buffer>,
    event: Option<RawEvent>,
    pending: bool,
    /// The launches that are complete when the copy is.
    before: Option<(Arc<RecentLaunches>, usize)>,
    context: Arc<ContextCore>,
}

impl Bounce {
    /// A buffer for that many bytes, from which nothing is in flight.
    pub(super) fn take(context: &Arc<ContextCore>, bytes: usize) -> Result<Self> {
        let size = if bytes <= SMALL { SHARED } else { LARGE };
        let event = context.take_event()?;
        Ok(Self {
            buffer: Some(StagingPool::take(context, size)?),
            event: Some(event),
            pending: false,
            before: None,
            context: Arc::clone(context),
        })
    }

    /// The buffer.
    pub(super) fn start(&self) -> *mut u8 {
        self.buffer
            .as_ref()
            .map_or(std::ptr::null_mut(), |buffer| buffer.start)
    }

    /// Notes whether the device may write to the buffer from now on.
    pub(super) fn set_pending(&mut self, pending: bool) {
        self.pending = pending;
    }

    /// Records behind the copy that was enqueued.
    pub(super) fn record(&mut self, stream: &StreamCore) -> Result<()> {
        let Some(event) = &self.event else {
            return Ok(());
        };
        let launches = stream.recent_launches();
        self.before = Some((Arc::clone(launches), launches.mark()));
        stream.enqueue(|| event.record(&self.context, stream.as_raw()))
    }

    /// Waits until the copy is done.
    pub(super) fn wait(&mut self) -> Result<()> {
        if let Some(event) = &self.event {
            self.context.event_synchronize(event)?;
        }
        self.pending = false;
        if let Some((launches, mark)) = self.before.take() {
            launches.complete(mark);
        }
        Ok(())
    }
}

impl Drop for Bounce {
    fn drop(&mut self) {
        if self.pending {
            log::error!("a staging buffer is leaked: the copy through it cannot be awaited");
            return;
        }
        if let Some(event) = self.event.take() {
            self.context.put_event(event);
        }
        if let Some(buffer) = self.buffer.take() {
            self.context.staging().lock().push((buffer, None));
        }
    }
}
