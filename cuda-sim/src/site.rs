//! Call sites: where in a program's source a call of the driver was made.
//!
//! A call costs one walk up the stack; what the addresses mean is looked up only when something is reported. Calls from one place share
//! one entry.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

/// Frames that are kept of a stack: the program's own lies within, below those of this crate and of a safe layer.
const DEPTH: usize = 48;
/// Calls whose place is kept; older ones lose theirs.
const KEPT_CALLS: usize = 1 << 22;

/// A place in a program's source.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallSite {
    /// The function's full name.
    pub function: String,
    /// The file, where the program carries debug information.
    pub file: Option<String>,
    /// The line in it.
    pub line: Option<u32>,
}

/// In a report the function's name is short: without generic arguments, and of its path the last two segments.
impl fmt::Display for CallSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{file}:{line} ({})", short(&self.function)),
            (Some(file), None) => write!(f, "{file} ({})", short(&self.function)),
            _ => f.write_str(&short(&self.function)),
        }
    }
}

/// A function's name without generic arguments, of its path the last two segments.
fn short(function: &str) -> String {
    // Of a trait's method, the type before ` as ` stands for the trait.
    let mut name = String::new();
    let mut depth = 0_u32;
    let mut is_hidden = false;
    // Where a generic list follows something, it is dropped with all that is in it.
    let mut dropped = None;
    let mut before = ' ';
    let mut rest = function;
    while let Some(character) = rest.chars().next() {
        match character {
            '<' => {
                depth += 1;
                if dropped.is_none() && !name.is_empty() {
                    dropped = Some(depth);
                }
            }
            '>' if before != '-' => {
                if dropped == Some(depth) {
                    dropped = None;
                }
                depth = depth.saturating_sub(1);
                is_hidden &= depth > 0;
            }
            ' ' if depth == 1 && dropped.is_none() && rest.starts_with(" as ") => is_hidden = true,
            _ if dropped.is_none() && !is_hidden => name.push(character),
            _ => {}
        }
        before = character;
        rest = rest.get(character.len_utf8()..).unwrap_or("");
    }
    let segments: Vec<&str> = name.split("::").filter(|it| !it.is_empty()).collect();
    let last = segments.len().saturating_sub(2);
    match segments.get(last..) {
        Some(segments) if !segments.is_empty() => segments.join("::"),
        _ => function.to_owned(),
    }
}

/// The places of an instance's calls; empty unless they were asked for.
#[derive(Debug)]
pub(crate) struct Sites {
    on: bool,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    stacks: Vec<Stack>,
    numbers: HashMap<Arc<[usize]>, u32>,
    /// The stack of each call from `first` on, 0 for none.
    calls: VecDeque<u32>,
    first: u64,
}

#[derive(Debug)]
struct Stack {
    frames: Arc<[usize]>,
    site: Option<Option<CallSite>>,
}

impl Sites {
    pub(crate) fn new(on: bool) -> Self {
        Self {
            on,
            known: Mutex::default(),
        }
    }

    /// Notes where the call with that number comes from: the stack of the calling thread.
    pub(crate) fn note(&self, call: u64) {
        if !self.on {
            return;
        }
        let mut frames = [0; DEPTH];
        let mut count = 0;
        backtrace::trace(|frame| {
            if let Some(place) = frames.get_mut(count) {
                *place = frame.ip().addr();
            }
            count += 1;
            count < DEPTH
        });
        let frames = frames.get(..count.min(DEPTH)).unwrap_or(&[]);
        let mut known = self.known.lock();
        let stack = known.number(frames);
        known.set(call, stack);
    }

    /// Where that call was made.
    pub(crate) fn of(&self, call: u64) -> Option<CallSite> {
        if !self.on {
            return None;
        }
        let mut known = self.known.lock();
        let index = call.checked_sub(known.first)?;
        let number = *known.calls.get(usize::try_from(index).ok()?)?;
        let stack = known.stacks.get_mut((number as usize).checked_sub(1)?)?;
        let frames = &stack.frames;
        stack.site.get_or_insert_with(|| resolve(frames)).clone()
    }
}

impl Known {
    /// The number of a stack, from 1.
    fn number(&mut self, frames: &[usize]) -> u32 {
        if let Some(number) = self.numbers.get(frames) {
            return *number;
        }
        let frames: Arc<[usize]> = frames.into();
        self.stacks.push(Stack {
            frames: Arc::clone(&frames),
            site: None,
        });
        let number = u32::try_from(self.stacks.len()).unwrap_or(0);
        self.numbers.insert(frames, number);
        number
    }

    fn set(&mut self, call: u64, stack: u32) {
        if self.calls.is_empty() {
            self.first = call;
        }
        // Calls of several threads may arrive out of turn.
        let Some(index) = call.checked_sub(self.first) else {
            return;
        };
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        if index >= self.calls.len() && index < self.calls.len() + KEPT_CALLS {
            self.calls.resize(index + 1, 0);
        }
        if let Some(place) = self.calls.get_mut(index) {
            *place = stack;
        }
        while self.calls.len() > KEPT_CALLS {
            self.calls.pop_front();
            self.first += 1;
        }
    }
}

/// Part of the names of the safe layer's functions that only methods of declared kernels call: the frame outside is such a method, whose line
/// is that of the declaration.
const GENERATED: &str = "launch_declared";

