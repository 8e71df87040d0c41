//! Times the safe layer against raw driver calls on the machine's GPU, interleaved in one run, and prints the ratios.

use std::ffi::c_void;
use std::hint::black_box;
use std::time::Instant;

use cuda_driver::{Driver, LaunchConfig, Result, Stream, kernels};
use cuda_sys::{CUresult, CUstream, CUstreamCaptureMode};

const KERNEL: &str = "
.version 7.0
.target sm_52
.address_size 64
.visible .entry idle(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) { ret; }
";

/// How often each side is timed, in turn.
const ROUNDS: usize = 3_001;
/// Operations in one timing; few enough that the launch queue never fills.
const BATCH: usize = 100;

fn main() -> Result<()> {
    let driver = Driver::load()?;
    let device = driver.device(0)?;
    println!("{driver}: {}", device.name()?);
    let context = device.primary_context()?;
    println!(
        "{:<34}{:>10}{:>10}{:>8}",
        "operation", "safe", "raw", "ratio"
    );
    launch(&driver, &context.create_stream()?)?;
    let other = context.create_stream()?;
    let busy = other.zeroed::<u8>(16)?;
    launch(&driver, &context.create_stream()?)?;
    drop(busy);
    allocate(&driver, &context.create_stream()?)?;
    small_copy(&driver, &context.create_stream()?)?;
    crossing(&context.create_stream()?, &other)?;
    for direction in ["to the device", "to the host"] {
        pinned(&driver, &context.create_stream()?, direction)?;
    }
    slices(&context.create_stream()?)
}

/// Nanoseconds per operation of a batch.
fn time(mut body: impl FnMut() -> Result<()>, batch: usize) -> Result<f64> {
    let start = Instant::now();
    for _ in 0..batch {
        body()?;
    }
    Ok(start.elapsed().as_secs_f64() * 1e9 / batch as f64)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn row(name: &str, safe: f64, raw: f64, unit: &str) {
    println!(
        "{name:<34}{safe:>10.1}{raw:>10.1}{:>8.4} {unit}",
        safe / raw
    );
}

/// Times two bodies in turn, the host's share only, with the device drained in between.
fn compare(
    name: &str,
    stream: &Stream,
    mut safe: impl FnMut() -> Result<()>,
    mut raw: impl FnMut() -> Result<()>,
) -> Result<()> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        // Who goes first changes, so that neither has the warmer cache.
        for turn in 0..2 {
            if (round + turn) % 2 == 0 {
                ours.push(time(&mut safe, BATCH)?);
            } else {
                theirs.push(time(&mut raw, BATCH)?);
            }
            stream.synchronize()?;
        }
    }
    row(name, median(ours), median(theirs), "ns");
    Ok(())
}

fn ok(status: CUresult) {
    assert_eq!(status, CUresult::CUDA_SUCCESS, "a raw call failed");
}

/// A raw function that every driver here has.
fn found<F>(function: std::result::Result<F, cuda_sys::MissingSymbol>) -> F {
    function.unwrap_or_else(|missing| panic!("{missing}"))
}

kernels! {
    unsafe extern Kernels {
        #[launch(for_len(c), block <= 1024)]
        safe fn idle(a: &[f32], b: &[f32; len(a)], c: &mut [f32; len(a)], n: u32 = len(a));
    }
}

