//! Random programs whose operations are ordered by events wherever they touch the same memory: every legal order gives the result of the
//! program's own order, and no race is reported. Where some of the events are left out, a race is reported under every seed exactly when two
//! operations on the same memory are unordered; without any, some order gives another result.

mod support;

use std::collections::BTreeSet;
use std::ptr;

use cuda_sim::ReportKind;
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

/// What a run showed.
struct Outcome {
    /// Whether the result is what the program's own order gives.
    agrees: bool,
    /// Whether a race was reported.
    reported: bool,
    /// Whether there is one, judged by the graph of all operations.
    racy: bool,
}

/// An operation as the judge sees it: what it reads and writes, and everything before it.
struct Judged {
    from: Option<usize>,
    to: usize,
    before: BTreeSet<usize>,
}

impl Judged {
    fn conflicts(&self, other: &Self) -> bool {
        self.to == other.to || self.from == Some(other.to) || other.from == Some(self.to)
    }
}

/// Runs program `number` under `seed`, with the events in so many of eight cases.
fn run(number: u64, seed: u64, events_in_8: usize) -> Outcome {
    let rig = Rig::seeded(seed);
    let cuda = &rig.cuda;
    let streams: Vec<CUstream> = (0..STREAMS).map(|_| rig.stream(1)).collect();
    let buffers: Vec<u64> = (0..BUFFERS).map(|_| rig.upload(&[0])).collect();
    let increment = rig.kernel("increment");
    ok!(cuda, cuCtxSynchronize());
    let mut expected = [0u32; BUFFERS];
    // The event after the last operation of each stream on each buffer, with the operation.
    let mut last: [[(CUevent, usize); BUFFERS]; STREAMS] =
        [[(ptr::null_mut(), 0); BUFFERS]; STREAMS];
    let mut judged: Vec<Judged> = Vec::new();
    // What is before the next operation of each stream, and before all operations still to come.
    let mut lines: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); STREAMS];
    let mut host = BTreeSet::new();
    let mut numbers = Numbers(number);
    for step in 0..OPERATIONS {
        let (at, from, to) = (
            numbers.below(STREAMS),
            numbers.below(BUFFERS),
            numbers.below(BUFFERS),
        );
        let stream = streams[at];
        let earlier = last.iter().flat_map(|events| [events[from], events[to]]);
        for (event, operation) in earlier.filter(|(event, _)| !event.is_null()) {
            if numbers.below(8) < events_in_8 {
                ok!(cuda, cuStreamWaitEvent(stream, event, 0));
                lines[at].insert(operation);
                lines[at].extend(&judged[operation].before);
            }
        }
        let mut source = Some(from);
        match numbers.below(3) {
            0 => {
                ok!(cuda, cuMemsetD32Async(buffers[to], step as u32, 1, stream));
                expected[to] = step as u32;
                source = None;
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
        let before = lines[at].union(&host).copied().collect();
        judged.push(Judged {
            from: source,
            to,
            before,
        });
        lines[at].insert(step);
        let event = rig.event(2);
        ok!(cuda, cuEventRecord(event, stream));
        last[at][from] = (event, step);
        last[at][to] = (event, step);
        if numbers.below(8) == 0 {
            // Asking lets some of the work run early.
            let asked = numbers.below(STREAMS);
            match support::call!(cuda, cuStreamQuery(streams[asked])).0 {
                0 => host.extend(lines[asked].iter().copied()),
                600 => {}
                other => panic!("the stream is in error {other}"),
            }
        }
    }
    ok!(cuda, cuCtxSynchronize());
    let result: Vec<u32> = buffers
        .iter()
        .map(|buffer| rig.download(*buffer, 1)[0])
        .collect();
    let reports = rig.simulator.reports();
    assert!(reports.iter().all(|report| report.kind == ReportKind::Race));
    let unordered = |later: usize, earlier: usize| {
        judged[later].conflicts(&judged[earlier]) && !judged[later].before.contains(&earlier)
    };
    Outcome {
        agrees: result == expected,
        reported: !reports.is_empty(),
        racy: (0..OPERATIONS).any(|later| (0..later).any(|earlier| unordered(later, earlier))),
    }
}

#[test]
fn ordered_programs_give_one_result_under_all_seeds() {
    for number in 0..60 {
        for seed in 0..5 {
            let outcome = run(number, seed, 8);
            assert!(outcome.agrees, "program {number}, seed {seed}");
            assert!(!outcome.racy && !outcome.reported, "{number}, {seed}");
        }
    }
}

#[test]
fn unordered_programs_are_found_out() {
    let found = (0..60)
        .filter(|number| (0..5).any(|seed| !run(*number, seed, 0).agrees))
        .count();
    assert!(
        found > 50,
        "{found} of 60 programs without events gave another result under one of 5 seeds"
    );
}

#[test]
fn a_race_is_reported_under_every_seed_exactly_when_there_is_one() {
    let mut racy = 0;
    for number in 0..150 {
        for seed in 0..4 {
            let outcome = run(number, seed, if number % 3 == 0 { 0 } else { 7 });
            assert_eq!(
                outcome.reported, outcome.racy,
                "program {number}, seed {seed}"
            );
            racy += usize::from(outcome.racy);
        }
    }
    assert!((200..600).contains(&racy), "{racy} of 600 are racy");
}
