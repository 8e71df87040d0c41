//! Declared kernels: the support of [`kernels!`](crate::kernels!).
//!
//! The macro writes a struct with a method for each kernel; what its methods take for memory is here, and the correspondence
//! between types of Rust and of C++ by which declarations are compared with kernels.

mod arguments;
mod behaviour;
mod bounds;
mod declaration;
mod declared;
mod element;
mod found;
mod lengths;
mod load;
mod prepared;
mod table;

pub use arguments::{NullableReadArgument, NullableWriteArgument, ReadArgument, WriteArgument};
pub use element::{ElementType, KernelType};

/// What `kernels!` expands to; not for use by hand.
#[doc(hidden)]
pub mod __private {
    pub use super::arguments::OrNull;
    pub use super::arguments::sealed::{Len, Nullable};
    pub use super::bounds::{Block, Bounds, Grid, Shared, number};
    pub use super::declaration::{Access, Kernel, Origin, Parameter, Value, size_of_value};
    pub use super::declared::Declared;
    pub use super::element::{Fallback, Probe};
    pub use super::found::{Found, FoundElement, FoundType, NumberKind};
    pub use super::lengths::{
        Integer, Place, add, divide, divide_up, filled, larger, multiply, remainder, smaller,
        subtract, wrong_len, wrong_number,
    };
    pub use super::load::{require_verified, resolve};
    pub use super::prepared::DeclaredLaunch;
}
