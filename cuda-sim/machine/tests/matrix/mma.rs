//! `mma` in all shapes but that of four products at once.

use crate::elements::{Kind, Matrix};
use crate::kernels::{Registers, run};

/// Row and column that the first element of each register has in lane 0: of `A`, then rows of `B`.
type Starts = (&'static [(usize, usize)], &'static [usize]);

/// Shapes with the bits of their factors, and where registers start.
const SHAPES: &[(&str, usize, Starts)] = &[
    ("m8n8k4", 64, (&[(0, 0)], &[0])),
    ("m16n8k4", 64, (&[(0, 0), (8, 0)], &[0])),
    ("m16n8k8", 64, (&[(0, 0), (8, 0), (0, 4), (8, 4)], &[0, 4])),
    (
        "m16n8k16",
        64,
        (
            &[
                (0, 0),
                (8, 0),
                (0, 4),
                (8, 4),
                (0, 8),
                (8, 8),
                (0, 12),
                (8, 12),
            ],
            &[0, 4, 8, 12],
        ),
    ),
    ("m16n8k4", 32, (&[(0, 0), (8, 0)], &[0])),
    ("m16n8k8", 32, (&[(0, 0), (8, 0), (0, 4), (8, 4)], &[0, 4])),
    ("m16n8k8", 16, (&[(0, 0), (8, 0)], &[0])),
    ("m16n8k16", 16, (&[(0, 0), (8, 0), (0, 8), (8, 8)], &[0, 8])),
    ("m8n8k16", 8, (&[(0, 0)], &[0])),
    ("m16n8k16", 8, (&[(0, 0), (8, 0)], &[0])),
    (
        "m16n8k32",
        8,
        (&[(0, 0), (8, 0), (0, 16), (8, 16)], &[0, 16]),
    ),
    ("m8n8k32", 4, (&[(0, 0)], &[0])),
    ("m16n8k32", 4, (&[(0, 0), (8, 0)], &[0])),
    (
        "m16n8k64",
        4,
        (&[(0, 0), (8, 0), (0, 32), (8, 32)], &[0, 32]),
    ),
    ("m8n8k128", 1, (&[(0, 0)], &[0])),
    ("m16n8k128", 1, (&[(0, 0), (8, 0)], &[0])),
    (
        "m16n8k256",
        1,
        (&[(0, 0), (8, 0), (0, 128), (8, 128)], &[0, 128]),
    ),
];

/// Rows, columns and the length of the sums.
pub(crate) fn extents(shape: &str) -> [usize; 3] {
    let mut numbers = shape.split(['m', 'n', 'k']).skip(1);
    std::array::from_fn(|_| numbers.next().unwrap().parse().unwrap())
}

/// Registers of all lanes, where `place` says which element of the matrix is the `part`-th of a register in a lane.
pub(crate) fn distribute(
    kind: Kind,
    count: usize,
    matrix: &Matrix,
    place: impl Fn(usize, usize, usize) -> (usize, usize),
) -> Vec<[u64; 32]> {
    let mut out = vec![[0; 32]; count];
    for (register, lanes) in out.iter_mut().enumerate() {
        for (lane, value) in lanes.iter_mut().enumerate() {
            for part in 0..kind.each() {
                let (row, column) = place(register, lane, part);
                *value |= kind.encode(matrix.at(row, column)) << (part * kind.bits());
            }
        }
    }
    out
}

/// Where the elements of sums lie: pairs, the second half of the rows behind the first.
fn sum_place(kind: Kind) -> impl Fn(usize, usize, usize) -> (usize, usize) {
    move |register, lane, part| {
        let index = register * kind.each() + part;
        (lane / 4 + index / 2 * 8, lane % 4 * 2 + index % 2)
    }
}

