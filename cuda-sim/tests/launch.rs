//! Launches: arguments, shapes, limits, and the kernels' results.

mod support;

use std::ffi::c_void;
use std::ptr;

use cuda_sys::CUfunction_attribute;
use support::{Rig, SUCCESS, call, fails, ok};

#[test]
fn vector_add_gives_the_sum() {
    let rig = Rig::new();
    let n = 1000u32;
    let a: Vec<u32> = (0..n).collect();
    let b: Vec<u32> = (0..n).map(|i| i * 10).collect();
    let (mut a, mut b, mut sum) = (rig.upload(&a), rig.upload(&b), rig.memory(4 * n as usize));
    let vector_add = rig.kernel("vector_add");
    let stream = rig.stream(0);
    let mut len = n;
    let mut params: [*mut c_void; 4] = [
        (&raw mut a).cast(),
        (&raw mut b).cast(),
        (&raw mut sum).cast(),
        (&raw mut len).cast(),
    ];
    ok!(
        rig.cuda,
        cuLaunchKernel(
            vector_add,
            4,
            1,
            1,
            256,
            1,
            1,
            0,
            stream,
            params.as_mut_ptr(),
            ptr::null_mut()
        )
    );
    ok!(rig.cuda, cuStreamSynchronize(stream));
    let expected: Vec<u32> = (0..n).map(|i| i * 11).collect();
    assert_eq!(rig.download(sum, n as usize), expected);
    assert_eq!(rig.simulator.reports(), []);
}

#[test]
fn module_variables_keep_their_values_between_launches() {
    let rig = Rig::new();
    let module = rig.load(support::KERNELS);
    let count = rig.function(module, "count");
    let to = rig.memory(4);
    for expected in 7..10 {
        assert_eq!(rig.launch(count, 1, 1, ptr::null_mut(), &[to]), SUCCESS);
        assert_eq!(rig.download(to, 1), [expected]);
    }
    let (mut address, mut size) = (0, 0);
    ok!(
        rig.cuda,
        cuModuleGetGlobal_v2(&raw mut address, &raw mut size, module, c"counter".as_ptr())
    );
    assert_eq!((rig.download(address, 1), size), (vec![10], 4));
    let wide = rig.memory(8);
    assert_eq!(
        rig.launch(
            rig.function(module, "read_table"),
            1,
            1,
            ptr::null_mut(),
            &[wide]
        ),
        SUCCESS
    );
    assert_eq!(rig.download(wide, 2), [22, 0]);
}

#[test]
fn shapes_are_checked_as_by_the_driver() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let module = rig.load(support::KERNELS);
    let stream = rig.stream(0);
    let nothing = rig.function(module, "nothing");
    let launch = |function, grid: [u32; 3], block: [u32; 3], shared: u32| {
        let ([gx, gy, gz], [bx, by, bz]) = (grid, block);
        let none = ptr::null_mut();
        call!(
            cuda,
            cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, stream, none, none)
        )
        .0
    };
    assert_eq!(launch(nothing, [1; 3], [1; 3], 0), 0);
    for grid in [
        [0, 1, 1],
        [1, 65_536, 1],
        [1, 1, 65_536],
        [0x8000_0000, 1, 1],
    ] {
        assert_eq!(launch(nothing, grid, [1; 3], 0), 1, "grid {grid:?}");
    }
    for block in [
        [0, 1, 1],
        [1, 1, 0],
        [2048, 1, 1],
        [1025, 1, 1],
        [1, 1, 65],
        [1024, 2, 1],
    ] {
        assert_eq!(launch(nothing, [1; 3], block, 0), 1, "block {block:?}");
    }
    assert_eq!(launch(nothing, [1; 3], [1; 3], 49_152), 0);
    assert_eq!(launch(nothing, [1; 3], [1; 3], 49_153), 1);
    let dynamic = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    ok!(cuda, cuFuncSetAttribute(nothing, dynamic, 100_000));
    assert_eq!(launch(nothing, [1; 3], [1; 3], 100_000), 0);
    assert_eq!(launch(nothing, [1; 3], [1; 3], 100_001), 1);
    fails!(1, cuda, cuFuncSetAttribute(nothing, dynamic, 300_000));
    let small = rig.function(module, "small_blocks");
    assert_eq!(
        [[64, 1, 1], [8, 8, 1], [65, 1, 1]].map(|block| launch(small, [1; 3], block, 0)),
        [0, 0, 1]
    );
    let fixed = rig.function(module, "fixed_blocks");
    assert_eq!(
        [[8, 4, 1], [4, 8, 1], [8, 1, 1]].map(|block| launch(fixed, [1; 3], block, 0)),
        [0, 1, 1]
    );
    fails!(
        400,
        cuda,
        cuLaunchKernel(
            ptr::null_mut(),
            1,
            1,
            1,
            1,
            1,
            1,
            0,
            stream,
            ptr::null_mut(),
            ptr::null_mut()
        )
    );
}

