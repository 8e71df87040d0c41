//! A decoded module: kernels that can be launched, and the variables that the driver places.

use crate::code::Code;
use crate::{Interaction, Unsupported};

/// The space of a module variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GlobalSpace {
    /// `.global`
    Global,
    /// `.const`
    Const,
}

/// What an initial value takes the address of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelocationTarget {
    /// A variable: index in [`Program::globals`].
    Variable(usize),
    /// A function: offset from [`Launch::code`](crate::Launch::code).
    Function(u64),
}

/// Where a variable's initial bytes hold the address of another variable or of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Relocation {
    /// First byte of the address within the variable.
    pub offset: usize,
    /// Bytes of the address: 4 or 8.
    pub size: usize,
    /// Whose address is meant.
    pub target: RelocationTarget,
    /// What is added to that address.
    pub addend: i64,
}

/// A variable of the module, which the driver places in device memory when it loads the module.
#[derive(Debug, Clone)]
pub struct Global {
    /// Its name.
    pub name: String,
    /// Its space.
    pub space: GlobalSpace,
    /// Bytes.
    pub size: usize,
    /// Alignment in bytes, a power of two.
    pub align: usize,
    /// Initial bytes, `size` of them; zero where the PTX gives none.
    pub bytes: Vec<u8>,
    /// Addresses to be added to the initial bytes.
    pub relocations: Vec<Relocation>,
    /// Declared with `.attribute(.managed)`: the host reaches it at the same address.
    pub managed: bool,
}

/// A parameter of a kernel as it lies in the parameter buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelParam {
    /// First byte.
    pub offset: usize,
    /// Bytes.
    pub size: usize,
    /// Alignment in bytes.
    pub align: usize,
}

/// What a kernel says about the clusters that its blocks form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClusterRules {
    /// The only shape in blocks (`.reqnctapercluster`).
    pub required: Option<[u32; 3]>,
    /// Whether launches must have a shape (`.explicitcluster`).
    pub explicit: bool,
    /// The most blocks (`.maxclusterrank`).
    pub max_blocks: Option<u32>,
}

/// A kernel, decoded.
#[derive(Debug)]
pub struct Kernel {
    pub(crate) name: String,
    pub(crate) params: Vec<KernelParam>,
    pub(crate) static_shared_bytes: u32,
    pub(crate) local_bytes: u32,
    pub(crate) cluster: ClusterRules,
    pub(crate) max_ntid: Option<[u32; 3]>,
    pub(crate) req_ntid: Option<[u32; 3]>,
    pub(crate) registers: u32,
    /// Whether it says itself how many registers it may have, or how large its blocks get.
    pub(crate) bounds_registers: bool,
    pub(crate) unsupported: Option<Unsupported>,
    pub(crate) uses_heap: bool,
    /// Bytes of local memory that a thread needs when it calls each function within reach once.
    pub(crate) frame_bytes: u32,
    pub(crate) interaction: Option<Interaction>,
    /// Index of its code in the program.
    pub(crate) function: usize,
    /// The functions that it can reach, itself included.
    pub(crate) reachable: Vec<usize>,
}

/// A shared variable.
#[derive(Debug, Clone)]
pub(crate) struct SharedVariable {
    pub(crate) name: String,
    pub(crate) size: u32,
    pub(crate) align: u32,
    /// Sized by the launch.
    pub(crate) dynamic: bool,
}

impl Kernel {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its parameters in order.
    #[must_use]
    pub fn params(&self) -> &[KernelParam] {
        &self.params
    }

    /// Bytes of the parameter buffer.
    #[must_use]
    pub fn params_size(&self) -> usize {
        self.params.last().map_or(0, |last| last.offset + last.size)
    }

    /// Bytes of shared memory that its variables take.
    #[must_use]
    pub fn static_shared_bytes(&self) -> u32 {
        self.static_shared_bytes
    }

    /// Bytes of local memory that each thread's variables take.
    #[must_use]
    pub fn local_bytes(&self) -> u32 {
        self.local_bytes
    }

    /// The largest block that it may be launched with (`.maxntid`).
    #[must_use]
    pub fn max_ntid(&self) -> Option<[u32; 3]> {
        self.max_ntid
    }

    /// The only block that it may be launched with (`.reqntid`).
    #[must_use]
    pub fn req_ntid(&self) -> Option<[u32; 3]> {
        self.req_ntid
    }

