//! Functions: the kernels of a module, with their parameters and attributes.
//!
//! C group: module management and execution control.

mod attributes;
mod block_size;
mod occupancy;

use std::fmt;
use std::sync::Arc;

use cuda_sys::signatures::cuLaunchKernel;
use cuda_sys::{CUfunction, CUfunction_attribute, CUfunctionLoadingState, CUresult};

pub use attributes::{FunctionAttributes, SharedCarveout};
pub use block_size::PotentialBlockSize;
pub use occupancy::OccupancyFlags;

use crate::call;
use crate::context::{Context, ContextCore};
use crate::device::Device;
use crate::error::{Doing, Result};
use crate::launch::Shape;
use crate::module::{DeclaredGlobal, Module, ModuleCore, ModuleLoadingMode};

/// A kernel of a module; cheap to clone. It keeps its module loaded.
///
/// See [`Function::launch`] for the way to run it.
#[derive(Clone)]
pub struct Function {
    core: Arc<FunctionCore>,
}

/// # Invariants
/// * `raw` is a function of `module`, live as long as that.
/// * `sizes`, where there are any, are those of the kernel's parameters in their order, and `shape` is theirs.
pub(crate) struct FunctionCore {
    raw: CUfunction,
    context: Arc<ContextCore>,
    sizes: Option<Box<[usize]>>,
    shape: Shape,
    parameters: Option<Box<[Parameter]>>,
    /// As in the context's log of launches.
    name: Arc<str>,
    module: Arc<ModuleCore>,
    plain_launch: cuLaunchKernel,
    /// Of its name there.
    number: u32,
    /// The global variables that it touches, where a declaration says which.
    globals: Option<Box<[DeclaredGlobal]>>,
}

// SAFETY: a CUfunction may be used from any thread.
unsafe impl Send for FunctionCore {}
// SAFETY: as for `Send`; nothing in the core changes.
unsafe impl Sync for FunctionCore {}

/// Where a parameter lies in the kernel's parameter memory, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Parameter {
    /// The offset from the beginning.
    pub offset: usize,
    /// The size.
    pub size: usize,
}

impl Module {
    /// The kernel of that name, as it stands in the image (`extern "C"` names as written, others mangled).
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) with the names that there are; what loading it returns.
    #[doc(alias = "cuModuleGetFunction")]
    #[doc(alias = "cuFuncGetParamCount")]
    #[doc(alias = "cuFuncLoad")]
    pub fn function(&self, name: &str) -> Result<Function> {
        self.function_with(name, ModuleLoadingMode::Eager)
    }

    /// The kernel of that name, brought onto the device now or when it is first launched.
    ///
    /// The first launch of a kernel that is not on the device waits for everything that runs, which can end in a deadlock
    /// where it is to run beside other kernels.
    ///
    /// # Errors
    /// As [`function`](Self::function).
    #[doc(alias = "cuModuleGetFunction")]
    pub fn function_with(&self, name: &str, mode: ModuleLoadingMode) -> Result<Function> {
        let raw = self.core().raw_function(name)?;
        Function::new(self.core(), raw, name, mode)
    }
}

/// The driver's `cuLaunchKernel`, which every driver has.
fn launch_address(context: &ContextCore) -> Result<cuLaunchKernel> {
    call::function(
        context.driver().library().cuLaunchKernel(),
        "cuLaunchKernel",
    )
}

