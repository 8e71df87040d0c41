//! Which memory the kernels of a context may access.

use std::collections::BTreeSet;

use crate::state::State;
use crate::state::context::ContextRef;
use crate::state::space::{Block, Origin};

/// What a context's kernels reach besides the host's memory.
#[derive(Debug)]
pub(crate) struct Reach {
    /// The device that runs them.
    device: usize,
    /// Devices whose memory was opened by enabling peer access: all but that of pools.
    peers: BTreeSet<usize>,
    /// Where memory is mapped to which the device has access.
    mapped: BTreeSet<u64>,
    /// Other devices' pools that were opened to this one.
    pools: BTreeSet<u64>,
}

impl Reach {
    /// Whether they may access a block.
    pub(crate) fn includes(&self, block: &Block) -> bool {
        if block.origin == Origin::Mapped {
            return self.mapped.contains(&block.address);
        }
        if block.is_host() || block.device == self.device {
            return true;
        }
        match block.origin {
            Origin::Pool(pool) => self.pools.contains(&pool),
            _ => self.peers.contains(&block.device),
        }
    }
}

impl State {
    /// What the kernels of a context reach now.
    pub(crate) fn reach(&self, context: ContextRef) -> Reach {
        let device = self.device_of(context);
        let contexts = self.contexts.get(context.handle);
        let peers = contexts.into_iter().flat_map(|entry| &entry.peers);
        let pools = self.pools.iter();
        let open = pools.filter(|(_, pool)| pool.peers.contains(&device));
        let mapped = self.virtual_memory.mappings.iter();
        let mapped = mapped.filter(|(_, mapping)| mapping.access.contains_key(&device));
        Reach {
            device,
            mapped: mapped.map(|(address, _)| *address).collect(),
            peers: peers
                .filter_map(|peer| Some(self.contexts.get(*peer).ok()?.device))
                .collect(),
            pools: open.map(|(handle, _)| handle).collect(),
        }
    }
}
