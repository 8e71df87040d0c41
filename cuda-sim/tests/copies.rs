//! Copies and fills of boxes, and batches of copies.

#![allow(
    clippy::field_reassign_with_default,
    reason = "the structures are filled as a C program fills them"
)]

mod support;

use std::ffi::c_void;
use std::ptr;

use cuda_sim::ReportKind;
use cuda_sys::{CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUDA_MEMCPY3D_PEER, CUmemorytype};
use support::{Rig, call, fails, ok};

const HOST: CUmemorytype = CUmemorytype::CU_MEMORYTYPE_HOST;
const DEVICE: CUmemorytype = CUmemorytype::CU_MEMORYTYPE_DEVICE;
const UNIFIED: CUmemorytype = CUmemorytype::CU_MEMORYTYPE_UNIFIED;

/// A copy of 3 rows of 4 bytes, from rows 16 bytes apart on the host to rows 8 bytes apart on the device.
fn to_device(from: *const c_void, to: u64) -> CUDA_MEMCPY2D {
    let mut copy = CUDA_MEMCPY2D::default();
    copy.srcMemoryType = HOST;
    copy.srcHost = from;
    copy.srcPitch = 16;
    copy.dstMemoryType = DEVICE;
    copy.dstDevice = to;
    copy.dstPitch = 8;
    copy.WidthInBytes = 4;
    copy.Height = 3;
    copy
}

fn bytes(rig: &Rig, address: u64, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    ok!(
        rig.cuda,
        cuMemcpyDtoH_v2(bytes.as_mut_ptr().cast(), address, len)
    );
    bytes
}

#[test]
fn flat_copies_move_their_rows_only() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let host: Vec<u8> = (0..64).collect();
    let memory = rig.memory(24);
    ok!(cuda, cuMemsetD8_v2(memory, 0xff, 24));
    let mut copy = to_device(host.as_ptr().cast(), memory);
    copy.srcXInBytes = 2;
    copy.srcY = 1;
    copy.dstXInBytes = 4;
    ok!(cuda, cuMemcpy2D_v2(&raw const copy));
    let mut wanted = vec![0xff; 24];
    for (row, first) in [18, 34, 50].into_iter().enumerate() {
        wanted[row * 8 + 4..row * 8 + 8].copy_from_slice(&[first, first + 1, first + 2, first + 3]);
    }
    assert_eq!(bytes(&rig, memory, 24), wanted);

    // Back to the host in a stream, through unified addresses, and within the device.
    let stream = rig.stream(1);
    let mut back = vec![0u8; 64];
    let mut copy = CUDA_MEMCPY2D::default();
    copy.srcMemoryType = UNIFIED;
    copy.srcDevice = memory + 4;
    copy.srcPitch = 8;
    copy.dstMemoryType = UNIFIED;
    copy.dstDevice = back.as_mut_ptr().expose_provenance() as u64;
    copy.dstPitch = 20;
    copy.WidthInBytes = 4;
    copy.Height = 3;
    ok!(cuda, cuMemcpy2DAsync_v2(&raw const copy, stream));
    assert_eq!(back[20..26], [34, 35, 36, 37, 0, 0]);
    let other = rig.memory(12);
    copy.dstDevice = other;
    copy.dstPitch = 4;
    ok!(cuda, cuMemcpy2DUnaligned_v2(&raw const copy));
    assert_eq!(bytes(&rig, other, 12)[4..8], [34, 35, 36, 37]);
    assert_eq!(rig.simulator.reports(), []);
}

