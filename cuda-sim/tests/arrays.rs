//! CUDA arrays, and copies into and out of them.

#![allow(
    clippy::field_reassign_with_default,
    reason = "the structures are filled as a C program fills them"
)]

mod support;

use std::ptr;

use cuda_sys::{
    CUDA_ARRAY_DESCRIPTOR, CUDA_ARRAY3D_DESCRIPTOR, CUDA_MEMCPY2D, CUarray, CUarray_format,
    CUmemorytype,
};
use support::{Rig, call, fails, ok};

const HOST: CUmemorytype = CUmemorytype::CU_MEMORYTYPE_HOST;
const DEVICE: CUmemorytype = CUmemorytype::CU_MEMORYTYPE_DEVICE;
const ARRAY: CUmemorytype = CUmemorytype::CU_MEMORYTYPE_ARRAY;

/// An array of 8 by 4 floats.
fn array(rig: &Rig) -> CUarray {
    let descriptor = CUDA_ARRAY_DESCRIPTOR {
        Width: 8,
        Height: 4,
        Format: CUarray_format::CU_AD_FORMAT_FLOAT,
        NumChannels: 1,
    };
    let mut array = ptr::null_mut();
    ok!(
        rig.cuda,
        cuArrayCreate_v2(&raw mut array, &raw const descriptor)
    );
    array
}

#[test]
fn arrays_hold_what_is_copied_into_them() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let array = array(&rig);
    let values: Vec<f32> = (0..32u8).map(f32::from).collect();
    let mut copy = CUDA_MEMCPY2D::default();
    copy.srcMemoryType = HOST;
    copy.srcHost = values.as_ptr().cast();
    copy.srcPitch = 32;
    copy.dstMemoryType = ARRAY;
    copy.dstArray = array;
    (copy.WidthInBytes, copy.Height) = (32, 4);
    ok!(cuda, cuMemcpy2D_v2(&raw const copy));

    // A part of it to the device, and the same bytes in a line.
    let memory = rig.memory(64);
    let mut out = CUDA_MEMCPY2D::default();
    out.srcMemoryType = ARRAY;
    out.srcArray = array;
    (out.srcXInBytes, out.srcY) = (8, 1);
    out.dstMemoryType = DEVICE;
    out.dstDevice = memory;
    out.dstPitch = 8;
    (out.WidthInBytes, out.Height) = (8, 2);
    ok!(cuda, cuMemcpy2D_v2(&raw const out));
    let floats = |address, len| -> Vec<f32> {
        rig.download(address, len)
            .into_iter()
            .map(f32::from_bits)
            .collect()
    };
    assert_eq!(floats(memory, 4), [10.0, 11.0, 18.0, 19.0]);
    // A line of bytes stays within the first row.
    ok!(cuda, cuMemcpyDtoA_v2(array, 0, memory, 8));
    ok!(cuda, cuMemcpyAtoA_v2(array, 16, array, 4, 4));
    ok!(cuda, cuMemcpyAtoD_v2(memory, array, 0, 32));
    assert_eq!(floats(memory, 5), [10.0, 11.0, 2.0, 3.0, 11.0]);
    let mut back = [0f32; 3];
    let stream = rig.stream(0);
    ok!(
        cuda,
        cuMemcpyAtoH_v2(back.as_mut_ptr().cast(), array, 12, 12)
    );
    assert_eq!(back, [3.0, 11.0, 5.0]);
    ok!(cuda, cuMemcpyHtoA_v2(array, 24, values.as_ptr().cast(), 8));
    ok!(
        cuda,
        cuMemcpyHtoAAsync_v2(array, 20, values[7..].as_ptr().cast(), 4, stream)
    );
    ok!(
        cuda,
        cuMemcpyAtoHAsync_v2(back.as_mut_ptr().cast(), array, 20, 12, stream)
    );
    assert_eq!(back, [7.0, 0.0, 1.0]);

    for change in [
        |copy: &mut CUDA_MEMCPY2D| copy.Height = 5,
        |copy: &mut CUDA_MEMCPY2D| copy.WidthInBytes = 33,
        |copy: &mut CUDA_MEMCPY2D| copy.dstXInBytes = 4,
        |copy: &mut CUDA_MEMCPY2D| copy.dstY = 1,
    ] {
        let mut copy = copy;
        change(&mut copy);
        fails!(1, cuda, cuMemcpy2D_v2(&raw const copy));
    }
    for (offset, len) in [(28, 8), (32, 4), (0, 36), (usize::MAX, 4)] {
        let from = values.as_ptr().cast();
        fails!(1, cuda, cuMemcpyHtoA_v2(array, offset, from, len));
    }
    fails!(
        1,
        cuda,
        cuMemcpyHtoA_v2(ptr::null_mut(), 0, values.as_ptr().cast(), 4)
    );
    ok!(cuda, cuArrayDestroy(array));
    fails!(400, cuda, cuArrayDestroy(array));
    fails!(
        400,
        cuda,
        cuMemcpyHtoA_v2(array, 0, values.as_ptr().cast(), 4)
    );
    assert_eq!(rig.simulator.reports(), []);
}

