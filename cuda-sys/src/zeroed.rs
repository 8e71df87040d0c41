//! The macros that give the generated structs and unions their `Default` and `Debug`.

/// Implements `Default` as all bytes zero, padding and reserved bytes included.
///
/// Reserved bytes became fields more than once; drivers want them zero until then.
macro_rules! zeroed_default {
    ($($name:ident,)+) => { $(
        impl Default for $name {
            /// All bytes zero.
            fn default() -> Self {
                // SAFETY: the generated records consist of integers, floats, newtypes of integers, raw pointers, optional
                // function pointers, and arrays, structs and unions of these; all zero bytes are a value of each.
                unsafe { core::mem::zeroed() }
            }
        }
    )+ };
}

/// Implements `Debug` for unions, whose fields cannot be shown because it is not known which one is meant.
macro_rules! opaque_debug {
    ($($name:ident,)+) => { $(
        impl core::fmt::Debug for $name {
            fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                formatter.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )+ };
}
