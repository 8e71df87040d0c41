//! Ownership of a block, by one allocation or by several that were split.

use std::sync::Arc;

use super::block::Block;
use crate::order::Order;
use crate::stream::StreamCore;

/// One of the owners of a block; the last one releases it.
///
/// A block that was never split stands inside its owner, so that an allocation costs the host none of its own and a
/// launch finds the ordering state where the address is.
///
/// # Invariants
/// If there is a `shared` block, `own` stands for nothing, and is on no stream's home path.
pub(super) struct Owner {
    own: Block,
    shared: Option<Arc<Block>>,
}

impl Owner {
    #[inline]
    pub(super) fn new(block: Block) -> Self {
        Self {
            own: block,
            shared: None,
        }
    }

    /// Another owner of the same block.
    pub(super) fn share(&mut self) -> Self {
        let block = match &self.shared {
            Some(shared) => Arc::clone(shared),
            None => {
                let shared = Arc::new(self.own.take());
                self.shared = Some(Arc::clone(&shared));
                shared
            }
        };
        Self {
            own: Block::lent(block.context(), 0, 0),
            shared: Some(block),
        }
    }

    #[inline]
    pub(super) fn block(&self) -> &Block {
        match &self.shared {
            None => &self.own,
            Some(shared) => shared,
        }
    }

    /// The ordering state, if the block is this owner's alone; else one that is on no home path.
    #[inline(always)]
    pub(super) fn own_order(&self) -> &Order<StreamCore> {
        self.own.order()
    }

    /// The block itself, if there is no other owner.
    pub(super) fn sole(&mut self) -> Option<&mut Block> {
        match &mut self.shared {
            None => Some(&mut self.own),
            Some(shared) => Arc::get_mut(shared),
        }
    }
}
