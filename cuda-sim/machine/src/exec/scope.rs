//! One call of a function by some lanes of a warp: its registers and the place of each lane.

use crate::WARP_SIZE;
use crate::code::{Code, Init, Instr, Special};
use crate::decode::frame_bytes;
use crate::exec::cluster::RANK_SHIFT;
use crate::exec::env::{Shape, special};
use crate::exec::findings::Site;
use crate::exec::places::Places;
use crate::program::function_offset;
use crate::registers::Registers;

/// A call in progress. The kernel itself is the outermost one.
#[derive(Debug)]
pub(crate) struct Scope {
    /// Index of the function in the program.
    pub(crate) function: usize,
    pub(crate) registers: Registers,
    /// The next instruction of each lane.
    pub(crate) places: Places,
    /// Lanes that can run.
    pub(crate) runnable: u32,
    /// Lanes that let others go first, and a group that was interrupted with the backward branches it has left: a turn ends sooner than the
    /// patience with lanes that spin, which must not begin anew with each turn.
    pub(crate) tired: u32,
    pub(crate) interrupted: (u32, u32),
    /// Lanes that wait at a barrier.
    pub(crate) parked: u32,
    /// Lanes that wait for others of their warp.
    pub(crate) waiting: u32,
    /// Lanes that are in a function called from here.
    pub(crate) calling: u32,
    /// Index of the calling scope and of the call in its function.
    pub(crate) caller: Option<(usize, u32)>,
    /// First byte of this call's variables in local memory.
    pub(crate) local_base: u32,
    /// Where each lane's next variables in local memory go: behind those of this call, and behind what `alloca` has given out.
    pub(crate) tops: [u32; WARP_SIZE],
    /// Parameter memory, lane after lane.
    pub(crate) params: Vec<u8>,
    /// Bytes of it for each lane.
    pub(crate) params_stride: usize,
}

impl Scope {
    /// Lanes that have neither returned nor ended.
    pub(crate) fn members(&self) -> u32 {
        self.runnable | self.parked | self.waiting | self.calling
    }

    /// The tops of a call that has just begun.
    pub(crate) fn first_tops(&self, shape: &Shape<'_>) -> [u32; WARP_SIZE] {
        let frame = frame_bytes(&shape.program.codes[self.function]);
        [self.local_base.saturating_add(frame); WARP_SIZE]
    }

    /// An instruction of the function.
    #[inline(always)]
    pub(crate) fn site(&self, instruction: &Instr) -> Site {
        Site {
            function: self.function,
            source: instruction.source,
        }
    }

    /// What lies above the tops of all those lanes.
    pub(crate) fn top_of(&self, lanes: u32) -> u32 {
        let taking_part = self.tops.iter().enumerate();
        let tops = taking_part.filter(|(lane, _)| lanes >> lane & 1 == 1);
        tops.map(|(_, top)| *top).max().unwrap_or(0)
    }

    /// Ends lanes wherever they are.
    pub(crate) fn remove(&mut self, lanes: u32) {
        self.runnable &= !lanes;
        self.parked &= !lanes;
        self.waiting &= !lanes;
        self.calling &= !lanes;
    }
}

/// Fills the rows that have a value before the first instruction and depend on the launch alone.
pub(crate) fn initial_registers(code: &Code, shape: &Shape<'_>) -> Registers {
    let mut registers = Registers::new(code.rows);
    for &(row, init) in &code.word_inits {
        registers.words[row as usize] = [launch_value(init, shape, 0) as u32; WARP_SIZE];
    }
    for &(row, init) in &code.double_inits {
        registers.doubles[row as usize] = [launch_value(init, shape, 0); WARP_SIZE];
    }
    for &row in &code.true_rows {
        registers.predicates[row as usize] = u32::MAX;
    }
    registers
}

/// Fills the rows that differ between the warps of a block, and those with local addresses.
pub(crate) fn specialise(
    registers: &mut Registers,
    code: &Code,
    shape: &Shape<'_>,
    warp: u32,
    local_base: u32,
) {
    for &(row, init) in &code.word_inits {
        let words = &mut registers.words[row as usize];
        match init {
            Init::Special(which) => {
                for (lane, value) in words.iter_mut().enumerate() {
                    *value = special(which, shape, warp, lane as u32) as u32;
                }
            }
            Init::Local(_) => *words = [launch_value(init, shape, local_base) as u32; WARP_SIZE],
            Init::Value(_)
            | Init::Global(..)
            | Init::Function(_)
            | Init::Shared(..)
            | Init::Param(..) => {}
        }
    }
    for &(row, init) in &code.double_inits {
        let doubles = &mut registers.doubles[row as usize];
        match init {
            Init::Special(which) => {
                for (lane, value) in doubles.iter_mut().enumerate() {
                    *value = special(which, shape, warp, lane as u32);
                }
            }
            Init::Local(_) => *doubles = [launch_value(init, shape, local_base); WARP_SIZE],
            Init::Value(_)
            | Init::Global(..)
            | Init::Function(_)
            | Init::Shared(..)
            | Init::Param(..) => {}
        }
    }
}

/// Fills the rows that differ between blocks; those with addresses of shared memory hold that of the cluster's first block.
pub(crate) fn enter_block(
    registers: &mut Registers,
    code: &Code,
    shape: &Shape<'_>,
    block: [u32; 3],
) {
    let rank = shape.rank_of(block);
    let first_shared = u64::from(rank) << RANK_SHIFT;
    for &(row, init) in &code.word_inits {
        let value = match init {
            Init::Special(Special::Ctaid(axis)) => block[axis],
            Init::Special(Special::Clusterid(axis)) => block[axis] / shape.cluster()[axis],
            Init::Special(Special::ClusterCtaid(axis)) => block[axis] % shape.cluster()[axis],
            Init::Special(Special::ClusterCtarank) => rank,
            Init::Shared(..) if rank > 0 => {
                (launch_value(init, shape, 0).wrapping_add(first_shared)) as u32
            }
            _ => continue,
        };
        registers.words[row as usize] = [value; WARP_SIZE];
    }
    if rank == 0 {
        return;
    }
    for &(row, init) in &code.double_inits {
        if let Init::Shared(..) = init {
            let value = launch_value(init, shape, 0).wrapping_add(first_shared);
            registers.doubles[row as usize] = [value; WARP_SIZE];
        }
    }
}

fn launch_value(init: Init, shape: &Shape<'_>, local_base: u32) -> u64 {
    match init {
        Init::Value(value) => value,
        Init::Global(index, addend) => shape
            .launch
            .globals
            .get(index)
            .copied()
            .unwrap_or(0)
            .wrapping_add_signed(addend),
        Init::Function(index) => shape.launch.code.wrapping_add(function_offset(index)),
        Init::Shared(index, addend) => {
            u64::from(shape.shared_offsets.get(index).copied().unwrap_or(0))
                .wrapping_add_signed(addend)
        }
        Init::Local(offset) => u64::from(local_base).wrapping_add_signed(offset),
        Init::Param(offset, size, signed) => {
            let mut bytes = [0; 8];
            let size = usize::from(size);
            if let Some(from) = shape
                .launch
                .params
                .get(offset as usize..offset as usize + size)
            {
                bytes[..size].copy_from_slice(from);
            }
            let value = u64::from_le_bytes(bytes);
            let unused = 64 - 8 * size as u32;
            if signed {
                ((value << unused) as i64 >> unused) as u64
            } else {
                value
            }
        }
        Init::Special(_) => 0,
    }
}
