//! Results that are not exact, and special values.

use crate::elements::Kind;
use crate::kernels::{Registers, run};
use crate::support::numbers;

const fn registers(kind: Kind, count: usize) -> Registers {
    Registers { kind, count }
}

/// The result of the first row and column, where row 0 of `A` and column 0 of `B` hold these bits, and everything else zeros.
fn first_sum(types: [&str; 4], a: &[u64], b: &[u64], c: u64, modifiers: &str) -> u64 {
    let [d, a_kind, b_kind, c_kind] = types.map(Kind::of);
    // m16n8k16: the first register of a lane, and the one eight elements further on.
    let fill = |kind: Kind, values: &[u64], places: [usize; 2], count: usize| {
        let mut out = vec![[0; 32]; count];
        for (k, bits) in values.iter().enumerate() {
            let (lane, part) = (k % 8 / 2, k % 2);
            out[places[k / 8]][lane] |= bits << (part * kind.bits());
        }
        out
    };
    let a_values = fill(a_kind, a, [0, 2], 4);
    let b_values = fill(b_kind, b, [0, 1], 2);
    let mut c_values = vec![[0; 32]; 4 / c_kind.each()];
    c_values[0][0] = c;
    let mnemonic = format!(
        "mma.sync.aligned.m16n8k16.row.col{modifiers}.{}",
        types.join(".")
    );
    let got = run(
        &mnemonic,
        registers(d, 4 / d.each()),
        &[
            (registers(a_kind, 4), a_values),
            (registers(b_kind, 2), b_values),
            (registers(c_kind, 4 / c_kind.each()), c_values),
        ],
    );
    got[0][0] & (u64::MAX >> (64 - d.bits()))
}

const F16_SUMS: [&str; 4] = ["f16", "f16", "f16", "f16"];
const F32_SUMS: [&str; 4] = ["f32", "f16", "f16", "f32"];
const INFINITY: u64 = 0x7c00;
const ONE: u64 = 0x3c00;

#[test]
fn special_values() {
    let bits = |value: f32| u64::from(value.to_bits());
    for (a, b, c, single, half) in [
        // Infinity times zero, and the difference of infinities.
        (vec![INFINITY], vec![0], 0, 0x7fff_ffff, 0x7fff),
        (
            vec![INFINITY, INFINITY],
            vec![ONE, 0xbc00],
            0,
            0x7fff_ffff,
            0x7fff,
        ),
        (vec![0x7e01], vec![ONE], 0, 0x7fff_ffff, 0x7fff),
        (
            vec![INFINITY],
            vec![0xbc00],
            0,
            bits(f32::NEG_INFINITY),
            0xfc00,
        ),
        // The largest half times itself leaves the range of halves only.
        (
            vec![0x7bff],
            vec![0x7bff],
            0,
            bits(65504.0 * 65504.0),
            INFINITY,
        ),
        // Denormals are numbers.
        (vec![1], vec![ONE], 0, bits(2f32.powi(-24)), 1),
        (
            vec![0x03ff, 1],
            vec![ONE, ONE],
            0,
            bits(2f32.powi(-14)),
            0x0400,
        ),
        (vec![1], vec![1], 0, bits(2f32.powi(-48)), 0),
    ] {
        assert_eq!(first_sum(F32_SUMS, &a, &b, c, ""), single, "{a:x?} {b:x?}");
        assert_eq!(first_sum(F16_SUMS, &a, &b, c, ""), half, "{a:x?} {b:x?}");
    }
    // A brain float has the range of a single, whose product leaves it.
    let brain = ["f32", "bf16", "bf16", "f32"];
    assert_eq!(
        first_sum(brain, &[0x7f7f], &[0x7f7f], 0, ""),
        bits(f32::INFINITY)
    );
    assert_eq!(first_sum(brain, &[0x0001], &[0x3f80], 0, ""), 1 << 16);
}

