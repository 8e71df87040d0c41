//! Limits of contexts, with the values and the rounding of a device like an H200.

use cuda_sys::CUlimit;

use super::prelude::*;
use crate::state::execute::DEFAULT_STACK;
use crate::state::heap::DEFAULT_SIZE;

built! {
    cuCtxGetLimit => get, (value: Out<usize>, limit: CUlimit);
    cuCtxSetLimit => set, (limit: CUlimit, value: usize);
}

/// The largest stack of a thread in bytes.
const MAX_STACK: usize = 512 << 10;
/// What the persisting part of the second-level cache is counted in, and all of it, in bytes.
const PERSISTING_UNIT: usize = 3_932_160;
const PERSISTING: usize = 39_321_600;

/// The limits of a fresh context.
fn default(limit: CUlimit) -> Result<usize, CUresult> {
    match limit {
        CUlimit::CU_LIMIT_STACK_SIZE => Ok(DEFAULT_STACK as usize),
        CUlimit::CU_LIMIT_PRINTF_FIFO_SIZE => Ok(8_650_752),
        CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE => Ok(DEFAULT_SIZE),
        CUlimit::CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT => Ok(2048),
        CUlimit::CU_LIMIT_MAX_L2_FETCH_GRANULARITY => Ok(64),
        CUlimit::CU_LIMIT_PERSISTING_L2_CACHE_SIZE => Ok(3 * PERSISTING_UNIT),
        CUlimit::CU_LIMIT_SHMEM_SIZE => Ok(232_448),
        CUlimit::CU_LIMIT_CIG_ENABLED => Ok(0),
        CUlimit::CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH | CUlimit::CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED => {
            Err(code::UNSUPPORTED_LIMIT)
        }
        _ => Err(code::INVALID_VALUE),
    }
}

fn get(call: &Call<'_>, value: Out<usize>, limit: CUlimit) -> Answer {
    let state = call.state();
    let context = state.current(call.thread)?;
    let value = value.check()?;
    let default = default(limit)?;
    let entry = state.context_entry(context.handle)?;
    value.set(entry.limits.get(&limit.0).copied().unwrap_or(default));
    Ok(())
}

fn set(call: &Call<'_>, limit: CUlimit, value: usize) -> Answer {
    let mut state = call.state();
    let context = state.current(call.thread)?;
    default(limit)?;
    let heap = state.context_entry(context.handle)?.heap.is_some();
    let value = match limit {
        CUlimit::CU_LIMIT_STACK_SIZE if value > MAX_STACK => return Err(code::INVALID_VALUE),
        CUlimit::CU_LIMIT_STACK_SIZE => value.next_multiple_of(16),
        // A kernel has used the heap as it is.
        CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE if heap => return Err(code::INVALID_VALUE),
        CUlimit::CU_LIMIT_PRINTF_FIFO_SIZE => value.clamp(1, 1 << 32).next_multiple_of(512 << 10),
        CUlimit::CU_LIMIT_MAX_L2_FETCH_GRANULARITY if value > 128 => {
            return Err(code::INVALID_VALUE);
        }
        CUlimit::CU_LIMIT_PERSISTING_L2_CACHE_SIZE => {
            value.min(PERSISTING).next_multiple_of(PERSISTING_UNIT)
        }
        CUlimit::CU_LIMIT_SHMEM_SIZE | CUlimit::CU_LIMIT_CIG_ENABLED => {
            return Err(code::UNSUPPORTED_LIMIT);
        }
        _ => value,
    };
    state
        .contexts
        .get_mut(context.handle)?
        .limits
        .insert(limit.0, value);
    Ok(())
}
