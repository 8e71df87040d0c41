//! The kernels of the repository, each against the same computation in Rust.

mod support;

use support::{Arena, Params, launch, program};

macro_rules! ptx {
    (examples $name:literal) => {
        include_str!(concat!("../../../examples/kernels/", $name, ".ptx"))
    };
    (tests $name:literal) => {
        include_str!(concat!("../../../tests/kernels/", $name, ".ptx"))
    };
}

#[test]
fn every_kernel_is_implemented() {
    let texts = [
        ptx!(examples "vector_add"),
        ptx!(examples "matmul"),
        ptx!(examples "mandelbrot"),
        ptx!(examples "scale"),
        ptx!(examples "saxpy"),
        ptx!(examples "fault"),
        ptx!(tests "arithmetic"),
        ptx!(tests "barrier"),
        ptx!(tests "const_memory"),
        ptx!(tests "divergence"),
        ptx!(tests "faults"),
        ptx!(tests "local_array"),
        ptx!(tests "params"),
        ptx!(tests "shared_dynamic"),
        ptx!(tests "spin"),
    ];
    for text in texts {
        for kernel in program(text).kernels() {
            assert_eq!(kernel.unsupported(), None, "{}", kernel.name());
        }
    }
}

/// Numbers that look random and are the same in every run.
fn numbers(count: usize, seed: u64) -> Vec<u32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 16) as u32
    };
    std::iter::repeat_with(next).take(count).collect()
}

fn bytes_of<T: Copy, const N: usize>(values: &[T], f: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(|&value| f(value)).collect()
}

#[test]
fn matmul_with_ragged_edges() {
    let program = program(ptx!(examples "matmul"));
    let (m, n, k) = (35usize, 50usize, 41usize);
    let value = |i: u32| (i % 17) as f32 - 8.0;
    let a: Vec<f32> = numbers(m * k, 1).into_iter().map(value).collect();
    let b: Vec<f32> = numbers(k * n, 2).into_iter().map(value).collect();
    let arena = Arena::new();
    let (pa, pb, pc) = (
        arena.f32s(&a),
        arena.f32s(&b),
        arena.f32s(&vec![f32::NAN; m * n]),
    );
    let params = Params::default()
        .u64(pa)
        .u64(pb)
        .u64(pc)
        .u32(m as u32)
        .u32(n as u32)
        .u32(k as u32);
    let kernel = program.kernel("matmul").unwrap();
    assert_eq!(kernel.static_shared_bytes(), 2048);
    for seed in 0..3 {
        let mut launch = cuda_sim_machine::Launch::new([4, 3, 1], [16, 16, 1], &params.0);
        launch.seed = seed;
        cuda_sim_machine::run(kernel, &program, &launch, &arena).unwrap();
        let c = arena.read_f32s(pc, m * n);
        for row in 0..m {
            for column in 0..n {
                let expected = (0..k).fold(0f32, |sum, i| {
                    a[row * k + i].mul_add(b[i * n + column], sum)
                });
                assert_eq!(
                    c[row * n + column],
                    expected,
                    "row {row}, column {column}, seed {seed}"
                );
            }
        }
        arena.store_all(pc, &vec![0; m * n * 4]);
    }
}

#[test]
fn mandelbrot_counts_as_the_cpu_does() {
    let program = program(ptx!(examples "mandelbrot"));
    let (width, height, limit) = (70u32, 45u32, 100u32);
    let (x, y, step) = (-0.5f32, 0.0f32, 0.04f32);
    let arena = Arena::new();
    let image = arena.u32s(&vec![9999; (width * height) as usize]);
    let params = Params::default()
        .u64(image)
        .u32(width)
        .u32(height)
        .f32(x)
        .f32(y)
        .f32(step)
        .u32(limit);
    let launch = cuda_sim_machine::Launch::new([3, 6, 1], [32, 8, 1], &params.0);
    cuda_sim_machine::run(
        program.kernel("mandelbrot").unwrap(),
        &program,
        &launch,
        &arena,
    )
    .unwrap();
    let image = arena.read_u32s(image, (width * height) as usize);
    for row in 0..height {
        for column in 0..width {
            let cx = (column as f32 - 0.5 * width as f32).mul_add(step, x);
            let cy = (row as f32 - 0.5 * height as f32).mul_add(step, y);
            let (mut zx, mut zy, mut count) = (0f32, 0f32, 0u32);
            while count < limit && zx.mul_add(zx, zy * zy) <= 4.0 {
                let next = zx.mul_add(zx, (-zy).mul_add(zy, cx));
                zy = (2.0 * zx).mul_add(zy, cy);
                zx = next;
                count += 1;
            }
            assert_eq!(
                image[(row * width + column) as usize],
                count,
                "row {row}, column {column}"
            );
        }
    }
}

