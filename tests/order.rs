//! The order of operations on one buffer from several streams.

use cuda_driver::{DeviceAllocation, Stream};

use crate::support::bench::Bench;
use crate::support::kernels::{SlowAdd, VectorAdd};
use crate::support::{Test, numbers};

const LEN: usize = 4096;

struct Rig {
    slow: SlowAdd,
    add: VectorAdd,
    home: Stream,
    others: [Stream; 3],
    scratch: DeviceAllocation<f32>,
}

impl Rig {
    fn new(bench: &Bench) -> Self {
        let home = bench.stream();
        Self {
            slow: SlowAdd::load(bench.context(), bench.slow()),
            add: VectorAdd::load(bench.context()),
            scratch: home.zeroed(256).expect("memory"),
            others: [bench.stream(), bench.stream(), bench.stream()],
            home,
        }
    }

    /// Makes the home stream late.
    fn delay_home(&mut self) -> Test {
        Ok(self.slow.occupy(&self.home, &mut self.scratch)?)
    }
}

#[test]
fn a_read_on_another_stream_waits_for_the_zeroing_at_home() -> Test {
    let bench = Bench::new();
    let mut rig = Rig::new(&bench);
    for _ in 0..bench.repeats() {
        let mut dirty = rig.home.zeroed::<u32>(LEN)?;
        dirty.fill(u32::MAX)?;
        drop(dirty);
        rig.delay_home()?;
        let memory = rig.home.zeroed::<u32>(LEN)?;
        // Read on one stream, then on another: that one must wait for the zeroing too.
        let mut copies = Vec::new();
        for stream in &rig.others {
            let mut copy = stream.upload(&[7; LEN])?;
            stream.copy(&memory, &mut copy)?;
            copies.push(copy);
        }
        // The last one first: waiting for the others would run what it depends on.
        for copy in copies.into_iter().rev() {
            assert!(
                copy.to_vec()?.iter().all(|&it| it == 0),
                "a stream did not wait for the zeroing"
            );
        }
    }
    Ok(())
}

#[test]
fn a_third_stream_waits_for_the_work_at_home_too() -> Test {
    let bench = Bench::new();
    let mut rig = Rig::new(&bench);
    for _ in 0..bench.repeats() {
        let mut memory = rig.home.zeroed::<u32>(LEN)?;
        rig.delay_home()?;
        rig.home.fill(&mut memory, 5)?;
        let mut copies = Vec::new();
        for stream in &rig.others {
            let mut copy = stream.zeroed::<u32>(LEN)?;
            stream.copy(&memory, &mut copy)?;
            copies.push(copy);
        }
        for copy in copies.into_iter().rev() {
            assert!(
                copy.to_vec()?.iter().all(|&it| it == 5),
                "a stream did not wait for the work at home"
            );
        }
    }
    Ok(())
}

#[test]
fn crossing_enters_home_as_a_write() -> Test {
    let Some(bench) = Bench::only_software() else {
        return Ok(());
    };
    let rig = Rig::new(&bench);
    let memory = rig.home.zeroed::<u32>(LEN)?;
    let mut copies: Vec<_> = (0..2)
        .map(|_| rig.home.zeroed::<u32>(LEN))
        .collect::<Result<_, _>>()?;
    for (stream, copy) in rig.others.iter().zip(&mut copies) {
        let (result, calls) = bench.calls_of(|| stream.copy(&memory, copy));
        result?;
        assert!(calls.contains("cuStreamWaitEvent"), "{calls}");
    }
    Ok(())
}

#[test]
fn a_write_on_another_stream_waits_for_a_read_at_home() -> Test {
    let bench = Bench::new();
    let mut rig = Rig::new(&bench);
    for _ in 0..bench.repeats() {
        let mut memory = rig.home.upload(&numbers(LEN))?;
        let mut copy = rig.home.zeroed::<u32>(LEN)?;
        rig.delay_home()?;
        rig.home.copy(&memory, &mut copy)?;
        rig.others[0].fill(&mut memory, u32::MAX)?;
        assert!(
            copy.to_vec()? == numbers(LEN),
            "the write was not ordered after the read"
        );
    }
    Ok(())
}

#[test]
fn a_write_waits_for_every_reader_and_not_only_the_last() -> Test {
    let bench = Bench::new();
    let rig = Rig::new(&bench);
    for _ in 0..bench.repeats() {
        let mut memory = rig.home.upload(&numbers(LEN))?;
        let mut copies = Vec::new();
        for stream in &rig.others {
            let mut scratch = stream.zeroed::<f32>(256)?;
            let mut copy = stream.zeroed::<u32>(LEN)?;
            rig.slow.occupy(stream, &mut scratch)?;
            stream.copy(&memory, &mut copy)?;
            copies.push(copy);
        }
        rig.home.fill(&mut memory, u32::MAX)?;
        for copy in copies {
            assert!(copy.to_vec()? == numbers(LEN), "a reader was overtaken");
        }
    }
    Ok(())
}

#[test]
fn a_read_never_removes_a_write() -> Test {
    let bench = Bench::new();
    let rig = Rig::new(&bench);
    let [writer, reader, late] = &rig.others;
    for _ in 0..bench.repeats() {
        let mut memory = rig.home.zeroed::<f32>(LEN)?;
        rig.slow.run(writer, memory.as_mut_slice(), 5.0)?;
        let mut copies = [reader.zeroed::<f32>(LEN)?, late.zeroed::<f32>(LEN)?];
        reader.copy(&memory, &mut copies[0])?;
        late.copy(&memory, &mut copies[1])?;
        for copy in copies.into_iter().rev() {
            assert!(copy.to_vec()? == [5.0; LEN]);
        }
    }
    Ok(())
}

