//! Streams that are not ours: the default streams, and those of other libraries.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cuda_driver::{ErrorKind, call};
use cuda_sys::{CUstream, CUstream_flags, CUstreamCaptureMode};

use crate::support::bench::Bench;
use crate::support::kernels::SlowAdd;
use crate::support::{Test, numbers};

/// A stream that was made without this crate.
fn raw_stream(bench: &Bench) -> CUstream {
    let mut raw = std::ptr::null_mut();
    let _current = bench.context().push().expect("a current context");
    let flags = CUstream_flags::CU_STREAM_NON_BLOCKING.0;
    // SAFETY: the pointer is to a live handle, and a context is current.
    unsafe { call!(bench.driver(), cuStreamCreate(&raw mut raw, flags)) }.expect("a stream");
    raw
}

fn destroy(bench: &Bench, raw: CUstream) {
    // SAFETY: the stream was made by `raw_stream`, and nothing uses it any more.
    unsafe { call!(bench.driver(), cuStreamDestroy_v2(raw)) }.expect("the stream is live");
}

#[test]
fn calls_on_the_legacy_stream_push_its_context_first_drops_included() -> Test {
    let bench = Bench::new();
    std::thread::scope(|scope| {
        let handle = scope.spawn(|| -> Result<Vec<u32>, cuda_driver::Error> {
            assert!(bench.current().is_null());
            let stream = bench.context().legacy_stream();
            let mut memory = stream.upload(&numbers(100))?;
            stream.copy(&numbers(100), &mut memory)?;
            let numbers = memory.to_vec()?;
            let event = bench
                .context()
                .create_event(cuda_driver::EventFlags::TIMING)?;
            event.record(&stream)?;
            stream.wait_for(&event)?;
            stream.synchronize()?;
            assert!(stream.is_idle()?);
            drop(memory);
            drop(stream);
            assert!(bench.current().is_null());
            Ok(numbers)
        });
        assert_eq!(handle.join().expect("no panic")?, numbers(100));
        Ok(())
    })
}

#[test]
fn memory_can_be_at_home_on_the_legacy_stream() -> Test {
    let bench = Bench::new();
    let other = bench.stream();
    let mut memory = bench.context().legacy_stream().zeroed::<u32>(1000)?;
    other.fill(&mut memory, 5)?;
    assert_eq!(memory.to_vec()?, [5; 1000]);
    let error = bench
        .context()
        .legacy_stream()
        .into_raw()
        .expect_err("it is nobody's");
    assert_eq!(error.error().kind(), ErrorKind::InvalidArgument);
    Ok(())
}

#[test]
fn the_per_thread_stream_runs_operations_on_memory_of_other_homes() -> Test {
    let bench = Bench::new();
    let home = bench.stream();
    let mut memory = home.zeroed::<u32>(1000)?;
    for value in 0..4 {
        std::thread::scope(|scope| {
            let work = || {
                let stream = bench.context().per_thread_stream();
                stream.fill(&mut memory, value)?;
                stream.download(&memory)
            };
            let handle = scope.spawn(work);
            assert_eq!(handle.join().expect("no panic")?, [value; 1000]);
            Ok::<(), cuda_driver::Error>(())
        })?;
        assert_eq!(memory.to_vec()?, [value; 1000]);
    }
    Ok(())
}

#[test]
fn a_borrowed_stream_runs_operations_and_stays_its_owners() -> Test {
    let bench = Bench::new();
    let raw = raw_stream(&bench);
    let home = bench.stream();
    let slow = SlowAdd::load(bench.context(), bench.slow());
    let mut memory = home.zeroed::<f32>(256)?;
    // SAFETY: the stream lives until `destroy`.
    let result = unsafe {
        bench.context().with_borrowed_stream(raw, |stream| {
            assert_eq!(stream.as_raw(), raw);
            slow.run(stream, memory.as_mut_slice(), 1.5)
        })
    };
    result?;
    assert_eq!(memory.to_vec()?, [1.5; 256]);
    destroy(&bench, raw);
    Ok(())
}