#[test]
fn parameters_come_as_pointers_or_as_one_buffer() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let increment = rig.kernel("increment");
    let (from, to) = (rig.upload(&[1]), rig.upload(&[0]));
    let buffer = |bytes: &[u64], mut size: usize| {
        let mut extra = [
            cuda_sys::CU_LAUNCH_PARAM_BUFFER_POINTER,
            bytes.as_ptr().cast_mut().cast::<c_void>(),
            cuda_sys::CU_LAUNCH_PARAM_BUFFER_SIZE,
            (&raw mut size).cast(),
            cuda_sys::CU_LAUNCH_PARAM_END,
        ];
        call!(
            cuda,
            cuLaunchKernel(
                increment,
                1,
                1,
                1,
                1,
                1,
                1,
                0,
                ptr::null_mut(),
                ptr::null_mut(),
                extra.as_mut_ptr()
            )
        )
        .0
    };
    assert_eq!(buffer(&[to, from], 16), 0);
    assert_eq!(rig.download(to, 1), [2]);
    assert_eq!(buffer(&[to, from, 0], 24), 701);
    fails!(
        1,
        cuda,
        cuLaunchKernel(
            increment,
            1,
            1,
            1,
            1,
            1,
            1,
            0,
            ptr::null_mut(),
            ptr::null_mut(),
            ptr::null_mut()
        )
    );
    // A missing argument's place is null.
    let mut params = [ptr::null_mut::<c_void>(); 2];
    fails!(
        1,
        cuda,
        cuLaunchKernel(
            increment,
            1,
            1,
            1,
            1,
            1,
            1,
            0,
            ptr::null_mut(),
            params.as_mut_ptr(),
            ptr::null_mut()
        )
    );
    let (mut offset, mut size) = (9, 9);
    ok!(
        cuda,
        cuFuncGetParamInfo(increment, 1, &raw mut offset, &raw mut size)
    );
    assert_eq!((offset, size), (8, 8));
    fails!(
        1,
        cuda,
        cuFuncGetParamInfo(increment, 2, &raw mut offset, &raw mut size)
    );
}

#[test]
fn a_kernel_runs_on_streams_of_its_context_only() {
    let rig = Rig::new();
    let nothing = rig.kernel("nothing");
    let mut other = ptr::null_mut();
    ok!(rig.cuda, cuCtxCreate_v2(&raw mut other, 0, rig.device));
    let foreign = rig.stream(0);
    assert_eq!(rig.launch(nothing, 1, 1, foreign, &[]).0, 400);
    // The null stream is the current context's.
    assert_eq!(rig.launch(nothing, 1, 1, ptr::null_mut(), &[]).0, 400);
    ok!(rig.cuda, cuCtxDestroy_v2(other));
    assert_eq!(rig.launch(nothing, 1, 1, ptr::null_mut(), &[]), SUCCESS);
}

#[test]
fn occupancy_is_what_the_device_says() {
    let rig = Rig::new();
    let nothing = rig.kernel("nothing");
    let blocks = |threads, shared| {
        let mut count = -1;
        ok!(
            rig.cuda,
            cuOccupancyMaxActiveBlocksPerMultiprocessor(&raw mut count, nothing, threads, shared)
        );
        count
    };
    assert_eq!(
        [1, 256, 1024, 2048].map(|threads| blocks(threads, 0)),
        [32, 8, 2, 0]
    );
    assert_eq!(
        [10_000, 49_152, 60_000].map(|shared| blocks(128, shared)),
        [16, 4, 0]
    );
    let (mut grid, mut block, mut shared) = (0, 0, 0);
    ok!(
        rig.cuda,
        cuOccupancyMaxPotentialBlockSize(&raw mut grid, &raw mut block, nothing, None, 0, 0)
    );
    assert_eq!((grid, block), (264, 1024));
    ok!(
        rig.cuda,
        cuOccupancyMaxPotentialBlockSize(&raw mut grid, &raw mut block, nothing, None, 0, 100)
    );
    assert_eq!((grid, block), (4224, 64));
    ok!(
        rig.cuda,
        cuOccupancyAvailableDynamicSMemPerBlock(&raw mut shared, nothing, 8, 256)
    );
    assert_eq!(shared, 29_184);
    fails!(
        1,
        rig.cuda,
        cuOccupancyAvailableDynamicSMemPerBlock(&raw mut shared, nothing, 9, 256)
    );
}
