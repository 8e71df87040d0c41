//! The rows of the generated list as an array of symbols, a module of signatures, and one accessor each.

use core::ffi::*;

use crate::types::*;
use crate::{Library, MissingSymbol, StreamVariant, Symbol};

macro_rules! table {
    ($($(#[$documentation:meta])* $name:ident {
        $base:ident $abi:literal $stream:ident $first:literal $deprecated:expr, $group:literal $public:literal
    } ($($parameter:ident: $type:ty),*);)+) => {
        /// The position of each symbol in [`SYMBOLS`] and in a library's table.
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "C names")]
        enum Index { $($name,)+ COUNT }

        /// How many symbols there are.
        pub(crate) const COUNT: usize = Index::COUNT as usize;

        /// Every symbol that a driver of any supported version exports, sorted by name.
        pub static SYMBOLS: [Symbol; COUNT] = [$(Symbol {
            // The name has no interior NUL: it is an identifier.
            name: match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => c"",
            },
            base: stringify!($base),
            abi: $abi,
            stream_variant: StreamVariant::$stream,
            first_cuda: $first,
            deprecated_since: $deprecated,
            group: $group,
            public: $public,
            index: Index::$name as u16,
        },)+];

        /// The type of a pointer to each function, under the symbol's name.
        pub mod signatures {
            #![allow(non_camel_case_types, non_snake_case, missing_docs, reason = "C names")]
            use super::*;

            $(pub type $name = unsafe extern "system" fn($($parameter: $type),*) -> CUresult;)+
        }

        /// One accessor per symbol; each looks the symbol up at its first use.
        #[allow(non_snake_case, reason = "C names")]
        impl Library {
            $(
                $(#[$documentation])*
                ///
                #[doc = concat!("`", stringify!($base), "` as binary interface ", stringify!($abi), "; its version: ",
                    stringify!($first), ", group ", $group, ".")]
                ///
                /// # Errors
                /// [`MissingSymbol`] if the loaded driver does not have it.
                #[inline]
                pub fn $name(&self) -> Result<signatures::$name, MissingSymbol> {
                    let address = self.address(Index::$name as usize)?;
                    // SAFETY: the address is that of the symbol `$name`, whose binary interface never changes and is
                    // the signature of that name; `Library`'s invariants say so.
                    Ok(unsafe { core::mem::transmute::<*mut c_void, signatures::$name>(address.as_ptr()) })
                }
            )+
        }
    };
}

for_each_symbol!(table);

/// `cuDriverGetVersion`, which tells a driver from a stub and dates it.
pub(crate) static DRIVER_GET_VERSION: &Symbol = &SYMBOLS[Index::cuDriverGetVersion as usize];
