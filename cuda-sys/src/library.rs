//! A loaded driver: one address per symbol, each found at its first use.

use core::ffi::{CStr, c_int, c_void};
use core::fmt;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicI32, AtomicPtr, Ordering};
use std::path::{Path, PathBuf};

use crate::error::{LoadError, MissingSymbol};
use crate::table::{COUNT, SYMBOLS};
use crate::types::CUresult;
use crate::{Symbol, entry_point, search, signatures};

/// Gives the address of a symbol by its exact name.
type Resolver = dyn Fn(&CStr) -> Option<NonNull<c_void>> + Send + Sync;

/// Where a library's addresses come from.
pub(crate) enum Source {
    /// A shared library of the system, which is never closed.
    Shared {
        library: &'static libloading::Library,
        path: PathBuf,
    },
    /// A function that was given to us.
    Resolver(Box<Resolver>),
}

/// A loaded driver: the table of its functions.
///
/// Each symbol is looked up at its first use; later uses cost one atomic load and a test. The shared library behind it
/// stays loaded until the process ends, so that a function pointer, once fetched, is good for ever.
///
/// # Invariants
/// An address in `addresses` that is not null is the address of the symbol of the same index, exported by a CUDA driver
/// or by something that behaves like one, with the binary interface that the symbol's name stands for. It stays valid
/// until the process ends.
pub struct Library {
    addresses: [AtomicPtr<c_void>; COUNT],
    /// What `cuDriverGetVersion` said; 0 until it was asked successfully.
    version: AtomicI32,
    source: Source,
}

impl Library {
    /// Loads the driver of this system.
    ///
    /// Tried in this order: the name alone (`libcuda.so.1` or `nvcuda.dll`), so that the system's own rules and
    /// `LD_LIBRARY_PATH` decide; then the driver directory of WSL; then the directories where distributions and
    /// container runtimes put the driver. A toolkit's stub library is passed over. Each call searches anew.
    ///
    /// The driver is not initialised: `cuInit` is the caller's to call. Only `cuDriverGetVersion` is called, which
    /// works before `cuInit` and tells a driver from a stub.
    ///
    /// # Errors
    /// [`LoadError::NotFound`] with every place that was tried and why it was not it; [`LoadError::Stub`] if only a
    /// toolkit's stub was found; [`LoadError::MissingSymbol`] if a library of that name is not a CUDA driver.
    ///
    /// ```no_run
    /// let library = cuda_sys::Library::load()?;
    /// println!("driver {:?} at {:?}", library.driver_version(), library.path());
    /// # Ok::<(), cuda_sys::LoadError>(())
    /// ```
    pub fn load() -> Result<Library, LoadError> {
        search::load(search::PLACES)
    }

    /// Loads the driver from the shared library at `path`, and from nowhere else.
    ///
    /// # Safety
    /// * The library's initialisers must be sound to run in this process.
    /// * Whatever the library exports under a name of [`SYMBOLS`](crate::SYMBOLS) must be the CUDA driver's function of that name,
    ///   or one with the same signature and behaviour.
    ///
    /// # Errors
    /// As for [`load`](Self::load), with `path` as the only place.
    pub unsafe fn load_from(path: impl AsRef<Path>) -> Result<Library, LoadError> {
        search::load_from(path.as_ref())
    }

    /// Makes a library of functions that `resolver` finds.
    ///
    /// The resolver is asked with the exact name at a symbol's first use, possibly by several threads at once, and again at
    /// the next use if it said `None`. It must not use the library that it serves for the symbol that it is asked for.
    ///
    /// # Safety
    /// Each address that `resolver` returns must be that of a function with the signature of the same name in
    /// [`signatures`], valid until the process ends, and behaving like the CUDA driver's function.
    pub unsafe fn from_resolver(
        resolver: impl Fn(&CStr) -> Option<NonNull<c_void>> + Send + Sync + 'static,
    ) -> Library {
        Self::new(Source::Resolver(Box::new(resolver)))
    }

    /// A library whose addresses come from `source`, which must fulfil this type's invariants.
    pub(crate) fn new(source: Source) -> Library {
        Library {
            addresses: [const { AtomicPtr::new(ptr::null_mut()) }; COUNT],
            version: AtomicI32::new(0),
            source,
        }
    }

