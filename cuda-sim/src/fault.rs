//! Failures on demand.

use cuda_sys::CUresult;

/// How a call is made to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureMode {
    /// It does nothing and returns the code.
    Refused,
    /// It is executed, and returns the code all the same.
    AfterExecuting,
    /// It and all later calls do nothing and return the code, as on a device that is lost; the few functions that work without a device go on.
    Lost,
}

/// What a call is made to return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) result: CUresult,
    pub(crate) mode: FailureMode,
}

/// A call that was made to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Struck {
    pub(crate) symbol: &'static str,
    /// Its number among the calls of the instance.
    pub(crate) call: u64,
}

/// The failures that are planned.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    plans: Vec<Plan>,
    first: Option<Struck>,
}

#[derive(Debug)]
struct Plan {
    symbol: String,
    /// Calls until it strikes: 1 is the next, 0 is a loss that has struck.
    remaining: u64,
    fault: Fault,
}

impl Plan {
    /// Whether it strikes a call of that symbol, which counts.
    fn strikes(&mut self, symbol: &str) -> bool {
        let lost = self.remaining == 0;
        if lost {
            return !crate::call::works_uninitialised(symbol);
        }
        if self.symbol != symbol && self.symbol != "*" {
            return false;
        }
        self.remaining -= 1;
        self.remaining == 0
    }
}

impl Faults {
    /// Makes the `nth` call of `symbol` from now (1: the next; `*`: of any function) fail.
    pub(crate) fn plan(&mut self, symbol: &str, nth: u64, fault: Fault) {
        self.plans.push(Plan {
            symbol: symbol.to_owned(),
            remaining: nth.max(1),
            fault,
        });
    }

    /// Forgets what has not struck, and ends a loss; says how many those were.
    pub(crate) fn clear(&mut self) -> usize {
        std::mem::take(&mut self.plans).len()
    }

    /// The first call that was made to fail.
    pub(crate) fn first_struck(&self) -> Option<Struck> {
        self.first
    }

    /// Counts a call; its failure, if one is due.
    pub(crate) fn next(&mut self, symbol: &'static str, call: u64) -> Option<Fault> {
        if self.plans.is_empty() {
            return None;
        }
        let mut due = None;
        self.plans.retain_mut(|plan| {
            if plan.strikes(symbol) {
                due.get_or_insert(plan.fault);
            }
            plan.remaining > 0 || plan.fault.mode == FailureMode::Lost
        });
        if due.is_some() {
            self.first.get_or_insert(Struck { symbol, call });
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn struck<const N: usize>(faults: &mut Faults, symbols: [&'static str; N]) -> [bool; N] {
        symbols.map(|symbol| faults.next(symbol, 1).is_some())
    }

    #[test]
    fn the_nth_call_of_that_symbol_fails_once() {
        let fault = Fault {
            result: CUresult(2),
            mode: FailureMode::Refused,
        };
        let mut faults = Faults::default();
        faults.plan("cuMemAlloc_v2", 2, fault);
        faults.plan("*", 4, fault);
        let calls = [
            "cuMemAlloc_v2",
            "cuMemFree_v2",
            "cuMemAlloc_v2",
            "cuInit",
            "cuMemAlloc_v2",
        ];
        assert_eq!(
            struck(&mut faults, calls),
            [false, false, true, true, false]
        );
    }

    #[test]
    fn a_loss_lasts_until_it_is_cleared() {
        let fault = Fault {
            result: CUresult(719),
            mode: FailureMode::Lost,
        };
        let mut faults = Faults::default();
        faults.plan("cuMemAlloc_v2", 1, fault);
        let calls = ["cuMemFree_v2", "cuMemAlloc_v2", "cuMemFree_v2", "cuInit"];
        assert_eq!(struck(&mut faults, calls), [false, true, true, false]);
        assert_eq!(faults.clear(), 1);
        assert_eq!(struck(&mut faults, ["cuMemFree_v2"]), [false]);
    }
}
