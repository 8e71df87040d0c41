//! Modules and their functions.

use std::sync::Arc;

use cuda_sim_machine::{CODE_WINDOW, GlobalSpace, Kernel, Program, RelocationTarget};
use cuda_sys::CUresult;

use crate::code;
use crate::image::Decoded;
use crate::state::State;
use crate::state::context::ContextRef;
use crate::state::kernel::Settings;
use crate::state::old_launch::OldLaunch;
use crate::state::space::{Block, Origin};

/// A decoded module with its variables placed; running kernels share it.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) program: Arc<Program>,
    /// The address of each variable.
    pub(crate) globals: Vec<u64>,
    /// Where the addresses of its functions start.
    pub(crate) code: u64,
}

/// A `CUmodule`.
#[derive(Debug)]
pub(crate) struct Module {
    pub(crate) context: ContextRef,
    pub(crate) loaded: Arc<Loaded>,
    /// The library that it is a part of.
    pub(crate) library: Option<u64>,
    /// Handle of each kernel's function, by the kernel's number.
    pub(crate) functions: Vec<u64>,
    /// Number of the call that made it.
    pub(crate) call: u64,
}

/// A `CUfunction`.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) context: ContextRef,
    pub(crate) module: u64,
    pub(crate) loaded: Arc<Loaded>,
    pub(crate) kernel: usize,
    /// `10 * major + minor` of the PTX's `.target`.
    pub(crate) target: u32,
    pub(crate) settings: Settings,
    pub(crate) old_launch: OldLaunch,
    /// The library's kernel that it stands for.
    pub(crate) library_kernel: Option<u64>,
    /// The kernel's name as a C string, which callers may keep until the module is unloaded.
    pub(crate) name: std::ffi::CString,
}

impl Function {
    /// The kernel.
    ///
    /// # Errors
    /// `INVALID_HANDLE`, which no function that a module made gives.
    pub(crate) fn kernel(&self) -> Result<&Kernel, CUresult> {
        self.loaded
            .program
            .kernels()
            .get(self.kernel)
            .ok_or(code::INVALID_HANDLE)
    }
}

impl State {
    /// Places a program's variables and gives handles to its kernels.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`
    pub(crate) fn load_module(
        &mut self,
        context: ContextRef,
        decoded: &Decoded,
        call: u64,
    ) -> Result<u64, CUresult> {
        let handle = self.modules.next();
        let (program, target) = (Arc::clone(&decoded.program), decoded.target);
        // Addresses of functions are never given out again, so that one of another module is noticed.
        let code = CODE_WINDOW + self.code_bytes;
        self.code_bytes += program.code_bytes();
        let mut globals = Vec::new();
        for global in program.globals() {
            // A variable without bytes still has an address of its own.
            let size = global.size.max(1);
            let allocated = if global.managed {
                self.allocate_managed(context, size, Origin::ManagedModule(handle), call)
            } else {
                self.allocate_device(context, size, Origin::Module(handle), call)
            };
            match allocated {
                Ok(address) => globals.push(address),
                Err(result) => {
                    for address in globals {
                        self.release_block(address, call);
                    }
                    return Err(result);
                }
            }
        }
        for (global, address) in program.globals().iter().zip(&globals) {
            if let Some(block) = self.space.at_mut(*address) {
                initialise(block, global, &globals, code);
            }
        }
        let loaded = Arc::new(Loaded {
            program,
            globals,
            code,
        });
        let functions = loaded
            .program
            .kernels()
            .iter()
            .enumerate()
            .map(|(number, kernel)| {
                self.functions.insert(Function {
                    context,
                    module: handle,
                    loaded: Arc::clone(&loaded),
                    kernel: number,
                    target,
                    settings: Settings::default(),
                    old_launch: OldLaunch::default(),
                    library_kernel: None,
                    name: std::ffi::CString::new(kernel.name()).unwrap_or_default(),
                })
            });
        let functions = functions.collect();
        Ok(self.modules.insert(Module {
            context,
            loaded,
            library: None,
            functions,
            call,
        }))
    }

    /// Removes a module. Nothing may use it any more.
    pub(crate) fn unload_module(&mut self, handle: u64, call: u64) {
        let reuse = self.options.reuse_handles;
        let Ok(module) = self.modules.remove(handle, reuse) else {
            return;
        };
        self.forget_library_module(handle);
        for function in module.functions {
            drop(self.functions.remove(function, reuse));
        }
        for address in &module.loaded.globals {
            self.note_release(*address, call);
            self.release_block(*address, call);
        }
    }

    /// The function of that name in a module.
    pub(crate) fn function_of_module(&self, module: u64, name: &[u8]) -> Option<u64> {
        let module = self.modules.get(module).ok()?;
        let kernels = module.loaded.program.kernels();
        let number = kernels
            .iter()
            .position(|kernel| kernel.name().as_bytes() == name)?;
        module.functions.get(number).copied()
    }

    /// The variable of that name in a module: its address and its bytes.
    pub(crate) fn global_of_module(&self, module: u64, name: &[u8]) -> Option<(u64, usize)> {
        let loaded = &self.modules.get(module).ok()?.loaded;
        let globals = loaded.program.globals().iter();
        let (global, address) = globals
            .zip(&loaded.globals)
            .find(|(global, _)| global.name.as_bytes() == name)?;
        Some((*address, global.size))
    }

    /// The function of a handle, in a healthy context.
    ///
    /// # Errors
    /// `INVALID_HANDLE`, or the error of its context.
    pub(crate) fn function(&self, handle: u64) -> Result<&Function, CUresult> {
        let function = self.functions.get(handle)?;
        self.healthy(function.context)?;
        Ok(function)
    }
}

/// Writes a variable's first contents, with the addresses that it holds.
fn initialise(block: &mut Block, global: &cuda_sim_machine::Global, addresses: &[u64], code: u64) {
    block.read_only = global.space == GlobalSpace::Const;
    let mut bytes = global.bytes.clone();
    bytes.resize(global.size, 0);
    for relocation in &global.relocations {
        let target = match relocation.target {
            RelocationTarget::Variable(index) => addresses.get(index).copied().unwrap_or(0),
            RelocationTarget::Function(offset) => code.wrapping_add(offset),
        };
        let value = target.wrapping_add_signed(relocation.addend).to_le_bytes();
        let place = bytes.get_mut(relocation.offset..relocation.offset + relocation.size.min(8));
        if let (Some(place), Some(value)) = (place, value.get(..relocation.size.min(8))) {
            place.copy_from_slice(value);
        }
    }
    block.write(0, &bytes);
}