fn launch(driver: &Driver, stream: &Stream) -> Result<()> {
    let module = stream.context().load_ptx(KERNEL)?;
    let kernel = module.function("idle")?;
    // SAFETY: the kernel does nothing.
    let kernels = unsafe { Kernels::from_module(&module) }?;
    let a = stream.zeroed::<f32>(1024)?;
    let b = stream.zeroed::<f32>(1024)?;
    let mut c = stream.zeroed::<f32>(1024)?;
    let config = LaunchConfig::for_len(1024);
    let (raw_a, raw_b, raw_c) = (a.as_raw(), b.as_raw(), c.as_raw());
    let (function, raw_stream) = (kernel.as_raw(), stream.as_raw());
    let raw = || {
        let (mut a, mut b, mut c, mut n) = (raw_a, raw_b, raw_c, black_box(1024_u32));
        let mut arguments: [*mut c_void; 4] = [
            (&raw mut a).cast(),
            (&raw mut b).cast(),
            (&raw mut c).cast(),
            (&raw mut n).cast(),
        ];
        let call = found(driver.library().cuLaunchKernel());
        let pointers = arguments.as_mut_ptr();
        let extra = std::ptr::null_mut();
        // SAFETY: the kernel does nothing, and takes these four arguments.
        ok(unsafe { call(function, 4, 1, 1, 256, 1, 1, 0, raw_stream, pointers, extra) });
        Ok(())
    };
    compare(
        "launch, 4 arguments",
        stream,
        // SAFETY: the kernel does nothing.
        || unsafe { kernel.launch(stream, config, (&a, &b, &mut c, black_box(1024_u32))) },
        raw,
    )?;
    compare(
        "the same by a declaration",
        stream,
        || kernels.idle(stream, &a, &b, &mut c),
        raw,
    )
}

fn allocate(driver: &Driver, stream: &Stream) -> Result<()> {
    let raw_stream = stream.as_raw();
    compare(
        "allocate + free, 4 KiB",
        stream,
        || {
            drop(black_box(stream.uninitialized::<u8>(4096)?));
            Ok(())
        },
        || {
            raw_allocate_free(driver, raw_stream);
            Ok(())
        },
    )?;
    // What the free costs that leaves captures of other threads alone.
    compare(
        "the same, raw with exchanges",
        stream,
        || {
            drop(black_box(stream.uninitialized::<u8>(4096)?));
            Ok(())
        },
        || {
            raw_allocate_relaxed_free(driver, raw_stream);
            Ok(())
        },
    )
}

fn raw_allocate_relaxed_free(driver: &Driver, stream: CUstream) {
    let mut address = 0;
    let allocate = found(driver.library().cuMemAllocAsync());
    // SAFETY: the pointer is to a live address.
    ok(unsafe { allocate(&raw mut address, 4096, stream) });
    let exchange = found(driver.library().cuThreadExchangeStreamCaptureMode());
    let mut mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
    // SAFETY: the pointer is to a live value.
    ok(unsafe { exchange(&raw mut mode) });
    let free = found(driver.library().cuMemFreeAsync());
    // SAFETY: the address was just allocated on this stream.
    ok(unsafe { free(black_box(address), stream) });
    // SAFETY: the pointer is to a live value.
    ok(unsafe { exchange(&raw mut mode) });
}

fn raw_allocate_free(driver: &Driver, stream: CUstream) {
    let mut address = 0;
    let allocate = found(driver.library().cuMemAllocAsync());
    // SAFETY: the pointer is to a live address.
    ok(unsafe { allocate(&raw mut address, 4096, stream) });
    let free = found(driver.library().cuMemFreeAsync());
    // SAFETY: the address was just allocated on this stream.
    ok(unsafe { free(black_box(address), stream) });
}

fn small_copy(driver: &Driver, stream: &Stream) -> Result<()> {
    let buffer = stream.pinned_zeroed::<u32>(1)?;
    let mut memory = stream.zeroed::<u32>(1)?;
    let mut other = stream.zeroed::<u32>(1)?;
    let (from, to) = (buffer.as_slice()?.as_ptr(), other.as_raw());
    let raw_stream = stream.as_raw();
    compare(
        "copy 4 bytes, pinned to device",
        stream,
        || stream.copy(&buffer, &mut memory),
        || {
            let copy = found(driver.library().cuMemcpyHtoDAsync_v2());
            // SAFETY: both ends are live and have four bytes.
            ok(unsafe { copy(to, from.cast(), 4, raw_stream) });
            Ok(())
        },
    )?;
    let source = [7_u32];
    compare(
        "copy 4 bytes, slice to device",
        stream,
        || stream.copy(&source, &mut other),
        || {
            let copy = found(driver.library().cuMemcpyHtoDAsync_v2());
            // SAFETY: both ends are live and have four bytes.
            ok(unsafe { copy(to, source.as_ptr().cast(), 4, raw_stream) });
            Ok(())
        },
    )
}

