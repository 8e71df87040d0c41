//! Copies and fills: boxes of bytes in linear memory, and exactly which bytes they touch.

mod execute;

use std::ops::Range;

use crate::state::host::HostRange;
use crate::state::word::Word;

/// A box of bytes: rows of `width` bytes, `height` rows to a slice, `depth` slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) depth: usize,
}

impl Extent {
    /// One row.
    pub(crate) fn line(width: usize) -> Self {
        Self {
            width,
            height: 1,
            depth: 1,
        }
    }

    /// All bytes; nothing where there are too many to count.
    pub(crate) fn bytes(self) -> Option<usize> {
        self.width.checked_mul(self.height)?.checked_mul(self.depth)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.width == 0 || self.height == 0 || self.depth == 0
    }
}

/// How far the starts of rows and of slices are apart in memory, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Strides {
    pub(crate) row: usize,
    pub(crate) slice: usize,
}

impl Strides {
    /// Those of a box without gaps.
    pub(crate) fn dense(extent: Extent) -> Self {
        Self {
            row: extent.width,
            slice: extent.width.saturating_mul(extent.height),
        }
    }

    /// Bytes from the first to the last byte of a box; nothing where there are too many to count.
    pub(crate) fn span(self, extent: Extent) -> Option<usize> {
        if extent.is_empty() {
            return Some(0);
        }
        let rows = self.row.checked_mul(extent.height - 1)?;
        let slices = self.slice.checked_mul(extent.depth - 1)?;
        extent.width.checked_add(rows)?.checked_add(slices)
    }
}

/// The box as few long rows: where rows, or slices, follow each other without a gap on all sides, they become one.
fn merged(mut extent: Extent, sides: &[Strides]) -> Extent {
    let all = |what: fn(&Strides) -> usize, len: usize| sides.iter().all(|side| what(side) == len);
    if extent.height == 1 || all(|side| side.row, extent.width) {
        extent.width *= extent.height;
        extent.height = 1;
        if all(|side| side.slice, extent.width) {
            extent.width *= extent.depth;
            extent.depth = 1;
        }
    }
    extent
}

/// Where memory lies.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    /// At an address that a device can reach.
    Device(u64),
    /// In host memory, which is read or written when the copy is executed.
    Host(HostRange),
    /// In a buffer that was filled when the copy was enqueued.
    Bytes(Vec<u8>),
}

/// One end of a copy.
#[derive(Debug, Clone)]
pub(crate) struct End {
    pub(crate) place: Place,
    pub(crate) strides: Strides,
}

impl End {
    /// The bytes of a box by address, without gaps in each range; none for a buffer of our own.
    pub(crate) fn ranges(&self, extent: Extent) -> impl Iterator<Item = Range<u64>> + use<> {
        let start = match &self.place {
            Place::Device(address) => Some(*address),
            Place::Host(range) => Some(range.address() as u64),
            Place::Bytes(_) => None,
        };
        let strides = self.strides;
        start
            .into_iter()
            .flat_map(move |start| ranges(start, strides, extent))
    }
}

/// The bytes of a box that starts at an address.
fn ranges(start: u64, strides: Strides, extent: Extent) -> impl Iterator<Item = Range<u64>> {
    let extent = merged(extent, &[strides]);
    rows(extent).map(move |(row, slice)| {
        let first = start + (slice * strides.slice + row * strides.row) as u64;
        first..first + extent.width as u64
    })
}

/// Row and slice of each row.
fn rows(extent: Extent) -> impl Iterator<Item = (usize, usize)> {
    let slices = if extent.is_empty() { 0 } else { extent.depth };
    (0..slices).flat_map(move |slice| (0..extent.height).map(move |row| (row, slice)))
}

/// A copy, checked and ready to run.
#[derive(Debug)]
pub(crate) struct Copy {
    pub(crate) to: End,
    pub(crate) from: End,
    pub(crate) extent: Extent,
}

impl Copy {
    /// The bytes that it reads.
    pub(crate) fn reads(&self) -> impl Iterator<Item = Range<u64>> + use<> {
        self.from.ranges(self.extent)
    }

    /// The bytes that it writes.
    pub(crate) fn writes(&self) -> impl Iterator<Item = Range<u64>> + use<> {
        self.to.ranges(self.extent)
    }

    /// Its pieces without gaps at either end: offsets from the starts of both ends, and lengths.
    fn pieces(&self) -> impl Iterator<Item = (usize, usize, usize)> + use<> {
        let (to, from) = (self.to.strides, self.from.strides);
        let extent = merged(self.extent, &[to, from]);
        rows(extent).map(move |(row, slice)| {
            (
                slice * to.slice + row * to.row,
                slice * from.slice + row * from.row,
                extent.width,
            )
        })
    }
}

/// A fill, checked and ready to run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fill {
    pub(crate) address: u64,
    pub(crate) strides: Strides,
    /// In bytes.
    pub(crate) extent: Extent,
    /// The element, of which `width` bytes count.
    pub(crate) pattern: [u8; 8],
    pub(crate) width: usize,
}

impl Fill {
    /// The write of one word.
    pub(crate) fn of_word(word: &Word) -> Self {
        let extent = Extent::line(word.width);
        Self {
            address: word.address,
            strides: Strides::dense(extent),
            extent,
            pattern: word.value.to_le_bytes(),
            width: word.width,
        }
    }

    /// The bytes that it writes.
    pub(crate) fn writes(&self) -> impl Iterator<Item = Range<u64>> + use<> {
        ranges(self.address, self.strides, self.extent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOX: Extent = Extent {
        width: 4,
        height: 3,
        depth: 2,
    };

    fn end(row: usize, slice: usize) -> End {
        End {
            place: Place::Device(1000),
            strides: Strides { row, slice },
        }
    }

    #[test]
    fn rows_without_gaps_are_one_range() {
        let found = |row, slice| end(row, slice).ranges(BOX).collect::<Vec<_>>();
        assert_eq!(found(4, 12).first(), Some(&(1000..1024)));
        assert_eq!(found(4, 20), [1000..1012, 1020..1032]);
        assert_eq!(found(10, 30).len(), 6);
        assert_eq!(found(10, 30).last(), Some(&(1050..1054)));
        assert_eq!(end(4, 12).ranges(Extent { depth: 0, ..BOX }).count(), 0);
    }

    #[test]
    fn pieces_have_gaps_at_neither_end() {
        let copy = Copy {
            to: end(4, 12),
            from: end(4, 16),
            extent: BOX,
        };
        assert_eq!(
            copy.pieces().collect::<Vec<_>>(),
            [(0, 0, 12), (12, 16, 12)]
        );
    }

    #[test]
    fn spans_reach_from_the_first_to_the_last_byte() {
        let strides = Strides { row: 10, slice: 50 };
        assert_eq!(strides.span(BOX), Some(50 + 20 + 4));
        assert_eq!(
            Strides {
                row: usize::MAX,
                slice: 0
            }
            .span(BOX),
            None
        );
    }
}
