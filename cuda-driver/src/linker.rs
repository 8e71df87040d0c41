//! The linker: images that refer to each other become one.
//!
//! C group: module management.

mod diagnosis;
mod image;
mod input;

use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;

use cuda_sys::{CUjit_option, CUlinkState};

pub use image::LinkedImage;
use input::Input;

use crate::JitOptions;
use crate::call;
use crate::context::{Context, ContextCore};
use crate::error::{Doing, Result};
use crate::module::{Encoded, LogBuffer, c_name};
use crate::process;

/// A linker of PTX, cubins, fat binaries, and host objects and archives with GPU code in them.
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # #[cfg(feature = "simulator")] {
/// use cuda_driver::{Driver, JitOptions, LaunchConfig};
///
/// const HEADER: &str = ".version 7.0\n.target sm_52\n.address_size 64\n";
/// let context = Driver::simulated()?.device(0)?.primary_context()?;
/// let mut linker = context.create_linker(&JitOptions::new())?;
/// linker.add_ptx("values", &format!("{HEADER}.visible .global .align 4 .u32 value = 42;"))?;
/// linker.add_ptx(
///     "kernels",
///     &format!(
///         "{HEADER}.extern .global .align 4 .u32 value;
///          .visible .entry answer(.param .u64 to) {{
///              .reg .b32 %r<2>;
///              .reg .b64 %rd<3>;
///              ld.param.u64 %rd1, [to];
///              cvta.to.global.u64 %rd2, %rd1;
///              ld.global.u32 %r1, [value];
///              st.global.u32 [%rd2], %r1;
///              ret;
///          }}"
///     ),
/// )?;
/// let module = context.load_linked(&linker.complete()?)?;
///
/// let answer = module.function("answer")?;
/// let stream = context.create_stream()?;
/// let mut to = stream.zeroed::<u32>(1)?;
/// // SAFETY: the kernel writes one `u32` to where its only parameter points.
/// unsafe { answer.launch(&stream, LaunchConfig::new(1, 1), (&mut to,)) }?;
/// assert_eq!(to.to_vec()?, [42]);
/// # }
/// # Ok(())
/// # }
/// ```
#[doc(alias = "CUlinkState")]
pub struct Linker {
    state: CUlinkState,
    context: Arc<ContextCore>,
    /// There until `destroy`.
    kept: Option<Kept>,
}

/// What the driver reads and writes until the linker is destroyed.
struct Kept {
    info: LogBuffer,
    error: LogBuffer,
    /// The options with their values, those of the linker first.
    options: Vec<Encoded>,
    /// The place of the time among the values of the linker.
    time: usize,
}

// SAFETY: a CUlinkState may be used from any thread, by one at a time.
unsafe impl Send for Linker {}

impl Context {
    /// Makes a linker for the context's device, or for the [target](JitOptions::target) among the options.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for options that contradict each other or that
    /// the driver refuses; [`ErrorKind::Driver`](crate::ErrorKind::Driver) where the driver's compiler is not installed.
    #[doc(alias = "cuLinkCreate")]
    pub fn create_linker(&self, options: &JitOptions) -> Result<Linker> {
        process::drop_postponed();
        Linker::new(self.core(), options).doing(|| "create a linker")
    }
}

impl Linker {
    fn new(context: &Arc<ContextCore>, options: &JitOptions) -> Result<Self> {
        let mut encoded = options.encode()?;
        let asked: Vec<CUjit_option> = encoded.options().to_vec();
        let capacity = LogBuffer::capacity_for(options) * 8;
        let (info, error) = (LogBuffer::new(capacity), LogBuffer::new(capacity));
        info.announce_for_information(&mut encoded);
        error.announce_for_errors(&mut encoded);
        let time = encoded.push_number(CUjit_option::CU_JIT_WALL_TIME, 0);
        let count = u32::try_from(encoded.len())?;
        let (keys, values) = encoded.as_mut_ptrs();
        let mut state = std::ptr::null_mut();
        let out = &raw mut state;
        let _current = context.push()?;
        // SAFETY: the lists have as many items as is said, the other pointer is to a live handle, and the lists and the
        // buffers that they name live until the linker is destroyed.
        let result = unsafe { call!(context.driver(), cuLinkCreate_v2(count, keys, values, out)) };
        context
            .watch(result)
            .map_err(|error| diagnosis::of_options(error, context.driver(), &asked))?;
        Ok(Self {
            state,
            context: Arc::clone(context),
            kept: Some(Kept {
                info,
                error,
                options: vec![encoded],
                time,
            }),
        })
    }

