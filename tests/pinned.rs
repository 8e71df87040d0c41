//! Page-locked memory: what is in flight, and when the host sees it.

use cuda_driver::{ErrorKind, PinnedBuffer};

use crate::support::bench::Bench;
use crate::support::kernels::SlowAdd;
use crate::support::{Test, numbers, sized};

#[test]
fn as_slice_waits_for_the_copy_into_the_buffer() -> Test {
    // With one stream and no event recorded, words of before the copy were seen.
    let bench = Bench::new();
    let stream = bench.stream();
    let slow = SlowAdd::load(bench.context(), bench.slow());
    let len = sized(1 << 20);
    let source = stream.upload(&numbers(len))?;
    let mut buffer = stream.pinned_from(&vec![u32::MAX; len])?;
    let mut scratch = stream.zeroed::<f32>(256)?;
    stream.synchronize()?;
    slow.occupy(&stream, &mut scratch)?;
    stream.copy(&source, &mut buffer)?;
    let words = buffer.as_slice()?;
    let stale = words.iter().filter(|&&word| word == u32::MAX).count();
    assert_eq!(stale, 0, "stale words");
    assert!(words == numbers(len));
    Ok(())
}

#[test]
fn as_mut_slice_waits_for_copies_out_of_the_buffer() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let slow = SlowAdd::load(bench.context(), bench.slow());
    let len = sized(1 << 18);
    let mut buffer = stream.pinned_from(&numbers(len))?;
    let mut target = stream.zeroed::<u32>(len)?;
    let mut scratch = stream.zeroed::<f32>(256)?;
    slow.occupy(&stream, &mut scratch)?;
    stream.copy(&buffer, &mut target)?;
    buffer.as_mut_slice()?.fill(0);
    assert!(target.to_vec()? == numbers(len));
    Ok(())
}

#[test]
fn pinned_memory_is_not_freed_while_a_copy_reads_or_writes_it() -> Test {
    // With a single stream no events were recorded, and the memory was read while the copy ran.
    let bench = Bench::new();
    let stream = bench.stream();
    let slow = SlowAdd::load(bench.context(), bench.slow());
    let len = sized(1 << 18);
    for _ in 0..bench.repeats().min(4) {
        let buffer = stream.pinned_from(&numbers(len))?;
        let mut target = stream.zeroed::<u32>(len)?;
        let mut scratch = stream.zeroed::<f32>(256)?;
        slow.occupy(&stream, &mut scratch)?;
        stream.copy(&buffer, &mut target)?;
        drop(buffer);
        // What comes next in the same place must not be what the copy takes.
        let other = stream.pinned_from(&vec![0_u32; len])?;
        assert!(target.to_vec()? == numbers(len));
        let mut into = stream.pinned_zeroed::<u32>(len)?;
        slow.occupy(&stream, &mut scratch)?;
        stream.copy(&target, &mut into)?;
        drop(into);
        assert_eq!(other.as_slice()?[len - 1], 0);
    }
    Ok(())
}

#[test]
fn the_host_sees_its_own_changes_on_the_device() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let mut buffer = stream.pinned_zeroed::<u32>(1000)?;
    let mut memory = stream.zeroed::<u32>(1000)?;
    for round in 0..10 {
        buffer.as_mut_slice()?.fill(round);
        stream.copy(&buffer, &mut memory)?;
    }
    assert_eq!(memory.to_vec()?, [9; 1000]);
    buffer.copy_from(&numbers(1000))?;
    stream.copy(&buffer, &mut memory)?;
    assert_eq!(memory.to_vec()?, numbers(1000));
    Ok(())
}

#[test]
fn reads_of_the_host_do_not_wait_for_reads_of_the_device() -> Test {
    let Some(bench) = Bench::only_software() else {
        return Ok(());
    };
    let stream = bench.stream();
    let buffer = stream.pinned_from(&numbers(1000))?;
    let mut target = stream.zeroed::<u32>(1000)?;
    stream.copy(&buffer, &mut target)?;
    let (result, calls) = bench.calls_of(|| buffer.as_slice().map(<[u32]>::to_vec));
    assert_eq!(result?, numbers(1000));
    assert_eq!(calls, "no calls");
    Ok(())
}

