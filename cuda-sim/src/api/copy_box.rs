//! Copies of two- and three-dimensional boxes of bytes.

use cuda_sys::{CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUDA_MEMCPY3D_PEER, CUmemorytype, CUstream};

use super::prelude::*;
use super::transfer::When::{InOrder, Now};
use super::transfer::{Memory, Side, When, check_peers, copy_box};
use crate::args::host_address;
use crate::state::transfer::Extent;
use crate::table::{expressed, shared_expression};

expressed! {
    cuMemcpy2D_v2 [cuMemcpy2D_v2_ptds] |call| (copy: In<CUDA_MEMCPY2D>) = flat(call, Now, copy);
    cuMemcpy2DUnaligned_v2 [cuMemcpy2DUnaligned_v2_ptds] |call| (copy: In<CUDA_MEMCPY2D>) = flat(call, Now, copy);
    cuMemcpy2DAsync_v2 [cuMemcpy2DAsync_v2_ptsz] |call| (copy: In<CUDA_MEMCPY2D>, stream: CUstream) =
        flat(call, InOrder(stream), copy);
    cuMemcpy3D_v2 [cuMemcpy3D_v2_ptds] |call| (copy: In<CUDA_MEMCPY3D>) = deep(call, Now, copy);
    cuMemcpy3DAsync_v2 [cuMemcpy3DAsync_v2_ptsz] |call| (copy: In<CUDA_MEMCPY3D>, stream: CUstream) =
        deep(call, InOrder(stream), copy);
    cuMemcpy3DPeer [cuMemcpy3DPeer_ptds] |call| (copy: In<CUDA_MEMCPY3D_PEER>) = peer(call, Now, copy);
    cuMemcpy3DPeerAsync [cuMemcpy3DPeerAsync_ptsz] |call| (copy: In<CUDA_MEMCPY3D_PEER>, stream: CUstream) =
        peer(call, InOrder(stream), copy);
}

/// The memory that a structure names: the field that counts depends on the type.
macro_rules! memory {
    ($copy:ident, $type:ident, $host:ident, $device:ident, $array:ident) => {
        match $copy.$type {
            CUmemorytype::CU_MEMORYTYPE_HOST => Memory::Host(host_address($copy.$host)),
            CUmemorytype::CU_MEMORYTYPE_DEVICE => Memory::Device($copy.$device),
            CUmemorytype::CU_MEMORYTYPE_UNIFIED => Memory::Any($copy.$device),
            CUmemorytype::CU_MEMORYTYPE_ARRAY => Memory::Array(number($copy.$array)),
            _ => return Err(code::INVALID_VALUE),
        }
    };
}

fn flat(call: &Call<'_>, when: When, copy: In<CUDA_MEMCPY2D>) -> Answer {
    let copy = copy.get()?;
    let to = Side {
        memory: memory!(copy, dstMemoryType, dstHost, dstDevice, dstArray),
        offset: [copy.dstXInBytes, copy.dstY, 0],
        pitch: copy.dstPitch,
        height: 0,
    };
    let from = Side {
        memory: memory!(copy, srcMemoryType, srcHost, srcDevice, srcArray),
        offset: [copy.srcXInBytes, copy.srcY, 0],
        pitch: copy.srcPitch,
        height: 0,
    };
    let extent = Extent {
        width: copy.WidthInBytes,
        height: copy.Height,
        depth: 1,
    };
    copy_box(call, when, to, from, extent)
}

/// The sides and the extent of a three-dimensional copy, whose two structures have the same fields. Levels of detail are not looked at.
macro_rules! deep {
    ($copy:ident) => {{
        let to = Side {
            memory: memory!($copy, dstMemoryType, dstHost, dstDevice, dstArray),
            offset: [$copy.dstXInBytes, $copy.dstY, $copy.dstZ],
            pitch: $copy.dstPitch,
            height: $copy.dstHeight,
        };
        let from = Side {
            memory: memory!($copy, srcMemoryType, srcHost, srcDevice, srcArray),
            offset: [$copy.srcXInBytes, $copy.srcY, $copy.srcZ],
            pitch: $copy.srcPitch,
            height: $copy.srcHeight,
        };
        let extent = Extent {
            width: $copy.WidthInBytes,
            height: $copy.Height,
            depth: $copy.Depth,
        };
        (to, from, extent)
    }};
}

fn deep(call: &Call<'_>, when: When, copy: In<CUDA_MEMCPY3D>) -> Answer {
    let copy = copy.get()?;
    let (to, from, extent) = deep!(copy);
    copy_box(call, when, to, from, extent)
}

fn peer(call: &Call<'_>, when: When, copy: In<CUDA_MEMCPY3D_PEER>) -> Answer {
    let copy = copy.get()?;
    let (to, from, extent) = deep!(copy);
    check_peers(call, [copy.dstContext, copy.srcContext])?;
    copy_box(call, when, to, from, extent)
}
