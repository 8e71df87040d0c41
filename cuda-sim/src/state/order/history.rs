//! Who touched which bytes of a block, as far as a later operation may still be unordered with it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::report::AccessKind;
use crate::state::module::Loaded;
use crate::state::order::Moment;
use crate::state::order::byte_set::ByteSet;
use crate::state::order::clock::Clock;

/// Accesses that are kept of one block; beyond that the oldest are forgotten, and races with them are missed.
const KEPT: usize = 1024;

/// What an operation is, for a report.
#[derive(Debug, Clone)]
pub(crate) enum What {
    Kernel(Arc<Loaded>, usize),
    /// What a kernel does before it waits for the one before it.
    KernelAhead(Arc<Loaded>, usize),
    Name(&'static str),
}

impl What {
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Kernel(module, number) | Self::KernelAhead(module, number) => {
                let kernel = module.program.kernels().get(*number);
                let name = kernel.map_or("?", |kernel| kernel.name());
                match self {
                    Self::KernelAhead(..) => {
                        format!("kernel `{name}`, before it executes griddepcontrol.wait,")
                    }
                    _ => format!("kernel `{name}`"),
                }
            }
            Self::Name(name) => (*name).to_owned(),
        }
    }
}

/// An operation that touched memory.
#[derive(Debug)]
pub(crate) struct Actor {
    pub(crate) what: What,
    pub(crate) moment: Moment,
    /// Number of the call that enqueued it.
    pub(crate) call: u64,
}

/// Bytes of a block that an operation touched.
#[derive(Debug, Clone)]
pub(crate) struct Access {
    pub(crate) actor: Arc<Actor>,
    pub(crate) kind: AccessKind,
    pub(crate) bytes: Arc<ByteSet>,
}

impl Access {
    /// Whether the two disturb each other where they touch the same bytes.
    pub(crate) fn conflicts(&self, other: &Self) -> bool {
        match (self.kind, other.kind) {
            (AccessKind::Read, AccessKind::Read) | (AccessKind::Atomic, AccessKind::Atomic) => {
                false
            }
            (_, _) => true,
        }
    }

    /// Whether everything that races with `earlier`, which comes before this, races with this too.
    fn replaces(&self, earlier: &Self) -> bool {
        (self.kind == AccessKind::Write || self.kind == earlier.kind)
            && self.bytes.covers(&earlier.bytes)
    }
}

/// The accesses to one block.
#[derive(Debug, Default)]
pub(crate) struct History(Vec<Access>);

impl History {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Access> {
        self.0.iter()
    }

    /// Adds an access; `before` tells which of the others come before it.
    fn add(&mut self, access: Access, before: impl Fn(&Access) -> bool) {
        self.0
            .retain(|earlier| !(before(earlier) && access.replaces(earlier)));
        self.0.push(access);
        if self.0.len() > KEPT {
            self.0.remove(0);
        }
        // Scattered accesses take memory themselves: no more than a part of what they describe.
        let mut cost: usize = self.0.iter().map(|access| access.bytes.cost()).sum();
        while cost > 64 << 20 && self.0.len() > 1 {
            cost -= self.0.remove(0).bytes.cost();
        }
    }
}

/// The accesses to all blocks, by the block's address.
#[derive(Debug, Default)]
pub(crate) struct Histories {
    blocks: BTreeMap<u64, History>,
    /// Accesses after which it is looked whether some can be forgotten.
    limit: usize,
    added: usize,
}

impl Histories {
    pub(crate) fn of(&self, block: u64) -> Option<&History> {
        self.blocks.get(&block)
    }

    pub(crate) fn add(&mut self, block: u64, access: Access, before: impl Fn(&Access) -> bool) {
        self.blocks.entry(block).or_default().add(access, before);
        self.added += 1;
    }

    /// Forgets a block: whatever is there next is another one.
    pub(crate) fn forget(&mut self, block: u64) {
        self.blocks.remove(&block);
    }

    /// Forgets what everything still to come is ordered behind, once enough has come together; whether it did.
    pub(crate) fn purge(&mut self, known: &Clock) -> bool {
        if self.added < self.limit {
            return false;
        }
        let mut left = 0;
        self.blocks.retain(|_, history| {
            history
                .0
                .retain(|access| !known.knows(access.actor.moment.mark));
            left += history.0.len();
            !history.0.is_empty()
        });
        (self.added, self.limit) = (left, 2 * left + 64);
        true
    }

    /// Whether some access of that stream is remembered.
    pub(crate) fn streams(&self) -> std::collections::BTreeSet<crate::state::queue::StreamId> {
        self.blocks
            .values()
            .flat_map(History::iter)
            .map(|access| access.actor.moment.mark.stream)
            .collect()
    }
}
