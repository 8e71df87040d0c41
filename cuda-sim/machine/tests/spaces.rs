//! Address spaces: every width of access, vectors, generic addressing, atomics.

mod support;

use cuda_sim_machine::{Launch, run};
use support::{Arena, Params, launch, program};

fn kernel(declarations: &str, body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n{declarations}\n.visible .entry k(.param .u64 p, .param .u64 q)\n{{\n\
         .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<20>; .reg .f32 %f<9>; .reg .b64 %d<20>; .reg .f64 %g<9>; .reg .b32 %t;\n\
         ld.param.u64 %d1, [p]; ld.param.u64 %d2, [q]; mov.u32 %t, %tid.x;\n{body}\nret;\n}}\n"
    )
}

/// Runs one block of `threads` on two arrays; returns the second as 64-bit words.
fn words(
    declarations: &str,
    body: &str,
    threads: u32,
    input: &[u8],
    output_words: usize,
) -> Vec<u64> {
    let program = program(&kernel(declarations, body));
    let arena = Arena::new();
    let (input, output) = (arena.place(input), arena.place(&vec![0; 8 * output_words]));
    launch(
        &program,
        "k",
        1,
        threads,
        &Params::default().u64(input).u64(output),
        &arena,
    )
    .unwrap();
    arena.read_u64s(output, output_words)
}

#[test]
fn narrow_loads_extend_and_narrow_stores_truncate() {
    let input = [0x80, 0xff, 0x7f, 0x81, 0x01, 0x80, 0xff, 0xff];
    let body = "
        ld.global.s8 %d3, [%d1];     st.global.u64 [%d2], %d3;
        ld.global.u8 %d3, [%d1+1];   st.global.u64 [%d2+8], %d3;
        ld.global.s16 %r1, [%d1+2];  cvt.u64.u32 %d3, %r1; st.global.u64 [%d2+16], %d3;
        ld.global.s8 %h1, [%d1];     cvt.u64.u16 %d3, %h1; st.global.u64 [%d2+24], %d3;
        ld.global.s32 %d3, [%d1+4];  st.global.u64 [%d2+32], %d3;
        ld.global.u32 %d3, [%d1+4];  st.global.u64 [%d2+40], %d3;
        mov.u32 %r1, 0x12345678;     st.global.u8 [%d2+48], %r1; st.global.u16 [%d2+50], %r1;
        mov.u64 %d3, 0x1122334455667788; st.global.b32 [%d2+52], %d3;";
    let out = words("", body, 1, &input, 7);
    let expected = [
        -128i64 as u64,
        0xff,
        0xffff_817f,
        0xff80,
        0xffff_ffff_ffff_8001,
        0xffff_8001,
        0x5566_7788_5678_0078,
    ];
    assert_eq!(out, expected);
}

#[test]
fn vectors_of_two_and_four() {
    let input: Vec<u8> = (0..64).collect();
    let body = "
        ld.global.v4.u8 {%r1, %r2, %r3, %r4}, [%d1+4];
        st.global.v4.u32 [%d2], {%r4, %r3, %r2, 7};
        ld.global.v2.b64 {%d3, _}, [%d1+16];
        ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%d1+32];
        st.global.v2.f32 [%d2+16], {%f4, %f1};
        st.global.v2.b64 [%d2+32], {%d3, %d1};
        ld.global.v2.s16 {%h1, %h2}, [%d1+62 - 2];
        st.global.v4.u16 [%d2+24], {%h2, %h1, 1, 2};";
    let program = program(&kernel("", body));
    let arena = Arena::new();
    let (input, output) = (arena.place(&input), arena.place(&[0; 48]));
    launch(
        &program,
        "k",
        1,
        1,
        &Params::default().u64(input).u64(output),
        &arena,
    )
    .unwrap();
    let out = arena.read(output, 48);
    assert_eq!(out[..16], [7, 0, 0, 0, 6, 0, 0, 0, 5, 0, 0, 0, 7, 0, 0, 0]);
    assert_eq!(out[16..24], [44, 45, 46, 47, 32, 33, 34, 35]);
    assert_eq!(out[24..32], [62, 63, 60, 61, 1, 0, 2, 0]);
    assert_eq!(out[32..40], [16, 17, 18, 19, 20, 21, 22, 23]);
    assert_eq!(out[40..48], input.to_le_bytes());
}

