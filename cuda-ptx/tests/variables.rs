//! Variables and their initial values.

use cuda_ptx::{Initial, Linkage, Module, ScalarType, Space};

#[test]
fn variables_and_initial_values() {
    let text = r#".version 7.0 .target sm_52 .address_size 64
        .visible .global .align 8 .b8 table[2][3] = {{1, 2}, {-3, 0x4}};
        .const .f32 x = 0f3F800000, y = 2.5;
        .global .u64 pointers[] = {table, table+8, generic(table)+4, 0};
        .global .b8 masked[2] = {0xFF(table), 0xFF00(table)};
        .extern .shared .align 16 .b8 dynamic[];
        .global .v4 .f32 v;
        .global .attribute(.managed) .s32 m;
        .global .texref t;
        .global .samplerref s = { addr_mode_0 = clamp_to_border, filter_mode = linear };
        .global .b8 text[6] = "hello";"#;
    let module = Module::parse(text).unwrap();
    let find = |name: &str| {
        module
            .variables()
            .iter()
            .find(|variable| variable.name == name)
            .unwrap()
    };
    let table = find("table");
    assert_eq!(
        (table.size(), table.align(), table.linkage),
        (Some(6), 8, Linkage::Visible)
    );
    let parts = table.initial.as_ref().unwrap();
    assert_eq!(
        parts.iter().filter(|part| **part == Initial::Open).count(),
        3
    );
    assert_eq!(parts[2], Initial::Integer(1));
    assert_eq!(
        find("x").initial.as_deref(),
        Some(&[Initial::Float32(0x3f80_0000)][..])
    );
    assert_eq!(
        find("y").initial.as_deref(),
        Some(&[Initial::Float64(2.5f64.to_bits())][..])
    );
    let pointers = find("pointers");
    assert_eq!(pointers.size(), Some(32));
    let address = Initial::Address {
        name: "table",
        offset: 4,
        generic: true,
        mask: None,
    };
    assert_eq!(pointers.initial.as_ref().unwrap()[3], address);
    let masked = Initial::Address {
        name: "table",
        offset: 0,
        generic: false,
        mask: Some(0xff00),
    };
    assert_eq!(find("masked").initial.as_ref().unwrap()[2], masked);
    let dynamic = find("dynamic");
    assert_eq!(
        (
            dynamic.space,
            dynamic.linkage,
            dynamic.size(),
            dynamic.align()
        ),
        (Space::Shared, Linkage::Extern, Some(0), 16)
    );
    assert_eq!((find("v").size(), find("v").align()), (Some(16), 16));
    assert!(find("m").managed);
    assert_eq!(find("t").ty, ScalarType::TexRef);
    assert_eq!(
        find("s").initial.as_ref().unwrap()[2],
        Initial::Field("filter_mode", "linear")
    );
    assert_eq!(
        find("text").initial.as_deref(),
        Some(&[Initial::Text("hello")][..])
    );
}
