//! Types of parameters, from PTX and from mangled names.

use cuda_ptx::{CScalar, CType, KernelName, Module, Signature};

fn signature(entry: &str) -> Signature {
    let text =
        format!(".version 7.0 .target sm_52 .address_size 64\n.visible .entry {entry} {{ ret; }}");
    let module = Module::parse_signatures(&text).expect("parses");
    Signature::of(module.entries().next().expect("one kernel"))
}

fn types(symbol: &str) -> Vec<String> {
    let types = KernelName::of(symbol).parameters.expect("types");
    types.iter().map(ToString::to_string).collect()
}

#[test]
fn pointers_and_numbers() {
    let signature = signature(
        "_Z10vector_addPKfS0_Pfj(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)",
    );
    assert_eq!(signature.name.to_string(), "vector_add");
    let float = || Box::new(CType::Scalar(CScalar::Float));
    let pointer = |is_const| CType::Pointer {
        to: float(),
        is_const,
    };
    let found: Vec<_> = signature
        .parameters
        .iter()
        .map(|it| (it.offset, it.size, it.ty.clone()))
        .collect();
    let number = CType::Scalar(CScalar::UnsignedInt);
    assert_eq!(
        found,
        [
            (0, 8, pointer(true)),
            (8, 8, pointer(true)),
            (16, 8, pointer(false)),
            (24, 4, number)
        ]
    );
}

#[test]
fn every_fundamental_type() {
    assert_eq!(
        types("_Z4intsbcahstijlmxyfdnowDsDiPv"),
        [
            "bool",
            "char",
            "signed char",
            "unsigned char",
            "short",
            "unsigned short",
            "int",
            "unsigned int",
            "long",
            "unsigned long",
            "long long",
            "unsigned long long",
            "float",
            "double",
            "__int128",
            "unsigned __int128",
            "wchar_t",
            "char16_t",
            "char32_t",
            "void *"
        ]
    );
    for scalar in CScalar::ALL {
        assert_eq!(CScalar::from_name(scalar.name()), Some(*scalar));
    }
}

#[test]
fn halves_and_vectors() {
    assert_eq!(
        types("_Z5halfs6__half13__nv_bfloat167__half2PS_PKS0_P13__nv_fp8_e4m3"),
        [
            "__half",
            "__nv_bfloat16",
            "__half2",
            "__half *",
            "const __nv_bfloat16 *",
            "__nv_fp8_e4m3 *"
        ]
    );
    assert_eq!(
        types("_Z4vecs6float4PKS_P4int26uchar44dim3"),
        ["float4", "const float4 *", "int2 *", "uchar4", "dim3"]
    );
    let vector = CType::Vector {
        of: CScalar::Float,
        lanes: 4,
    };
    assert_eq!(
        KernelName::of("_Z4vecs6float4").parameters,
        Some(vec![vector])
    );
}

#[test]
fn pointers_of_every_kind() {
    assert_eq!(
        types("_Z4ptrsPPfPKPKfPKS_PViPA4_iPFviEPKcPrS_"),
        [
            "float **",
            "const float *const *",
            "float *const *",
            "int *",
            "? *",
            "? *",
            "const char *",
            "float **"
        ]
    );
    assert_eq!(types("_Z3extRK1PPi"), ["const P *", "int *"]);
}

#[test]
fn names_in_namespaces_and_of_templates() {
    let cases = [
        (
            "_ZN2ns1kENS_1QEPS0_PKS0_",
            "ns::k",
            "k",
            &["ns::Q", "ns::Q *", "const ns::Q *"][..],
        ),
        (
            "_ZN36_GLOBAL__N__08dc8661_4_t_cu_f4620fc25anon2ENS_1HEPi",
            "(anonymous namespace)::anon2",
            "anon2",
            &["(anonymous namespace)::H", "int *"],
        ),
        (
            "_Z5scaleIfLi4EEvPT_S0_i",
            "scale<float, 4>",
            "scale",
            &["float *", "float", "int"],
        ),
        (
            "_Z5scaleIdLin1EEvPT_S0_i",
            "scale<double, -1>",
            "scale",
            &["double *", "double", "int"],
        ),
        (
            "_Z3depIfEvPN2TrIT_E4typeEPKNS2_2itES2_",
            "dep<float>",
            "dep",
            &["Tr<float>::type *", "const Tr<float>::it *", "Tr<float>"],
        ),
        (
            "_Z4packIJifdEEvPiDpT_",
            "pack<int, float, double>",
            "pack",
            &["int *", "int", "float", "double"],
        ),
        (
            "_Z4valsILb1ELy7ELc120EEvPi",
            "vals<true, 7, 120>",
            "vals",
            &["int *"],
        ),
        (
            "_Z7functorIZ4hostvEUlfE_EvT_Pf",
            "functor<host()::{lambda(float)#1}>",
            "functor",
            &["host()::{lambda(float)#1}", "float *"],
        ),
        ("_Z4donev", "done", "done", &[]),
    ];
    for (symbol, name, unqualified, expected) in cases {
        let read = KernelName::of(symbol);
        assert_eq!(read.to_string(), name);
        assert_eq!(read.unqualified(), unqualified, "{symbol}");
        assert_eq!(types(symbol), expected, "{symbol}");
    }
}

