//! Integer arithmetic, logic and shifts.

use super::{Form, INTEGERS};

pub(super) fn integers(forms: &mut Vec<Form>) {
    for ty in INTEGERS {
        for operation in ["add", "sub", "mul.lo", "mul.hi", "div", "rem", "min", "max"] {
            forms.push(Form::new(&format!("{operation}.{ty}"), ty, &[ty, ty]));
        }
        for operation in ["mad.lo", "mad.hi", "sad"] {
            forms.push(Form::new(&format!("{operation}.{ty}"), ty, &[ty, ty, ty]));
        }
        if ty.starts_with('s') {
            forms.push(Form::new(&format!("abs.{ty}"), ty, &[ty]));
            forms.push(Form::new(&format!("neg.{ty}"), ty, &[ty]));
        }
        if !ty.ends_with("64") {
            let wide = if ty.ends_with("16") { "u32" } else { "u64" };
            forms.push(Form::new(&format!("mul.wide.{ty}"), wide, &[ty, ty]));
            forms.push(Form::new(&format!("mad.wide.{ty}"), wide, &[ty, ty, wide]));
        }
        if ty.ends_with("32") {
            for operation in ["mul24.lo", "mul24.hi"] {
                forms.push(Form::new(&format!("{operation}.{ty}"), ty, &[ty, ty]));
            }
            for operation in ["mad24.lo", "mad24.hi"] {
                forms.push(Form::new(&format!("{operation}.{ty}"), ty, &[ty, ty, ty]));
            }
        }
        if !ty.ends_with("16") {
            forms.push(Form::new(&format!("bfind.{ty}"), "u32", &[ty]));
            forms.push(Form::new(&format!("bfind.shiftamt.{ty}"), "u32", &[ty]));
            forms.push(Form::new(&format!("bfe.{ty}"), ty, &[ty, "u32", "u32"]));
        }
    }
    for ty in ["u32", "s32", "u64", "s64"] {
        for operation in ["add.cc", "addc", "addc.cc", "sub.cc", "subc", "subc.cc"] {
            forms.push(Form::new(&format!("{operation}.{ty}"), ty, &[ty, ty]));
        }
        for operation in [
            "mad.lo.cc",
            "madc.lo",
            "madc.lo.cc",
            "mad.hi.cc",
            "madc.hi",
            "madc.hi.cc",
        ] {
            forms.push(Form::new(&format!("{operation}.{ty}"), ty, &[ty, ty, ty]));
        }
    }
    for types in ["u32.u32", "u32.s32", "s32.u32", "s32.s32"] {
        forms.push(Form::new(
            &format!("dp4a.{types}"),
            "u32",
            &["u32", "u32", "u32"],
        ));
    }
    forms.push(Form::new("add.sat.s32", "s32", &["s32", "s32"]));
    forms.push(Form::new("sub.sat.s32", "s32", &["s32", "s32"]));
    forms.push(Form::new("mad.hi.sat.s32", "s32", &["s32", "s32", "s32"]));
}

pub(super) fn logic(forms: &mut Vec<Form>) {
    for ty in ["b16", "b32", "b64"] {
        for operation in ["and", "or", "xor"] {
            forms.push(Form::new(&format!("{operation}.{ty}"), ty, &[ty, ty]));
        }
        for operation in ["not", "cnot"] {
            forms.push(Form::new(&format!("{operation}.{ty}"), ty, &[ty]));
        }
        forms.push(Form::new(&format!("shl.{ty}"), ty, &[ty, "u32"]));
        forms.push(Form::new(&format!("shr.{ty}"), ty, &[ty, "u32"]));
    }
    for ty in INTEGERS {
        forms.push(Form::new(&format!("shr.{ty}"), ty, &[ty, "u32"]));
    }
    for ty in ["b32", "b64"] {
        forms.push(Form::new(&format!("popc.{ty}"), "u32", &[ty]));
        forms.push(Form::new(&format!("clz.{ty}"), "u32", &[ty]));
        forms.push(Form::new(&format!("brev.{ty}"), ty, &[ty]));
    }
    for mode in ["l.wrap", "l.clamp", "r.wrap", "r.clamp"] {
        forms.push(Form::new(
            &format!("shf.{mode}.b32"),
            "b32",
            &["b32", "b32", "b32"],
        ));
    }
    forms.push(Form::new("prmt.b32", "b32", &["b32", "b32", "b32"]));
    for table in ["0x96", "0xe8", "0x1b", "0x80"] {
        forms.push(Form::new("lop3.b32", "b32", &["b32", "b32", "b32"]).with_tail(table));
    }
    for operation in ["and", "or", "xor"] {
        forms.push(Form::new(
            &format!("{operation}.pred"),
            "pred",
            &["pred", "pred"],
        ));
    }
    forms.push(Form::new("not.pred", "pred", &["pred"]));
    for start in ["4", "30", "31"] {
        for (ty, length) in [("b32", "1"), ("b32", "8"), ("b64", "33"), ("b64", "64")] {
            forms.push(
                Form::new(&format!("bfi.{ty}"), ty, &[ty, ty])
                    .with_tail(&format!("{start}, {length}")),
            );
        }
    }
}
