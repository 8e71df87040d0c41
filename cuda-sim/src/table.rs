//! The table of built functions: each once for each slot, under its exact symbol.

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_void};
use std::ptr::NonNull;
use std::sync::OnceLock;

use cuda_sys::{CUresult, Symbol};

use crate::args::{In, Out, Text};
use crate::instance::Instance;
use crate::slot::SLOTS;

/// The address of a function.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Pointer(pub(crate) *const c_void);

// SAFETY: the address of a function is the same for all threads.
unsafe impl Sync for Pointer {}

/// A built function.
#[derive(Debug)]
pub(crate) struct Built {
    pub(crate) name: &'static str,
    /// Its address for each slot.
    pub(crate) pointers: &'static [Pointer; SLOTS],
}

/// What stands for a C parameter type in our functions: the same bits, passed the same way.
pub(crate) trait Stands<C> {}
impl<T> Stands<T> for T {}
impl<T> Stands<*mut T> for Out<T> {}
impl<T> Stands<*mut T> for In<T> {}
impl<T> Stands<*const T> for In<T> {}
impl Stands<*const c_char> for Text {}

/// A function type that can stand for a C function type.
pub(crate) trait Matches<C> {}
macro_rules! matches {
    ($($ours:ident $theirs:ident),*) => {
        impl<$($ours: Stands<$theirs>, $theirs),*> Matches<unsafe extern "system" fn($($theirs),*) -> CUresult>
            for extern "system" fn($($ours),*) -> CUresult {}
    };
}
matches!();
matches!(A1 B1);
matches!(A1 B1, A2 B2);
matches!(A1 B1, A2 B2, A3 B3);
matches!(A1 B1, A2 B2, A3 B3, A4 B4);
matches!(A1 B1, A2 B2, A3 B3, A4 B4, A5 B5);
matches!(A1 B1, A2 B2, A3 B3, A4 B4, A5 B5, A6 B6);
matches!(A1 B1, A2 B2, A3 B3, A4 B4, A5 B5, A6 B6, A7 B7);
matches!(A1 B1, A2 B2, A3 B3, A4 B4, A5 B5, A6 B6, A7 B7, A8 B8);
matches!(A1 B1, A2 B2, A3 B3, A4 B4, A5 B5, A6 B6, A7 B7, A8 B8, A9 B9);
matches!(A1 B1, A2 B2, A3 B3, A4 B4, A5 B5, A6 B6, A7 B7, A8 B8, A9 B9, A10 B10);
matches!(A1 B1, A2 B2, A3 B3, A4 B4, A5 B5, A6 B6, A7 B7, A8 B8, A9 B9, A10 B10, A11 B11);

/// The addresses of a function; compiles only where the types agree.
pub(crate) const fn checked<Ours: Matches<Theirs>, Theirs>(
    pointers: [Pointer; SLOTS],
) -> [Pointer; SLOTS] {
    pointers
}

/// The addresses of one function in all slots.
macro_rules! slots {
    ($shim:ident) => {
        slots!($shim 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31)
    };
    ($shim:ident $($slot:literal)*) => {
        [$(Pointer($shim::<$slot> as *const c_void)),*]
    };
}
pub(crate) use slots;

/// One symbol: a small function for each slot, which calls the shared one.
macro_rules! shim {
    ($symbol:ident, $shared:ident, ($($argument:ident : $type:ty),*)) => {
        #[allow(non_snake_case, reason = "named as in C")]
        mod $symbol {
            use super::*;

            extern "system" fn shim<const SLOT: usize>($($argument: $type),*) -> CUresult {
                super::shared::$shared($($argument,)* SLOT, stringify!($symbol))
            }
            pub(super) static POINTERS: [Pointer; SLOTS] =
                checked::<extern "system" fn($($type),*) -> CUresult, cuda_sys::signatures::$symbol>(slots!(shim));
        }
    };
}
pub(crate) use shim;

/// Tells arguments by name: what was passed, or what the function stored.
macro_rules! tell {
    ($($argument:ident)*) => {
        &|_list: &mut Vec<crate::trace::argument::Named>, _stored: bool| {
            #[allow(unused_imports, reason = "which of the two shows an argument depends on its type")]
            use crate::trace::argument::{ByArgument, ByDebug, Show};
            $(
                let shown = &Show(&$argument);
                let value = if _stored { shown.result() } else { Some(shown.value()) };
                _list.extend(value.map(|value| (stringify!($argument), value)));
            )*
        }
    };
}
pub(crate) use tell;

