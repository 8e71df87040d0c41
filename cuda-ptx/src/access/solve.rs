//! Finds what every register of a body may hold: the smallest answer that agrees with all operations, whatever their order.

use std::collections::{HashMap, VecDeque};

use crate::Function;

use super::decode::Decoded;
use super::form::{Form, MOST_SLOTS, Value, set_of};
use super::ops::{Op, Rule};
use super::summary::{Summaries, returned_by};

/// How often the value of a register may change before it counts as anything.
const MOST_CHANGES: u8 = 8;

/// The slots of a function: pieces of 8 bytes of its parameters, by parameter and offset.
#[derive(Debug, Default)]
pub(super) struct Slots {
    pub(super) list: Vec<(u32, u32)>,
    known: HashMap<(u32, u32), u8>,
}

impl Slots {
    fn of(&mut self, parameter: u32, offset: u32) -> u8 {
        let next = u8::try_from(self.list.len()).unwrap_or(MOST_SLOTS);
        if next >= MOST_SLOTS {
            let known = self.known.get(&(parameter, offset));
            return known.copied().unwrap_or(MOST_SLOTS);
        }
        *self.known.entry((parameter, offset)).or_insert_with(|| {
            self.list.push((parameter, offset));
            next
        })
    }
}

/// The values of a body's registers.
pub(super) struct Solver<'s, 'a> {
    pub(super) function: &'s Function<'a>,
    pub(super) decoded: &'s Decoded<'a>,
    pub(super) summaries: &'s Summaries<'a>,
    pub(super) values: Vec<Value>,
    pub(super) slots: Slots,
}

impl<'s, 'a> Solver<'s, 'a> {
    pub(super) fn solve(
        function: &'s Function<'a>,
        decoded: &'s Decoded<'a>,
        summaries: &'s Summaries<'a>,
    ) -> Self {
        let mut solver = Self {
            function,
            decoded,
            summaries,
            values: decoded.initial.clone(),
            slots: Slots::default(),
        };
        for &(register, parameter) in &decoded.given {
            let value = solver.of_parameter(parameter, 0, 8);
            solver.merge(register, value);
        }
        solver.run();
        solver
    }

    fn run(&mut self) {
        let ops = &self.decoded.ops;
        let mut is_written = vec![false; self.values.len()];
        for op in ops {
            if let Some(place) = is_written.get_mut(op.to as usize) {
                *place = true;
            }
        }
        // What no instruction writes: special registers, predicates.
        for (value, is_written) in self.values.iter_mut().zip(is_written) {
            if *value == Value::Nothing && !is_written {
                *value = Value::NUMBER;
            }
        }
        let users = Users::new(self.decoded, self.values.len());
        let mut changes = vec![0u8; self.values.len()];
        let mut is_queued = vec![true; ops.len()];
        let mut queue: VecDeque<usize> = (0..ops.len()).collect();
        while let Some(index) = queue.pop_front() {
            if let Some(place) = is_queued.get_mut(index) {
                *place = false;
            }
            let Some(op) = ops.get(index) else {
                continue;
            };
            let value = self.evaluate(op);
            if !self.merge(op.to, value) {
                continue;
            }
            if let Some(count) = changes.get_mut(op.to as usize) {
                *count = count.saturating_add(1);
                if *count > MOST_CHANGES {
                    self.merge(op.to, Value::Form(Form::ANYTHING));
                }
            }
            for &user in users.of(op.to) {
                let place = is_queued.get_mut(user as usize);
                if place.is_some_and(|it| !std::mem::replace(it, true)) {
                    queue.push_back(user as usize);
                }
            }
        }
    }

    pub(super) fn value(&self, register: u32) -> Value {
        let value = self.values.get(register as usize);
        value.copied().unwrap_or(Value::Nothing)
    }

    /// What it may hold, as a sum.
    pub(super) fn form(&self, register: u32) -> Form {
        self.value(register).form().unwrap_or(Form::ANYTHING)
    }

    /// Adds to what a register may hold; whether that is new.
    fn merge(&mut self, register: u32, value: Value) -> bool {
        let Some(place) = self.values.get_mut(register as usize) else {
            return false;
        };
        let merged = place.or(value);
        std::mem::replace(place, merged) != merged
    }

