//! Host memory as arguments of launches: complete at the return, in the order of the stream, untouched by failures.

use cuda_driver::{
    AnyStream, DynamicArgument, ErrorKind, Function, In, InOut, LaunchConfig, Out, launch,
};
use cuda_sim::DeviceConfig;
use cuda_sys::{CUdevice_attribute, CUresult};

use crate::support::bench::Bench;
use crate::support::kernels::{FAULTS, SHARED_DYNAMIC, SPIN, VECTOR_ADD, load};
use crate::support::{Test, child, numbers, sized};

/// `a + b` of host memory only.
fn sum_of(add: &Function, stream: &impl AnyStream, a: &[f32], b: &[f32]) -> Vec<f32> {
    let mut sum = vec![-1.0; a.len()];
    let n = u32::try_from(a.len()).expect("it is short");
    let config = LaunchConfig::for_len(a.len());
    // SAFETY: the kernel reads `a` and `b` and writes `sum`, each below index `n`, which is the length of all.
    unsafe { add.launch(stream, config, (In(a), In(b), Out(&mut sum), n)) }.expect("a sum");
    sum
}

fn floats(len: usize, first: f32) -> Vec<f32> {
    (0..len).map(|it| first + (it % 1000) as f32).collect()
}

#[test]
fn slices_of_all_sizes_go_through_a_launch() {
    let bench = Bench::new();
    let stream = bench.stream();
    let add = load(bench.context(), VECTOR_ADD, "vector_add");
    // None, few, around the sizes at which copies are cut into pieces.
    for len in [0, 1, 63, 1000, sized(16 << 10), sized((1 << 20) + 3)] {
        let (a, b) = (floats(len, 0.5), floats(len, 1.0));
        let expected: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
        assert_eq!(sum_of(&add, &stream, &a, &b), expected, "{len}");
    }
}

#[test]
fn every_kind_of_stream_takes_them() -> Test {
    let bench = Bench::new();
    let context = bench.context();
    let add = load(context, VECTOR_ADD, "vector_add");
    let (a, b) = (floats(100, 0.5), floats(100, 1.0));
    let expected: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    let own = bench.stream();
    let borrow = |stream: &cuda_driver::BorrowedStream| sum_of(&add, stream, &a, &b);
    // SAFETY: the stream is live.
    let borrowed = unsafe { context.with_borrowed_stream(own.as_raw(), borrow) };
    assert_eq!(borrowed, expected);
    assert_eq!(sum_of(&add, &own, &a, &b), expected);
    assert_eq!(sum_of(&add, &context.legacy_stream(), &a, &b), expected);
    assert_eq!(sum_of(&add, &context.per_thread_stream(), &a, &b), expected);
    Ok(())
}

#[test]
fn what_goes_in_and_out_is_changed_in_place_and_waits_for_device_memory() -> Test {
    let bench = Bench::new();
    let (home, other) = (bench.stream(), bench.stream());
    let slow = load(bench.context(), SPIN, "delay_then_add");
    let mut memory = home.upload(&[1.0_f32; 100])?;
    let config = LaunchConfig::for_len(100);
    let steps = bench.slow();
    // SAFETY: the kernel changes a hundred elements; so does the next.
    unsafe { slow.launch(&home, config, (&mut memory, 100_u32, 1.0_f32, steps)) }?;
    let mut host = [5.0_f32; 100];
    // SAFETY: as above.
    unsafe { launch!(other, slow<<<1, 128>>>(InOut(&mut host), 100_u32, 2.0_f32, 1_u32)) }?;
    assert_eq!(host, [7.0; 100]);
    let add = load(bench.context(), VECTOR_ADD, "vector_add");
    let mut sum = vec![0.0_f32; 100];
    let arguments = (&memory, In(&host), Out(&mut sum), 100_u32);
    // SAFETY: the kernel reads and writes a hundred elements of each.
    unsafe { add.launch(&other, config, arguments) }?;
    assert_eq!(sum, [9.0; 100]);
    Ok(())
}

#[test]
fn single_values_are_slices_of_one() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let add = load(bench.context(), VECTOR_ADD, "vector_add");
    let (a, mut sum) = (1.5_f32, 0.0_f32);
    let arguments = (In::value(&a), In::value(&a), Out::value(&mut sum), 1_u32);
    // SAFETY: the kernel reads and writes one element of each.
    unsafe { add.launch(&stream, LaunchConfig::new(1, 1), arguments) }?;
    assert_eq!(sum, 3.0);
    let slow = load(bench.context(), SPIN, "delay_then_add");
    let arguments = (InOut::value(&mut sum), 1_u32, 1.0_f32, 1_u32);
    // SAFETY: the kernel changes one element.
    unsafe { slow.launch(&stream, LaunchConfig::new(1, 1), arguments) }?;
    assert_eq!(sum, 4.0);
    Ok(())
}

#[test]
fn lists_and_prepared_launches_take_them() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let add = load(bench.context(), VECTOR_ADD, "vector_add");
    let a = floats(100, 1.0);
    let expected: Vec<f32> = a.iter().map(|it| it * 2.0).collect();
    let config = LaunchConfig::for_len(100);
    let mut sum = vec![0.0_f32; 100];
    let arguments = [
        DynamicArgument::input(&a),
        DynamicArgument::input(&a),
        DynamicArgument::output(&mut sum),
        DynamicArgument::value(&100_u32),
    ];
    // SAFETY: the kernel reads `a` and writes `sum`, a hundred elements each; so do the next.
    unsafe { add.launch_dynamic(&stream, config, &arguments) }?;
    assert_eq!(sum, expected);
    let mut sum = vec![0.0_f32; 100];
    let prepared = add.prepare(config.with_priority(0))?;
    // SAFETY: as above.
    unsafe { prepared.launch(&stream, (In(&a), In(&a), Out(&mut sum), 100_u32)) }?;
    assert_eq!(sum, expected);
    let reverse = load(bench.context(), SHARED_DYNAMIC, "reverse_blocks");
    let mut data = numbers(32);
    let config = LaunchConfig::new(1, 32).with_dynamic_shared_bytes(128);
    let arguments = [DynamicArgument::in_out(&mut data)];
    // SAFETY: the kernel reverses 32 numbers.
    unsafe { reverse.launch_dynamic(&stream, config, &arguments) }?;
    data.reverse();
    assert_eq!(data, numbers(32));
    Ok(())
}