#[test]
fn generic_addresses_reach_every_space() {
    // Lanes of one instruction go to shared, local and global memory.
    let declarations = ".shared .align 8 .b8 s[16];";
    let body = "
        .local .align 8 .b8 l[16];
        mov.u64 %d3, s; cvta.shared.u64 %d3, %d3;
        mov.u64 %d4, l; cvta.local.u64 %d4, %d4;
        setp.eq.u32 %p1, %t, 0; setp.eq.u32 %p2, %t, 1;
        cvta.global.u64 %d5, %d1;
        selp.b64 %d5, %d4, %d5, %p2; selp.b64 %d5, %d3, %d5, %p1;
        add.u32 %r1, %t, 100; st.u32 [%d5+4], %r1;
        ld.u32 %r2, [%d5+4];
        ld.shared.u32 %r3, [s+4]; ld.local.u32 %r4, [l+4];
        mul.wide.u32 %d6, %t, 32; add.u64 %d6, %d6, %d2;
        st.global.v4.u32 [%d6], {%r2, %r3, %r4, %t};
        isspacep.shared %p3, %d5; isspacep.local %p4, %d5; isspacep.global %p5, %d5;
        selp.u32 %r5, 1, 0, %p3; selp.u32 %r6, 1, 0, %p4; selp.u32 %r7, 1, 0, %p5;
        cvta.to.shared.u64 %d7, %d3; cvt.u32.u64 %r8, %d7;
        st.global.v4.u32 [%d6+16], {%r5, %r6, %r7, %r8};";
    let program = program(&kernel(declarations, body));
    let arena = Arena::new();
    let (input, output) = (arena.place(&[0; 16]), arena.place(&[0; 96]));
    launch(
        &program,
        "k",
        1,
        3,
        &Params::default().u64(input).u64(output),
        &arena,
    )
    .unwrap();
    let out = arena.read_u32s(output, 24);
    assert_eq!(out[..8], [100, 100, 0, 0, 1, 0, 0, 0]);
    assert_eq!(out[8..16], [101, 100, 101, 1, 0, 1, 0, 0]);
    assert_eq!(out[16..], [102, 100, 0, 2, 0, 0, 1, 0]);
    assert_eq!(arena.read_u32s(input, 2), [0, 102]);
}

#[test]
fn addresses_in_32_bit_registers() {
    let body = "
        .shared .align 4 .b8 s[512];
        mov.u32 %r1, s; mad.lo.u32 %r1, %t, 4, %r1; st.shared.u32 [%r1], %t;
        bar.sync 0;
        ld.shared.u32 %r2, [%r1+-4 + 8];
        mul.wide.u32 %d3, %t, 8; add.u64 %d3, %d3, %d2; st.global.u32 [%d3], %r2;";
    let out = words("", body, 64, &[0], 64);
    let expected: Vec<u64> = (1..64).chain([0]).collect();
    assert_eq!(out, expected);
}

#[test]
fn kernel_parameters_by_address() {
    let body = "
        mov.b64 %d3, q; ld.param.u64 %d4, [%d3];
        mov.b64 %d5, p; cvta.param.u64 %d5, %d5; ld.u64 %d6, [%d5];
        st.global.u64 [%d2], %d4; st.global.u64 [%d2+8], %d6;";
    let program = program(&kernel("", body));
    let arena = Arena::new();
    let (input, output) = (arena.place(&[0]), arena.place(&[0; 16]));
    launch(
        &program,
        "k",
        1,
        1,
        &Params::default().u64(input).u64(output),
        &arena,
    )
    .unwrap();
    assert_eq!(arena.read_u64s(output, 2), [output, input]);
}

