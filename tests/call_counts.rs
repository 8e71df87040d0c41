//! Driver calls of each operation, counted exactly; only the software driver counts.

use cuda_driver::{EventFlags, LaunchConfig};

use crate::support::bench::Bench;
use crate::support::kernels::{SPIN, VECTOR_ADD, load};
use crate::support::{Test, numbers};

/// Demands that an operation succeeds with exactly these calls.
macro_rules! counts {
    ($bench:ident, $expected:expr, $operation:expr) => {{
        let (result, calls) = $bench.calls_of(|| $operation);
        let value = result?;
        assert_eq!(calls, $expected, "{}", stringify!($operation));
        value
    }};
}

#[test]
fn a_launch_with_two_buffers_and_a_scalar_is_one_call_also_when_other_streams_exist() -> Test {
    let Some(bench) = Bench::only_software() else {
        return Ok(());
    };
    let stream = bench.stream();
    let add = load(bench.context(), VECTOR_ADD, "vector_add");
    let a = stream.upload(&[1.0_f32; 100])?;
    let mut sum = stream.zeroed::<f32>(100)?;
    let config = LaunchConfig::for_len(100);
    for others in 0..3 {
        let _others: Vec<_> = (0..others * 5).map(|_| bench.stream()).collect();
        // SAFETY: the kernel reads `a` and writes `sum`, a hundred elements each.
        counts!(bench, "1 × cuLaunchKernel", unsafe {
            add.launch(&stream, config, (&a, &a, &mut sum, 100_u32))
        });
    }
    let slow = load(bench.context(), SPIN, "delay_then_add");
    // SAFETY: the kernel changes a hundred elements.
    counts!(bench, "1 × cuLaunchKernel", unsafe {
        slow.launch(&stream, config, (&mut sum, 100_u32, 1.0_f32, 1_u32))
    });
    Ok(())
}

#[test]
fn allocating_is_one_call_and_dropping_one_and_two_exchanges() -> Test {
    let Some(bench) = Bench::only_software() else {
        return Ok(());
    };
    let stream = bench.stream();
    drop(stream.zeroed::<u8>(1)?);
    let _others = (bench.stream(), bench.stream());
    let memory = counts!(
        bench,
        "1 × cuMemAllocAsync",
        stream.uninitialized::<u32>(100)
    );
    let dropped = "1 × cuMemFreeAsync, 2 × cuThreadExchangeStreamCaptureMode";
    let ((), calls) = bench.calls_of(|| drop(memory));
    assert_eq!(calls, dropped);
    let memory = counts!(
        bench,
        "1 × cuMemAllocAsync, 1 × cuMemsetD8Async",
        stream.zeroed::<u32>(100)
    );
    counts!(bench, dropped, memory.close());
    Ok(())
}

#[test]
fn clones_and_views_are_no_calls() -> Test {
    let Some(bench) = Bench::only_software() else {
        return Ok(());
    };
    let stream = bench.stream();
    let function = load(bench.context(), SPIN, "delay_then_add");
    let mut memory = stream.zeroed::<u32>(100)?;
    let ((), calls) = bench.calls_of(|| {
        let clones = (
            bench.driver().clone(),
            bench.context().clone(),
            stream.clone(),
            function.clone(),
        );
        drop((clones, function.module()));
        let rest = memory.split_off(50).expect("it is long enough");
        assert_eq!(memory.slice(1..2).expect("it is long enough").len(), 1);
        drop(rest);
        drop((
            memory.home_stream(),
            memory.context(),
            bench.driver().version(),
        ));
    });
    assert_eq!(calls, "no calls");
    Ok(())
}

#[test]
fn copies_of_pinned_buffers_and_between_device_memory_are_one_call() -> Test {
    let Some(bench) = Bench::only_software() else {
        return Ok(());
    };
    let stream = bench.stream();
    let mut buffer = stream.pinned_from(&numbers(1000))?;
    let (mut one, mut two) = (stream.zeroed::<u32>(1000)?, stream.zeroed::<u32>(1000)?);
    counts!(
        bench,
        "1 × cuMemcpyHtoDAsync_v2",
        stream.copy(&buffer, &mut one)
    );
    counts!(
        bench,
        "1 × cuMemcpyDtoDAsync_v2",
        stream.copy(&one, &mut two)
    );
    counts!(
        bench,
        "1 × cuMemcpyDtoHAsync_v2",
        stream.copy(&two, &mut buffer)
    );
    // The event is made the first time only.
    buffer.as_slice()?;
    stream.copy(&two, &mut buffer)?;
    counts!(
        bench,
        "1 × cuEventRecord, 1 × cuEventSynchronize, 2 × cuThreadExchangeStreamCaptureMode",
        buffer.as_slice().map(drop)
    );
    counts!(bench, "no calls", buffer.as_slice().map(drop));
    Ok(())
}

