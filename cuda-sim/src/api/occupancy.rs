//! Occupancy: how many blocks fit on a multiprocessor, by the rules that hold for compute capability 9.0.

use cuda_sys::{CUfunction, CUoccupancyB2DSize};

use super::prelude::*;
use crate::state::module::Function;

built! {
    cuOccupancyMaxActiveBlocksPerMultiprocessor => active_blocks, (
        count: Out<c_int>, function: CUfunction, block: c_int, shared: usize
    );
    cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags => active_blocks_with_flags, (
        count: Out<c_int>, function: CUfunction, block: c_int, shared: usize, flags: c_uint
    );
    cuOccupancyMaxPotentialBlockSize => best_block, (
        grid: Out<c_int>, block: Out<c_int>, function: CUfunction, shared_of: CUoccupancyB2DSize, shared: usize, limit: c_int
    );
    cuOccupancyMaxPotentialBlockSizeWithFlags => best_block_with_flags, (
        grid: Out<c_int>, block: Out<c_int>, function: CUfunction, shared_of: CUoccupancyB2DSize, shared: usize, limit: c_int,
        flags: c_uint
    );
    cuOccupancyAvailableDynamicSMemPerBlock => available_shared, (
        size: Out<usize>, function: CUfunction, blocks: c_int, block: c_int
    );
}

/// What a multiprocessor gives, and what a kernel takes of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    threads: u32,
    blocks: u32,
    registers: u32,
    shared: u32,
    shared_reserved: u32,
    /// Threads of a block on this device, and those that the kernel allows.
    device_threads: u32,
    max_threads: u32,
    max_dynamic_shared: u32,
    kernel_registers: u32,
    kernel_shared: u32,
    pub(super) multiprocessors: u32,
}

/// Bytes in which shared memory is given to blocks.
const SHARED_UNIT: u32 = 128;

impl Budget {
    pub(super) fn of(state: &State, function: &Function) -> Result<Self, CUresult> {
        let facts = state.facts(function)?;
        let (kernel, attribute) = (facts.kernel, |number| facts.limit(number));
        Ok(Self {
            threads: attribute(39),
            blocks: attribute(106),
            registers: attribute(82),
            shared: attribute(81),
            shared_reserved: attribute(111),
            device_threads: attribute(1),
            max_threads: facts.max_threads(),
            max_dynamic_shared: facts.max_dynamic_shared(),
            kernel_registers: kernel.registers().max(1),
            kernel_shared: kernel.static_shared_bytes(),
            multiprocessors: facts.device.multiprocessors,
        })
    }

    /// Blocks of that many threads on one multiprocessor; 0 where a launch would fail.
    pub(super) fn blocks(&self, threads: u32, dynamic: u32) -> u32 {
        if threads == 0 || threads > self.device_threads || dynamic > self.max_dynamic_shared {
            return 0;
        }
        let warps = threads.div_ceil(32);
        let by_threads = (self.threads / 32) / warps;
        let per_warp = (self.kernel_registers * 32).next_multiple_of(256);
        // A multiprocessor is four parts, each with a quarter of the registers.
        let by_registers = self.registers / 4 / per_warp * 4 / warps;
        let shared =
            (self.kernel_shared + dynamic + self.shared_reserved).next_multiple_of(SHARED_UNIT);
        let by_shared = self.shared / shared.max(SHARED_UNIT);
        self.blocks.min(by_threads).min(by_registers).min(by_shared)
    }
}

/// Blocks of that many threads that the whole device runs at the same time.
pub(super) fn blocks_at_once(
    state: &State,
    function: &Function,
    threads: u32,
    dynamic: u32,
) -> Result<u64, CUresult> {
    let budget = Budget::of(state, function)?;
    Ok(u64::from(budget.blocks(threads, dynamic)) * u64::from(budget.multiprocessors))
}

fn budget(call: &Call<'_>, function: CUfunction) -> Result<Budget, CUresult> {
    let mut state = call.state();
    let current = state.current(call.thread)?;
    let function = state.function_in(number(function), Ok(current), call.number)?;
    Budget::of(&state, state.function(function)?)
}

fn active_blocks(
    call: &Call<'_>,
    count: Out<c_int>,
    function: CUfunction,
    block: c_int,
    shared: usize,
) -> Answer {
    active_blocks_with_flags(call, count, function, block, shared, 0)
}

fn active_blocks_with_flags(
    call: &Call<'_>,
    count: Out<c_int>,
    function: CUfunction,
    block: c_int,
    shared: usize,
    flags: c_uint,
) -> Answer {
    let count = count.check()?;
    let budget = budget(call, function)?;
    let threads = u32::try_from(block)
        .ok()
        .filter(|threads| *threads > 0)
        .ok_or(code::INVALID_VALUE)?;
    if flags > 1 {
        return Err(code::INVALID_VALUE);
    }
    count.set(budget.blocks(threads, u32::try_from(shared).unwrap_or(u32::MAX)) as c_int);
    Ok(())
}

fn best_block(
    call: &Call<'_>,
    grid: Out<c_int>,
    block: Out<c_int>,
    function: CUfunction,
    shared_of: CUoccupancyB2DSize,
    shared: usize,
    limit: c_int,
) -> Answer {
    best_block_with_flags(call, grid, block, function, shared_of, shared, limit, 0)
}

#[expect(clippy::too_many_arguments, reason = "the C function has them")]
fn best_block_with_flags(
    call: &Call<'_>,
    grid: Out<c_int>,
    block: Out<c_int>,
    function: CUfunction,
    shared_of: CUoccupancyB2DSize,
    shared: usize,
    limit: c_int,
    flags: c_uint,
) -> Answer {
    let (grid, block) = (grid.check()?, block.check()?);
    // The instance is not locked while the caller's function runs.
    let budget = budget(call, function)?;
    if flags > 1 {
        return Err(code::INVALID_VALUE);
    }
    let most = match u32::try_from(limit) {
        Ok(0) => budget.max_threads,
        Ok(limit) => limit.min(budget.max_threads),
        Err(_) => return Err(code::INVALID_VALUE),
    };
    let (mut best, mut best_threads, mut best_blocks) = (0, 0, 0);
    let mut threads = most;
    while threads > 0 {
        let dynamic = match shared_of {
            // SAFETY: the caller passed it to be called with block sizes.
            Some(shared_of) => unsafe { shared_of(threads as c_int) },
            None => shared,
        };
        let blocks = budget.blocks(threads, u32::try_from(dynamic).unwrap_or(u32::MAX));
        if blocks * threads > best {
            (best, best_threads, best_blocks) = (blocks * threads, threads, blocks);
        }
        threads = (threads - 1) / 32 * 32;
    }
    grid.set((best_blocks * budget.multiprocessors) as c_int);
    block.set(best_threads as c_int);
    Ok(())
}

fn available_shared(
    call: &Call<'_>,
    size: Out<usize>,
    function: CUfunction,
    blocks: c_int,
    block: c_int,
) -> Answer {
    let size = size.check()?;
    let budget = budget(call, function)?;
    let positive = |number: c_int| {
        u32::try_from(number)
            .ok()
            .filter(|number| *number > 0)
            .ok_or(code::INVALID_VALUE)
    };
    let (blocks, threads) = (positive(blocks)?, positive(block)?);
    if blocks > budget.blocks(threads, 0) {
        return Err(code::INVALID_VALUE);
    }
    let each = budget.shared / blocks / SHARED_UNIT * SHARED_UNIT;
    let dynamic = each.saturating_sub(budget.kernel_shared);
    size.set(dynamic.min(budget.max_dynamic_shared) as usize);
    Ok(())
}
