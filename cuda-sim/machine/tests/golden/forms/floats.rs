//! Floating-point arithmetic.

use super::Form;

pub(super) fn floats(forms: &mut Vec<Form>) {
    for rounding in ["", ".rn", ".rz", ".rm", ".rp"] {
        for modifiers in ["", ".ftz", ".sat", ".ftz.sat"] {
            for operation in ["add", "sub", "mul"] {
                forms.push(Form::new(
                    &format!("{operation}{rounding}{modifiers}.f32"),
                    "f32",
                    &["f32", "f32"],
                ));
            }
            if !rounding.is_empty() {
                forms.push(Form::new(
                    &format!("fma{rounding}{modifiers}.f32"),
                    "f32",
                    &["f32", "f32", "f32"],
                ));
                forms.push(Form::new(
                    &format!("mad{rounding}{modifiers}.f32"),
                    "f32",
                    &["f32", "f32", "f32"],
                ));
            }
            if !rounding.is_empty() && !modifiers.contains("sat") {
                forms.push(Form::new(
                    &format!("div{rounding}{modifiers}.f32"),
                    "f32",
                    &["f32", "f32"],
                ));
                forms.push(Form::new(
                    &format!("rcp{rounding}{modifiers}.f32"),
                    "f32",
                    &["f32"],
                ));
                forms.push(Form::new(
                    &format!("sqrt{rounding}{modifiers}.f32"),
                    "f32",
                    &["f32"],
                ));
            }
        }
        for operation in ["add", "sub", "mul"] {
            forms.push(Form::new(
                &format!("{operation}{rounding}.f64"),
                "f64",
                &["f64", "f64"],
            ));
        }
        if !rounding.is_empty() {
            forms.push(Form::new(
                &format!("fma{rounding}.f64"),
                "f64",
                &["f64", "f64", "f64"],
            ));
            forms.push(Form::new(
                &format!("mad{rounding}.f64"),
                "f64",
                &["f64", "f64", "f64"],
            ));
            forms.push(Form::new(
                &format!("div{rounding}.f64"),
                "f64",
                &["f64", "f64"],
            ));
            forms.push(Form::new(&format!("rcp{rounding}.f64"), "f64", &["f64"]));
            forms.push(Form::new(&format!("sqrt{rounding}.f64"), "f64", &["f64"]));
        }
    }
    for modifiers in ["", ".ftz"] {
        for operation in ["abs", "neg"] {
            forms.push(Form::new(
                &format!("{operation}{modifiers}.f32"),
                "f32",
                &["f32"],
            ));
        }
        for operation in ["min", "max"] {
            forms.push(Form::new(
                &format!("{operation}{modifiers}.f32"),
                "f32",
                &["f32", "f32"],
            ));
        }
    }
    for operation in ["min", "max"] {
        forms.push(Form::new(
            &format!("{operation}.NaN.f32"),
            "f32",
            &["f32", "f32"],
        ));
        forms.push(Form::new(
            &format!("{operation}.f64"),
            "f64",
            &["f64", "f64"],
        ));
    }
    for ty in ["f32", "f64"] {
        forms.push(Form::new(&format!("copysign.{ty}"), ty, &[ty, ty]));
    }
    for operation in ["abs", "neg"] {
        forms.push(Form::new(&format!("{operation}.f64"), "f64", &["f64"]));
    }
}

/// Half precision.
pub(super) fn halves(forms: &mut Vec<Form>) {
    for ty in ["f16", "f16x2"] {
        for modifiers in ["", ".ftz"] {
            for operation in ["min", "max"] {
                forms.push(Form::new(
                    &format!("{operation}{modifiers}.{ty}"),
                    ty,
                    &[ty, ty],
                ));
            }
            for operation in ["neg", "abs"] {
                forms.push(Form::new(
                    &format!("{operation}{modifiers}.{ty}"),
                    ty,
                    &[ty],
                ));
            }
            for saturate in ["", ".sat"] {
                for operation in ["add", "sub", "mul", "add.rn", "mul.rn"] {
                    forms.push(Form::new(
                        &format!("{operation}{modifiers}{saturate}.{ty}"),
                        ty,
                        &[ty, ty],
                    ));
                }
                forms.push(Form::new(
                    &format!("fma.rn{modifiers}{saturate}.{ty}"),
                    ty,
                    &[ty, ty, ty],
                ));
            }
        }
    }
}

/// Forms that the ISA defines up to an error only: they are compared when a recording is read, and have no digest.
pub(crate) fn approximate() -> Vec<Form> {
    let mut forms = Vec::new();
    for modifiers in ["", ".ftz"] {
        for operation in ["rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos"] {
            forms.push(Form::new(
                &format!("{operation}.approx{modifiers}.f32"),
                "f32",
                &["f32"],
            ));
        }
        for kind in ["approx", "full"] {
            forms.push(Form::new(
                &format!("div.{kind}{modifiers}.f32"),
                "f32",
                &["f32", "f32"],
            ));
        }
    }
    forms.push(Form::new("tanh.approx.f32", "f32", &["f32"]));
    for name in [
        "rsqrt.approx.f64",
        "rcp.approx.ftz.f64",
        "rsqrt.approx.ftz.f64",
    ] {
        forms.push(Form::new(name, "f64", &["f64"]));
    }
    forms
}
