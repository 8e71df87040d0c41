//! What the methods of declared kernels take for memory.
//!
//! Global variables are not among it: several handles of one can be written through, so a safe kernel could be given the same memory
//! twice. A declaration lists them instead.

use std::ffi::c_void;

use bytemuck::{AnyBitPattern, NoUninit};

use super::arguments::sealed::Len;
use crate::launch::argument_parts::{MemoryUse, Sealed};
use crate::launch::{HostRange, In, InOut, KernelArgument, Null, Out};
use crate::memory::{DeviceAllocation, DeviceSlice, DeviceSliceMut};

/// Memory of elements `T` that a kernel reads: `&allocation`, a slice, or the host's as [`In`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no device memory of `{T}` that a kernel can read",
    note = "pass `&memory` of a `DeviceAllocation<{T}>`, a `DeviceSlice<{T}>`, or memory of the host as `In(&slice)`"
)]
pub trait ReadArgument<T>:
    KernelArgument + sealed::Len + sealed::Is<sealed::ReadArgument<T>>
{
}

/// Memory of elements `T` that a kernel writes: `&mut allocation`, a mutable slice, or the host's as [`Out`] or [`InOut`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no device memory of `{T}` that a kernel can write",
    note = "pass `&mut memory` of a `DeviceAllocation<{T}>`, a `DeviceSliceMut<{T}>`, or memory of the host as `Out(&mut slice)` \
            or `InOut(&mut slice)`"
)]
pub trait WriteArgument<T>:
    KernelArgument + sealed::Len + sealed::Is<sealed::WriteArgument<T>>
{
}

/// Memory that a kernel reads, or [`Null`], or an `Option`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no device memory of `{T}` that a kernel can read, and not `Null`",
    note = "pass `&memory` of a `DeviceAllocation<{T}>`, a `DeviceSlice<{T}>`, an `Option` of these, or `Null`"
)]
pub trait NullableReadArgument<T>: sealed::Nullable + sealed::Is<sealed::ReadArgument<T>> {}

/// Memory that a kernel writes, or [`Null`], or an `Option`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no device memory of `{T}` that a kernel can write, and not `Null`",
    note = "pass `&mut memory` of a `DeviceAllocation<{T}>`, a `DeviceSliceMut<{T}>`, an `Option` of these, or `Null`"
)]
pub trait NullableWriteArgument<T>:
    sealed::Nullable + sealed::Is<sealed::WriteArgument<T>>
{
}

pub(crate) mod sealed {
    use std::marker::PhantomData;

    use crate::launch::KernelArgument;

    /// What only this crate can implement, though its methods can be called from outside: their answers are trusted.
    pub trait Ours {}

    /// That an argument is for memory that is used in that way; of types of their own, others can implement our traits otherwise.
    pub trait Is<Use> {}

    /// Memory of elements `T` that a kernel reads.
    #[derive(Debug)]
    pub struct ReadArgument<T>(PhantomData<T>);

    /// Memory of elements `T` that a kernel writes.
    #[derive(Debug)]
    pub struct WriteArgument<T>(PhantomData<T>);

    /// Memory with a number of elements.
    pub trait Len: Ours {
        #[doc(hidden)]
        fn element_count(&self) -> usize;
    }

    /// Memory that may be missing.
    pub trait Nullable: Ours {
        #[doc(hidden)]
        type Argument: KernelArgument;

        /// The number of elements; nothing for null.
        #[doc(hidden)]
        fn element_count(&self) -> Option<usize>;

        #[doc(hidden)]
        fn into_argument(self) -> Self::Argument;
    }
}

/// An argument, or null in its place.
#[doc(hidden)]
#[derive(Debug)]
pub struct OrNull<A>(Option<A>);

impl<A: KernelArgument> Sealed for OrNull<A> {
    const SIZE: usize = A::SIZE;
    const STAGED: bool = A::STAGED;

    type Slot = Option<A::Slot>;

    #[inline(always)]
    fn slot(&self) -> Self::Slot {
        self.0.as_ref().map(Sealed::slot)
    }

    #[inline(always)]
    fn pointer(&self, slot: &Self::Slot) -> *mut c_void {
        match (&self.0, slot) {
            (Some(argument), Some(slot)) => argument.pointer(slot),
            _ => Null::address(),
        }
    }

