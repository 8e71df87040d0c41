//! Events: recording, waiting, measuring.

use cuda_driver::{ContextFlags, ErrorKind, Event, EventFlags};
use cuda_sys::CUresult;

use crate::support::Test;
use crate::support::bench::Bench;
use crate::support::kernels::SlowAdd;

fn event(bench: &Bench, flags: EventFlags) -> Event {
    bench.context().create_event(flags).expect("an event")
}

#[test]
fn the_time_between_two_events_is_measured() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let (start, end) = (
        event(&bench, EventFlags::TIMING),
        event(&bench, EventFlags::TIMING),
    );
    let slow = SlowAdd::load(bench.context(), bench.slow());
    let mut scratch = stream.zeroed::<f32>(256)?;
    start.record(&stream)?;
    slow.occupy(&stream, &mut scratch)?;
    end.record(&stream)?;
    end.synchronize()?;
    let elapsed = end.elapsed_since(&start)?;
    assert!(elapsed > std::time::Duration::ZERO);
    assert!(elapsed < std::time::Duration::from_secs(20), "{elapsed:?}");
    Ok(())
}

#[test]
fn events_in_the_wrong_order_are_an_error_and_no_panic() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let (start, end) = (
        event(&bench, EventFlags::TIMING),
        event(&bench, EventFlags::TIMING),
    );
    let slow = SlowAdd::load(bench.context(), bench.slow());
    let mut scratch = stream.zeroed::<f32>(256)?;
    start.record(&stream)?;
    slow.occupy(&stream, &mut scratch)?;
    end.record(&stream)?;
    end.synchronize()?;
    let error = start.elapsed_since(&end).expect_err("the order is wrong");
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(
        error.to_string().contains("recorded before the other"),
        "{error}"
    );
    assert_eq!(start.elapsed_since(&start)?, std::time::Duration::ZERO);
    Ok(())
}

#[test]
fn an_event_that_was_never_recorded_measures_nothing() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let (never, recorded) = (
        event(&bench, EventFlags::TIMING),
        event(&bench, EventFlags::TIMING),
    );
    assert!(never.is_complete()?);
    never.synchronize()?;
    recorded.record(&stream)?;
    recorded.synchronize()?;
    for (start, end) in [(&never, &recorded), (&recorded, &never), (&never, &never)] {
        let error = end
            .elapsed_since(start)
            .expect_err("one was never recorded");
        assert!(error.to_string().contains("never recorded"), "{error}");
        assert!(
            error.to_string().starts_with("cannot measure the time"),
            "{error}"
        );
    }
    Ok(())
}

#[test]
fn an_event_that_is_not_done_measures_nothing_yet() -> Test {
    let bench = Bench::new();
    if !bench.is_real() {
        // The software driver runs what is asked about, so nothing stays in front of a question for sure.
        let stream = bench.stream();
        let (start, end) = (
            event(&bench, EventFlags::TIMING),
            event(&bench, EventFlags::TIMING),
        );
        start.record(&stream)?;
        end.record(&stream)?;
        bench
            .simulator()
            .fail("cuEventQuery", 1, CUresult::CUDA_ERROR_NOT_READY);
        let error = end
            .elapsed_since(&start)
            .expect_err("the end is not reached");
        assert!(
            error.to_string().contains("synchronize it first"),
            "{error}"
        );
        return Ok(());
    }
    let stream = bench.stream();
    let (start, end) = (
        event(&bench, EventFlags::TIMING),
        event(&bench, EventFlags::TIMING),
    );
    let slow = SlowAdd::load(bench.context(), bench.slow());
    let mut scratch = stream.zeroed::<f32>(256)?;
    start.record(&stream)?;
    slow.occupy(&stream, &mut scratch)?;
    end.record(&stream)?;
    assert!(!end.is_complete()?);
    let error = end
        .elapsed_since(&start)
        .expect_err("the end is not reached");
    assert!(
        error.to_string().contains("synchronize it first"),
        "{error}"
    );
    end.synchronize()?;
    end.elapsed_since(&start)?;
    Ok(())
}

