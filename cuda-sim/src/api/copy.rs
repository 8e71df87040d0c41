//! Copies of lines of bytes: linear memory, and CUDA arrays byte by byte.

use cuda_sys::{CUarray, CUcontext, CUdeviceptr, CUmemcpyAttributes, CUstream};

use super::prelude::*;
use super::transfer::When::{InOrder, Now};
use super::transfer::{any, array, check_peers, copy, device, host};
use crate::table::{expressed, shared_expression};

expressed! {
    cuMemcpy [cuMemcpy_ptds] |call| (to: CUdeviceptr, from: CUdeviceptr, len: usize) =
        copy(call, Now, any(to), any(from), len);
    cuMemcpyAsync [cuMemcpyAsync_ptsz] |call| (to: CUdeviceptr, from: CUdeviceptr, len: usize, stream: CUstream) =
        copy(call, InOrder(stream), any(to), any(from), len);
    cuMemcpyHtoD_v2 [cuMemcpyHtoD_v2_ptds] |call| (to: CUdeviceptr, from: *const c_void, len: usize) =
        copy(call, Now, device(to), host(from), len);
    cuMemcpyHtoDAsync_v2 [cuMemcpyHtoDAsync_v2_ptsz] |call| (to: CUdeviceptr, from: *const c_void, len: usize, stream: CUstream) =
        copy(call, InOrder(stream), device(to), host(from), len);
    cuMemcpyDtoH_v2 [cuMemcpyDtoH_v2_ptds] |call| (to: *mut c_void, from: CUdeviceptr, len: usize) =
        copy(call, Now, host(to), device(from), len);
    cuMemcpyDtoHAsync_v2 [cuMemcpyDtoHAsync_v2_ptsz] |call| (to: *mut c_void, from: CUdeviceptr, len: usize, stream: CUstream) =
        copy(call, InOrder(stream), host(to), device(from), len);
    cuMemcpyDtoD_v2 [cuMemcpyDtoD_v2_ptds] |call| (to: CUdeviceptr, from: CUdeviceptr, len: usize) =
        copy(call, Now, device(to), device(from), len);
    cuMemcpyDtoDAsync_v2 [cuMemcpyDtoDAsync_v2_ptsz] |call| (to: CUdeviceptr, from: CUdeviceptr, len: usize, stream: CUstream) =
        copy(call, InOrder(stream), device(to), device(from), len);

    cuMemcpyPeer [cuMemcpyPeer_ptds] |call| (
        to: CUdeviceptr, to_context: CUcontext, from: CUdeviceptr, from_context: CUcontext, len: usize
    ) = check_peers(call, [to_context, from_context]).and_then(|()| copy(call, Now, device(to), device(from), len));
    cuMemcpyPeerAsync [cuMemcpyPeerAsync_ptsz] |call| (
        to: CUdeviceptr, to_context: CUcontext, from: CUdeviceptr, from_context: CUcontext, len: usize, stream: CUstream
    ) = check_peers(call, [to_context, from_context]).and_then(|()| copy(call, InOrder(stream), device(to), device(from), len));

    cuMemcpyHtoA_v2 [cuMemcpyHtoA_v2_ptds] |call| (to: CUarray, offset: usize, from: *const c_void, len: usize) =
        copy(call, Now, array(to, offset), host(from), len);
    cuMemcpyHtoAAsync_v2 [cuMemcpyHtoAAsync_v2_ptsz] |call| (
        to: CUarray, offset: usize, from: *const c_void, len: usize, stream: CUstream
    ) = copy(call, InOrder(stream), array(to, offset), host(from), len);
    cuMemcpyAtoH_v2 [cuMemcpyAtoH_v2_ptds] |call| (to: *mut c_void, from: CUarray, offset: usize, len: usize) =
        copy(call, Now, host(to), array(from, offset), len);
    cuMemcpyAtoHAsync_v2 [cuMemcpyAtoHAsync_v2_ptsz] |call| (
        to: *mut c_void, from: CUarray, offset: usize, len: usize, stream: CUstream
    ) = copy(call, InOrder(stream), host(to), array(from, offset), len);
    cuMemcpyDtoA_v2 [cuMemcpyDtoA_v2_ptds] |call| (to: CUarray, offset: usize, from: CUdeviceptr, len: usize) =
        copy(call, Now, array(to, offset), device(from), len);
    cuMemcpyAtoD_v2 [cuMemcpyAtoD_v2_ptds] |call| (to: CUdeviceptr, from: CUarray, offset: usize, len: usize) =
        copy(call, Now, device(to), array(from, offset), len);
    cuMemcpyAtoA_v2 [cuMemcpyAtoA_v2_ptds] |call| (
        to: CUarray, to_offset: usize, from: CUarray, from_offset: usize, len: usize
    ) = copy(call, Now, array(to, to_offset), array(from, from_offset), len);

    cuMemcpyBatchAsync_v2 [cuMemcpyBatchAsync_v2_ptsz] |call| (
        to: In<CUdeviceptr>, from: In<CUdeviceptr>, lens: In<usize>, count: usize,
        attributes: In<CUmemcpyAttributes>, starts: In<usize>, attribute_count: usize, stream: CUstream
    ) = batch(call, Batch { to, from, lens, count }, Attributes { attributes, starts, count: attribute_count }, stream);
}

/// The copies of a batch.
#[derive(Clone, Copy)]
struct Batch {
    to: In<CUdeviceptr>,
    from: In<CUdeviceptr>,
    lens: In<usize>,
    count: usize,
}

/// What holds for the copies of a batch: each from its start to the start of the next.
#[derive(Clone, Copy)]
struct Attributes {
    attributes: In<CUmemcpyAttributes>,
    starts: In<usize>,
    count: usize,
}

impl Attributes {
    /// Refuses what makes no sense for `copies` copies.
    fn check(self, copies: usize) -> Answer {
        if !(1..=copies).contains(&self.count) || self.starts.at(0)? != 0 {
            return Err(code::INVALID_VALUE);
        }
        let mut last = None;
        for index in 0..self.count {
            let start = self.starts.at(index)?;
            // When a source may be read: in stream order, during the call, or at any time.
            let order = self.attributes.at(index)?.srcAccessOrder.0;
            if last.is_some_and(|last| start <= last)
                || start >= copies
                || !(1..=3).contains(&order)
            {
                return Err(code::INVALID_VALUE);
            }
            last = Some(start);
        }
        Ok(())
    }
}

fn batch(call: &Call<'_>, batch: Batch, attributes: Attributes, stream: CUstream) -> Answer {
    // The legacy default stream has no batches.
    if batch.count == 0 || call.stream(stream) < 2 {
        return Err(code::INVALID_VALUE);
    }
    attributes.check(batch.count)?;
    for index in 0..batch.count {
        let (to, from) = (batch.to.at(index)?, batch.from.at(index)?);
        copy(
            call,
            InOrder(stream),
            any(to),
            any(from),
            batch.lens.at(index)?,
        )?;
    }
    Ok(())
}
