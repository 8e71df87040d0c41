//! Arguments by value: every size, structs, null pointers, many of them.

use bytemuck::{Pod, Zeroable};
use cuda_driver::{Dim3, LaunchConfig, Null};

use crate::support::Test;
use crate::support::bench::Bench;
use crate::support::kernels::{PARAMS, load};

const ONE: fn() -> LaunchConfig = || LaunchConfig::new(1, 1);

#[test]
fn scalars_of_every_size_arrive_as_they_are() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let scalars = load(bench.context(), PARAMS, "scalars");
    let mut out = stream.zeroed::<u64>(8)?;
    let arguments = (
        200_u8,
        60_000_u16,
        0x0123_4567_89ab_cdef_u64,
        1.5_f32,
        -3_i8,
        -2.25_f64,
        -30_000_i16,
        i32::MIN,
        &mut out,
    );
    // SAFETY: the arguments have the types of the parameters, and the kernel writes eight elements.
    unsafe { scalars.launch(&stream, ONE(), arguments) }?;
    let expected = [
        200,
        60_000,
        0x0123_4567_89ab_cdef,
        u64::from(1.5_f32.to_bits()),
        (-3_i64).cast_unsigned(),
        (-2.25_f64).to_bits(),
        (-30_000_i64).cast_unsigned(),
        i64::from(i32::MIN).cast_unsigned(),
    ];
    assert_eq!(out.to_vec()?, expected);
    Ok(())
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Vector4([f32; 4]);

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(16))]
struct Aligned4([f32; 4]);

/// The C struct of a byte, a double and a short, with its padding spelled out.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Mixed {
    tag: u8,
    gap: [u8; 7],
    value: f64,
    code: u16,
    end: [u8; 6],
}

#[test]
fn structs_by_value_are_not_packed_with_alignment_1() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let structs = load(bench.context(), PARAMS, "structs");
    let mut out = stream.zeroed::<f64>(6)?;
    let mixed = Mixed {
        tag: 9,
        gap: [0xff; 7],
        value: 6.5,
        code: 777,
        end: [0xff; 6],
    };
    let arguments = (
        Vector4([1.0, 2.0, 3.0, 4.0]),
        250_u8,
        Aligned4([5.0, 6.0, 7.0, 8.0]),
        mixed,
        &mut out,
    );
    // SAFETY: the arguments have the types of the parameters, and the kernel writes six elements.
    unsafe { structs.launch(&stream, ONE(), arguments) }?;
    assert_eq!(out.to_vec()?, [4321.0, 250.0, 8765.0, 9.0, 6.5, 777.0]);
    Ok(())
}

/// PTX of a kernel that stores the sum of `count` numbers.
fn sum_of(count: usize) -> String {
    let parameters: Vec<String> = (0..count).map(|it| format!(".param .u32 p{it}")).collect();
    let adds: String = (0..count)
        .map(|it| format!("ld.param.u32 %r2, [p{it}];\nadd.u32 %r1, %r1, %r2;\n"))
        .collect();
    format!(
        ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry sum({}, .param .u64 to)\n{{\n\
         .reg .b32 %r<3>;\n.reg .b64 %rd<3>;\nmov.u32 %r1, 0;\n{adds}ld.param.u64 %rd1, [to];\n\
         cvta.to.global.u64 %rd2, %rd1;\nst.global.u32 [%rd2], %r1;\nret;\n}}\n",
        parameters.join(", ")
    )
}

#[test]
fn sixteen_arguments_are_the_most_of_a_tuple() -> Test {
    let bench = Bench::new();
    let (stream, other) = (bench.stream(), bench.stream());
    let sum = load(bench.context(), &sum_of(15), "sum");
    let mut out = stream.zeroed::<u32>(1)?;
    for stream in [&stream, &other] {
        let (a, b, c, d) = (1_u32, 10_u32, 100_u32, 1000_u32);
        let arguments = (a, b, c, d, a, b, c, d, a, b, c, d, a, b, c, &mut out);
        // SAFETY: the kernel takes 15 numbers and writes one element.
        unsafe { sum.launch(stream, ONE(), arguments) }?;
        assert_eq!(out.to_vec()?, [3444]);
    }
    Ok(())
}

#[test]
fn a_list_built_at_run_time_can_be_longer() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let sum = load(bench.context(), &sum_of(100), "sum");
    let mut out = stream.zeroed::<u32>(1)?;
    let values: Vec<u32> = (0..100).collect();
    let mut arguments: Vec<_> = values
        .iter()
        .map(cuda_driver::DynamicArgument::value)
        .collect();
    arguments.push(cuda_driver::DynamicArgument::write(&mut out));
    assert!(format!("{:?}", arguments[100]).contains("is_memory: true"));
    // SAFETY: the kernel takes a hundred numbers and writes one element.
    unsafe { sum.launch_dynamic(&stream, ONE(), &arguments) }?;
    assert_eq!(out.to_vec()?, [4950]);
    Ok(())
}

#[test]
fn null_is_a_null_pointer_of_a_pointers_size() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let text = ".version 7.0\n.target sm_52\n.address_size 64\n\
        .visible .entry is_null(.param .u64 from, .param .u64 to)\n{\n.reg .pred %p<2>;\n.reg .b32 %r<2>;\n\
        .reg .b64 %rd<4>;\nld.param.u64 %rd1, [from];\nld.param.u64 %rd2, [to];\n\
        cvta.to.global.u64 %rd3, %rd2;\nsetp.eq.u64 %p1, %rd1, 0;\nselp.u32 %r1, 1, 2, %p1;\n\
        st.global.u32 [%rd3], %r1;\nret;\n}\n";
    let is_null = load(bench.context(), text, "is_null");
    let mut out = stream.zeroed::<u32>(1)?;
    let empty = stream.zeroed::<u32>(0)?;
    let full = stream.zeroed::<u32>(1)?;
    // SAFETY: the kernel writes one element, and does not follow its first argument; so below.
    unsafe { is_null.launch(&stream, ONE(), (Null, &mut out)) }?;
    assert_eq!(out.to_vec()?, [1]);
    // SAFETY: as above.
    unsafe { is_null.launch(&stream, ONE(), (&full, &mut out)) }?;
    assert_eq!(out.to_vec()?, [2]);
    // SAFETY: as above.
    unsafe { is_null.launch(&stream, ONE(), (&empty, &mut out)) }?;
    assert_eq!(out.to_vec()?, [1]);
    Ok(())
}

#[test]
fn all_threads_of_a_grid_in_three_dimensions_run() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let text = ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry tally(.param .u64 to)\n{\n\
        .reg .b32 %r<2>;\n.reg .b64 %rd<3>;\nld.param.u64 %rd1, [to];\ncvta.to.global.u64 %rd2, %rd1;\n\
        atom.global.add.u32 %r1, [%rd2], 1;\nret;\n}\n";
    let tally = load(bench.context(), text, "tally");
    let mut out = stream.zeroed::<u32>(1)?;
    let config = LaunchConfig::new((2, 3, 4), (5, 6, 7));
    // SAFETY: the kernel adds to one element, atomically.
    unsafe { tally.launch(&stream, config, (&mut out,)) }?;
    let threads = Dim3::new(2, 3, 4).volume() * Dim3::new(5, 6, 7).volume();
    assert_eq!(out.to_vec()?, [u32::try_from(threads)?]);
    Ok(())
}