/// What each symbol shares among its slots and variants.
macro_rules! shared {
    ($symbol:ident, $function:ident, ($($argument:ident : $type:ty),*)) => {
        #[allow(clippy::too_many_arguments, reason = "as many as in C, and two")]
        #[inline(never)]
        pub(super) fn $symbol($($argument: $type,)* slot: usize, symbol: &'static str) -> CUresult {
            crate::call::enter(
                slot,
                symbol,
                &mut |call| super::$function(call $(, $argument)*),
                tell!($($argument)*),
            )
        }
    };
}
pub(crate) use shared;

/// Defines a group of functions: `symbol [variant …] => function (arguments);`.
macro_rules! built {
    ($($symbol:ident $([$($variant:ident)*])? => $function:ident, $arguments:tt;)*) => {
        #[allow(non_snake_case, reason = "named as in C")]
        mod shared {
            use super::*;
            $(shared!($symbol, $function, $arguments);)*
        }
        $(shim!($symbol, $symbol, $arguments); $($(shim!($variant, $symbol, $arguments);)*)?)*

        /// The functions of this group.
        pub(crate) static BUILT: &[Built] = &[$(
            Built { name: stringify!($symbol), pointers: &$symbol::POINTERS },
            $($(Built { name: stringify!($variant), pointers: &$variant::POINTERS },)*)?
        )*];
    };
}
pub(crate) use built;

/// What each symbol of an expression shares among its slots and variants.
macro_rules! shared_expression {
    ($symbol:ident, $call:ident, ($($argument:ident : $type:ty),*), $body:expr) => {
        #[allow(clippy::too_many_arguments, reason = "as many as in C, and two")]
        #[inline(never)]
        pub(super) fn $symbol($($argument: $type,)* slot: usize, symbol: &'static str) -> CUresult {
            crate::call::enter(slot, symbol, &mut |$call| $body, tell!($($argument)*))
        }
    };
}
pub(crate) use shared_expression;

/// Defines a group of functions that are one expression each: `symbol [variant …] |call| (arguments) = expression;`.
macro_rules! expressed {
    ($($symbol:ident $([$($variant:ident)*])? |$call:ident| $arguments:tt = $body:expr;)*) => {
        #[allow(non_snake_case, reason = "named as in C")]
        mod shared {
            use super::*;
            $(shared_expression!($symbol, $call, $arguments, $body);)*
        }
        $(shim!($symbol, $symbol, $arguments); $($(shim!($variant, $symbol, $arguments);)*)?)*

        /// The functions of this group.
        pub(crate) static BUILT: &[Built] = &[$(
            Built { name: stringify!($symbol), pointers: &$symbol::POINTERS },
            $($(Built { name: stringify!($variant), pointers: &$variant::POINTERS },)*)?
        )*];
    };
}
pub(crate) use expressed;

/// The row of a built function.
pub(crate) fn find(name: &str) -> Option<&'static Built> {
    static ROWS: OnceLock<HashMap<&'static str, &'static Built>> = OnceLock::new();
    let rows = ROWS.get_or_init(|| {
        crate::api::groups()
            .into_iter()
            .flatten()
            .map(|built| (built.name, built))
            .collect()
    });
    rows.get(name).copied()
}

/// Whether a driver of that version exports the symbol.
pub(crate) fn is_exported(symbol: &Symbol, driver_version: i32) -> bool {
    // No driver for this kind of machine has it, whatever its version.
    symbol.as_str() != "cuEventCreateFromEGLSync"
        && i64::from(symbol.first_cuda) <= i64::from(driver_version)
}

/// The address of a symbol in a slot; nothing where the instance's driver does not export it.
pub(crate) fn resolve(instance: &Instance, slot: usize, name: &CStr) -> Option<NonNull<c_void>> {
    let symbol = Symbol::by_name(name.to_str().ok()?)?;
    let driver_version = instance.state.lock().driver_version;
    if !is_exported(symbol, driver_version) {
        return None;
    }
    address(slot, symbol)
}

/// The address of a symbol in a slot, whether the function is built or not.
pub(crate) fn address(slot: usize, symbol: &'static Symbol) -> Option<NonNull<c_void>> {
    match find(symbol.as_str()) {
        Some(built) => NonNull::new(built.pointers.get(slot)?.0.cast_mut()),
        None => crate::unbuilt::stub_for(slot, symbol.as_str()),
    }
}
