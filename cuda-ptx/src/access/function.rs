//! One function: what its body does, with what its calls do.

use std::collections::HashSet;

use crate::{Function, Position, Statement};

use super::decode::{Argument, Call, Decoded, Reader};
use super::equal::Classes;
use super::flow::{Flow, Reached};
use super::form::{Form, Value};
use super::names::Globals;
use super::ops::Rule;
use super::solve::Solver;
use super::summary::{Summaries, Summary, applied, is_own};
use super::{Access, AccessKind};

/// What a function does, in terms of its slots.
pub(super) struct Analysed<'a> {
    pub(super) slots: Vec<(u32, u32)>,
    pub(super) accesses: Vec<Access<'a>>,
    pub(super) returned: Vec<(u32, u32, Form)>,
    pub(super) escaped: u64,
    pub(super) waits: bool,
    /// Slots that are made global addresses by themselves.
    pub(super) pointers: u64,
}

/// The functions that a body calls by name.
pub(super) fn callees<'a>(body: &[Statement<'a>]) -> impl Iterator<Item = &'a str> {
    let calls = body.iter().filter_map(|it| match it {
        Statement::Instruction(it) if it.opcode() == "call" => Some(it),
        _ => None,
    });
    calls.filter_map(|it| it.operands.iter().find_map(crate::Operand::name))
}

pub(super) fn analyse<'a>(
    globals: &Globals<'_, 'a>,
    function: &Function<'a>,
    body: &[Statement<'a>],
    summaries: &Summaries<'a>,
) -> Analysed<'a> {
    let decoded = Reader::read(globals, function, body);
    let solver = Solver::solve(function, &decoded, summaries);
    let waiting_calls = decoded.calls.iter().filter_map(|call| {
        let summary = summaries.get(call.callee?)?;
        summary.waits.then_some(call.statement)
    });
    let waiting_calls: Vec<usize> = waiting_calls.collect();
    let reached = Flow::new(body).reached(body, |index, instruction| {
        instruction.mnemonic == "griddepcontrol.wait" || waiting_calls.binary_search(&index).is_ok()
    });
    let mut found = Finder {
        function,
        body,
        decoded: &decoded,
        solver: &solver,
        reached: &reached,
        accesses: Vec::new(),
        called: HashSet::new(),
        rest: None,
        escaped: if decoded.loses { u64::MAX } else { 0 },
    };
    found.own();
    for call in &decoded.calls {
        found.of_call(call);
    }
    found.accesses.extend(found.rest);
    let compared = decoded.compared.iter();
    let classes = Classes::new(compared.map(|&(one, two)| (solver.form(one), solver.form(two))));
    for access in &mut found.accesses {
        access.base = classes.widened(access.base);
    }
    found.accesses.sort_by_key(|it| it.position);
    let returned = decoded.returned.iter();
    let returned = returned
        .map(|&(offset, size, register)| (offset, size, classes.widened(solver.form(register))));
    let mut pointers = 0;
    for op in decoded.ops.iter().filter(|it| it.rule == Rule::Global) {
        let source = decoded.sources.get(op.sources.0 as usize);
        let form = source.map_or(Form::NUMBER, |&it| solver.form(it));
        if form
            == (Form {
                plus: form.plus,
                ..Form::NUMBER
            })
            && form.plus.count_ones() == 1
        {
            pointers |= form.plus;
        }
    }
    Analysed {
        returned: returned.collect(),
        accesses: found.accesses,
        escaped: found.escaped,
        waits: !reached.returns_unwaited,
        slots: solver.slots.list,
        pointers,
    }
}

struct Finder<'f, 'a> {
    function: &'f Function<'a>,
    body: &'f [Statement<'a>],
    decoded: &'f Decoded<'a>,
    solver: &'f Solver<'f, 'a>,
    reached: &'f Reached,
    accesses: Vec<Access<'a>>,
    /// The accesses of functions that are called: place, kind, address, and whether it is before a wait.
    called: HashSet<(Position, AccessKind, Form, bool)>,
    /// What more of them there are.
    rest: Option<Access<'a>>,
    escaped: u64,
}

