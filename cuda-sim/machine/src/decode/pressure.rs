//! An estimate of the registers that a compiled function needs.
//!
//! PTX has as many registers as it likes; a device has as many as are alive at the same time. A register is taken to be alive from the
//! first to the last place that names it, and to the end of each loop that it was alive before and is named in.

use std::collections::HashMap;

use cuda_ptx::{Function, Operand, Space, Statement};

use super::names::each_name;

/// What the stack pointer and the machine itself take.
const RESERVED: u32 = 4;
/// Loops around a place that are looked at; deeper ones change nothing in practice.
const DEPTH: usize = 64;

/// A loop: from the label to the last branch back to it.
#[derive(Debug, Clone, Copy)]
struct Loop {
    start: usize,
    end: usize,
    /// The loop around it.
    parent: Option<usize>,
}

/// Where a register is named.
#[derive(Debug, Clone, Copy)]
struct Life {
    first: usize,
    last: usize,
    words: u32,
}

/// The 32-bit registers that a function keeps alive at the same time, at most.
pub(super) fn of(function: &Function<'_>) -> u32 {
    let body = function.body.as_deref().unwrap_or(&[]);
    let mut loops = loops(body);
    let innermost = innermost(&mut loops, body.len());
    let mut changes = vec![0i64; body.len() + 1];
    for life in lives(body).into_values() {
        let mut last = life.last;
        let mut around = innermost.get(last).copied().flatten();
        for _ in 0..DEPTH {
            let Some(found) = around.and_then(|index| loops.get(index)) else {
                break;
            };
            if found.start <= life.first {
                break;
            }
            last = last.max(found.end);
            around = found.parent;
        }
        changes[life.first] += i64::from(life.words);
        changes[last] -= i64::from(life.words);
    }
    let mut alive = 0;
    let mut most = 0;
    for change in changes {
        alive += change;
        most = most.max(alive);
    }
    u32::try_from(most)
        .unwrap_or(u32::MAX)
        .saturating_add(RESERVED)
}

/// What a compiler makes of an estimate: no more than the largest block leaves to each thread, nor than the kernel states, which is what
/// spilling is for.
pub(super) fn bounded(estimate: u32, largest_block: Option<[u32; 3]>, most: Option<u32>) -> u32 {
    let threads = largest_block.map_or(1, |shape| {
        shape
            .iter()
            .fold(1u32, |threads, extent| threads.saturating_mul(*extent))
    });
    let left = (65_536 / threads.max(1) / 8 * 8).clamp(16, 255);
    estimate.clamp(8, left.min(most.unwrap_or(left).max(16)))
}

/// The loops of a body, outer ones before inner ones.
fn loops(body: &[Statement<'_>]) -> Vec<Loop> {
    let mut labels = HashMap::new();
    let mut ends: HashMap<usize, usize> = HashMap::new();
    for (place, statement) in body.iter().enumerate() {
        match statement {
            Statement::Label(name, _) => {
                labels.insert(*name, place);
            }
            Statement::Instruction(instruction) if instruction.opcode() == "bra" => {
                let target = instruction.operands.first().and_then(Operand::name);
                // Labels behind the branch are not known yet, and do not matter.
                if let Some(&start) = target.and_then(|target| labels.get(target)) {
                    ends.insert(start, place);
                }
            }
            _ => {}
        }
    }
    let mut loops: Vec<Loop> = ends
        .into_iter()
        .map(|(start, end)| Loop {
            start,
            end,
            parent: None,
        })
        .collect();
    loops.sort_by_key(|found| (found.start, std::cmp::Reverse(found.end)));
    loops
}

/// The innermost loop around each place; sets the loops' parents.
fn innermost(loops: &mut [Loop], places: usize) -> Vec<Option<usize>> {
    let mut around = vec![None; places];
    let mut open: Vec<usize> = Vec::new();
    let mut next = 0;
    for (place, innermost) in around.iter_mut().enumerate() {
        while let Some(found) = loops.get_mut(next).filter(|found| found.start == place) {
            found.parent = open.last().copied();
            open.push(next);
            next += 1;
        }
        *innermost = open.last().copied();
        while open
            .last()
            .and_then(|&index| loops.get(index))
            .is_some_and(|found| found.end <= place)
        {
            open.pop();
        }
    }
    around
}

/// Where each register is named. A name that inner blocks declare again counts as one register.
fn lives<'a>(body: &[Statement<'a>]) -> HashMap<&'a str, Life> {
    let mut declared: HashMap<&str, u32> = HashMap::new();
    let mut lives: HashMap<&str, Life> = HashMap::new();
    for (place, statement) in body.iter().enumerate() {
        match statement {
            Statement::Variable(variable) if variable.space == Space::Register => {
                let words = variable.element_size().div_ceil(4) as u32;
                declared.insert(variable.name, words);
            }
            Statement::Instruction(instruction) => {
                for operand in &instruction.operands {
                    each_name(operand, &mut |name| {
                        let set = name.trim_end_matches(|digit: char| digit.is_ascii_digit());
                        let words = declared.get(name).or_else(|| declared.get(set));
                        // Predicates, which take no room here, and what is no register.
                        let Some(&words) = words.filter(|words| **words > 0) else {
                            return;
                        };
                        let life = lives.entry(name).or_insert(Life {
                            first: place,
                            last: place,
                            words,
                        });
                        life.last = place;
                    });
                }
            }
            _ => {}
        }
    }
    lives
}
