//! `mma` and `wmma.mma`. Matrices are cut into halves of eight rows, `B` and the results also into blocks of eight columns.

use super::element::{self, MOST};
use super::product::{Product, Step};
use super::{Element, Form, Holding, all_lanes, quarter};
use crate::WARP_SIZE;
use crate::code::{Access, Instr};
use crate::exec::{Env, LaneError, Scope};
use crate::ops::float::{canonical32, canonical64, fused64, settled};
use crate::ops::numbers::{Number, Rounding, from_f64};
use crate::processor::for_each_processor;
use crate::registers::{Registers, Words};

/// Eight rows of eight results.
pub(super) type Tile<V> = [[V; 8]; 8];

/// What matrices are computed with.
pub(super) trait Domain {
    type Value: Copy + Default;
    /// Elements that a register holds.
    fn per_register(element: Element) -> usize;
    /// The values in a row of registers, lane after lane.
    fn unpack(element: Element, row: u32, registers: &Registers, into: &mut [Self::Value; MOST]);
    fn add_product(step: Step, sum: Self::Value, a: Self::Value, b: Self::Value) -> Self::Value;
    /// What sums start with.
    fn start(c: Self::Value) -> Self::Value;
    fn finish(step: Step, c: Self::Value, sum: Self::Value) -> Self::Value;
    /// Fills a row of registers from values, lane after lane.
    fn pack(element: Element, values: &[Self::Value; MOST], row: u32, registers: &mut Registers);
}

/// Numbers of at most 32 bits. In double precision their products are exact, and sums that fit a single all but exact.
pub(super) struct Numbers;
pub(super) struct Doubles;
pub(super) struct Integers;
pub(super) struct Bits;

impl Domain for Numbers {
    type Value = f64;

    #[inline(always)]
    fn per_register(element: Element) -> usize {
        element.per_register()
    }

    #[inline(always)]
    fn unpack(element: Element, row: u32, registers: &Registers, into: &mut [f64; MOST]) {
        element::numbers(element, &registers.words[row as usize], into);
    }

    #[inline(always)]
    fn add_product(_: Step, sum: f64, a: f64, b: f64) -> f64 {
        sum + a * b
    }

    #[inline(always)]
    fn start(c: f64) -> f64 {
        c
    }

    #[inline(always)]
    fn finish(_: Step, _: f64, sum: f64) -> f64 {
        sum
    }

    #[inline(always)]
    fn pack(element: Element, values: &[f64; MOST], row: u32, registers: &mut Registers) {
        let half = |value| from_f64(value, Number::F16, Rounding::Nearest) as u32;
        let words: &mut Words = &mut registers.words[row as usize];
        for (lane, word) in words.iter_mut().enumerate() {
            *word = if element == Element::F16 {
                half(values[2 * lane]) | half(values[2 * lane + 1]) << 16
            } else {
                canonical32(values[lane] as f32)
            };
        }
    }
}

impl Domain for Doubles {
    type Value = f64;

    #[inline(always)]
    fn per_register(_: Element) -> usize {
        1
    }

    #[inline(always)]
    fn unpack(_: Element, row: u32, registers: &Registers, into: &mut [f64; MOST]) {
        let doubles = &registers.doubles[row as usize];
        for (out, &bits) in into.iter_mut().zip(doubles) {
            *out = f64::from_bits(bits);
        }
    }

    #[inline(always)]
    fn add_product(step: Step, sum: f64, a: f64, b: f64) -> f64 {
        let result = match step {
            Step::Doubles(rounding) if rounding != Rounding::Nearest => {
                fused64(a, b, sum, rounding)
            }
            _ => a.mul_add(b, sum),
        };
        settled(result, [b, sum, a])
    }

    #[inline(always)]
    fn start(c: f64) -> f64 {
        c
    }

    #[inline(always)]
    fn finish(_: Step, _: f64, sum: f64) -> f64 {
        sum
    }

    #[inline(always)]
    fn pack(_: Element, values: &[f64; MOST], row: u32, registers: &mut Registers) {
        let doubles = &mut registers.doubles[row as usize];
        for (bits, &value) in doubles.iter_mut().zip(values) {
            *bits = canonical64(value);
        }
    }
}

impl Domain for Integers {
    type Value = i32;

    #[inline(always)]
    fn per_register(element: Element) -> usize {
        element.per_register()
    }

    #[inline(always)]
    fn unpack(element: Element, row: u32, registers: &Registers, into: &mut [i32; MOST]) {
        element::integers(element, &registers.words[row as usize], into);
    }

    #[inline(always)]
    fn add_product(_: Step, sum: i32, a: i32, b: i32) -> i32 {
        // At most 64 products of bytes: they cannot overflow.
        sum.wrapping_add(a.wrapping_mul(b))
    }

    #[inline(always)]
    fn start(_: i32) -> i32 {
        0
    }

