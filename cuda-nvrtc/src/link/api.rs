//! A loaded nvJitLink and one link in it.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::path::{Path, PathBuf};
use std::ptr::{self, NonNull};

use cuda_driver::Version;

use super::input::LinkInput;
use crate::error::{Error, ErrorKind, Result, Status};
use crate::options::Output;
use crate::shared::{Shared, functions};

/// An `nvJitLinkHandle`.
type RawHandle = *mut c_void;

/// A loaded nvJitLink.
///
/// # Invariants
/// What `library` exports under a name of nvJitLink's has nvJitLink's signature and behaviour.
pub(super) struct JitLink {
    library: Shared,
    path: PathBuf,
}

functions!(JitLink, "nvJitLink", {
    nvJitLinkCreate since "12.0" (*mut RawHandle, u32, *const *const c_char);
    nvJitLinkDestroy since "12.0" (*mut RawHandle);
    nvJitLinkAddData since "12.0" (RawHandle, c_int, *const c_void, usize, *const c_char);
    nvJitLinkComplete since "12.0" (RawHandle);
    nvJitLinkGetLinkedCubinSize since "12.0" (RawHandle, *mut usize);
    nvJitLinkGetLinkedCubin since "12.0" (RawHandle, *mut c_void);
    nvJitLinkGetLinkedPtxSize since "12.0" (RawHandle, *mut usize);
    nvJitLinkGetLinkedPtx since "12.0" (RawHandle, *mut c_void);
    nvJitLinkGetErrorLogSize since "12.0" (RawHandle, *mut usize);
    nvJitLinkGetErrorLog since "12.0" (RawHandle, *mut c_void);
    nvJitLinkGetInfoLogSize since "12.0" (RawHandle, *mut usize);
    nvJitLinkGetInfoLog since "12.0" (RawHandle, *mut c_void);
    nvJitLinkVersion since "12.3" (*mut c_uint, *mut c_uint);
});

/// What the names end with that the first library exported; later ones have plain names besides.
const FIRST: &str = "_12_0";

/// The names of the statuses, in the order of their numbers.
const STATUSES: &[&str] = &[
    "SUCCESS",
    "ERROR_UNRECOGNIZED_OPTION",
    "ERROR_MISSING_ARCH",
    "ERROR_INVALID_INPUT",
    "ERROR_PTX_COMPILE",
    "ERROR_NVVM_COMPILE",
    "ERROR_INTERNAL",
    "ERROR_THREADPOOL",
    "ERROR_UNRECOGNIZED_INPUT",
    "ERROR_FINALIZE",
    "ERROR_NULL_INPUT",
    "ERROR_INCOMPATIBLE_OPTIONS",
    "ERROR_INCORRECT_INPUT_TYPE",
    "ERROR_ARCH_MISMATCH",
    "ERROR_OUTDATED_LIBRARY",
    "ERROR_MISSING_FATBIN",
    "ERROR_UNRECOGNIZED_ARCH",
    "ERROR_UNSUPPORTED_ARCH",
    "ERROR_LTO_NOT_ENABLED",
];

impl JitLink {
    /// Loads the library at `path`.
    ///
    /// # Safety
    /// The library is an nvJitLink: its initialisers are sound to run, and its functions have the documented signatures and
    /// behaviour.
    pub(super) unsafe fn load(path: &Path) -> Result<Self> {
        let broken = |reason: String| {
            let doing = format!("load nvJitLink from `{}`", path.display());
            Error::new(ErrorKind::BrokenLibrary, reason).doing(doing)
        };
        // SAFETY: the caller vouches for the library.
        let library = unsafe { Shared::open(path) }.map_err(broken)?;
        let path = path.to_path_buf();
        let loaded = Self { library, path };
        match loaded.nvJitLinkCreate() {
            Ok(_) => Ok(loaded),
            Err(_) => Err(broken("it is not one, it has no `nvJitLinkCreate`".into())),
        }
    }

    pub(super) fn version(&self) -> Result<Version> {
        let ask = self.nvJitLinkVersion()?;
        let (mut major, mut minor) = (0, 0);
        // SAFETY: both pointers are to live integers.
        let status = unsafe { ask(&raw mut major, &raw mut minor) };
        check("nvJitLinkVersion", status)?;
        Ok(Version { major, minor })
    }

    fn address(&self, name: &CStr) -> Option<NonNull<c_void>> {
        self.library.address(name).or_else(|| {
            let versioned = format!("__{}{FIRST}", name.to_str().ok()?);
            self.library.address(&CString::new(versioned).ok()?)
        })
    }

    #[cold]
    fn missing(&self, name: &'static str, since: &str) -> Error {
        let reason = format!(
            "the nvJitLink at `{}` has neither `{name}` nor `__{name}{FIRST}`; it came with {since}",
            self.path.display()
        );
        Error::new(ErrorKind::MissingSymbol, reason)
            .in_call(name)
            .remedied_by("install a newer one, such as by `pip install nvidia-nvjitlink`")
    }
}

/// The one place where a status becomes an error.
fn check(call: &'static str, status: c_int) -> Result<()> {
    if status == 0 {
        return Ok(());
    }
    let kind = match status {
        1 | 2 | 11 => ErrorKind::InvalidOption,
        16 | 17 => ErrorKind::UnsupportedArchitecture,
        _ => ErrorKind::Link,
    };
    let known = usize::try_from(status).ok().and_then(|it| STATUSES.get(it));
    let name = match known {
        Some(name) => format!("NVJITLINK_{name}"),
        None => format!("status {status}"),
    };
    let status = Status {
        code: status,
        name: name.into(),
    };
    Err(Error::from_status(kind, call, status))
}

