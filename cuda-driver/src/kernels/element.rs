//! How types of Rust correspond to types of C++ at a kernel's boundary.

use std::mem::MaybeUninit;
use std::num::Wrapping;

/// A type of which it is known what it is in C++, so that a declaration can be compared with the kernel.
///
/// All other types are taken on trust: of values the size is compared, of what pointers point to nothing. Implement it to have
/// the name of a struct compared where the kernel's mangled name tells it:
///
/// ```
/// use cuda_driver::kernels::{ElementType, KernelType};
///
/// #[repr(C)]
/// struct Particle {
///     position: [f32; 3],
///     mass: f32,
/// }
///
/// impl KernelType for Particle {
///     const TYPE: ElementType = ElementType::named("physics::Particle");
/// }
/// ```
pub trait KernelType {
    /// What it is.
    const TYPE: ElementType;
}

/// What a type of Rust is in C++.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElementType {
    pub(super) kind: Kind,
    /// How many of the kind make one element.
    pub(super) lanes: usize,
}

/// A kind of type; the size is the type's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    Signed,
    Unsigned,
    Float,
    Named(&'static str),
    Opaque,
}

impl ElementType {
    /// A type of which nothing is known but its size.
    pub const OPAQUE: Self = Self::of(Kind::Opaque);

    const fn of(kind: Kind) -> Self {
        Self { kind, lanes: 1 }
    }

    /// A struct, union or enum of that name, qualified by its namespaces or not.
    #[must_use]
    pub const fn named(name: &'static str) -> Self {
        Self::of(Kind::Named(name))
    }

    /// So many elements of it, one after the other: an array, or one of CUDA's vectors.
    #[must_use]
    pub const fn array(self, len: usize) -> Self {
        Self {
            kind: self.kind,
            lanes: self.lanes.saturating_mul(len),
        }
    }
}

macro_rules! kinds {
    ($($kind:ident: $($type:ty)*;)*) => {$($(
        impl KernelType for $type {
            const TYPE: ElementType = ElementType::of(Kind::$kind);
        }
    )*)*};
}

kinds! {
    Bool: bool;
    Signed: i8 i16 i32 i64 i128 isize;
    Unsigned: u8 u16 u32 u64 u128 usize char;
    Float: f32 f64;
}

impl<T: KernelType, const N: usize> KernelType for [T; N] {
    const TYPE: ElementType = T::TYPE.array(N);
}

impl<T: KernelType> KernelType for MaybeUninit<T> {
    const TYPE: ElementType = T::TYPE;
}

impl<T: KernelType> KernelType for Wrapping<T> {
    const TYPE: ElementType = T::TYPE;
}

/// Finds the type's [`KernelType`], if it has one, else [`ElementType::OPAQUE`]: an associated constant of the type itself is
/// preferred to one of a trait.
#[doc(hidden)]
#[derive(Debug)]
pub struct Probe<T>(std::marker::PhantomData<T>);

#[doc(hidden)]
pub trait Fallback {
    const TYPE: ElementType = ElementType::OPAQUE;
}

impl<T> Fallback for Probe<T> {}

impl<T: KernelType> Probe<T> {
    #[doc(hidden)]
    pub const TYPE: ElementType = T::TYPE;
}
