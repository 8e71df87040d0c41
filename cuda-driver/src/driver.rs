//! The driver: a loaded library (or the software driver) that was initialised, and the devices it finds.
//!
//! C group: initialization and version management.

#[cfg(not(feature = "simulator"))]
mod unsimulated;

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use cuda_sys::{CUcontext, CUresult, Library};

use crate::call;
use crate::context::ContextCore;
use crate::device::Device;
#[cfg(any(feature = "simulator", doc))]
use crate::error::ErrorKind;
use crate::error::{Doing, Error, Result};
use crate::process;

/// A loaded and initialised driver; cheap to clone.
///
/// Every object knows its driver, so a real driver and a software driver can live in one process.
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # #[cfg(feature = "simulator")] {
/// use cuda_driver::Driver;
///
/// let driver = Driver::load_or_simulated()?;
/// println!("{driver}");
/// for device in driver.devices()? {
///     println!("{}: {}", device.ordinal(), device.name()?);
/// }
/// # }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Driver {
    core: Arc<DriverCore>,
}

/// # Invariants
/// * `library`'s `cuInit` has succeeded.
/// * `contexts` has, for each raw context that a [`ContextCore`] holds, that one core, as long as it lives.
pub(crate) struct DriverCore {
    library: Library,
    origin: Origin,
    version: Version,
    contexts: Mutex<HashMap<usize, Weak<ContextCore>>>,
}

/// Where a driver comes from.
#[derive(Debug)]
enum Origin {
    Library,
    Resolver,
    #[cfg(feature = "simulator")]
    Simulator(cuda_sim::Simulator),
}

/// A CUDA version, such as 13.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// The part before the dot.
    pub major: u32,
    /// The part after the dot.
    pub minor: u32,
}

impl Version {
    /// From the driver's form, 1000 × major + 10 × minor.
    pub(crate) fn from_driver(number: i32) -> Self {
        let number = u32::try_from(number).unwrap_or(0);
        Self {
            major: number / 1000,
            minor: number % 1000 / 10,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl Driver {
    /// The machine's NVIDIA driver, loaded at the first call and the same one afterwards.
    ///
    /// Searches the places where a driver installs itself, never a toolkit's stub library. The library stays loaded
    /// until the process ends. After a failure the next call tries again.
    ///
    /// # Errors
    /// [`ErrorKind::LibraryNotFound`] with every place tried, [`ErrorKind::StubLibrary`], or
    /// [`ErrorKind::NoDevice`] if the driver is there but finds no device.
    #[doc(alias = "cuInit")]
    pub fn load() -> Result<Self> {
        static LOADED: Mutex<Option<Driver>> = Mutex::new(None);
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(driver) = &*loaded {
            return Ok(driver.clone());
        }
        let driver = Self::initialise(Library::load()?, Origin::Library)?;
        *loaded = Some(driver.clone());
        Ok(driver)
    }

    /// The driver library at `path`.
    ///
    /// # Errors
    /// As [`Driver::load`], for this one place.
    ///
    /// # Safety
    /// * The library at `path` is a CUDA driver: its functions have the documented signatures and behaviour.
    /// * Its initialisers are safe to run.
    pub unsafe fn load_from(path: impl AsRef<Path>) -> Result<Self> {
        // SAFETY: the caller vouches for the library.
        let library = unsafe { Library::load_from(path) }?;
        Self::initialise(library, Origin::Library)
    }

    /// A driver made of any table of functions, such as a recording layer or an emulation.
    ///
    /// # Errors
    /// What `cuInit` returns.
    ///
    /// # Safety
    /// The functions of the table have the signatures and the behaviour of the driver's.
    pub unsafe fn from_library(library: Library) -> Result<Self> {
        Self::initialise(library, Origin::Resolver)
    }

    /// A new software driver: the driver's functions on the CPU, with one simulated device.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`] if the process holds too many software drivers at once.
    #[cfg(feature = "simulator")]
    pub fn simulated() -> Result<Self> {
        let simulator = cuda_sim::Simulator::builder().build().map_err(|error| {
            Error::new(ErrorKind::OutOfMemory, error.to_string()).doing("make a software driver")
        })?;
        Self::simulated_by(&simulator)
    }

    /// A driver over a software driver that was set up beforehand.
    ///
    /// # Errors
    /// What `cuInit` returns, where the simulator was told to fail.
    #[cfg(feature = "simulator")]
    pub fn simulated_by(simulator: &cuda_sim::Simulator) -> Result<Self> {
        Self::initialise(simulator.library(), Origin::Simulator(simulator.clone()))
    }

    /// The machine's driver, or a software driver where there is no library or no device.
    ///
    /// A driver that is there but broken is an error, not a reason to simulate. [`Driver`]'s `Display` says which of
    /// the two it is; [`Driver::is_simulated`] too.
    ///
    /// # Errors
    /// What [`Driver::load`] returns, except for [`ErrorKind::LibraryNotFound`] and [`ErrorKind::NoDevice`].
    #[cfg(feature = "simulator")]
    pub fn load_or_simulated() -> Result<Self> {
        match Self::load() {
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::LibraryNotFound | ErrorKind::NoDevice
                ) =>
            {
                Self::simulated()
            }
            other => other,
        }
    }

    fn initialise(library: Library, origin: Origin) -> Result<Self> {
        let mut driver = Self {
            core: Arc::new(DriverCore {
                library,
                origin,
                version: Version { major: 0, minor: 0 },
                contexts: Mutex::new(HashMap::new()),
            }),
        };
        // SAFETY: `cuInit` has no precondition.
        unsafe { call!(driver, cuInit(0)) }.doing(|| "initialise the CUDA driver")?;
        process::watch_forks();
        let mut version = 0;
        // SAFETY: the pointer is to a live integer.
        unsafe { call!(driver, cuDriverGetVersion(&raw mut version)) }?;
        if let Some(core) = Arc::get_mut(&mut driver.core) {
            core.version = Version::from_driver(version);
        }
        Ok(driver)
    }

    /// The newest CUDA version that the driver supports.
    #[doc(alias = "cuDriverGetVersion")]
    #[must_use]
    pub fn version(&self) -> Version {
        self.core.version
    }

    /// Whether this is the software driver.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        #[cfg(feature = "simulator")]
        return self.simulator().is_some();
        #[cfg(not(feature = "simulator"))]
        return false;
    }

    /// The software driver behind this, with its reports, counts and switches.
    #[cfg(feature = "simulator")]
    #[must_use]
    pub fn simulator(&self) -> Option<&cuda_sim::Simulator> {
        match &self.core.origin {
            Origin::Simulator(simulator) => Some(simulator),
            Origin::Library | Origin::Resolver => None,
        }
    }

    /// What the software driver knows about an error that a real one leaves to other tools.
    #[cold]
    pub(crate) fn explain(&self, error: Error) -> Error {
        #[cfg(feature = "simulator")]
        if let Some(simulator) = self.simulator() {
            let report = if error.is_sticky() {
                simulator.last_kernel_fault().map(|fault| fault.to_string())
            } else if error.kind() == ErrorKind::NotSupported {
                simulator.unsupported_calls().pop()
            } else {
                None
            };
            if let Some(report) = report {
                return error.with_log(report).without_remedy();
            }
        }
        error
    }

    /// Whether the driver tells how many parameters a kernel has.
    pub(crate) fn counts_parameters(&self) -> bool {
        let since = Version {
            major: 13,
            minor: 2,
        };
        self.version() >= since && self.library().cuFuncGetParamCount().is_ok()
    }

    /// Whether the driver knows clusters.
    pub(crate) fn has_clusters(&self) -> bool {
        let since = Version {
            major: 11,
            minor: 8,
        };
        self.version() >= since
    }

    /// How many devices there are.
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuDeviceGetCount")]
    pub fn device_count(&self) -> Result<usize> {
        let mut count = 0;
        // SAFETY: the pointer is to a live integer.
        unsafe { call!(self, cuDeviceGetCount(&raw mut count)) }.doing(|| "count the devices")?;
        Ok(usize::try_from(count)?)
    }

    /// The device of that ordinal, from 0.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidDevice`] if there are not that many.
    #[doc(alias = "cuDeviceGet")]
    pub fn device(&self, ordinal: usize) -> Result<Device> {
        Device::by_ordinal(self, ordinal)
    }

    /// All devices, in the order of their ordinals.
    ///
    /// # Errors
    /// What the driver returns.
    pub fn devices(&self) -> Result<Vec<Device>> {
        (0..self.device_count()?)
            .map(|ordinal| self.device(ordinal))
            .collect()
    }

    /// The device at a PCI address such as `0000:3b:00.0`.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidDevice`] or [`ErrorKind::InvalidArgument`] if there is none.
    #[doc(alias = "cuDeviceGetByPCIBusId")]
    pub fn device_by_pci_bus_id(&self, address: &str) -> Result<Device> {
        Device::by_pci_bus_id(self, address)
    }

    /// The table of raw functions, for [`call!`] and for the raw tier.
    #[must_use]
    #[inline]
    pub fn library(&self) -> &Library {
        &self.core.library
    }

    /// Whether both handles are of one driver.
    #[must_use]
    #[inline]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.core, &other.core)
    }