/// A launch on another stream than home, against one at home.
fn crossing(home: &Stream, other: &Stream) -> Result<()> {
    let module = home.context().load_ptx(KERNEL)?;
    let kernel = module.function("idle")?;
    let a = home.zeroed::<f32>(1024)?;
    let b = home.zeroed::<f32>(1024)?;
    let mut c = home.zeroed::<f32>(1024)?;
    let mut d = other.zeroed::<f32>(1024)?;
    let config = LaunchConfig::for_len(1024);
    compare(
        "launch across streams / at home",
        home,
        // SAFETY: the kernel does nothing.
        || unsafe { kernel.launch(other, config, (&a, &b, &mut c, 1024_u32)) },
        // SAFETY: the kernel does nothing.
        || unsafe {
            kernel.launch(
                other,
                config,
                (&d.as_slice(), &d.as_slice(), &d.as_slice(), 1024_u32),
            )
        },
    )?;
    d.zero()
}

fn pinned(driver: &Driver, stream: &Stream, direction: &str) -> Result<()> {
    const BYTES: usize = 1 << 30;
    let mut buffer = stream.pinned_zeroed::<u8>(BYTES)?;
    let mut memory = stream.zeroed::<u8>(BYTES)?;
    let host = buffer.as_mut_slice()?.as_mut_ptr();
    let (device, raw_stream) = (memory.as_raw(), stream.as_raw());
    let upload = direction == "to the device";
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..9 {
        stream.synchronize()?;
        let start = Instant::now();
        if upload {
            stream.copy(&buffer, &mut memory)?;
        } else {
            stream.copy(&memory, &mut buffer)?;
        }
        stream.synchronize()?;
        ours.push(BYTES as f64 / start.elapsed().as_secs_f64() / 1e9);
        let start = Instant::now();
        if upload {
            let copy = found(driver.library().cuMemcpyHtoDAsync_v2());
            // SAFETY: both ends are live and have that many bytes.
            ok(unsafe { copy(device, host.cast(), BYTES, raw_stream) });
        } else {
            let copy = found(driver.library().cuMemcpyDtoHAsync_v2());
            // SAFETY: both ends are live and have that many bytes.
            ok(unsafe { copy(host.cast(), device, BYTES, raw_stream) });
        }
        stream.synchronize()?;
        theirs.push(BYTES as f64 / start.elapsed().as_secs_f64() / 1e9);
    }
    row(
        &format!("pinned 1 GiB {direction}"),
        median(ours),
        median(theirs),
        "GB/s",
    );
    Ok(())
}

/// Ordinary slices, which go through staging buffers.
fn slices(stream: &Stream) -> Result<()> {
    const BYTES: usize = 1 << 30;
    let mut host = vec![1_u8; BYTES];
    let mut memory = stream.zeroed::<u8>(BYTES)?;
    for _ in 0..2 {
        stream.synchronize()?;
        let start = Instant::now();
        memory.copy_from(&host)?;
        stream.synchronize()?;
        let up = BYTES as f64 / start.elapsed().as_secs_f64() / 1e9;
        let start = Instant::now();
        memory.copy_to(&mut host)?;
        let down = BYTES as f64 / start.elapsed().as_secs_f64() / 1e9;
        println!("slice of 1 GiB: {up:.1} GB/s to the device, {down:.1} GB/s to the host");
    }
    Ok(())
}