#[test]
fn elements_that_the_kernel_leaves_out_are_zero() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let add = load(bench.context(), VECTOR_ADD, "vector_add");
    let a = [1.0_f32; 100];
    let mut sum = [7.0_f32; 100];
    let arguments = (In(&a), In(&a), Out(&mut sum), 50_u32);
    // SAFETY: the kernel reads and writes fifty elements of each.
    unsafe { add.launch(&stream, LaunchConfig::for_len(50), arguments) }?;
    assert_eq!((&sum[..50], &sum[50..]), (&[2.0; 50][..], &[0.0; 50][..]));
    Ok(())
}

#[test]
fn a_refused_launch_changes_nothing() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let add = load(bench.context(), VECTOR_ADD, "vector_add");
    let a = [1.0_f32; 10];
    let mut sum = [7.0_f32; 10];
    let config = LaunchConfig::new(1, 4096);
    // SAFETY: the launch must be refused; so must the next.
    let error = unsafe { add.launch(&stream, config, (In(&a), In(&a), Out(&mut sum), 10_u32)) }
        .expect_err("no device has such blocks");
    assert_eq!(error.kind(), ErrorKind::LaunchTooLarge);
    // SAFETY: as above.
    let error = unsafe { add.launch(&stream, config, (In(&a), Out(&mut sum))) }
        .expect_err("two are too few");
    assert_eq!(error.kind(), ErrorKind::ArgumentMismatch);
    assert_eq!(sum, [7.0; 10]);
    Ok(())
}

#[test]
fn results_of_a_kernel_that_faults_are_not_written() {
    let name = "host_arguments::results_of_a_kernel_that_faults_are_not_written";
    if Bench::only_software().is_none() && !child::is_child(name) {
        child::must_succeed(name);
        return;
    }
    let mut bench = Bench::new();
    bench.allow_leaks();
    let stream = bench.stream();
    let store = load(bench.context(), FAULTS, "out_of_bounds");
    let mut data = [7_i32; 16];
    let arguments = (InOut(&mut data), 1_u64 << 45);
    // SAFETY: the fault is what the test wants.
    let error = unsafe { store.launch(&stream, LaunchConfig::new(1, 32), arguments) }
        .expect_err("it faults");
    assert_eq!(error.kind(), ErrorKind::KernelFault);
    assert_eq!(data, [7; 16]);
    let _expected = bench.take_reports();
}

#[test]
fn an_error_of_a_launch_that_runs_all_the_same_writes_nothing() -> Test {
    let Some(bench) = Bench::only_software() else {
        return Ok(());
    };
    let stream = bench.stream();
    let add = load(bench.context(), VECTOR_ADD, "vector_add");
    let a = [1.0_f32; 10];
    for symbol in ["cuLaunchKernel", "cuMemcpyDtoHAsync_v2"] {
        let mut sum = [7.0_f32; 10];
        bench
            .simulator()
            .fail_after_executing(symbol, 1, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
        let arguments = (In(&a), In(&a), Out(&mut sum), 10_u32);
        // SAFETY: the kernel reads and writes ten elements of each.
        let result = unsafe { add.launch(&stream, LaunchConfig::for_len(10), arguments) };
        assert!(result.is_err());
        assert_eq!(sum, [7.0; 10], "{symbol}");
    }
    Ok(())
}

#[test]
fn devices_without_memory_pools_take_them() -> Test {
    let mut device = DeviceConfig::h200();
    let pools = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED;
    device.attributes.push((pools, 0));
    let Some(bench) = Bench::only_software_with(|it| it.devices(vec![device])) else {
        return Ok(());
    };
    let add = load(bench.context(), VECTOR_ADD, "vector_add");
    let a = floats(100, 1.0);
    let expected: Vec<f32> = a.iter().map(|it| it * 2.0).collect();
    assert_eq!(sum_of(&add, &bench.stream(), &a, &a), expected);
    Ok(())
}

#[test]
fn a_launch_that_only_reads_the_host_waits_for_nothing() -> Test {
    let Some(bench) = Bench::only_software() else {
        return Ok(());
    };
    let stream = bench.stream();
    let add = load(bench.context(), VECTOR_ADD, "vector_add");
    let a = [1.0_f32; 10];
    let mut sum = stream.zeroed::<f32>(10)?;
    let mut launch = || {
        let arguments = (In(&a), In(&a), &mut sum, 10_u32);
        // SAFETY: the kernel reads and writes ten elements of each.
        unsafe { add.launch(&stream, LaunchConfig::for_len(10), arguments) }
    };
    launch()?;
    let (result, calls) = bench.calls_of(launch);
    result?;
    assert_eq!(
        calls,
        "1 × cuLaunchKernel, 1 × cuMemAllocAsync, 1 × cuMemFreeAsync, 2 × cuMemcpyHtoDAsync_v2, \
         4 × cuThreadExchangeStreamCaptureMode"
    );
    assert_eq!(sum.to_vec()?, [2.0; 10]);
    Ok(())
}
