//! Ranges of page-locked memory, as ends of copies.

use std::fmt;

use super::pinned::{PinnedBuffer, PinnedMemory};

/// A range of page-locked memory, to be copied from.
pub struct PinnedSlice<'a, T> {
    buffer: &'a PinnedBuffer<T>,
    at: usize,
    len: usize,
}

/// A range of page-locked memory, to be copied from and to.
pub struct PinnedSliceMut<'a, T> {
    buffer: &'a mut PinnedBuffer<T>,
    at: usize,
    len: usize,
}

macro_rules! common {
    ($($name:ident: $buffer:ty;)*) => {$(
        impl<'a, T> $name<'a, T> {
            pub(super) fn new(buffer: $buffer, at: usize, len: usize) -> Self {
                Self { buffer, at, len }
            }

            pub(super) fn start(&self) -> *mut T {
                // SAFETY: the range was checked to be within the buffer.
                unsafe { self.buffer.start().add(self.at) }
            }

            pub(super) fn memory(&self) -> &PinnedMemory {
                self.buffer.memory()
            }

            /// How many elements there are.
            #[must_use]
            pub fn len(&self) -> usize {
                self.len
            }

            /// Whether there are no elements.
            #[must_use]
            pub fn is_empty(&self) -> bool {
                self.len == 0
            }
        }

        impl<T> fmt::Debug for $name<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name))
                    .field("at", &self.at)
                    .field("len", &self.len)
                    .finish_non_exhaustive()
            }
        }
    )*};
}

common! {
    PinnedSlice: &'a PinnedBuffer<T>;
    PinnedSliceMut: &'a mut PinnedBuffer<T>;
}
