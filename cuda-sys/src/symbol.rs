//! What is known of each exported symbol, driver or no driver.

use core::ffi::CStr;
use core::fmt;

/// Which stream a function takes when it is given none, or the null handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StreamVariant {
    /// The legacy default stream; also every function that has nothing to do with streams.
    Legacy,
    /// The per-thread default stream, for a function without a stream argument (`_ptds`).
    PerThreadDefault,
    /// The per-thread default stream, for a function with a stream argument (`_ptsz`).
    PerThread,
}

/// One symbol that some driver exports: a function with one exact binary interface.
#[derive(Debug)]
#[non_exhaustive]
pub struct Symbol {
    /// The exported name, `cuMemAlloc_v2`.
    pub name: &'static CStr,
    /// The function's name without version and stream variant, `cuMemAlloc`.
    pub base: &'static str,
    /// The number of the binary interface: 2 for `cuMemAlloc_v2`, 1 where the name has no number.
    pub abi: u8,
    /// Which default stream it uses.
    pub stream_variant: StreamVariant,
    /// The CUDA version that brought the symbol, as 1000 · major + 10 · minor.
    pub first_cuda: u32,
    /// The CUDA version whose documentation calls the function deprecated, or an older one: 11.2 stands for all before it.
    pub deprecated_since: Option<u32>,
    /// The group of the driver's documentation, `CUDA_MEM`; empty where there is none.
    pub group: &'static str,
    /// Whether the header declares it to all programs; it keeps older interfaces and per-thread variants to itself.
    pub public: bool,
    pub(crate) index: u16,
}

impl Symbol {
    /// The symbol of this exact exported name.
    ///
    /// ```
    /// use cuda_sys::Symbol;
    ///
    /// let symbol = Symbol::by_name("cuMemAllocAsync").ok_or("unknown")?;
    /// assert_eq!((symbol.first_cuda, symbol.abi), (11020, 1));
    /// assert!(Symbol::by_name("cuMakeCoffee").is_none());
    /// # Ok::<(), &str>(())
    /// ```
    pub fn by_name(name: &str) -> Option<&'static Symbol> {
        let index = crate::SYMBOLS
            .binary_search_by(|symbol| symbol.name.to_bytes().cmp(name.as_bytes()))
            .ok()?;
        crate::SYMBOLS.get(index)
    }

    /// The exported name as a string.
    pub const fn as_str(&self) -> &'static str {
        match self.name.to_str() {
            Ok(name) => name,
            Err(_) => "",
        }
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A CUDA version in the driver's own form, written as people write it: 12040 as `12.4`.
pub(crate) struct Version(pub(crate) u32);

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.0 / 1000, self.0 % 1000 / 10)
    }
}
