//! Calls, counted and listed.

pub(crate) mod argument;
mod names;

use std::collections::BTreeMap;
use std::fmt;
use std::fmt::Write;

use cuda_sys::CUresult;

use names::Names;
pub(crate) use names::escaped;

/// The calls since tracing was switched on.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    pub(crate) entries: Vec<TraceEntry>,
    pub(crate) lines: String,
    pub(crate) names: Names,
}

impl Trace {
    /// Adds a call that returned, with its arguments and with what it stored, as JSON.
    pub(crate) fn add(
        &mut self,
        entry: TraceEntry,
        given: &[(&str, String)],
        stored: &[(&str, String)],
    ) {
        let thread = self.names.of("thread", (entry.thread, 0));
        let (number, symbol) = (entry.number, entry.symbol);
        // Nothing fails to be written into a string.
        let _ = writeln!(
            self.lines,
            r#"{{"call":{number},"thread":"{thread}","symbol":"{symbol}","arguments":{},"result":"{:?}","stored":{}}}"#,
            object(given),
            entry.result,
            object(stored)
        );
        self.entries.push(entry);
    }
}

fn object(fields: &[(&str, String)]) -> String {
    let fields: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("\"{name}\":{value}"))
        .collect();
    format!("{{{}}}", fields.join(","))
}

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
