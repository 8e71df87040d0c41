//! Libraries: images without a context, and kernels that stand for a function in each.

mod support;

use std::ffi::CStr;
use std::ptr;

use cuda_sim::{DeviceConfig, LeakKind, Simulator};
use cuda_sys::{
    CUcontext, CUdeviceptr, CUfunc_cache, CUfunction, CUfunction_attribute, CUkernel, CUlibrary,
};
use support::{KERNELS, Rig, call, fails, ok};

const DYNAMIC_SHARED: CUfunction_attribute =
    CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;

fn kernel(rig: &Rig, library: CUlibrary, name: &CStr) -> CUkernel {
    let mut kernel = ptr::null_mut();
    ok!(
        rig.cuda,
        cuLibraryGetKernel(&raw mut kernel, library, name.as_ptr())
    );
    kernel
}

/// Without a current context.
fn without_context(rig: &Rig) {
    ok!(rig.cuda, cuCtxSetCurrent(ptr::null_mut()));
}

#[test]
fn a_library_and_its_kernels_need_no_context() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    without_context(&rig);
    let library = rig.load_library(KERNELS).expect("it loads");
    let increment = kernel(&rig, library, c"increment");
    assert_eq!(increment, kernel(&rig, library, c"increment"));
    let (mut name, mut of, mut count) = (ptr::null(), ptr::null_mut(), 0);
    ok!(cuda, cuKernelGetName(&raw mut name, increment));
    // SAFETY: the name lives as long as the library.
    assert_eq!(unsafe { CStr::from_ptr(name) }, c"increment");
    ok!(cuda, cuKernelGetLibrary(&raw mut of, increment));
    assert_eq!(of, library);
    ok!(cuda, cuLibraryGetKernelCount(&raw mut count, library));
    let mut kernels = vec![ptr::null_mut(); count as usize + 1];
    ok!(
        cuda,
        cuLibraryEnumerateKernels(kernels.as_mut_ptr(), count + 1, library)
    );
    assert!(kernels.contains(&increment) && kernels[count as usize].is_null());
    let mut value = 0;
    ok!(
        cuda,
        cuKernelGetAttribute(&raw mut value, DYNAMIC_SHARED, increment, rig.device)
    );
    assert_eq!(value, 49_152);
    // What stands in a context needs one.
    let (mut module, mut function, mut address) = (ptr::null_mut(), ptr::null_mut(), 0);
    fails!(201, cuda, cuLibraryGetModule(&raw mut module, library));
    let (mut offset, mut size) = (0, 0);
    let mut param = |index| {
        call!(
            cuda,
            cuKernelGetParamInfo(increment, index, &raw mut offset, &raw mut size)
        )
        .0
    };
    assert_eq!(param(1), 201);
    ok!(cuda, cuCtxSetCurrent(rig.context));
    assert_eq!((param(2), param(1)), (1, 0));
    assert_eq!((offset, size), (8, 8));
    without_context(&rig);
    fails!(201, cuda, cuKernelGetFunction(&raw mut function, increment));
    fails!(
        201,
        cuda,
        cuLibraryGetGlobal(
            &raw mut address,
            &raw mut size,
            library,
            c"counter".as_ptr()
        )
    );
    assert_eq!(
        rig.simulator.leaks().last().map(|leak| leak.kind),
        Some(LeakKind::Library)
    );
    ok!(cuda, cuLibraryUnload(library));
    assert!(
        rig.simulator
            .leaks()
            .iter()
            .all(|leak| leak.kind != LeakKind::Library)
    );
}

#[test]
fn a_kernel_is_launched_like_a_function() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let library = rig.load_library(KERNELS).expect("it loads");
    let increment = kernel(&rig, library, c"increment");
    let (mut function, mut module, mut same) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    let mut by_name = ptr::null_mut();
    ok!(cuda, cuKernelGetFunction(&raw mut function, increment));
    ok!(cuda, cuLibraryGetModule(&raw mut module, library));
    ok!(cuda, cuFuncGetModule(&raw mut same, function));
    assert_eq!(module, same);
    ok!(
        cuda,
        cuModuleGetFunction(&raw mut by_name, module, c"increment".as_ptr())
    );
    assert_eq!(by_name, function);
    fails!(800, cuda, cuModuleUnload(module));
    let data = rig.upload(&[1, 2]);
    let stream = rig.stream(0);
    for handle in [increment.cast(), function] {
        assert_eq!(rig.launch(handle, 1, 2, stream, &[data, data]).0, 0);
        ok!(cuda, cuStreamSynchronize(stream));
    }
    assert_eq!(rig.download(data, 2), [3, 4]);
    // Occupancy can be asked of it too, but to the functions of functions it is none.
    let as_function: CUfunction = increment.cast();
    let (mut name, mut value) = (ptr::null(), 0);
    fails!(400, cuda, cuFuncGetName(&raw mut name, as_function));
    fails!(400, cuda, cuFuncLoad(as_function));
    fails!(
        400,
        cuda,
        cuFuncGetAttribute(&raw mut value, DYNAMIC_SHARED, as_function)
    );
    ok!(
        cuda,
        cuOccupancyMaxActiveBlocksPerMultiprocessor(&raw mut value, as_function, 128, 0)
    );
    assert!(value > 0);
    ok!(cuda, cuLibraryUnload(library));
    assert_eq!(
        rig.launch(increment.cast(), 1, 2, stream, &[data, data]).0,
        400
    );
    assert_eq!(rig.launch(function, 1, 2, stream, &[data, data]).0, 400);
}

