//! Words that streams write and wait for: `CUDA_MEMOP`. The older functions, which a driver has to be told to allow, are missing.

use cuda_sys::{CUdeviceptr, CUstream, CUstreamBatchMemOpParams, CUstreamBatchMemOpType};

use super::prelude::*;
use crate::state::host_function;
use crate::state::queue::Work;
use crate::state::word::{Condition, Word};
use crate::submit::{Target, enqueue, target};
use crate::table::{expressed, shared_expression};

expressed! {
    cuStreamWriteValue32_v2 [cuStreamWriteValue32_v2_ptsz] |call| (stream: CUstream, address: CUdeviceptr, value: c_uint, flags: c_uint) =
        operate(call, stream, |state, target| Ok(vec![write(state, target, address, value.into(), 4, flags)?]));
    cuStreamWriteValue64_v2 [cuStreamWriteValue64_v2_ptsz] |call| (stream: CUstream, address: CUdeviceptr, value: u64, flags: c_uint) =
        operate(call, stream, |state, target| Ok(vec![write(state, target, address, value, 8, flags)?]));
    cuStreamWaitValue32_v2 [cuStreamWaitValue32_v2_ptsz] |call| (stream: CUstream, address: CUdeviceptr, value: c_uint, flags: c_uint) =
        operate(call, stream, |state, target| Ok(vec![wait(state, target, address, value.into(), 4, flags)?]));
    cuStreamWaitValue64_v2 [cuStreamWaitValue64_v2_ptsz] |call| (stream: CUstream, address: CUdeviceptr, value: u64, flags: c_uint) =
        operate(call, stream, |state, target| Ok(vec![wait(state, target, address, value, 8, flags)?]));
    cuStreamBatchMemOp_v2 [cuStreamBatchMemOp_v2_ptsz] |call| (
        stream: CUstream, count: c_uint, operations: In<CUstreamBatchMemOpParams>, flags: c_uint
    ) = operate(call, stream, |state, target| batch(state, target, count, operations, flags));
}

/// The most operations of a batch.
const MOST: u32 = 255;
/// `CU_STREAM_WAIT_VALUE_FLUSH`, which no device here can do.
const FLUSH: u32 = 1 << 30;

/// Enqueues operations, all of them or none.
fn operate(
    call: &Call<'_>,
    stream: CUstream,
    choose: impl FnOnce(&State, &Target) -> Result<Vec<Work>, CUresult>,
) -> Answer {
    let mut state = call.state();
    let target = target(call, &mut state, call.stream(stream))?;
    let works = choose(&state, &target)?;
    for work in works {
        let seen_by_host = match &work {
            Work::Put(word) => state
                .space
                .covering(word.address)
                .is_some_and(|block| block.is_host()),
            _ => false,
        };
        enqueue(call, &mut state, &target, work)?;
        if seen_by_host {
            // The host may look at the word without asking the driver for anything.
            host_function::run_soon(call.instance);
        }
    }
    Ok(())
}

/// A word that the stream's device can reach; managed memory has none.
fn word(
    state: &State,
    target: &Target,
    address: u64,
    value: u64,
    width: usize,
) -> Result<Word, CUresult> {
    let (block, len) = state.space.reachable(address).ok_or(code::INVALID_VALUE)?;
    let reached = state.reach(target.stream.context).includes(block) && !block.is_managed();
    if !reached || len < width || !address.is_multiple_of(width as u64) {
        return Err(code::INVALID_VALUE);
    }
    Ok(Word {
        address,
        width,
        value,
    })
}

fn write(
    state: &State,
    target: &Target,
    address: u64,
    value: u64,
    width: usize,
    flags: u32,
) -> Result<Work, CUresult> {
    if flags != 0 {
        return Err(code::INVALID_VALUE);
    }
    word(state, target, address, value, width).map(Work::Put)
}

fn wait(
    state: &State,
    target: &Target,
    address: u64,
    value: u64,
    width: usize,
    flags: u32,
) -> Result<Work, CUresult> {
    let condition = match flags & !FLUSH {
        0 => Condition::AtLeast,
        1 => Condition::Equal,
        2 => Condition::And,
        3 => Condition::Nor,
        _ => return Err(code::INVALID_VALUE),
    };
    let word = word(state, target, address, value, width)?;
    if flags & FLUSH != 0 {
        return Err(code::NOT_SUPPORTED);
    }
    Ok(Work::Await { word, condition })
}

fn batch(
    state: &State,
    target: &Target,
    count: c_uint,
    operations: In<CUstreamBatchMemOpParams>,
    flags: c_uint,
) -> Result<Vec<Work>, CUresult> {
    if flags != 0 || count > MOST {
        return Err(code::INVALID_VALUE);
    }
    (0..count as usize)
        .map(|index| one(state, target, &operations.at(index)?))
        .collect()
}

fn one(
    state: &State,
    target: &Target,
    operation: &CUstreamBatchMemOpParams,
) -> Result<Work, CUresult> {
    // SAFETY: every variant of the union starts with the kind and consists of plain integers, for which any bytes are valid.
    let kind = unsafe { operation.operation };
    // SAFETY: as above; the structures for writes and waits are the same.
    let params = unsafe { operation.waitValue };
    // SAFETY: as above; a word of 4 bytes uses the lower half.
    let value = unsafe { params.anonymous.value64 };
    let (address, flags) = (params.address, params.flags);
    match kind {
        CUstreamBatchMemOpType::CU_STREAM_MEM_OP_WAIT_VALUE_32 => {
            wait(state, target, address, value & 0xffff_ffff, 4, flags)
        }
        CUstreamBatchMemOpType::CU_STREAM_MEM_OP_WRITE_VALUE_32 => {
            write(state, target, address, value & 0xffff_ffff, 4, flags)
        }
        CUstreamBatchMemOpType::CU_STREAM_MEM_OP_WAIT_VALUE_64 => {
            wait(state, target, address, value, 8, flags)
        }
        CUstreamBatchMemOpType::CU_STREAM_MEM_OP_WRITE_VALUE_64 => {
            write(state, target, address, value, 8, flags)
        }
        CUstreamBatchMemOpType::CU_STREAM_MEM_OP_BARRIER => {
            // SAFETY: as above.
            let barrier = unsafe { operation.memoryBarrier };
            // A stream's operations see each other anyway.
            if barrier.flags <= 1 {
                Ok(Work::Wait)
            } else {
                Err(code::INVALID_VALUE)
            }
        }
        CUstreamBatchMemOpType::CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES => Err(code::NOT_SUPPORTED),
        _ => Err(code::INVALID_VALUE),
    }
}
