//! Names of codes, entry points by name, and functions that are not there.

mod support;

use std::ffi::{CStr, c_void};
use std::ptr;

use cuda_sim::Simulator;
use cuda_sys::{CUdriverProcAddressQueryResult, CUresult};
use support::{Rig, call, fails, ok};

#[test]
fn codes_have_names_before_init() {
    let simulator = Simulator::new();
    let cuda = simulator.library();
    let mut text = ptr::null();
    ok!(cuda, cuGetErrorName(CUresult(700), &raw mut text));
    // SAFETY: the driver's texts are static.
    let name = unsafe { CStr::from_ptr(text) };
    assert_eq!(name, c"CUDA_ERROR_ILLEGAL_ADDRESS");
    ok!(cuda, cuGetErrorString(CUresult(0), &raw mut text));
    // SAFETY: as above.
    assert!(!unsafe { CStr::from_ptr(text) }.is_empty());
    fails!(1, cuda, cuGetErrorName(CUresult(12_345), &raw mut text));
    assert!(text.is_null());
}

#[test]
fn entry_points_are_found_by_name_and_version() {
    let simulator = Simulator::new();
    let cuda = simulator.library();
    let look_up = |name: &CStr, version, flags| {
        let (mut function, mut status) =
            (ptr::null_mut::<c_void>(), CUdriverProcAddressQueryResult(9));
        let result = call!(
            cuda,
            cuGetProcAddress_v2(
                name.as_ptr(),
                &raw mut function,
                version,
                flags,
                &raw mut status
            )
        );
        (result.0, status.0, function.addr())
    };
    let address = |name: &str| {
        let symbol = cuda_sys::Symbol::by_name(name).expect("known");
        cuda.resolve(symbol).expect("exported").as_ptr().addr()
    };
    assert_eq!(
        look_up(c"cuMemAlloc", 12_000, 0),
        (0, 0, address("cuMemAlloc_v2"))
    );
    assert_eq!(
        look_up(c"cuMemcpyHtoD", 12_000, 2),
        (0, 0, address("cuMemcpyHtoD_v2_ptds"))
    );
    assert_eq!(
        look_up(c"cuMemAlloc", 12_000, 2),
        (0, 0, address("cuMemAlloc_v2"))
    );
    assert_eq!(
        look_up(c"cuCtxCreate", 12_000, 0).2,
        address("cuCtxCreate_v3")
    );
    assert_eq!(look_up(c"cuNope", 12_000, 0), (0, 1, 0));
    assert_eq!(look_up(c"cuLaunchKernelEx", 11_000, 0), (0, 2, 0));
    assert_eq!(look_up(c"cuInit", 14_000, 0).0, 1);
    assert_eq!(look_up(c"cuInit", 12_000, 77).0, 1);
    // As a driver of 13.0 answers.
    for (name, version, flags, symbol) in [
        (c"cuMemAlloc", 2000, 0, "cuMemAlloc"),
        (c"cuMemAlloc", 3020, 0, "cuMemAlloc_v2"),
        (c"cuMemAlloc", -1, 0, "cuMemAlloc_v2"),
        (c"cuMemcpy", 13_000, 1, "cuMemcpy"),
        (c"cuMemcpy", 13_000, 3, "cuMemcpy_ptds"),
        (c"cuMemAllocAsync", 11_020, 2, "cuMemAllocAsync_ptsz"),
        (c"cuGetProcAddress", 11_030, 0, "cuGetProcAddress"),
        (c"cuGetProcAddress", 13_000, 0, "cuGetProcAddress_v2"),
        (c"cuCtxCreate", 13_000, 0, "cuCtxCreate_v4"),
        (
            c"cuStreamGetCaptureInfo",
            13_000,
            0,
            "cuStreamGetCaptureInfo_v3",
        ),
        (c"cuEventElapsedTime", 12_000, 0, "cuEventElapsedTime"),
    ] {
        assert_eq!(
            look_up(name, version, flags),
            (0, 0, address(symbol)),
            "{name:?} {version} {flags}"
        );
    }
    assert_eq!(look_up(c"cuMemAlloc", 0, 0), (0, 2, 0));
    assert_eq!(look_up(c"cuMemcpy", 6000, 2), (0, 2, 0));
    assert_eq!(look_up(c"cuMemAlloc_v2", 13_000, 0), (0, 1, 0));
    assert_eq!(look_up(c"cuMemcpy", 13_000, 4).0, 1);
    let mut function = ptr::dangling_mut::<c_void>();
    let name = c"cuNope".as_ptr();
    ok!(
        cuda,
        cuGetProcAddress_v2(name, &raw mut function, 13_000, 0, ptr::null_mut())
    );
    assert!(function.is_null());
    fails!(
        500,
        cuda,
        cuGetProcAddress(name, &raw mut function, 13_000, 0)
    );
    ok!(
        cuda,
        cuGetProcAddress(c"cuInit".as_ptr(), &raw mut function, 13_000, 0)
    );
    assert_eq!(function.addr(), address("cuInit"));
}

#[test]
fn unknown_tables_and_codes_are_refused() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let (id, mut table) = (cuda_sys::CUuuid::default(), ptr::dangling::<c_void>());
    fails!(1, cuda, cuGetExportTable(&raw mut table, &raw const id));
    assert!(table.is_null());
    fails!(1, cuda, cuGetExportTable(&raw mut table, ptr::null()));
    fails!(1, cuda, cuGetExportTable(ptr::null_mut(), &raw const id));
    let mut text = ptr::null();
    ok!(cuda, cuGetErrorName(CUresult(916), &raw mut text));
    // A later driver's.
    fails!(1, cuda, cuGetErrorName(CUresult(917), &raw mut text));
    fails!(1, cuda, cuGetErrorString(CUresult(47), &raw mut text));
}