    /// What it says about clusters.
    #[must_use]
    pub fn cluster(&self) -> ClusterRules {
        self.cluster
    }

    /// An estimate of the 32-bit registers that a thread needs.
    #[must_use]
    pub fn registers(&self) -> u32 {
        self.registers
    }

    /// The offset of each of the program's shared variables, and the bytes of shared memory of a block.
    pub(crate) fn shared_layout(&self, program: &Program, dynamic: u32) -> (Vec<u32>, u32) {
        let mut offsets = vec![0; program.shared.len()];
        let mut placed = vec![false; program.shared.len()];
        let (mut end, mut align) = (0u32, 16u32);
        let named = self
            .reachable
            .iter()
            .flat_map(|&function| &program.codes[function].shared);
        for &index in named.clone() {
            let variable = &program.shared[index];
            if variable.dynamic {
                align = align.max(variable.align);
            } else if !placed[index] {
                placed[index] = true;
                offsets[index] = end
                    .checked_next_multiple_of(variable.align)
                    .unwrap_or(u32::MAX);
                end = offsets[index].saturating_add(variable.size);
            }
        }
        // All dynamic arrays start together, behind the static variables.
        let start = if dynamic == 0 {
            end
        } else {
            end.checked_next_multiple_of(align).unwrap_or(u32::MAX)
        };
        for &index in named {
            if program.shared[index].dynamic {
                offsets[index] = start;
            }
        }
        (offsets, start.saturating_add(dynamic))
    }

    /// Whether it, or what it can call, allocates or releases memory.
    #[must_use]
    pub fn uses_heap(&self) -> bool {
        self.uses_heap
    }

    /// The first thing in it, or in what it calls, that the machine does not implement; a launch would report it.
    #[must_use]
    pub fn unsupported(&self) -> Option<&Unsupported> {
        self.unsupported.as_ref()
    }

    /// The first thing in it, or in what it calls, through which its blocks could influence each other or be told apart by the order in
    /// which they run. Without any, they may run on several [threads](crate::Launch::threads).
    ///
    /// Ordinary loads and stores are none: a kernel whose blocks race through them has no defined result on a GPU either.
    #[must_use]
    pub fn interaction(&self) -> Option<&Interaction> {
        self.interaction.as_ref()
    }
}

/// A decoded module: immutable, to be shared between threads.
#[derive(Debug)]
pub struct Program {
    pub(crate) kernels: Vec<Kernel>,
    pub(crate) globals: Vec<Global>,
    pub(crate) codes: Vec<Code>,
    pub(crate) shared: Vec<SharedVariable>,
}

/// Bytes between the addresses of functions, which are all that they take.
const FUNCTION_BYTES: u64 = 16;

/// A function's offset from [`Launch::code`](crate::Launch::code).
pub(crate) const fn function_offset(function: usize) -> u64 {
    function as u64 * FUNCTION_BYTES
}

/// The function at an offset from [`Launch::code`](crate::Launch::code), if one starts there.
pub(crate) fn function_at(offset: u64) -> Option<usize> {
    usize::try_from(offset / FUNCTION_BYTES)
        .ok()
        .filter(|_| offset.is_multiple_of(FUNCTION_BYTES))
}

/// The fewest registers that compilers keep a kernel to.
const FEWEST_LIMITED_REGISTERS: u32 = 24;

impl Program {
    /// Bytes of addresses that the functions take, from [`Launch::code`](crate::Launch::code) on.
    #[must_use]
    pub fn code_bytes(&self) -> u64 {
        function_offset(self.codes.len())
    }

    /// The kernel of that name.
    #[must_use]
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }

    /// All kernels in the order of the PTX.
    #[must_use]
    pub fn kernels(&self) -> &[Kernel] {
        &self.kernels
    }

    /// Lowers the [registers](Kernel::registers) of kernels to `most`, or to 24 where that is more, as a compiler does that is told to.
    ///
    /// Kernels with `.maxnreg`, `.maxntid` or `.reqntid` keep to what they state instead.
    pub fn limit_registers(&mut self, most: u32) {
        for kernel in self.kernels.iter_mut().filter(|it| !it.bounds_registers) {
            kernel.registers = kernel.registers.min(most.max(FEWEST_LIMITED_REGISTERS));
        }
    }

    /// The module's variables in the order of the PTX, constants included.
    #[must_use]
    pub fn globals(&self) -> &[Global] {
        &self.globals
    }
}
