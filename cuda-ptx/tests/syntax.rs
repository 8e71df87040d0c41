//! What the parser makes of each construct.

use cuda_ptx::{FunctionKind, Instruction, Linkage, Module, Operand, Pointer, Space, Statement};

fn with_body(body: &str) -> String {
    format!(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{{\n{body}\n}}\n")
}

/// The instructions of a body.
fn instructions<T>(body: &str, look: impl FnOnce(&[&Instruction<'_>]) -> T) -> T {
    let text = with_body(body);
    let module = Module::parse(&text).unwrap();
    let statements = module.entry("k").unwrap().body.as_ref().unwrap();
    let found: Vec<&Instruction<'_>> = statements
        .iter()
        .filter_map(|statement| match statement {
            Statement::Instruction(instruction) => Some(instruction),
            _ => None,
        })
        .collect();
    look(&found)
}

fn operands(instruction: &str) -> String {
    instructions(instruction, |found| format!("{:?}", found[0].operands))
}

#[test]
fn the_header() {
    let module =
        Module::parse("// first\n.version 7.8 .target sm_52, texmode_independent .address_size 64")
            .unwrap();
    assert_eq!(module.version(), (7, 8));
    assert_eq!(module.target(), "sm_52");
    assert_eq!(module.targets(), ["sm_52", "texmode_independent"]);
    assert_eq!(module.address_size(), 64);
}

#[test]
fn a_nul_ends_the_text() {
    assert!(Module::parse(".version 7.0 .target sm_52\0 this is not PTX").is_ok());
}

#[test]
fn parameters_lie_as_in_the_buffer() {
    let text = ".version 7.0 .target sm_52 .address_size 64
        .visible .entry k(.param .u8 a, .param .u16 b, .param .u64 .ptr .global .align 16 c, .param .u8 d,
            .param .align 16 .b8 e[20], .param .f64 f, .param .v2 .f32 g, .param .u64 .ptr .align 4 h)
        .maxntid 256, 2 .minnctapersm 3 { ret; }
        .entry plain .reqntid 32 ;";
    let module = Module::parse(text).unwrap();
    let k = module.entry("k").unwrap();
    let places: Vec<_> = k
        .params
        .iter()
        .map(|param| (param.name, param.offset, param.size, param.align, param.len))
        .collect();
    let expected = [
        ("a", 0, 1, 1, None),
        ("b", 2, 2, 2, None),
        ("c", 8, 8, 8, None),
        ("d", 16, 1, 1, None),
        ("e", 32, 20, 16, Some(20)),
        ("f", 56, 8, 8, None),
        ("g", 64, 8, 8, None),
        ("h", 72, 8, 8, None),
    ];
    assert_eq!(places, expected);
    assert_eq!(k.params_size(), 80);
    assert_eq!(
        k.params[2].pointer,
        Some(Pointer {
            space: Some(Space::Global),
            align: Some(16)
        })
    );
    assert_eq!(
        k.params[7].pointer,
        Some(Pointer {
            space: None,
            align: Some(4)
        })
    );
    assert_eq!(k.tuning.max_ntid, Some([256, 2, 1]));
    assert_eq!(k.tuning.min_nctapersm, Some(3));
    assert_eq!(k.linkage, Linkage::Visible);
    let plain = module.entry("plain").unwrap();
    assert_eq!(plain.tuning.req_ntid, Some([32, 1, 1]));
    assert!(plain.body.is_none());
}

#[test]
fn device_functions() {
    let text = ".version 7.0 .target sm_52 .address_size 64
        .func (.param .b32 result) f (.param .b64 a, .reg .b32 %b) { ret; }
        .extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v);
        .func .noreturn g () { exit; }
        .weak .func h { ret; }";
    let module = Module::parse(text).unwrap();
    let [f, vprintf, g, h] = module.functions() else {
        panic!("four functions")
    };
    assert!(
        module
            .functions()
            .iter()
            .all(|function| function.kind == FunctionKind::Device)
    );
    assert_eq!((f.returns.len(), f.params.len()), (1, 2));
    assert_eq!(f.params[1].space, Space::Register);
    assert!(vprintf.body.is_none() && vprintf.linkage == Linkage::Extern);
    assert_eq!(g.name, "g");
    assert_eq!((h.name, h.linkage), ("h", Linkage::Weak));
}

#[test]
fn instructions_keep_what_is_written() {
    let body =
        "@%p1 bra L;\n  L: @!%p2 ld.global.L2::128B.v4.f32 {%f1, _, %f3, %f4}, [%rd1+-16];\nret;";
    instructions(body, |found| {
        assert_eq!(found[0].guard.unwrap().register, "%p1");
        assert!(found[1].guard.unwrap().negated);
        assert_eq!(found[1].mnemonic, "ld.global.L2::128B.v4.f32");
        assert_eq!(found[1].opcode(), "ld");
        assert_eq!(
            found[1].modifiers().collect::<Vec<_>>(),
            ["global", "L2::128B", "v4", "f32"]
        );
        assert_eq!(
            found[1].text,
            "@!%p2 ld.global.L2::128B.v4.f32 {%f1, _, %f3, %f4}, [%rd1+-16]"
        );
        assert_eq!((found[1].position.line, found[1].position.column), (7, 6));
        let vector = [
            Operand::Name("%f1"),
            Operand::Sink,
            Operand::Name("%f3"),
            Operand::Name("%f4"),
        ];
        assert_eq!(found[1].operands[0], Operand::Vector(Box::new(vector)));
        assert_eq!(
            found[1].operands[1],
            Operand::Address {
                base: Some("%rd1"),
                offset: -16
            }
        );
        assert_eq!(found[2].operands.len(), 0);
    });
}

#[test]
fn operands_of_every_kind() {
    for (text, expected) in [
        ("mov.u32 %r1, %tid.x;", r#"[Name("%r1"), Name("%tid.x")]"#),
        (
            "mov.u64 %rd1, table+8;",
            r#"[Name("%rd1"), Offset("table", 8)]"#,
        ),
        (
            "ld.global.u32 %r1, table[1+2];",
            r#"[Name("%r1"), Element("table", 3)]"#,
        ),
        (
            "mov.f32 %f1, 0f3F800000;",
            r#"[Name("%f1"), Float32(1065353216)]"#,
        ),
        (
            "mov.f32 %f1, -0f3F800000;",
            r#"[Name("%f1"), Float32(3212836864)]"#,
        ),
        (
            "mov.f64 %f1, 0d3FF0000000000000;",
            r#"[Name("%f1"), Float64(4607182418800017408)]"#,
        ),
        (
            "mov.f64 %f1, 1.5e1;",
            r#"[Name("%f1"), Float64(4624633867356078080)]"#,
        ),
        (
            "mov.b32 %r1, 0xFFFFFFFF;",
            r#"[Name("%r1"), Integer(4294967295)]"#,
        ),
        (
            "mov.b64 %r1, 0xFFFFFFFFFFFFFFFFU;",
            r#"[Name("%r1"), Integer(-1)]"#,
        ),
        ("mov.u32 %r1, 017;", r#"[Name("%r1"), Integer(15)]"#),
        ("mov.u32 %r1, 0b101;", r#"[Name("%r1"), Integer(5)]"#),
        (
            "mov.u32 %r1, -(3+4)*2<<1;",
            r#"[Name("%r1"), Integer(-28)]"#,
        ),
        (
            "mov.u32 %r1, 7 > 3 ? 10 | 5 : 2;",
            r#"[Name("%r1"), Integer(15)]"#,
        ),
        (
            "mov.u64 %r1, (.u64) -1 / 2;",
            r#"[Name("%r1"), Integer(9223372036854775807)]"#,
        ),
        ("mov.u32 %r1, !0 + ~0;", r#"[Name("%r1"), Integer(0)]"#),
        (
            "st.shared.u32 [16], %r1;",
            r#"[Address { base: None, offset: 16 }, Name("%r1")]"#,
        ),
        (
            "st.shared.u32 [a+4*2], %r1;",
            r#"[Address { base: Some("a"), offset: 8 }, Name("%r1")]"#,
        ),
        (
            "setp.lt.and.s32 %p|%q, %a, %b, !%c;",
            r#"[Pair("%p", "%q"), Name("%a"), Name("%b"), Not("%c")]"#,
        ),
        (
            "vadd.s32.u32.s32 %r1, %r2.b0, -%r3.h1;",
            r#"[Name("%r1"), Name("%r2.b0"), Negated("%r3.h1")]"#,
        ),
        (
            "call.uni (%r1), f, (%r2, 5);",
            r#"[List([Name("%r1")]), Name("f"), List([Name("%r2"), Integer(5)])]"#,
        ),
        ("call f;", r#"[Name("f")]"#),
        (
            "tex.2d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [tex, {%r1,%r2}];",
            r#"[Vector([Name("%f1"), Name("%f2"), Name("%f3"), Name("%f4")]), Brackets([Name("tex"), Vector([Name("%r1"), Name("%r2")])])]"#,
        ),
        (
            "shfl.sync.idx.b32 %r1|_, %r2, %r3, 31, -1;",
            r#"[Pair("%r1", "_"), Name("%r2"), Name("%r3"), Integer(31), Integer(-1)]"#,
        ),
    ] {
        assert_eq!(operands(text), expected, "{text}");
    }
}

#[test]
fn directives_inside_bodies() {
    let body = ".reg .b32 %r<5>, %x;\n.shared .align 16 .b8 s[64];\n.loc 1 2 3\n{ .param .b64 p; }\n.pragma \"nounroll\";
        t: .branchtargets A, B;\nproto: .callprototype (.param .b32 _) _ (.param .b64 _);\nA: B: ret;";
    let text = with_body(body);
    let module = Module::parse(&text).unwrap();
    let statements = module.entry("k").unwrap().body.as_ref().unwrap();
    let shown: Vec<String> = statements
        .iter()
        .map(|statement| match statement {
            Statement::Variable(variable) => format!(
                "{} {:?} {:?}",
                variable.name, variable.count, variable.extents
            ),
            Statement::Directive(directive) => {
                format!("{} {}", directive.name, directive.arguments.len())
            }
            Statement::Prototype(prototype) => format!(
                "prototype {} {}",
                prototype.returns.len(),
                prototype.params.len()
            ),
            Statement::Label(label, _) => format!("{label}:"),
            Statement::BlockStart(_) => String::from("{"),
            Statement::BlockEnd(_) => String::from("}"),
            Statement::Instruction(instruction) => instruction.mnemonic.to_owned(),
        })
        .collect();
    let expected = [
        "%r Some(5) []",
        "%x None []",
        "s None [64]",
        ".loc 0",
        "{",
        "p None []",
        "}",
        ".pragma 1",
        "t:",
        ".branchtargets 2",
        "proto:",
        "prototype 1 1",
        "A:",
        "B:",
        "ret",
    ];
    assert_eq!(shown, expected);
}

#[test]
fn whatever_compilers_add_is_kept() {
    let text = ".version 7.0\n.target sm_52, debug\n.address_size 64\n.file 1 \"a.cu\", 12345, 99\n.weak .global .u32 w;
        .section .debug_str { info: .b8 0 /* } */ }\n.pragma \"nounroll\";\n.alias f, g;\n#line 3\n";
    let text = text.replace("        .section", ".section");
    let module = Module::parse(&text).unwrap();
    let names: Vec<&str> = module
        .directives()
        .iter()
        .map(|directive| directive.name)
        .collect();
    assert_eq!(
        names,
        [
            ".version",
            ".target",
            ".address_size",
            ".file",
            ".section",
            ".pragma",
            ".alias"
        ]
    );
    assert_eq!(module.directives()[3].text, ".file 1 \"a.cu\", 12345, 99");
}

#[test]
fn signatures_are_the_same_without_bodies() {
    let text = ".version 7.0 .target sm_52 .address_size 64
        .visible .entry a(.param .u32 x) { .pragma \"}\"; { // }\n ret; } }
        .func b() { ret; } .entry c(.param .u64 y) { }";
    let (full, quick) = (
        Module::parse(text).unwrap(),
        Module::parse_signatures(text).unwrap(),
    );
    assert_eq!(full.functions().len(), 3);
    for (full, quick) in full.functions().iter().zip(quick.functions()) {
        assert_eq!((full.name, &full.params), (quick.name, &quick.params));
        assert!(full.body.is_some() && quick.body.is_none());
    }
}