/// The kernel's parameters from the driver, or from the PTX text for drivers that do not tell.
fn read_parameters(
    module: &ModuleCore,
    raw: CUfunction,
    name: &str,
) -> Result<Option<Vec<Parameter>>> {
    let driver = module.context().driver();
    if driver.library().cuFuncGetParamInfo().is_err() {
        return Ok(module.parameters_from_ptx(name));
    }
    let count = count_parameters(module, raw, name)?;
    let mut parameters = Vec::new();
    while count.is_none_or(|count| parameters.len() < count) {
        let (mut offset, mut size) = (0, 0);
        let index = parameters.len();
        let result = module.context().call(|| {
            let (offset, size) = (&raw mut offset, &raw mut size);
            // SAFETY: the function is live, and the pointers are to live integers.
            unsafe { call!(driver, cuFuncGetParamInfo(raw, index, offset, size)) }
        });
        match result {
            Ok(()) => parameters.push(Parameter { offset, size }),
            // Beyond the last parameter.
            Err(error)
                if count.is_none() && error.is_status(CUresult::CUDA_ERROR_INVALID_VALUE) =>
            {
                break;
            }
            Err(error) => return Err(error.doing(format!("read the parameters of `{name}`"))),
        }
    }
    Ok(Some(parameters))
}

/// How many parameters a kernel has, if the driver or the PTX text tells; otherwise one asks for one too many, which
/// debuggers report as an error.
fn count_parameters(module: &ModuleCore, raw: CUfunction, name: &str) -> Result<Option<usize>> {
    let driver = module.context().driver();
    if !driver.counts_parameters() {
        return Ok(module.parameters_from_ptx(name).map(|list| list.len()));
    }
    let mut count = 0;
    let ask = || {
        let out = &raw mut count;
        // SAFETY: the function is live, and the pointer is to a live integer.
        unsafe { call!(driver, cuFuncGetParamCount(raw, out)) }
    };
    module
        .context()
        .call(ask)
        .doing(|| format!("count the parameters of `{name}`"))?;
    Ok(Some(count))
}

impl Function {
    /// A kernel of that module.
    pub(crate) fn new(
        module: &Arc<ModuleCore>,
        raw: CUfunction,
        name: &str,
        mode: ModuleLoadingMode,
    ) -> Result<Self> {
        module.note_kernel();
        let parameters = read_parameters(module, raw, name)?;
        let sizes: Option<Box<[usize]>> = parameters
            .as_ref()
            .map(|list| list.iter().map(|parameter| parameter.size).collect());
        let (name, number) = module.context().launches().number(name);
        let core = FunctionCore {
            raw,
            shape: Shape::taken(sizes.as_deref()),
            context: Arc::clone(module.context()),
            sizes,
            parameters: parameters.map(Vec::into_boxed_slice),
            name,
            module: Arc::clone(module),
            plain_launch: launch_address(module.context())?,
            number,
            globals: None,
        };
        if mode == ModuleLoadingMode::Eager {
            core.load()?;
        }
        Ok(Self {
            core: Arc::new(core),
        })
    }

    #[inline(always)]
    pub(crate) fn core(&self) -> &FunctionCore {
        &self.core
    }

    /// Notes which global variables the kernel touches, for a function that has no other handle yet.
    #[cfg(feature = "kernels")]
    pub(crate) fn declare_globals(&mut self, globals: Vec<DeclaredGlobal>) {
        if let Some(core) = Arc::get_mut(&mut self.core) {
            core.globals = Some(globals.into());
        }
    }

    /// The name in the image.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.core.name
    }

    /// The raw function, which stays its module's.
    #[must_use]
    pub fn as_raw(&self) -> CUfunction {
        self.core.raw
    }

    /// The module that the kernel is of.
    #[must_use]
    pub fn module(&self) -> Module {
        Module::from_core(Arc::clone(&self.core.module))
    }

    /// The context that the kernel was loaded into.
    #[must_use]
    pub fn context(&self) -> Context {
        Context::from_core(Arc::clone(&self.core.context))
    }

    /// Whether the kernel is on the device, so that a launch need not bring it there first.
    ///
    /// # Errors
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on drivers before CUDA 12.4; what the driver returns.
    #[doc(alias = "cuFuncIsLoaded")]
    pub fn is_loaded(&self) -> Result<bool> {
        let mut state = CUfunctionLoadingState::default();
        let (core, driver) = (&*self.core, self.core.context.driver());
        let ask = || {
            let out = &raw mut state;
            // SAFETY: the function is live, and the pointer is to a live value.
            unsafe { call!(driver, cuFuncIsLoaded(out, core.raw)) }
        };
        core.context
            .call(ask)
            .doing(|| format!("ask whether `{}` is loaded", core.name))?;
        Ok(state == CUfunctionLoadingState::CU_FUNCTION_LOADING_STATE_LOADED)
    }

    /// Brings the kernel onto the device now. Drivers that cannot be told to (before CUDA 12.4) do so at the first launch.
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuFuncLoad")]
    pub fn load(&self) -> Result<()> {
        self.core.load()
    }

    /// The kernel's parameters, in their order; `None` if neither the driver nor the image tells, so that launches compare
    /// nothing.
    #[doc(alias = "cuFuncGetParamInfo")]
    #[must_use]
    pub fn parameters(&self) -> Option<&[Parameter]> {
        self.core.parameters.as_deref()
    }
}

