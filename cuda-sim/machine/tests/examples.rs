//! The kernels of the examples, each against the same computation in Rust.

mod support;

use support::{Arena, Params, launch, numbers, program};

macro_rules! ptx {
    (examples $name:literal) => {
        include_str!(concat!("../../../examples/kernels/", $name, ".ptx"))
    };
    (tests $name:literal) => {
        include_str!(concat!("../../../tests/kernels/", $name, ".ptx"))
    };
}

#[test]
fn adds_what_lies_below_n_and_nothing_else() {
    let program = program(include_str!("../../../examples/kernels/vector_add.ptx"));
    let n = 1000u32;
    let a: Vec<f32> = (0..n).map(|i| i as f32 * 0.5).collect();
    let b: Vec<f32> = (0..n).map(|i| 1.0 / (i as f32 + 1.0)).collect();
    let arena = Arena::new();
    let (pa, pb) = (arena.f32s(&a), arena.f32s(&b));
    let sum = arena.f32s(&vec![-1.0; n as usize + 8]);
    let params = Params::default().u64(pa).u64(pb).u64(sum).u32(n);
    let statistics = launch(&program, "vector_add", 4, 256, &params, &arena).unwrap();
    assert_eq!(statistics.blocks, 4);
    let expected: Vec<f32> = a
        .iter()
        .zip(&b)
        .map(|(a, b)| a + b)
        .chain([-1.0; 8])
        .collect();
    assert_eq!(arena.read_f32s(sum, n as usize + 8), expected);
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
