//! Ordering: what makes safe code free of races between streams.
//!
//! Every block of memory that the device works on has an [`Order`]. A block has a *home* stream. While it was only
//! ever used there, stream order is all it needs: an operation checks one word, enqueues, and sets a mark. From the
//! first use on another stream on, the block is *shared*: each operation waits for exactly the earlier ones that it
//! conflicts with, and leaves an [`Entry`] with an event for the later ones.
//!
//! The protocol is generic over the stream ([`Queue`]) and its own rules ([`Rules`]), so that the tests run this very
//! code on a recording queue, judge random programs by reachability, and see a race as soon as a rule is switched off.

mod entries;
#[cfg(test)]
mod model;
mod operation;

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(crate) use entries::{Effect, Entries, Range};
pub(crate) use operation::{Access, Operation};

/// A stream, as the protocol sees it.
pub(crate) trait Queue {
    /// An event that was recorded, or is about to be; clones are the same event.
    type Event: Clone;
    /// What a failed call returns.
    type Error;
    /// What streams and blocks belong to.
    type Domain;

    /// The number of the stream, never 0 and never given to another stream.
    fn number(&self) -> u64;
    /// What this stream belongs to.
    fn domain(&self) -> &Self::Domain;
    /// Takes an event that can be recorded on this stream.
    fn reserve(&self) -> Result<Self::Event, Self::Error>;
    /// Records the event behind everything that was enqueued on this stream so far.
    fn record(&self, event: &Self::Event) -> Result<(), Self::Error>;
    /// Makes everything that is enqueued on this stream from now on wait for the event.
    fn wait(&self, event: &Self::Event) -> Result<(), Self::Error>;
    /// Makes the host wait until everything enqueued on this stream is done.
    fn finish(&self) -> Result<(), Self::Error>;
    /// What an operation on memory returns of which an earlier operation cannot be awaited.
    fn lost() -> Self::Error;
    /// Whether an error of an enqueue proves that nothing was enqueued.
    fn is_refusal(error: &Self::Error) -> bool;
}

/// The rules of the protocol, each of which the tests can switch off.
pub(crate) trait Rules {
    /// The home path sets its mark after the enqueue, not before.
    const MARK_AFTER_ENQUEUE: bool = true;
    /// A crossing clears the mark before it records on home, not after.
    const CLEAR_BEFORE_RECORD: bool = true;
    /// A crossing enters home's event as a write of the whole block, and does not only wait for it.
    const HOME_IS_ENTERED: bool = true;
    /// A read leaves the entries of writes in place.
    const READS_KEEP_WRITES: bool = true;
    /// A write removes only what it covers, not all that it overlaps.
    const WRITES_REMOVE_ONLY_COVERED: bool = true;
    /// Once shared, operations at home go by the entries too.
    const SHARED_HOME_IS_TRACKED: bool = true;

    /// A place where another thread may run; the tests do so.
    #[inline(always)]
    fn preempt() {}

    /// Locks the entries of a block.
    fn lock<T>(entries: &Mutex<T>) -> MutexGuard<'_, T> {
        // The entries are consistent between any two steps, so a panic elsewhere leaves them usable.
        entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The rules as they are used: all of them.
#[derive(Debug)]
pub(crate) enum Sound {}

impl Rules for Sound {}

/// Something was read on home since the mark was last cleared.
pub(crate) const READ: u8 = 1;
/// Something was written on home since the mark was last cleared.
pub(crate) const WRITTEN: u8 = 2;

/// Where a block belongs.
enum Place<Q: Queue> {
    Home(Arc<Q>),
    Nowhere(Q::Domain),
}

/// The ordering state of one block of memory.
///
/// # Invariants
/// * `at_home` is the number of `home` until the first crossing, and 0 from then on. Until then all entries are home's.
/// * Everything enqueued on `home` that is not covered by an entry is covered by `mark`, except what another thread
///   is enqueuing right now, which by Rust's borrow rules conflicts with nothing.
/// * Every operation enqueued elsewhere, and every one at home after the first crossing, is covered by an entry, or by
///   an operation that waited for it.
pub(crate) struct Order<Q: Queue> {
    at_home: AtomicU64,
    mark: AtomicU8,
    lost: AtomicBool,
    place: Place<Q>,
    entries: Mutex<Entries<Q::Event>>,
}

impl<Q: Queue> Order<Q> {
    /// A block that was allocated on `home`; the allocation itself counts as work there if `dirty`.
    #[inline]
    pub(crate) fn at_home(home: Arc<Q>, dirty: bool) -> Self {
        Self {
            at_home: AtomicU64::new(home.number()),
            mark: AtomicU8::new(if dirty { WRITTEN } else { 0 }),
            lost: AtomicBool::new(false),
            place: Place::Home(home),
            entries: Mutex::new(Entries::new()),
        }
    }

    /// A block that has no home: every operation on it is tracked.
    pub(crate) fn homeless(domain: Q::Domain) -> Self {
        Self {
            at_home: AtomicU64::new(0),
            mark: AtomicU8::new(0),
            lost: AtomicBool::new(false),
            place: Place::Nowhere(domain),
            entries: Mutex::new(Entries::new()),
        }
    }

    /// The home stream.
    pub(crate) fn home(&self) -> Option<&Arc<Q>> {
        match &self.place {
            Place::Home(home) => Some(home),
            Place::Nowhere(_) => None,
        }
    }