#[test]
fn saxpy_and_scale() {
    let saxpy = program(ptx!(examples "saxpy"));
    let scale = program(ptx!(examples "scale"));
    let x: Vec<f32> = numbers(777, 3)
        .into_iter()
        .map(|i| i as f32 / 1e6)
        .collect();
    let y: Vec<f32> = numbers(777, 4)
        .into_iter()
        .map(|i| i as f32 / 1e5)
        .collect();
    let arena = Arena::new();
    let (px, py) = (arena.f32s(&x), arena.f32s(&y));
    let params = Params::default().f32(1.7).u64(px).u64(py).u32(777);
    launch(&saxpy, "saxpy", 7, 128, &params, &arena).unwrap();
    let expected: Vec<f32> = x
        .iter()
        .zip(&y)
        .map(|(x, y)| 1.7f32.mul_add(*x, *y))
        .collect();
    assert_eq!(arena.read_f32s(py, 777), expected);
    let params = Params::default().u64(py).u32(777).f32(0.5).f32(3.0).u32(10);
    launch(&scale, "scale", 7, 128, &params, &arena).unwrap();
    let expected: Vec<f32> = expected
        .iter()
        .map(|&y| (0..10).fold(y, |y, _| y.mul_add(0.5, 3.0)))
        .collect();
    assert_eq!(arena.read_f32s(py, 777), expected);
}

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
    let program = program(ptx!(tests "arithmetic"));
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
    let program = program(ptx!(tests "arithmetic"));
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
    let program = program(ptx!(tests "arithmetic"));
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
    let program = program(ptx!(tests "arithmetic"));
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
    let program = program(ptx!(tests "arithmetic"));
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

#[test]
fn parameters_of_every_size() {
    let program = program(ptx!(tests "params"));
    let arena = Arena::new();
    let out = arena.place(&[0; 64]);
    let params = Params::default()
        .push([0xab])
        .push(0xcdefu16.to_le_bytes())
        .u64(0x0123_4567_89ab_cdef)
        .f32(1.5)
        .push((-3i8).to_le_bytes())
        .push(2.25f64.to_le_bytes())
        .push((-300i16).to_le_bytes())
        .push((-70000i32).to_le_bytes())
        .u64(out);
    let kernel = program.kernel("scalars").unwrap();
    let offsets: Vec<usize> = kernel.params().iter().map(|param| param.offset).collect();
    assert_eq!(offsets, [0, 2, 8, 16, 20, 24, 32, 36, 40]);
    launch(&program, "scalars", 1, 1, &params, &arena).unwrap();
    let expected = [
        0xab,
        0xcdef,
        0x0123_4567_89ab_cdef,
        u64::from(1.5f32.to_bits()),
        -3i64 as u64,
        2.25f64.to_bits(),
        -300i64 as u64,
        -70000i64 as u64,
    ];
    assert_eq!(arena.read_u64s(out, 8), expected);
}

