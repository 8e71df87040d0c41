//! Streams: flags, priorities, waiting, ownership.

use cuda_driver::{AnyStream, ContextFlags, ErrorKind, EventFlags, StreamFlags};
use cuda_sys::CUresult;

use crate::support::Test;
use crate::support::bench::Bench;
use crate::support::kernels::SlowAdd;

#[test]
fn streams_of_ours_do_not_wait_for_the_legacy_stream_unless_told_to() -> Test {
    let bench = Bench::new();
    assert_eq!(bench.stream().flags()?, StreamFlags::NON_BLOCKING);
    let blocking = bench
        .context()
        .create_stream_with(StreamFlags::BLOCKING, 0)?;
    assert_eq!(blocking.flags()?, StreamFlags::BLOCKING);
    assert_eq!(StreamFlags::default(), StreamFlags::NON_BLOCKING);
    assert_eq!(
        StreamFlags::from_bits(StreamFlags::NON_BLOCKING.bits()),
        StreamFlags::NON_BLOCKING
    );
    Ok(())
}

#[test]
fn priorities_are_kept_and_clamped() -> Test {
    let bench = Bench::new();
    let range = bench.context().stream_priority_range()?;
    let (greatest, least) = (*range.start(), *range.end());
    for (asked, given) in [
        (greatest, greatest),
        (least, least),
        (greatest - 10, greatest),
        (least + 10, least),
    ] {
        let stream = bench
            .context()
            .create_stream_with(StreamFlags::NON_BLOCKING, asked)?;
        assert_eq!(stream.priority()?, given, "asked for {asked}");
    }
    Ok(())
}

#[test]
fn flags_that_nobody_knows_are_refused() {
    let bench = Bench::new();
    let flags = StreamFlags::from_bits(0x8000);
    let error = bench
        .context()
        .create_stream_with(flags, 0)
        .expect_err("no such flag");
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert_eq!(error.subject(), "create a stream");
}

#[test]
fn a_stream_is_idle_after_it_was_synchronized_and_not_while_it_works() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    assert!(stream.is_idle()?);
    let slow = SlowAdd::load(bench.context(), bench.slow());
    let mut scratch = stream.zeroed::<f32>(256)?;
    let mut seen_at_work = !bench.is_real();
    for _ in 0..5 {
        slow.occupy(&stream, &mut scratch)?;
        seen_at_work |= !stream.is_idle()?;
        stream.synchronize()?;
        assert!(stream.is_idle()?);
    }
    assert!(seen_at_work);
    Ok(())
}

#[test]
fn asking_often_enough_finds_the_stream_idle() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let slow = SlowAdd::load(bench.context(), bench.slow());
    let mut scratch = stream.zeroed::<f32>(256)?;
    slow.occupy(&stream, &mut scratch)?;
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while !stream.is_idle()? {
        assert!(
            std::time::Instant::now() < deadline,
            "the stream never becomes idle"
        );
    }
    Ok(())
}

#[test]
fn a_stream_waits_for_an_event_of_another_stream() -> Test {
    let bench = Bench::new();
    let (one, two) = (bench.stream(), bench.stream());
    let slow = SlowAdd::load(bench.context(), bench.slow());
    let mut scratch = one.zeroed::<f32>(256)?;
    let (middle, end) = (
        bench.context().create_event(EventFlags::TIMING)?,
        bench.context().create_event(EventFlags::TIMING)?,
    );
    slow.occupy(&one, &mut scratch)?;
    middle.record(&one)?;
    two.wait_for(&middle)?;
    end.record(&two)?;
    end.synchronize()?;
    assert!(middle.is_complete()?);
    assert!(end.elapsed_since(&middle).is_ok());
    Ok(())
}

#[test]
fn waiting_for_an_event_that_was_never_recorded_waits_for_nothing() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let event = bench.context().create_event(EventFlags::DISABLE_TIMING)?;
    stream.wait_for(&event)?;
    stream.synchronize()?;
    Ok(())
}

#[test]
fn waiting_for_an_event_of_another_context_works() -> Test {
    let bench = Bench::new();
    let other = bench
        .driver()
        .device(0)?
        .create_context(ContextFlags::default())?;
    let foreign = other.create_stream()?;
    let event = other.create_event(EventFlags::DISABLE_TIMING)?;
    event.record(&foreign)?;
    let stream = bench.stream();
    stream.wait_for(&event)?;
    stream.synchronize()?;
    assert!(event.is_complete()?);
    Ok(())
}

#[test]
fn close_succeeds_for_the_last_handle_only() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let clone = stream.clone();
    let error = stream.close().expect_err("there is another handle");
    assert_eq!(error.error().kind(), ErrorKind::StillShared);
    let stream = error.into_handle().ok_or("the handle comes back")?;
    drop(clone);
    let memory = stream.zeroed::<u8>(10)?;
    let error = stream.close().expect_err("memory is at home there");
    assert_eq!(error.error().kind(), ErrorKind::StillShared);
    assert!(
        error.error().to_string().contains("memory at home"),
        "{error}"
    );
    drop(memory);
    error
        .into_handle()
        .ok_or("the handle comes back")?
        .close()?;
    Ok(())
}

#[test]
fn a_stream_given_away_is_the_callers_to_destroy() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    drop(stream.upload(&[1_u8, 2, 3])?);
    let raw = stream.into_raw()?;
    // SAFETY: the stream is live and was given to us.
    unsafe { cuda_driver::call!(bench.driver(), cuStreamDestroy_v2(raw)) }?;
    let shared = bench.stream();
    let clone = shared.clone();
    assert_eq!(
        shared.into_raw().expect_err("shared").error().kind(),
        ErrorKind::StillShared
    );
    drop(clone);
    Ok(())
}

#[test]
fn dropping_a_stream_with_work_in_flight_lets_the_work_finish() -> Test {
    let bench = Bench::new();
    let home = bench.stream();
    let slow = SlowAdd::load(bench.context(), bench.slow());
    let mut memory = home.zeroed::<f32>(256)?;
    let other = bench.stream();
    slow.run(&other, memory.as_mut_slice(), 2.0)?;
    drop(other);
    assert_eq!(memory.to_vec()?, [2.0; 256]);
    Ok(())
}

#[test]
fn the_handle_of_a_destroyed_stream_is_reused_and_still_another_stream() -> Test {
    let bench = Bench::new();
    let home = bench.stream();
    let slow = SlowAdd::load(bench.context(), bench.slow());
    for _ in 0..bench.repeats().min(8) {
        let mut memory = home.zeroed::<f32>(256)?;
        let other = bench.stream();
        slow.run(&other, memory.as_mut_slice(), 1.0)?;
        drop(other);
        // A new stream, perhaps with the same handle, must wait for the old one's kernel.
        let reused = bench.stream();
        slow.run(&reused, memory.as_mut_slice(), 1.0)?;
        assert_eq!(reused.download(&memory)?, [2.0; 256]);
    }
    Ok(())
}

#[test]
fn a_failing_wait_is_an_error_that_says_what_was_done() {
    let Some(bench) = Bench::only_software() else {
        return;
    };
    let stream = bench.stream();
    bench
        .simulator()
        .fail("cuStreamQuery", 1, CUresult::CUDA_ERROR_UNKNOWN);
    let error = stream.is_idle().expect_err("it fails");
    assert_eq!(error.subject(), "query the stream");
    assert_eq!(error.call(), Some("cuStreamQuery"));
    assert!(stream.is_idle().expect("it works again"));
}
