//! `mbarrier`: a barrier in memory, whose 64-bit word counts arrivals and bytes.
//!
//! The word is opaque to programs. Here it holds, from the lowest bit: the arrivals that are missing and those that a phase needs (20 bits
//! each), the bytes that are outstanding (22 bits, signed), and the parity of the phase.

use crate::code::{Instr, NONE};
use crate::exec::{Env, LaneError, Poll, RANK_SHIFT, Scope, Seen, SharedAt, Space, resolve};
use crate::ops::memory::addresses;
use crate::registers::write;
use crate::{FaultKind, WARP_SIZE};

const COUNT: u64 = (1 << 20) - 1;
const BYTES: u64 = (1 << 22) - 1;
/// The most bytes that can be outstanding, or counted ahead of being expected.
const MOST_BYTES: i64 = (1 << 20) - 1;

/// What the word says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Barrier {
    pending: u64,
    expected: u64,
    bytes: i64,
    odd: bool,
}

impl Barrier {
    fn new(word: u64) -> Self {
        let bytes = (word >> 40 & BYTES) as i64;
        Self {
            pending: word & COUNT,
            expected: word >> 20 & COUNT,
            bytes: (bytes << 42) >> 42,
            odd: word >> 62 & 1 == 1,
        }
    }

    fn word(self) -> u64 {
        self.pending & COUNT
            | (self.expected & COUNT) << 20
            | (self.bytes as u64 & BYTES) << 40
            | u64::from(self.odd) << 62
    }

    /// Begins the next phase where nothing is missing any more.
    fn settled(mut self) -> Self {
        if self.pending == 0 && self.bytes == 0 {
            self.pending = self.expected;
            self.odd = !self.odd;
        }
        self
    }

    fn arrive(mut self, count: u64) -> Self {
        self.pending = self.pending.saturating_sub(count);
        self.settled()
    }

    /// With so many more bytes outstanding.
    fn expect(mut self, bytes: i64) -> Result<Self, FaultKind> {
        self.bytes += bytes;
        if self.bytes.abs() > MOST_BYTES {
            return Err(FaultKind::Barrier(format!(
                "the barrier in memory counts {} bytes; it can count {MOST_BYTES} either way",
                self.bytes
            )));
        }
        Ok(self)
    }
}

/// The word of a barrier when so many bytes have come, and whether a phase is over by that.
pub(crate) fn completed(word: u64, bytes: u64) -> Result<(u64, bool), FaultKind> {
    let before = Barrier::new(word);
    let after = before.expect(-(bytes as i64))?.settled();
    Ok((after.word(), before.odd != after.odd))
}

/// What is missing for a phase to end, as words that follow "waits for".
pub(crate) fn missing(word: u64, at: SharedAt) -> String {
    let barrier = Barrier::new(word);
    let place = match at.rank {
        0 => format!("{:#x} of shared memory", at.offset),
        rank => format!("{:#x} of the shared memory of block {rank}", at.offset),
    };
    format!(
        "the end of a phase of the mbarrier at {place}, which lacks {} of {} arrivals and {} bytes",
        barrier.pending, barrier.expected, barrier.bytes
    )
}

/// Where in the cluster's shared memory an address leads that has been found to lie there.
fn shared_at(space: Space, address: u64) -> SharedAt {
    let (_, address) = resolve(space, address);
    SharedAt {
        rank: (address >> RANK_SHIFT) as u32,
        offset: (address & ((1 << RANK_SHIFT) - 1)) as usize,
    }
}

/// What an operation does to the word: `f(word, operand)`.
fn change(
    i: &Instr,
    scope: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
    f: impl Fn(u64, u64) -> Result<u64, FaultKind>,
) -> Result<(), LaneError> {
    let addresses = addresses(i, scope);
    let space = Space::from_code(i.src[2]);
    let operand = scope.registers.words[i.src[3] as usize];
    let mut before = [0; WARP_SIZE];
    for lane in (0..WARP_SIZE).filter(|lane| mask >> lane & 1 == 1) {
        let (mut after, mut refused) = (0, None);
        let mut update = |word| {
            after = f(word, u64::from(operand[lane])).unwrap_or_else(|kind| {
                refused = Some(kind);
                word
            });
            after
        };
        before[lane] = env.update(scope.site(i), space, lane, addresses[lane], 8, &mut update)?;
        if let Some(kind) = refused {
            return Err(LaneError { lane, kind });
        }
        if Barrier::new(before[lane]).odd != Barrier::new(after).odd
            && let Some(race) = &mut env.common.race
        {
            race.end_phase(shared_at(space, addresses[lane]));
        }
    }
    if i.dst[0] != NONE {
        write(&mut scope.registers, i.dst[0], &before, mask);
    }
    Ok(())
}