#[test]
fn arrays_are_described_and_counted() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let made = array(&rig);
    let mut flat = CUDA_ARRAY_DESCRIPTOR::default();
    ok!(cuda, cuArrayGetDescriptor_v2(&raw mut flat, made));
    assert_eq!((flat.Width, flat.Height, flat.NumChannels), (8, 4, 1));
    let mut deep = CUDA_ARRAY3D_DESCRIPTOR::default();
    ok!(cuda, cuArray3DGetDescriptor_v2(&raw mut deep, made));
    assert_eq!(
        (deep.Width, deep.Height, deep.Depth, deep.Flags),
        (8, 4, 0, 0)
    );
    let leaks = rig.simulator.leaks();
    let arrays = leaks
        .iter()
        .filter(|leak| leak.kind == cuda_sim::LeakKind::Array);
    assert_eq!(arrays.map(|leak| leak.size).collect::<Vec<_>>(), [128]);

    let create = |change: &dyn Fn(&mut CUDA_ARRAY3D_DESCRIPTOR)| {
        let mut descriptor = deep;
        change(&mut descriptor);
        let mut array = ptr::null_mut();
        call!(
            cuda,
            cuArray3DCreate_v2(&raw mut array, &raw const descriptor)
        )
        .0
    };
    const LAYERED: u32 = 1;
    const CUBEMAP: u32 = 4;
    const SPARSE: u32 = 0x40;
    assert_eq!(create(&|it| it.Depth = 3), 0);
    assert_eq!(
        create(&|it| (it.Height, it.Depth, it.Flags) = (0, 3, LAYERED)),
        0
    );
    assert_eq!(
        create(&|it| (it.Height, it.Depth, it.Flags) = (8, 6, CUBEMAP)),
        0
    );
    assert_eq!(
        create(&|it| (it.Height, it.Depth, it.Flags) = (8, 5, CUBEMAP)),
        1
    );
    assert_eq!(create(&|it| (it.Depth, it.Flags) = (6, CUBEMAP)), 1);
    assert_eq!(create(&|it| (it.Depth, it.Flags) = (0, LAYERED)), 1);
    assert_eq!(create(&|it| it.Width = 0), 1);
    assert_eq!(create(&|it| it.Width = 1 << 20), 1);
    assert_eq!(create(&|it| it.NumChannels = 3), 1);
    assert_eq!(create(&|it| it.NumChannels = 4), 0);
    assert_eq!(create(&|it| it.Format = CUarray_format(77)), 1);
    assert_eq!(create(&|it| it.Flags = SPARSE), 801);
    fails!(1, cuda, cuArrayCreate_v2(ptr::null_mut(), &raw const flat));
    fails!(
        400,
        cuda,
        cuArrayGetDescriptor_v2(&raw mut flat, ptr::null_mut())
    );
}

#[test]
fn arrays_go_with_their_context() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let mut context = ptr::null_mut();
    ok!(cuda, cuCtxCreate_v2(&raw mut context, 0, rig.device));
    let array = array(&rig);
    ok!(cuda, cuCtxDestroy_v2(context));
    fails!(
        400,
        cuda,
        cuMemcpyHtoA_v2(array, 0, [0u8; 4].as_ptr().cast(), 4)
    );
    let mut free = [0; 2];
    let [before, total] = free.each_mut();
    ok!(cuda, cuMemGetInfo_v2(before, total));
    assert_eq!(free[0], free[1], "its memory is free again");
}