    /// The raw linker, which stays ours.
    #[must_use]
    pub fn as_raw(&self) -> CUlinkState {
        self.state
    }

    /// The context that the linker was made in.
    #[must_use]
    pub fn context(&self) -> Context {
        Context::from_core(Arc::clone(&self.context))
    }

    /// What the compiler and the linker remarked so far; mostly empty, unless it was
    /// [asked to be verbose](JitOptions::verbose_log).
    #[must_use]
    pub fn info_log(&self) -> String {
        let log = self.kept.as_ref().map(|kept| kept.info.text());
        log.unwrap_or_default()
    }

    fn error_log(&self) -> String {
        let log = self.kept.as_ref().map(|kept| kept.error.text());
        log.unwrap_or_default()
    }

    /// Adds an input that is whole.
    fn add(&mut self, name: &str, input: &Input<'_>, options: Option<&JitOptions>) -> Result<()> {
        let doing = || format!("add `{name}` ({input}) to a linker");
        let text = c_name(name).doing(doing)?;
        let mut encoded = match options {
            Some(options) => options.encode().doing(doing)?,
            None => Encoded::default(),
        };
        let asked: Vec<CUjit_option> = encoded.options().to_vec();
        let count = u32::try_from(encoded.len())?;
        let (keys, values) = encoded.as_mut_ptrs();
        if let Some(kept) = &mut self.kept {
            kept.options.push(encoded);
        }
        let (data, size) = (input.as_ptr().cast_mut(), input.size());
        let (state, kind, text) = (self.state, input.kind(), text.as_ptr());
        let context = &self.context;
        let current = context.push()?;
        // SAFETY: the linker is live; the input has that many bytes, which are aligned and whole; the name ends with NUL; the
        // lists have as many items as is said, and live until the linker is destroyed.
        let result = unsafe {
            call!(
                context.driver(),
                cuLinkAddData_v2(state, kind, data, size, text, count, keys, values)
            )
        };
        drop(current);
        context.watch(result).map_err(|error| {
            diagnosis::of_input(error, context, input, &asked, self.error_log()).doing(doing())
        })
    }

    /// Links what was added.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidImage`](crate::ErrorKind::InvalidImage) with the linker's log if an input refers to what none
    /// defines, or if two define the same; what else the driver returns.
    #[doc(alias = "cuLinkComplete")]
    pub fn complete(mut self) -> Result<LinkedImage> {
        let doing = || "complete a link";
        let (mut image, mut size): (*mut c_void, usize) = (std::ptr::null_mut(), 0);
        let (state, image_out, size_out) = (self.state, &raw mut image, &raw mut size);
        let current = self.context.push()?;
        let driver = self.context.driver();
        // SAFETY: the linker is live, and the other pointers are to live values.
        let result = unsafe { call!(driver, cuLinkComplete(state, image_out, size_out)) };
        drop(current);
        self.context
            .watch(result)
            .map_err(|error| diagnosis::of_link(error, self.error_log()).doing(doing()))?;
        let kept = self.kept.as_ref();
        let time = kept.and_then(|kept| kept.options.first()?.wall_time(kept.time));
        // SAFETY: the linker's image has that many bytes, and lives until the linker is destroyed.
        let linked = unsafe { LinkedImage::copy(image, size, self.info_log(), time) };
        self.destroy().doing(doing)?;
        Ok(linked)
    }

    /// Destroys the linker if that was not done yet; if the driver refuses, it is leaked with what the driver may use.
    fn destroy(&mut self) -> Result<()> {
        let state = std::mem::replace(&mut self.state, std::ptr::null_mut());
        let kept = self.kept.take();
        if state.is_null() {
            return Ok(());
        }
        let destroy = || {
            let _current = self.context.push()?;
            // SAFETY: the linker is live and ours, and nothing uses it after this.
            unsafe { call!(self.context.driver(), cuLinkDestroy(state)) }
        };
        let result = destroy();
        if result.is_err() {
            std::mem::forget(kept);
        }
        result
    }
}

impl Drop for Linker {
    fn drop(&mut self) {
        if self.state.is_null() {
            return;
        }
        if process::in_host_function() {
            let state = std::mem::replace(&mut self.state, std::ptr::null_mut());
            process::postpone(Box::new(Self {
                state,
                context: Arc::clone(&self.context),
                kept: self.kept.take(),
            }));
            return;
        }
        let context = Arc::clone(&self.context);
        context.release("destroy a linker", || self.destroy());
        // What was not destroyed may still be written to.
        std::mem::forget(self.kept.take());
    }
}

impl fmt::Debug for Linker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Linker")
            .field("raw", &self.state)
            .finish_non_exhaustive()
    }
}
