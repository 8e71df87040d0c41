// What the examples of `cuda_sim::checks` share: they include this file, which is no module.

use cuda_sim::{Builder, ReportKind, Simulator};
use cuda_sys::{CUdeviceptr, CUresult, CUstream, Library};

/// Calls a driver function and gives its result.
#[allow(unused_macros)]
macro_rules! call {
    ($library:expr, $function:ident($($argument:expr),* $(,)?)) => {{
        let function = $library.$function().unwrap();
        // SAFETY: the examples pass pointers to live variables; handles and device addresses are checked by the software driver.
        unsafe { function($($argument),*) }
    }};
}

/// Calls a driver function that must succeed.
#[allow(unused_macros)]
macro_rules! ok {
    ($library:expr, $function:ident($($argument:expr),* $(,)?)) => {
        assert_eq!(call!($library, $function($($argument),*)), CUresult::CUDA_SUCCESS)
    };
}

/// An instance with a context current on this thread.
#[allow(dead_code)]
fn start(builder: Builder) -> (Simulator, Library) {
    let simulator = builder.build().unwrap();
    let cuda = simulator.library();
    ok!(cuda, cuInit(0));
    let (mut device, mut context) = (0, std::ptr::null_mut());
    ok!(cuda, cuDeviceGet(&raw mut device, 0));
    ok!(cuda, cuDevicePrimaryCtxRetain(&raw mut context, device));
    ok!(cuda, cuCtxSetCurrent(context));
    (simulator, cuda)
}

/// Device memory that nothing has written.
#[allow(dead_code)]
fn memory(cuda: &Library, bytes: usize) -> CUdeviceptr {
    let mut address = 0;
    ok!(cuda, cuMemAlloc_v2(&raw mut address, bytes));
    address
}

/// A stream that does not wait for the default stream.
#[allow(dead_code)]
fn stream(cuda: &Library) -> CUstream {
    let mut stream = std::ptr::null_mut();
    ok!(cuda, cuStreamCreate(&raw mut stream, 1));
    stream
}

/// Runs one block of 64 threads of a kernel with that body, in which `%rd1` is the address that is passed, and `%r1` the thread's number.
#[allow(dead_code)]
fn run(cuda: &Library, body: &str, mut address: CUdeviceptr) -> CUresult {
    let text = format!(
        ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry example(.param .u64 p)\n{{\n\
         .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>; .shared .align 4 .b8 words[256];\n\
         ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n{body}\nret;\n}}\n\0"
    );
    let (mut module, mut function) = (std::ptr::null_mut(), std::ptr::null_mut());
    ok!(
        cuda,
        cuModuleLoadData(&raw mut module, text.as_ptr().cast())
    );
    ok!(
        cuda,
        cuModuleGetFunction(&raw mut function, module, c"example".as_ptr())
    );
    let (stream, extra) = (std::ptr::null_mut(), std::ptr::null_mut());
    let mut params = [(&raw mut address).cast()];
    let params = params.as_mut_ptr();
    ok!(
        cuda,
        cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, stream, params, extra)
    );
    call!(cuda, cuCtxSynchronize())
}

/// The kinds of all reports.
#[allow(dead_code)]
fn kinds(simulator: &Simulator) -> Vec<ReportKind> {
    simulator
        .reports()
        .iter()
        .map(|report| report.kind)
        .collect()
}
