//! Compiling and loading in one step.

use std::fmt;
use std::ops::Deref;

use cuda_driver::{Context, Function, JitOptions, Module};

use crate::compiled::Compiled;
use crate::compiler::Compiler;
use crate::error::{Doing, Error, ErrorKind, Result};
use crate::options::{CompileOptions, Output};
use crate::program::Program;

/// Compiles CUDA C++ for a context's device and loads it.
///
/// ```
/// use cuda_driver::{Driver, LaunchConfig};
/// use cuda_nvrtc::{CompileCu, ErrorKind};
///
/// let context = Driver::load_or_simulated()?.device(0)?.primary_context()?;
/// let module = match context.compile_cu("extern \"C\" __global__ void twice(float *x) { x[threadIdx.x] *= 2; }") {
///     Err(error) if error.kind() == ErrorKind::LibraryNotFound => return Ok(println!("{error}")),
///     other => other?,
/// };
/// let stream = context.create_stream()?;
/// let mut numbers = stream.upload(&[1.0_f32, 2.0, 3.0])?;
/// // SAFETY: each of the three threads doubles one of the three numbers.
/// unsafe { module.function("twice")?.launch(&stream, LaunchConfig::new(1, 3), (&mut numbers,)) }?;
/// assert_eq!(numbers.to_vec()?, [2.0, 4.0, 6.0]);
/// # Ok::<(), cuda_nvrtc::Error>(())
/// ```
///
/// # Safety of loading
///
/// Compiling and loading run no code of the program, so both are safe, whatever the source; launching is where trust is
/// needed. The compiler that was found is trusted.
pub trait CompileCu {
    /// Compiles a program with the compiler that [`Compiler::find_for`] finds for the context's driver, and loads it.
    ///
    /// # Errors
    /// As [`Compiler::compile_for`]; [`ErrorKind::LibraryNotFound`] if there is no NVRTC; what the driver returns when it
    /// loads the image.
    fn compile_cu(&self, program: impl Into<Program>) -> Result<CompiledModule> {
        self.compile_cu_with(program, &CompileOptions::new())
    }

    /// Compiles a program with options, and loads it.
    ///
    /// Where the options leave the output open and the driver refuses a cubin, PTX is compiled instead.
    ///
    /// # Errors
    /// As [`compile_cu`](Self::compile_cu); [`ErrorKind::WrongOutput`] if the options ask for what is linked before it is
    /// loaded.
    fn compile_cu_with(
        &self,
        program: impl Into<Program>,
        options: &CompileOptions,
    ) -> Result<CompiledModule>;
}

impl CompileCu for Context {
    fn compile_cu_with(
        &self,
        program: impl Into<Program>,
        options: &CompileOptions,
    ) -> Result<CompiledModule> {
        let compiler = Compiler::find_for(self.driver().version())?;
        let program = program.into();
        let compiled = compiler.compile_for(self.device(), &program, options)?;
        let architecture = compiled.architecture();
        let is_choice = options.output.is_none() && compiled.output() == Output::Cubin;
        match (compiled.load(self), architecture) {
            // A driver that is older than the compiler, or the software driver in the place of the machine's.
            (Err(error), Some(architecture)) if is_choice && is_refused(&error) => {
                log::debug!("PTX is compiled, because the cubin is refused: {error}");
                let options = options
                    .clone()
                    .output(Output::Ptx)
                    .architecture(architecture);
                compiler
                    .compile_for(self.device(), &program, &options)?
                    .load(self)
            }
            (loaded, _) => loaded,
        }
    }
}

/// Whether the driver refused the form of an image.
fn is_refused(error: &Error) -> bool {
    let cause =
        std::error::Error::source(error).and_then(|it| it.downcast_ref::<cuda_driver::Error>());
    cause.is_some_and(|it| it.kind() == cuda_driver::ErrorKind::InvalidImage)
}

impl Compiled {
    /// Loads what was compiled into a context.
    ///
    /// # Errors
    /// [`ErrorKind::WrongOutput`] for LTO-IR and relocatable code, which is linked before it is loaded; what the driver
    /// returns.
    pub fn load(self, context: &Context) -> Result<CompiledModule> {
        self.load_with(context, &JitOptions::new())
    }

    /// Loads what was compiled into a context, with options of the driver's own compiler.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_with(self, context: &Context, options: &JitOptions) -> Result<CompiledModule> {
        let doing = || "load a compiled program";
        let module = match (self.output(), self.ptx()) {
            (Output::Ptx, Some(text)) => context.load_ptx_with(text, options),
            (Output::Ptx, None) => {
                return Err(
                    Error::new(ErrorKind::WrongOutput, "the PTX is not UTF-8").doing(doing())
                );
            }
            // SAFETY: by this type's invariants the image is what the compiler for the GPU made, unchanged.
            (Output::Cubin, _) => unsafe { context.load_binary_with(self.image(), options) },
            (Output::LtoIr, _) => {
                return Err(Error::new(
                    ErrorKind::WrongOutput,
                    "LTO-IR is linked before it is loaded",
                )
                .doing(doing()));
            }
        };
        let module = module.map_err(Error::from).doing(doing)?;
        Ok(CompiledModule {
            module,
            compiled: self,
        })
    }
}

/// A loaded [`Module`] that knows the expressions of its instances.
///
/// It can be used wherever a `&Module` is asked for.
#[derive(Clone)]
pub struct CompiledModule {
    module: Module,
    compiled: Compiled,
}

impl CompiledModule {
    /// A kernel by the expression of its instance (`scale<float>`), or by its name in the image.
    ///
    /// # Errors
    /// As [`Module::function`].
    #[doc(alias = "cuModuleGetFunction")]
    pub fn function(&self, name: &str) -> cuda_driver::Result<Function> {
        self.module
            .function(self.compiled.lowered(name).unwrap_or(name))
    }

    /// What was compiled, with its names and warnings.
    #[must_use]
    pub fn compiled(&self) -> &Compiled {
        &self.compiled
    }

    /// The module alone.
    #[must_use]
    pub fn into_module(self) -> Module {
        self.module
    }
}

impl Deref for CompiledModule {
    type Target = Module;

    fn deref(&self) -> &Module {
        &self.module
    }
}

impl fmt::Debug for CompiledModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompiledModule")
            .field("module", &self.module)
            .field("compiled", &self.compiled)
            .finish()
    }
}
