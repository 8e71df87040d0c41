//! Failures on demand.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use cuda_sys::CUresult;

use crate::trace::argument::Named;

/// How a call is made to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureMode {
    /// It does nothing and returns the code.
    Refused,
    /// It is executed, and returns the code all the same; `UNKNOWN` in the place of a code that says that nothing was done, such as
    /// `INVALID_VALUE` or `OUT_OF_MEMORY`, for no driver returns that then.
    AfterExecuting,
    /// It and all later calls do nothing and return the code, as on a device that is lost; the few functions that work without a device go on.
    Lost,
}

/// What a call is made to return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Not `SUCCESS`, which would say that something was done or waited for that was not.
    pub(crate) result: CUresult,
    pub(crate) mode: FailureMode,
}

impl Fault {
    pub(crate) fn new(mode: FailureMode, result: CUresult) -> Self {
        let honest = mode != FailureMode::AfterExecuting || !is_refusal(result);
        let result = if honest {
            failing(result)
        } else {
            CUresult::CUDA_ERROR_UNKNOWN
        };
        Self { result, mode }
    }
}

/// Whether drivers say by the code that they did nothing, on which programs rely: they take back what they passed.
fn is_refusal(code: CUresult) -> bool {
    matches!(
        code,
        CUresult::CUDA_ERROR_INVALID_VALUE
            | CUresult::CUDA_ERROR_INVALID_HANDLE
            | CUresult::CUDA_ERROR_INVALID_CONTEXT
            | CUresult::CUDA_ERROR_INVALID_DEVICE
            | CUresult::CUDA_ERROR_OUT_OF_MEMORY
            | CUresult::CUDA_ERROR_NOT_INITIALIZED
            | CUresult::CUDA_ERROR_DEINITIALIZED
            | CUresult::CUDA_ERROR_NOT_SUPPORTED
            | CUresult::CUDA_ERROR_NOT_PERMITTED
            | CUresult::CUDA_ERROR_NOT_FOUND
            | CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
            | CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
            | CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
            | CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
    )
}

/// The code, or `UNKNOWN` for `SUCCESS`: programs rely on what a call that succeeds has done.
pub(crate) fn failing(code: CUresult) -> CUresult {
    if code == CUresult::CUDA_SUCCESS {
        CUresult::CUDA_ERROR_UNKNOWN
    } else {
        code
    }
}

/// A call that was made to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Struck {
    pub(crate) symbol: &'static str,
    /// Its number among the calls of the instance.
    pub(crate) call: u64,
}

/// A call that is about to be made.
#[derive(Debug)]
#[non_exhaustive]
pub struct CallInfo<'a> {
    /// Its number among the calls of the instance.
    pub number: u64,
    /// The exact symbol.
    pub symbol: &'static str,
    pub(crate) arguments: &'a [Named],
}

impl CallInfo<'_> {
    /// A number, handle or address that is passed, by the name of the parameter as in [`Simulator::trace_json`](crate::Simulator::trace_json).
    #[must_use]
    pub fn argument(&self, name: &str) -> Option<u64> {
        let argument = self.arguments.iter().find(|(known, _)| *known == name);
        argument.and_then(|(_, value)| value.bits())
    }

    /// The stream that is passed, as a number.
    #[must_use]
    pub fn stream(&self) -> Option<u64> {
        self.argument("stream")
    }

    /// The bytes or elements that are passed.
    #[must_use]
    pub fn size(&self) -> Option<u64> {
        let names = ["size", "len", "count"];
        names.iter().find_map(|name| self.argument(name))
    }
}

/// Decides about each call.
pub(crate) type Chooser = Box<dyn FnMut(&CallInfo<'_>) -> Option<(FailureMode, CUresult)> + Send>;

/// The failures that are planned.
#[derive(Default)]
pub(crate) struct Faults {
    plans: Vec<Plan>,
    choosers: Vec<Chooser>,
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

impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Faults")
            .field("plans", &self.plans)
            .finish_non_exhaustive()
    }
}

impl Faults {
    /// Whether arguments are asked about.
    pub(crate) fn wants_arguments(&self) -> bool {
        !self.choosers.is_empty()
    }

    /// Lets a function decide about each call.
    pub(crate) fn choose(&mut self, chooser: Chooser) {
        self.choosers.push(chooser);
    }

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
        self.choosers.clear();
        std::mem::take(&mut self.plans).len()
    }

    /// The first call that was made to fail.
    pub(crate) fn first_struck(&self) -> Option<Struck> {
        self.first
    }

    /// Counts a call; its failure, if one is due.
    pub(crate) fn next(&mut self, call: &CallInfo<'_>) -> Option<Fault> {
        if self.plans.is_empty() && self.choosers.is_empty() {
            return None;
        }
        let mut due = None;
        let symbol = call.symbol;
        self.plans.retain_mut(|plan| {
            if plan.strikes(symbol) {
                due.get_or_insert(plan.fault);
            }
            plan.remaining > 0 || plan.fault.mode == FailureMode::Lost
        });
        for choose in &mut self.choosers {
            // A panic must not unwind into the caller, which is C; the panic hook has told of it.
            let chosen = catch_unwind(AssertUnwindSafe(|| choose(call)));
            if let Ok(Some((mode, result))) = chosen {
                due.get_or_insert(Fault::new(mode, result));
            }
        }
        if let Some(fault) = due {
            let call = call.number;
            self.first.get_or_insert(Struck { symbol, call });
            // What a function chose lasts like what was planned.
            let planned = self.plans.iter().any(|plan| plan.remaining == 0);
            if fault.mode == FailureMode::Lost && !planned {
                self.plans.push(Plan {
                    symbol: symbol.to_owned(),
                    remaining: 0,
                    fault,
                });
            }
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::argument::Value;

    fn call(symbol: &'static str) -> CallInfo<'static> {
        CallInfo {
            number: 1,
            symbol,
            arguments: &[("size", Value::Size(9))],
        }
    }

    fn struck<const N: usize>(faults: &mut Faults, symbols: [&'static str; N]) -> [bool; N] {
        symbols.map(|symbol| faults.next(&call(symbol)).is_some())
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

    #[test]
    fn a_function_decides_by_symbol_and_arguments() {
        let mut faults = Faults::default();
        faults.choose(Box::new(|call| {
            let lost = call.symbol == "cuMemAlloc_v2" && call.size() == Some(9);
            lost.then_some((FailureMode::Lost, CUresult(2)))
        }));
        let calls = ["cuMemFree_v2", "cuMemAlloc_v2", "cuMemFree_v2"];
        assert_eq!(struck(&mut faults, calls), [false, true, true]);
    }
}
