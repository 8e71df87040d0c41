//! Elements of kernels that are vouched for.

use super::*;

/// Of elements that are declared as bytes, or as what the kernel takes them for, lengths would count something else than those of C++.
#[test]
fn elements_of_safe_kernels_are_known() {
    let ptx = ".version 7.0 .target sm_52 .address_size 64
        .visible .entry _Z5halvePN2ns4PairEj(.param .u64 p, .param .u32 n) { ret; }
        .visible .entry plain(.param .u64 p) { .reg .b64 %rd<2>; .reg .f32 %f<2>;
            ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd1, %rd1; ld.global.f32 %f1, [%rd1]; ret; }";
    let interface = Interface::read(ptx, "test").unwrap();
    let of = |kernel: Kernel, types: &TypeNames| {
        let declaration = Declaration {
            name: "a_test",
            type_name: None,
            source: "a_test.cu",
            image: "ptx \"a_test.ptx\"",
            interface: &interface,
            kernels: &[kernel],
            types,
        };
        declaration.text()
    };
    let halve = || {
        Kernel::new("halve")
            .value("p1", "len(p0)")
            .vouch("for_len(p0)")
    };
    let error = of(halve(), &types()).unwrap_err().to_string();
    assert!(
        error.contains("the elements behind `p0` are not known in Rust: as `u8`"),
        "{error}"
    );
    assert!(error.contains("elements.rs:"), "{error}");
    let mut named = types();
    named.add("Pair", "crate::Pair");
    assert!(of(halve(), &named).is_ok());
    assert!(of(halve().ty("p0", "[f32; 2]"), &types()).is_ok());
    let plain = || Kernel::new("plain").vouch("for_len(p0)");
    let error = of(plain(), &types()).unwrap_err().to_string();
    assert!(
        error.contains("as `f32`, lengths would not count them"),
        "{error}"
    );
    assert!(of(plain().ty("p0", "f32"), &types()).is_ok());
    // Who calls an unsafe one promises more.
    assert!(of(Kernel::new("plain").launch("for_len(p0)"), &types()).is_ok());
}
