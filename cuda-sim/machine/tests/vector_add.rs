//! The first kernel that anybody runs.

mod support;

use support::{Arena, Params, launch, program};

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
