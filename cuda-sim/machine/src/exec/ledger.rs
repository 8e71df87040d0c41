//! What the parts of a launch did, brought into launch order: the outcome is that of running one block after the other.

use std::collections::BTreeMap;

use crate::exec::unwritten::Unwritten;
use crate::exec::warp::Meter;
use crate::{Fault, Place, Statistics};

/// Blocks that started one after the other and ran on one thread.
#[derive(Debug, Default)]
pub(super) struct Part {
    /// Blocks that ran to their end.
    pub(super) blocks: u64,
    /// What they executed, and what the one executed that did not end.
    pub(super) meter: Meter,
    /// What they read that nothing had written.
    pub(super) unwritten: Unwritten,
    /// The fault of the last one.
    pub(super) fault: Option<Fault>,
    /// Where the last one was when the instructions were used up.
    pub(super) at: Option<Box<Place>>,
}

/// The books of a launch.
#[derive(Debug)]
pub(super) struct Ledger {
    /// Instructions that all parts may execute together.
    limit: u64,
    /// Sums over the parts before `next`.
    statistics: Statistics,
    /// What they read that nothing had written.
    unwritten: Unwritten,
    /// The number of the first part that has not reported.
    next: u64,
    /// Reports of parts behind it.
    early: BTreeMap<u64, Part>,
    /// Set when nothing behind `next` counts any more.
    end: Option<End>,
}

/// Why a launch ended early.
#[derive(Debug)]
pub(super) enum End {
    Fault(Fault),
    /// The instructions were used up, there.
    Timeout(Option<Box<Place>>),
}

impl Ledger {
    pub(super) fn new(limit: u64) -> Self {
        Self {
            limit,
            statistics: Statistics::default(),
            unwritten: Unwritten::default(),
            next: 0,
            early: BTreeMap::new(),
            end: None,
        }
    }

    /// Takes the report of part `number`. Says whether parts behind it need not go on.
    ///
    /// The limit is applied here, in launch order: a fault is reported when all that was executed up to it, in launch order, lies within
    /// the limit, and a timeout otherwise.
    pub(super) fn enter(&mut self, number: u64, part: Part) -> bool {
        let exhausted = part.meter.fuel == 0;
        let last = part.fault.is_some() || exhausted;
        self.early.insert(number, part);
        while self.end.is_none()
            && let Some(part) = self.early.remove(&self.next)
        {
            self.next += 1;
            let sum = &mut self.statistics;
            let left = self.limit.saturating_sub(sum.instructions);
            self.unwritten.append(part.unwritten, left);
            sum.blocks += part.blocks;
            sum.instructions = sum.instructions.saturating_add(part.meter.instructions);
            sum.lane_instructions += part.meter.lane_instructions;
            if sum.instructions > self.limit {
                self.end = Some(End::Timeout(part.at));
            } else if let Some(fault) = part.fault {
                self.end = Some(End::Fault(fault));
            }
        }
        last || self.end.is_some()
    }

    /// The outcome, when no part can report any more, and what was read up to there that nothing had written.
    pub(super) fn close(self) -> (Result<Statistics, End>, Unwritten) {
        let outcome = match self.end {
            Some(end) => Err(end),
            None => Ok(self.statistics),
        };
        (outcome, self.unwritten)
    }
}
