//! A loaded NVRTC: its functions, each looked up when it is first needed.

mod program;

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

use cuda_driver::Version;

use crate::error::{Doing, Error, ErrorKind, Result, Status};
use crate::program::c_text;
use crate::search::builtins_name;
use crate::shared::{Shared, functions};
pub(crate) use program::RawProgram;

/// An `nvrtcProgram`.
type RawHandle = *mut c_void;

/// A loaded NVRTC.
///
/// # Invariants
/// What `library` exports under a name of NVRTC's has NVRTC's signature and behaviour.
pub(crate) struct Nvrtc {
    library: Shared,
    path: PathBuf,
    version: Version,
}

functions!(Nvrtc, "NVRTC", {
    nvrtcVersion since "7.0" (*mut c_int, *mut c_int);
    nvrtcCreateProgram since "7.0" (*mut RawHandle, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char);
    nvrtcDestroyProgram since "7.0" (*mut RawHandle);
    nvrtcCompileProgram since "7.0" (RawHandle, c_int, *const *const c_char);
    nvrtcGetProgramLogSize since "7.0" (RawHandle, *mut usize);
    nvrtcGetProgramLog since "7.0" (RawHandle, *mut c_char);
    nvrtcGetPTXSize since "7.0" (RawHandle, *mut usize);
    nvrtcGetPTX since "7.0" (RawHandle, *mut c_char);
    nvrtcAddNameExpression since "8.0" (RawHandle, *const c_char);
    nvrtcGetLoweredName since "8.0" (RawHandle, *const c_char, *mut *const c_char);
    nvrtcGetCUBINSize since "11.1" (RawHandle, *mut usize);
    nvrtcGetCUBIN since "11.1" (RawHandle, *mut c_char);
    nvrtcGetNumSupportedArchs since "11.2" (*mut c_int);
    nvrtcGetSupportedArchs since "11.2" (*mut c_int);
    nvrtcGetLTOIRSize since "12.0" (RawHandle, *mut usize);
    nvrtcGetLTOIR since "12.0" (RawHandle, *mut c_char);
    nvrtcInstallBundledHeaders since "13.3" (*const c_char, c_uint, *mut *const c_char);
});

impl Nvrtc {
    /// Loads the library at `path`, and the builtins that lie beside it.
    ///
    /// # Safety
    /// The library is an NVRTC: its initialisers are sound to run, and its functions have the documented signatures and
    /// behaviour. So is what lies beside it under the name of its builtins.
    pub(crate) unsafe fn load(path: &Path) -> Result<Self> {
        let broken = |reason: String| {
            Error::new(ErrorKind::BrokenLibrary, reason)
                .doing(format!("load NVRTC from `{}`", path.display()))
        };
        // SAFETY: the caller vouches for the library.
        let library = unsafe { Shared::open(path) }.map_err(broken)?;
        let mut nvrtc = Self {
            library,
            path: path.to_path_buf(),
            version: Version { major: 0, minor: 0 },
        };
        let (mut major, mut minor) = (0, 0);
        let ask = nvrtc
            .nvrtcVersion()
            .map_err(|_| broken("it is not one, it has no `nvrtcVersion`".into()))?;
        // SAFETY: both pointers are to live integers.
        let status = unsafe { ask(&raw mut major, &raw mut minor) };
        match (u32::try_from(major), u32::try_from(minor)) {
            (Ok(major), Ok(minor)) if status == 0 => nvrtc.version = Version { major, minor },
            _ => return Err(broken(format!("`nvrtcVersion` failed with {status}"))),
        }
        // SAFETY: the caller vouches for what lies beside the library.
        unsafe { nvrtc.load_builtins() };
        Ok(nvrtc)
    }

    /// Loads the library with the builtin functions and headers, which NVRTC asks for by its bare name and would not find
    /// beside itself. Without it, compiling says what is missing.
    ///
    /// # Safety
    /// What lies beside NVRTC under that name has initialisers that are sound to run.
    unsafe fn load_builtins(&self) {
        // Beside a library that the system's loader found, only the loader knows the way.
        let path = self.path.with_file_name(builtins_name(self.version));
        if self.path.is_absolute() && path.is_file() {
            // SAFETY: the caller vouches for the library.
            if let Err(reason) = unsafe { Shared::open(&path) } {
                log::warn!("cannot load `{}`: {reason}", path.display());
            }
        }
    }

    /// Its version, such as 13.0.
    pub(crate) fn version(&self) -> Version {
        self.version
    }

