//! The kernels of `arithmetic.cu` against Rust's own arithmetic, on edge values and on numbers that look random.

mod support;

use support::{Arena, Params, launch, numbers, program};

const ARITHMETIC: &str = include_str!("../../../tests/kernels/arithmetic.ptx");

/// Every pair of interesting values and some ordinary ones.
fn pairs<T: Copy>(edges: &[T], more: &[T]) -> (Vec<T>, Vec<T>) {
    let mut pairs: Vec<(T, T)> = edges
        .iter()
        .flat_map(|&a| edges.iter().map(move |&b| (a, b)))
        .collect();
    pairs.extend(more.chunks_exact(2).map(|pair| (pair[0], pair[1])));
    pairs.into_iter().unzip()
}

#[test]
fn integers_of_32_bits() {
    let program = program(ARITHMETIC);
    let edges = [
        0,
        1,
        -1,
        2,
        31,
        32,
        33,
        0x7fff_ffff,
        i32::MIN,
        i32::MIN + 1,
        0x5555_5555,
        -12345,
    ];
    let more: Vec<i32> = numbers(200, 5).into_iter().map(|i| i as i32).collect();
    let (a, b) = pairs(&edges, &more);
    let arena = Arena::new();
    let (pa, pb) = (
        arena.place_words(&a, i32::to_le_bytes),
        arena.place_words(&b, i32::to_le_bytes),
    );
    let out = arena.place(&vec![0; a.len() * 64]);
    let params = Params::default()
        .u64(pa)
        .u64(pb)
        .u64(out)
        .u32(a.len() as u32);
    launch(&program, "integers32", 4, 128, &params, &arena).unwrap();
    let out = arena.read_u32s(out, a.len() * 16);
    for (i, (&x, &y)) in a.iter().zip(&b).enumerate() {
        let undefined = y == 0 || (x == i32::MIN && y == -1);
        let expected = [
            x.wrapping_add(y),
            x.wrapping_sub(y),
            x.wrapping_mul(y),
            ((i64::from(x) * i64::from(y)) >> 32) as i32,
            ((u64::from(x as u32) * u64::from(y as u32)) >> 32) as i32,
            if undefined { 0 } else { x / y },
            if undefined { 0 } else { x % y },
            (x as u32).checked_div(y as u32).unwrap_or(0) as i32,
            x.min(y),
            x.max(y),
            x << (y & 31),
            x >> (y & 31),
            (x as u32 >> (y & 31)) as i32,
            (x & y) ^ (x | y),
            (x.count_ones() + y.leading_zeros() * 256) as i32,
            x.reverse_bits(),
        ];
        let got: Vec<i32> = out[i * 16..][..16]
            .iter()
            .map(|&word| word as i32)
            .collect();
        assert_eq!(got, expected, "{x} and {y}");
    }
}

#[test]
fn integers_of_64_bits() {
    let program = program(ARITHMETIC);
    let edges = [
        0,
        1,
        -1,
        63,
        64,
        65,
        i64::MAX,
        i64::MIN,
        0x1_0000_0000,
        -0x1_2345_6789,
    ];
    let more: Vec<i64> = numbers(200, 6)
        .into_iter()
        .map(|i| i64::from(i).wrapping_mul(0x1234_5678_9abc))
        .collect();
    let (a, b) = pairs(&edges, &more);
    let arena = Arena::new();
    let (pa, pb) = (
        arena.place_words(&a, i64::to_le_bytes),
        arena.place_words(&b, i64::to_le_bytes),
    );
    let out = arena.place(&vec![0; a.len() * 64]);
    let params = Params::default()
        .u64(pa)
        .u64(pb)
        .u64(out)
        .u32(a.len() as u32);
    launch(&program, "integers64", 4, 128, &params, &arena).unwrap();
    let out = arena.read_u64s(out, a.len() * 8);
    for (i, (&x, &y)) in a.iter().zip(&b).enumerate() {
        let expected = [
            x.wrapping_add(y),
            x.wrapping_sub(y),
            x.wrapping_mul(y),
            ((i128::from(x) * i128::from(y)) >> 64) as i64,
            (x as u64).checked_div(y as u64).unwrap_or(0) as i64,
            x.min(y),
            x >> (y & 63),
            i64::from(x.count_ones() + y.leading_zeros() * 256),
        ];
        let got: Vec<i64> = out[i * 8..][..8].iter().map(|&word| word as i64).collect();
        assert_eq!(got, expected, "{x} and {y}");
    }
}

