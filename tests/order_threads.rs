//! Many threads, streams and buffers at once.

use cuda_driver::DeviceAllocation;

use crate::support::bench::Bench;
use crate::support::kernels::{SlowAdd, VectorAdd};
use crate::support::{Test, numbers};

#[test]
fn many_threads_read_one_buffer_while_others_work() -> Test {
    let bench = Bench::new();
    let home = bench.stream();
    let memory = home.upload(&numbers(1000))?;
    std::thread::scope(|scope| {
        let read = |at_home: bool| {
            let stream = if at_home {
                home.clone()
            } else {
                bench.stream()
            };
            for _ in 0..10 {
                let mut copy = stream.zeroed::<u32>(1000)?;
                stream.copy(&memory, &mut copy)?;
                assert_eq!(copy.to_vec()?, numbers(1000));
            }
            Ok::<(), cuda_driver::Error>(())
        };
        let handles: Vec<_> = (0..6)
            .map(|it| scope.spawn(move || read(it % 2 == 0)))
            .collect();
        handles
            .into_iter()
            .try_for_each(|it| it.join().expect("no panic"))
    })?;
    let mut memory = memory;
    home.fill(&mut memory, 0)?;
    assert_eq!(memory.to_vec()?, [0; 1000]);
    Ok(())
}

#[test]
fn a_buffer_goes_from_thread_to_thread() -> Test {
    let bench = Bench::new();
    let slow = SlowAdd::load(bench.context(), bench.slow() / 8);
    let mut memory = bench.stream().zeroed::<f32>(512)?;
    for _ in 0..10 {
        let (bench, slow) = (&bench, &slow);
        memory = std::thread::scope(|scope| {
            let handle = scope.spawn(move || {
                let stream = bench.stream();
                slow.run(&stream, memory.as_mut_slice(), 1.0)?;
                Ok::<DeviceAllocation<f32>, cuda_driver::Error>(memory)
            });
            handle.join().expect("no panic")
        })?;
    }
    assert_eq!(memory.to_vec()?, [10.0; 512]);
    Ok(())
}

#[test]
fn threads_launch_on_overlapping_sets_of_buffers_without_deadlock() -> Test {
    let bench = Bench::new();
    let home = bench.stream();
    let add = VectorAdd::load(bench.context());
    let inputs: Vec<_> = (0..4_u8)
        .map(|it| home.upload(&[f32::from(it); 256]))
        .collect::<Result<_, _>>()?;
    std::thread::scope(|scope| {
        let (bench, add, inputs) = (&bench, &add, &inputs);
        let work = move |seed: usize| {
            let stream = bench.stream();
            for round in 0..12 {
                let (a, b) = ((seed + round) % 4, (seed * 3 + round * 5 + 1) % 4);
                let mut sum = stream.zeroed::<f32>(256)?;
                add.run(
                    &stream,
                    inputs[a].as_slice(),
                    inputs[b].as_slice(),
                    sum.as_mut_slice(),
                )?;
                assert_eq!(sum.to_vec()?, [(a + b) as f32; 256]);
            }
            Ok::<(), cuda_driver::Error>(())
        };
        let handles: Vec<_> = (0..4).map(|seed| scope.spawn(move || work(seed))).collect();
        handles
            .into_iter()
            .try_for_each(|it| it.join().expect("no panic"))
    })?;
    Ok(())
}

#[test]
fn threads_create_and_destroy_streams_and_events_with_work_in_flight() -> Test {
    let bench = Bench::new();
    let home = bench.stream();
    let shared = home.upload(&numbers(256))?;
    std::thread::scope(|scope| {
        let (bench, shared) = (&bench, &shared);
        let work = move || {
            for _ in 0..20 {
                let stream = bench.stream();
                let event = bench
                    .context()
                    .create_event(cuda_driver::EventFlags::DISABLE_TIMING)?;
                let mut copy = stream.zeroed::<u32>(256)?;
                stream.copy(shared, &mut copy)?;
                event.record(&stream)?;
                let next = bench.stream();
                next.wait_for(&event)?;
                next.fill(&mut copy, 1)?;
                drop((stream, event, copy));
            }
            Ok::<(), cuda_driver::Error>(())
        };
        let handles: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
        handles
            .into_iter()
            .try_for_each(|it| it.join().expect("no panic"))
    })?;
    bench.context().device().primary_context()?.collect();
    assert_eq!(shared.to_vec()?, numbers(256));
    Ok(())
}

#[test]
fn contexts_are_opened_and_closed_by_many_threads() -> Test {
    let Some(mut bench) = Bench::only_software() else {
        return Ok(());
    };
    drop(bench.take_context());
    std::thread::scope(|scope| {
        let bench = &bench;
        let work = move || {
            for round in 0..20_u8 {
                let context = bench.driver().device(0)?.primary_context()?;
                let stream = context.create_stream()?;
                assert_eq!(stream.upload(&[round; 10])?.to_vec()?, [round; 10]);
            }
            Ok::<(), cuda_driver::Error>(())
        };
        let handles: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
        handles
            .into_iter()
            .try_for_each(|it| it.join().expect("no panic"))
    })?;
    Ok(())
}
