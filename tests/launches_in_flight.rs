//! After a kernel's fault: which launches were in flight, and the mode that finds the one to blame.

use cuda_driver::{Context, Error, ErrorKind, LaunchChecking, LaunchConfig, Out, Stream};

use crate::support::bench::Bench;
use crate::support::kernels::{FAULTS, SlowAdd, VECTOR_ADD, VectorAdd, load};
use crate::support::{Test, child};

/// Runs `body` with a bench that it may ruin, in a process of its own on a GPU.
fn ruin(test: &str, body: impl FnOnce(&Bench)) {
    let test = format!("launches_in_flight::{test}");
    if Bench::only_software().is_none() && !child::is_child(&test) {
        child::must_succeed(&test);
        return;
    }
    let mut bench = Bench::new();
    bench.allow_leaks();
    body(&bench);
    let _expected = bench.take_reports();
}

/// Launches a kernel that faults, and forgets it.
fn fault(context: &Context, stream: &Stream) -> cuda_driver::Result<()> {
    let null_store = load(context, FAULTS, "null_store");
    // SAFETY: the fault is what the test wants.
    unsafe { null_store.launch(stream, LaunchConfig::new(2, 3), ()) }
}

fn names(error: &Error) -> Vec<&str> {
    let launches = error.launches_in_flight().iter();
    launches.map(|launch| &*launch.kernel).collect()
}

#[test]
fn the_error_names_what_was_launched_since_the_stream_was_known_to_be_done() {
    ruin(
        "the_error_names_what_was_launched_since_the_stream_was_known_to_be_done",
        |bench| {
            let (stream, other) = (bench.stream(), bench.stream());
            let add = VectorAdd::load(bench.context());
            let a = stream.upload(&[1.0; 10]).expect("memory");
            let mut sum = stream.zeroed::<f32>(10).expect("memory");
            let mut run = |stream: &Stream| {
                let result = add.run(stream, a.as_slice(), a.as_slice(), sum.as_mut_slice());
                result.expect("it is enqueued");
            };
            run(&other);
            run(&stream);
            stream.synchronize().expect("nothing fails");
            other.synchronize().expect("nothing fails");
            run(&stream);
            run(&stream);
            // The kernel's module may not be unloaded any more, but its function and its name are gone.
            fault(bench.context(), &stream).unwrap_or_else(|error| {
                assert_eq!(error.kind(), ErrorKind::KernelFault, "{error}");
            });
            let error = stream.synchronize().expect_err("it faults");
            assert_eq!(error.kind(), ErrorKind::KernelFault);
            assert_eq!(names(&error), ["vector_add", "vector_add", "null_store"]);
            let message = error.to_string();
            assert!(
                message.contains("`vector_add` × 2, `null_store`"),
                "{message}"
            );
            // Every later error says the same.
            let later = other.synchronize().expect_err("the context is lost");
            assert_eq!(later.launches_in_flight(), error.launches_in_flight());
        },
    );
}

#[test]
fn waiting_for_a_result_is_knowing_that_what_came_before_is_done() {
    ruin(
        "waiting_for_a_result_is_knowing_that_what_came_before_is_done",
        |bench| {
            let stream = bench.stream();
            let slow = SlowAdd::load(bench.context(), 1);
            let mut memory = stream.zeroed::<f32>(10).expect("memory");
            for _ in 0..3 {
                let result = slow.run(&stream, memory.as_mut_slice(), 1.0);
                result.expect("it is enqueued");
                memory.to_vec().expect("nothing fails");
            }
            let _enqueued = fault(bench.context(), &stream);
            let error = memory.to_vec().expect_err("it faults");
            assert_eq!(names(&error), ["null_store"], "{error}");
        },
    );
}