/// A link inside nvJitLink.
///
/// # Invariants
/// `raw` is a live handle of `library`, which nobody else uses.
pub(super) struct RawLink<'a> {
    library: &'a JitLink,
    raw: RawHandle,
}

impl<'a> RawLink<'a> {
    pub(super) fn create(library: &'a JitLink, arguments: &[CString]) -> Result<Self> {
        let create = library.nvJitLinkCreate()?;
        let arguments: Vec<*const c_char> = arguments.iter().map(|it| it.as_ptr()).collect();
        let count = u32::try_from(arguments.len())
            .map_err(|_| Error::invalid("there are too many options"))?;
        let mut raw = ptr::null_mut();
        // SAFETY: the list has `count` texts, each of which ends with NUL.
        let status = unsafe { create(&raw mut raw, count, arguments.as_ptr()) };
        // A handle is made even of wrong options, and has the log about them.
        let created = Self { library, raw };
        match check("nvJitLinkCreate", status) {
            Err(error) if raw.is_null() => Err(error),
            Err(error) => Err(created.explain(error)),
            Ok(()) => Ok(created),
        }
    }

    pub(super) fn add(&mut self, input: &LinkInput<'_>, name: &CStr) -> Result<()> {
        let add = self.library.nvJitLinkAddData()?;
        let (data, size) = (input.bytes().as_ptr().cast(), input.bytes().len());
        // SAFETY: the handle is live, the data has that size, and the name ends with NUL. That binaries are what their kind says,
        // who made the input has vouched for.
        let status = unsafe { add(self.raw, input.kind as c_int, data, size, name.as_ptr()) };
        check("nvJitLinkAddData", status).map_err(|error| {
            let error = error.because(format!("the input `{}` is refused", input.name()));
            self.explain(error)
        })
    }

    pub(super) fn complete(&mut self) -> Result<()> {
        let complete = self.library.nvJitLinkComplete()?;
        // SAFETY: the handle is live.
        let status = unsafe { complete(self.raw) };
        check("nvJitLinkComplete", status).map_err(|error| self.explain(error))
    }

    pub(super) fn image(&self, output: Output) -> Result<Vec<u8>> {
        let library = self.library;
        if output == Output::Ptx {
            let (size_of, get) = (
                library.nvJitLinkGetLinkedPtxSize()?,
                library.nvJitLinkGetLinkedPtx()?,
            );
            let mut text = self
                .read("nvJitLinkGetLinkedPtx", size_of, get)
                .map_err(|it| self.explain(it))?;
            while text.last() == Some(&0) {
                text.pop();
            }
            return Ok(text);
        }
        let (size_of, get) = (
            library.nvJitLinkGetLinkedCubinSize()?,
            library.nvJitLinkGetLinkedCubin()?,
        );
        self.read("nvJitLinkGetLinkedCubin", size_of, get)
            .map_err(|it| self.explain(it))
    }

    /// What the linker remarked.
    pub(super) fn info_log(&self) -> String {
        let functions = (
            self.library.nvJitLinkGetInfoLogSize(),
            self.library.nvJitLinkGetInfoLog(),
        );
        let (Ok(size_of), Ok(get)) = functions else {
            return String::new();
        };
        text(self.read("nvJitLinkGetInfoLog", size_of, get))
    }

    #[cold]
    fn explain(&self, error: Error) -> Error {
        let functions = (
            self.library.nvJitLinkGetErrorLogSize(),
            self.library.nvJitLinkGetErrorLog(),
        );
        let (Ok(size_of), Ok(get)) = functions else {
            return error;
        };
        let log = text(self.read("nvJitLinkGetErrorLog", size_of, get));
        error.with_log(log, Vec::new(), String::new())
    }

    /// Reads something whose size another function tells.
    fn read(
        &self,
        call: &'static str,
        size_of: unsafe extern "C" fn(RawHandle, *mut usize) -> c_int,
        get: unsafe extern "C" fn(RawHandle, *mut c_void) -> c_int,
    ) -> Result<Vec<u8>> {
        let mut size = 0;
        // SAFETY: the handle is live, and the pointer is to a live number.
        check(call, unsafe { size_of(self.raw, &raw mut size) })?;
        let mut bytes = Vec::new();
        if bytes.try_reserve_exact(size).is_err() {
            let reason = format!("there is no room for {size} bytes");
            return Err(Error::new(ErrorKind::OutOfMemory, reason).in_call(call));
        }
        bytes.resize(size, 0_u8);
        if size > 0 {
            // SAFETY: the handle is live, and the buffer has as many bytes as the library said.
            check(call, unsafe { get(self.raw, bytes.as_mut_ptr().cast()) })?;
        }
        Ok(bytes)
    }
}

fn text(bytes: Result<Vec<u8>>) -> String {
    let bytes = bytes.unwrap_or_default();
    let end = bytes
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(bytes.len());
    String::from_utf8_lossy(bytes.get(..end).unwrap_or(&[]))
        .trim()
        .to_owned()
}

impl Drop for RawLink<'_> {
    fn drop(&mut self) {
        if self.raw.is_null() {
            return;
        }
        if let Ok(destroy) = self.library.nvJitLinkDestroy() {
            // SAFETY: the handle is live, and nobody uses it after this.
            if let Err(error) = check("nvJitLinkDestroy", unsafe { destroy(&raw mut self.raw) }) {
                log::error!("{error}");
            }
        }
    }
}