#[test]
fn atomics_in_global_and_shared_memory() {
    let body = "
        .shared .align 8 .b8 s[16];
        setp.eq.u32 %p1, %t, 0;
        mov.u64 %d9, 0; @%p1 st.shared.u64 [s], %d9; @%p1 st.shared.u64 [s+8], %d9;
        bar.sync 0;
        atom.shared.add.u32 %r1, [s], 3;
        atom.shared.inc.u32 %r2, [s+4], 6;
        red.shared.add.f32 [s+8], 0f3F000000;
        red.global.add.u64 [%d2], 5;
        cvt.u64.u32 %d3, %t; add.u64 %d3, %d3, 1;
        red.global.max.u64 [%d2+8], %d3;
        red.relaxed.gpu.global.or.b32 [%d2+16], %t;
        sub.s32 %r3, 5, %t; red.global.min.s32 [%d2+20], %r3;
        atom.global.add.f64 %g1, [%d2+24], 0d3FE0000000000000;
        atom.global.dec.u32 %r4, [%d2+32], 9;
        red.global.xor.b32 [%d2+36], %t;
        bar.sync 0;
        ld.shared.u64 %d4, [s]; st.global.u64 [%d2+40], %d4;
        ld.shared.u32 %r5, [s+8]; st.global.u32 [%d2+48], %r5;
        atom.global.exch.b32 %r6, [%d2+52], %t;
        atom.global.cas.b64 %d5, [%d2+56], 0, %d3;";
    let out = words("", body, 64, &[0], 8);
    assert_eq!(out[0], 5 * 64);
    assert_eq!(out[1], 64);
    assert_eq!(out[2] as u32, 63);
    assert_eq!((out[2] >> 32) as i32, 5 - 63);
    assert_eq!(f64::from_bits(out[3]), 32.0);
    let mut dec = 0;
    (0..64).for_each(|_| dec = if dec == 0 || dec > 9 { 9 } else { dec - 1 });
    assert_eq!(out[4], dec | (0..64).fold(0, |x, t| x ^ t) << 32);
    assert_eq!(out[5], (3 * 64) | ((64 % 7) << 32));
    assert_eq!(f32::from_bits(out[6] as u32), 32.0);
    assert_eq!(out[6] >> 32, 63, "the last lane exchanges last");
    assert_eq!(out[7], 1, "only the first lane finds what it compares with");
}

#[test]
fn atomics_return_the_old_value() {
    let body = "
        atom.global.add.u32 %r1, [%d2], 1;
        mul.wide.u32 %d3, %r1, 8; add.u64 %d3, %d3, %d2; cvt.u64.u32 %d4, %t; add.u64 %d4, %d4, 1000;
        st.global.u64 [%d3+8], %d4;";
    let out = words("", body, 100, &[0], 101);
    assert_eq!(out[0], 100);
    let mut threads = out[1..].to_vec();
    threads.sort_unstable();
    assert_eq!(threads, (1000..1100).collect::<Vec<u64>>());
}

#[test]
fn shared_variables_are_laid_out_per_kernel() {
    let text = ".version 8.0\n.target sm_90\n.address_size 64
        .shared .align 4 .b8 small[4];
        .shared .align 16 .b8 large[1024];
        .extern .shared .align 16 .b8 dynamic[];
        .visible .entry none() { ret; }
        .visible .entry one() { .reg .b32 %r; .shared .b8 own[3]; ld.shared.u8 %r, [own]; ld.shared.u32 %r, [small]; ret; }
        .visible .entry all(.param .u64 out) { .reg .b32 %r<9>; .reg .b64 %d;
            mov.u32 %r1, small; mov.u32 %r2, large; mov.u32 %r3, dynamic; mov.u32 %r4, %dynamic_smem_size;
            ld.param.u64 %d, [out]; st.global.v4.u32 [%d], {%r1, %r2, %r3, %r4}; ret; }";
    let program = program(text);
    let bytes = |name: &str| program.kernel(name).unwrap().static_shared_bytes();
    assert_eq!((bytes("none"), bytes("one"), bytes("all")), (0, 8, 1040));
    let arena = Arena::new();
    let out = arena.place(&[0; 16]);
    let params = out.to_le_bytes();
    let mut launch = Launch::new([1; 3], [1; 3], &params);
    launch.dynamic_shared = 48;
    run(program.kernel("all").unwrap(), &program, &launch, &arena).unwrap();
    assert_eq!(arena.read_u32s(out, 4), [0, 16, 1040, 48]);
}

#[test]
fn variables_that_cannot_be_placed_are_reported() {
    for (declaration, expected) in [
        (
            ".global .b8 v[2] = {0xFF(other), 0xFF00(other)}; .global .u32 other;",
            "single bytes of an address",
        ),
        (".extern .global .u32 v;", "defined in another module"),
        (
            ".global .u64 v = f; .entry f() { ret; }",
            "the address of `f`, which is neither",
        ),
        (".global .texref v;", "texture"),
        (".global .b8 v[99999999999];", "larger than"),
    ] {
        let program = program(&kernel(declaration, "mov.u64 %d3, v;"));
        let unsupported = program.kernel("k").unwrap().unsupported().unwrap();
        assert!(
            unsupported.why.contains(expected),
            "{declaration}: {unsupported}"
        );
        // Kernels that do not name it can run.
        let program = support::program(&kernel(declaration, ""));
        assert_eq!(
            program.kernel("k").unwrap().unsupported(),
            None,
            "{declaration}"
        );
    }
}
