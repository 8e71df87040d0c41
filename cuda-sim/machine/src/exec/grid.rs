//! A whole launch: checks it, and runs its blocks.

use crate::code::Code;
use crate::exec::block::Block;
use crate::exec::env::Shape;
use crate::exec::scope::{initial_registers, specialise};
use crate::exec::warp::{Meter, WarpFault};
use crate::registers::Registers;
use crate::{Fault, FaultKind, Kernel, Launch, Memory, Place, Program, Statistics};

/// Instructions that a warp executes in one turn.
const TURN: u64 = 10_000;
/// Blocks that run side by side at most, when they wait for each other.
const MOST_RESIDENT: usize = 4096;

/// Registers before the first instruction.
#[derive(Debug)]
pub(crate) struct Templates {
    /// Those of each function that the kernel can reach.
    functions: Vec<Option<Registers>>,
    /// Those of the kernel itself for each warp of a block.
    warps: Vec<Registers>,
}

impl Templates {
    fn new(kernel: &Kernel, shape: &Shape<'_>) -> Self {
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

/// Runs a kernel to its end.
///
/// # Errors
/// The first fault of any thread. What was stored before it stays stored.
pub fn run(
    kernel: &Kernel,
    program: &Program,
    launch: &Launch<'_>,
    memory: &dyn Memory,
) -> Result<Statistics, Fault> {
    let fault = |kind| Fault {
        kind,
        kernel: kernel.name.clone(),
        place: None,
    };
    if let Some(unsupported) = &kernel.unsupported {
        return Err(fault(FaultKind::Unsupported(unsupported.clone())));
    }
    check(kernel, program, launch).map_err(|why| fault(FaultKind::InvalidLaunch(why)))?;
    let (shared_offsets, shared_bytes) = kernel.shared_layout(program, launch.dynamic_shared);
    if shared_bytes > launch.limits.shared_bytes {
        let limit = launch.limits.shared_bytes;
        let why =
            format!("{shared_bytes} bytes of shared memory for each block; the limit is {limit}");
        return Err(fault(FaultKind::InvalidLaunch(why)));
    }
    let shape = Shape {
        program,
        launch,
        memory,
        shared_offsets: &shared_offsets,
        shared_bytes,
        stack_limit: kernel
            .frame_bytes
            .saturating_add(launch.limits.stack_bytes)
            .min(launch.limits.local_bytes),
    };
    let templates = Templates::new(kernel, &shape);
    let mut order = Order::new(launch);
    let (mut resident, mut spare) = (Vec::<Block>::new(), Vec::<Block>::new());
    let mut statistics = Statistics::default();
    let mut meter = Meter {
        fuel: launch.limits.instructions,
        ..Meter::default()
    };
    let mut wanted = 1;
    loop {
        while resident.len() < wanted {
            let Some((index, first_warp)) = order.next() else {
                break;
            };
            let mut block = spare
                .pop()
                .unwrap_or_else(|| Block::new(kernel.function, &shape, &templates));
            block.start(index, first_warp, &shape, &templates);
            resident.push(block);
        }
        if resident.is_empty() {
            statistics.instructions = meter.instructions;
            statistics.lane_instructions = meter.lane_instructions;
            return Ok(statistics);
        }
        let mut ended = 0;
        let mut next = 0;
        while let Some(block) = resident.get_mut(next) {
            match visit(block, &shape, &templates, &mut meter) {
                Ok(true) => {
                    ended += 1;
                    spare.push(resident.remove(next));
                }
                Ok(false) => next += 1,
                Err((warp, error)) => {
                    return Err(place_fault(kernel, &shape, block.index, warp, error));
                }
            }
        }
        statistics.blocks += ended;
        if meter.fuel == 0 && !(resident.is_empty() && order.is_empty()) {
            return Err(fault(FaultKind::Timeout {
                instructions: launch.limits.instructions,
            }));
        }
        if ended == 0 {
            wanted = (wanted * 2).min(MOST_RESIDENT);
        }
    }
}

/// Runs a block until it ends or has had its share; says whether it has ended. It runs on while its warps wait for each other only; what
/// it waits for longer may be another block.
fn visit(
    block: &mut Block,
    shape: &Shape<'_>,
    templates: &Templates,
    meter: &mut Meter,
) -> Result<bool, (usize, WarpFault)> {
    let share = meter.instructions.saturating_add(TURN * 10);
    loop {
        let ended = block.run(shape, templates, TURN, meter)?;
        if ended || meter.fuel == 0 || meter.instructions > share {
            return Ok(ended);
        }
    }
}

fn check(kernel: &Kernel, program: &Program, launch: &Launch<'_>) -> Result<(), String> {
    let threads = launch
        .block
        .iter()
        .try_fold(1u32, |product, &extent| product.checked_mul(extent))
        .unwrap_or(u32::MAX);
    if threads == 0 || threads > 1024 {
        let [x, y, z] = launch.block;
        return Err(format!(
            "a block of {x}×{y}×{z} threads; a block has 1 to 1024"
        ));
    }
    let [x, y, z] = launch.grid;
    if launch.grid.contains(&0) || x > i32::MAX as u32 || y > 65_535 || z > 65_535 {
        return Err(format!(
            "a grid of {x}×{y}×{z} blocks; a grid has 1 to 2147483647×65535×65535"
        ));
    }
    let needed = kernel.params_size();
    if launch.params.len() < needed {
        return Err(format!(
            "{} bytes of parameters; the kernel takes {needed}",
            launch.params.len()
        ));
    }
    if launch.globals.len() != program.globals.len() {
        let (given, needed) = (launch.globals.len(), program.globals.len());
        return Err(format!(
            "{given} addresses of module variables; the module has {needed}"
        ));
    }
    if kernel.local_bytes > launch.limits.local_bytes {
        let (needed, limit) = (kernel.local_bytes, launch.limits.local_bytes);
        return Err(format!(
            "{needed} bytes of local memory for each thread; the limit is {limit}"
        ));
    }
    Ok(())
}

fn place_fault(
    kernel: &Kernel,
    shape: &Shape<'_>,
    block: [u32; 3],
    warp: usize,
    fault: WarpFault,
) -> Fault {
    let code: &Code = &shape.program.codes[fault.function];
    let source = code
        .instructions
        .get(fault.pc as usize)
        .and_then(|instruction| code.sources.get(instruction.source as usize));
    let thread = (warp * 32 + fault.error.lane) as u32;
    let [x, y, z] = shape.launch.block;
    let place = source.map(|source| {
        Box::new(Place {
            function: code.name.clone(),
            line: source.line,
            instruction: source.text.clone(),
            source: source
                .compiled_from
                .and_then(|line| code.source_lines.get(line as usize).cloned()),
            block,
            thread: [thread % x, thread / x % y, thread / x / y % z],
        })
    });
    Fault {
        kind: fault.error.kind,
        kernel: kernel.name.clone(),
        place,
    }
}

/// The order in which blocks start: ascending, or for a seed other than 0 some other order that visits each block once.
struct Order {
    grid: [u32; 3],
    count: u64,
    done: u64,
    start: u64,
    step: u64,
    random: u64,
}

impl Order {
    fn new(launch: &Launch<'_>) -> Self {
        let count = launch
            .grid
            .iter()
            .map(|&extent| u64::from(extent))
            .product::<u64>();
        let mut order = Self {
            grid: launch.grid,
            count,
            done: 0,
            start: 0,
            step: 1,
            random: launch.seed,
        };
        if launch.seed != 0 {
            order.start = order.draw() % count;
            // Steps without a common divisor with the count visit every block.
            order.step = (order.draw() % count).max(1);
            while gcd(order.step, count) != 1 {
                order.step += 1;
            }
        }
        order
    }

    /// A number of a simple well-mixed sequence.
    fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.random ^ self.random >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb) >> 1
    }

    fn is_empty(&self) -> bool {
        self.done == self.count
    }

    /// The next block, and the warp with which its turns start.
    fn next(&mut self) -> Option<([u32; 3], usize)> {
        if self.is_empty() {
            return None;
        }
        let linear = (u128::from(self.start) + u128::from(self.done) * u128::from(self.step))
            % u128::from(self.count);
        let linear = linear as u64;
        self.done += 1;
        let (x, y) = (u64::from(self.grid[0]), u64::from(self.grid[1]));
        let index = [
            (linear % x) as u32,
            (linear / x % y) as u32,
            (linear / x / y) as u32,
        ];
        let first_warp = if self.step == 1 && self.start == 0 {
            0
        } else {
            self.draw() as usize & 31
        };
        Some((index, first_warp))
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
