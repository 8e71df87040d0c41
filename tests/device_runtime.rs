//! What kernels ask of the driver: printing, assertions, memory from the heap of kernels.

use cuda_driver::{ErrorKind, LaunchConfig, Limit, Result, call};
use cuda_sim::ReportKind;
use cuda_sys::CUresult;

use crate::support::Test;
use crate::support::bench::Bench;
use crate::support::child;
use crate::support::kernels::{DEVICE_RUNTIME, load};

#[test]
fn kernels_print_to_the_process_output() -> Test {
    const NAME: &str = "device_runtime::kernels_print_to_the_process_output";
    if child::is_child(NAME) {
        let bench = Bench::new();
        let stream = bench.stream();
        let hello = load(bench.context(), DEVICE_RUNTIME, "hello");
        // SAFETY: the kernel takes a number and writes nothing.
        unsafe { hello.launch(&stream, LaunchConfig::new(1, 3), (0.5_f32,)) }?;
        stream.synchronize()?;
        return Ok(());
    }
    let text = child::must_succeed(NAME);
    // The harness writes beside it, without regard to lines.
    let expected = "thread  0 of 3|even  |  0.000|0|a|0.000000e+00|%
thread  1 of 3|odd   |  0.500|0x1000000000|b|1.000000e+10|%
thread  2 of 3|even  |  1.000|0x2000000000|c|2.000000e+10|%
returned 7
";
    assert!(text.contains(expected), "{text}");
    Ok(())
}

#[test]
fn what_kernels_print_can_be_asked_for() -> Test {
    let Some(bench) = Bench::only_software_with(|builder| builder.echo_printf(false)) else {
        return Ok(());
    };
    let stream = bench.stream();
    let hello = load(bench.context(), DEVICE_RUNTIME, "hello");
    // SAFETY: the kernel takes a number and writes nothing.
    unsafe { hello.launch(&stream, LaunchConfig::new(1, 1), (0.0_f32,)) }?;
    stream.synchronize()?;
    let expected = "thread  0 of 1|even  |  0.000|0|a|0.000000e+00|%\nreturned 7\n";
    assert_eq!(bench.simulator().printed(), expected);
    assert_eq!(bench.simulator().take_printed(), expected);
    assert_eq!(bench.simulator().take_printed(), "");
    Ok(())
}

#[test]
fn a_failed_assertion_says_where_and_loses_the_context() -> Test {
    const NAME: &str = "device_runtime::a_failed_assertion_says_where_and_loses_the_context";
    if !child::is_child(NAME) {
        let text = child::must_succeed(NAME);
        let expected = "thread: [63,0,0] Assertion `threadIdx.x < limit` failed.";
        assert!(text.contains(expected), "{text}");
        assert!(text.contains("device_runtime.cu:"), "{text}");
        return Ok(());
    }
    let mut bench = Bench::new();
    bench.allow_leaks();
    let stream = bench.stream();
    let below = load(bench.context(), DEVICE_RUNTIME, "below");
    let config = LaunchConfig::new(2, 64);
    // SAFETY: the kernel takes a number and writes nothing.
    unsafe { below.launch(&stream, config, (64_u32,)) }?;
    stream.synchronize()?;
    // SAFETY: as above. All of the last warp of one of the blocks fail, and perhaps the other block's too.
    unsafe { below.launch(&stream, LaunchConfig::new(2, 64), (63_u32,)) }?;
    let error = stream.synchronize().expect_err("an assertion fails");
    assert_eq!(error.kind(), ErrorKind::KernelFault);
    assert_eq!(error.status(), Some(CUresult::CUDA_ERROR_ASSERT));
    if !bench.is_real() {
        let reports = bench.take_reports();
        assert_eq!(reports[0].kind, ReportKind::Assert);
        assert_eq!(reports[0].thread, Some([63, 0, 0]));
        let message = &reports[0].message;
        assert!(message.contains("threadIdx.x < limit"), "{message}");
    }
    Ok(())
}