    #[inline(always)]
    fn is_at_home(&self, stream: u64) -> bool {
        self.0.as_ref().is_none_or(|it| it.is_at_home(stream))
    }

    #[inline(always)]
    fn mark_home(&self) {
        if let Some(argument) = &self.0 {
            argument.mark_home();
        }
    }

    fn memory_use(&self) -> Option<MemoryUse<'_>> {
        self.0.as_ref().and_then(Sealed::memory_use)
    }

    fn host(&mut self) -> Option<HostRange> {
        self.0.as_mut().and_then(Sealed::host)
    }
}

impl<A: KernelArgument> KernelArgument for OrNull<A> {}

impl sealed::Ours for Null {}
impl<T> sealed::Is<sealed::ReadArgument<T>> for Null {}
impl<T> sealed::Is<sealed::WriteArgument<T>> for Null {}

impl sealed::Nullable for Null {
    type Argument = Self;

    #[inline(always)]
    fn element_count(&self) -> Option<usize> {
        None
    }

    #[inline(always)]
    fn into_argument(self) -> Self {
        self
    }
}

impl<T> NullableReadArgument<T> for Null {}
impl<T> NullableWriteArgument<T> for Null {}

macro_rules! memory {
    ($([$($generics:tt)*] $type:ty: $of:ident $nullable:ident of $element:ty, $len:expr;)*) => {$(
        impl<$($generics)*> sealed::Ours for $type {}
        impl<$($generics)*> sealed::Ours for Option<$type> {}
        impl<$($generics)*> sealed::Is<sealed::$of<$element>> for $type {}
        impl<$($generics)*> sealed::Is<sealed::$of<$element>> for Option<$type> {}

        impl<$($generics)*> Len for $type {
            #[inline(always)]
            fn element_count(&self) -> usize {
                let len: fn(&Self) -> usize = $len;
                len(self)
            }
        }

        #[diagnostic::do_not_recommend]
        impl<$($generics)*> $of<$element> for $type {}

        impl<$($generics)*> sealed::Nullable for $type {
            type Argument = Self;

            #[inline(always)]
            fn element_count(&self) -> Option<usize> {
                Some(Len::element_count(self))
            }

            #[inline(always)]
            fn into_argument(self) -> Self {
                self
            }
        }

        impl<$($generics)*> $nullable<$element> for $type {}

        impl<$($generics)*> sealed::Nullable for Option<$type> {
            type Argument = OrNull<$type>;

            #[inline(always)]
            fn element_count(&self) -> Option<usize> {
                self.as_ref().map(Len::element_count)
            }

            #[inline(always)]
            fn into_argument(self) -> Self::Argument {
                OrNull(self)
            }
        }

        impl<$($generics)*> $nullable<$element> for Option<$type> {}
    )*};
}

memory! {
    ['a, T] &'a DeviceAllocation<T>: ReadArgument NullableReadArgument of T, |it| it.len();
    ['a, T] DeviceSlice<'a, T>: ReadArgument NullableReadArgument of T, |it| it.len();
    ['a, 'b, T] &'a DeviceSlice<'b, T>: ReadArgument NullableReadArgument of T, |it| it.len();
    ['a, 'b, T] &'a DeviceSliceMut<'b, T>: ReadArgument NullableReadArgument of T, |it| it.len();
    ['a, T: NoUninit] In<'a, T>: ReadArgument NullableReadArgument of T, |it| it.0.len();
    ['a, T] &'a mut DeviceAllocation<T>: WriteArgument NullableWriteArgument of T, |it| it.len();
    ['a, T] DeviceSliceMut<'a, T>: WriteArgument NullableWriteArgument of T, |it| it.len();
    ['a, 'b, T] &'a mut DeviceSliceMut<'b, T>: WriteArgument NullableWriteArgument of T, |it| it.len();
    ['a, T: AnyBitPattern] Out<'a, T>: WriteArgument NullableWriteArgument of T, |it| it.0.len();
    ['a, T: NoUninit + AnyBitPattern] InOut<'a, T>: WriteArgument NullableWriteArgument of T, |it| it.0.len();
}