fn canonical(x: f32) -> u32 {
    if x.is_nan() { 0x7fff_ffff } else { x.to_bits() }
}

#[test]
fn floats_of_32_bits() {
    let program = program(ARITHMETIC);
    let edges = [
        0.0,
        -0.0,
        1.0,
        -1.5,
        f32::MAX,
        f32::MIN_POSITIVE,
        1e-45,
        -1e-40,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        3e38,
    ];
    let more: Vec<f32> = numbers(400, 7).into_iter().map(f32::from_bits).collect();
    let (a, b) = pairs(&edges, &more);
    let arena = Arena::new();
    let (pa, pb) = (arena.f32s(&a), arena.f32s(&b));
    let out = arena.place(&vec![0; a.len() * 48]);
    let params = Params::default()
        .u64(pa)
        .u64(pb)
        .u64(out)
        .u32(a.len() as u32);
    launch(&program, "floats32", 4, 128, &params, &arena).unwrap();
    let out = arena.read_u32s(out, a.len() * 12);
    for (i, (&x, &y)) in a.iter().zip(&b).enumerate() {
        let got = &out[i * 12..][..12];
        let nearest = [
            x + y,
            x - y,
            x * y,
            x / y,
            x.mul_add(y, 1.0),
            x.abs().sqrt(),
        ]
        .map(canonical);
        assert_eq!(got[..6], nearest, "{x:e} and {y:e}");
        // Directed results lie on the right side of, and next to, the nearest one.
        let exact = f64::from(x) + f64::from(y);
        let (toward_zero, up, product_down) = (
            f32::from_bits(got[8]),
            f32::from_bits(got[9]),
            f32::from_bits(got[10]),
        );
        if exact.is_finite() && x.is_finite() {
            assert!(
                f64::from(toward_zero).abs() <= exact.abs() && f64::from(up) >= exact,
                "{x:e} and {y:e}"
            );
            assert!(
                f64::from(product_down) <= f64::from(x) * f64::from(y),
                "{x:e} and {y:e}"
            );
            for (got, nearest) in [(toward_zero, x + y), (up, x + y), (product_down, x * y)] {
                assert!(
                    (i64::from(got.to_bits()) - i64::from(nearest.to_bits())).abs() <= 1,
                    "{x:e} and {y:e}: {got:e}"
                );
            }
        }
        let saturated = if x > 0.0 { x.min(1.0) } else { 0.0 };
        assert_eq!(f32::from_bits(got[11]), saturated, "{x:e}");
        let (min, max) = (f32::from_bits(got[6]), f32::from_bits(got[7]));
        if !x.is_nan() && !y.is_nan() && x != y {
            assert_eq!(
                (min, max),
                (if x < y { x } else { y }, if x > y { x } else { y })
            );
        }
        if x == 0.0 && y == 0.0 && x.to_bits() != y.to_bits() {
            assert_eq!(
                (min.to_bits(), max.to_bits()),
                (0x8000_0000, 0),
                "the zeros have an order"
            );
        }
        if x.is_nan() && !y.is_nan() {
            assert_eq!((min, max), (y, y), "a number wins over NaN");
        }
    }
}