impl FunctionCore {
    #[inline(always)]
    pub(crate) fn as_raw(&self) -> CUfunction {
        self.raw
    }

    /// The driver's `cuLaunchKernel`.
    #[inline(always)]
    pub(crate) fn plain_launch(&self) -> cuLaunchKernel {
        self.plain_launch
    }

    /// The number that its launches are noted by.
    #[inline(always)]
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn module(&self) -> &ModuleCore {
        &self.module
    }

    /// Whether a launch needs an order with global variables of the module.
    pub(crate) fn touches_symbols(&self) -> bool {
        match &self.globals {
            Some(declared) => !declared.is_empty(),
            None => self.module.has_symbols().is_set(),
        }
    }

    /// Zero while [no such order](Self::touches_symbols) is needed, whatever is declared: what is declared is among the
    /// module's variables.
    #[inline(always)]
    pub(crate) fn symbol_bits(&self) -> usize {
        self.module.has_symbols().bits()
    }

    /// The global variables that are declared to be touched; nothing if no declaration says which.
    pub(crate) fn declared_globals(&self) -> Option<&[DeclaredGlobal]> {
        self.globals.as_deref()
    }

    pub(crate) fn context(&self) -> &Arc<ContextCore> {
        &self.context
    }

    pub(crate) fn device(&self) -> &Device {
        self.context.device()
    }

    /// Whether the kernel belongs to that context.
    #[inline(always)]
    pub(crate) fn is_of(&self, context: &Arc<ContextCore>) -> bool {
        Arc::ptr_eq(&self.context, context)
    }

    #[inline(always)]
    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    pub(crate) fn parameter_sizes(&self) -> Option<&[usize]> {
        self.sizes.as_deref()
    }

    pub(crate) fn raw_attribute(&self, attribute: CUfunction_attribute) -> Result<i32> {
        let mut value = 0;
        let driver = self.context.driver();
        let read = || {
            let out = &raw mut value;
            // SAFETY: the function is live, and the pointer is to a live integer.
            unsafe { call!(driver, cuFuncGetAttribute(out, attribute, self.raw)) }
        };
        self.context
            .call(read)
            .doing(|| format!("read {attribute:?} of `{}`", self.name))?;
        Ok(value)
    }

    /// Loads the kernel onto the device now, where the driver would wait for the first launch, which would then wait for
    /// everything that runs.
    fn load(&self) -> Result<()> {
        let driver = self.context.driver();
        if driver.library().cuFuncLoad().is_err() {
            return Ok(());
        }
        let _current = self.context.push()?;
        // SAFETY: the function is live, and its context is current.
        let result = unsafe { call!(driver, cuFuncLoad(self.raw)) };
        self.context
            .watch(result)
            .doing(|| format!("load the kernel `{}`", self.name))
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list = f.debug_struct("Function");
        list.field("name", &self.core.name);
        match &self.core.parameters {
            Some(parameters) => list.field("parameters", parameters),
            None => list.field("parameters", &"unverified"),
        };
        list.finish_non_exhaustive()
    }
}