    /// The path of the shared library, as the system's loader knows it; `None` for a library made by
    /// [`from_resolver`](Self::from_resolver).
    pub fn path(&self) -> Option<&Path> {
        match &self.source {
            Source::Shared { path, .. } => Some(path),
            Source::Resolver(_) => None,
        }
    }

    /// The CUDA version that the driver supports, as 1000 · major + 10 · minor (12040 is 12.4).
    ///
    /// `None` if the driver has no `cuDriverGetVersion` or if it failed; the next call asks again. A version, once
    /// known, is remembered. Works before `cuInit`.
    pub fn driver_version(&self) -> Option<i32> {
        match self.version.load(Ordering::Relaxed) {
            0 => self.ask_version().ok().flatten(),
            version => Some(version),
        }
    }

    /// The driver's version, or the status that `cuDriverGetVersion` failed with, or `None` without that function.
    #[cold]
    pub(crate) fn ask_version(&self) -> Result<Option<i32>, CUresult> {
        let Some(address) = self.look_up(crate::table::DRIVER_GET_VERSION) else {
            return Ok(None);
        };
        // SAFETY: the address is that of `cuDriverGetVersion` by this type's invariants.
        let function = unsafe {
            core::mem::transmute::<*mut c_void, signatures::cuDriverGetVersion>(address.as_ptr())
        };
        let mut version: c_int = 0;
        // SAFETY: the function writes one `int`.
        let status = unsafe { function(&raw mut version) };
        if status != CUresult::CUDA_SUCCESS {
            return Err(status);
        }
        self.version.store(version, Ordering::Relaxed);
        Ok((version > 0).then_some(version))
    }

    /// The address of a symbol.
    ///
    /// # Errors
    /// [`MissingSymbol`] if the driver does not have it.
    pub fn resolve(&self, symbol: &'static Symbol) -> Result<NonNull<c_void>, MissingSymbol> {
        self.address(usize::from(symbol.index))
    }

    /// The address of the symbol at `index` of the table.
    #[inline]
    pub(crate) fn address(&self, index: usize) -> Result<NonNull<c_void>, MissingSymbol> {
        match self
            .addresses
            .get(index)
            .map(|slot| slot.load(Ordering::Acquire))
            .and_then(NonNull::new)
        {
            Some(address) => Ok(address),
            None => self.find(index),
        }
    }

    /// The slow path: looks the symbol up and remembers where it is. A failure is not remembered.
    #[cold]
    #[inline(never)]
    fn find(&self, index: usize) -> Result<NonNull<c_void>, MissingSymbol> {
        // Every index is a symbol's; the fallback is never taken.
        let symbol = SYMBOLS
            .get(index)
            .unwrap_or(crate::table::DRIVER_GET_VERSION);
        match self
            .look_up(symbol)
            .or_else(|| entry_point::ask(self, symbol))
        {
            Some(address) => {
                if let Some(slot) = self.addresses.get(index) {
                    // Threads that race here store the same address.
                    slot.store(address.as_ptr(), Ordering::Release);
                }
                Ok(address)
            }
            None => Err(MissingSymbol::new(symbol, self.driver_version())),
        }
    }

    /// Asks the source for the exact name.
    pub(crate) fn look_up(&self, symbol: &Symbol) -> Option<NonNull<c_void>> {
        match &self.source {
            Source::Shared { library, .. } => {
                // SAFETY: the symbol is only taken as an address here; what it is, is this type's invariant.
                let found = unsafe { library.get::<*mut c_void>(symbol.name.to_bytes_with_nul()) };
                found.ok().and_then(|address| NonNull::new(*address))
            }
            Source::Resolver(resolver) => resolver(symbol.name),
        }
    }

    /// Whether the addresses come from a shared library of the system.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self.source, Source::Shared { .. })
    }
}

impl fmt::Debug for Library {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let resolved = self
            .addresses
            .iter()
            .filter(|slot| !slot.load(Ordering::Relaxed).is_null())
            .count();
        formatter
            .debug_struct("Library")
            .field("path", &self.path())
            .field("driver_version", &self.driver_version())
            .field("resolved_symbols", &resolved)
            .finish_non_exhaustive()
    }
}
