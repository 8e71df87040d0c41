//! The process: forks, and its end.

use cuda_driver::ErrorKind;

use crate::support::bench::Bench;
use crate::support::kernels::SlowAdd;
use crate::support::{Test, child};

#[cfg(unix)]
unsafe extern "C" {
    fn fork() -> i32;
    fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
    fn _exit(status: i32) -> !;
}

/// What the forked child finds: 0 if all is as it must be, else the number of the first step that is not.
#[cfg(unix)]
fn in_forked_child(bench: &Bench) -> i32 {
    let forked = |kind: Result<(), cuda_driver::Error>| {
        kind.is_err_and(|it| it.kind() == ErrorKind::ForkedProcess)
    };
    let context = bench.context();
    let steps = [
        forked(context.synchronize()),
        forked(context.memory_info().map(drop)),
        forked(context.create_stream().map(drop)),
        forked(context.legacy_stream().synchronize()),
        forked(bench.driver().device_count().map(drop)),
        forked(context.legacy_stream().zeroed::<u8>(1).map(drop)),
    ];
    steps
        .iter()
        .position(|ok| !ok)
        .map_or(0, |step| step as i32 + 1)
}

#[cfg(unix)]
#[test]
fn a_forked_child_gets_forked_process_and_drops_are_silent() -> Test {
    const NAME: &str = "process::a_forked_child_gets_forked_process_and_drops_are_silent";
    if !child::is_child(NAME) {
        child::must_succeed(NAME);
        return Ok(());
    }
    let bench = Bench::new();
    let (stream, other) = (bench.stream(), bench.stream());
    let mut memory = stream.upload(&[1_u32; 100])?;
    other.fill(&mut memory, 2)?;
    let buffer = stream.pinned_zeroed::<u8>(10)?;
    let module = bench.context().load_ptx(crate::support::kernels::SPIN)?;
    let event = bench
        .context()
        .create_event(cuda_driver::EventFlags::TIMING)?;
    stream.synchronize()?;
    // SAFETY: the child calls nothing but this crate, which refuses, and ends at once.
    let process = unsafe { fork() };
    assert!(process >= 0);
    if process == 0 {
        let wrong = in_forked_child(&bench);
        drop((memory, buffer, module, event));
        drop((stream, other));
        std::mem::forget(bench);
        // SAFETY: ends the child without the handlers of its parent.
        unsafe { _exit(wrong) };
    }
    let mut status = -1;
    // SAFETY: the pointer is to a live integer, and the process is our child.
    assert_eq!(unsafe { waitpid(process, &raw mut status, 0) }, process);
    assert_eq!(
        status,
        0,
        "the child's status: signal {}, code {}",
        status & 0x7f,
        status >> 8
    );
    // The parent goes on as before.
    assert_eq!(memory.to_vec()?, [2; 100]);
    Ok(())
}

#[test]
fn exit_with_live_objects_is_silent() {
    const NAME: &str = "process::exit_with_live_objects_is_silent";
    if !child::is_child(NAME) {
        let output = child::run(NAME);
        assert!(output.status.success(), "{output:?}");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            !errors.contains("ERROR") && !errors.contains("panicked"),
            "{errors}"
        );
        assert!(
            errors.contains("the end is near"),
            "the child did not come that far: {errors}"
        );
        return;
    }
    thread_local! {
        static KEPT: std::cell::RefCell<Option<Box<dyn std::any::Any>>> = const { std::cell::RefCell::new(None) };
    }
    static FOREVER: std::sync::Mutex<Option<Box<dyn std::any::Any + Send>>> =
        std::sync::Mutex::new(None);
    let bench = Bench::new();
    let (stream, other) = (bench.stream(), bench.stream());
    let slow = SlowAdd::load(bench.context(), bench.slow());
    let mut memory = stream.zeroed::<f32>(256).expect("memory");
    slow.run(&other, memory.as_mut_slice(), 1.0)
        .expect("it is enqueued");
    let buffer = stream.pinned_zeroed::<u8>(100).expect("memory");
    *FOREVER.lock().expect("no panic") = Some(Box::new((memory, buffer, stream, other, slow)));
    KEPT.with(|kept| *kept.borrow_mut() = Some(Box::new(bench.context().clone())));
    std::mem::forget(bench);
    eprintln!("the end is near");
    std::process::exit(0);
}

#[test]
fn objects_in_thread_locals_are_dropped_with_their_thread() -> Test {
    thread_local! {
        static KEPT: std::cell::RefCell<Option<Box<dyn std::any::Any>>> = const { std::cell::RefCell::new(None) };
    }
    let bench = Bench::new();
    let stream = bench.stream();
    let memory = stream.upload(&[1_u32; 100])?;
    let buffer = stream.pinned_zeroed::<u8>(100)?;
    let event = bench
        .context()
        .create_event(cuda_driver::EventFlags::TIMING)?;
    let module = bench.context().load_ptx(crate::support::kernels::SPIN)?;
    let keep = move || {
        KEPT.with(|kept| *kept.borrow_mut() = Some(Box::new((memory, buffer, event, module))))
    };
    std::thread::spawn(keep).join().expect("no panic");
    stream.synchronize()?;
    Ok(())
}
