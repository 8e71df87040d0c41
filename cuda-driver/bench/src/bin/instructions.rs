//! Counts the instructions that the safe layer adds to a driver call, exactly, under `valgrind --tool=callgrind`.
//!
//! Without arguments it runs itself under valgrind for each operation, with two numbers of repetitions, and prints the
//! difference per operation. With `OPERATION COUNT` it is what runs there.

use std::ffi::c_void;
use std::hint::black_box;
use std::process::{Command, ExitCode};

use cuda_driver::{
    DeviceAllocation, Driver, Function, LaunchConfig, Module, Result, Stream, kernels,
};
use cuda_driver_bench::idle_driver;

/// Each operation: its name, and the raw one that it is compared with.
const PAIRS: [(&str, &str); 7] = [
    ("typed-launch", "raw-launch"),
    ("typed-launch", "safe-launch"),
    ("safe-launch", "raw-launch"),
    ("prepared-launch", "raw-launch"),
    ("typed-prepared-launch", "raw-launch"),
    ("safe-allocate-free", "raw-allocate-free"),
    ("safe-clone-stream", "nothing"),
];
const FEW: u64 = 1_000;
const MANY: u64 = 11_000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.as_slice() {
        [] => report(),
        [operation, count] => {
            let count = count.parse().unwrap_or(0);
            run(operation, count).map_err(|error| error.to_string())
        }
        _ => Err("usage: instructions [OPERATION COUNT]".into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn report() -> std::result::Result<(), String> {
    println!("{:<22}{:>8}{:>8}{:>8}", "operation", "safe", "raw", "added");
    for (safe, raw) in PAIRS {
        let (with, without) = (per_operation(safe)?, per_operation(raw)?);
        println!("{safe:<22}{with:>8.1}{without:>8.1}{:>8.1}", with - without);
    }
    Ok(())
}

fn per_operation(operation: &str) -> std::result::Result<f64, String> {
    let (few, many) = (count(operation, FEW)?, count(operation, MANY)?);
    Ok((many - few) as f64 / (MANY - FEW) as f64)
}

/// The instructions of one run under valgrind.
fn count(operation: &str, repetitions: u64) -> std::result::Result<u64, String> {
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(this)
        .args([operation, &repetitions.to_string()])
        .output()
        .map_err(|error| format!("cannot run valgrind: {error}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    text.lines()
        .find_map(|line| line.split("Collected :").nth(1)?.trim().parse().ok())
        .ok_or_else(|| format!("valgrind printed no count:\n{text}"))
}

/// What the operations work with.
struct Bench {
    driver: Driver,
    stream: Stream,
    kernel: Function,
    a: DeviceAllocation<f32>,
    b: DeviceAllocation<f32>,
    sum: DeviceAllocation<f32>,
}

fn run(operation: &str, count: u64) -> Result<()> {
    let driver = idle_driver()?;
    let context = driver.device(0)?.primary_context()?;
    let stream = context.create_stream()?;
    let module = context.load_ptx(".version 7.0\n.target sm_52\n.address_size 64\n")?;
    let mut bench = Bench {
        a: stream.zeroed(1024)?,
        b: stream.zeroed(1024)?,
        sum: stream.zeroed(1024)?,
        kernel: module.function("kernel")?,
        driver,
        stream,
    };
    match operation {
        "safe-launch" => safe_launch(&mut bench, count),
        "typed-launch" => typed_launch(&mut bench, &module, count),
        "typed-prepared-launch" => typed_prepared_launch(&mut bench, &module, count),
        "prepared-launch" => prepared_launch(&mut bench, count),
        "raw-launch" => raw_launch(&mut bench, count),
        "safe-allocate-free" => (0..count).try_for_each(|_| {
            drop(black_box(bench.stream.uninitialized::<u8>(4096)?));
            Ok(())
        }),
        "raw-allocate-free" => {
            (0..count).for_each(|_| raw_allocate_free(&bench.driver, raw(&bench.stream)));
            Ok(())
        }
        "safe-clone-stream" => {
            (0..count).for_each(|_| drop(black_box(bench.stream.clone())));
            Ok(())
        }
        _ => {
            (0..count).for_each(|number| {
                black_box(number);
            });
            Ok(())
        }
    }
}

/// Launches as a program does that has its configuration at run time.
#[inline(never)]
fn safe_launch(bench: &mut Bench, count: u64) -> Result<()> {
    let Bench {
        stream,
        kernel,
        a,
        b,
        sum,
        ..
    } = bench;
    let config = LaunchConfig::for_len(1024);
    for _ in 0..count {
        // SAFETY: the driver does nothing.
        unsafe { kernel.launch(stream, black_box(config), (&*a, &*b, &mut *sum, 1024_u32)) }?;
    }
    Ok(())
}

kernels! {
    unsafe extern Kernels {
        #[name = "kernel"]
        #[launch(for_len(sum), block <= 1024)]
        #[prepared(VectorAdd)]
        safe fn vector_add(a: &[f32], b: &[f32; len(a)], sum: &mut [f32; len(a)], n: u32 = len(a));
    }
}

/// Launches by a declaration: lengths are compared, the number of elements and the grid are computed.
#[inline(never)]
fn typed_launch(bench: &mut Bench, module: &Module, count: u64) -> Result<()> {
    let Bench {
        stream, a, b, sum, ..
    } = bench;
    // SAFETY: the driver does nothing.
    let kernels = black_box(unsafe { Kernels::from_module(module) }?);
    for _ in 0..count {
        kernels.vector_add(stream, &*a, &*b, &mut *sum)?;
    }
    Ok(())
}

/// Launches by a declaration with a configuration that was checked before: lengths are compared, with each other and with the grid.
#[inline(never)]
fn typed_prepared_launch(bench: &mut Bench, module: &Module, count: u64) -> Result<()> {
    let Bench {
        stream, a, b, sum, ..
    } = bench;
    // SAFETY: the driver does nothing.
    let kernels = unsafe { Kernels::from_module(module) }?;
    let prepared: VectorAdd =
        black_box(kernels.vector_add_prepare(LaunchConfig::for_len(sum.len()))?);
    for _ in 0..count {
        prepared.launch(stream, &*a, &*b, &mut *sum)?;
    }
    Ok(())
}

#[inline(never)]
fn prepared_launch(bench: &mut Bench, count: u64) -> Result<()> {
    let Bench {
        stream,
        kernel,
        a,
        b,
        sum,
        ..
    } = bench;
    let prepared = black_box(kernel.prepare(LaunchConfig::for_len(1024))?);
    for _ in 0..count {
        // SAFETY: the driver does nothing.
        unsafe { prepared.launch(stream, (&*a, &*b, &mut *sum, 1024_u32)) }?;
    }
    Ok(())
}

#[inline(never)]
fn raw_launch(bench: &mut Bench, count: u64) -> Result<()> {
    let (function, stream) = (bench.kernel.as_raw(), raw(&bench.stream));
    let config = LaunchConfig::for_len(1024);
    for _ in 0..count {
        let (mut a, mut b) = (bench.a.as_raw(), bench.b.as_raw());
        let (mut sum, mut n) = (bench.sum.as_raw(), 1024_u32);
        let mut arguments: [*mut c_void; 4] = [
            (&raw mut a).cast(),
            (&raw mut b).cast(),
            (&raw mut sum).cast(),
            (&raw mut n).cast(),
        ];
        let LaunchConfig { grid, block, .. } = black_box(config);
        let Ok(launch) = bench.driver.library().cuLaunchKernel() else {
            continue;
        };
        let pointers = arguments.as_mut_ptr();
        let extra = std::ptr::null_mut();
        let (x, y, z) = (block.x, block.y, block.z);
        // SAFETY: the driver does nothing.
        let status = unsafe {
            launch(
                function, grid.x, grid.y, grid.z, x, y, z, 0, stream, pointers, extra,
            )
        };
        black_box(status);
    }
    Ok(())
}

fn raw(stream: &Stream) -> cuda_sys::CUstream {
    cuda_driver::AnyStream::as_raw(stream)
}

fn raw_allocate_free(driver: &Driver, stream: cuda_sys::CUstream) {
    let library = driver.library();
    let mut address = 0;
    if let Ok(allocate) = library.cuMemAllocAsync() {
        // SAFETY: the driver only fills in the address.
        black_box(unsafe { allocate(&raw mut address, 4096, stream) });
    }
    if let Ok(free) = library.cuMemFreeAsync() {
        // SAFETY: the driver does nothing.
        black_box(unsafe { free(address, stream) });
    }
}
