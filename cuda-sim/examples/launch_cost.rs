//! What a launch of a small kernel costs: alone, beside many allocations, and on many streams.
//!
//! `cargo run --release -p cuda-sim --example launch_cost`

use std::error::Error;
use std::ptr;
use std::time::Instant;

use cuda_sim::Simulator;
use cuda_sys::{CUresult, CUstream, Library};

const KERNEL: &std::ffi::CStr = c".version 7.0
.target sm_52
.address_size 64
.visible .entry count(.param .u64 at) {
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [at];
    red.global.add.u32 [%rd1], 1;
    ret;
}";
const ALLOCATIONS: usize = 50_000;
const STREAMS: usize = 200;
const LAUNCHES: usize = 2_000;

/// Calls a driver function that must succeed.
macro_rules! call {
    ($library:expr, $function:ident($($argument:expr),*)) => {{
        let function = $library.$function()?;
        // SAFETY: all pointers point to values of the right types that outlive the call; the software driver checks handles.
        let result = unsafe { function($($argument),*) };
        if result != CUresult::CUDA_SUCCESS {
            return Err(format!("{}: {result:?}", stringify!($function)).into());
        }
    }};
}

/// Launches one after the other, each on the next of the streams, and waits for all of them.
fn measure(
    title: &str,
    cuda: &Library,
    launches: usize,
    streams: &[CUstream],
    words: &[u64],
) -> Result<(), Box<dyn Error>> {
    let (mut module, mut function) = (ptr::null_mut(), ptr::null_mut());
    call!(
        cuda,
        cuModuleLoadData(&raw mut module, KERNEL.as_ptr().cast())
    );
    call!(
        cuda,
        cuModuleGetFunction(&raw mut function, module, c"count".as_ptr())
    );
    let start = Instant::now();
    for (stream, word) in streams.iter().zip(words).cycle().take(launches) {
        let mut params = [ptr::from_ref(word).cast_mut().cast()];
        call!(
            cuda,
            cuLaunchKernel(
                function,
                1,
                1,
                1,
                32,
                1,
                1,
                0,
                *stream,
                params.as_mut_ptr(),
                ptr::null_mut()
            )
        );
    }
    call!(cuda, cuCtxSynchronize());
    let each = start.elapsed().as_secs_f64() / launches as f64;
    println!("{title:<30} {:>8.1} µs a launch", each * 1e6);
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let simulator = Simulator::builder().build()?;
    let cuda = simulator.library();
    let (mut context, mut device) = (ptr::null_mut(), 0);
    call!(cuda, cuInit(0));
    call!(cuda, cuDeviceGet(&raw mut device, 0));
    call!(cuda, cuDevicePrimaryCtxRetain(&raw mut context, device));
    call!(cuda, cuCtxSetCurrent(context));
    let mut words = [0; STREAMS];
    for word in &mut words {
        call!(cuda, cuMemAlloc_v2(word, 4));
        call!(cuda, cuMemsetD32_v2(*word, 0, 1));
    }
    measure("alone", &cuda, LAUNCHES, &[ptr::null_mut()], &words)?;
    let mut streams = [ptr::null_mut(); STREAMS];
    for stream in &mut streams {
        call!(cuda, cuStreamCreate(stream, 1));
    }
    measure("on 200 streams", &cuda, LAUNCHES, &streams, &words)?;
    for _ in 0..ALLOCATIONS {
        let mut address = 0;
        call!(cuda, cuMemAlloc_v2(&raw mut address, 256));
    }
    let title = "beside 50,000 allocations";
    measure(title, &cuda, LAUNCHES / 10, &streams[..1], &words)?;
    Ok(())
}