    /// The numbers of the architectures that it makes code for, in ascending order.
    pub(crate) fn supported(&self) -> Result<Vec<u32>> {
        let mut count = 0;
        let ask = self.nvrtcGetNumSupportedArchs()?;
        // SAFETY: the pointer is to a live integer.
        self.check("nvrtcGetNumSupportedArchs", unsafe { ask(&raw mut count) })?;
        let mut numbers: Vec<c_int> = vec![0; usize::try_from(count).unwrap_or(0)];
        let list = self.nvrtcGetSupportedArchs()?;
        // SAFETY: the pointer is to as many live integers as the library said.
        let status = unsafe { list(numbers.as_mut_ptr()) };
        self.check("nvrtcGetSupportedArchs", status)?;
        let mut numbers: Vec<u32> = numbers
            .into_iter()
            .filter_map(|it| it.try_into().ok())
            .collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Whether it carries CUDA's own headers.
    pub(crate) fn bundles_headers(&self) -> bool {
        self.nvrtcInstallBundledHeaders().is_ok()
    }

    /// Unpacks the headers that it carries, unless they are there already. Several processes may do so at a time.
    pub(crate) fn install_headers(&self, directory: &Path) -> Result<()> {
        let doing = || format!("unpack CUDA's headers into `{}`", directory.display());
        let install = self.nvrtcInstallBundledHeaders().doing(doing)?;
        let Some(path) = directory.to_str() else {
            return Err(Error::invalid("the path is not UTF-8").doing(doing()));
        };
        let path = c_text(path, || "the path".into()).doing(doing)?;
        let mut reason = std::ptr::null();
        // SAFETY: the path ends with NUL, and the other pointer is to a live pointer.
        let status = unsafe { install(path.as_ptr(), 0, &raw mut reason) };
        self.check("nvrtcInstallBundledHeaders", status)
            .map_err(|error| {
                let error = error.doing(doing());
                if reason.is_null() {
                    return error;
                }
                // SAFETY: the text ends with NUL, and this thread has not called NVRTC since.
                let reason = unsafe { CStr::from_ptr(reason) };
                error.because(reason.to_string_lossy().trim().to_owned())
            })
    }

    fn address(&self, name: &CStr) -> Option<NonNull<c_void>> {
        self.library.address(name)
    }

    #[cold]
    fn missing(&self, name: &'static str, since: &str) -> Error {
        let reason = format!(
            "NVRTC {} at `{}` has no `{name}`, which came with {since}",
            self.version,
            self.path.display()
        );
        Error::new(ErrorKind::MissingSymbol, reason)
            .in_call(name)
            .remedied_by("install a newer one, such as by `pip install nvidia-cuda-nvrtc`")
    }

    /// The one place where a status becomes an error.
    fn check(&self, call: &'static str, status: c_int) -> Result<()> {
        if status == 0 {
            return Ok(());
        }
        let kind = match status {
            1 => ErrorKind::OutOfMemory,
            3 => ErrorKind::InvalidArgument,
            5 => ErrorKind::InvalidOption,
            6 => ErrorKind::Compilation,
            7 => ErrorKind::BrokenLibrary,
            10 => ErrorKind::NameExpression,
            _ => ErrorKind::Other,
        };
        let status = Status {
            code: status,
            name: self.status_name(status).into(),
        };
        let error = Error::from_status(kind, call, status);
        Err(match kind {
            ErrorKind::BrokenLibrary => error.remedied_by(format!(
                "its library `libnvrtc-builtins` of version {} belongs beside `{}`",
                self.version,
                self.path.display()
            )),
            _ => error,
        })
    }

    /// The library's own name for a status, which it knows for codes newer than this crate too.
    #[cold]
    fn status_name(&self, status: c_int) -> String {
        const NAME: &CStr = c"nvrtcGetErrorString";
        type GetErrorString = unsafe extern "C" fn(c_int) -> *const c_char;
        let Some(address) = self.address(NAME) else {
            return format!("status {status}");
        };
        // SAFETY: by this type's invariants, what is exported under that name has that signature.
        let ask = unsafe { std::mem::transmute::<*mut c_void, GetErrorString>(address.as_ptr()) };
        // SAFETY: the function takes any number.
        let name = unsafe { ask(status) };
        if name.is_null() {
            return format!("status {status}");
        }
        // SAFETY: the names end with NUL and live as long as the library, which is never unloaded.
        let name = unsafe { CStr::from_ptr(name) };
        match name.to_string_lossy() {
            name if name.contains("unknown") => format!("status {status}"),
            name => name.into_owned(),
        }
    }
}
