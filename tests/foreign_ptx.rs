//! PTX as other compilers than NVIDIA's write it: valid all the same, and executed alike.

use cuda_driver::{ErrorKind, LaunchConfig};

use crate::support::Test;
use crate::support::bench::Bench;

/// A kernel of one thread around `body`, with the address of the result in `%d1`; `outside` stands before it.
fn module(outside: &str, body: &str) -> String {
    format!(
        ".version 7.0\n.target sm_70\n.address_size 64\n{outside}\n.visible .entry foreign(.param .u64 result)\n{{\n\
         .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<20>; .reg .b64 %d<20>; .reg .f32 %f<9>;\n\
         ld.param.u64 %d1, [result];\n{body}\nret;\n}}\n"
    )
}

/// What the kernel writes as its result.
fn words<const N: usize>(
    outside: &str,
    body: &str,
) -> Result<[u64; N], Box<dyn std::error::Error>> {
    let bench = Bench::new();
    let stream = bench.stream();
    let module = bench.context().load_ptx(&module(outside, body))?;
    let foreign = module.function("foreign")?;
    let mut result = stream.zeroed::<u64>(N)?;
    // SAFETY: the kernel writes `N` words of the result.
    unsafe { foreign.launch(&stream, LaunchConfig::new(1, 1), (&mut result,)) }?;
    Ok(result.to_vec()?.try_into().map_err(|_| "as many words")?)
}

#[test]
fn elements_of_arrays_are_named_by_their_index() -> Test {
    let outside = "
        .const .align 8 .u32 table[4] = {10, 20, 30, 40};
        .global .align 16 .v4 .u32 pairs[2] = {{1, 2, 3, 4}, {5, 6, 7, 8}};";
    let body = "
        .shared .align 16 .u32 mine[8]; .local .align 8 .u64 own[3];
        ld.const.u64 %d3, table[2];    st.global.u64 [%d1], %d3;
        ld.global.u32 %r1, pairs[6];   cvt.u64.u32 %d3, %r1; st.global.u64 [%d1+8], %d3;
        mov.u32 %r2, 77;               st.shared.u32 mine[3], %r2;
        ld.shared.u32 %r1, [mine+12];  cvt.u64.u32 %d3, %r1; st.global.u64 [%d1+16], %d3;
        mov.u64 %d3, mine[2 + 1];      mov.u64 %d4, mine; sub.u64 %d3, %d3, %d4; st.global.u64 [%d1+24], %d3;
        mov.u64 %d5, 99;               st.local.u64 own[2], %d5;
        mov.u64 %d3, own[2];           ld.local.u64 %d3, [%d3]; st.global.u64 [%d1+32], %d3;
        cvta.global.u64 %d3, pairs[1]; ld.u32 %r1, [%d3]; cvt.u64.u32 %d3, %r1; st.global.u64 [%d1+40], %d3;";
    assert_eq!(words(outside, body)?, [40 << 32 | 30, 7, 77, 12, 99, 2]);
    Ok(())
}

#[test]
fn only_arrays_have_elements() -> Test {
    let bench = Bench::new();
    let outside = ".global .align 4 .u32 table[4];\n.global .align 4 .u32 single;";
    for body in [
        "mov.u64 %d2, single[0];",
        "ld.global.u32 %r1, single[0];",
        "mov.u64 %d2, %d1[1];",
        "add.u64 %d2, %d1, table[1];",
        "atom.global.add.u32 %r1, table[1], 1;",
        "ld.global.u32 %r1, [table[1]];",
    ] {
        let error = bench
            .context()
            .load_ptx(&module(outside, body))
            .expect_err(body);
        assert_eq!(error.kind(), ErrorKind::InvalidImage, "{body}: {error}");
    }
    Ok(())
}

#[test]
fn a_single_element_can_stand_in_braces() -> Test {
    let body = "
        .shared .align 8 .u64 mine;
        mov.b64 {%d2}, 41; st.shared.b64 [mine], {%d2}; ld.shared.b64 {%d3}, [mine]; add.u64 %d3, %d3, 1;
        st.global.b64 [%d1], { %d3 }; setp.ne.b64 %p1, %d3, 42;
        @%p1 st.global.b32 [%d1+8], { 7 }; @!%p1 st.global.b32 [%d1+8], { 8 };";
    assert_eq!(words("", body)?, [42, 8]);
    Ok(())
}

#[test]
fn vectors_stand_only_where_they_are_asked_for() -> Test {
    let bench = Bench::new();
    for body in [
        "add.u64 {%d2}, %d2, %d3;",
        "ld.global.b32 {_}, [%d1];",
        "ld.global.b32 {%r1, %r2}, [%d1];",
        "atom.global.add.u32 {%r1}, [%d1], %r2;",
    ] {
        let error = bench.context().load_ptx(&module("", body)).expect_err(body);
        assert_eq!(error.kind(), ErrorKind::InvalidImage, "{body}: {error}");
    }
    Ok(())
}
