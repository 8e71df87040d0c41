//! What element types and lengths the device's memory takes.

use std::ops::{Bound, RangeBounds};

use crate::error::{Error, ErrorKind, Result, count};

/// The alignment of every block that the driver allocates.
pub(super) const BLOCK_ALIGNMENT: usize = 256;

/// Refuses, at compile time, element types that memory of the device cannot hold.
pub(crate) struct Element<T>(std::marker::PhantomData<T>);

impl<T> Element<T> {
    pub(crate) const VALID: () = {
        assert!(
            size_of::<T>() != 0,
            "zero-sized elements have no place in device memory"
        );
        assert!(
            align_of::<T>() <= BLOCK_ALIGNMENT,
            "the element's alignment is greater than that of device allocations"
        );
    };
}

/// The size of `len` elements in bytes.
pub(crate) fn size_in_bytes<T>(len: usize) -> Result<usize> {
    let () = Element::<T>::VALID;
    let fits = |bytes: &usize| isize::try_from(*bytes).is_ok();
    len.checked_mul(size_of::<T>()).filter(fits).ok_or_else(|| {
        Error::new(
            ErrorKind::OutOfMemory,
            format!(
                "{} of {} are more than the address space",
                count(len, "element"),
                count(size_of::<T>(), "byte")
            ),
        )
    })
}

/// A number of bytes as an offset in a block.
pub(crate) fn offset(bytes: usize) -> u64 {
    // On every platform that CUDA runs on, `usize` has at most 64 bits.
    bytes as u64
}

/// The bounds of a range of `len` elements, start before end.
pub(crate) fn bounds(range: impl RangeBounds<usize>, len: usize) -> Result<(usize, usize)> {
    let too_far = || Error::invalid("the range ends beyond the greatest number");
    let start = match range.start_bound() {
        Bound::Included(&start) => start,
        Bound::Excluded(&start) => start.checked_add(1).ok_or_else(too_far)?,
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(&end) => end.checked_add(1).ok_or_else(too_far)?,
        Bound::Excluded(&end) => end,
        Bound::Unbounded => len,
    };
    if start <= end && end <= len {
        return Ok((start, end));
    }
    Err(Error::invalid(format!(
        "the range {start}..{end} is not within the {}",
        count(len, "element")
    )))
}

/// Refuses a copy between parts of different lengths.
pub(crate) fn require_equal_len(from: usize, to: usize) -> Result<()> {
    if from == to {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "the source has {} and the destination {to}; take a range of the longer one",
        count(from, "element")
    )))
}
