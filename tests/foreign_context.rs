//! Contexts of somebody else.

use cuda_driver::{Context, ContextFlags, ErrorKind, call};
use cuda_sys::CUcontext;

use crate::support::bench::Bench;
use crate::support::{Test, numbers};

/// A context that was made without this crate, and is current nowhere.
fn raw_context(bench: &Bench) -> CUcontext {
    let device = bench.driver().device(0).expect("a device");
    let (mut raw, mut popped) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: the pointer is to a live handle.
    unsafe {
        call!(
            bench.driver(),
            cuCtxCreate_v2(&raw mut raw, 0, device.as_raw())
        )
    }
    .expect("a context");
    // SAFETY: the pointer is to a live handle.
    unsafe { call!(bench.driver(), cuCtxPopCurrent_v2(&raw mut popped)) }.expect("it was pushed");
    assert_eq!(raw, popped);
    raw
}

#[test]
fn a_borrowed_context_is_used_and_stays_its_owners() -> Test {
    let bench = Bench::new();
    let raw = raw_context(&bench);
    // SAFETY: the context lives until it is destroyed below.
    let context = unsafe { Context::from_borrowed_raw(bench.driver(), raw) }?;
    assert_eq!(context.as_raw(), raw);
    assert_eq!(context.device().ordinal(), 0);
    assert!(bench.current().is_null());
    let stream = context.create_stream()?;
    assert_eq!(stream.upload(&numbers(10))?.to_vec()?, numbers(10));
    drop(stream);
    context.close()?;
    // SAFETY: it is still live, for the borrower does not destroy it, and nothing uses it any more.
    unsafe { call!(bench.driver(), cuCtxDestroy_v2(raw)) }?;
    Ok(())
}

#[test]
fn two_borrowed_handles_of_one_context_are_one_context() -> Test {
    let bench = Bench::new();
    let raw = bench.context().as_raw();
    // SAFETY: the bench keeps the context alive.
    let borrowed = unsafe { Context::from_borrowed_raw(bench.driver(), raw) }?;
    assert!(borrowed.is_same(bench.context()));
    // SAFETY: as above.
    let again = unsafe { Context::from_borrowed_raw(bench.driver(), raw) }?;
    assert!(again.is_same(&borrowed));
    Ok(())
}

#[test]
fn a_borrowed_primary_context_that_is_retained_later_is_released_once() -> Test {
    let Some(mut bench) = Bench::only_software() else {
        return Ok(());
    };
    drop(bench.take_context());
    let device = bench.driver().device(0)?;
    let mut raw = std::ptr::null_mut();
    // SAFETY: the pointer is to a live handle.
    unsafe {
        call!(
            bench.driver(),
            cuDevicePrimaryCtxRetain(&raw mut raw, device.as_raw())
        )
    }?;
    // SAFETY: the reference retained above keeps it alive.
    let borrowed = unsafe { Context::from_borrowed_raw(bench.driver(), raw) }?;
    let ours = device.primary_context()?;
    assert!(ours.is_same(&borrowed));
    let (_, calls) = bench.calls_of(|| drop((ours, borrowed)));
    assert!(
        calls.contains("1 × cuDevicePrimaryCtxRelease_v2"),
        "{calls}"
    );
    // SAFETY: the reference was retained above.
    unsafe {
        call!(
            bench.driver(),
            cuDevicePrimaryCtxRelease_v2(device.as_raw())
        )
    }?;
    Ok(())
}

#[test]
fn a_handle_that_is_no_context_is_refused() {
    let Some(bench) = Bench::only_software() else {
        return;
    };
    let nonsense: CUcontext = std::ptr::without_provenance_mut(0x10);
    // SAFETY: the software driver checks handles.
    let error =
        unsafe { Context::from_borrowed_raw(bench.driver(), nonsense) }.expect_err("it is none");
    assert_eq!(error.kind(), ErrorKind::InvalidHandle, "{error}");
    assert!(bench.current().is_null());
}

#[test]
fn after_somebodys_reset_of_the_primary_context_drops_are_silent() -> Test {
    let Some(mut bench) = Bench::only_software() else {
        return Ok(());
    };
    bench.allow_leaks();
    let stream = bench.stream();
    let memory = stream.zeroed::<u32>(100)?;
    let event = bench
        .context()
        .create_event(cuda_driver::EventFlags::TIMING)?;
    let pinned = stream.pinned_zeroed::<u8>(10)?;
    let device = bench.driver().device(0)?;
    // SAFETY: what is left of the context is only dropped, which must be harmless.
    unsafe { call!(bench.driver(), cuDevicePrimaryCtxReset_v2(device.as_raw())) }?;
    drop((memory, event, pinned));
    drop(stream);
    assert!(bench.context().create_stream().is_err());
    // Another context of the device is not touched.
    let created = device.create_context(ContextFlags::default())?;
    assert_eq!(created.create_stream()?.upload(&[1_u8])?.to_vec()?, [1]);
    // The reset has taken what the bench would look for.
    let _reports = bench.take_reports();
    Ok(())
}
