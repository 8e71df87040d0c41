//! `mma.m8n8k4` of halves: four products, each of two times four lanes.

use crate::elements::{Kind, Matrix};
use crate::kernels::{Registers, run};

/// Where the `index`-th of a lane's results lies in the product of its lanes.
fn sum_place(kind: Kind, lane: usize, index: usize) -> (usize, usize) {
    let upper = if lane < 16 { 0 } else { 4 };
    if kind == Kind::F16 {
        return (lane % 4 + upper, index);
    }
    let row = (lane & 0b1) + (index & 0b10) + upper;
    (row, (index & 0b100) + (lane & 0b10) + (index & 0b1))
}

/// The values of all lanes for matrices of the four products.
fn distribute(
    kind: Kind,
    count: usize,
    of_quarters: &[Matrix],
    place: impl Fn(usize, usize) -> (usize, usize),
) -> Vec<[u64; 32]> {
    let mut out = vec![[0; 32]; count];
    for lane in 0..32 {
        for index in 0..count * kind.each() {
            let (row, column) = place(lane, index);
            let value = of_quarters[lane % 16 / 4].at(row, column);
            out[index / kind.each()][lane] |=
                kind.encode(value) << (index % kind.each() * kind.bits());
        }
    }
    out
}

#[test]
fn four_products_at_once() {
    for (a_layout, b_layout) in [
        ("row", "col"),
        ("row", "row"),
        ("col", "row"),
        ("col", "col"),
    ] {
        for [d, c] in [["f16", "f16"], ["f32", "f16"], ["f32", "f32"]] {
            let mnemonic = format!("mma.sync.aligned.m8n8k4.{a_layout}.{b_layout}.{d}.f16.f16.{c}");
            let (d, c) = (Kind::of(d), Kind::of(c));
            let random = |rows, columns, seed: u64| -> Vec<Matrix> {
                let of = |quarter: u64| Matrix::random(rows, columns, Kind::F16, seed + quarter);
                (0..4).map(of).collect()
            };
            let (a, b, sums) = (random(8, 4, 20), random(4, 8, 30), random(8, 8, 40));
            let upper = |lane: usize| if lane < 16 { 0 } else { 4 };
            let a_values = distribute(Kind::F16, 2, &a, |lane, index| match a_layout {
                "row" => (lane % 4 + upper(lane), index),
                _ => (index + upper(lane), lane % 4),
            });
            let b_values = distribute(Kind::F16, 2, &b, |lane, index| match b_layout {
                "row" => (lane % 4, index + upper(lane)),
                _ => (index, lane % 4 + upper(lane)),
            });
            let registers = |kind: Kind| Registers {
                kind,
                count: 8 / kind.each(),
            };
            let place = |kind| move |lane, index| sum_place(kind, lane, index);
            let c_values = distribute(c, 8 / c.each(), &sums, place(c));
            let factor = Registers {
                kind: Kind::F16,
                count: 2,
            };
            let got = run(
                &mnemonic,
                registers(d),
                &[
                    (factor, a_values),
                    (factor, b_values),
                    (registers(c), c_values),
                ],
            );
            let products: Vec<Matrix> = (0..4)
                .map(|it| a[it].product(&b[it], &sums[it], |a, b| a * b))
                .collect();
            assert_eq!(
                got,
                distribute(d, 8 / d.each(), &products, place(d)),
                "{mnemonic}"
            );
        }
    }
}
