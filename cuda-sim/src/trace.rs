//! Calls, counted and listed.

use std::collections::BTreeMap;
use std::fmt;

use cuda_sys::CUresult;

/// How often each function was called, by exact symbol.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Calls {
    pub(crate) counts: BTreeMap<&'static str, u64>,
}

impl Calls {
    /// Calls of all functions together.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Calls of one symbol.
    #[must_use]
    pub fn of(&self, symbol: &str) -> u64 {
        self.counts.get(symbol).copied().unwrap_or(0)
    }

    /// Each symbol that was called, with its count, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.counts.iter().map(|(symbol, count)| (*symbol, *count))
    }

    /// The calls made since `earlier`.
    ///
    /// ```
    /// let simulator = cuda_sim::Simulator::new();
    /// let before = simulator.calls();
    /// assert_eq!(simulator.calls().since(&before).total(), 0);
    /// ```
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let new = |(symbol, count): (&'static str, u64)| {
            (symbol, count.saturating_sub(earlier.of(symbol)))
        };
        Self {
            counts: self
                .iter()
                .map(new)
                .filter(|(_, count)| *count > 0)
                .collect(),
        }
    }
}

impl fmt::Display for Calls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (symbol, count)) in self.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            write!(f, "{comma}{count} × {symbol}")?;
        }
        if self.counts.is_empty() {
            f.write_str("no calls")
        } else {
            Ok(())
        }
    }
}

/// One call, as the trace has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceEntry {
    /// Its number among the calls of the instance, from 1. Entries stand in the order in which calls returned.
    pub number: u64,
    /// A number for the thread that made it.
    pub thread: u64,
    /// The exact symbol.
    pub symbol: &'static str,
    /// What it returned.
    pub result: CUresult,
}

impl fmt::Display for TraceEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "#{} thread {} {}: {:?}",
            self.number, self.thread, self.symbol, self.result
        )
    }
}