#[test]
fn a_copy_from_a_small_slice_is_one_call_through_staging() -> Test {
    let Some(bench) = Bench::only_software() else {
        return Ok(());
    };
    let stream = bench.stream();
    let mut memory = stream.zeroed::<u32>(100)?;
    stream.copy(&numbers(100), &mut memory)?;
    for _ in 0..20 {
        counts!(
            bench,
            "1 × cuMemcpyHtoDAsync_v2",
            stream.copy(&numbers(100), &mut memory)
        );
    }
    Ok(())
}

#[test]
fn a_copy_to_a_small_slice_is_a_copy_a_record_and_a_wait() -> Test {
    let Some(bench) = Bench::only_software() else {
        return Ok(());
    };
    let stream = bench.stream();
    let memory = stream.upload(&numbers(100))?;
    assert_eq!(memory.to_vec()?, numbers(100));
    // The wait is in the mode in which it does not end captures of other threads.
    let expected = "1 × cuEventRecord, 1 × cuEventSynchronize, 1 × cuMemcpyDtoHAsync_v2, \
        2 × cuThreadExchangeStreamCaptureMode";
    let values = counts!(bench, expected, memory.to_vec());
    assert_eq!(values, numbers(100));
    Ok(())
}

#[test]
fn events_and_waits_are_one_call() -> Test {
    let Some(bench) = Bench::only_software() else {
        return Ok(());
    };
    let stream = bench.stream();
    let pushed = "1 × cuCtxPopCurrent_v2, 1 × cuCtxPushCurrent_v2, 1 × cuEventCreate";
    let event = counts!(
        bench,
        pushed,
        bench.context().create_event(EventFlags::TIMING)
    );
    counts!(bench, "1 × cuEventRecord", event.record(&stream));
    counts!(bench, "1 × cuStreamWaitEvent", stream.wait_for(&event));
    counts!(bench, "1 × cuEventSynchronize", event.synchronize());
    counts!(bench, "1 × cuEventQuery", event.is_complete());
    counts!(bench, "1 × cuStreamSynchronize", stream.synchronize());
    counts!(bench, "1 × cuStreamQuery", stream.is_idle());
    counts!(bench, "1 × cuEventDestroy_v2", event.close());
    Ok(())
}

#[test]
fn the_first_crossing_records_and_waits_once_and_later_ones_only_where_they_conflict() -> Test {
    let Some(bench) = Bench::only_software() else {
        return Ok(());
    };
    let (home, other) = (bench.stream(), bench.stream());
    let mut memory = home.zeroed::<u32>(100)?;
    // Two events are made the first time: home's, and the operation's own.
    other.fill(&mut memory, 1)?;
    let mut memory = home.zeroed::<u32>(100)?;
    let (result, calls) = bench.calls_of(|| other.fill(&mut memory, 1));
    result?;
    assert!(
        calls.contains("2 × cuEventRecord") && calls.contains("1 × cuStreamWaitEvent"),
        "{calls}"
    );
    assert!(
        !calls.contains("Synchronize") && !calls.contains("Query"),
        "{calls}"
    );
    // The same stream again: stream order is enough, and its entry is renewed.
    let (result, calls) = bench.calls_of(|| other.fill(&mut memory, 2));
    result?;
    assert!(
        !calls.contains("cuStreamWaitEvent") && calls.contains("1 × cuEventRecord"),
        "{calls}"
    );
    let (result, calls) = bench.calls_of(|| home.fill(&mut memory, 3));
    result?;
    assert!(calls.contains("1 × cuStreamWaitEvent"), "{calls}");
    Ok(())
}

#[test]
fn streams_are_created_and_destroyed_with_few_calls() -> Test {
    let Some(bench) = Bench::only_software() else {
        return Ok(());
    };
    let created = "1 × cuCtxPopCurrent_v2, 1 × cuCtxPushCurrent_v2, 1 × cuStreamCreateWithPriority";
    let stream = counts!(bench, created, bench.context().create_stream());
    counts!(bench, "1 × cuStreamDestroy_v2", stream.close());
    Ok(())
}
