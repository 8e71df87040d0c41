//! What global variables hold.

use bytemuck::AnyBitPattern;

use crate::error::{Error, ErrorKind, Result};

/// What a [`Global`](crate::Global) can hold: a value of a type of which every bit pattern is one, or a slice of such.
pub trait GlobalValue: sealed::Sealed {
    /// One element: the value itself, or those of the slice.
    type Element: AnyBitPattern;
    /// What reading gives: the value, or a vector.
    type Owned;
}

pub(super) mod sealed {
    use super::{AnyBitPattern, Result};

    /// A value as its elements.
    pub trait Sealed {
        #[doc(hidden)]
        type Item: AnyBitPattern;
        #[doc(hidden)]
        type Output;

        /// How many elements a variable has that must hold that many, or as many as it likes.
        #[doc(hidden)]
        const LEN: Option<usize>;

        #[doc(hidden)]
        fn elements(&self) -> &[Self::Item];

        /// The value of elements that `fill` writes.
        #[doc(hidden)]
        fn read(
            len: usize,
            fill: impl FnOnce(&mut [Self::Item]) -> Result<()>,
        ) -> Result<Self::Output>;
    }
}

impl<T: AnyBitPattern> sealed::Sealed for T {
    type Item = T;
    type Output = T;
    const LEN: Option<usize> = Some(1);

    fn elements(&self) -> &[T] {
        std::slice::from_ref(self)
    }

    fn read(_len: usize, fill: impl FnOnce(&mut [T]) -> Result<()>) -> Result<T> {
        let mut value = T::zeroed();
        fill(std::slice::from_mut(&mut value))?;
        Ok(value)
    }
}

impl<T: AnyBitPattern> GlobalValue for T {
    type Element = T;
    type Owned = T;
}

impl<T: AnyBitPattern> sealed::Sealed for [T] {
    type Item = T;
    type Output = Vec<T>;
    const LEN: Option<usize> = None;

    fn elements(&self) -> &[T] {
        self
    }

    fn read(len: usize, fill: impl FnOnce(&mut [T]) -> Result<()>) -> Result<Vec<T>> {
        let mut values = Vec::new();
        values.try_reserve_exact(len).map_err(|_| {
            Error::new(
                ErrorKind::OutOfMemory,
                format!("the host has no room for {len} elements"),
            )
        })?;
        values.resize(len, T::zeroed());
        fill(&mut values)?;
        Ok(values)
    }
}

impl<T: AnyBitPattern> GlobalValue for [T] {
    type Element = T;
    type Owned = Vec<T>;
}