    /// The live context object for each raw context.
    pub(crate) fn contexts(&self) -> std::sync::MutexGuard<'_, HashMap<usize, Weak<ContextCore>>> {
        self.core
            .contexts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The driver's name for a status, of codes that are newer than this crate too.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) if the driver does not know the status either.
    #[doc(alias = "cuGetErrorName")]
    pub fn error_name(&self, status: CUresult) -> Result<String> {
        let mut text = std::ptr::null();
        // SAFETY: the pointer is to a live pointer.
        unsafe { call!(self, cuGetErrorName(status, &raw mut text)) }?;
        Ok(static_text(text))
    }

    /// The driver's description of a status, of codes that are newer than this crate too.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) if the driver does not know the status either.
    #[doc(alias = "cuGetErrorString")]
    pub fn error_description(&self, status: CUresult) -> Result<String> {
        let mut text = std::ptr::null();
        // SAFETY: the pointer is to a live pointer.
        unsafe { call!(self, cuGetErrorString(status, &raw mut text)) }?;
        Ok(static_text(text))
    }
}

/// A text that the driver keeps for ever, or nothing.
fn static_text(text: *const std::ffi::c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the driver's texts end with NUL and live as long as the library.
    let text = unsafe { std::ffi::CStr::from_ptr(text) };
    text.to_string_lossy().into_owned()
}

impl fmt::Display for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_simulated() {
            write!(
                f,
                "software driver (CUDA {}), no GPU is used",
                self.version()
            )
        } else {
            write!(f, "NVIDIA driver (CUDA {})", self.version())
        }
    }
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver")
            .field("origin", &self.core.origin)
            .field("version", &self.core.version)
            .finish_non_exhaustive()
    }
}

/// The key of a raw context in the table of live contexts.
pub(crate) fn context_key(raw: CUcontext) -> usize {
    raw.addr()
}
