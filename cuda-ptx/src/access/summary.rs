//! What the callers of a function have to know of it, and how that applies to a call.

use std::collections::HashMap;

use super::decode::Argument;
use super::form::{Form, Value, slots_in};
use super::solve::Solver;
use super::{Access, AccessKind};

/// What a function does, in terms of its own slots.
#[derive(Debug, Default)]
pub(super) struct Summary<'a> {
    pub(super) slots: Vec<(u32, u32)>,
    /// Its accesses, of each kind one.
    pub(super) accesses: Vec<Access<'a>>,
    /// What it returns: offset, bytes, value.
    pub(super) returned: Vec<(u32, u32, Form)>,
    /// The slots whose values it puts into memory, or hands to functions that nothing is known of.
    pub(super) escaped: u64,
    /// Whether every thread that returns from it has waited.
    pub(super) waits: bool,
}

/// The functions that have been looked at.
pub(super) type Summaries<'a> = HashMap<&'a str, Summary<'a>>;

/// Functions of the device's own that touch no memory of a kernel's parameters.
const OWN: [&str; 2] = ["vprintf", "__assertfail"];

pub(super) fn is_own(function: &str) -> bool {
    OWN.contains(&function)
}

/// What a call returns in a place.
pub(super) fn returned_by(
    solver: &Solver<'_, '_>,
    call: u32,
    offset: u32,
    width: u32,
    sources: &[u32],
) -> Value {
    let Some(call) = solver.decoded.calls.get(call as usize) else {
        return Value::Form(Form::ANYTHING);
    };
    if solver.decoded.loses {
        return Value::Form(Form::ANYTHING);
    }
    let summary = call.callee.and_then(|it| solver.summaries.get(it));
    let Some(summary) = summary else {
        // Anything that it was given, or that is in memory.
        let given = sources.iter().filter_map(|&it| solver.value(it).form());
        return Value::Form(given.fold(Form::FROM_MEMORY, |all, it| all.plus(it.in_pieces())));
    };
    let mut returned = summary.returned.iter();
    if let Some(it) = returned.find(|it| (it.0, it.1) == (offset, width)) {
        return Value::Form(applied(solver, &call.arguments, summary, it.2));
    }
    let all = summary.returned.iter();
    let all = all.fold(Form::FROM_MEMORY, |all, it| all.plus(it.2.in_pieces()));
    Value::Form(applied(solver, &call.arguments, summary, all).in_pieces())
}

/// A sum of a function's slots, with what a call passes for these.
pub(super) fn applied(
    solver: &Solver<'_, '_>,
    arguments: &[Argument],
    summary: &Summary<'_>,
    form: Form,
) -> Form {
    if form.mixed == u64::MAX {
        return Form::ANYTHING;
    }
    let argument = |slot: u8| {
        let place = summary.slots.get(usize::from(slot)).copied();
        place.map_or(Form::ANYTHING, |(index, offset)| {
            passed(solver, arguments.get(index as usize), offset)
        })
    };
    let mut result = Form {
        plus: 0,
        minus: 0,
        mixed: 0,
        ..form
    };
    for slot in slots_in(form.plus) {
        result = result.plus(argument(slot));
    }
    for slot in slots_in(form.minus) {
        result = result.plus(argument(slot).negated());
    }
    for slot in slots_in(form.mixed) {
        result = result.plus(argument(slot).in_pieces());
    }
    let known = slots_in(form.mixed).count();
    match form.mixed.count_ones() as usize == known {
        true => result,
        // Slots that are not told apart.
        false => Form::ANYTHING,
    }
}

/// What is passed in 8 bytes of an argument.
fn passed(solver: &Solver<'_, '_>, argument: Option<&Argument>, offset: u32) -> Form {
    match argument {
        None => Form::ANYTHING,
        Some(Argument::Register(register)) => solver.form(*register),
        Some(Argument::Variable(variable)) => {
            let pieces = solver.decoded.passed.get(*variable as usize);
            let pieces = pieces.map_or(&[][..], |it| &it.0);
            let whole = pieces.iter().find(|it| (it.0, it.1) == (offset, 8));
            match whole {
                Some(&(_, _, register)) => solver.form(register),
                None => {
                    let all = pieces.iter().map(|it| solver.form(it.2));
                    all.fold(Form::FROM_MEMORY, |all, it| all.plus(it.in_pieces()))
                }
            }
        }
    }
}

/// What a function returns in each place; where there are more places than are told apart, all of it in a place that nobody asks for.
pub(super) fn joined(returned: &[(u32, u32, Form)]) -> Vec<(u32, u32, Form)> {
    const MOST: usize = 64;
    let mut places: Vec<(u32, u32, Form)> = Vec::new();
    for &(offset, width, form) in returned {
        let is_there = |it: &&mut (u32, u32, Form)| (it.0, it.1) == (offset, width);
        let count = places.len();
        match places.iter_mut().find(is_there) {
            Some(place) => place.2 = place.2.or(form),
            None if count < MOST => places.push((offset, width, form)),
            None => return vec![(u32::MAX, u32::MAX, Form::ANYTHING)],
        }
    }
    places
}

/// Keeps one access of each sort, the first; more than the limit count as one of which nothing is known.
pub(super) fn condensed<'a>(accesses: &[Access<'a>]) -> Vec<Access<'a>> {
    const MOST: usize = 64;
    let mut kept: Vec<Access<'a>> = Vec::new();
    let mut seen = HashMap::new();
    for access in accesses {
        let key = (
            access.kind,
            access.base,
            access.is_generic,
            access.ty,
            access.lanes,
            access.number,
        );
        let key = (key, access.is_noncoherent, access.is_before_wait);
        if kept.len() == MOST {
            kept.push(Access {
                kind: AccessKind::Unknown,
                base: Form::ANYTHING,
                is_noncoherent: accesses.iter().any(|it| it.is_noncoherent),
                is_before_wait: accesses.iter().any(|it| it.is_before_wait),
                ..*access
            });
            break;
        }
        if seen.insert(key, ()).is_none() {
            kept.push(*access);
        }
    }
    kept
}