#[test]
fn flat_copies_are_checked() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let host = [0u8; 64];
    let memory = rig.memory(24);
    let good = to_device(host.as_ptr().cast(), memory);
    let refused = |change: &dyn Fn(&mut CUDA_MEMCPY2D)| {
        let mut copy = good;
        change(&mut copy);
        fails!(1, cuda, cuMemcpy2D_v2(&raw const copy));
        fails!(
            1,
            cuda,
            cuMemcpy2DAsync_v2(&raw const copy, ptr::null_mut())
        );
    };
    refused(&|copy| copy.dstPitch = 3);
    refused(&|copy| copy.dstXInBytes = 5);
    refused(&|copy| copy.dstY = 1);
    refused(&|copy| copy.Height = 4);
    refused(&|copy| copy.dstDevice = 0);
    refused(&|copy| copy.srcHost = ptr::null());
    refused(&|copy| copy.srcMemoryType = CUmemorytype(0));
    refused(&|copy| copy.srcMemoryType = CUmemorytype(7));
    refused(&|copy| copy.srcY = usize::MAX);
    refused(&|copy| copy.srcXInBytes = usize::MAX);
    refused(&|copy| copy.srcPitch = usize::MAX);
    refused(&|copy| copy.WidthInBytes = usize::MAX);
    refused(&|copy| copy.Height = usize::MAX);
    fails!(1, cuda, cuMemcpy2D_v2(ptr::null()));
    let mut copy = good;
    copy.srcMemoryType = CUmemorytype::CU_MEMORYTYPE_ARRAY;
    fails!(1, cuda, cuMemcpy2D_v2(&raw const copy));
    for (width, height) in [(0, 3), (4, 0)] {
        let mut copy = good;
        (copy.WidthInBytes, copy.Height) = (width, height);
        ok!(cuda, cuMemcpy2D_v2(&raw const copy));
    }
    // The last row may end where the allocation ends.
    let mut copy = good;
    copy.dstXInBytes = 4;
    ok!(cuda, cuMemcpy2D_v2(&raw const copy));
    // Without a pitch, the rows follow each other.
    let mut copy = good;
    let host: Vec<u8> = (0..64).collect();
    (copy.srcHost, copy.srcPitch, copy.dstPitch) = (host.as_ptr().cast(), 0, 0);
    ok!(cuda, cuMemcpy2D_v2(&raw const copy));
    assert_eq!(bytes(&rig, memory, 12), host[..12]);
}

#[test]
fn deep_copies_move_their_box_only() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let host: Vec<u8> = (0..120).collect();
    // Slices of 4 rows of 5 bytes, on the device of 3 rows of 4.
    let memory = rig.memory(4 * 3 * 4);
    ok!(cuda, cuMemsetD8_v2(memory, 0, 48));
    let mut copy = CUDA_MEMCPY3D::default();
    copy.srcMemoryType = HOST;
    copy.srcHost = host.as_ptr().cast();
    (copy.srcPitch, copy.srcHeight) = (5, 4);
    (copy.srcXInBytes, copy.srcY, copy.srcZ) = (1, 2, 3);
    copy.dstMemoryType = DEVICE;
    copy.dstDevice = memory;
    (copy.dstPitch, copy.dstHeight) = (4, 3);
    copy.dstZ = 1;
    (copy.WidthInBytes, copy.Height, copy.Depth) = (3, 2, 2);
    ok!(cuda, cuMemcpy3D_v2(&raw const copy));
    let found = bytes(&rig, memory, 48);
    assert_eq!(found[12..20], [71, 72, 73, 0, 76, 77, 78, 0]);
    assert_eq!(found[24..32], [91, 92, 93, 0, 96, 97, 98, 0]);
    assert!(
        found[..12]
            .iter()
            .chain(&found[32..])
            .all(|byte| *byte == 0)
    );

    let mut peer = CUDA_MEMCPY3D_PEER::default();
    peer.srcMemoryType = DEVICE;
    peer.srcDevice = memory + 12;
    peer.srcContext = rig.context;
    (peer.srcPitch, peer.srcHeight) = (4, 3);
    peer.dstMemoryType = DEVICE;
    peer.dstDevice = memory;
    peer.dstContext = rig.context;
    (peer.dstPitch, peer.dstHeight) = (4, 2);
    (peer.WidthInBytes, peer.Height, peer.Depth) = (2, 1, 2);
    ok!(cuda, cuMemcpy3DPeerAsync(&raw const peer, ptr::null_mut()));
    assert_eq!(bytes(&rig, memory, 10), [71, 72, 0, 0, 0, 0, 0, 0, 91, 92]);
    peer.srcContext = ptr::null_mut();
    ok!(cuda, cuMemcpy3DPeer(&raw const peer));
    peer.srcContext = ptr::dangling_mut();
    fails!(201, cuda, cuMemcpy3DPeer(&raw const peer));

    let refused = |change: &dyn Fn(&mut CUDA_MEMCPY3D)| {
        let mut copy = copy;
        change(&mut copy);
        fails!(1, cuda, cuMemcpy3D_v2(&raw const copy));
        fails!(
            1,
            cuda,
            cuMemcpy3DAsync_v2(&raw const copy, ptr::null_mut())
        );
    };
    refused(&|copy| copy.dstHeight = 1);
    refused(&|copy| copy.srcHeight = 3);
    refused(&|copy| copy.Depth = 4);
    refused(&|copy| copy.dstZ = 3);
    refused(&|copy| copy.srcHeight = usize::MAX);
    ok!(cuda, cuMemcpy3D_v2(&raw const copy));
    assert_eq!(rig.simulator.reports(), []);
}

