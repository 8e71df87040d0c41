//! The registers of functions and warps before their first instruction.

use crate::Kernel;
use crate::exec::env::Shape;
use crate::exec::scope::{initial_registers, specialise};
use crate::registers::Registers;

/// Registers before the first instruction.
#[derive(Debug)]
pub(crate) struct Templates {
    /// Those of each function that the kernel can reach.
    functions: Vec<Option<Registers>>,
    /// Those of the kernel itself for each warp of a block.
    warps: Vec<Registers>,
}

impl Templates {
    pub(crate) fn new(kernel: &Kernel, shape: &Shape<'_>) -> Self {
        let codes = &shape.program.codes;
        let mut functions = vec![None; codes.len()];
        for &function in &kernel.reachable {
            functions[function] = Some(initial_registers(&codes[function], shape));
        }
        let threads = shape.launch.block.iter().product::<u32>();
        let code = &codes[kernel.function];
        let warp = |warp| {
            let mut registers = initial_registers(code, shape);
            specialise(&mut registers, code, shape, warp, 0);
            registers
        };
        Self {
            functions,
            warps: (0..threads.div_ceil(32)).map(warp).collect(),
        }
    }

    pub(crate) fn registers(&self, function: usize) -> Registers {
        self.functions[function].clone().unwrap_or_default()
    }

    /// The kernel's own, for a warp of a block.
    pub(crate) fn of_warp(&self, warp: u32) -> Option<&Registers> {
        self.warps.get(warp as usize)
    }
}