    fn evaluate(&mut self, op: &Op) -> Value {
        let (start, end) = op.sources;
        let decoded = self.decoded;
        let sources = decoded.sources.get(start as usize..end as usize);
        let sources = sources.unwrap_or(&[]);
        let value = |index: usize| match sources.get(index) {
            Some(&register) => self.value(register),
            None => Value::NUMBER,
        };
        match op.rule {
            Rule::Copy | Rule::Global => return value(0),
            Rule::Either => return value(0).or(value(1)),
            Rule::Returned {
                call,
                offset,
                width,
            } => {
                return returned_by(self, call, offset, width, sources);
            }
            Rule::Load { offset, width } => {
                return match value(0) {
                    Value::Nothing => Value::Nothing,
                    Value::ParameterAt(index, at) => {
                        self.of_parameter(index, at.saturating_add(offset), width)
                    }
                    // Perhaps of a parameter.
                    Value::Form(Form::ANYTHING) => Value::Form(Form::ANYTHING),
                    _ => Value::Form(Form::FROM_MEMORY),
                };
            }
            _ => {}
        }
        // Nothing comes of what nothing has reached.
        let mut forms = [Form::NUMBER; 3];
        let mut all = Form::NUMBER;
        for (index, &register) in sources.iter().enumerate() {
            let Some(form) = self.value(register).form() else {
                return Value::Nothing;
            };
            all = all.plus(form.in_pieces());
            if let Some(place) = forms.get_mut(index) {
                *place = form;
            }
        }
        let [a, b, c] = forms;
        let is_number = |form: Form| form == form.scaled() && form.all() == 0;
        Value::Form(match op.rule {
            Rule::Sum => a.plus(b),
            Rule::Difference => a.plus(b.negated()),
            Rule::ProductAndSum => a.scaled().plus(b.scaled()).plus(c),
            Rule::Bits if is_number(a) || is_number(b) => a.plus(b),
            Rule::Scaled => all.scaled(),
            _ => all,
        })
    }

    /// So many bytes of a parameter.
    fn of_parameter(&mut self, index: u32, offset: i64, width: u32) -> Value {
        let Some(param) = self.function.params.get(index as usize) else {
            return Value::Form(Form::ANYTHING);
        };
        if param.size <= 4 {
            return Value::NUMBER;
        }
        let end = offset.saturating_add(i64::from(width)).saturating_sub(1);
        let (Ok(first), Ok(last)) = (u32::try_from(offset), u32::try_from(end)) else {
            return Value::Form(Form::ANYTHING);
        };
        let (first_slot, last_slot) = (first / 8 * 8, last / 8 * 8);
        if width == 8 && first == first_slot {
            return Value::Form(Form::slot(self.slots.of(index, first)));
        }
        let mixed =
            set_of(self.slots.of(index, first_slot)) | set_of(self.slots.of(index, last_slot));
        Value::Form(Form {
            mixed,
            ..Form::NUMBER
        })
    }
}

/// Which operations use a register.
struct Users {
    starts: Vec<u32>,
    list: Vec<u32>,
}

impl Users {
    fn new(decoded: &Decoded<'_>, registers: usize) -> Self {
        let sources = |op: &Op| {
            let range = op.sources.0 as usize..op.sources.1 as usize;
            decoded.sources.get(range).unwrap_or(&[])
        };
        // Counted, summed up, and then filled from behind.
        let mut starts = vec![0u32; registers + 1];
        for register in decoded.ops.iter().flat_map(sources) {
            if let Some(count) = starts.get_mut(*register as usize) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for count in &mut starts {
            sum += *count;
            *count = sum;
        }
        let mut list = vec![0u32; sum as usize];
        for (index, op) in (0u32..).zip(&decoded.ops) {
            for register in sources(op) {
                if let Some(start) = starts.get_mut(*register as usize) {
                    *start = start.saturating_sub(1);
                    if let Some(place) = list.get_mut(*start as usize) {
                        *place = index;
                    }
                }
            }
        }
        Self { starts, list }
    }

    fn of(&self, register: u32) -> &[u32] {
        let register = register as usize;
        let start = self.starts.get(register).copied().unwrap_or(0);
        let end = self.starts.get(register + 1).copied().unwrap_or(start);
        self.list.get(start as usize..end as usize).unwrap_or(&[])
    }
}