#[test]
fn structs_by_value() {
    let program = program(ptx!(tests "params"));
    let kernel = program.kernel("structs").unwrap();
    let shapes: Vec<(usize, usize)> = kernel
        .params()
        .iter()
        .map(|param| (param.offset, param.size))
        .collect();
    assert_eq!(shapes, [(0, 16), (16, 1), (32, 16), (48, 24), (72, 8)]);
    let arena = Arena::new();
    let out = arena.place(&[0; 48]);
    let mut bytes = bytes_of(&[1.0f32, 2.0, 3.0, 4.0], f32::to_le_bytes);
    bytes.push(77);
    bytes.resize(32, 0);
    bytes.extend(bytes_of(&[5.0f32, 6.0, 7.0, 8.0], f32::to_le_bytes));
    bytes.extend([9, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend((-0.125f64).to_le_bytes());
    bytes.extend(4321u16.to_le_bytes());
    bytes.resize(72, 0);
    bytes.extend(out.to_le_bytes());
    launch(&program, "structs", 1, 1, &Params(bytes), &arena).unwrap();
    let got: Vec<f64> = arena
        .read_u64s(out, 6)
        .into_iter()
        .map(f64::from_bits)
        .collect();
    assert_eq!(got, [4321.0, 77.0, 8765.0, 9.0, -0.125, 4321.0]);
}

#[test]
fn dynamic_shared_memory() {
    let program = program(ptx!(tests "shared_dynamic"));
    let arena = Arena::new();
    let data = arena.u32s(&(0..256).collect::<Vec<u32>>());
    let params = Params::default().u64(data);
    let kernel = program.kernel("reverse_blocks").unwrap();
    assert_eq!(kernel.static_shared_bytes(), 0);
    let mut launch = cuda_sim_machine::Launch::new([4, 1, 1], [64, 1, 1], &params.0);
    launch.dynamic_shared = 256;
    cuda_sim_machine::run(kernel, &program, &launch, &arena).unwrap();
    let expected: Vec<u32> = (0..4)
        .flat_map(|block| (block * 64..block * 64 + 64).rev())
        .collect();
    assert_eq!(arena.read_u32s(data, 256), expected);
    launch.dynamic_shared = 128;
    let fault = cuda_sim_machine::run(kernel, &program, &launch, &arena).unwrap_err();
    assert!(
        fault
            .to_string()
            .contains("outside the 128 bytes of shared memory"),
        "{fault}"
    );
}

#[test]
fn diverging_lanes() {
    let program = program(ptx!(tests "divergence"));
    let start: Vec<u32> = (1..=300).collect();
    let arena = Arena::new();
    let (ps, pt) = (arena.u32s(&start), arena.u32s(&[0; 300]));
    launch(
        &program,
        "collatz",
        3,
        128,
        &Params::default().u64(ps).u64(pt).u32(300),
        &arena,
    )
    .unwrap();
    let expected: Vec<u32> = start
        .iter()
        .map(|&start| {
            let (mut value, mut count) = (start, 0);
            while value > 1 {
                value = if value & 1 == 1 {
                    3 * value + 1
                } else {
                    value / 2
                };
                count += 1;
            }
            count
        })
        .collect();
    assert_eq!(arena.read_u32s(pt, 300), expected);

    let out = arena.u32s(&[7; 300]);
    launch(
        &program,
        "choose",
        3,
        128,
        &Params::default().u64(out).u32(300),
        &arena,
    )
    .unwrap();
    let expected: Vec<u32> = (0..300i32)
        .map(|i| match i % 7 {
            0 => i + 10,
            1 => i * 3,
            2 => -i,
            3 => i ^ 0x55,
            4 => (0..i).fold(i, |value, j| value.wrapping_add(j.wrapping_mul(value & 3))),
            5 => i << 4,
            _ => 0,
        } as u32)
        .collect();
    assert_eq!(arena.read_u32s(out, 300), expected);
}

#[test]
fn a_lock_is_passed_on_between_lanes_of_one_warp() {
    let program = program(ptx!(tests "divergence"));
    let arena = Arena::new();
    let (mutex, counter) = (arena.u32s(&[0]), arena.u32s(&[0]));
    launch(
        &program,
        "lock",
        3,
        64,
        &Params::default().u64(mutex).u64(counter),
        &arena,
    )
    .unwrap();
    assert_eq!(arena.read_u32s(counter, 1), [192]);
}

#[test]
fn constants_and_module_variables() {
    let program = program(ptx!(tests "const_memory"));
    let arena = Arena::new();
    let addresses: Vec<u64> = program
        .globals()
        .iter()
        .map(|global| arena.place(&global.bytes))
        .collect();
    for (global, &address) in program.globals().iter().zip(&addresses) {
        for relocation in &global.relocations {
            let target = addresses[relocation.target].wrapping_add_signed(relocation.addend);
            arena.store_all(
                address + relocation.offset as u64,
                &target.to_le_bytes()[..relocation.size],
            );
        }
    }
    let x = [0.0f32, 1.0, -2.0, 0.5];
    let (px, py) = (arena.f32s(&x), arena.f32s(&[0.0; 4]));
    let params = Params::default().u64(px).u64(py).u32(4);
    let mut launch = cuda_sim_machine::Launch::new([1, 1, 1], [32, 1, 1], &params.0);
    launch.globals = &addresses;
    cuda_sim_machine::run(
        program.kernel("polynomial").unwrap(),
        &program,
        &launch,
        &arena,
    )
    .unwrap();
    assert_eq!(arena.read_f32s(py, 4), [1.0, 10.0, -23.0, 3.25]);

    let out = arena.u32s(&[0; 7]);
    let params = Params::default().u64(out);
    launch.params = &params.0;
    cuda_sim_machine::run(program.kernel("count").unwrap(), &program, &launch, &arena).unwrap();
    // 32 threads: 11, 11 and 10 of them count each column of the first row, and the second row stays.
    assert_eq!(arena.read_u32s(out, 7), [12, 13, 10, 3, 0, 0, 3]);
    let without = cuda_sim_machine::Launch {
        globals: &[],
        ..launch.clone()
    };
    let fault = cuda_sim_machine::run(program.kernel("count").unwrap(), &program, &without, &arena)
        .unwrap_err();
    assert!(
        fault.to_string().contains("addresses of module variables"),
        "{fault}"
    );
}

#[test]
fn local_arrays() {
    let program = program(ptx!(tests "local_array"));
    let (rows, columns) = (70usize, 40usize);
    let values = numbers(rows * columns, 10);
    let arena = Arena::new();
    let (pv, po) = (arena.u32s(&values), arena.u32s(&vec![0; rows * 8]));
    let params = Params::default()
        .u64(pv)
        .u32(columns as u32)
        .u64(po)
        .u32(rows as u32);
    assert!(program.kernel("largest").unwrap().local_bytes() >= 32);
    launch(&program, "largest", 2, 64, &params, &arena).unwrap();
    let out = arena.read_u32s(po, rows * 8);
    for row in 0..rows {
        let mut sorted: Vec<i32> = values[row * columns..][..columns]
            .iter()
            .map(|&value| value as i32)
            .collect();
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        let got: Vec<i32> = out[row * 8..][..8]
            .iter()
            .map(|&value| value as i32)
            .collect();
        assert_eq!(got, sorted[..8], "row {row}");
    }
}

#[test]
fn sums_with_barriers_and_shuffles() {
    let program = program(ptx!(tests "barrier"));
    let values: Vec<u32> = numbers(1000, 11).into_iter().map(|i| i % 1000).collect();
    let arena = Arena::new();
    let pv = arena.u32s(&values);
    let sums = arena.u32s(&[0; 4]);
    launch(
        &program,
        "block_sums",
        4,
        256,
        &Params::default().u64(pv).u64(sums).u32(1000),
        &arena,
    )
    .unwrap();
    let expected: Vec<u32> = values.chunks(256).map(|chunk| chunk.iter().sum()).collect();
    assert_eq!(arena.read_u32s(sums, 4), expected);
    let sums = arena.u32s(&[0; 32]);
    launch(
        &program,
        "warp_sums",
        32,
        32,
        &Params::default().u64(pv).u64(sums).u32(1000),
        &arena,
    )
    .unwrap();
    let expected: Vec<u32> = values.chunks(32).map(|chunk| chunk.iter().sum()).collect();
    assert_eq!(arena.read_u32s(sums, 32), expected);

    let mut values = vec![1u32; 192];
    values[..64].copy_from_slice(&[2; 64]);
    values[130] = 4;
    let (pv, out) = (arena.u32s(&values), arena.u32s(&[9; 9]));
    launch(
        &program,
        "count_odd",
        3,
        64,
        &Params::default().u64(pv).u64(out),
        &arena,
    )
    .unwrap();
    assert_eq!(arena.read_u32s(out, 9), [0, 0, 0, 64, 1, 1, 63, 0, 1]);
}

#[test]
fn spinning_ends_and_adds() {
    let program = program(ptx!(tests "spin"));
    let arena = Arena::new();
    let x = arena.f32s(&[1.0; 100]);
    let statistics = launch(
        &program,
        "delay_then_add",
        1,
        128,
        &Params::default().u64(x).u32(100).f32(2.0).u32(1000),
        &arena,
    )
    .unwrap();
    assert_eq!(arena.read_f32s(x, 100), [3.0; 100]);
    assert!(statistics.instructions > 4 * 1000 * 6, "{statistics:?}");
}