#[test]
fn who_is_meant() {
    let scale = KernelName::of("_ZN2ns5scaleIfLi4EEEvPT_S1_i");
    assert_eq!(scale.to_string(), "ns::scale<float, 4>");
    for wanted in [
        "scale",
        "ns::scale",
        "scale<float,4>",
        "ns::scale< float , 4 >",
        "_ZN2ns5scaleIfLi4EEEvPT_S1_i",
    ] {
        assert!(scale.is_meant_by(wanted), "{wanted}");
    }
    for other in [
        "scal",
        "cale",
        "scale<float>",
        "scale<float, 5>",
        "other::scale",
        "",
        "ns",
        "scale<>",
    ] {
        assert!(!scale.is_meant_by(other), "{other}");
    }
}

#[test]
fn names_that_are_not_mangled_stay() {
    for symbol in [
        "vector_add",
        "",
        "_Z",
        "_Zx",
        "x",
        "f",
        "Pf",
        "_ZTV3foo",
        "_Z\u{fc}v",
    ] {
        let name = KernelName::of(symbol);
        assert!(!name.is_mangled(), "{symbol}");
        assert_eq!(name.qualified, symbol);
        assert_eq!(name.unqualified(), symbol);
    }
}

#[test]
fn ptx_alone_tells_kinds_but_no_signs() {
    let signature = signature(
        "cname(.param .u64 a, .param .u64 .ptr .global .align 16 b, .param .align 4 .b8 p[12], .param .s32 n, .param .f64 d,
               .param .align 2 .b8 h[2], .param .f32 f, .param .b32 x)",
    );
    let found: Vec<String> = signature
        .parameters
        .iter()
        .map(|it| it.ty.to_string())
        .collect();
    assert_eq!(
        found,
        [
            "an integer",
            "? *",
            "a struct",
            "an integer",
            "double",
            "a struct",
            "float",
            "?"
        ]
    );
    assert_eq!(
        signature.parameters[1].pointer.and_then(|it| it.align),
        Some(16)
    );
}

#[test]
fn ptx_holds_where_the_name_contradicts_it() {
    let found = |entry: &str| signature(entry).parameters[0].ty.clone();
    assert_eq!(found("_Z1ki(.param .f32 a)"), CType::Scalar(CScalar::Float));
    assert_eq!(found("_Z1kf(.param .u32 a)"), CType::Integer);
    assert_eq!(found("_Z1kd(.param .f32 a)"), CType::Scalar(CScalar::Float));
    assert_eq!(
        found("_Z1kPf(.param .u32 a, .param .u32 b)"),
        CType::Integer
    );
    assert_eq!(found("_Z1k6float4(.param .align 4 .b8 a[8])"), CType::Bytes);
    // The host's `long` is of 4 or 8 bytes.
    assert_eq!(found("_Z1kl(.param .u32 a)"), CType::Scalar(CScalar::Long));
    assert_eq!(found("_Z1kl(.param .u64 a)"), CType::Scalar(CScalar::Long));
}

#[test]
fn launch_bounds_come_along() {
    let signature = signature("k() .maxntid 256, 2 .reqnctapercluster 4");
    assert_eq!(signature.tuning.max_ntid, Some([256, 2, 1]));
    assert_eq!(signature.tuning.req_nctapercluster, Some([4, 1, 1]));
}

/// Names that make demanglers deep, slow or verbose.
#[test]
fn values_in_template_arguments() {
    let cases = [
        (
            "_Z3runI5StateXadL_Z4stepIS0_EdPT_iEEL4Kind2EEvS2_",
            "run<State, &step<State>(State*, int), 2>",
        ),
        (
            "_Z3runIPKfA4_iFvidEEvT_",
            "run<float const*, int [4], void (int, double)>",
        ),
    ];
    for (symbol, name) in cases {
        assert_eq!(KernelName::of(symbol).to_string(), name);
    }
}

#[test]
fn values_of_the_template_in_types_of_parameters() {
    assert_eq!(
        types("_ZN6Median9RunKernelIfLi1ELi2EEEvP5PixelIT_XT0_EEm4SizeS5_PKS3_m"),
        [
            "Pixel<float, 1> *",
            "unsigned long",
            "Size",
            "Size",
            "const Pixel<float, 1> *",
            "unsigned long"
        ]
    );
}

#[test]
fn variables_have_names_only() {
    let name = KernelName::of("_ZN2ns7counterE");
    assert_eq!(
        (name.to_string().as_str(), name.parameters.as_ref()),
        ("ns::counter", None)
    );
    assert!(name.is_meant_by("counter") && name.is_meant_by("ns::counter"));
}
