//! Kernels that fault: the context is lost, and says so. On a GPU each runs in a process of its own.

use cuda_driver::{Error, ErrorKind, LaunchConfig};
use cuda_sim::ReportKind;
use cuda_sys::CUresult;

use crate::support::bench::Bench;
use crate::support::kernels::{FAULTS, load};

/// Runs `body` with a bench that it may ruin.
fn ruin(test: &str, body: impl FnOnce(&Bench)) {
    let Some(bench) = Bench::to_ruin(test) else {
        return;
    };
    body(&bench);
    let _expected = bench.take_reports();
}

fn is_lost(bench: &Bench, error: &Error, statuses: &[CUresult]) {
    assert_eq!(error.kind(), ErrorKind::KernelFault, "{error}");
    assert!(
        error.status().is_some_and(|it| statuses.contains(&it)),
        "{error}"
    );
    assert!(error.is_sticky() && bench.context().is_poisoned());
    assert!(error.to_string().contains("the context is lost"), "{error}");
    // Every later call returns the same, and drops are silent.
    let again = bench
        .context()
        .synchronize()
        .expect_err("the context is lost");
    assert_eq!(again.status(), error.status());
}

#[test]
fn a_store_to_null_poisons_the_context() {
    ruin(
        "kernel_faults::a_store_to_null_poisons_the_context",
        |bench| {
            let stream = bench.stream();
            let memory = stream.zeroed::<u32>(10).expect("memory");
            let null_store = load(bench.context(), FAULTS, "null_store");
            // SAFETY: the fault is what the test wants, and nothing else uses the device.
            unsafe { null_store.launch(&stream, LaunchConfig::new(1, 1), ()) }
                .expect("it is enqueued");
            let error = stream.synchronize().expect_err("it faults");
            is_lost(bench, &error, &[CUresult::CUDA_ERROR_ILLEGAL_ADDRESS]);
            assert_eq!(
                memory.to_vec().expect_err("the context is lost").status(),
                error.status()
            );
        },
    );
}

#[test]
fn an_access_far_out_of_bounds_poisons_the_context_and_is_reported() {
    ruin(
        "kernel_faults::an_access_far_out_of_bounds_poisons_the_context_and_is_reported",
        |bench| {
            let stream = bench.stream();
            let mut memory = stream.zeroed::<i32>(16).expect("memory");
            let store = load(bench.context(), FAULTS, "out_of_bounds");
            let far = 1_u64 << 45;
            // SAFETY: the fault is what the test wants.
            unsafe { store.launch(&stream, LaunchConfig::new(1, 32), (&mut memory, far)) }
                .expect("enqueued");
            let error = stream.synchronize().expect_err("it faults");
            is_lost(bench, &error, &[CUresult::CUDA_ERROR_ILLEGAL_ADDRESS]);
            if !bench.is_real() {
                let reports = bench.take_reports();
                assert_eq!(reports[0].kind, ReportKind::OutOfBounds);
                assert_eq!(reports[0].kernel.as_deref(), Some("out_of_bounds"));
                assert!(reports[0].line.is_some() && reports[0].thread.is_some());
            }
        },
    );
}

#[test]
fn a_misaligned_access_poisons_the_context() {
    ruin(
        "kernel_faults::a_misaligned_access_poisons_the_context",
        |bench| {
            let stream = bench.stream();
            let mut memory = stream.zeroed::<i32>(16).expect("memory");
            let store = load(bench.context(), FAULTS, "misaligned");
            // SAFETY: the fault is what the test wants.
            unsafe { store.launch(&stream, LaunchConfig::new(1, 1), (&mut memory,)) }
                .expect("enqueued");
            let error = stream.synchronize().expect_err("it faults");
            is_lost(bench, &error, &[CUresult::CUDA_ERROR_MISALIGNED_ADDRESS]);
        },
    );
}

#[test]
fn a_trap_poisons_the_context() {
    ruin("kernel_faults::a_trap_poisons_the_context", |bench| {
        let stream = bench.stream();
        let trap = load(bench.context(), FAULTS, "trap_at");
        // SAFETY: no thread has that number, so nothing happens.
        unsafe { trap.launch(&stream, LaunchConfig::new(1, 32), (1000_u32,)) }.expect("enqueued");
        stream.synchronize().expect("no thread traps");
        // SAFETY: the trap is what the test wants.
        unsafe { trap.launch(&stream, LaunchConfig::new(1, 32), (7_u32,)) }.expect("enqueued");
        let error = stream.synchronize().expect_err("it traps");
        is_lost(
            bench,
            &error,
            &[
                CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION,
                CUresult::CUDA_ERROR_LAUNCH_FAILED,
            ],
        );
    });
}

#[test]
fn waiting_for_a_buffer_after_a_fault_fails_and_frees_nothing() {
    ruin(
        "kernel_faults::waiting_for_a_buffer_after_a_fault_fails_and_frees_nothing",
        |bench| {
            let (stream, other) = (bench.stream(), bench.stream());
            let memory = stream.upload(&[1_u32; 1000]).expect("memory");
            let mut buffer = stream.pinned_zeroed::<u32>(1000).expect("memory");
            let null_store = load(bench.context(), FAULTS, "null_store");
            // SAFETY: the fault is what the test wants.
            unsafe { null_store.launch(&stream, LaunchConfig::new(1, 1), ()) }
                .expect("it is enqueued");
            if other.copy(&memory, &mut buffer).is_ok() {
                let error = buffer.as_slice().map(drop);
                let lost = stream.synchronize().expect_err("it faults");
                assert_eq!(lost.kind(), ErrorKind::KernelFault);
                assert!(error.is_err() || !bench.is_real());
            }
            assert!(stream.synchronize().is_err() && bench.context().is_poisoned());
            drop((memory, buffer));
        },
    );
}
