//! One operation on a stream: what it accesses, and the way it is enqueued.

use std::sync::MutexGuard;
use std::sync::atomic::Ordering;

use super::{Effect, Entries, Order, Queue, Range, Rules, Sound};

/// One block that an operation uses, and how.
pub(crate) struct Access<'a, Q: Queue> {
    pub(crate) order: &'a Order<Q>,
    pub(crate) range: Range,
    pub(crate) effect: Effect,
}

impl<Q: Queue> Clone for Access<'_, Q> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Q: Queue> Copy for Access<'_, Q> {}

impl<Q: Queue> Access<'_, Q> {
    /// Orders accesses so that each block's stand together and every thread locks blocks in the same order.
    fn key(&self) -> usize {
        std::ptr::from_ref(self.order).addr()
    }
}

/// One block of an operation that is under way: its entries are held if it is tracked.
struct Held<'a, Q: Queue> {
    accesses: std::ops::Range<usize>,
    entries: Option<MutexGuard<'a, Entries<Q::Event>>>,
    waited_for_all: bool,
}

/// Enqueues operations in the order that their accesses demand.
pub(crate) enum Operation {}

impl Operation {
    /// Waits for what the accesses conflict with, enqueues, and leaves behind what later operations wait for.
    ///
    /// # Errors
    /// What a wait or the enqueue returns. If the error proves that nothing was enqueued, nothing is left behind;
    /// otherwise the operation counts as running.
    #[inline]
    pub(crate) fn run<R: Rules, Q: Queue>(
        stream: &Q,
        accesses: &mut [Access<'_, Q>],
        enqueue: impl FnOnce() -> Result<(), Q::Error>,
    ) -> Result<(), Q::Error> {
        let number = stream.number();
        if !accesses
            .iter()
            .all(|access| access.order.is_at_home(number))
        {
            return Self::run_tracked::<R, Q>(stream, accesses, enqueue);
        }
        R::preempt();
        if !R::MARK_AFTER_ENQUEUE {
            for access in &*accesses {
                access.order.mark_home(access.effect.writes());
            }
            R::preempt();
        }
        let result = enqueue();
        R::preempt();
        if R::MARK_AFTER_ENQUEUE {
            for access in &*accesses {
                access.order.mark_home(access.effect.writes());
            }
        }
        result
    }

    /// The way of an operation of which some block is not on its home path.
    #[cold]
    pub(crate) fn run_tracked<R: Rules, Q: Queue>(
        stream: &Q,
        accesses: &mut [Access<'_, Q>],
        enqueue: impl FnOnce() -> Result<(), Q::Error>,
    ) -> Result<(), Q::Error> {
        let event = stream.reserve()?;
        accesses.sort_unstable_by_key(Access::key);
        let accesses = &*accesses;

        // Dropped after the locks: the last event of another context can end that, and what ends with it.
        let mut removed = Vec::new();
        let mut blocks = Self::lock_blocks::<R, Q>(stream.number(), accesses);
        Self::wait::<R, Q>(stream, accesses, &mut blocks, &mut removed)?;
        R::preempt();

        let result = enqueue();
        if result.as_ref().is_err_and(Q::is_refusal) {
            return result;
        }
        R::preempt();
        if let Err(error) = stream.record(&event) {
            drop(blocks);
            Self::without_event(stream, accesses);
            return result.and(Err(error));
        }
        let number = stream.number();
        Self::enter::<R, Q>(number, accesses, &mut blocks, &event, &mut removed);
        result
    }

    /// Waits for what the accesses conflict with, for an operation that is enqueued by code which is not ours.
    ///
    /// The accesses stay borrowed until [`Operation::close`], so nothing that conflicts comes in between; what does not
    /// conflict may, for nothing is locked meanwhile.
    pub(crate) fn open<Q: Queue>(
        stream: &Q,
        accesses: &mut [Access<'_, Q>],
    ) -> Result<Option<Q::Event>, Q::Error> {
        accesses.sort_unstable_by_key(Access::key);
        let number = stream.number();
        if accesses
            .iter()
            .all(|access| access.order.is_at_home(number))
        {
            return Ok(None);
        }
        let event = stream.reserve()?;
        let mut removed = Vec::new();
        let mut blocks = Self::lock_blocks::<Sound, Q>(number, accesses);
        Self::wait::<Sound, Q>(stream, accesses, &mut blocks, &mut removed)?;
        Ok(Some(event))
    }

    /// Leaves behind what later operations wait for; comes after [`Operation::open`] with the same accesses.
    pub(crate) fn close<Q: Queue>(
        stream: &Q,
        accesses: &[Access<'_, Q>],
        event: Option<Q::Event>,
    ) -> Result<(), Q::Error> {
        let Some(event) = event else {
            for access in accesses {
                access.order.mark_home(access.effect.writes());
            }
            return Ok(());
        };
        let mut removed = Vec::new();
        let mut blocks = Self::lock_blocks::<Sound, Q>(stream.number(), accesses);
        if let Err(error) = stream.record(&event) {
            drop(blocks);
            Self::without_event(stream, accesses);
            return Err(error);
        }
        let number = stream.number();
        Self::enter::<Sound, Q>(number, accesses, &mut blocks, &event, &mut removed);
        Ok(())
    }

    /// Makes the stream wait for the conflicts of all accesses to blocks that are held, and makes room for entries.
    fn wait<R: Rules, Q: Queue>(
        stream: &Q,
        accesses: &[Access<'_, Q>],
        blocks: &mut [Held<'_, Q>],
        removed: &mut Vec<Q::Event>,
    ) -> Result<(), Q::Error> {
        for block in blocks {
            let Some(entries) = &mut block.entries else {
                continue;
            };
            let order = accesses[block.accesses.start].order;
            order.require_found()?;
            Self::cross::<R, Q>(stream, order, entries, removed)?;
            for access in &accesses[block.accesses.clone()] {
                block.waited_for_all |=
                    entries.wait_for_conflicts(stream, access.range, access.effect)?;
            }
            entries.reserve(block.accesses.len());
        }
        Ok(())
    }

    /// Enters an operation behind which `event` was recorded.
    fn enter<R: Rules, Q: Queue>(
        number: u64,
        accesses: &[Access<'_, Q>],
        blocks: &mut [Held<'_, Q>],
        event: &Q::Event,
        removed: &mut Vec<Q::Event>,
    ) {
        for block in blocks {
            for access in &accesses[block.accesses.clone()] {
                match &mut block.entries {
                    Some(entries) if block.waited_for_all => {
                        entries.clear(removed);
                        entries.push(Range::ALL, Effect::Write, number, event.clone());
                    }
                    Some(entries) => {
                        let (range, effect) = (access.range, access.effect);
                        entries.enter::<R>(range, effect, number, event.clone(), removed);
                    }
                    None => access.order.mark_home(access.effect.writes()),
                }
            }
        }
    }

    /// Makes up for an event that could not be recorded: the host waits, or the memory is never freed.
    #[cold]
    fn without_event<Q: Queue>(stream: &Q, accesses: &[Access<'_, Q>]) {
        if stream.finish().is_err() {
            for access in accesses {
                access.order.lose();
            }
        }
    }

    /// Locks the entries of each block that is not on its home path, each once, in the order of their addresses.
    fn lock_blocks<'a, R: Rules, Q: Queue>(
        number: u64,
        accesses: &[Access<'a, Q>],
    ) -> Vec<Held<'a, Q>> {
        let mut blocks: Vec<Held<'a, Q>> = Vec::with_capacity(accesses.len());
        for (index, access) in accesses.iter().enumerate() {
            if let Some(last) = blocks.last_mut()
                && accesses[last.accesses.start].key() == access.key()
            {
                last.accesses.end = index + 1;
                continue;
            }
            let home = access.order.is_at_home(number);
            blocks.push(Held {
                accesses: index..index + 1,
                entries: if home {
                    None
                } else {
                    Some(R::lock(&access.order.entries))
                },
                waited_for_all: false,
            });
        }
        blocks
    }

    /// Makes a block shared if this is its first use off home, and covers the work at home that has no entry yet.
    fn cross<R: Rules, Q: Queue>(
        stream: &Q,
        order: &Order<Q>,
        entries: &mut Entries<Q::Event>,
        removed: &mut Vec<Q::Event>,
    ) -> Result<(), Q::Error> {
        if order
            .home()
            .is_some_and(|home| home.number() == stream.number())
        {
            return Ok(());
        }
        if R::SHARED_HOME_IS_TRACKED {
            order.at_home.store(0, Ordering::Release);
        }
        R::preempt();
        order.cover_home::<R>(entries, removed)?;
        if !R::HOME_IS_ENTERED {
            // Only this operation waits for home; nobody else learns of it.
            entries.wait_for_all(stream)?;
            entries.clear(removed);
        }
        Ok(())
    }
}