impl<'a> Finder<'_, 'a> {
    fn is_reached(&self, statement: usize) -> bool {
        self.reached.at_all.get(statement).is_some_and(|it| *it)
    }

    fn is_before_wait(&self, statement: usize) -> bool {
        self.reached.unwaited.get(statement).is_some_and(|it| *it)
    }

    /// The accesses of the body itself, and what it puts into memory.
    fn own(&mut self) {
        for raw in &self.decoded.accesses {
            let Some(Statement::Instruction(instruction)) = self.body.get(raw.statement) else {
                continue;
            };
            let value = self.solver.value(raw.base);
            let effect = raw.effect;
            let base = match value {
                Value::ParameterAt(..) if effect.is_generic => continue,
                _ => value.form().unwrap_or(Form::ANYTHING),
            };
            if !self.is_reached(raw.statement) || (effect.is_generic && base.is_near()) {
                continue;
            }
            let is_loaded = effect.kind == AccessKind::Read;
            let typed = match effect.kind {
                // The operation is of the type, such as an addition.
                AccessKind::Update => effect.ty,
                _ => effect.ty.and_then(|ty| {
                    self.decoded
                        .numbers
                        .of(&raw.registers, is_loaded, ty, effect.lanes)
                }),
            };
            self.accesses.push(Access {
                kind: effect.kind,
                base,
                is_generic: effect.is_generic,
                ty: effect.ty,
                lanes: effect.lanes,
                number: typed.filter(|it| super::is_float(*it)),
                is_noncoherent: effect.is_noncoherent,
                is_before_wait: self.is_before_wait(raw.statement),
                position: instruction.position,
                function: self.function.name,
                line: raw.line,
            });
        }
        for &register in &self.decoded.stored {
            self.escaped |= self.solver.form(register).all();
        }
    }

    /// The accesses of a function that is called, with what it is given.
    fn of_call(&mut self, call: &Call<'a>) {
        let Some(Statement::Instruction(instruction)) = self.body.get(call.statement) else {
            return;
        };
        if !self.is_reached(call.statement) || call.callee.is_some_and(is_own) {
            return;
        }
        let is_before_wait = self.is_before_wait(call.statement);
        let summary = call.callee.and_then(|it| self.solver.summaries.get(it));
        if let Some(summary) = summary {
            self.of_known(call, summary, is_before_wait);
            return;
        }
        let (start, end) = call.sources;
        let given = self.decoded.sources.get(start as usize..end as usize);
        let mut base = Form::FROM_MEMORY;
        for &register in given.unwrap_or(&[]) {
            base = base.plus(self.solver.form(register).in_pieces());
        }
        self.escaped |= base.all();
        self.accesses.push(Access {
            kind: AccessKind::Call,
            base,
            is_generic: true,
            ty: None,
            lanes: 1,
            number: None,
            is_noncoherent: false,
            is_before_wait,
            position: instruction.position,
            function: self.function.name,
            line: call.line,
        });
    }

    /// Adds an access of a function that is called, unless it is there; more than the limit count as one of which nothing is known.
    fn add_called(&mut self, access: Access<'a>) {
        const MOST: usize = 4096;
        let key = (
            access.position,
            access.kind,
            access.base,
            access.is_before_wait,
        );
        if self.called.contains(&key) {
            return;
        }
        if self.called.len() < MOST {
            self.called.insert(key);
            self.accesses.push(access);
            return;
        }
        let rest = self.rest.get_or_insert(Access {
            kind: AccessKind::Unknown,
            base: Form::ANYTHING,
            is_generic: true,
            ty: None,
            number: None,
            ..access
        });
        rest.is_noncoherent |= access.is_noncoherent;
        rest.is_before_wait |= access.is_before_wait;
    }

    fn of_known(&mut self, call: &Call<'a>, summary: &Summary<'a>, is_before_wait: bool) {
        let apply = |form| applied(self.solver, &call.arguments, summary, form);
        for access in &summary.accesses {
            let base = apply(access.base);
            if access.is_generic && base.is_near() {
                continue;
            }
            self.add_called(Access {
                base,
                is_before_wait: is_before_wait && access.is_before_wait,
                ..*access
            });
        }
        self.escaped |= apply(Form {
            mixed: summary.escaped,
            ..Form::NUMBER
        })
        .all();
        // Halves of addresses are not followed into functions.
        for argument in &call.arguments {
            if let Argument::Variable(variable) = argument {
                let pieces = self.decoded.passed.get(*variable as usize);
                for (_, size, register) in pieces.iter().flat_map(|it| &it.0) {
                    if *size != 8 {
                        self.escaped |= self.solver.form(*register).all();
                    }
                }
            }
        }
    }
}
