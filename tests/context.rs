//! Contexts: identity, owners and ends.

use cuda_driver::{ContextFlags, ErrorKind};
use cuda_sys::CUresult;

use crate::support::Test;
use crate::support::bench::Bench;

#[test]
fn two_handles_of_the_primary_context_are_one_context() -> Test {
    let bench = Bench::new();
    let other = bench.driver().device(0)?.primary_context()?;
    assert!(other.is_same(bench.context()));
    assert!(other.clone().is_same(bench.context()));
    assert_eq!(other.as_raw(), bench.context().as_raw());
    // Memory of the one handle is at home with streams of the other: no tracking apart.
    let stream = other.create_stream()?;
    let memory = stream.upload(&[1_u32, 2, 3])?;
    assert!(memory.context().is_same(bench.context()));
    Ok(())
}

#[test]
fn two_handles_of_one_context_do_not_track_separately() -> Test {
    let Some(bench) = Bench::only_software() else {
        return Ok(());
    };
    let other = bench.driver().device(0)?.primary_context()?;
    let (one, two) = (bench.context().legacy_stream(), other.legacy_stream());
    let mut memory = one.zeroed::<u32>(4)?;
    // Both are the legacy stream of one context, so nothing is recorded or waited for.
    let (result, calls) = bench.calls_of(|| two.fill(&mut memory, 7));
    result?;
    assert!(!calls.contains("cuEventRecord"), "{calls}");
    assert_eq!(memory.to_vec()?, [7; 4]);
    Ok(())
}

#[test]
fn a_created_context_is_apart_from_the_primary_one() -> Test {
    let bench = Bench::new();
    let device = bench.driver().device(0)?;
    let flags = ContextFlags::SCHEDULE_YIELD | ContextFlags::KEEP_LOCAL_MEMORY;
    let created = device.create_context(flags)?;
    assert!(!created.is_same(bench.context()));
    assert_ne!(created.as_raw(), bench.context().as_raw());
    let another = device.create_context(ContextFlags::default())?;
    assert!(!created.is_same(&another));
    let stream = created.create_stream()?;
    assert_eq!(stream.upload(&[5_u8; 9])?.to_vec()?, [5; 9]);
    drop(stream);
    created.close()?;
    another.close()?;
    Ok(())
}

#[test]
fn everything_keeps_its_context_alive() -> Test {
    let bench = Bench::new();
    let context = bench
        .driver()
        .device(0)?
        .create_context(ContextFlags::default())?;
    let stream = context.create_stream()?;
    let memory = stream.upload(&[1_u32, 2, 3])?;
    let event = context.create_event(cuda_driver::EventFlags::TIMING)?;
    drop(context);
    drop(stream);
    assert_eq!(memory.to_vec()?, [1, 2, 3]);
    event.record(&memory.home_stream().ok_or("a home")?)?;
    event.synchronize()?;
    Ok(())
}

#[test]
fn closing_a_shared_context_gives_the_handle_back() -> Test {
    let bench = Bench::new();
    let context = bench
        .driver()
        .device(0)?
        .create_context(ContextFlags::default())?;
    let stream = context.create_stream()?;
    let error = context.close().expect_err("the stream uses it");
    assert_eq!(error.error().kind(), ErrorKind::StillShared);
    assert!(
        error.to_string().starts_with("cannot close the context: "),
        "{error}"
    );
    let context = error.into_handle().ok_or("the handle comes back")?;
    drop(stream);
    context.close()?;
    Ok(())
}

#[test]
fn the_last_close_of_the_primary_context_releases_it() -> Test {
    let Some(mut bench) = Bench::only_software() else {
        return Ok(());
    };
    let context = bench.take_context();
    let clone = context.clone();
    let error = context.close().expect_err("there is another handle");
    assert_eq!(error.error().kind(), ErrorKind::StillShared);
    drop(error);
    let (result, calls) = bench.calls_of(|| clone.close());
    result?;
    assert!(
        calls.contains("1 × cuDevicePrimaryCtxRelease_v2"),
        "{calls}"
    );
    Ok(())
}

#[test]
fn the_primary_context_can_be_retained_again_after_its_end() -> Test {
    let Some(mut bench) = Bench::only_software() else {
        return Ok(());
    };
    drop(bench.take_context());
    for round in 0..3_u8 {
        let context = bench.driver().device(0)?.primary_context()?;
        let stream = context.create_stream()?;
        assert_eq!(stream.upload(&[round; 3])?.to_vec()?, [round; 3]);
    }
    Ok(())
}

#[test]
fn synchronize_waits_for_all_streams() -> Test {
    let bench = Bench::new();
    let context = bench
        .driver()
        .device(0)?
        .create_context(ContextFlags::default())?;
    let streams = [context.create_stream()?, context.create_stream()?];
    let memory = [
        streams[0].zeroed::<u8>(1 << 20)?,
        streams[1].zeroed::<u8>(1 << 20)?,
    ];
    context.synchronize()?;
    assert!(streams[0].is_idle()? && streams[1].is_idle()?);
    drop(memory);
    Ok(())
}

#[test]
fn the_memory_of_the_device_is_known() -> Test {
    let bench = Bench::new();
    let before = bench.context().memory_info()?;
    assert!(before.free <= before.total && before.free > 0);
    Ok(())
}

#[test]
fn a_context_is_poisoned_by_a_sticky_error_and_gets_no_calls_from_drops() -> Test {
    let Some(mut bench) = Bench::only_software() else {
        return Ok(());
    };
    // Stream-ordered memory is the device's, and does not go with the context.
    bench.allow_leaks();
    let context = bench
        .driver()
        .device(0)?
        .create_context(ContextFlags::default())?;
    let stream = context.create_stream()?;
    let memory = stream.zeroed::<u32>(8)?;
    let event = context.create_event(cuda_driver::EventFlags::TIMING)?;
    assert!(!context.is_poisoned());
    bench.simulator().fail(
        "cuStreamSynchronize",
        1,
        CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
    );
    let error = stream.synchronize().expect_err("the kernel faulted");
    assert_eq!(error.kind(), ErrorKind::KernelFault);
    assert!(error.is_sticky());
    assert!(context.is_poisoned());
    let ((), calls) = bench.calls_of(|| {
        drop(event);
        drop(memory);
        drop(stream);
    });
    assert_eq!(calls, "no calls");
    // The created context itself is destroyed, with all that was in it.
    drop(context);
    Ok(())
}

#[test]
fn an_ordinary_error_poisons_nothing() -> Test {
    let Some(bench) = Bench::only_software() else {
        return Ok(());
    };
    let stream = bench.stream();
    bench
        .simulator()
        .fail("cuMemAllocAsync", 1, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    let error = stream.zeroed::<u8>(10).expect_err("there is no memory");
    assert_eq!(error.kind(), ErrorKind::OutOfMemory);
    assert!(!error.is_sticky() && !bench.context().is_poisoned());
    assert_eq!(stream.zeroed::<u8>(10)?.to_vec()?, [0; 10]);
    Ok(())
}
