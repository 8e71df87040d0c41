//! The attributes of `cuLaunchKernelEx`, clusters, and the parameters in a buffer: as a driver of CUDA 13.0 on an H200 answers.

mod support;

use std::ffi::c_void;
use std::ptr;

use cuda_sim::{DeviceConfig, Simulator};
use cuda_sys::{
    CUDA_LAUNCH_PARAMS, CUfunction, CUfunction_attribute, CUlaunchAttribute, CUlaunchAttributeID,
    CUlaunchConfig,
};
use support::{Rig, call, fails, ok};

const KERNELS: &str = ".version 8.0
.target sm_90
.address_size 64
.visible .entry nothing() { ret; }
.visible .entry plain(.param .u64 p) { ret; }
.visible .entry required() .explicitcluster .reqnctapercluster 2, 1, 1 { ret; }
.visible .entry flexible() .explicitcluster { ret; }
.visible .entry bounded() .maxclusterrank 4 { ret; }
";

/// An attribute whose value starts with those numbers.
fn attribute(id: u32, value: [u32; 3]) -> CUlaunchAttribute {
    let mut attribute = CUlaunchAttribute {
        id: CUlaunchAttributeID(id),
        ..Default::default()
    };
    let mut pad = [0; 64];
    for (place, byte) in pad
        .iter_mut()
        .zip(value.iter().flat_map(|it| it.to_ne_bytes()))
    {
        *place = byte.cast_signed();
    }
    attribute.value.pad = pad;
    attribute
}

fn config(grid: u32, attributes: &mut [CUlaunchAttribute]) -> CUlaunchConfig {
    let mut config = CUlaunchConfig::default();
    (config.gridDimX, config.gridDimY, config.gridDimZ) = (grid, 1, 1);
    (config.blockDimX, config.blockDimY, config.blockDimZ) = (32, 1, 1);
    config.attrs = attributes.as_mut_ptr();
    config.numAttrs = attributes.len() as u32;
    config
}

fn launch(rig: &Rig, function: CUfunction, grid: u32, attributes: &[CUlaunchAttribute]) -> u32 {
    let mut attributes = attributes.to_vec();
    let config = config(grid, &mut attributes);
    let mut pointer = 0u64;
    let mut params = [ptr::from_mut(&mut pointer).cast::<c_void>()];
    call!(
        rig.cuda,
        cuLaunchKernelEx(
            &raw const config,
            function,
            params.as_mut_ptr(),
            ptr::null_mut()
        )
    )
    .0
}

#[test]
fn each_attribute_is_checked() {
    let rig = Rig::new();
    let nothing = rig.function(rig.load(KERNELS), "nothing");
    for (id, value, code) in [
        (0, 0, 0),
        (1, 0, 0),
        (2, 0, 0),
        (3, 0, 1),
        (3, 1, 1),
        (4, 0, 0),
        (5, 2, 0),
        (5, 9, 1),
        (6, 1, 0),
        (7, 0, 400),
        (8, 99, 0),
        (9, 0, 0),
        (9, 9, 1),
        (10, 1, 0),
        (10, 2, 1),
        (11, 0, 0),
        (12, 0, 400),
        (13, 0, 801),
        (14, 100, 0),
        (14, 101, 1),
        (14, u32::MAX, 1),
        (15, 0, 1),
        (16, 1, 0),
        (17, 0, 1),
        (18, 0, 1),
        (99, 0, 1),
    ] {
        let given = attribute(id, [value, 0, 0]);
        assert_eq!(
            launch(&rig, nothing, 1, &[given]),
            code,
            "attribute {id} with {value}"
        );
    }
    let priority = attribute(8, [0; 3]);
    assert_eq!(launch(&rig, nothing, 1, &[priority, priority]), 0);
    let mut config = config(1, &mut []);
    (config.attrs, config.numAttrs) = (ptr::null_mut(), 1);
    let none = ptr::null_mut();
    fails!(
        1,
        rig.cuda,
        cuLaunchKernelEx(&raw const config, nothing, none, none)
    );
    fails!(
        1,
        rig.cuda,
        cuLaunchKernelEx(ptr::null(), nothing, none, none)
    );
}

#[test]
fn an_event_tells_that_a_launch_has_begun() {
    let rig = Rig::new();
    let nothing = rig.function(rig.load(KERNELS), "nothing");
    let of = |id| {
        let event = rig.event(0);
        let mut given = attribute(id, [0; 3]);
        given.value.launchCompletionEvent.event = event;
        (event, launch(&rig, nothing, 1, &[given]))
    };
    let (event, launched) = of(12);
    assert_eq!((launched, rig.simulator.pending_operations()), (0, 2));
    ok!(rig.cuda, cuEventSynchronize(event));
    ok!(rig.cuda, cuCtxSynchronize());
    assert_eq!(rig.simulator.pending_operations(), 0);
    // Nothing is built that tells when all blocks have triggered an event.
    assert_eq!(of(7).1, 801);
    let said = rig.simulator.unsupported_calls().join(" ");
    assert!(
        said.contains("CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT"),
        "{said}"
    );
}

