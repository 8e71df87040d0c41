//! Driver functions by their names, for what the safe layer does not wrap.

/// The code that a driver function gives.
macro_rules! code {
    ($bench:expr, $function:ident($($argument:expr),* $(,)?)) => {{
        let function = $bench.driver().library().$function().expect("the driver has it");
        // SAFETY: each test passes pointers to live variables or what both drivers refuse.
        unsafe { function($($argument),*) }.0
    }};
}

/// Calls what must succeed.
macro_rules! good {
    ($bench:expr, $function:ident($($argument:expr),* $(,)?)) => {
        assert_eq!($crate::support::raw::code!($bench, $function($($argument),*)), 0, stringify!($function))
    };
}

pub(crate) use {code, good};
