//! Parts of one operation that do not belong together.

use cuda_driver::{ContextFlags, Driver, ErrorKind, LaunchConfig};

use crate::support::Test;
use crate::support::bench::Bench;
use crate::support::kernels::{VECTOR_ADD, VectorAdd, load};

#[test]
fn memory_of_another_driver_is_refused_before_any_call() -> Test {
    let bench = Bench::new();
    let other = Driver::simulated()?.device(0)?.primary_context()?;
    let (here, there) = (bench.stream(), other.create_stream()?);
    let (mut ours, mut theirs) = (here.zeroed::<u32>(10)?, there.zeroed::<u32>(10)?);
    let mut buffer = there.pinned_zeroed::<u32>(10)?;
    let errors = [
        here.copy(&theirs, &mut ours).expect_err("device to device"),
        here.copy(&ours, &mut theirs).expect_err("device to device"),
        here.copy(&[0_u32; 10], &mut theirs)
            .expect_err("host to device"),
        here.copy(&theirs, &mut [0_u32; 10])
            .expect_err("device to host"),
        here.copy(&buffer, &mut ours).expect_err("pinned to device"),
        here.copy(&ours, &mut buffer).expect_err("device to pinned"),
        here.fill(&mut theirs, 0x0102_0304).expect_err("fill"),
        here.zero(&mut theirs).expect_err("zero"),
    ];
    for error in errors {
        assert_eq!(error.kind(), ErrorKind::Mismatch, "{error}");
        assert_eq!(error.call(), None, "{error}");
    }
    Ok(())
}

#[test]
fn memory_of_another_driver_is_no_argument_of_a_launch() -> Test {
    let bench = Bench::new();
    let other = Driver::simulated()?.device(0)?.primary_context()?;
    let (here, there) = (bench.stream(), other.create_stream()?);
    let theirs = there.zeroed::<f32>(10)?;
    let mut ours = here.zeroed::<f32>(10)?;
    let add = VectorAdd::load(bench.context());
    let error = add.run(
        &here,
        theirs.as_slice(),
        theirs.as_slice(),
        ours.as_mut_slice(),
    );
    assert_eq!(
        error.expect_err("the drivers differ").kind(),
        ErrorKind::Mismatch
    );
    Ok(())
}

#[test]
fn events_of_another_driver_are_refused() -> Test {
    let bench = Bench::new();
    let other = Driver::simulated()?.device(0)?.primary_context()?;
    let event = other.create_event(cuda_driver::EventFlags::TIMING)?;
    let stream = bench.stream();
    let error = cuda_driver::AnyStream::wait_for(&stream, &event).expect_err("the drivers differ");
    assert_eq!(error.kind(), ErrorKind::Mismatch);
    assert_eq!(
        event
            .record(&stream)
            .expect_err("the drivers differ")
            .kind(),
        ErrorKind::Mismatch
    );
    let ours = bench
        .context()
        .create_event(cuda_driver::EventFlags::TIMING)?;
    event.record(&other.create_stream()?)?;
    ours.record(&stream)?;
    event.synchronize()?;
    ours.synchronize()?;
    assert!(ours.elapsed_since(&event).is_err());
    Ok(())
}

#[test]
fn a_kernel_of_another_context_is_refused_before_any_call() -> Test {
    let bench = Bench::new();
    let other = bench
        .driver()
        .device(0)?
        .create_context(ContextFlags::default())?;
    let stream = bench.stream();
    let function = load(&other, VECTOR_ADD, "vector_add");
    let mut memory = stream.zeroed::<f32>(4)?;
    let a = stream.zeroed::<f32>(4)?;
    // SAFETY: the kernel reads and writes four elements of each.
    let result = unsafe {
        function.launch(
            &stream,
            LaunchConfig::for_len(4),
            (&a, &a, &mut memory, 4_u32),
        )
    };
    let error = result.expect_err("the contexts differ");
    assert_eq!(error.kind(), ErrorKind::Mismatch);
    assert_eq!(error.call(), None);
    assert_eq!(
        error.to_string(),
        "cannot launch `vector_add`: the kernel's module and the stream belong to different contexts"
    );
    Ok(())
}

#[test]
fn memory_of_another_device_is_no_argument_without_peer_access() -> Test {
    let Some(bench) = Bench::two_devices() else {
        return Ok(());
    };
    let second = bench.driver().device(1)?.primary_context()?;
    let (here, there) = (bench.stream(), second.create_stream()?);
    let theirs = there.zeroed::<f32>(10)?;
    let mut ours = here.zeroed::<f32>(10)?;
    let add = VectorAdd::load(bench.context());
    let result = add.run(
        &here,
        theirs.as_slice(),
        theirs.as_slice(),
        ours.as_mut_slice(),
    );
    assert_eq!(
        result.expect_err("the devices differ").kind(),
        ErrorKind::Mismatch
    );
    let mut theirs = theirs;
    assert!(
        here.fill(&mut theirs, 1.0).is_err(),
        "a fill of another device's memory"
    );
    Ok(())
}