/// The innermost frame that is the program's own, methods of declared kernels passed over; where all are of these crates, the innermost that is not of the driver.
fn resolve(frames: &[usize]) -> Option<CallSite> {
    let mut inner = None;
    let mut is_generated = false;
    for frame in frames {
        let mut found = None;
        backtrace::resolve(std::ptr::without_provenance_mut(*frame), |symbol| {
            let Some(name) = symbol.name() else { return };
            let site = CallSite {
                function: format!("{name:#}"),
                file: symbol
                    .filename()
                    .map(|file| file.to_string_lossy().replace('\\', "/")),
                line: symbol.lineno(),
            };
            match owner(&site) {
                Owner::Driver => {}
                Owner::Layer => {
                    is_generated |= site.function.contains(GENERATED);
                    inner = inner.take().or(Some(site));
                }
                // Without its line, the method may have become part of its caller.
                Owner::Program if is_generated && site.line.is_some() => {
                    is_generated = false;
                    inner = Some(site);
                }
                Owner::Program => found = found.take().or(Some(site)),
            }
        });
        if found.is_some() {
            return found;
        }
    }
    inner
}

/// Whose code a frame runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// The software driver, the bindings to it, or the standard library.
    Driver,
    /// The safe layer.
    Layer,
    Program,
}

fn owner(site: &CallSite) -> Owner {
    // Without full debug information a function's name lacks its crate, and its file has to tell.
    let file = site.file.as_deref().unwrap_or("");
    let of = |name: &str, folder: &str| is_of(&site.function, name) || is_in(file, folder);
    let driver = [
        ("cuda_sim", "cuda-sim"),
        ("cuda_sys", "cuda-sys"),
        ("backtrace", "backtrace"),
        ("core", "library/core"),
        ("alloc", "library/alloc"),
        ("std", "library/std"),
    ];
    let exported = cuda_sys::Symbol::by_name(&site.function).is_some();
    if exported || driver.iter().any(|(name, folder)| of(name, folder)) {
        Owner::Driver
    } else if of("cuda_driver", "cuda-driver") {
        Owner::Layer
    } else {
        Owner::Program
    }
}

/// Whether a function belongs to a crate, be it as a method of a trait.
fn is_of(function: &str, name: &str) -> bool {
    let start = function.trim_start_matches(['<', '&', '[', '*', '(']);
    let start = start.trim_start_matches("mut ").trim_start_matches("dyn ");
    let rest = start.strip_prefix(name);
    rest.is_some_and(|rest| rest.starts_with("::"))
}

/// Whether a file is a source of the crate in that folder, whose name may carry a version.
fn is_in(file: &str, folder: &str) -> bool {
    let after = |(at, _): (usize, &str)| file.get(at + folder.len()..);
    let inside = |rest: &str| {
        let rest = rest.trim_start_matches(|c: char| c == '-' || c == '.' || c.is_ascii_digit());
        rest.starts_with("/src/")
    };
    file.match_indices(folder).filter_map(after).any(inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_the_driver_and_of_the_standard_library_are_passed_over() {
        let of = |function: &str, file: &str| {
            owner(&CallSite {
                function: function.into(),
                file: Some(file.into()),
                line: None,
            })
        };
        assert_eq!(of("cuda_sim::call::enter", ""), Owner::Driver);
        assert_eq!(of("enter", "/x/cuda-sim/src/call.rs"), Owner::Driver);
        assert_eq!(of("enter", "/x/cuda-sim-0.1.0/src/call.rs"), Owner::Driver);
        assert_eq!(of("<cuda_sys::A as core::B>::b", ""), Owner::Driver);
        assert_eq!(of("cuMemAlloc_v2", ""), Owner::Driver);
        let std = "/rustc/1/library/std/src/thread.rs";
        assert_eq!(of("{closure#0}", std), Owner::Driver);
        assert_eq!(of("f", "/x/cuda-driver/src/stream.rs"), Owner::Layer);
        assert_eq!(of("t", "/x/cuda-sim/tests/leaks.rs"), Owner::Program);
        assert_eq!(of("cuda_simulated::main", ""), Owner::Program);
        assert_eq!(of("main", "main.c"), Owner::Program);
    }

    #[test]
    fn reports_name_functions_shortly() {
        let pairs = [
            ("main", "main"),
            ("s::main", "s::main"),
            ("s::a::b::main::{closure#0}", "main::{closure#0}"),
            (
                "s::Kernels::blend::<a::Stream, &b::Memory<f64>>",
                "Kernels::blend",
            ),
            ("<s::Kernels>::blend::<fn() -> u8, u8>", "Kernels::blend"),
            ("<s::Kernels<u8> as t::Blend<f32>>::blend", "Kernels::blend"),
            ("blend<a::Stream, &b::Memory<f64>>", "blend"),
            ("<", "<"),
        ];
        for (long, shown) in pairs {
            assert_eq!(short(long), shown);
        }
    }

    #[test]
    fn a_call_without_a_note_has_no_place() {
        let sites = Sites::new(true);
        assert_eq!(sites.of(7), None);
        sites.note(5);
        sites.note(9);
        assert_eq!(sites.of(7), None);
        assert_eq!(Sites::new(false).of(5), None);
    }
}