#[test]
fn clusters_divide_the_grid_and_stay_small() {
    let rig = Rig::new();
    let plain = rig.function(rig.load(KERNELS), "plain");
    let cluster = |shape, grid| launch(&rig, plain, grid, &[attribute(4, shape)]);
    assert_eq!((cluster([1, 1, 1], 4), cluster([0, 0, 0], 4)), (0, 0));
    for (shape, grid) in [
        ([2, 1, 1], 3),
        ([2, 0, 1], 4),
        ([2, 2, 1], 4),
        ([9, 1, 1], 9),
        ([17, 1, 1], 17),
    ] {
        assert_eq!(cluster(shape, grid), 912, "{shape:?} of {grid}");
    }
    assert_eq!((cluster([2, 1, 1], 4), cluster([16, 1, 1], 16)), (0, 912));
    let large = CUfunction_attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED;
    ok!(rig.cuda, cuFuncSetAttribute(plain, large, 1));
    assert_eq!((cluster([16, 1, 1], 16), cluster([17, 1, 1], 17)), (0, 912));
    let preferred = |shape, grid| {
        let given = [attribute(4, [2, 1, 1]), attribute(11, shape)];
        launch(&rig, plain, grid, &given)
    };
    assert_eq!(preferred([4, 1, 1], 8), 0);
    assert_eq!(
        (preferred([4, 1, 1], 6), preferred([3, 1, 1], 6)),
        (912, 912)
    );
}

#[test]
fn kernels_say_which_clusters_they_take() {
    let rig = Rig::new();
    let module = rig.load(KERNELS);
    let kernels = ["required", "flexible", "bounded"].map(|name| rig.function(module, name));
    let attributes = |kernel| {
        [10, 11, 12, 13].map(|number| {
            let mut value = -1;
            ok!(
                rig.cuda,
                cuFuncGetAttribute(&raw mut value, CUfunction_attribute(number), kernel)
            );
            value
        })
    };
    assert_eq!(
        kernels.map(attributes),
        [[1, 2, 1, 1], [1, 0, 0, 0], [0, 0, 0, 0]]
    );
    let of = |kernel, blocks| launch(&rig, kernel, 8, &[attribute(4, [blocks, 1, 1])]);
    assert_eq!(
        kernels.map(|kernel| launch(&rig, kernel, 4, &[])),
        [0, 912, 0]
    );
    assert_eq!(launch(&rig, kernels[0], 3, &[]), 912);
    assert_eq!(kernels.map(|kernel| of(kernel, 4)), [912, 0, 0]);
    assert_eq!(kernels.map(|kernel| of(kernel, 8)), [912, 0, 912]);
    // What a kernel says can only be repeated; otherwise a shape can be set.
    let width = CUfunction_attribute::CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH;
    let set = |kernel, value| call!(rig.cuda, cuFuncSetAttribute(kernel, width, value)).0;
    assert_eq!(kernels.map(|kernel| set(kernel, 1)), [1, 0, 0]);
    assert_eq!(kernels.map(|kernel| set(kernel, 2)), [0, 0, 0]);
    assert_eq!(kernels.map(|kernel| set(kernel, -1)), [1, 1, 1]);
}

#[test]
fn occupancy_of_clusters_follows_the_same_rules() {
    let rig = Rig::new();
    let module = rig.load(KERNELS);
    let ask = |name: &str, blocks: u32| {
        let kernel = rig.function(module, name);
        let one = blocks.min(1);
        let mut attributes = [attribute(4, [blocks, one, one])];
        let config = config(48, &mut attributes);
        let (mut size, mut count) = (-1, -1);
        let codes = [
            call!(
                rig.cuda,
                cuOccupancyMaxPotentialClusterSize(&raw mut size, kernel, &raw const config)
            )
            .0,
            call!(
                rig.cuda,
                cuOccupancyMaxActiveClusters(&raw mut count, kernel, &raw const config)
            )
            .0,
        ];
        (codes, size, count)
    };
    assert_eq!(ask("plain", 0), ([0, 0], 8, 0));
    assert_eq!(ask("plain", 1), ([0, 0], 8, 1056));
    assert_eq!(ask("plain", 4), ([0, 0], 8, 248));
    assert_eq!(ask("plain", 16), ([912, 912], -1, -1));
    assert_eq!(ask("required", 0), ([0, 0], 8, 528));
    assert_eq!(ask("required", 4).0, [912, 912]);
    assert_eq!(ask("flexible", 0).0, [912, 912]);
    assert_eq!(ask("flexible", 2), ([0, 0], 8, 528));
}