/// `mbarrier.init`
pub(crate) fn init(
    i: &Instr,
    scope: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
) -> Result<(), LaneError> {
    change(i, scope, env, mask, |_, count| {
        let barrier = Barrier {
            pending: count,
            expected: count,
            bytes: 0,
            odd: false,
        };
        Ok(barrier.word())
    })
}

/// `mbarrier.inval`
pub(crate) fn inval(
    i: &Instr,
    scope: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
) -> Result<(), LaneError> {
    change(i, scope, env, mask, |_, _| Ok(0))
}

/// `mbarrier.arrive`; the operand is the number of arrivals. The state that it returns is the word before.
pub(crate) fn arrive(
    i: &Instr,
    scope: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
) -> Result<(), LaneError> {
    change(i, scope, env, mask, |word, count| {
        Ok(Barrier::new(word).arrive(count).word())
    })
}

/// `mbarrier.arrive_drop`: later phases need as many arrivals less.
pub(crate) fn arrive_drop(
    i: &Instr,
    scope: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
) -> Result<(), LaneError> {
    change(i, scope, env, mask, |word, count| {
        let mut barrier = Barrier::new(word);
        barrier.expected = barrier.expected.saturating_sub(count);
        Ok(barrier.arrive(count).word())
    })
}

/// `mbarrier.expect_tx`; the operand is a number of bytes.
pub(crate) fn expect(
    i: &Instr,
    scope: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
) -> Result<(), LaneError> {
    change(i, scope, env, mask, |word, bytes| {
        Ok(Barrier::new(word).expect(bytes as i64)?.settled().word())
    })
}

/// `mbarrier.complete_tx`
pub(crate) fn complete(
    i: &Instr,
    scope: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
) -> Result<(), LaneError> {
    change(i, scope, env, mask, |word, bytes| {
        Ok(completed(word, bytes)?.0)
    })
}

/// `mbarrier.arrive.expect_tx`: expects bytes, then arrives once.
pub(crate) fn arrive_expect(
    i: &Instr,
    scope: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
) -> Result<(), LaneError> {
    change(i, scope, env, mask, |word, bytes| {
        Ok(Barrier::new(word).expect(bytes as i64)?.arrive(1).word())
    })
}

/// `mbarrier.arrive_drop.expect_tx`: the same, and later phases need one arrival less.
pub(crate) fn drop_expect(
    i: &Instr,
    scope: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
) -> Result<(), LaneError> {
    change(i, scope, env, mask, |word, bytes| {
        let mut barrier = Barrier::new(word).expect(bytes as i64)?;
        barrier.expected = barrier.expected.saturating_sub(1);
        Ok(barrier.arrive(1).word())
    })
}

/// Writes to `dst[0]` whether the phase is over in which `was_odd(lane)` holds.
fn test(
    i: &Instr,
    scope: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
    was_odd: &[bool; WARP_SIZE],
) -> Result<(), LaneError> {
    let addresses = addresses(i, scope);
    let space = Space::from_code(i.src[2]);
    let mut over = 0;
    for lane in (0..WARP_SIZE).filter(|lane| mask >> lane & 1 == 1) {
        let word = env.update(
            scope.site(i),
            space,
            lane,
            addresses[lane],
            8,
            &mut |word| word,
        )?;
        over |= u32::from(Barrier::new(word).odd != was_odd[lane]) << lane;
    }
    scope.registers.set_predicate(i.dst[0], over, mask);
    let waiting = &mut env.common.flight.waiting;
    if over == 0 {
        let lane = mask.trailing_zeros() as usize;
        waiting.polls += 1;
        waiting.last = Some(Poll {
            seen: Seen {
                site: scope.site(i),
                block: env.block,
                thread: env.warp * WARP_SIZE as u32 + lane as u32,
            },
            at: shared_at(space, addresses[lane]),
        });
    } else {
        waiting.accesses += 1;
    }
    Ok(())
}

/// `mbarrier.test_wait` and `try_wait`, which never waits here; the operand is a state.
pub(crate) fn test_state(
    i: &Instr,
    scope: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
) -> Result<(), LaneError> {
    let states = scope.registers.doubles[i.src[3] as usize];
    test(
        i,
        scope,
        env,
        mask,
        &states.map(|state| Barrier::new(state).odd),
    )
}

/// The same with the parity of a phase as operand.
pub(crate) fn test_parity(
    i: &Instr,
    scope: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
) -> Result<(), LaneError> {
    let parities = scope.registers.words[i.src[3] as usize];
    test(i, scope, env, mask, &parities.map(|parity| parity & 1 == 1))
}

/// `mbarrier.pending_count`: the arrivals that were missing in a state.
pub(crate) fn pending_count(i: &Instr, r: &mut crate::registers::Registers, mask: u32) {
    crate::ops::map::map1::<u64, u32>(i, r, mask, |state| Barrier::new(state).pending as u32);
}