#[test]
fn several_streams_read_one_buffer_and_a_later_write_waits_for_all() -> Test {
    let bench = Bench::new();
    let streams = [bench.stream(), bench.stream(), bench.stream()];
    let slow = SlowAdd::load(bench.context(), bench.slow());
    let len = sized(1 << 16);
    let mut buffer = streams[0].pinned_from(&numbers(len))?;
    let mut targets = Vec::new();
    for stream in &streams {
        let mut scratch = stream.zeroed::<f32>(256)?;
        slow.occupy(stream, &mut scratch)?;
        let mut target = stream.zeroed::<u32>(len)?;
        stream.copy(&buffer, &mut target)?;
        targets.push(target);
    }
    // A device write through yet another stream, then the host.
    let zeros = streams[0].zeroed::<u32>(len)?;
    bench.stream().copy(&zeros, &mut buffer)?;
    for target in &targets {
        assert!(target.to_vec()? == numbers(len));
    }
    assert!(buffer.as_slice()?.iter().all(|&word| word == 0));
    Ok(())
}

#[test]
fn ranges_of_a_buffer_are_checked() -> Test {
    let bench = Bench::new();
    let mut buffer = bench.stream().pinned_from(&numbers(10))?;
    assert_eq!(buffer.slice(3..5)?.len(), 2);
    assert!(buffer.slice(3..3)?.is_empty());
    for range in [0..11, 11..12] {
        let error = buffer
            .slice(range.clone())
            .map(drop)
            .expect_err("out of bounds");
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.to_string().contains("page-locked"), "{error}");
        assert!(buffer.slice_mut(range).is_err());
    }
    Ok(())
}

#[test]
fn close_waits_and_reports() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let slow = SlowAdd::load(bench.context(), bench.slow());
    let mut scratch = stream.zeroed::<f32>(256)?;
    let buffer = stream.pinned_from(&numbers(1000))?;
    let mut target = stream.zeroed::<u32>(1000)?;
    slow.occupy(&stream, &mut scratch)?;
    stream.copy(&buffer, &mut target)?;
    assert_eq!(buffer.size_in_bytes(), 4000);
    buffer.close()?;
    assert_eq!(target.to_vec()?, numbers(1000));
    Ok(())
}

#[test]
fn buffers_are_used_and_dropped_on_threads_without_a_context() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let mut buffer: PinnedBuffer<u32> = stream.pinned_from(&numbers(1000))?;
    let memory = stream.upload(&vec![5_u32; 1000])?;
    std::thread::scope(|scope| {
        let handle = scope.spawn(|| {
            stream.copy(&memory, &mut buffer)?;
            let values = buffer.as_slice()?.to_vec();
            stream.copy(&memory, &mut buffer)?;
            drop(buffer);
            Ok::<_, cuda_driver::Error>(values)
        });
        assert_eq!(handle.join().expect("no panic")?, [5; 1000]);
        Ok(())
    })
}

#[test]
fn two_buffers_are_copied_by_the_host_after_what_the_device_does() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let slow = SlowAdd::load(bench.context(), bench.slow());
    let memory = stream.upload(&numbers(1000))?;
    let mut scratch = stream.zeroed::<f32>(256)?;
    let (mut one, mut two) = (
        stream.pinned_zeroed::<u32>(1000)?,
        stream.pinned_zeroed::<u32>(1000)?,
    );
    slow.occupy(&stream, &mut scratch)?;
    stream.copy(&memory, &mut one)?;
    stream.copy(&one, &mut two)?;
    let mut host = vec![0; 1000];
    stream.copy(&two, &mut host)?;
    assert_eq!(host, numbers(1000));
    stream.copy(&vec![3_u32; 1000], &mut one)?;
    assert_eq!(one.as_slice()?, [3; 1000]);
    Ok(())
}

#[test]
fn a_latent_error_does_not_free_what_a_copy_still_uses() -> Test {
    let Some(mut bench) = Bench::only_software() else {
        return Ok(());
    };
    bench.allow_leaks();
    let stream = bench.stream();
    let buffer = stream.pinned_from(&numbers(1000))?;
    let mut target = stream.zeroed::<u32>(1000)?;
    stream.copy(&buffer, &mut target)?;
    // The wait before the free fails with an error of something else: the memory is leaked, not freed at once.
    bench.simulator().fail(
        "cuEventSynchronize",
        1,
        cuda_sys::CUresult::CUDA_ERROR_UNKNOWN,
    );
    let ((), calls) = bench.calls_of(|| drop(buffer));
    assert!(!calls.contains("cuMemFreeHost"), "{calls}");
    assert_eq!(target.to_vec()?, numbers(1000));
    Ok(())
}