    /// What the block belongs to.
    #[inline]
    pub(crate) fn domain(&self) -> &Q::Domain {
        match &self.place {
            Place::Home(home) => home.domain(),
            Place::Nowhere(domain) => domain,
        }
    }

    /// Whether the block is on the home path of the stream of that number.
    #[inline(always)]
    pub(crate) fn is_at_home(&self, stream: u64) -> bool {
        self.at_home.load(Ordering::Acquire) == stream
    }

    /// Marks home as having work on this block; comes after the enqueue.
    ///
    /// What another thread does to the mark at the same moment is the marking of a use that does not conflict, or the
    /// clearing by a crossing or a wait. The mark never loses that there was a use, and a stale bit costs at most a wait.
    /// Which of the bits are set matters for host memory only, whose writer has all of it to itself.
    #[inline(always)]
    pub(crate) fn mark_home(&self, write: bool) {
        let bits = if write {
            WRITTEN
        } else {
            self.mark.load(Ordering::Relaxed) | READ
        };
        self.mark.store(bits, Ordering::Release);
    }

    /// The entries; they are held while an operation that is tracked is enqueued.
    fn lock(&self) -> MutexGuard<'_, Entries<Q::Event>> {
        Sound::lock(&self.entries)
    }

    /// Whether nothing was ever used off home: then everything is in the order of the home stream.
    pub(crate) fn never_left_home(&self) -> bool {
        self.at_home.load(Ordering::Acquire) != 0
    }

    /// Covers the work at home that only the mark tells of by an event, and enters that as a write of the whole block.
    ///
    /// Events that nobody needs any more go to `removed`, which is dropped when nothing is locked: the last one can end a
    /// context. The mark is cleared before the event is recorded: whoever enqueues between the two marks again.
    fn cover_home<R: Rules>(
        &self,
        entries: &mut Entries<Q::Event>,
        removed: &mut Vec<Q::Event>,
    ) -> Result<(), Q::Error> {
        let Some(home) = self.home() else {
            return Ok(());
        };
        if self.mark.load(Ordering::Acquire) == 0 {
            return Ok(());
        }
        let event = home.reserve()?;
        if R::CLEAR_BEFORE_RECORD {
            self.mark.swap(0, Ordering::AcqRel);
            R::preempt();
        }
        if let Err(error) = home.record(&event) {
            self.mark.store(READ | WRITTEN, Ordering::Release);
            return Err(error);
        }
        if !R::CLEAR_BEFORE_RECORD {
            R::preempt();
            self.mark.swap(0, Ordering::AcqRel);
        }
        entries.replace_stream(home.number(), event, removed);
        Ok(())
    }

    /// Makes `stream` wait for everything on the whole block, for a free or the end of a borrow.
    ///
    /// The caller has the block to itself.
    #[inline]
    pub(crate) fn gather(&self, stream: &Q) -> Result<(), Q::Error> {
        if self.is_at_home(stream.number()) {
            return Ok(());
        }
        self.gather_tracked(stream)
    }

    #[cold]
    fn gather_tracked(&self, stream: &Q) -> Result<(), Q::Error> {
        self.require_found()?;
        let mut removed = Vec::new();
        let mut entries = self.lock();
        if self
            .home()
            .is_some_and(|home| home.number() != stream.number())
        {
            self.cover_home::<Sound>(&mut entries, &mut removed)?;
        }
        entries.wait_for_all(stream)?;
        entries.clear(&mut removed);
        Ok(())
    }

    /// Events that cover everything on the block, or all that was written, for the host to wait for.
    ///
    /// The block stays on the home path: until the host has waited and [`Order::forget`] was told so, a crossing finds
    /// the event among the entries, and home needs none.
    pub(crate) fn pending<R: Rules>(&self, writes_only: bool) -> Result<Vec<Q::Event>, Q::Error> {
        self.require_found()?;
        let mut removed = Vec::new();
        let wanted = if writes_only { WRITTEN } else { READ | WRITTEN };
        let mut entries = R::lock(&self.entries);
        if self.mark.load(Ordering::Acquire) & wanted != 0 {
            self.cover_home::<R>(&mut entries, &mut removed)?;
        }
        Ok(entries.events(writes_only))
    }

    /// Notes that the completion of an operation on the block can never be proved: its memory must not be freed.
    pub(crate) fn lose(&self) {
        self.lost.store(true, Ordering::Release);
    }

    /// Notes that nothing runs on the block any more.
    pub(crate) fn find(&self) {
        self.lost.store(false, Ordering::Release);
    }

    /// Refuses memory of which an operation cannot be awaited.
    fn require_found(&self) -> Result<(), Q::Error> {
        if self.is_lost() {
            Err(Q::lost())
        } else {
            Ok(())
        }
    }

    /// Whether the memory must not be freed, because something may use it for ever.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    /// Forgets the entries of events that are known to be complete.
    pub(crate) fn forget<R: Rules>(&self, is_complete: impl Fn(&Q::Event) -> bool) {
        let mut removed = Vec::new();
        R::lock(&self.entries).retain(|event| !is_complete(event), &mut removed);
    }

    /// Enters an event that covers everything that happened to the block before it came to us.
    pub(crate) fn enter_arrival(&self, stream: u64, event: Q::Event) {
        self.lock().push(Range::ALL, Effect::Write, stream, event);
    }
}

impl<Q: Queue> std::fmt::Debug for Order<Q> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Order")
            .field("home", &self.home().map(|home| home.number()))
            .field("shared", &!self.never_left_home())
            .field("entries", &self.lock().len())
            .finish()
    }
}