#[test]
fn cooperative_launches_are_within_what_runs_at_once() {
    let rig = Rig::new();
    let nothing = rig.function(rig.load(KERNELS), "nothing");
    let stream = rig.stream(0);
    let of = |grid, block, shared| {
        call!(
            rig.cuda,
            cuLaunchCooperativeKernel(
                nothing,
                grid,
                1,
                1,
                block,
                1,
                1,
                shared,
                stream,
                ptr::null_mut()
            )
        )
        .0
    };
    assert_eq!((of(265, 1024, 0), of(0, 1, 0)), (720, 1));
    assert_eq!((of(1, 32, 100_000), of(264, 1024, 0)), (720, 0));
    let one = CUDA_LAUNCH_PARAMS {
        function: nothing,
        gridDimX: 265,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 1024,
        blockDimY: 1,
        blockDimZ: 1,
        hStream: stream,
        ..Default::default()
    };
    let several = |count, flags| {
        let mut list = [one];
        call!(
            rig.cuda,
            cuLaunchCooperativeKernelMultiDevice(list.as_mut_ptr(), count, flags)
        )
        .0
    };
    assert_eq!((several(1, 0), several(0, 0), several(1, 9)), (720, 1, 1));
}

#[test]
fn cooperative_clusters_are_within_what_runs_at_once() {
    let rig = Rig::new();
    let nothing = rig.function(rig.load(KERNELS), "nothing");
    let of = |blocks| {
        let given = [attribute(2, [1, 0, 0]), attribute(4, [4, 1, 1])];
        launch(&rig, nothing, blocks, &given)
    };
    assert_eq!((of(248 * 4), of(249 * 4)), (0, 720));
}

#[test]
fn older_devices_have_no_clusters() {
    let device = DeviceConfig {
        compute_capability: (8, 6),
        ..DeviceConfig::h200()
    };
    let simulator = Simulator::builder().devices(vec![device]).build();
    let rig = Rig::with(simulator.expect("a free slot"));
    let old = ".version 7.0 .target sm_52 .address_size 64 .visible .entry nothing() { ret; }";
    let nothing = rig.function(rig.load(old), "nothing");
    let of = |cluster| launch(&rig, nothing, 4, &[attribute(4, [cluster, 1, 1])]);
    assert_eq!((of(1), of(2)), (0, 801));
}

#[test]
fn parameters_in_a_buffer_are_at_most_those_of_the_kernel() {
    const END: usize = 0;
    const POINTER: usize = 1;
    const SIZE: usize = 2;
    let rig = Rig::new();
    let module = rig.load(support::KERNELS);
    let increment = rig.function(module, "increment");
    let data = rig.upload(&[7]);
    let buffer = [data, data, 0, 0];
    let of = |function, size: usize, list: &[usize], params: bool| {
        let mut extra: Vec<*mut c_void> = Vec::new();
        for &token in list {
            extra.push(ptr::without_provenance_mut(token));
            match token {
                POINTER => extra.push(buffer.as_ptr().cast_mut().cast()),
                SIZE => extra.push(ptr::from_ref(&size).cast_mut().cast()),
                END => {}
                _ => extra.push(ptr::null_mut()),
            }
        }
        let mut addresses = [buffer.as_ptr().cast_mut().cast::<c_void>(); 2];
        let params = if params {
            addresses.as_mut_ptr()
        } else {
            ptr::null_mut()
        };
        call!(
            rig.cuda,
            cuLaunchKernel(
                function,
                1,
                1,
                1,
                1,
                1,
                1,
                0,
                ptr::null_mut(),
                params,
                extra.as_mut_ptr()
            )
        )
        .0
    };
    let whole = [POINTER, SIZE, END];
    assert_eq!(of(increment, 16, &whole, false), 0);
    assert_eq!(of(increment, 16, &[SIZE, POINTER, END], false), 0);
    assert_eq!(rig.download(data, 1), [9]);
    for (size, code) in [(0, 1), (17, 701), (32, 701)] {
        assert_eq!(of(increment, size, &whole, false), code, "{size} bytes");
    }
    for list in [&[POINTER, END][..], &[SIZE, END], &[END], &[7, END]] {
        assert_eq!(of(increment, 16, list, false), 1, "{list:?}");
    }
    let nothing = rig.function(module, "nothing");
    assert_eq!(of(increment, 16, &whole, true), 1);
    assert_eq!(
        (
            of(nothing, 16, &whole, true),
            of(nothing, 16, &whole, false)
        ),
        (1, 701)
    );
}
