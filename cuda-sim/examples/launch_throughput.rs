//! Lane instructions per second of kernels launched through the driver, with all checks of memory on.
//!
//! `cargo run --release -p cuda-sim --example launch_throughput [threads]`
//!
//! The kernels are those of the example `throughput` in `cuda-sim-machine`; the figure is the median of 15 launches, each from the call
//! that launches to the end of the wait. Lane instructions are those that the kernels execute for these sizes.

use std::error::Error;
use std::ffi::{CString, c_void};
use std::ptr;
use std::time::Instant;

use cuda_sim::Simulator;
use cuda_sys::{CUresult, Library};

const LAUNCHES: usize = 15;

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

/// A kernel and its launch.
struct Case {
    name: &'static str,
    ptx: &'static str,
    grid: [u32; 3],
    block: [u32; 3],
    /// One by one, in the order of the kernel.
    params: Vec<Vec<u8>>,
    lane_instructions: f64,
}

fn measure(cuda: &Library, case: &Case) -> Result<(), Box<dyn Error>> {
    let image = CString::new(case.ptx)?;
    let (mut module, mut function) = (ptr::null_mut(), ptr::null_mut());
    call!(
        cuda,
        cuModuleLoadData(&raw mut module, image.as_ptr().cast())
    );
    let name = CString::new(case.name)?;
    call!(
        cuda,
        cuModuleGetFunction(&raw mut function, module, name.as_ptr())
    );
    let mut params: Vec<*mut c_void> = case
        .params
        .iter()
        .map(|bytes| bytes.as_ptr().cast_mut().cast())
        .collect();
    let ([gx, gy, gz], [bx, by, bz]) = (case.grid, case.block);
    let mut seconds = Vec::new();
    for _ in 0..=LAUNCHES {
        let start = Instant::now();
        call!(
            cuda,
            cuLaunchKernel(
                function,
                gx,
                gy,
                gz,
                bx,
                by,
                bz,
                0,
                ptr::null_mut(),
                params.as_mut_ptr(),
                ptr::null_mut()
            )
        );
        call!(cuda, cuCtxSynchronize());
        seconds.push(start.elapsed().as_secs_f64());
    }
    // The first launch touches fresh memory.
    seconds.remove(0);
    seconds.sort_by(f64::total_cmp);
    println!(
        "{:<10} {:.2} G/s (fastest {:.2})",
        case.name,
        case.lane_instructions / seconds[LAUNCHES / 2] / 1e9,
        case.lane_instructions / seconds[0] / 1e9
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut builder = Simulator::builder();
    let threads = std::env::args()
        .nth(1)
        .map(|threads| threads.parse::<usize>());
    if let Some(threads) = threads.transpose()? {
        builder = builder.threads(threads);
    }
    let simulator = builder.build()?;
    let cuda = simulator.library();
    let mut context = ptr::null_mut();
    let mut device = 0;
    call!(cuda, cuInit(0));
    call!(cuda, cuDeviceGet(&raw mut device, 0));
    call!(cuda, cuDevicePrimaryCtxRetain(&raw mut context, device));
    call!(cuda, cuCtxSetCurrent(context));
    let n = 1u32 << 20;
    let mut vectors = [0; 3];
    for vector in &mut vectors {
        call!(cuda, cuMemAlloc_v2(vector, 4 * n as usize));
        call!(cuda, cuMemsetD32_v2(*vector, 0, n as usize));
    }
    let [x, y, z] = vectors.map(|address| address.to_le_bytes().to_vec());
    let word = |value: u32| value.to_le_bytes().to_vec();
    let size = 256u32;
    let cases = [
        Case {
            name: "saxpy",
            ptx: include_str!("../../examples/kernels/saxpy.ptx"),
            grid: [n / 256, 1, 1],
            block: [256, 1, 1],
            params: vec![word(2f32.to_bits()), x.clone(), y.clone(), word(n)],
            lane_instructions: 20.0 * f64::from(n),
        },
        Case {
            name: "matmul",
            ptx: include_str!("../../examples/kernels/matmul.ptx"),
            grid: [size / 16, size / 16, 1],
            block: [16, 16, 1],
            params: vec![x, y, z, word(size), word(size), word(size)],
            lane_instructions: 84.2e6,
        },
    ];
    cases.iter().try_for_each(|case| measure(&cuda, case))?;
    for report in simulator.reports() {
        println!("{report}");
    }
    Ok(())
}