#[test]
fn a_write_removes_only_what_it_covers() -> Test {
    let bench = Bench::new();
    let rig = Rig::new(&bench);
    let [one, two, three] = &rig.others;
    for _ in 0..bench.repeats() {
        let mut memory = rig.home.zeroed::<f32>(LEN)?;
        rig.slow.run(one, memory.as_mut_slice(), 1.0)?;
        // A small write overlaps the large one; the rest of the large one must still be waited for.
        two.fill(&mut memory.slice_mut(..10)?, 9.0)?;
        // A reader of that rest alone does not meet the small write, which has waited.
        let rest = three.download(&memory.slice(10..)?)?;
        assert!(rest.iter().all(|&it| it == 1.0));
        assert_eq!(memory.slice(..10)?.to_vec()?, [9.0; 10]);
    }
    Ok(())
}

#[test]
fn once_shared_operations_at_home_wait_too() -> Test {
    let bench = Bench::new();
    let rig = Rig::new(&bench);
    for _ in 0..bench.repeats() {
        let mut memory = rig.home.zeroed::<f32>(LEN)?;
        for round in 1..5_u8 {
            rig.slow.run(&rig.others[0], memory.as_mut_slice(), 1.0)?;
            rig.slow.run(&rig.home, memory.as_mut_slice(), 1.0)?;
            assert_eq!(
                rig.others[1].download(&memory.slice(7..8)?)?,
                [f32::from(round) * 2.0]
            );
        }
    }
    Ok(())
}

#[test]
fn disjoint_halves_on_two_streams_do_not_wait_for_each_other() -> Test {
    let Some(bench) = Bench::only_software() else {
        return Ok(());
    };
    let rig = Rig::new(&bench);
    let [one, two, _] = &rig.others;
    let mut memory = rig.home.zeroed::<u32>(LEN)?;
    let (mut left, mut right) = memory.as_mut_slice().split_at_mut(LEN / 2)?;
    // Both have waited for the zeroing at home.
    one.fill(&mut left, 1)?;
    two.fill(&mut right, 2)?;
    let (result, calls) = bench.calls_of(|| {
        one.fill(&mut left, 3)?;
        two.fill(&mut right, 4)
    });
    result?;
    assert!(!calls.contains("cuStreamWaitEvent"), "{calls}");
    let mut expected = vec![3; LEN / 2];
    expected.resize(LEN, 4);
    assert_eq!(memory.to_vec()?, expected);
    Ok(())
}

#[test]
fn a_kernel_on_another_stream_sees_all_its_arguments_complete() -> Test {
    let bench = Bench::new();
    let mut rig = Rig::new(&bench);
    for _ in 0..bench.repeats() {
        rig.delay_home()?;
        let ones = rig.home.upload(&[1.0; LEN])?;
        let mut twos = rig.others[0].zeroed::<f32>(LEN)?;
        rig.slow.run(&rig.others[0], twos.as_mut_slice(), 2.0)?;
        let mut sum = rig.others[1].zeroed::<f32>(LEN)?;
        rig.add.run(
            &rig.others[2],
            ones.as_slice(),
            twos.as_slice(),
            sum.as_mut_slice(),
        )?;
        assert!(sum.to_vec()? == [3.0; LEN]);
    }
    Ok(())
}

#[test]
fn one_buffer_twice_in_a_launch_is_locked_once() -> Test {
    let bench = Bench::new();
    let rig = Rig::new(&bench);
    let a = rig.home.upload(&[2.5; LEN])?;
    let mut both = rig.home.zeroed::<f32>(2 * LEN)?;
    let (left, right) = both.as_mut_slice().split_at_mut(LEN)?;
    rig.add
        .run(&rig.others[0], a.as_slice(), a.as_slice(), left)?;
    rig.add
        .run(&rig.others[1], a.as_slice(), a.as_slice(), right)?;
    assert!(both.to_vec()? == [5.0; 2 * LEN]);
    // Different ranges of one block, read and written by one launch.
    let (left, right) = both.as_mut_slice().split_at_mut(LEN)?;
    rig.add
        .run(&rig.others[2], left.as_slice(), left.as_slice(), right)?;
    assert!(both.slice(LEN..)?.to_vec()? == [10.0; LEN]);
    Ok(())
}

#[test]
fn non_blocking_streams_are_ordered_against_the_legacy_stream_by_the_memory() -> Test {
    let bench = Bench::new();
    let mut rig = Rig::new(&bench);
    let legacy = bench.context().legacy_stream();
    for _ in 0..bench.repeats() {
        rig.delay_home()?;
        let mut memory = rig.home.upload(&numbers(LEN))?;
        assert!(legacy.download(&memory)? == numbers(LEN));
        legacy.fill(&mut memory, 3)?;
        assert!(rig.others[0].download(&memory)?.iter().all(|&it| it == 3));
    }
    Ok(())
}

#[test]
fn more_readers_than_a_tracker_keeps_are_still_all_waited_for() -> Test {
    let bench = Bench::new();
    let home = bench.stream();
    let mut memory = home.upload(&numbers(LEN))?;
    let streams: Vec<_> = (0..70).map(|_| bench.stream()).collect();
    let mut copies = Vec::new();
    for stream in &streams {
        let mut copy = stream.zeroed::<u32>(LEN)?;
        stream.copy(&memory, &mut copy)?;
        copies.push(copy);
    }
    streams[69].fill(&mut memory, 0)?;
    for copy in copies {
        assert!(copy.to_vec()? == numbers(LEN));
    }
    home.synchronize()?;
    Ok(())
}