#[test]
fn a_row_that_nobody_wrote_is_found_and_a_gap_is_not() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let memory = rig.memory(32);
    let mut back = [0u8; 12];
    let mut copy = CUDA_MEMCPY2D::default();
    copy.srcMemoryType = DEVICE;
    copy.srcDevice = memory;
    copy.srcPitch = 8;
    copy.dstMemoryType = HOST;
    copy.dstHost = back.as_mut_ptr().cast();
    copy.dstPitch = 4;
    (copy.WidthInBytes, copy.Height) = (4, 3);
    ok!(cuda, cuMemsetD2D8_v2(memory, 8, 7, 4, 3));
    ok!(cuda, cuMemcpy2D_v2(&raw const copy));
    assert_eq!(back, [7; 12]);
    assert_eq!(rig.simulator.reports(), []);
    copy.srcXInBytes = 1;
    ok!(cuda, cuMemcpy2D_v2(&raw const copy));
    let reports = rig.simulator.reports();
    assert_eq!(reports.len(), 1);
    assert_eq!(reports[0].kind, ReportKind::UninitialisedRead);
    assert_eq!(reports[0].address, Some(memory + 4));
}

#[test]
fn flat_fills_write_their_rows_only() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let memory = rig.memory(48);
    let stream = rig.stream(1);
    ok!(cuda, cuMemsetD8_v2(memory, 0, 48));
    ok!(cuda, cuMemsetD2D32_v2(memory, 16, 0x0102_0304, 2, 2));
    ok!(cuda, cuMemsetD2D16_v2(memory + 10, 16, 0x0506, 1, 2));
    ok!(cuda, cuCtxSynchronize());
    ok!(cuda, cuMemsetD2D8Async(memory + 12, 16, 9, 1, 3, stream));
    ok!(cuda, cuStreamSynchronize(stream));
    let row = [4, 3, 2, 1, 4, 3, 2, 1, 0, 0, 6, 5, 9, 0, 0, 0];
    let found = bytes(&rig, memory, 48);
    assert_eq!(found[..16], row);
    assert_eq!(found[16..32], row);
    assert_eq!(
        found[32..],
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0]
    );

    fails!(1, cuda, cuMemsetD2D8_v2(memory, 3, 1, 4, 2));
    fails!(1, cuda, cuMemsetD2D16_v2(memory, 17, 1, 4, 2));
    fails!(1, cuda, cuMemsetD2D32_v2(memory, 18, 1, 4, 2));
    fails!(1, cuda, cuMemsetD2D32_v2(memory + 2, 16, 1, 1, 2));
    fails!(1, cuda, cuMemsetD2D8_v2(memory, 16, 1, 4, 4));
    fails!(1, cuda, cuMemsetD2D8_v2(memory, usize::MAX, 1, 4, 4));
    fails!(
        1,
        cuda,
        cuMemsetD2D32Async(memory, 16, 1, usize::MAX, 4, stream)
    );
    ok!(cuda, cuMemsetD2D8_v2(memory, 16, 1, 0, 4));
    ok!(cuda, cuMemsetD2D8_v2(memory, 16, 1, 4, 0));
}

#[test]
fn batches_copy_each_of_their_parts() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let (a, b) = (rig.upload(&[1, 2, 3, 4]), rig.memory(16));
    let stream = rig.stream(1);
    ok!(cuda, cuMemsetD32_v2(b, 0, 4));
    ok!(cuda, cuCtxSynchronize());
    let mut attributes = cuda_sys::CUmemcpyAttributes::default();
    attributes.srcAccessOrder = cuda_sys::CUmemcpySrcAccessOrder(1);
    let (mut to, mut from, mut lens, mut start) = ([b, b + 12], [a + 4, a], [8, 4], 0);
    let mut batch = |count, order, stream| {
        attributes.srcAccessOrder = cuda_sys::CUmemcpySrcAccessOrder(order);
        call!(
            cuda,
            cuMemcpyBatchAsync_v2(
                to.as_mut_ptr(),
                from.as_mut_ptr(),
                lens.as_mut_ptr(),
                count,
                &raw mut attributes,
                &raw mut start,
                1,
                stream
            )
        )
        .0
    };
    assert_eq!(batch(2, 1, stream), 0);
    ok!(cuda, cuStreamSynchronize(stream));
    assert_eq!(rig.download(b, 4), [2, 3, 0, 1]);
    assert_eq!(batch(0, 1, stream), 1);
    assert_eq!(batch(2, 0, stream), 1);
    assert_eq!(batch(2, 1, ptr::null_mut()), 1);
}
