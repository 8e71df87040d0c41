//! Handles: tagged numbers that are looked up, never followed.
//!
//! A handle names the slot of its instance, the kind of object and an index. Its top bits make it a non-canonical address, so it can
//! equal neither host nor device memory, and a program that follows one crashes at once.

use cuda_sys::CUresult;

use crate::code;

/// The kind of object that a handle names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// `CUcontext`
    Context = 1,
    /// `CUstream`
    Stream,
    /// `CUevent`
    Event,
    /// `CUmodule`
    Module,
    /// `CUfunction`
    Function,
    /// `CUmemoryPool`
    Pool,
    /// `CUgraph`
    Graph,
    /// `CUarray`
    Array,
    /// `CUmemGenericAllocationHandle`
    Physical,
    /// `CUlibrary`
    Library,
    /// `CUkernel`
    Kernel,
    /// `CUlinkState`
    Linker,
}

const TAG: u64 = 0x0cda << 48;
const TAG_MASK: u64 = 0xffff << 48;

/// The handle of entry `index`.
const fn encode(slot: usize, kind: Kind, index: usize) -> u64 {
    TAG | (slot as u64) << 40 | (kind as u64) << 32 | ((index as u64 + 1) & 0x0fff_ffff) << 4
}

/// Slot, kind and index of a handle of any instance.
const fn decode(handle: u64) -> Option<(usize, u8, usize)> {
    let index = handle >> 4 & 0x0fff_ffff;
    if handle & TAG_MASK != TAG || handle & 15 != 0 || index == 0 {
        return None;
    }
    Some((
        (handle >> 40 & 0xff) as usize,
        (handle >> 32 & 0xff) as u8,
        index as usize - 1,
    ))
}

/// The kind of object that a number names, if it is a handle of any instance.
pub(crate) fn kind_of(handle: u64) -> Option<&'static str> {
    const KINDS: [&str; 11] = [
        "context", "stream", "event", "module", "function", "pool", "graph", "array", "library",
        "kernel", "linker",
    ];
    let (_, kind, _) = decode(handle)?;
    KINDS.get(usize::from(kind).checked_sub(1)?).copied()
}

/// The objects of one kind of one instance.
///
/// # Invariants
/// `vacant` holds the indices of entries that are `None` and may be given out again, each once.
#[derive(Debug)]
pub(crate) struct Table<T> {
    slot: usize,
    kind: Kind,
    invalid: CUresult,
    entries: Vec<Option<T>>,
    vacant: Vec<usize>,
}

impl<T> Table<T> {
    pub(crate) fn new(slot: usize, kind: Kind) -> Self {
        let invalid = if matches!(kind, Kind::Context) {
            code::INVALID_CONTEXT
        } else {
            code::INVALID_HANDLE
        };
        Self {
            slot,
            kind,
            invalid,
            entries: Vec::new(),
            vacant: Vec::new(),
        }
    }

    /// Adds an object and returns its handle: that of the object last removed, if handles are reused.
    pub(crate) fn insert(&mut self, object: T) -> u64 {
        let index = match self.vacant.pop() {
            Some(index) => index,
            None => {
                self.entries.push(None);
                self.entries.len() - 1
            }
        };
        if let Some(entry) = self.entries.get_mut(index) {
            *entry = Some(object);
        }
        encode(self.slot, self.kind, index)
    }

    /// The handle that the next [`insert`](Self::insert) returns.
    pub(crate) fn next(&self) -> u64 {
        encode(
            self.slot,
            self.kind,
            self.vacant.last().copied().unwrap_or(self.entries.len()),
        )
    }

    fn index(&self, handle: u64) -> Result<usize, CUresult> {
        match decode(handle) {
            Some((slot, kind, index)) if slot == self.slot && kind == self.kind as u8 => Ok(index),
            _ => Err(self.invalid),
        }
    }

    /// The object of a handle.
    ///
    /// # Errors
    /// `INVALID_HANDLE` (contexts: `INVALID_CONTEXT`) where the handle names no living object of this kind and instance.
    pub(crate) fn get(&self, handle: u64) -> Result<&T, CUresult> {
        self.entries
            .get(self.index(handle)?)
            .and_then(Option::as_ref)
            .ok_or(self.invalid)
    }

    /// The object of a handle, to be changed.
    ///
    /// # Errors
    /// As for [`get`](Self::get).
    pub(crate) fn get_mut(&mut self, handle: u64) -> Result<&mut T, CUresult> {
        let index = self.index(handle)?;
        self.entries
            .get_mut(index)
            .and_then(Option::as_mut)
            .ok_or(self.invalid)
    }

    /// Takes the object out; `reuse` lets the next object have its handle.
    ///
    /// # Errors
    /// As for [`get`](Self::get).
    pub(crate) fn remove(&mut self, handle: u64, reuse: bool) -> Result<T, CUresult> {
        let index = self.index(handle)?;
        let object = self
            .entries
            .get_mut(index)
            .and_then(Option::take)
            .ok_or(self.invalid)?;
        if reuse {
            self.vacant.push(index);
        }
        Ok(object)
    }

    /// Whether a handle names, or once named, an object of that kind and of this instance.
    pub(crate) fn is_of(&self, handle: u64, kind: Kind) -> bool {
        matches!(decode(handle), Some((slot, found, _)) if slot == self.slot && found == kind as u8)
    }

    /// Whether a handle once named an object of this kind that is gone.
    pub(crate) fn is_stale(&self, handle: u64) -> bool {
        self.index(handle)
            .is_ok_and(|index| matches!(self.entries.get(index), Some(None)))
    }

    /// All living objects with their handles, by ascending handle.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        let (slot, kind) = (self.slot, self.kind);
        self.entries
            .iter()
            .enumerate()
            .filter_map(move |(index, entry)| Some((encode(slot, kind, index), entry.as_ref()?)))
    }

    /// All living objects, to be changed.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.entries.iter_mut().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_reused_at_once_or_never() {
        let mut table = Table::new(3, Kind::Stream);
        let (a, b) = (table.insert('a'), table.insert('b'));
        assert_eq!(table.remove(a, true), Ok('a'));
        assert!(table.is_stale(a));
        assert_eq!(table.insert('c'), a);
        assert_eq!(table.remove(b, false), Ok('b'));
        assert_ne!(table.insert('d'), b);
    }

    #[test]
    fn a_handle_of_another_kind_or_instance_is_refused() {
        let mut streams = Table::new(3, Kind::Stream);
        let stream = streams.insert(());
        assert_eq!(
            Table::<()>::new(3, Kind::Event).get(stream),
            Err(code::INVALID_HANDLE)
        );
        assert_eq!(
            Table::<()>::new(4, Kind::Stream).get(stream),
            Err(code::INVALID_HANDLE)
        );
        assert_eq!(streams.get(stream ^ 8), Err(code::INVALID_HANDLE));
        assert_eq!(
            Table::<()>::new(3, Kind::Context).get(0),
            Err(code::INVALID_CONTEXT)
        );
    }
}
