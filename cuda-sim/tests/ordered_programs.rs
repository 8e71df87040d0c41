//! Random programs whose operations are ordered by events wherever they touch the same memory: every legal order gives the result of the
//! program's own order. Without the events some order gives another.

mod support;

use std::ptr;

use cuda_sys::{CUevent, CUstream};
use support::{Rig, ok};

const BUFFERS: usize = 4;
const STREAMS: usize = 3;
const OPERATIONS: usize = 40;

/// A small generator, so that a program depends on its number alone.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % count
    }
}

/// Runs program `number` under `seed`; whether it gave what its own order gives.
fn agrees(number: u64, seed: u64, with_events: bool) -> bool {
    let rig = Rig::seeded(seed);
    let cuda = &rig.cuda;
    let streams: Vec<CUstream> = (0..STREAMS).map(|_| rig.stream(1)).collect();
    let buffers: Vec<u64> = (0..BUFFERS).map(|_| rig.upload(&[0])).collect();
    let increment = rig.kernel("increment");
    ok!(cuda, cuCtxSynchronize());
    let mut expected = [0u32; BUFFERS];
    // The event after the last operation of each stream on each buffer.
    let mut last: [[CUevent; BUFFERS]; STREAMS] = [[ptr::null_mut(); BUFFERS]; STREAMS];
    let mut numbers = Numbers(number);
    for step in 0..OPERATIONS {
        let (at, from, to) = (
            numbers.below(STREAMS),
            numbers.below(BUFFERS),
            numbers.below(BUFFERS),
        );
        let stream = streams[at];
        let earlier = last
            .iter()
            .flat_map(|events| [events[from], events[to]])
            .filter(|event| !event.is_null());
        if with_events {
            for event in earlier {
                ok!(cuda, cuStreamWaitEvent(stream, event, 0));
            }
        }
        match numbers.below(3) {
            0 => {
                ok!(cuda, cuMemsetD32Async(buffers[to], step as u32, 1, stream));
                expected[to] = step as u32;
            }
            1 => {
                ok!(
                    cuda,
                    cuMemcpyDtoDAsync_v2(buffers[to], buffers[from], 4, stream)
                );
                expected[to] = expected[from];
            }
            _ => {
                assert_eq!(
                    rig.launch(increment, 1, 1, stream, &[buffers[to], buffers[from]]),
                    support::SUCCESS
                );
                expected[to] = expected[from] + 1;
            }
        }
        let event = rig.event(2);
        ok!(cuda, cuEventRecord(event, stream));
        last[at][from] = event;
        last[at][to] = event;
        if numbers.below(8) == 0 {
            // Asking lets some of the work run early.
            assert!(matches!(
                support::call!(cuda, cuStreamQuery(streams[numbers.below(STREAMS)])).0,
                0 | 600
            ));
        }
    }
    ok!(cuda, cuCtxSynchronize());
    let result: Vec<u32> = buffers
        .iter()
        .map(|buffer| rig.download(*buffer, 1)[0])
        .collect();
    assert_eq!(rig.simulator.reports(), []);
    result == expected
}

#[test]
fn ordered_programs_give_one_result_under_all_seeds() {
    for number in 0..60 {
        for seed in 0..5 {
            assert!(agrees(number, seed, true), "program {number}, seed {seed}");
        }
    }
}

#[test]
fn unordered_programs_are_found_out() {
    let found = (0..60)
        .filter(|number| (0..5).any(|seed| !agrees(*number, seed, false)))
        .count();
    assert!(
        found > 50,
        "{found} of 60 programs without events gave another result under one of 5 seeds"
    );
}