#[test]
fn events_without_timing_measure_nothing() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let plain = event(
        &bench,
        EventFlags::DISABLE_TIMING | EventFlags::BLOCKING_SYNC,
    );
    let timing = event(&bench, EventFlags::TIMING);
    plain.record(&stream)?;
    timing.record(&stream)?;
    timing.synchronize()?;
    plain.synchronize()?;
    for (start, end) in [(&plain, &timing), (&timing, &plain)] {
        let error = end.elapsed_since(start).expect_err("one has no time");
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.to_string().contains("EventFlags::TIMING"), "{error}");
    }
    Ok(())
}

#[test]
fn recording_again_forgets_the_earlier_record() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let mark = event(&bench, EventFlags::TIMING);
    let start = event(&bench, EventFlags::TIMING);
    mark.record(&stream)?;
    start.record(&stream)?;
    mark.record(&stream)?;
    mark.synchronize()?;
    assert!(mark.elapsed_since(&start).is_ok());
    Ok(())
}

#[test]
fn an_event_of_another_contexts_stream_is_a_mismatch_found_before_any_call() -> Test {
    let bench = Bench::new();
    let other = bench
        .driver()
        .device(0)?
        .create_context(ContextFlags::default())?;
    let stream = other.create_stream()?;
    let mark = event(&bench, EventFlags::TIMING);
    let error = mark.record(&stream).expect_err("the contexts differ");
    assert_eq!(error.kind(), ErrorKind::Mismatch);
    assert_eq!(error.call(), None);
    assert_eq!(
        error.to_string(),
        "cannot record an event: the event and the stream belong to different contexts"
    );
    Ok(())
}

#[test]
fn events_are_used_and_dropped_on_threads_without_a_context() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let mark = event(&bench, EventFlags::TIMING);
    std::thread::scope(|scope| {
        let handle = scope.spawn(|| {
            mark.record(&stream)?;
            mark.synchronize()?;
            let complete = mark.is_complete()?;
            drop(mark);
            Ok::<bool, cuda_driver::Error>(complete)
        });
        assert!(handle.join().expect("no panic")?);
        Ok(())
    })
}

#[test]
fn an_event_dropped_while_it_is_recorded_breaks_nothing() -> Test {
    let bench = Bench::new();
    let (one, two) = (bench.stream(), bench.stream());
    let slow = SlowAdd::load(bench.context(), bench.slow());
    let mut scratch = one.zeroed::<f32>(256)?;
    slow.occupy(&one, &mut scratch)?;
    let mark = event(&bench, EventFlags::DISABLE_TIMING);
    mark.record(&one)?;
    two.wait_for(&mark)?;
    drop(mark);
    two.synchronize()?;
    assert!(one.is_idle()?);
    Ok(())
}

#[test]
fn a_raw_event_goes_away_and_comes_back() -> Test {
    let bench = Bench::new();
    let flags = EventFlags::TIMING;
    let raw = event(&bench, flags).into_raw();
    // SAFETY: the event is live, of that context, and nobody else has it.
    let back = unsafe { Event::from_raw(bench.context(), raw, flags) };
    assert_eq!(back.as_raw(), raw);
    assert!(back.context().is_same(bench.context()));
    back.record(&bench.stream())?;
    back.close()?;
    Ok(())
}

#[test]
fn flags_that_nobody_knows_are_refused() {
    let Some(bench) = Bench::only_software() else {
        return;
    };
    bench
        .simulator()
        .fail("cuEventCreate", 1, CUresult::CUDA_ERROR_INVALID_VALUE);
    let error = bench
        .context()
        .create_event(EventFlags::TIMING)
        .expect_err("it fails");
    assert_eq!(error.subject(), "create an event");
}
