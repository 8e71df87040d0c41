//! Kernels whose calls find their target when they run: recursion, tables of functions, virtual functions, variable arrays.

use cuda_driver::{LaunchConfig, Limit};
use cuda_sim::ReportKind;
use cuda_sys::CUresult;

use crate::support::Test;
use crate::support::bench::Bench;
use crate::support::child;
use crate::support::kernels::{FUNCTIONS, load};

const THREADS: u32 = 96;

fn each(value: impl Fn(u32) -> u32) -> Vec<u32> {
    (0..THREADS).map(value).collect()
}

/// What a kernel with the one parameter `out` gives each thread of a block.
fn results(bench: &Bench, name: &str) -> Vec<u32> {
    let stream = bench.stream();
    let mut out = stream.zeroed::<u32>(THREADS as usize).expect("memory");
    let kernel = load(bench.context(), FUNCTIONS, name);
    // SAFETY: each thread writes its own element.
    unsafe { kernel.launch(&stream, LaunchConfig::new(1, THREADS), (&mut out,)) }
        .expect("it is enqueued");
    out.to_vec().expect("it succeeds")
}

#[test]
fn recursion_to_a_depth_of_each_threads_own() {
    let bench = Bench::new();
    let fibonacci = [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89];
    let expected = each(|t| fibonacci[t as usize % 12]);
    assert_eq!(results(&bench, "recursion"), expected);
}

#[test]
fn neighbouring_threads_call_different_functions() {
    let bench = Bench::new();
    let apply = |which: u32, a: u32, b: u32| match which {
        0 => a + b,
        1 => a * b,
        _ => a ^ b,
    };
    let expected = each(|t| apply((t / 3 + 2) % 3, apply(t % 3, t, 7), 1000));
    assert_eq!(results(&bench, "table"), expected);
}

#[test]
fn virtual_functions() {
    let bench = Bench::new();
    let expected = each(|t| match t % 3 {
        0 => 0,
        1 => t * t * 10 + 4,
        _ => 6 * t * t * 10 + 8,
    });
    assert_eq!(results(&bench, "shapes"), expected);
}

#[test]
fn one_launch_calls_the_function_whose_address_another_found() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let module = bench.context().load_ptx(FUNCTIONS)?;
    let mut found = stream.zeroed::<u64>(3)?;
    let addresses = module.function("addresses")?;
    // SAFETY: the kernel writes three addresses.
    unsafe { addresses.launch(&stream, LaunchConfig::new(1, 1), (&mut found,)) }?;
    let call_address = module.function("call_address")?;
    let mut out = stream.zeroed::<u32>(THREADS as usize)?;
    let expected = [each(|t| t + 5), each(|t| t * 5), each(|t| t ^ 5)];
    for (which, expected) in expected.iter().enumerate() {
        let address = found.slice(which..which + 1)?;
        let config = LaunchConfig::new(1, THREADS);
        // SAFETY: the address is that of a function with two parameters, and each thread writes its own element.
        unsafe { call_address.launch(&stream, config, (address, &mut out)) }?;
        assert_eq!(out.to_vec()?, *expected);
    }
    Ok(())
}

#[test]
fn arrays_as_long_as_the_launch_says() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let kernel = load(bench.context(), FUNCTIONS, "variable_array");
    let mut out = stream.zeroed::<u32>(THREADS as usize)?;
    for n in [1, 13, 300] {
        let config = LaunchConfig::new(1, THREADS);
        // SAFETY: each thread writes its own element.
        unsafe { kernel.launch(&stream, config, (n, &mut out)) }?;
        let expected = each(|t| {
            let length = n + t % 4;
            let byte = |i: u32| (i * 3 + t) & 0xff;
            (0..length).map(|i| byte(i * 7 % length)).sum()
        });
        assert_eq!(out.to_vec()?, expected, "{n}");
    }
    Ok(())
}

#[test]
fn a_larger_stack_lets_calls_nest_deeper() -> Test {
    // The limit is the context's, and other tests share that.
    const NAME: &str = "functions::a_larger_stack_lets_calls_nest_deeper";
    if !child::is_child(NAME) {
        child::must_succeed(NAME);
        return Ok(());
    }
    let bench = Bench::new();
    bench.context().set_limit(Limit::StackSize, 64 << 10)?;
    let stream = bench.stream();
    let kernel = load(bench.context(), FUNCTIONS, "depth");
    let mut out = stream.zeroed::<u32>(THREADS as usize)?;
    let config = LaunchConfig::new(1, THREADS);
    // SAFETY: each thread writes its own element.
    unsafe { kernel.launch(&stream, config, (100_u32, &mut out)) }?;
    let expected = each(|t| {
        (0..=100)
            .map(|depth| t + depth % 16 + (depth..=100).sum::<u32>())
            .sum()
    });
    assert_eq!(out.to_vec()?, expected);
    Ok(())
}

/// A GPU may do anything here.
#[test]
fn calls_that_nest_deeper_than_the_stack_are_reported() -> Test {
    let Some(mut bench) = Bench::only_software() else {
        return Ok(());
    };
    bench.allow_leaks();
    let stream = bench.stream();
    let kernel = load(bench.context(), FUNCTIONS, "depth");
    let mut out = stream.zeroed::<u32>(THREADS as usize)?;
    let config = LaunchConfig::new(1, THREADS);
    // SAFETY: the fault is what the test wants.
    unsafe { kernel.launch(&stream, config, (100_u32, &mut out)) }?;
    let error = stream.synchronize().expect_err("the stack is too small");
    assert_eq!(error.status(), Some(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS));
    let reports = bench.take_reports();
    assert_eq!(reports[0].kind, ReportKind::StackOverflow);
    Ok(())
}

#[test]
fn an_address_of_no_function_loses_the_context() -> Test {
    // A GPU executes what happens to be there: one address was an illegal instruction, and another made the kernel hang.
    let Some(mut bench) = Bench::only_software() else {
        return Ok(());
    };
    bench.allow_leaks();
    let stream = bench.stream();
    let kernel = load(bench.context(), FUNCTIONS, "call_address");
    let address = stream.upload(&[0x7_0000_u64])?;
    let mut out = stream.zeroed::<u32>(THREADS as usize)?;
    let config = LaunchConfig::new(1, THREADS);
    // SAFETY: the fault is what the test wants.
    unsafe { kernel.launch(&stream, config, (&address, &mut out)) }?;
    let error = stream.synchronize().expect_err("nothing is there");
    assert!(error.is_sticky(), "{error}");
    assert_eq!(
        error.status(),
        Some(CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION)
    );
    let reports = bench.take_reports();
    assert_eq!(reports[0].kind, ReportKind::BadCall);
    assert_eq!(reports[0].kernel.as_deref(), Some("call_address"));
    Ok(())
}
