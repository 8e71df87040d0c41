//! Copies between every pair of ends.

use cuda_driver::{ContextFlags, ErrorKind};

use crate::support::bench::Bench;
use crate::support::{Test, numbers, sized};

#[test]
fn every_pair_of_ends_copies() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let (slice, vec, array) = (&numbers(4)[..], numbers(4), [0_u32, 1, 2, 3]);
    let pinned = stream.pinned_from(&array)?;
    let device = stream.upload(&array)?;
    macro_rules! from_each {
        ($($to:ident: $make:expr => $read:expr;)*) => {$(
            let mut $to = $make;
            stream.copy(slice, &mut $to)?;
            assert_eq!($read, array);
            let mut $to = $make;
            stream.copy(&vec, &mut $to)?;
            assert_eq!($read, array);
            let mut $to = $make;
            stream.copy(&array, &mut $to)?;
            assert_eq!($read, array);
            let mut $to = $make;
            stream.copy(&pinned, &mut $to)?;
            assert_eq!($read, array);
            let mut $to = $make;
            stream.copy(&pinned.slice(..)?, &mut $to)?;
            assert_eq!($read, array);
            let mut $to = $make;
            stream.copy(&device, &mut $to)?;
            assert_eq!($read, array);
            let mut $to = $make;
            stream.copy(&device.slice(..)?, &mut $to)?;
            assert_eq!($read, array);
        )*};
    }
    from_each! {
        to_vec: vec![0_u32; 4] => to_vec;
        to_array: [0_u32; 4] => to_array;
        to_pinned: stream.pinned_zeroed::<u32>(4)? => to_pinned.as_slice()?;
        to_device: stream.zeroed::<u32>(4)? => to_device.to_vec()?;
    }
    let mut to_slice = vec![9_u32; 6];
    stream.copy(&device, &mut to_slice[1..5])?;
    assert_eq!(to_slice, [9, 0, 1, 2, 3, 9]);
    Ok(())
}

#[test]
fn ranges_are_ends_of_copies_too() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let source = stream.upload(&numbers(10))?;
    let mut target = stream.zeroed::<u32>(10)?;
    let mut pinned = stream.pinned_zeroed::<u32>(10)?;
    stream.copy(&source.slice(2..5)?, &mut target.slice_mut(7..10)?)?;
    stream.copy(&source.slice(4..6)?, &mut pinned.slice_mut(1..3)?)?;
    stream.copy(&pinned.slice(1..3)?, &mut target.slice_mut(0..2)?)?;
    assert_eq!(target.to_vec()?, [4, 5, 0, 0, 0, 0, 0, 2, 3, 4]);
    assert_eq!(pinned.as_slice()?, [0, 4, 5, 0, 0, 0, 0, 0, 0, 0]);
    let shared = pinned.slice_mut(..)?;
    assert_eq!((shared.len(), shared.is_empty()), (10, false));
    stream.copy(&shared, &mut target)?;
    assert_eq!(target.to_vec()?, [0, 4, 5, 0, 0, 0, 0, 0, 0, 0]);
    Ok(())
}

#[test]
fn a_copy_longer_than_the_source_or_the_destination_is_refused() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let short = stream.upload(&numbers(3))?;
    let mut long = stream.zeroed::<u32>(4)?;
    let mut pinned = stream.pinned_zeroed::<u32>(5)?;
    let mut host = vec![7_u32; 4];
    let errors = [
        stream.copy(&short, &mut long).expect_err("3 to 4"),
        stream.copy(&pinned, &mut long).expect_err("5 to 4"),
        stream.copy(&long, &mut pinned).expect_err("4 to 5"),
        stream.copy(&short, &mut host).expect_err("3 to 4"),
        stream.copy(&numbers(100), &mut long).expect_err("100 to 4"),
        long.copy_from(&[]).expect_err("0 to 4"),
        short.copy_to(&mut host).expect_err("3 to 4"),
        pinned.copy_from(&numbers(4)).expect_err("4 to 5"),
    ];
    for error in errors {
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        assert_eq!(error.call(), None, "{error}");
        assert!(
            error.to_string().contains("take a range of the longer one"),
            "{error}"
        );
    }
    assert_eq!(host, [7; 4]);
    assert_eq!(long.to_vec()?, [0; 4]);
    Ok(())
}

#[test]
fn contexts_of_one_device_copy_from_each_other() -> Test {
    let bench = Bench::new();
    let other = bench
        .driver()
        .device(0)?
        .create_context(ContextFlags::default())?;
    let (here, there) = (bench.stream(), other.create_stream()?);
    let source = here.upload(&numbers(5000))?;
    let mut target = there.zeroed::<u32>(5000)?;
    for stream in [&here, &there] {
        stream.copy(&source, &mut target)?;
        assert_eq!(stream.download(&target)?, numbers(5000));
        there.zero(&mut target)?;
    }
    assert_eq!(target.to_vec()?, [0; 5000]);
    Ok(())
}

