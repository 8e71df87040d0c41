//! A program inside NVRTC, from its creation to its destruction.

use std::ffi::{CStr, CString, c_char, c_int};
use std::ptr;

use super::{Nvrtc, RawHandle};
use crate::error::{Error, ErrorKind, Result};
use crate::options::Output;
use crate::program::Encoded;

/// A program inside NVRTC.
///
/// # Invariants
/// `raw` is a live program of `nvrtc`, which nobody else uses.
pub(crate) struct RawProgram<'a> {
    nvrtc: &'a Nvrtc,
    raw: RawHandle,
}

impl<'a> RawProgram<'a> {
    /// Creates the program and registers its name expressions. NVRTC copies all texts.
    pub(crate) fn create(nvrtc: &'a Nvrtc, program: &Encoded) -> Result<Self> {
        let create = nvrtc.nvrtcCreateProgram()?;
        let texts = pointers(&program.header_texts);
        let names = pointers(&program.header_names);
        let count = count_of(texts.len())?;
        let mut raw = ptr::null_mut();
        let (source, name) = (program.source.as_ptr(), program.name.as_ptr());
        // SAFETY: all texts end with NUL; both lists have `count` items and live until the call returns.
        let status = unsafe {
            create(
                &raw mut raw,
                source,
                name,
                count,
                texts.as_ptr(),
                names.as_ptr(),
            )
        };
        nvrtc.check("nvrtcCreateProgram", status)?;
        let created = Self { nvrtc, raw };
        for instance in &program.instances {
            let add = nvrtc.nvrtcAddNameExpression()?;
            // SAFETY: the program is live and not yet compiled, and the text ends with NUL.
            let status = unsafe { add(raw, instance.as_ptr()) };
            nvrtc
                .check("nvrtcAddNameExpression", status)
                .map_err(|error| {
                    error.because(format!(
                        "the name expression `{}`",
                        instance.to_string_lossy()
                    ))
                })?;
        }
        Ok(created)
    }

    /// Compiles; what the compiler says is in the [log](Self::log) either way.
    pub(crate) fn compile(&mut self, arguments: &[CString]) -> Result<()> {
        let compile = self.nvrtc.nvrtcCompileProgram()?;
        let arguments = pointers(arguments);
        let count = count_of(arguments.len())?;
        // SAFETY: the program is live; the list has `count` texts, each of which ends with NUL.
        let status = unsafe { compile(self.raw, count, arguments.as_ptr()) };
        self.nvrtc.check("nvrtcCompileProgram", status)
    }

    /// What the compiler said.
    pub(crate) fn log(&self) -> Result<String> {
        let (size_of, get) = (
            self.nvrtc.nvrtcGetProgramLogSize()?,
            self.nvrtc.nvrtcGetProgramLog()?,
        );
        let text = self.read("nvrtcGetProgramLogSize", size_of, "nvrtcGetProgramLog", get)?;
        Ok(String::from_utf8_lossy(until_nul(&text)).into_owned())
    }

    /// What was made.
    pub(crate) fn image(&self, output: Output) -> Result<Vec<u8>> {
        let nvrtc = self.nvrtc;
        match output {
            Output::Ptx => {
                let (size_of, get) = (nvrtc.nvrtcGetPTXSize()?, nvrtc.nvrtcGetPTX()?);
                let mut text = self.read("nvrtcGetPTXSize", size_of, "nvrtcGetPTX", get)?;
                text.truncate(until_nul(&text).len());
                Ok(text)
            }
            Output::Cubin => {
                let (size_of, get) = (nvrtc.nvrtcGetCUBINSize()?, nvrtc.nvrtcGetCUBIN()?);
                self.read("nvrtcGetCUBINSize", size_of, "nvrtcGetCUBIN", get)
            }
            Output::LtoIr => {
                let (size_of, get) = (nvrtc.nvrtcGetLTOIRSize()?, nvrtc.nvrtcGetLTOIR()?);
                self.read("nvrtcGetLTOIRSize", size_of, "nvrtcGetLTOIR", get)
            }
        }
    }

    /// Reads something whose size another function tells.
    fn read(
        &self,
        size_call: &'static str,
        size_of: unsafe extern "C" fn(RawHandle, *mut usize) -> c_int,
        call: &'static str,
        get: unsafe extern "C" fn(RawHandle, *mut c_char) -> c_int,
    ) -> Result<Vec<u8>> {
        let mut size = 0;
        // SAFETY: the program is live, and the pointer is to a live number.
        let status = unsafe { size_of(self.raw, &raw mut size) };
        self.nvrtc.check(size_call, status)?;
        let mut bytes = Vec::new();
        if bytes.try_reserve_exact(size).is_err() {
            let reason = format!("there is no room for {size} bytes");
            return Err(Error::new(ErrorKind::OutOfMemory, reason).in_call(call));
        }
        bytes.resize(size, 0_u8);
        if size > 0 {
            // SAFETY: the program is live, and the buffer has as many bytes as the library said.
            let status = unsafe { get(self.raw, bytes.as_mut_ptr().cast()) };
            self.nvrtc.check(call, status)?;
        }
        Ok(bytes)
    }

    /// The name in the image of what a registered expression names.
    pub(crate) fn lowered_name(&self, expression: &CStr) -> Result<String> {
        let get = self.nvrtc.nvrtcGetLoweredName()?;
        let mut name = ptr::null();
        // SAFETY: the program is live and compiled, the text ends with NUL, and the pointer is to a live pointer.
        let status = unsafe { get(self.raw, expression.as_ptr(), &raw mut name) };
        self.nvrtc.check("nvrtcGetLoweredName", status)?;
        if name.is_null() {
            return Err(Error::new(
                ErrorKind::NameExpression,
                "it has no name in the image",
            ));
        }
        // SAFETY: the name ends with NUL and lives as long as the program.
        let name = unsafe { CStr::from_ptr(name) };
        Ok(name.to_string_lossy().into_owned())
    }
}

impl Drop for RawProgram<'_> {
    fn drop(&mut self) {
        if let Ok(destroy) = self.nvrtc.nvrtcDestroyProgram() {
            // SAFETY: the program is live, and nobody uses it after this.
            let status = unsafe { destroy(&raw mut self.raw) };
            if let Err(error) = self.nvrtc.check("nvrtcDestroyProgram", status) {
                log::error!("{error}");
            }
        }
    }
}

fn pointers(texts: &[CString]) -> Vec<*const c_char> {
    texts.iter().map(|text| text.as_ptr()).collect()
}

fn count_of(items: usize) -> Result<c_int> {
    items
        .try_into()
        .map_err(|_| Error::invalid(format!("{items} headers or options are too many")))
}

fn until_nul(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().position(|&byte| byte == 0);
    bytes.get(..end.unwrap_or(bytes.len())).unwrap_or(bytes)
}
