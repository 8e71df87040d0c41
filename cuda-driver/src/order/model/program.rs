//! Random programs.

use super::super::Range;
use super::world::Use;

/// A small, fast generator of random numbers; the same programs on every run.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }

    pub(super) fn coin(&mut self) -> bool {
        self.below(2) == 0
    }
}

/// One step of a program.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// An operation on a stream, with one range of a block or of two.
    Enqueue(u64, [Option<Use>; 2]),
    /// The host waits for a block, for its writes or for everything, and then uses it itself.
    Host(usize, bool),
}

pub(super) const UNITS: u64 = 4;

pub(super) fn random_use(
    random: &mut Random,
    block: usize,
    write: Option<bool>,
    part: (u64, u64),
) -> Use {
    let start = part.0 + random.below(part.1 - part.0);
    let end = start + 1 + random.below(part.1 - start);
    Use {
        block,
        range: Range { start, end },
        effect: write.unwrap_or_else(|| random.coin()).into(),
    }
}

pub(super) fn random_step(random: &mut Random, write: Option<bool>, part: (u64, u64)) -> Step {
    if part == (0, UNITS) && random.below(8) == 0 {
        let writes = write.unwrap_or_else(|| random.coin());
        return Step::Host(usize::from(random.coin()), writes);
    }
    let stream = 1 + random.below(3);
    let first = usize::from(random.below(4) == 0);
    let mut uses = [Some(random_use(random, first, write, part)), None];
    if random.below(3) == 0 {
        uses[1] = Some(random_use(random, 1 - first, write, part));
    }
    Step::Enqueue(stream, uses)
}

/// A whole program: steps before, two threads or none, steps after.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) before: Vec<Step>,
    pub(super) threads: Option<[Vec<Step>; 2]>,
    pub(super) after: Vec<Step>,
}

impl Program {
    pub(super) fn random(random: &mut Random) -> Self {
        let whole = (0, UNITS);
        let counts = [random.below(3), random.below(3), 1 + random.below(3)];
        let threads = match counts[1] {
            0 => None,
            1 => {
                let mut thread = || {
                    (0..2)
                        .map(|_| random_step(random, Some(false), whole))
                        .collect()
                };
                Some([thread(), thread()])
            }
            _ => {
                let half = UNITS / 2;
                let mut thread = |part| {
                    (0..2)
                        .map(|_| random_step(random, None, part))
                        .collect::<Vec<_>>()
                };
                Some([thread((0, half)), thread((half, UNITS))])
            }
        };
        Self {
            before: (0..counts[0])
                .map(|_| random_step(random, None, whole))
                .collect(),
            threads,
            after: (0..counts[2])
                .map(|_| random_step(random, None, whole))
                .collect(),
        }
    }
}