#[test]
fn the_version_decides_what_is_exported() {
    let old = Simulator::builder()
        .driver_version(11_040)
        .build()
        .expect("a free slot");
    let (new, old) = (Simulator::new().library(), old.library());
    assert!(old.cuMemAllocAsync().is_ok());
    assert!(old.cuLaunchKernelEx().is_err() && new.cuLaunchKernelEx().is_ok());
    assert!(
        new.cuEventCreateFromEGLSync().is_err(),
        "no driver of this kind of machine has it"
    );
    let exported = cuda_sys::SYMBOLS
        .iter()
        .filter(|symbol| new.resolve(symbol).is_ok())
        .count();
    assert_eq!(exported, 671, "as many as the real 13.0 driver");
}

#[test]
fn what_is_not_built_says_so_and_is_remembered() {
    let rig = Rig::new();
    let mut array = ptr::null_mut();
    fails!(
        801,
        rig.cuda,
        cuMipmappedArrayCreate(&raw mut array, ptr::null(), 1)
    );
    fails!(801, rig.cuda, cuMipmappedArrayDestroy(array));
    assert_eq!(
        rig.simulator.unsupported_calls(),
        ["cuMipmappedArrayCreate", "cuMipmappedArrayDestroy"]
    );
    assert_eq!(rig.simulator.call_count("cuMipmappedArrayDestroy"), 1);
    assert!(
        rig.simulator.reports()[0]
            .message
            .contains("cuMipmappedArrayCreate")
    );
}

#[test]
fn devices_are_described() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let mut name = [0; 5];
    ok!(cuda, cuDeviceGetName(name.as_mut_ptr(), 5, rig.device));
    // SAFETY: the driver ends the name with a NUL.
    assert_eq!(unsafe { CStr::from_ptr(name.as_ptr()) }, c"NVID");
    let (mut device, mut value, mut bytes) = (0, 0, 0);
    for ordinal in [1, 99, -1] {
        fails!(101, cuda, cuDeviceGet(&raw mut device, ordinal));
    }
    fails!(1, cuda, cuDeviceGet(ptr::null_mut(), 0));
    let capability = cuda_sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR;
    ok!(
        cuda,
        cuDeviceGetAttribute(&raw mut value, capability, rig.device)
    );
    assert_eq!(value, 9);
    fails!(
        101,
        cuda,
        cuDeviceGetAttribute(&raw mut value, capability, rig.device + 77)
    );
    fails!(
        1,
        cuda,
        cuDeviceGetAttribute(
            &raw mut value,
            cuda_sys::CUdevice_attribute(9999),
            rig.device
        )
    );
    let mut properties = cuda_sys::CUdevprop::default();
    ok!(cuda, cuDeviceGetProperties(&raw mut properties, rig.device));
    assert_eq!(properties.maxThreadsDim, [1024, 1024, 64]);
    assert_eq!(
        (properties.SIMDWidth, properties.clockRate),
        (32, 1_980_000)
    );
    let float = cuda_sys::CUarray_format::CU_AD_FORMAT_FLOAT;
    let mut width = 0;
    ok!(
        cuda,
        cuDeviceGetTexture1DLinearMaxWidth(&raw mut width, float, 2, rig.device)
    );
    assert_eq!(width, 1 << 29);
    fails!(
        1,
        cuda,
        cuDeviceGetTexture1DLinearMaxWidth(&raw mut width, float, 3, rig.device)
    );
    let (target, scope) = (
        cuda_sys::CUflushGPUDirectRDMAWritesTarget(0),
        cuda_sys::CUflushGPUDirectRDMAWritesScope(100),
    );
    ok!(cuda, cuFlushGPUDirectRDMAWrites(target, scope));
    let scope = cuda_sys::CUflushGPUDirectRDMAWritesScope(0);
    fails!(1, cuda, cuFlushGPUDirectRDMAWrites(target, scope));
    ok!(cuda, cuDeviceTotalMem_v2(&raw mut bytes, rig.device));
    assert_eq!(bytes, 150_109_880_320);
    let mut id = [0; 16];
    ok!(cuda, cuDeviceGetPCIBusId(id.as_mut_ptr(), 16, rig.device));
    ok!(cuda, cuDeviceGetByPCIBusId(&raw mut device, id.as_ptr()));
    assert_eq!(device, rig.device);
    fails!(1, cuda, cuDeviceGetPCIBusId(id.as_mut_ptr(), 5, rig.device));
    fails!(
        1,
        cuda,
        cuDeviceGetByPCIBusId(&raw mut device, c"zz".as_ptr())
    );
    fails!(
        101,
        cuda,
        cuDeviceGetByPCIBusId(&raw mut device, c"0000:77:00.0".as_ptr())
    );
}

#[test]
fn what_is_not_built_is_noted_as_long_as_there_is_room() {
    let rig = Rig::new();
    for _ in 0..1200 {
        fails!(801, rig.cuda, cuMipmappedArrayDestroy(ptr::null_mut()));
    }
    let noted = rig.simulator.unsupported_calls();
    assert_eq!(noted, vec!["cuMipmappedArrayDestroy"; 1000]);
}
