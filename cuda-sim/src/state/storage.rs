//! The bytes of device memory, and which of them were ever written.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What freed and never written memory reads as.
pub(crate) const POISON: u8 = 0xcd;

/// How many words are cleared rather than replaced.
const FEW_WORDS: usize = 1 << 12;

/// A block of device memory.
///
/// The words are atomic because a kernel's blocks may run on several threads; all accesses are relaxed, as the order between operations
/// is the schedule's business.
///
/// # Invariants
/// `words` covers `len` bytes; bit *b* of `written[w]` tells whether byte `64 * w + b` was written.
#[derive(Debug)]
pub(crate) struct Storage {
    words: Box<[AtomicU64]>,
    written: Box<[AtomicU64]>,
    len: usize,
}

/// `count` zero words, which the operating system provides when they are touched; nothing where there is no room.
pub(crate) fn zeroed(count: usize) -> Option<Box<[AtomicU64]>> {
    let mut words: Vec<u64> = Vec::new();
    words.try_reserve_exact(count).ok()?;
    drop(words);
    let words = vec![0u64; count].into_boxed_slice();
    // SAFETY: AtomicU64 has the size, alignment and bit validity of u64, and the box is owned.
    Some(unsafe { Box::from_raw(Box::into_raw(words) as *mut [AtomicU64]) })
}

impl Storage {
    /// A block of `len` unwritten bytes; nothing where the host has no room.
    pub(crate) fn new(len: usize) -> Option<Self> {
        Some(Self {
            words: zeroed(len.div_ceil(8))?,
            written: zeroed(len.div_ceil(64))?,
            len,
        })
    }

    /// Forgets the contents.
    pub(crate) fn poison(&mut self) {
        // Fresh words cost nothing until they are touched.
        if self.written.len() > FEW_WORDS
            && let Some(fresh) = zeroed(self.written.len())
        {
            self.written = fresh;
            return;
        }
        for word in &self.written {
            word.store(0, Relaxed);
        }
    }

    /// Whether `range` lies within the block.
    fn holds(&self, offset: usize, len: usize) -> bool {
        offset.checked_add(len).is_some_and(|end| end <= self.len)
    }

    /// Reads bytes; the caller has checked the bounds. Returns the first offset that was never written, if any; such bytes read as
    /// [`POISON`].
    pub(crate) fn read(&self, offset: usize, into: &mut [u8]) -> Option<usize> {
        if !self.holds(offset, into.len()) {
            return None;
        }
        let (head, middle, _) = split(offset, into.len());
        let (first, rest) = into.split_at_mut(head);
        let (whole, last) = rest.split_at_mut(middle);
        self.read_part(offset, first);
        let start = (offset + head) / 8;
        let words = self.words.get(start..start + middle / 8).unwrap_or(&[]);
        for (bytes, word) in whole.as_chunks_mut::<8>().0.iter_mut().zip(words) {
            *bytes = word.load(Relaxed).to_le_bytes();
        }
        self.read_part(offset + head + middle, last);
        if self.all_written(offset, into.len()) {
            return None;
        }
        let mut first = None;
        for (index, byte) in into.iter_mut().enumerate() {
            if !self.is_written(offset + index) {
                *byte = POISON;
                first.get_or_insert(offset + index);
            }
        }
        first
    }

    /// Writes bytes; the caller has checked the bounds.
    pub(crate) fn write(&self, offset: usize, bytes: &[u8]) {
        if !self.holds(offset, bytes.len()) {
            return;
        }
        let (head, middle, _) = split(offset, bytes.len());
        let (first, rest) = bytes.split_at(head);
        let (whole, last) = rest.split_at(middle);
        self.write_part(offset, first);
        let start = (offset + head) / 8;
        let words = self.words.get(start..start + middle / 8).unwrap_or(&[]);
        for (bytes, word) in whole.as_chunks::<8>().0.iter().zip(words) {
            word.store(u64::from_le_bytes(*bytes), Relaxed);
        }
        self.write_part(offset + head + middle, last);
        self.mark(offset, bytes.len(), true);
    }

    /// Reads bytes of one word.
    fn read_part(&self, offset: usize, into: &mut [u8]) {
        if let (Some(word), false) = (self.words.get(offset / 8), into.is_empty()) {
            let word = word.load(Relaxed).to_le_bytes();
            let within = offset % 8;
            into.copy_from_slice(word.get(within..within + into.len()).unwrap_or(&[]));
        }
    }

    /// Writes bytes of one word.
    fn write_part(&self, offset: usize, bytes: &[u8]) {
        if let (Some(word), false) = (self.words.get(offset / 8), bytes.is_empty()) {
            merge(word, offset % 8, bytes);
        }
    }

    /// Replaces the word of `size` bytes at `offset` (2, 4 or 8, aligned) by `update(old)`; returns the old word.
    pub(crate) fn atomic(
        &self,
        offset: usize,
        size: usize,
        update: &mut dyn FnMut(u64) -> u64,
    ) -> u64 {
        let shift = offset % 8 * 8;
        let mask = if size >= 8 {
            u64::MAX
        } else {
            (1 << (size * 8)) - 1
        };
        let mut old = 0;
        if let Some(word) = self.words.get(offset / 8) {
            let mut current = word.load(Relaxed);
            loop {
                old = current >> shift & mask;
                let new = current & !(mask << shift) | (update(old) & mask) << shift;
                match word.compare_exchange_weak(current, new, Relaxed, Relaxed) {
                    Ok(_) => break,
                    Err(seen) => current = seen,
                }
            }
        }
        self.mark(offset, size, true);
        old
    }

