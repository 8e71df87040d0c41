//! Managed memory: host memory that all devices reach at its own address, and what programs advise about it.
//!
//! Nothing ever moves, so advice and prefetches change only what is told about them. A program that touches managed memory on the host
//! while a device works on it makes a mistake, which nothing here notices.

use std::collections::BTreeSet;

use cuda_sys::CUresult;

use crate::code;
use crate::state::State;
use crate::state::context::ContextRef;
use crate::state::host::HostMemory;
use crate::state::location::Location;
use crate::state::space::Origin;

/// What was advised about some bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Advice {
    pub(crate) read_mostly: bool,
    pub(crate) preferred: Option<Location>,
    pub(crate) accessed_by: BTreeSet<Location>,
    pub(crate) last_prefetch: Option<Location>,
}

/// The advice of an allocation, range by range.
///
/// # Invariants
/// Each entry holds from its offset to that of the next; the first starts at 0, and offsets ascend.
#[derive(Debug, Clone)]
pub(crate) struct AdviceMap(Vec<(usize, Advice)>);

impl Default for AdviceMap {
    fn default() -> Self {
        Self(vec![(0, Advice::default())])
    }
}

impl AdviceMap {
    /// Makes an entry begin at `offset`, and returns its index.
    fn cut(&mut self, offset: usize) -> usize {
        let index = self.0.partition_point(|(start, _)| *start < offset);
        let starts_here = self.0.get(index).is_some_and(|(start, _)| *start == offset);
        let before = index.checked_sub(1).and_then(|before| self.0.get(before));
        if let (false, Some((_, advice))) = (starts_here, before) {
            let advice = advice.clone();
            self.0.insert(index, (offset, advice));
        }
        index
    }

    /// Changes the advice of a range.
    pub(crate) fn change(&mut self, start: usize, end: usize, change: impl Fn(&mut Advice)) {
        let (first, last) = (self.cut(start), self.cut(end));
        for (_, advice) in self.0.get_mut(first..last).unwrap_or(&mut []) {
            change(advice);
        }
        self.0.dedup_by(|later, earlier| later.1 == earlier.1);
    }

    /// The advice of all parts of a range.
    pub(crate) fn of(&self, start: usize, end: usize) -> impl Iterator<Item = &Advice> {
        let first = self.0.partition_point(|(offset, _)| *offset <= start);
        let last = self.0.partition_point(|(offset, _)| *offset < end);
        let range = first.saturating_sub(1)..last;
        self.0
            .get(range)
            .unwrap_or(&[])
            .iter()
            .map(|(_, advice)| advice)
    }
}

impl State {
    /// Adds managed memory: as much as fits into twice the memory of the context's device, together with all other managed memory.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`
    pub(crate) fn allocate_managed(
        &mut self,
        context: ContextRef,
        size: usize,
        origin: Origin,
        call: u64,
    ) -> Result<u64, CUresult> {
        let device = self.devices.get(self.device_of(context));
        let limit = device.map_or(0, |device| device.config.total_memory.saturating_mul(2));
        let used = self.managed_used.checked_add(size);
        let used = used
            .filter(|used| *used as u64 <= limit)
            .ok_or(code::OUT_OF_MEMORY)?;
        let memory = HostMemory::allocate(size).ok_or(code::OUT_OF_MEMORY)?;
        self.managed_used = used;
        Ok(self.add_host(memory, context, origin, call) as u64)
    }

    /// The managed allocation that holds all of the bytes: its advice, and where in it the bytes are.
    ///
    /// # Errors
    /// `INVALID_VALUE` where they are not all in one.
    pub(crate) fn managed_range(
        &mut self,
        address: u64,
        len: usize,
    ) -> Result<(&mut AdviceMap, usize, usize), CUresult> {
        let (block, left) = self
            .space
            .reachable(address)
            .filter(|(block, left)| block.is_managed() && len > 0 && len <= *left)
            .ok_or(code::INVALID_VALUE)?;
        let (base, start) = (block.address, (address - block.address) as usize);
        debug_assert!(left > 0, "an allocation has a byte at its address");
        Ok((self.advice.entry(base).or_default(), start, start + len))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_holds_for_its_range_only() {
        let mut map = AdviceMap::default();
        let read_mostly = |map: &AdviceMap, start, end| -> Vec<bool> {
            map.of(start, end)
                .map(|advice| advice.read_mostly)
                .collect()
        };
        assert_eq!(read_mostly(&map, 0, 100), [false]);
        map.change(10, 20, |advice| advice.read_mostly = true);
        assert_eq!(read_mostly(&map, 0, 100), [false, true, false]);
        assert_eq!(read_mostly(&map, 10, 20), [true]);
        assert_eq!(read_mostly(&map, 19, 21), [true, false]);
        map.change(0, 10, |advice| advice.read_mostly = true);
        assert_eq!(read_mostly(&map, 0, 100), [true, false]);
        map.change(0, 100, |advice| advice.read_mostly = false);
        assert_eq!(map.0.len(), 1);
    }
}
