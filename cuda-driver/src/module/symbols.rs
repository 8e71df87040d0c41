//! The global variables of a module that were asked for, each with its one order, and what launches do to them.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuda_sys::{CUdeviceptr, CUpointer_attribute};

use super::ModuleCore;
use crate::call;
use crate::error::{Doing, Error, ErrorKind, Result};
use crate::flag::Flag;
use crate::memory::Block;
use crate::order::Access;
use crate::stream::StreamCore;

/// A global variable.
///
/// # Invariants
/// `block` is the variable's memory as long as the module is loaded, and no other block of the module's is.
pub(crate) struct Symbol {
    name: Box<str>,
    block: Block,
    /// Whether no launch is left that was made before launches knew of this variable.
    is_settled: AtomicBool,
}

impl Symbol {
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn block(&self) -> &Block {
        &self.block
    }
}

/// The variables of a module that were asked for.
pub(super) struct Symbols {
    /// Whether there are any: all that a launch looks at where there are none.
    any: Flag,
    list: Mutex<Arc<[Arc<Symbol>]>>,
    /// Whether kernels may run that are not entered in the order of any variable.
    launchable: AtomicBool,
    /// The names that the image has, as far as they are known.
    names: Arc<[Box<str>]>,
}

impl Symbols {
    /// No variables yet; `launchable` if kernels may be running already.
    pub(super) fn new(launchable: bool, names: Arc<[Box<str>]>) -> Self {
        Self {
            any: Flag::new(false),
            list: Mutex::new(Arc::from([])),
            launchable: AtomicBool::new(launchable),
            names,
        }
    }

    /// The names of all variables that the image has, where they are known.
    pub(super) fn names(&self) -> &[Box<str>] {
        &self.names
    }

    fn list(&self) -> MutexGuard<'_, Arc<[Arc<Symbol>]>> {
        // A list is replaced as a whole.
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, name: &str) -> Option<Arc<Symbol>> {
        let list = self.list();
        list.iter().find(|it| &*it.name == name).map(Arc::clone)
    }

    /// Adds a variable, unless another thread has just done so.
    fn add(&self, name: &str, block: Block) -> Arc<Symbol> {
        let mut list = self.list();
        if let Some(symbol) = list.iter().find(|it| &*it.name == name) {
            return Arc::clone(symbol);
        }
        let symbol = Arc::new(Symbol {
            name: name.into(),
            block,
            is_settled: AtomicBool::new(false),
        });
        *list = list.iter().chain([&symbol]).map(Arc::clone).collect();
        // From here on launches enter themselves; whether there were any before is asked after this.
        self.any.set();
        symbol
    }

    /// Makes the host wait for all that is in flight on the variables.
    pub(super) fn wait_on_host(&self) -> Result<()> {
        let list = Arc::clone(&self.list());
        list.iter().try_for_each(|it| it.block.wait_on_host())
    }
}

impl ModuleCore {
    /// The variable of that name, known to every launch that comes after this.
    pub(super) fn symbol(&self, name: &str) -> Result<Arc<Symbol>> {
        let symbols = &self.symbols;
        let symbol = match symbols.find(name) {
            Some(symbol) => symbol,
            None => {
                let (address, size) = self.global_address(name)?;
                self.refuse_shared(address)?;
                symbols.add(name, Block::lent(self.context(), address, size))
            }
        };
        if !symbol.is_settled.load(Ordering::Acquire) {
            if symbols.launchable.load(Ordering::SeqCst) {
                self.context()
                    .synchronize()
                    .doing(|| "wait for kernels that were launched before")?;
            }
            symbol.is_settled.store(true, Ordering::Release);
        }
        Ok(symbol)
    }

    /// Refuses managed variables of libraries: what one context does to them, another would have to know.
    fn refuse_shared(&self, address: CUdeviceptr) -> Result<()> {
        if !self.is_of_library() {
            return Ok(());
        }
        let mut is_managed: u32 = 0;
        let attribute = CUpointer_attribute::CU_POINTER_ATTRIBUTE_IS_MANAGED;
        let driver = self.driver();
        let _current = self.context().push()?;
        let mut attributes = [attribute];
        let mut values: [*mut c_void; 1] = [(&raw mut is_managed).cast()];
        let (list, out) = (attributes.as_mut_ptr(), values.as_mut_ptr());
        // SAFETY: there are as many attributes as values, which is a number of the size that the attribute has.
        unsafe { call!(driver, cuPointerGetAttributes(1, list, out, address)) }?;
        if is_managed == 0 {
            return Ok(());
        }
        let reason = "it is a managed variable of a library, which all contexts share";
        Err(Error::new(ErrorKind::NotSupported, reason).remedied_by(
            "load the code as a module of one context, or use `Library::managed_address`",
        ))
    }

    /// Notes that there is a kernel to launch.
    pub(crate) fn note_kernel(&self) {
        self.symbols.launchable.store(true, Ordering::SeqCst);
    }

    /// Whether launches of kernels that do not declare what globals they touch need an order with these.
    #[inline(always)]
    pub(crate) fn has_symbols(&self) -> &Flag {
        &self.symbols.any
    }

    /// The variables that a launch which declares nothing may touch.
    pub(crate) fn touched_by_any(&self) -> Arc<[Arc<Symbol>]> {
        Arc::clone(&self.symbols.list())
    }
}

impl Symbol {
    /// The access of a launch that does not declare what it touches.
    pub(crate) fn undeclared(&self) -> Access<'_, StreamCore> {
        self.block.unknown_access()
    }
}

/// A global variable that a kernel's declaration lists.
#[cfg_attr(
    not(feature = "kernels"),
    allow(dead_code, reason = "of declared kernels")
)]
pub(crate) struct DeclaredGlobal {
    symbol: Arc<Symbol>,
    write: bool,
}

impl DeclaredGlobal {
    #[cfg_attr(
        not(feature = "kernels"),
        allow(dead_code, reason = "of declared kernels")
    )]
    /// The variable of that name, which the kernel reads, or writes too.
    ///
    /// It lives as long as the module; whoever holds this holds a function of the module as well.
    pub(crate) fn new(module: &ModuleCore, name: &str, write: bool) -> Result<Self> {
        let symbol = module
            .symbol(name)
            .doing(|| format!("find the declared global variable `{name}`"))?;
        Ok(Self { symbol, write })
    }

    /// The access of each launch of the kernel.
    pub(crate) fn access(&self) -> Access<'_, StreamCore> {
        let block = &self.symbol.block;
        block.access(*block.address(), block.size() as u64, self.write)
    }
}

impl std::fmt::Debug for DeclaredGlobal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DeclaredGlobal")
            .field("name", &self.symbol.name)
            .field("write", &self.write)
            .finish()
    }
}