/// The sum of 16 products and a single, of which all that the ISA says is that it is at least as precise as single precision: the bound is
/// one unit in the last place of the sum of the magnitudes. The machine rounds a sum in double precision once, and so is within half a unit of
/// the result.
#[test]
fn sums_are_within_the_documented_error() {
    let value = |bits: u64| crate::support::half(bits as u16);
    let mut inputs = numbers(40_000, 5).into_iter();
    for _ in 0..200 {
        // Any finite halves.
        let mut half = || {
            let bits = u64::from(inputs.next().unwrap()) & 0xffff;
            if bits & 0x7c00 == 0x7c00 {
                bits ^ 0x4000
            } else {
                bits
            }
        };
        let a: Vec<u64> = (0..16).map(|_| half()).collect();
        let b: Vec<u64> = (0..16).map(|_| half()).collect();
        let c = value(half()) as f32;
        let products = a.iter().zip(&b).map(|(&a, &b)| value(a) * value(b));
        let terms: Vec<f64> = products.chain([f64::from(c)]).collect();
        let exact: f64 = terms.iter().sum();
        let got = f32::from_bits(first_sum(F32_SUMS, &a, &b, u64::from(c.to_bits()), "") as u32);
        let magnitude: f64 = terms.iter().map(|term| term.abs()).sum();
        let error = (f64::from(got) - exact).abs();
        assert!(
            error <= magnitude * 2f64.powi(-23),
            "{a:x?} {b:x?} {c}: {got}, not {exact}"
        );
        // What this machine promises beyond that.
        let half_a_unit = f64::from(got.abs().next_up() - got.abs()) / 2.0;
        assert!(
            error <= half_a_unit + magnitude * 2f64.powi(-48),
            "{got}, not {exact}"
        );
    }
}

#[test]
fn integers_wrap_around_or_stay_within_their_range() {
    let types = ["s32", "s8", "s8", "s32"];
    for (modifiers, c, factor, expected) in [
        ("", i32::MAX, 2_u64, i32::MAX.wrapping_add(4)),
        (".satfinite", i32::MAX, 2, i32::MAX),
        ("", i32::MIN, 0xfe, i32::MIN.wrapping_sub(4)),
        (".satfinite", i32::MIN, 0xfe, i32::MIN),
        (".satfinite", i32::MAX, 0xfe, i32::MAX - 4),
    ] {
        let mut c_values = vec![[0; 32]; 4];
        c_values[0][0] = u64::from(c as u32);
        let (mut a, mut b) = (vec![[0; 32]; 2], vec![[0; 32]; 1]);
        (a[0][0], b[0][0]) = (2, factor);
        let mnemonic = format!(
            "mma.sync.aligned.m16n8k16.row.col{modifiers}.{}",
            types.join(".")
        );
        let got = run(
            &mnemonic,
            registers(Kind::S32, 4),
            &[
                (registers(Kind::S8, 2), a),
                (registers(Kind::S8, 1), b),
                (registers(Kind::S32, 4), c_values),
            ],
        );
        assert_eq!(got[0][0] as u32 as i32, expected, "{mnemonic} {c} {factor}");
    }
}

/// Doubles are added one after the other, each sum rounded.
#[test]
fn sums_of_doubles_are_rounded_at_each_step() {
    let tiny = 2f64.powi(-53);
    for (rounding, expected) in [
        (".rn", 1.0),
        (".rz", 1.0),
        (".rm", 1.0),
        (".rp", 1.0 + 4.0 * f64::EPSILON),
    ] {
        let mut a = vec![[0; 32]; 1];
        let mut b = vec![[0; 32]; 1];
        for lane in 0..4 {
            // Row 0 of `A`, and column 0 of `B`.
            (a[0][lane], b[0][lane]) = (tiny.to_bits(), 1f64.to_bits());
        }
        let mut c = vec![[0; 32]; 2];
        c[0][0] = 1f64.to_bits();
        let double = |count| registers(Kind::F64, count);
        let got = run(
            &format!("mma.sync.aligned.m8n8k4.row.col{rounding}.f64.f64.f64.f64"),
            double(2),
            &[(double(1), a), (double(1), b), (double(2), c)],
        );
        assert_eq!(f64::from_bits(got[0][0]), expected, "{rounding}");
    }
}