#[test]
fn contexts_of_one_device_order_their_work_on_one_buffer() -> Test {
    let bench = Bench::new();
    let other = bench
        .driver()
        .device(0)?
        .create_context(ContextFlags::default())?;
    let there = other.create_stream()?;
    let home = bench.stream();
    let mut memory = home.zeroed::<u32>(1000)?;
    for value in 1..5 {
        there.fill(&mut memory, value)?;
        assert_eq!(home.download(&memory)?, [value; 1000]);
        home.fill(&mut memory, value + 100)?;
        assert_eq!(there.download(&memory)?, [value + 100; 1000]);
    }
    Ok(())
}

#[test]
fn several_devices_copy_from_each_other() -> Test {
    let Some(bench) = Bench::two_devices() else {
        return Ok(());
    };
    let second = bench.driver().device(1)?.primary_context()?;
    let (here, there) = (bench.stream(), second.create_stream()?);
    let source = here.upload(&numbers(5000))?;
    let mut target = there.zeroed::<u32>(5000)?;
    here.copy(&source, &mut target)?;
    assert_eq!(there.download(&target)?, numbers(5000));
    let mut pinned = here.pinned_zeroed::<u32>(5000)?;
    there.copy(&target, &mut pinned)?;
    assert_eq!(pinned.as_slice()?, numbers(5000));
    Ok(())
}

#[test]
fn work_on_two_devices_is_ordered_by_the_memory() -> Test {
    let Some(bench) = Bench::two_devices() else {
        return Ok(());
    };
    let second = bench.driver().device(1)?.primary_context()?;
    let (here, there) = (bench.stream(), second.create_stream()?);
    let slow = crate::support::kernels::SlowAdd::load(bench.context(), bench.slow());
    for round in 1..5_u8 {
        let mut ours = here.zeroed::<f32>(1024)?;
        let mut theirs = there.zeroed::<f32>(1024)?;
        slow.run(&here, ours.as_mut_slice(), f32::from(round))?;
        // On either device's stream, the copy is behind the slow kernel, and the download behind the copy.
        let by = if round % 2 == 0 { &here } else { &there };
        by.copy(&ours, &mut theirs)?;
        // What is written afterwards is behind the copy, and what is freed too.
        here.fill(&mut ours, -1.0)?;
        drop(ours);
        let reused = here.upload(&[-2.0_f32; 1024])?;
        assert_eq!(theirs.to_vec()?, [f32::from(round); 1024]);
        drop(reused);
    }
    Ok(())
}

#[test]
fn slices_are_never_in_flight_after_return() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let slow = crate::support::kernels::SlowAdd::load(bench.context(), bench.slow());
    for len in [256, sized(1 << 20), sized(3 << 20)] {
        let mut scratch = stream.zeroed::<f32>(256)?;
        slow.occupy(&stream, &mut scratch)?;
        let mut host = numbers(len);
        let memory = stream.upload(&host)?;
        // The copy is behind the slow kernel, and has taken the elements all the same.
        host.fill(u32::MAX);
        drop(host);
        assert_eq!(memory.to_vec()?, numbers(len));
    }
    Ok(())
}

#[test]
fn a_copy_to_a_slice_is_complete_at_the_return() -> Test {
    let bench = Bench::new();
    let (home, other) = (bench.stream(), bench.stream());
    let slow = crate::support::kernels::SlowAdd::load(bench.context(), bench.slow());
    let mut memory = home.zeroed::<f32>(256)?;
    for round in 1..4_u8 {
        slow.run(&other, memory.as_mut_slice(), 1.0)?;
        let mut host = [0.0; 256];
        home.copy(&memory, &mut host)?;
        assert_eq!(host, [f32::from(round); 256]);
    }
    Ok(())
}

#[test]
fn pageable_copies_from_page_locked_memory_are_taken_at_the_return() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let slow = crate::support::kernels::SlowAdd::load(bench.context(), bench.slow());
    let mut pinned = stream.pinned_from(&numbers(sized(100_000)))?;
    let mut scratch = stream.zeroed::<f32>(256)?;
    slow.occupy(&stream, &mut scratch)?;
    // A plain slice of page-locked memory, which the driver would read after the return.
    let memory = stream.upload(pinned.as_slice()?)?;
    pinned.as_mut_slice()?.fill(0);
    assert_eq!(memory.to_vec()?, numbers(sized(100_000)));
    Ok(())
}
