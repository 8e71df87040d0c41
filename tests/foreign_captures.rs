//! Beside a capture of another thread, in the mode that forbids much to all threads: what a program did not ask for neither fails by it
//! nor ends it.

use std::sync::mpsc::channel;

use cuda_driver::{
    Context, DynamicArgument, In, InOut, LaunchChecking, LaunchConfig, Out, Result, call, kernels,
};
use cuda_sim::DeviceConfig;
use cuda_sys::{CUdevice_attribute, CUresult, CUstreamCaptureMode};

use crate::support::bench::Bench;
use crate::support::kernels::{SHARED_DYNAMIC, VECTOR_ADD, load};
use crate::support::{Test, numbers};

/// Runs `body` while another thread captures, and demands that the capture ends as if nothing had been.
fn beside_a_capture<R>(bench: &Bench, body: impl FnOnce() -> R) -> std::result::Result<R, String> {
    let (driver, stream) = (bench.driver(), bench.stream());
    let (began, has_begun) = channel();
    let (done, is_done) = channel::<()>();
    std::thread::scope(|scope| {
        let capturing = scope.spawn(|| -> Result<()> {
            let (is_done, began) = (is_done, began);
            let raw = stream.as_raw();
            let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL;
            // SAFETY: nothing else uses the stream.
            let started = unsafe { call!(driver, cuStreamBeginCapture_v2(raw, mode)) };
            let _sent = began.send(());
            started?;
            let _received = is_done.recv();
            let mut graph = std::ptr::null_mut();
            // SAFETY: this thread began the capture, and the pointer is to a live handle.
            unsafe { call!(driver, cuStreamEndCapture(raw, &raw mut graph)) }?;
            // SAFETY: the graph is ours and nothing uses it.
            unsafe { call!(driver, cuGraphDestroy(graph)) }
        });
        let _received = has_begun.recv();
        let result = body();
        drop(done);
        match capturing.join() {
            Ok(Ok(())) => Ok(result),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err("it panicked".into()),
        }
    })
}

/// Launches with memory of the host in every way.
fn launch_through_the_host(context: &Context) -> Result<()> {
    let stream = context.create_stream()?;
    let module = context.load_ptx(VECTOR_ADD)?;
    let add = module.function("vector_add")?;
    let (a, mut both, mut sum) = ([1.0_f32; 100], [0.5_f32; 100], [0.0_f32; 100]);
    let config = LaunchConfig::for_len(100);
    let arguments = (In(&a), InOut(&mut both), Out(&mut sum), 100_u32);
    // SAFETY: the kernel reads the first two and writes `sum`, a hundred elements each.
    unsafe { add.launch(&stream, config, arguments) }?;
    assert_eq!(sum, [1.5; 100]);
    let arguments = [
        DynamicArgument::input(&a),
        DynamicArgument::input(&a),
        DynamicArgument::output(&mut sum),
        DynamicArgument::value(&100_u32),
    ];
    // SAFETY: as above.
    unsafe { add.launch_dynamic(&stream, config, &arguments) }?;
    assert_eq!(sum, [2.0; 100]);
    // SAFETY: as above.
    unsafe {
        add.launch(
            &context.per_thread_stream(),
            config,
            (In(&a), In(&a), Out(&mut sum), 100_u32),
        )
    }
}

#[test]
fn memory_of_the_host_goes_through_launches() -> Test {
    let Some(bench) = Bench::alone("foreign_captures::memory_of_the_host_goes_through_launches")
    else {
        return Ok(());
    };
    beside_a_capture(&bench, || launch_through_the_host(bench.context()))??;
    let mut device = DeviceConfig::h200();
    let pools = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED;
    device.attributes.push((pools, 0));
    if let Some(bench) = Bench::only_software_with(|it| it.devices(vec![device])) {
        beside_a_capture(&bench, || launch_through_the_host(bench.context()))??;
    }
    Ok(())
}

#[test]
fn what_would_disturb_it_does_when_it_is_asked_for() {
    // The counterpart, so that the other tests can fail.
    let Some(bench) =
        Bench::alone("foreign_captures::what_would_disturb_it_does_when_it_is_asked_for")
    else {
        return;
    };
    let stream = bench.stream();
    let disturbed = beside_a_capture(&bench, || stream.zeroed::<u8>(1).map(drop).is_err());
    let Err(error) = disturbed else {
        panic!("memory was allocated beside a capture: {disturbed:?}");
    };
    assert!(error.contains("CAPTURE_INVALIDATED"), "{error}");
}

#[test]
fn each_launch_is_checked() -> Test {
    let Some(bench) = Bench::alone("foreign_captures::each_launch_is_checked") else {
        return Ok(());
    };
    let stream = bench.stream();
    let mut data = stream.upload(&numbers(32))?;
    let reverse = load(bench.context(), SHARED_DYNAMIC, "reverse_blocks");
    bench
        .context()
        .set_launch_checking(LaunchChecking::EachLaunch);
    let config = LaunchConfig::new(1, 32).with_dynamic_shared_bytes(128);
    // SAFETY: the kernel reverses 32 numbers.
    beside_a_capture(&bench, || unsafe {
        reverse.launch(&stream, config, (&mut data,))
    })??;
    let mut expected = numbers(32);
    expected.reverse();
    assert_eq!(data.to_vec()?, expected);
    Ok(())
}

kernels! {
    unsafe extern Kernels from ptx "../examples/kernels/vector_add.ptx" {
        #[launch(for_len(sum), block <= 1024)]
        #[prepared(VectorAdd)]
        safe fn vector_add(a: &[f32], b: &[f32; len(a)], sum: &mut [f32; len(a)], n: u32 = len(a));
    }
}

#[test]
fn kernels_are_loaded_prepared_launched_and_unloaded() -> Test {
    let Some(bench) =
        Bench::alone("foreign_captures::kernels_are_loaded_prepared_launched_and_unloaded")
    else {
        return Ok(());
    };
    let (stream, other) = (bench.stream(), bench.stream());
    let a = stream.upload(&[1.0; 100])?;
    let mut sum = stream.zeroed(100)?;
    beside_a_capture(&bench, || -> Result<()> {
        let kernels = Kernels::load(bench.context())?;
        let add: VectorAdd = kernels.vector_add_prepare(LaunchConfig::for_len(100))?;
        for stream in [&stream, &other] {
            add.launch(stream, &a, &a, &mut sum)?;
            kernels.vector_add(stream, &a, &a, &mut sum)?;
        }
        drop((kernels, add));
        let library = bench.driver().load_library_ptx(VECTOR_ADD)?;
        let add = library.function(bench.context(), "vector_add")?;
        drop((library, add));
        Ok(())
    })??;
    assert_eq!(sum.to_vec()?, [2.0; 100]);
    Ok(())
}

#[test]
fn what_a_failure_waits_for() -> Test {
    let Some(bench) = Bench::only_software() else {
        return Ok(());
    };
    let (stream, other) = (bench.stream(), bench.stream());
    let kernels = Kernels::load(bench.context())?;
    let a = stream.upload(&[1.0; 100])?;
    let mut sum = stream.zeroed(100)?;
    let result = beside_a_capture(&bench, || {
        // The launch runs, and cannot be followed: so it is waited for.
        let error = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
        bench.simulator().fail("cuEventRecord", 3, error);
        kernels.vector_add(&other, &a, &a, &mut sum)
    })?;
    assert!(result.is_err());
    assert_eq!(sum.to_vec()?, [2.0; 100]);
    Ok(())
}