    /// Copies bytes and what is known of them from another block (or within this one).
    pub(crate) fn copy_from(&self, offset: usize, source: &Self, source_offset: usize, len: usize) {
        const PIECE: usize = 1 << 16;
        let mut buffer = vec![0; len.min(PIECE)];
        // An overlapping copy is undefined in CUDA; here it goes upwards.
        let mut done = 0;
        while done < len {
            let take = (len - done).min(PIECE);
            let Some(piece) = buffer.get_mut(..take) else {
                return;
            };
            let complete = source.read(source_offset + done, piece).is_none();
            self.write(offset + done, piece);
            if !complete {
                for index in
                    (done..done + take).filter(|index| !source.is_written(source_offset + index))
                {
                    self.mark(offset + index, 1, false);
                }
            }
            done += take;
        }
    }

    /// Fills `count` elements with the pattern.
    pub(crate) fn fill(&self, offset: usize, pattern: &[u8], count: usize) {
        const PIECE: usize = 1 << 12;
        let piece = pattern.repeat(count.min(PIECE));
        let len = pattern.len() * count;
        let mut done = 0;
        while done < len {
            let take = (len - done).min(piece.len());
            self.write(offset + done, piece.get(..take).unwrap_or(&[]));
            done += take;
        }
    }

    /// Declares bytes written (or not).
    pub(crate) fn mark(&self, offset: usize, len: usize, written: bool) {
        for (index, mask) in mask_words(offset, len) {
            if let Some(word) = self.written.get(index) {
                if !written {
                    word.fetch_and(!mask, Relaxed);
                } else if word.load(Relaxed) & mask != mask {
                    word.fetch_or(mask, Relaxed);
                }
            }
        }
    }

    /// Whether all of the bytes have been written.
    pub(crate) fn all_written(&self, offset: usize, len: usize) -> bool {
        mask_words(offset, len).all(|(index, mask)| {
            self.written
                .get(index)
                .is_none_or(|word| word.load(Relaxed) & mask == mask)
        })
    }

    fn is_written(&self, offset: usize) -> bool {
        self.all_written(offset, 1)
    }
}

/// Lengths of the part of a range before the first whole word, of its whole words, and of what is left.
fn split(offset: usize, len: usize) -> (usize, usize, usize) {
    let head = (offset.wrapping_neg() % 8).min(len);
    let middle = (len - head) / 8 * 8;
    (head, middle, len - head - middle)
}

/// Replaces some bytes of a word.
fn merge(word: &AtomicU64, within: usize, bytes: &[u8]) {
    let mut value = [0; 8];
    let mut mask = [0; 8];
    if let (Some(value), Some(mask)) = (
        value.get_mut(within..within + bytes.len()),
        mask.get_mut(within..within + bytes.len()),
    ) {
        value.copy_from_slice(bytes);
        mask.fill(0xff);
    }
    let (value, mask) = (u64::from_le_bytes(value), u64::from_le_bytes(mask));
    let mut current = word.load(Relaxed);
    while let Err(seen) =
        word.compare_exchange_weak(current, current & !mask | value, Relaxed, Relaxed)
    {
        current = seen;
    }
}

/// The words of the map of written bytes that a range touches, each with the bits of the range.
fn mask_words(offset: usize, len: usize) -> impl Iterator<Item = (usize, u64)> {
    let end = offset + len;
    (offset / 64..end.div_ceil(64)).map(move |index| {
        let low = if index * 64 < offset {
            u64::MAX << (offset % 64)
        } else {
            u64::MAX
        };
        let high = if index * 64 + 64 > end {
            !(u64::MAX << (end % 64))
        } else {
            u64::MAX
        };
        (index, low & high)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unaligned_pieces_come_back_and_the_rest_is_poison() {
        let storage = Storage::new(200).expect("room");
        let bytes: Vec<u8> = (0..150).collect();
        storage.write(3, &bytes);
        let mut back = vec![0; 150];
        assert_eq!(storage.read(3, &mut back), None);
        assert_eq!(back, bytes);
        let mut wide = [0; 8];
        assert_eq!(storage.read(0, &mut wide), Some(0));
        assert_eq!(wide, [POISON, POISON, POISON, 0, 1, 2, 3, 4]);
        assert_eq!(storage.read(150, &mut [0; 50]), Some(153));
    }

    #[test]
    fn a_copy_carries_what_was_never_written() {
        let (a, b) = (
            Storage::new(128).expect("room"),
            Storage::new(128).expect("room"),
        );
        a.write(0, &[1; 10]);
        b.fill(0, &[7], 128);
        b.copy_from(64, &a, 0, 20);
        assert_eq!(b.read(64, &mut [0; 20]), Some(74));
        assert_eq!(b.read(84, &mut [0; 44]), None);
    }

    #[test]
    fn atomics_change_their_own_bytes_only() {
        let storage = Storage::new(16).expect("room");
        storage.fill(0, &[0xff], 16);
        assert_eq!(
            storage.atomic(4, 4, &mut |old| old.wrapping_add(2)),
            0xffff_ffff
        );
        let mut back = [0; 16];
        storage.read(0, &mut back);
        assert_eq!(
            back,
            [
                255, 255, 255, 255, 1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255
            ]
        );
    }
}
