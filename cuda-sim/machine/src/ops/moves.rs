//! Moves, and the parts of vectors.

use super::map::{map1, map3};
use crate::code::Instr;
use crate::registers::{Registers, write};

/// A move between 32-bit rows.
pub(crate) fn word(i: &Instr, r: &mut Registers, mask: u32) {
    let value = r.words[i.src[0] as usize];
    write(r, i.dst[0], &value, mask);
}

/// A move of the low 16 bits between 32-bit rows.
pub(crate) fn word_of_16(i: &Instr, r: &mut Registers, mask: u32) {
    map1::<u32, u32>(i, r, mask, |a| a & 0xffff);
}

/// A move between 64-bit rows.
pub(crate) fn double(i: &Instr, r: &mut Registers, mask: u32) {
    let value = r.doubles[i.src[0] as usize];
    write(r, i.dst[0], &value, mask);
}

/// A move between predicates.
pub(crate) fn predicate(i: &Instr, r: &mut Registers, mask: u32) {
    r.set_predicate(i.dst[0], r.predicate(i.src[0]), mask);
}

/// Sets a predicate where a word is not 0.
pub(crate) fn test_word(i: &Instr, r: &mut Registers, mask: u32) {
    let words = r.words[i.src[0] as usize];
    let set = words.iter().enumerate();
    let set = set.fold(0, |all, (lane, word)| all | u32::from(*word != 0) << lane);
    r.set_predicate(i.dst[0], set, mask);
}

/// Adds `imm` to a 64-bit row.
pub(crate) fn add_constant(i: &Instr, r: &mut Registers, mask: u32) {
    let constant = i.imm as u64;
    map1::<u64, u64>(i, r, mask, |a| a.wrapping_add(constant));
}

/// Puts a word at bit `imm` of a 64-bit row; bit 0 comes first and clears the rest.
pub(crate) fn place_in_double(i: &Instr, r: &mut Registers, mask: u32) {
    let (row, shift) = (i.dst[0] as usize, i.imm as u32);
    let part = r.words[i.src[0] as usize];
    let mut out = if shift == 0 { [0; 32] } else { r.doubles[row] };
    for (out, part) in out.iter_mut().zip(part) {
        *out |= u64::from(part) << shift;
    }
    write(r, i.dst[0], &out, mask);
}

/// The same for a 32-bit row.
pub(crate) fn place_in_word(i: &Instr, r: &mut Registers, mask: u32) {
    let (row, shift) = (i.dst[0] as usize, i.imm as u32);
    let part = r.words[i.src[0] as usize];
    let mut out = if shift == 0 { [0; 32] } else { r.words[row] };
    for (out, part) in out.iter_mut().zip(part) {
        *out |= part << shift;
    }
    write(r, i.dst[0], &out, mask);
}

/// The bits of a 64-bit row from bit `imm`, as many as `target` keeps.
pub(crate) fn take_from_double(i: &Instr, r: &mut Registers, mask: u32) {
    let (shift, kept) = (i.imm as u32, i.target);
    map1::<u64, u32>(i, r, mask, |a| (a >> shift) as u32 & kept);
}

/// The same for a 32-bit row.
pub(crate) fn take_from_word(i: &Instr, r: &mut Registers, mask: u32) {
    let (shift, kept) = (i.imm as u32, i.target);
    map1::<u32, u32>(i, r, mask, |a| a >> shift & kept);
}

/// Any function of three bits, given as its table.
pub(crate) fn lop3(i: &Instr, r: &mut Registers, mask: u32) {
    let select = |bit: i64| if i.imm >> bit & 1 == 1 { u32::MAX } else { 0 };
    let table: [u32; 8] = std::array::from_fn(|bit| select(bit as i64));
    map3::<u32, u32, u32, u32>(i, r, mask, |a, b, c| {
        let mut out = 0;
        for (index, value) in table.iter().enumerate() {
            let pick = |bit: usize, x: u32| if index >> bit & 1 == 1 { x } else { !x };
            out |= value & pick(2, a) & pick(1, b) & pick(0, c);
        }
        out
    });
}