#[test]
fn each_context_has_variables_of_its_own() {
    let rig = Rig::with(
        Simulator::builder()
            .devices(vec![DeviceConfig::h200(), DeviceConfig::h200()])
            .build()
            .expect("a free slot"),
    );
    let cuda = &rig.cuda;
    let library = rig.load_library(KERNELS).expect("it loads");
    let (mut device, mut second): (_, CUcontext) = (0, ptr::null_mut());
    ok!(cuda, cuDeviceGet(&raw mut device, 1));
    ok!(cuda, cuDevicePrimaryCtxRetain(&raw mut second, device));
    let global = |context| {
        ok!(cuda, cuCtxSetCurrent(context));
        let (mut address, mut size): (CUdeviceptr, _) = (0, 0);
        ok!(
            cuda,
            cuLibraryGetGlobal(
                &raw mut address,
                &raw mut size,
                library,
                c"counter".as_ptr()
            )
        );
        assert_eq!((rig.download(address, 1)[0], size), (7, 4));
        address
    };
    let (here, there) = (global(rig.context), global(second));
    assert_ne!(here, there);
    assert_eq!(here, global(rig.context));
    // A kernel runs in the context of the stream, whichever is current.
    ok!(cuda, cuCtxSetCurrent(second));
    let stream = rig.stream(0);
    let data = rig.upload(&[5]);
    ok!(cuda, cuCtxSetCurrent(rig.context));
    let increment = kernel(&rig, library, c"increment");
    assert_eq!(
        rig.launch(increment.cast(), 1, 1, stream, &[data, data]).0,
        0
    );
    ok!(cuda, cuStreamSynchronize(stream));
    ok!(cuda, cuCtxSetCurrent(second));
    assert_eq!(rig.download(data, 1), [6]);
    // What went with a context is placed anew in its next life.
    ok!(cuda, cuDevicePrimaryCtxReset_v2(device));
    ok!(cuda, cuDevicePrimaryCtxRetain(&raw mut second, device));
    assert!(global(second) != 0);
}

#[test]
fn what_is_set_for_a_kernel_holds_for_its_functions_until_they_are_set() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let library = rig.load_library(KERNELS).expect("it loads");
    let increment = kernel(&rig, library, c"increment");
    let mut function = ptr::null_mut();
    ok!(cuda, cuKernelGetFunction(&raw mut function, increment));
    let of_function = || {
        let mut value = 0;
        ok!(
            cuda,
            cuFuncGetAttribute(&raw mut value, DYNAMIC_SHARED, function)
        );
        value
    };
    let set = |value| {
        call!(
            cuda,
            cuKernelSetAttribute(DYNAMIC_SHARED, value, increment, rig.device)
        )
        .0
    };
    assert_eq!((set(60_000), of_function()), (0, 60_000));
    assert_eq!((set(6_000_000), of_function()), (1, 60_000));
    ok!(cuda, cuFuncSetAttribute(function, DYNAMIC_SHARED, 70_000));
    assert_eq!((set(50_000), of_function()), (0, 70_000));
    let read_only = CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS;
    fails!(
        1,
        cuda,
        cuKernelSetAttribute(read_only, 8, increment, rig.device)
    );
    fails!(
        101,
        cuda,
        cuKernelSetAttribute(DYNAMIC_SHARED, 8, increment, 77)
    );
    fails!(
        400,
        cuda,
        cuKernelSetAttribute(DYNAMIC_SHARED, 8, ptr::null_mut(), rig.device)
    );
    let cache = |config| {
        call!(
            cuda,
            cuKernelSetCacheConfig(increment, CUfunc_cache(config), rig.device)
        )
        .0
    };
    assert_eq!((cache(3), cache(4)), (0, 1));
}

#[test]
fn a_managed_variable_is_found_as_such() {
    let rig = Rig::new();
    let text = ".version 8.0\n.target sm_75\n.address_size 64\n.visible .global .attribute(.managed) .align 4 .u32 shared_word = 7;\n";
    let library = rig.load_library(text).expect("it loads");
    let (mut address, mut size) = (0, 0);
    ok!(
        rig.cuda,
        cuLibraryGetManaged(
            &raw mut address,
            &raw mut size,
            library,
            c"shared_word".as_ptr()
        )
    );
    assert_eq!((size, rig.download(address, 1)), (4, vec![7]));
    ok!(rig.cuda, cuLibraryUnload(library));
}