#[test]
fn the_context_knows_of_all_its_streams() {
    ruin("the_context_knows_of_all_its_streams", |bench| {
        let (one, two) = (bench.stream(), bench.stream());
        let slow = SlowAdd::load(bench.context(), 1);
        let mut memory = one.zeroed::<f32>(10).expect("memory");
        slow.run(&one, memory.as_mut_slice(), 1.0)
            .expect("it is enqueued");
        bench.context().synchronize().expect("nothing fails");
        let _enqueued = fault(bench.context(), &two);
        drop(two);
        let error = bench.context().synchronize().expect_err("it faults");
        assert_eq!(names(&error), ["null_store"], "{error}");
    });
}

#[test]
fn checking_each_launch_names_the_kernel_and_its_configuration() {
    ruin(
        "checking_each_launch_names_the_kernel_and_its_configuration",
        |bench| {
            let context = bench.context();
            assert_eq!(context.launch_checking(), LaunchChecking::WhenWaited);
            context.set_launch_checking(LaunchChecking::EachLaunch);
            let stream = bench.stream();
            let slow = SlowAdd::load(context, 1);
            let mut memory = stream.zeroed::<f32>(10).expect("memory");
            slow.run(&stream, memory.as_mut_slice(), 1.0)
                .expect("it runs");
            let error = fault(context, &stream).expect_err("it faults");
            assert_eq!(error.kind(), ErrorKind::KernelFault, "{error}");
            assert_eq!(
                error.subject(),
                "run `null_store` in 2×1×1 blocks of 3×1×1 threads with 0 bytes of dynamic shared memory"
            );
            assert_eq!(names(&error), ["null_store"]);
            context.set_launch_checking(LaunchChecking::WhenWaited);
        },
    );
}

#[test]
fn the_environment_makes_a_whole_program_check() {
    let test = "launches_in_flight::the_environment_makes_a_whole_program_check";
    if !child::is_child(test) {
        child::must_succeed_with(test, &[("CUDA_DRIVER_CHECK_LAUNCHES", "1")]);
        return;
    }
    let mut bench = Bench::new();
    bench.allow_leaks();
    let stream = bench.stream();
    assert_eq!(
        bench.context().launch_checking(),
        LaunchChecking::EachLaunch
    );
    let error = fault(bench.context(), &stream).expect_err("it faults");
    assert!(
        error.subject().starts_with("run `null_store` in"),
        "{error}"
    );
    let _expected = bench.take_reports();
}

#[test]
fn a_checked_launch_is_a_launch_and_a_wait_until_checking_ends() -> Test {
    let Some(bench) = Bench::only_software() else {
        return Ok(());
    };
    let (context, stream) = (bench.context(), bench.stream());
    let add = load(context, VECTOR_ADD, "vector_add");
    let a = stream.upload(&[1.0_f32; 10])?;
    let mut sum = stream.zeroed::<f32>(10)?;
    let config = LaunchConfig::for_len(10);
    let prepared = add.prepare(config)?;
    for (checking, expected) in [
        (
            LaunchChecking::EachLaunch,
            "1 × cuLaunchKernel, 1 × cuStreamSynchronize, 2 × cuThreadExchangeStreamCaptureMode",
        ),
        (LaunchChecking::WhenWaited, "1 × cuLaunchKernel"),
    ] {
        context.set_launch_checking(checking);
        let (result, calls) = bench.calls_of(|| {
            // SAFETY: the kernel reads `a` and writes `sum`, ten elements each; so does the next.
            unsafe { add.launch(&stream, config, (&a, &a, &mut sum, 10_u32)) }
        });
        assert_eq!((result?, calls.as_str()), ((), expected));
        let (result, calls) = bench.calls_of(|| {
            // SAFETY: as above.
            unsafe { prepared.launch(&stream, (&a, &a, &mut sum, 10_u32)) }
        });
        assert_eq!((result?, calls.as_str()), ((), expected));
    }
    context.set_launch_checking(LaunchChecking::EachLaunch);
    let mut host = [0.0_f32; 10];
    // SAFETY: as above.
    unsafe { add.launch(&stream, config, (&a, &a, Out(&mut host), 10_u32)) }?;
    assert_eq!(host, [2.0; 10]);
    Ok(())
}
