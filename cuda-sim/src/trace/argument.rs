//! The arguments of a call as values, by name.

use std::ffi::c_void;
use std::fmt::Debug;

use crate::args::{In, Out, Text};

/// What was passed, or what came back.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// A number that means itself.
    Number(i128),
    /// A count of bytes or elements, or a size.
    Size(u64),
    /// A number that may be an address.
    Address(u64),
    /// A pointer: a handle, or memory of the host.
    Pointer(u64),
    Float(f64),
    Text(String),
    /// Something of which only the kind is told.
    Word(&'static str),
}

impl Value {
    /// It as a number, where it is one.
    pub(crate) fn bits(&self) -> Option<u64> {
        match self {
            Self::Number(number) => u64::try_from(*number).ok(),
            Self::Size(bits) | Self::Address(bits) | Self::Pointer(bits) => Some(*bits),
            Self::Float(_) | Self::Text(_) | Self::Word(_) => None,
        }
    }
}

/// A name with its value.
pub(crate) type Named = (&'static str, Value);

/// A type of argument of which more is known than its `Debug`.
pub(crate) trait Argument {
    fn value(&self) -> Value;

    /// What the function stored there; nothing where it stores nothing that can be told.
    fn result(&self) -> Option<Value> {
        None
    }
}

macro_rules! numbers {
    ($($type:ty => $variant:ident),* $(,)?) => {
        $(impl Argument for $type {
            fn value(&self) -> Value {
                Value::$variant(*self as _)
            }
        })*
    };
}
numbers! {
    u8 => Number, u16 => Number, u32 => Number, i32 => Number, u64 => Address, usize => Size, f32 => Float,
}

impl<T> Argument for *mut T {
    fn value(&self) -> Value {
        Value::Pointer(self.addr() as u64)
    }
}

impl<T> Argument for *const T {
    fn value(&self) -> Value {
        Value::Pointer(self.addr() as u64)
    }
}

/// Only pointers to functions are passed so.
impl<T> Argument for Option<T> {
    fn value(&self) -> Value {
        Value::Word(if self.is_some() { "function" } else { "null" })
    }
}

impl Argument for Text {
    fn value(&self) -> Value {
        match self.get() {
            Ok(text) => Value::Text(text.to_string_lossy().into_owned()),
            Err(_) => Value::Word("null"),
        }
    }
}

impl<T> Argument for In<T> {
    fn value(&self) -> Value {
        Value::Word(if self.is_null() { "null" } else { "in" })
    }
}

/// A type that a function stores as one value.
pub(crate) trait Stored: Argument + Copy {}
impl Stored for u32 {}
impl Stored for i32 {}
impl Stored for u64 {}
impl Stored for usize {}
impl Stored for f32 {}
impl<T: Opaque> Stored for *mut T {}

/// What handles point to, which nobody looks into.
pub(crate) trait Opaque {}
impl Opaque for c_void {}
macro_rules! opaque {
    ($($type:ident)*) => {
        $(impl Opaque for cuda_sys::$type {})*
    };
}
opaque! {
    CUctx_st CUstream_st CUevent_st CUmod_st CUfunc_st CUmemPoolHandle_st CUgraph_st CUarray_st CUlib_st CUkern_st CUlinkState_st
}

/// The place of a value that is told.
impl<T: Stored> Argument for Out<T> {
    fn value(&self) -> Value {
        Value::Word(if self.is_null() { "null" } else { "out" })
    }

    fn result(&self) -> Option<Value> {
        self.read().ok().map(|value| value.value())
    }
}

/// Finds out how to show an argument: see [`ByArgument`] and [`ByDebug`], of which the call `(&Show(&argument)).value()` takes the first that
/// there is.
pub(crate) struct Show<'a, T>(pub(crate) &'a T);

/// Shows what is an [`Argument`].
pub(crate) trait ByArgument {
    fn value(&self) -> Value;
    fn result(&self) -> Option<Value>;
}

impl<T: Argument> ByArgument for Show<'_, T> {
    fn value(&self) -> Value {
        self.0.value()
    }

    fn result(&self) -> Option<Value> {
        self.0.result()
    }
}

/// Shows all else: enumerations by their names, and places whose contents are not told as what they are.
pub(crate) trait ByDebug {
    fn value(&self) -> Value;
    fn result(&self) -> Option<Value>;
}

impl<T: Debug> ByDebug for &Show<'_, T> {
    fn value(&self) -> Value {
        Value::Text(format!("{:?}", self.0))
    }

    fn result(&self) -> Option<Value> {
        None
    }
}
