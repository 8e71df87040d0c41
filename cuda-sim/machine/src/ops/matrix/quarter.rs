//! `mma.m8n8k4` of halves: four products of eight rows and columns at once, each by two times four lanes of the warp.

use super::element::MOST;
use super::multiply::{Domain, Numbers, Tile, tile};
use super::product::Product;
use super::{Element, Holding, Layout, all_lanes};
use crate::code::Instr;
use crate::exec::{Env, LaneError, Scope};

/// The lane that holds the `place`-th of eight shares of a product: four of the lower half of the warp, then four of the upper one.
#[inline(always)]
fn lane_of(quarter: usize, place: usize) -> usize {
    place / 4 * 16 + quarter * 4 + place % 4
}

/// Row and column of the `index`-th result of a share.
#[inline(always)]
fn result_place(element: Element, place: usize, index: usize) -> (usize, usize) {
    if element == Element::F16 {
        return (place, index);
    }
    let row = (place & 1) + (index & 2) + place / 4 * 4;
    (row, (index & 4) + (place & 2) + (index & 1))
}

/// The values that each lane holds.
#[inline(always)]
fn unpack(element: Element, rows: &[u32], scope: &Scope, into: &mut [[f64; 8]; crate::WARP_SIZE]) {
    let each = element.per_register();
    let mut values = [0.0; MOST];
    for (index, &row) in rows.iter().enumerate() {
        Numbers::unpack(element, row, &scope.registers, &mut values);
        for (lane, values) in into.iter_mut().zip(values.chunks_exact(each)) {
            lane[index * each..][..each].copy_from_slice(values);
        }
    }
}

pub(super) fn products(
    i: &Instr,
    scope: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
) -> Result<(), LaneError> {
    all_lanes(mask)?;
    let product = &env.shape.program.codes[scope.function].products[i.target as usize];
    let Product { form, .. } = product;
    let Holding::Quarters(a_layout, b_layout) = form.holding else {
        return Ok(());
    };
    let (a_columns, b_rows) = (a_layout == Layout::Column, b_layout == Layout::Row);
    let mut shares = [[[0.0; 8]; crate::WARP_SIZE]; 3];
    let parts = [
        (form.a, &product.a),
        (form.b, &product.b),
        (form.c, &product.c),
    ];
    for ((element, rows), shares) in parts.into_iter().zip(&mut shares) {
        unpack(element, rows, scope, shares);
    }
    let [a_shares, b_shares, results] = &mut shares;
    for quarter in 0..4 {
        let mut a = [[0.0; 4]; 8];
        let mut b = [[0.0; 8]; 4];
        let mut sums: Tile<f64> = [[0.0; 8]; 8];
        for place in 0..8 {
            let lane = lane_of(quarter, place);
            for index in 0..4 {
                // Those by lines of four lie across the lanes.
                let across = (place % 4, index + place / 4 * 4);
                let (row, k) = if a_columns {
                    (across.1, across.0)
                } else {
                    (place, index)
                };
                a[row][k] = a_shares[lane][index];
                let (k, column) = if b_rows { across } else { (index, place) };
                b[k][column] = b_shares[lane][index];
            }
            for (index, &result) in results[lane].iter().enumerate() {
                let (row, column) = result_place(form.c, place, index);
                sums[row][column] = result;
            }
        }
        tile::<Numbers, 4>(form.step, &a, &b, &mut sums);
        for place in 0..8 {
            let results = &mut results[lane_of(quarter, place)];
            for (index, result) in results.iter_mut().enumerate() {
                let (row, column) = result_place(form.d, place, index);
                *result = sums[row][column];
            }
        }
    }
    let each = form.d.per_register();
    let mut values = [0.0; MOST];
    for (index, &row) in product.d.iter().enumerate() {
        for (values, results) in values.chunks_exact_mut(each).zip(results.iter()) {
            values.copy_from_slice(&results[index * each..][..each]);
        }
        Numbers::pack(form.d, &values, row, &mut scope.registers);
    }
    Ok(())
}
