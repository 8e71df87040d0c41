//! The allocation that a report is about.

use crate::report::call_at;
use crate::site::CallSite;

/// An allocation, living or gone, and who made and released it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AllocationInfo {
    /// First byte.
    pub address: u64,
    /// Bytes that were asked for.
    pub size: usize,
    /// Number of the call that made it; 0 where it was not made by one.
    pub made: u64,
    /// Where that call was made, if [`Builder::call_sites`](crate::Builder::call_sites) asked for it.
    pub made_at: Option<CallSite>,
    /// Number of the call that released it, if it is gone.
    pub freed: Option<u64>,
    /// Where that call was made.
    pub freed_at: Option<CallSite>,
}

impl AllocationInfo {
    /// Where an address lies with respect to it, in words.
    pub(crate) fn around(&self, address: u64) -> String {
        let (start, end) = (self.address, self.address + self.size as u64);
        let place = if address < start {
            format!("{} bytes before", start - address)
        } else if address >= end {
            format!("{} bytes behind the end of", address - end)
        } else {
            format!("byte {} of", address - start)
        };
        let made = call_at(self.made, self.made_at.as_ref());
        let freed = match self.freed {
            Some(freed) => format!(", released by {}", call_at(freed, self.freed_at.as_ref())),
            None => String::new(),
        };
        format!(
            "{address:#x} is {place} the allocation of {} bytes at {start:#x}, made by {made}{freed}",
            self.size
        )
    }
}
