//! Races between operations, as values and as text.

use std::fmt;
use std::ops::Range;

use crate::report::call_at;
use crate::site::CallSite;

/// How an operation touches memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AccessKind {
    /// It reads.
    Read,
    /// It writes, makes or releases.
    Write,
    /// It reads and writes in one step that others of the kind cannot disturb.
    Atomic,
}

impl fmt::Display for AccessKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "reads",
            Self::Write => "writes",
            Self::Atomic => "changes atomically",
        })
    }
}

/// One of the two operations of a race.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RaceSide {
    /// What it is: "kernel `name`", "copy", "fill" …
    pub operation: String,
    /// What it does to the bytes.
    pub access: AccessKind,
    /// The number of its stream, as `cuStreamGetId` gives it; 0 for a call of the host.
    pub stream: u64,
    /// Number of the call that enqueued it.
    pub call: u64,
    /// Where that call was made, if [`Builder::call_sites`](crate::Builder::call_sites) asked for it.
    pub site: Option<CallSite>,
}

impl fmt::Display for RaceSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} them", self.operation, self.access)?;
        if self.stream != 0 {
            write!(f, " on stream {}", self.stream)?;
        }
        write!(
            f,
            ", enqueued by {}",
            call_at(self.call, self.site.as_ref())
        )
    }
}

/// Two operations without an order between them, on the same bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Race {
    /// The operation that was executed first this time.
    pub first: RaceSide,
    /// The other one.
    pub second: RaceSide,
    /// The first run of bytes that both touch, as addresses.
    pub bytes: Range<u64>,
}