    #[inline(always)]
    fn finish(step: Step, c: i32, sum: i32) -> i32 {
        match step {
            Step::Integers { saturates: true } => c.saturating_add(sum),
            _ => c.wrapping_add(sum),
        }
    }

    #[inline(always)]
    fn pack(_: Element, values: &[i32; MOST], row: u32, registers: &mut Registers) {
        let words = &mut registers.words[row as usize];
        for (word, &value) in words.iter_mut().zip(values) {
            *word = value as u32;
        }
    }
}

impl Domain for Bits {
    type Value = i32;

    /// Words of 32 bits are multiplied as one.
    #[inline(always)]
    fn per_register(_: Element) -> usize {
        1
    }

    #[inline(always)]
    fn unpack(element: Element, row: u32, registers: &Registers, into: &mut [i32; MOST]) {
        element::integers(element, &registers.words[row as usize], into);
    }

    #[inline(always)]
    fn add_product(step: Step, sum: i32, a: i32, b: i32) -> i32 {
        let common = match step {
            Step::Bits { and: true } => a & b,
            _ => a ^ b,
        };
        sum.wrapping_add(common.count_ones() as i32)
    }

    #[inline(always)]
    fn start(c: i32) -> i32 {
        c
    }

    #[inline(always)]
    fn finish(_: Step, _: i32, sum: i32) -> i32 {
        sum
    }

    #[inline(always)]
    fn pack(element: Element, values: &[i32; MOST], row: u32, registers: &mut Registers) {
        Integers::pack(element, values, row, registers);
    }
}

/// Adds the product of eight rows and eight columns to what is there.
#[inline(always)]
pub(super) fn tile<D: Domain, const K: usize>(
    step: Step,
    a: &[[D::Value; K]; 8],
    b: &[[D::Value; 8]; K],
    sums: &mut Tile<D::Value>,
) {
    // Four rows at a time, so that no addition waits for the one before it.
    let rows = a.as_chunks::<4>().0;
    for (sums, a) in sums.as_chunks_mut::<4>().0.iter_mut().zip(rows) {
        let mut partial = *sums;
        for (k, b) in b.iter().enumerate() {
            for (partial, a) in partial.iter_mut().zip(a) {
                for (sum, &b) in partial.iter_mut().zip(b) {
                    *sum = D::add_product(step, *sum, a[k], b);
                }
            }
        }
        *sums = partial;
    }
}

/// Which half and block of columns a result lies in, and which of the pair that a lane has there: the `index`-th of a lane.
#[inline(always)]
fn result_place<const HALVES: usize, const BLOCKS: usize>(index: usize) -> (usize, usize, usize) {
    let pair = index % 2;
    if HALVES == 1 {
        return (0, index / 2, pair);
    }
    let (tile, second) = (index / 4, index / 2 % 2);
    (tile / BLOCKS * 2 + second, tile % BLOCKS, pair)
}

#[inline(always)]
fn product<D: Domain, const HALVES: usize, const BLOCKS: usize, const K: usize>(
    i: &Instr,
    scope: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
) -> Result<(), LaneError> {
    all_lanes(mask)?;
    let product = &env.shape.program.codes[scope.function].products[i.target as usize];
    let Product { form, .. } = product;
    let registers = &mut scope.registers;
    let nothing = D::Value::default();
    let mut values = [nothing; MOST];
    let mut a = [[[nothing; K]; 8]; HALVES];
    let width = 4 * D::per_register(form.a);
    for (index, &row) in product.a.iter().enumerate().take(HALVES * K / width) {
        D::unpack(form.a, row, registers, &mut values);
        // Two halves lie side by side.
        let (half, block) = if HALVES == 1 {
            (0, index)
        } else {
            let of_two = 2 * K / width;
            (index / of_two * 2 + index % 2, index % of_two / 2)
        };
        for (to, from) in a[half].iter_mut().zip(values.chunks_exact(width)) {
            to[block * width..][..width].copy_from_slice(from);
        }
    }
    let mut b = [[[nothing; 8]; K]; BLOCKS];
    let width = 4 * D::per_register(form.b);
    for (index, &row) in product.b.iter().enumerate().take(BLOCKS * K / width) {
        D::unpack(form.b, row, registers, &mut values);
        let each = K / width;
        let rows = &mut b[index / each][index % each * width..][..width];
        for (column, from) in values.chunks_exact(width).enumerate().take(8) {
            for (to, &value) in rows.iter_mut().zip(from) {
                to[column] = value;
            }
        }
    }
    let mut c = [[[[nothing; 8]; 8]; BLOCKS]; HALVES];
    let each = D::per_register(form.c);
    for (index, &row) in product.c.iter().enumerate() {
        D::unpack(form.c, row, registers, &mut values);
        for part in 0..each {
            let (half, block, pair) = result_place::<HALVES, BLOCKS>(index * each + part);
            for lane in 0..WARP_SIZE {
                c[half][block][lane / 4][lane % 4 * 2 + pair] = values[lane * each + part];
            }
        }
    }
    let mut d = c;
    for (a, d) in a.iter().zip(&mut d) {
        for (b, d) in b.iter().zip(d) {
            for sum in d.as_flattened_mut() {
                *sum = D::start(*sum);
            }
            tile::<D, K>(form.step, a, b, d);
        }
    }
    let each = D::per_register(form.d);
    for (index, &row) in product.d.iter().enumerate() {
        for part in 0..each {
            let (half, block, pair) = result_place::<HALVES, BLOCKS>(index * each + part);
            for lane in 0..WARP_SIZE {
                let (row, column) = (lane / 4, lane % 4 * 2 + pair);
                let (c, sum) = (c[half][block][row][column], d[half][block][row][column]);
                values[lane * each + part] = D::finish(form.step, c, sum);
            }
        }
        D::pack(form.d, &values, row, registers);
    }
    Ok(())
}

