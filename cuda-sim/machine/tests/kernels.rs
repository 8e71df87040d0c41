//! The kernels of the tests, each against the same computation in Rust.

mod support;

use cuda_sim_machine::RelocationTarget;
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

fn bytes_of<T: Copy, const N: usize>(values: &[T], f: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(|&value| f(value)).collect()
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
            let RelocationTarget::Variable(target) = relocation.target else {
                panic!("{relocation:?}");
            };
            let target = addresses[target].wrapping_add_signed(relocation.addend);
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
