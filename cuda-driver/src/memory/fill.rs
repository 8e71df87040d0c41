//! Setting device memory to a value.

use bytemuck::{NoUninit, Zeroable};
use cuda_sys::CUdeviceptr;

use super::allocation::DeviceAllocation;
use super::block::Block;
use super::copy::enqueue;
use super::element::offset;
use super::place::{CopyDestination, Start};
use super::slice::DeviceSliceMut;
use super::staging::LARGE;
use super::transfer;
use crate::call;
use crate::error::{Doing, Error, Result, count};
use crate::stream::sealed::Sealed;
use crate::stream::{BorrowedStream, PerThreadStream, Stream, StreamCore};

/// What can be filled: device memory of `T`.
pub trait FillTarget<T>: CopyDestination<T> {}

impl<T: Copy> FillTarget<T> for DeviceAllocation<T> {}
impl<T: Copy> FillTarget<T> for DeviceSliceMut<'_, T> {}

/// The operations that set memory, for each kind of stream.
macro_rules! fills {
    ($($stream:ty),*) => {$(
        impl $stream {
            /// Sets all elements to `value`, in the order of this stream.
            ///
            /// Elements of 1, 2 and 4 bytes are set by the device in one operation; so are larger ones whose bytes repeat
            /// with one of those periods. The others are uploaded.
            ///
            /// # Errors
            /// What the driver returns.
            ///
            /// ```
            /// # fn main() -> cuda_driver::Result<()> {
            /// # #[cfg(feature = "simulator")] {
            /// # let context = cuda_driver::Driver::simulated()?.device(0)?.primary_context()?;
            /// let stream = context.create_stream()?;
            /// let mut numbers = stream.zeroed::<f32>(3)?;
            /// stream.fill(&mut numbers, 0.5)?;
            /// assert_eq!(numbers.to_vec()?, [0.5; 3]);
            /// # }
            /// # Ok(())
            /// # }
            /// ```
            #[doc(alias = "cuMemsetD8Async")]
            #[doc(alias = "cuMemsetD16Async")]
            #[doc(alias = "cuMemsetD32Async")]
            #[doc(alias = "memset")]
            pub fn fill<T: NoUninit>(
                &self,
                to: &mut impl FillTarget<T>,
                value: T,
            ) -> Result<()> {
                let pattern = Pattern::of(bytemuck::bytes_of(&value));
                let place = to.destination();
                let Start::Device(start, block) = place.start else {
                    return Err(Error::invalid("only device memory is filled by the device"));
                };
                match pattern {
                    Some(pattern) => {
                        let bytes = place.len * size_of::<T>();
                        fill(self.stream_core(), (start, block), pattern, bytes)
                    }
                    None => upload_pattern(self.stream_core(), (start, block), value, place.len),
                }
            }

            /// Sets all elements to zero, in the order of this stream.
            ///
            /// # Errors
            /// What the driver returns.
            #[doc(alias = "cuMemsetD8Async")]
            pub fn zero<T: Zeroable>(&self, to: &mut impl ZeroTarget<T>) -> Result<()> {
                let (start, len, block) = to.zeroed_place();
                fill(self.stream_core(), (start, block), Pattern::One(0), len * size_of::<T>())
            }
        }
    )*};
}

fills!(Stream, BorrowedStream, PerThreadStream);

/// What can be zeroed: device memory of `T`.
pub trait ZeroTarget<T>: super::place::sealed::Sealed {
    #[doc(hidden)]
    fn zeroed_place(&mut self) -> (CUdeviceptr, usize, &Block);
}

impl<T> ZeroTarget<T> for DeviceAllocation<T> {
    fn zeroed_place(&mut self) -> (CUdeviceptr, usize, &Block) {
        (*self.address(), self.len(), self.block())
    }
}

impl<T> ZeroTarget<T> for DeviceSliceMut<'_, T> {
    fn zeroed_place(&mut self) -> (CUdeviceptr, usize, &Block) {
        (*self.address(), self.len(), self.block())
    }
}

/// The shortest run of bytes that a value repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pattern {
    One(u8),
    Two(u16),
    Four(u32),
}

impl Pattern {
    fn of(bytes: &[u8]) -> Option<Self> {
        let repeats = |period: usize| {
            bytes.len().is_multiple_of(period)
                && bytes
                    .chunks_exact(period)
                    .all(|chunk| Some(chunk) == bytes.get(..period))
        };
        if repeats(1) {
            return bytes.first().map(|&byte| Self::One(byte));
        }
        if repeats(2) {
            let chunk = bytes.first_chunk().copied()?;
            return Some(Self::Two(u16::from_ne_bytes(chunk)));
        }
        if repeats(4) {
            let chunk = bytes.first_chunk().copied()?;
            return Some(Self::Four(u32::from_ne_bytes(chunk)));
        }
        None
    }
}

/// Uploads a value that no operation of the device sets, some at a time.
fn upload_pattern<T: NoUninit>(
    stream: &StreamCore,
    (start, block): (CUdeviceptr, &Block),
    value: T,
    len: usize,
) -> Result<()> {
    stream.require_driver("memory", block.context().driver())?;
    let at_once = (LARGE / size_of::<T>()).clamp(1, len.max(1));
    let values = vec![value; at_once];
    let mut done = 0;
    while done < len {
        let next = at_once.min(len - done);
        let to = start + offset(done * size_of::<T>());
        let bytes = next * size_of::<T>();
        transfer::host_to_device(stream, values.as_ptr().cast(), (to, Some(block)), bytes)
            .doing(|| format!("fill {} of device memory", count(len, "element")))?;
        done += next;
    }
    Ok(())
}

fn fill(
    stream: &StreamCore,
    (start, block): (CUdeviceptr, &Block),
    pattern: Pattern,
    bytes: usize,
) -> Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    stream.require_driver("memory", block.context().driver())?;
    let access = block.access(start, offset(bytes), true);
    let raw = stream.as_raw();
    enqueue(stream, [access], || match pattern {
        // SAFETY: the range has that many bytes, and stays until the operation is done: the tracker has the access.
        Pattern::One(value) => unsafe {
            call!(stream.driver(), cuMemsetD8Async(start, value, bytes, raw))
        },
        // SAFETY: as above, in units of two bytes.
        Pattern::Two(value) => unsafe {
            call!(
                stream.driver(),
                cuMemsetD16Async(start, value, bytes / 2, raw)
            )
        },
        // SAFETY: as above, in units of four bytes.
        Pattern::Four(value) => unsafe {
            call!(
                stream.driver(),
                cuMemsetD32Async(start, value, bytes / 4, raw)
            )
        },
    })
    .doing(|| format!("set {} of device memory", count(bytes, "byte")))
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn the_shortest_period_is_found() {
        assert_eq!(Pattern::of(&[7]), Some(Pattern::One(7)));
        assert_eq!(Pattern::of(&[7, 7, 7, 7]), Some(Pattern::One(7)));
        let two = Pattern::Two(u16::from_ne_bytes([1, 2]));
        assert_eq!(Pattern::of(&[1, 2, 1, 2]), Some(two));
        let four = Pattern::Four(u32::from_ne_bytes([1, 2, 3, 4]));
        assert_eq!(Pattern::of(&[1, 2, 3, 4, 1, 2, 3, 4]), Some(four));
        assert_eq!(Pattern::of(&[1, 2, 3]), None);
        assert_eq!(Pattern::of(&[1, 2, 3, 4, 5, 6, 7, 8]), None);
    }
}