#[test]
fn memory_of_one_launch_is_released_by_another() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let module = bench.context().load_ptx(DEVICE_RUNTIME)?;
    let (take, give_back) = (module.function("take")?, module.function("give_back")?);
    let mut pieces = stream.zeroed::<u64>(128)?;
    let mut sums = stream.zeroed::<u32>(128)?;
    let config = LaunchConfig::new(2, 64);
    // SAFETY: each thread writes one address.
    unsafe { take.launch(&stream, config, (&mut pieces, 10_u32)) }?;
    let addresses = pieces.to_vec()?;
    assert!(addresses.iter().all(|&it| it != 0 && it % 16 == 0));
    // To the host, that memory is none of its own.
    let mut word = [0_u8; 4];
    let _current = bench.context().push()?;
    // SAFETY: the buffer has four bytes.
    let copied = unsafe {
        call!(
            bench.driver(),
            cuMemcpyDtoH_v2(word.as_mut_ptr().cast(), addresses[3], 4)
        )
    };
    assert_eq!(invalid(copied), CUresult::CUDA_ERROR_INVALID_VALUE);
    // SAFETY: nothing can be released there.
    let freed = unsafe { call!(bench.driver(), cuMemFree_v2(addresses[0])) };
    assert_eq!(invalid(freed), CUresult::CUDA_ERROR_INVALID_VALUE);
    assert!(bench.is_real() || bench.take_reports().len() == 1);
    // SAFETY: the kernel reads what the other wrote, ten words at each address, and releases each once.
    unsafe { give_back.launch(&stream, config, (&mut pieces, 10_u32, &mut sums)) }?;
    let expected: Vec<u32> = (0..128).map(|i| i * 1000 + 45).collect();
    assert_eq!(sums.to_vec()?, expected);
    Ok(())
}

fn invalid(result: Result<()>) -> CUresult {
    let error = result.expect_err("it is refused");
    error.status().expect("the driver refused it")
}

#[test]
fn the_heap_of_kernels_has_an_end_and_pieces_are_used_again() -> Test {
    const NAME: &str = "device_runtime::the_heap_of_kernels_has_an_end_and_pieces_are_used_again";
    if !child::is_child(NAME) {
        child::must_succeed(NAME);
        return Ok(());
    }
    let bench = Bench::new();
    let stream = bench.stream();
    let size = bench.context().limit(Limit::MallocHeapSize)?;
    assert_eq!(size, 8 << 20);
    let count_pieces = load(bench.context(), DEVICE_RUNTIME, "count_pieces");
    let mut count = stream.zeroed::<u32>(1)?;
    for (piece, range) in [
        (1_u64 << 20, 4..=8),
        (1 << 20, 4..=8),
        (1 << 40, 0..=0),
        (1 << 10, 100..=100),
    ] {
        // SAFETY: the kernel writes one number.
        unsafe { count_pieces.launch(&stream, LaunchConfig::new(1, 1), (piece, &mut count)) }?;
        let got = count.to_vec()?[0];
        assert!(range.contains(&got), "{got} pieces of {piece} bytes");
    }
    // Once a kernel has used it, its size stays.
    let late = bench.context().set_limit(Limit::MallocHeapSize, 16 << 20);
    let late = late.expect_err("it is too late");
    assert_eq!(late.status(), Some(CUresult::CUDA_ERROR_INVALID_VALUE));
    Ok(())
}

#[test]
fn misuse_of_the_heap_of_kernels_is_reported() -> Test {
    for (give_words, times, kind, status, why) in [
        (
            11_u32,
            1,
            ReportKind::OutOfBounds,
            CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
            "past the end of 40 bytes",
        ),
        (
            0,
            2,
            ReportKind::BadFree,
            CUresult::CUDA_ERROR_LAUNCH_FAILED,
            "it was freed already",
        ),
        (
            10,
            2,
            ReportKind::UseAfterFree,
            CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
            "allocated and freed",
        ),
    ] {
        let Some(mut bench) = Bench::only_software() else {
            return Ok(());
        };
        bench.allow_leaks();
        let stream = bench.stream();
        let module = bench.context().load_ptx(DEVICE_RUNTIME)?;
        let mut pieces = stream.zeroed::<u64>(1)?;
        let mut sums = stream.zeroed::<u32>(1)?;
        let config = LaunchConfig::new(1, 1);
        let take = module.function("take")?;
        // SAFETY: the thread writes one address.
        unsafe { take.launch(&stream, config, (&mut pieces, 10_u32)) }?;
        let give_back = module.function("give_back")?;
        for _ in 0..times {
            // SAFETY: the fault is what the test wants.
            unsafe { give_back.launch(&stream, config, (&mut pieces, give_words, &mut sums)) }?;
        }
        let error = stream.synchronize().expect_err("it is misused");
        assert_eq!(error.status(), Some(status), "{why}");
        let reports = bench.take_reports();
        assert_eq!(reports[0].kind, kind);
        assert!(reports[0].message.contains(why), "{}", reports[0].message);
    }
    Ok(())
}