for_each_processor! {
    /// The operation for a form.
    pub(crate) fn multiply(form: &Form) -> Option<Access> {
        let shape = form.shape;
        if matches!(form.holding, Holding::Quarters(..)) {
            return Some(quarter::products);
        }
        Some(match (form.step, (shape.m, shape.n, shape.k)) {
            (Step::Numbers, (16, 8, 4)) => |i, s, e, m| product::<Numbers, 2, 1, 4>(i, s, e, m),
            (Step::Numbers, (16, 8, 8)) => |i, s, e, m| product::<Numbers, 2, 1, 8>(i, s, e, m),
            (Step::Numbers, (16, 8, 16)) => |i, s, e, m| product::<Numbers, 2, 1, 16>(i, s, e, m),
            (Step::Numbers, (16, 8, 32)) => |i, s, e, m| product::<Numbers, 2, 1, 32>(i, s, e, m),
            (Step::Numbers, (16, 16, 8)) => |i, s, e, m| product::<Numbers, 2, 2, 8>(i, s, e, m),
            (Step::Numbers, (16, 16, 16)) => |i, s, e, m| product::<Numbers, 2, 2, 16>(i, s, e, m),
            (Step::Numbers, (32, 8, 16)) => |i, s, e, m| product::<Numbers, 4, 1, 16>(i, s, e, m),
            (Step::Numbers, (8, 32, 16)) => |i, s, e, m| product::<Numbers, 1, 4, 16>(i, s, e, m),
            (Step::Doubles(_), (8, 8, 4)) => |i, s, e, m| product::<Doubles, 1, 1, 4>(i, s, e, m),
            (Step::Doubles(_), (16, 8, 4)) => |i, s, e, m| product::<Doubles, 2, 1, 4>(i, s, e, m),
            (Step::Doubles(_), (16, 8, 8)) => |i, s, e, m| product::<Doubles, 2, 1, 8>(i, s, e, m),
            (Step::Doubles(_), (16, 8, 16)) => |i, s, e, m| product::<Doubles, 2, 1, 16>(i, s, e, m),
            (Step::Integers { .. }, (8, 8, 16)) => |i, s, e, m| product::<Integers, 1, 1, 16>(i, s, e, m),
            (Step::Integers { .. }, (8, 8, 32)) => |i, s, e, m| product::<Integers, 1, 1, 32>(i, s, e, m),
            (Step::Integers { .. }, (16, 8, 16)) => |i, s, e, m| product::<Integers, 2, 1, 16>(i, s, e, m),
            (Step::Integers { .. }, (16, 8, 32)) => |i, s, e, m| product::<Integers, 2, 1, 32>(i, s, e, m),
            (Step::Integers { .. }, (16, 8, 64)) => |i, s, e, m| product::<Integers, 2, 1, 64>(i, s, e, m),
            (Step::Integers { .. }, (16, 16, 16)) => |i, s, e, m| product::<Integers, 2, 2, 16>(i, s, e, m),
            (Step::Integers { .. }, (32, 8, 16)) => |i, s, e, m| product::<Integers, 4, 1, 16>(i, s, e, m),
            (Step::Integers { .. }, (8, 32, 16)) => |i, s, e, m| product::<Integers, 1, 4, 16>(i, s, e, m),
            (Step::Bits { .. }, (8, 8, 128)) => |i, s, e, m| product::<Bits, 1, 1, 4>(i, s, e, m),
            (Step::Bits { .. }, (16, 8, 128)) => |i, s, e, m| product::<Bits, 2, 1, 4>(i, s, e, m),
            (Step::Bits { .. }, (16, 8, 256)) => |i, s, e, m| product::<Bits, 2, 1, 8>(i, s, e, m),
            _ => return None,
        })
    }
}
