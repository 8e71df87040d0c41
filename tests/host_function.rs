//! Host functions: closures that run in stream order on a thread of the driver's.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cuda_driver::{ErrorKind, EventFlags};
use cuda_sys::CUresult;

use crate::support::bench::Bench;
use crate::support::child;
use crate::support::kernels::SlowAdd;
use crate::support::{Test, log_lines};

const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn host_functions_run_in_stream_order() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let order = Arc::new(Mutex::new(Vec::new()));
    for number in 0..10 {
        let order = Arc::clone(&order);
        stream.host_function(move || order.lock().expect("no panic").push(number))?;
    }
    stream.synchronize()?;
    assert_eq!(
        *order.lock().expect("no panic"),
        (0..10).collect::<Vec<_>>()
    );
    Ok(())
}

#[test]
fn a_host_function_runs_after_the_work_in_front_of_it() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let slow = SlowAdd::load(bench.context(), bench.slow());
    let mut scratch = stream.zeroed::<f32>(256)?;
    let done = bench.context().create_event(EventFlags::DISABLE_TIMING)?;
    slow.occupy(&stream, &mut scratch)?;
    done.record(&stream)?;
    let (sender, receiver) = channel();
    stream.host_function(move || sender.send(()).expect("the test waits"))?;
    stream.synchronize()?;
    receiver.recv_timeout(PATIENCE)?;
    assert!(done.is_complete()?);
    Ok(())
}

#[test]
fn every_call_inside_a_host_function_is_refused_without_touching_the_driver() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let inner = stream.clone();
    let context = bench.context().clone();
    let (sender, receiver) = channel();
    stream.host_function(move || {
        let kinds = [
            inner.synchronize().map_err(|it| it.kind()),
            inner.is_idle().map(drop).map_err(|it| it.kind()),
            inner.zeroed::<u8>(1).map(drop).map_err(|it| it.kind()),
            context.synchronize().map_err(|it| it.kind()),
            context.create_stream().map(drop).map_err(|it| it.kind()),
            context.memory_info().map(drop).map_err(|it| it.kind()),
            inner.host_function(|| ()).map_err(|it| it.kind()),
        ];
        sender.send(kinds).expect("the test waits");
    })?;
    stream.synchronize()?;
    let kinds = receiver.recv_timeout(PATIENCE)?;
    assert!(
        kinds
            .iter()
            .all(|kind| *kind == Err(ErrorKind::InHostFunction)),
        "{kinds:?}"
    );
    Ok(())
}

#[test]
fn other_threads_work_while_a_host_function_runs() -> Test {
    // On a GPU, what other tests free waits for the host function and lets nobody else allocate meanwhile.
    const NAME: &str = "host_function::other_threads_work_while_a_host_function_runs";
    let bench = Bench::new();
    if bench.is_real() && !child::is_child(NAME) {
        child::must_succeed(NAME);
        return Ok(());
    }
    let (stream, other) = (bench.stream(), bench.stream());
    // What allocates page-locked memory waits for the device, so it comes first.
    assert_eq!(other.upload(&[1_u8])?.to_vec()?, [1]);
    let (go, wait) = channel::<()>();
    let (running, started) = channel();
    stream.host_function(move || {
        running.send(()).expect("the test waits");
        // The test ends the wait; if it fails before, the channel does.
        let _ended = wait.recv_timeout(PATIENCE);
    })?;
    if bench.is_real() {
        started.recv_timeout(PATIENCE)?;
        let memory = other.upload(&[1_u8, 2, 3])?;
        assert_eq!(memory.to_vec()?, [1, 2, 3]);
    }
    go.send(())?;
    stream.synchronize()?;
    Ok(())
}

#[test]
fn a_panic_in_a_host_function_is_reported_and_goes_no_further() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    stream.host_function(|| panic!("on purpose, in a host function"))?;
    let (sender, receiver) = channel();
    stream.host_function(move || sender.send(()).expect("the test waits"))?;
    stream.synchronize()?;
    receiver.recv_timeout(PATIENCE)?;
    assert!(log_lines::contain("a host function panicked"));
    // The mark of the thread is gone with the panic.
    assert!(stream.is_idle()?);
    Ok(())
}

#[test]
fn drops_inside_a_host_function_are_put_off_and_happen() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let home = bench.stream();
    let module = bench.context().load_ptx(crate::support::kernels::SPIN)?;
    let memory = home.zeroed::<u32>(1000)?;
    let buffer = home.pinned_zeroed::<u32>(1000)?;
    let event = bench.context().create_event(EventFlags::TIMING)?;
    let doomed = bench.stream();
    let part = {
        let mut whole = home.zeroed::<u8>(100)?;
        let part = whole.split_off(50)?;
        drop(whole);
        part
    };
    let function = module.function("delay_then_add")?;
    let (sender, receiver) = channel();
    stream.host_function(move || {
        drop((memory, buffer, event, doomed, part, module, function));
        sender.send(()).expect("the test waits");
    })?;
    stream.synchronize()?;
    receiver.recv_timeout(PATIENCE)?;
    bench.context().collect();
    drop((stream, home));
    // The bench finds a leak otherwise.
    Ok(())
}

#[test]
fn a_closure_that_was_not_enqueued_is_dropped_and_never_runs() {
    let Some(bench) = Bench::only_software() else {
        return;
    };
    let stream = bench.stream();
    let (sender, receiver) = channel::<()>();
    bench
        .simulator()
        .fail("cuLaunchHostFunc", 1, CUresult::CUDA_ERROR_INVALID_VALUE);
    let error = stream
        .host_function(move || sender.send(()).expect("it never runs"))
        .expect_err("it fails");
    assert_eq!(error.subject(), "enqueue a host function");
    assert!(
        receiver.recv_timeout(PATIENCE).is_err(),
        "the sender is dropped, unused"
    );
}

#[test]
fn an_error_of_the_enqueue_does_not_prove_that_it_was_not_queued() -> Test {
    let Some(bench) = Bench::only_software() else {
        return Ok(());
    };
    let stream = bench.stream();
    let (sender, receiver) = channel();
    let code = CUresult::CUDA_ERROR_UNKNOWN;
    bench
        .simulator()
        .fail_after_executing("cuLaunchHostFunc", 1, code);
    let error = stream
        .host_function(move || sender.send(7).expect("the test waits"))
        .expect_err("it says so");
    assert_eq!(error.status(), Some(code));
    stream.synchronize()?;
    assert_eq!(receiver.recv_timeout(PATIENCE)?, 7);
    Ok(())
}

#[test]
fn a_host_function_owns_what_it_uses() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let text = Arc::new(String::from("kept"));
    let weak = Arc::downgrade(&text);
    stream.host_function(move || assert_eq!(*text, "kept"))?;
    stream.synchronize()?;
    let deadline = std::time::Instant::now() + PATIENCE;
    while weak.strong_count() > 0 {
        assert!(
            std::time::Instant::now() < deadline,
            "the closure is never dropped"
        );
        std::thread::yield_now();
    }
    Ok(())
}