#[test]
fn floats_of_64_bits() {
    let program = program(ARITHMETIC);
    let edges = [
        0.0,
        -0.0,
        1.0,
        -1.5,
        f64::MAX,
        f64::MIN_POSITIVE,
        5e-324,
        -1e-310,
        f64::INFINITY,
        1.7e308,
        0.1,
    ];
    let random = numbers(800, 8);
    let more: Vec<f64> = random
        .chunks_exact(2)
        .map(|w| f64::from_bits(u64::from(w[0]) << 32 | u64::from(w[1])))
        .collect();
    let (a, b) = pairs(&edges, &more);
    let arena = Arena::new();
    let (pa, pb) = (
        arena.place_words(&a, f64::to_le_bytes),
        arena.place_words(&b, f64::to_le_bytes),
    );
    let out = arena.place(&vec![0; a.len() * 64]);
    let params = Params::default()
        .u64(pa)
        .u64(pb)
        .u64(out)
        .u32(a.len() as u32);
    launch(&program, "floats64", 4, 128, &params, &arena).unwrap();
    let out = arena.read_u64s(out, a.len() * 8);
    for (i, (&x, &y)) in a.iter().zip(&b).enumerate() {
        let got: Vec<f64> = out[i * 8..][..8]
            .iter()
            .map(|&bits| f64::from_bits(bits))
            .collect();
        let nearest = [x + y, x * y, x / y, x.mul_add(y, 1.0), x.abs().sqrt()];
        for (got, expected) in got.iter().zip(nearest) {
            assert!(
                got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan(),
                "{x:e} and {y:e}: {got:e} for {expected:e}"
            );
        }
        let (sum, product) = (x + y, x * y);
        if sum.is_finite() && x.is_finite() {
            // The error of the sum is a double itself (without overflow); the product's is the remainder of the fused multiplication.
            assert!(
                got[6].abs() <= sum.abs()
                    && (got[6].to_bits() as i64 - sum.to_bits() as i64).abs() <= 1,
                "{x:e} + {y:e}"
            );
        }
        if product.is_finite() && product.abs() > 1e-290 {
            let error = x.mul_add(y, -product);
            let expected = if error > 0.0 {
                next_up(product)
            } else {
                product
            };
            assert_eq!(got[7].to_bits(), expected.to_bits(), "{x:e} * {y:e}");
        }
    }
}

fn next_up(x: f64) -> f64 {
    f64::from_bits(if x > 0.0 {
        x.to_bits() + 1
    } else {
        x.to_bits() - 1
    })
}

#[test]
fn conversions_from_floats() {
    let program = program(ARITHMETIC);
    let mut a = vec![
        0.0,
        -0.0,
        0.5,
        -0.5,
        1.5,
        2.5,
        -2.5,
        1e10,
        -1e10,
        1e20,
        -1e20,
        f32::NAN,
        f32::INFINITY,
        2147483648.0,
        -2147483648.0,
    ];
    a.extend(
        numbers(200, 9)
            .into_iter()
            .map(f32::from_bits)
            .filter(|x| !x.is_nan()),
    );
    let arena = Arena::new();
    let pa = arena.f32s(&a);
    let out = arena.place(&vec![0; a.len() * 64]);
    let params = Params::default().u64(pa).u64(out).u32(a.len() as u32);
    launch(&program, "conversions", 4, 128, &params, &arena).unwrap();
    let out = arena.read_u64s(out, a.len() * 8);
    for (i, &x) in a.iter().enumerate() {
        // Rust's casts saturate in the same way, but NaN to 64 bits is the highest bit on a GPU.
        let wide = |value: f32, signed: bool| match (value.is_nan(), signed) {
            (true, _) => 1u64 << 63,
            (false, true) => value as i64 as u64,
            (false, false) => value as u64,
        };
        let integer = x as i32;
        let mut truncated = integer as f32;
        if i64::from(integer).abs() < (truncated as i64).abs() {
            truncated = f32::from_bits(truncated.to_bits() - 1);
        }
        let expected = [
            integer as i64 as u64,
            x.round_ties_even() as i32 as i64 as u64,
            u64::from(x as u32),
            wide(x.floor(), true),
            wide(x.ceil(), false),
            if x.is_nan() {
                out[i * 8 + 5]
            } else {
                f64::from(x).to_bits()
            },
            integer as i8 as i64 as u64,
            truncated.to_bits() as i32 as i64 as u64,
        ];
        assert_eq!(out[i * 8..][..8], expected, "{x:e}");
    }
}
