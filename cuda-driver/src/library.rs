//! Libraries: code that is loaded once, for every context of a driver.
//!
//! C group: library management.

mod close;
mod in_context;
mod kernel;
mod kernel_attributes;
mod load;
mod names;
mod native;
mod open;
mod options;
mod per_context;

use std::fmt;
use std::sync::Arc;

use cuda_sys::CUlibrary;

pub use kernel::Kernel;
pub use options::LibraryOptions;

use crate::driver::Driver;
use crate::module::{Facts, KeptText};
use native::Native;
use per_context::PerContext;

/// Code that is loaded into a driver, not into a context: its kernels can be used in every context; cheap to clone.
///
/// It stays loaded until the last handle and everything taken from it are gone. Drivers before CUDA 12.0 do not know
/// libraries: there, the image is kept and loaded as a module into each context that asks for something of it, which then
/// lives as long as the library.
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # #[cfg(feature = "simulator")] {
/// use cuda_driver::{Driver, LaunchConfig};
///
/// let driver = Driver::simulated()?;
/// let library = driver.load_library_ptx(
///     ".version 7.0
///      .target sm_52
///      .address_size 64
///      .visible .entry answer(.param .u64 to) {
///          .reg .b64 %rd<3>;
///          ld.param.u64 %rd1, [to];
///          cvta.to.global.u64 %rd2, %rd1;
///          st.global.u32 [%rd2], 42;
///          ret;
///      }",
/// )?;
/// let answer = library.kernel("answer")?;
/// for device in driver.devices()? {
///     let context = device.primary_context()?;
///     let stream = context.create_stream()?;
///     let mut to = stream.zeroed::<u32>(1)?;
///     let answer = answer.in_context(&context)?;
///     // SAFETY: the kernel writes one `u32` to where its only parameter points.
///     unsafe { answer.launch(&stream, LaunchConfig::new(1, 1), (&mut to,)) }?;
///     assert_eq!(to.to_vec()?, [42]);
/// }
/// # }
/// # Ok(())
/// # }
/// ```
#[doc(alias = "CUlibrary")]
#[derive(Clone)]
pub struct Library {
    core: Arc<LibraryCore>,
}

/// What all handles of a library share.
pub(crate) struct LibraryCore {
    driver: Driver,
    form: Form,
    facts: Facts,
    text: Option<Arc<KeptText>>,
    variables: Arc<[Box<str>]>,
}

/// What a library is to its driver.
enum Form {
    /// A library.
    Native(Native),
    /// A module in each context that asks for one.
    PerContext(PerContext),
}

impl Library {
    fn from_core(core: Arc<LibraryCore>) -> Self {
        Self { core }
    }

    /// The driver that the library is loaded into.
    #[must_use]
    pub fn driver(&self) -> &Driver {
        &self.core.driver
    }

    /// The raw library, which stays ours; `None` on drivers that do not know libraries.
    #[must_use]
    pub fn as_raw(&self) -> Option<CUlibrary> {
        match &self.core.form {
            Form::Native(native) => Some(native.as_raw()),
            Form::PerContext(_) => None,
        }
    }

    /// What the driver's compiler remarked while it loaded the library; see
    /// [`Module::info_log`](crate::Module::info_log).
    #[must_use]
    pub fn info_log(&self) -> String {
        match &self.core.form {
            Form::Native(native) => native.info_log(),
            Form::PerContext(modules) => modules.info_log(),
        }
    }

    /// Whether both handles are of one library.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.core, &other.core)
    }
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Library")
            .field("raw", &self.as_raw())
            .finish_non_exhaustive()
    }
}