#[test]
fn a_wrapper_that_keeps_nothing_alive_gets_a_new_identity_each_time() -> Test {
    let Some(bench) = Bench::only_software() else {
        return Ok(());
    };
    let raw = raw_stream(&bench);
    let mut memory = bench.stream().zeroed::<u32>(8)?;
    for _ in 0..2 {
        // SAFETY: the stream lives until `destroy`.
        let (result, calls) = bench.calls_of(|| unsafe {
            bench
                .context()
                .with_borrowed_stream(raw, |stream| stream.fill(&mut memory, 1))
        });
        result?;
        assert!(
            calls.contains("cuStreamWaitEvent"),
            "it costs a wait, and never loses one: {calls}"
        );
    }
    destroy(&bench, raw);
    Ok(())
}

#[test]
fn a_stream_under_capture_by_its_owner_is_refused_before_anything_is_done() -> Test {
    let bench = Bench::new();
    let raw = raw_stream(&bench);
    let mut memory = bench.stream().zeroed::<u32>(8)?;
    let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
    // SAFETY: the stream is live.
    let began = unsafe { call!(bench.driver(), cuStreamBeginCapture_v2(raw, mode)) };
    if let Err(error) = &began {
        assert!(!bench.is_real(), "{error}");
        destroy(&bench, raw);
        return Ok(());
    }
    // SAFETY: the stream lives until `destroy`.
    let result = unsafe {
        bench
            .context()
            .with_borrowed_stream(raw, |stream| stream.fill(&mut memory, 1))
    };
    let error = result.expect_err("the stream is being captured");
    assert_eq!(error.kind(), ErrorKind::Capture, "{error}");
    let mut graph = std::ptr::null_mut();
    // SAFETY: the stream is live, and the pointer is to a live handle.
    unsafe { call!(bench.driver(), cuStreamEndCapture(raw, &raw mut graph)) }?;
    // SAFETY: the graph is ours and nothing uses it.
    unsafe { call!(bench.driver(), cuGraphDestroy(graph)) }?;
    assert_eq!(memory.to_vec()?, [0; 8]);
    destroy(&bench, raw);
    Ok(())
}

/// Destroys its stream when dropped, and says so.
struct KeptOwner {
    driver: cuda_driver::Driver,
    raw: usize,
    dropped: Arc<AtomicBool>,
}

impl Drop for KeptOwner {
    fn drop(&mut self) {
        let raw: CUstream = std::ptr::with_exposed_provenance_mut(self.raw);
        // SAFETY: the stream was made for this owner, whose drop is its end.
        unsafe { call!(self.driver, cuStreamDestroy_v2(raw)) }.expect("the stream is live");
        self.dropped.store(true, Ordering::SeqCst);
    }
}

#[test]
fn a_kept_stream_lives_until_the_last_use_and_can_be_a_home() -> Test {
    let bench = Bench::new();
    let raw = raw_stream(&bench);
    let dropped = Arc::new(AtomicBool::new(false));
    let owner = KeptOwner {
        driver: bench.driver().clone(),
        raw: raw.expose_provenance(),
        dropped: Arc::clone(&dropped),
    };
    // SAFETY: the owner destroys the stream when it is dropped.
    let stream = unsafe { bench.context().keep_stream(raw, owner) };
    let memory = stream.upload(&numbers(100))?;
    let error = stream
        .clone()
        .into_raw()
        .expect_err("it is not ours to give");
    assert_eq!(error.error().kind(), ErrorKind::InvalidArgument);
    drop(error);
    drop(stream);
    assert!(!dropped.load(Ordering::SeqCst), "memory is at home there");
    assert_eq!(memory.to_vec()?, numbers(100));
    drop(memory);
    assert!(dropped.load(Ordering::SeqCst));
    Ok(())
}

#[test]
fn an_adopted_stream_is_destroyed_by_us() -> Test {
    let bench = Bench::new();
    let raw = raw_stream(&bench);
    // SAFETY: the stream is live, and nobody else uses it from now on.
    let stream = unsafe { bench.context().adopt_stream(raw) };
    assert_eq!(stream.as_raw(), raw);
    assert_eq!(stream.upload(&[1_u8; 5])?.to_vec()?, [1; 5]);
    stream.close()?;
    Ok(())
}
