//! Comparison and selection.

use super::{Form, INTEGERS};

pub(super) fn comparisons(forms: &mut Vec<Form>) {
    let signed = ["eq", "ne", "lt", "le", "gt", "ge"];
    let float = [
        "eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan",
    ];
    let mut kinds: Vec<(&str, &str, Vec<&str>)> = Vec::new();
    for ty in INTEGERS {
        let mut operators = signed.to_vec();
        if ty.starts_with('u') {
            operators.extend(["lo", "ls", "hi", "hs"]);
        }
        kinds.push(("", ty, operators));
    }
    for ty in ["b16", "b32", "b64"] {
        kinds.push(("", ty, vec!["eq", "ne"]));
    }
    kinds.extend([
        ("", "f32", float.to_vec()),
        (".ftz", "f32", float.to_vec()),
        ("", "f64", float.to_vec()),
        ("", "f16", float.to_vec()),
        (".ftz", "f16", float.to_vec()),
    ]);
    for (flush, ty, operators) in kinds {
        for operator in operators {
            let mut form = Form::new(&format!("setp.{operator}{flush}.{ty}"), "pred", &[ty, ty]);
            form.pair = ty != "f16";
            forms.push(form);
            if ty == "f16" {
                continue;
            }
            forms.push(Form::new(
                &format!("set.{operator}{flush}.u32.{ty}"),
                "u32",
                &[ty, ty],
            ));
        }
        for combine in ["and", "or", "xor"] {
            let mut form = Form::new(
                &format!("setp.ne.{combine}{flush}.{ty}"),
                "pred",
                &[ty, ty, "pred"],
            );
            form.pair = ty != "f16";
            forms.push(form);
            if ty == "f16" {
                continue;
            }
            forms.push(Form::new(
                &format!("set.eq.{combine}{flush}.f32.{ty}"),
                "f32",
                &[ty, ty, "pred"],
            ));
        }
    }
    for ty in [
        "b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64",
    ] {
        forms.push(Form::new(&format!("selp.{ty}"), ty, &[ty, ty, "pred"]));
        forms.push(Form::new(&format!("slct.{ty}.s32"), ty, &[ty, ty, "s32"]));
        forms.push(Form::new(&format!("slct.{ty}.f32"), ty, &[ty, ty, "f32"]));
    }
    for question in [
        "finite",
        "infinite",
        "number",
        "notanumber",
        "normal",
        "subnormal",
    ] {
        for ty in ["f32", "f64"] {
            forms.push(Form::new(&format!("testp.{question}.{ty}"), "pred", &[ty]));
        }
    }
}