/// Runs a form on random numbers and compares the sums.
fn check(shape: &str, modifiers: [&str; 2], types: [&str; 4], seed: u64) {
    let [d, a, b, c] = types.map(Kind::of);
    let (_, _, (a_starts, b_starts)) = SHAPES
        .iter()
        .find(|it| it.0 == shape && it.1 == a.bits())
        .unwrap();
    let [m, n, k] = extents(shape);
    let (a_matrix, b_matrix) = (
        Matrix::random(m, k, a, seed),
        Matrix::random(k, n, b, seed + 1),
    );
    let c_matrix = Matrix::random(m, n, c, seed + 2);
    let along = |kind: Kind, lane: usize, part| lane % 4 * kind.each() + part;
    let a_values = distribute(a, a_starts.len(), &a_matrix, |register, lane, part| {
        let (row, column) = a_starts[register];
        (row + lane / 4, column + along(a, lane, part))
    });
    let b_values = distribute(b, b_starts.len(), &b_matrix, |register, lane, part| {
        (b_starts[register] + along(b, lane, part), lane / 4)
    });
    let sums = |kind: Kind| Registers {
        kind,
        count: m * n / 32 / kind.each(),
    };
    let c_values = distribute(c, sums(c).count, &c_matrix, sum_place(c));
    let [before, behind] = modifiers;
    let mnemonic = format!(
        "mma.sync.aligned.{shape}.row.col{before}.{}{behind}",
        types.join(".")
    );
    let factors = |kind, count| Registers { kind, count };
    let got = run(
        &mnemonic,
        sums(d),
        &[
            (factors(a, a_values.len()), a_values),
            (factors(b, b_values.len()), b_values),
            (sums(c), c_values),
        ],
    );
    let times: fn(f64, f64) -> f64 = match behind {
        ".xor.popc" => |a, b| f64::from(u8::from(a != b)),
        _ => |a, b| a * b,
    };
    let mut expected = a_matrix.product(&b_matrix, &c_matrix, times);
    if before == ".rm" {
        // What cancels out is a negative zero when rounded down; none of the inputs is one.
        let zeros = expected.values.iter_mut().filter(|value| **value == 0.0);
        zeros.for_each(|value| *value = -0.0);
    }
    assert_eq!(
        got,
        distribute(d, sums(d).count, &expected, sum_place(d)),
        "{mnemonic}"
    );
}

#[test]
fn floating_point_products() {
    for (seed, (shape, types)) in [
        ("m16n8k4", "f32.tf32.tf32.f32"),
        ("m16n8k8", "f32.tf32.tf32.f32"),
        ("m16n8k8", "f32.bf16.bf16.f32"),
        ("m16n8k16", "f32.bf16.bf16.f32"),
        ("m16n8k8", "f32.f16.f16.f32"),
        ("m16n8k16", "f32.f16.f16.f32"),
        ("m16n8k8", "f16.f16.f16.f16"),
        ("m16n8k16", "f16.f16.f16.f16"),
        ("m16n8k16", "f32.e4m3.e4m3.f32"),
        ("m16n8k16", "f32.e5m2.e4m3.f32"),
        ("m16n8k16", "f16.e4m3.e5m2.f16"),
        ("m16n8k16", "f16.e5m2.e5m2.f16"),
        ("m16n8k32", "f32.e4m3.e5m2.f32"),
        ("m16n8k32", "f32.e5m2.e5m2.f32"),
        ("m16n8k32", "f16.e4m3.e4m3.f16"),
        ("m16n8k32", "f16.e5m2.e4m3.f16"),
    ]
    .into_iter()
    .enumerate()
    {
        let types: Vec<&str> = types.split('.').collect();
        check(shape, ["", ""], types.try_into().unwrap(), seed as u64 * 10);
    }
}

#[test]
fn products_of_doubles() {
    for shape in ["m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"] {
        for rounding in ["", ".rn", ".rz", ".rm", ".rp"] {
            check(shape, [rounding, ""], ["f64"; 4], 7);
        }
    }
}

#[test]
fn products_of_integers() {
    for (shape, kinds) in [
        ("m8n8k16", ["s8", "u8"]),
        ("m16n8k16", ["s8", "u8"]),
        ("m16n8k32", ["s8", "u8"]),
        ("m8n8k32", ["s4", "u4"]),
        ("m16n8k32", ["s4", "u4"]),
        ("m16n8k64", ["s4", "u4"]),
    ] {
        for a in kinds {
            for b in kinds {
                for saturation in ["", ".satfinite"] {
                    check(shape, [saturation, ""], ["s32", a, b, "s32"], 11);
                }
            }
        }
    }
}

#[test]
fn products_of_bits() {
    for shape in ["m8n8k128", "m16n8k128", "m16n8k256"] {
        for operation in [".xor.popc", ".and.popc"] {
            check(shape, ["", operation], ["s32", "b1", "b1", "s32"], 13);
        }
    }
}
