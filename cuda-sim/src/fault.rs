//! Failures on demand.

use cuda_sys::CUresult;

/// What a call is made to return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) result: CUresult,
    /// The call is executed, and then reports the failure.
    pub(crate) after: bool,
}

/// The failures that are planned.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    plans: Vec<Plan>,
}

#[derive(Debug)]
struct Plan {
    symbol: String,
    /// Calls until it strikes: 1 is the next.
    remaining: u64,
    fault: Fault,
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

    /// Forgets what has not struck; says how many.
    pub(crate) fn clear(&mut self) -> usize {
        std::mem::take(&mut self.plans).len()
    }

    /// Counts a call; its failure, if one is due.
    pub(crate) fn next(&mut self, symbol: &str) -> Option<Fault> {
        let mut due = None;
        self.plans.retain_mut(|plan| {
            if plan.symbol != symbol && plan.symbol != "*" {
                return true;
            }
            plan.remaining -= 1;
            if plan.remaining == 0 {
                due.get_or_insert(plan.fault);
            }
            plan.remaining > 0
        });
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nth_call_of_that_symbol_fails_once() {
        let fault = Fault {
            result: CUresult(2),
            after: false,
        };
        let mut faults = Faults::default();
        faults.plan("cuMemAlloc_v2", 2, fault);
        faults.plan("*", 4, fault);
        let struck: Vec<bool> = [
            "cuMemAlloc_v2",
            "cuMemFree_v2",
            "cuMemAlloc_v2",
            "cuInit",
            "cuMemAlloc_v2",
        ]
        .map(|s| faults.next(s).is_some())
        .into();
        assert_eq!(struck, [false, false, true, true, false]);
    }
}
