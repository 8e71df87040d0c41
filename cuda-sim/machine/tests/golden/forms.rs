//! Every form of an instruction that is compared with a GPU, each as a kernel of its own.

use std::fmt::Write as _;

/// What a register holds; it decides how the inputs are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Pred,
    I16,
    I32,
    I64,
    F16,
    F32,
    F64,
}

impl Kind {
    pub(crate) fn bits(self) -> u32 {
        match self {
            Self::Pred => 1,
            Self::I16 | Self::F16 => 16,
            Self::I32 | Self::F32 => 32,
            Self::I64 | Self::F64 => 64,
        }
    }

    fn of(ty: &str) -> Self {
        match ty {
            "pred" => Self::Pred,
            "f16" => Self::F16,
            "f32" => Self::F32,
            "f64" => Self::F64,
            _ if ty.ends_with("64") => Self::I64,
            _ if ty.ends_with("16") || ty.ends_with('8') && ty.len() == 2 => Self::I16,
            _ => Self::I32,
        }
    }
}

/// One form.
#[derive(Debug, Clone)]
pub(crate) struct Form {
    /// The mnemonic, and the immediate operand where there is one.
    pub(crate) name: String,
    pub(crate) output: Kind,
    pub(crate) inputs: Vec<Kind>,
    /// What follows the register operands.
    tail: String,
    /// For `setp`: the destination is a predicate pair.
    pair: bool,
}

/// The name of a register of that kind.
fn register(kind: Kind, number: usize) -> String {
    let prefix = match kind.bits() {
        1 => "%p",
        16 => "%h",
        32 => "%r",
        _ => "%d",
    };
    format!("{prefix}{number}")
}

impl Form {
    fn new(name: &str, output: &str, inputs: &[&str]) -> Self {
        let inputs = inputs.iter().map(|ty| Kind::of(ty)).collect();
        Self {
            name: name.to_owned(),
            output: Kind::of(output),
            inputs,
            tail: String::new(),
            pair: false,
        }
    }

    fn with_tail(mut self, tail: &str) -> Self {
        write!(self.name, " {tail}").unwrap();
        self.tail = format!(", {tail}");
        self
    }

    /// The kernel that applies the form to `n` triples of 64-bit inputs.
    pub(crate) fn kernel(&self, index: usize) -> String {
        let mut text = format!(
            ".visible .entry form_{index}(.param .u64 in, .param .u64 out, .param .u32 n)\n{{\n\
             .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .b32 %i<5>; .reg .b64 %a<4>; .reg .pred %q;\n\
             mov.u32 %i1, %ctaid.x; mov.u32 %i2, %ntid.x; mov.u32 %i3, %tid.x; mad.lo.u32 %i1, %i1, %i2, %i3;\n\
             ld.param.u32 %i4, [n]; setp.ge.u32 %q, %i1, %i4; @%q bra done;\n\
             ld.param.u64 %a1, [in]; ld.param.u64 %a2, [out]; mul.wide.u32 %a3, %i1, 32; add.u64 %a1, %a1, %a3;\n\
             mul.wide.u32 %a3, %i1, 8; add.u64 %a2, %a2, %a3;\n"
        );
        for (number, kind) in self.inputs.iter().enumerate() {
            let offset = number * 8;
            let number = number + 1;
            match kind.bits() {
                1 => writeln!(text, "ld.global.u32 %i4, [%a1+{offset}]; and.b32 %i4, %i4, 1; setp.ne.u32 %p{number}, %i4, 0;"),
                bits => writeln!(text, "ld.global.b{bits} {}, [%a1+{offset}];", register(*kind, number)),
            }
            .unwrap();
        }
        let sources: Vec<String> = self
            .inputs
            .iter()
            .enumerate()
            .map(|(number, &kind)| register(kind, number + 1))
            .collect();
        let destination = register(self.output, 0);
        let mnemonic = self.name.split(' ').next().unwrap();
        let second = if self.pair { "|%p8" } else { "" };
        writeln!(
            text,
            "{mnemonic} {destination}{second}, {}{};",
            sources.join(", "),
            self.tail
        )
        .unwrap();
        match self.output.bits() {
            1 if self.pair => {
                writeln!(text, "selp.b64 %d7, 1, 0, {destination}; selp.b64 %d8, 2, 0, %p8; add.u64 %d7, %d7, %d8;").unwrap();
            }
            1 => writeln!(text, "selp.b64 %d7, 1, 0, {destination};").unwrap(),
            64 => writeln!(text, "mov.b64 %d7, {destination};").unwrap(),
            bits => writeln!(text, "cvt.u64.u{bits} %d7, {destination};").unwrap(),
        }
        text.push_str("st.global.b64 [%a2], %d7;\ndone: ret;\n}\n");
        text
    }
}

/// A module with the kernels of these forms.
pub(crate) fn module(forms: &[Form]) -> String {
    let mut text = String::from(".version 8.0\n.target sm_90\n.address_size 64\n");
    for (index, form) in forms.iter().enumerate() {
        text.push_str(&form.kernel(index));
    }
    text
}

const INTEGERS: [&str; 6] = ["u16", "s16", "u32", "s32", "u64", "s64"];

/// All forms.
pub(crate) fn all() -> Vec<Form> {
    let mut forms = Vec::new();
    integers(&mut forms);
    logic(&mut forms);
    comparisons(&mut forms);
    floats(&mut forms);
    conversions(&mut forms);
    forms
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

fn integers(forms: &mut Vec<Form>) {
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
    forms.push(Form::new("add.sat.s32", "s32", &["s32", "s32"]));
    forms.push(Form::new("sub.sat.s32", "s32", &["s32", "s32"]));
    forms.push(Form::new("mad.hi.sat.s32", "s32", &["s32", "s32", "s32"]));
}

fn logic(forms: &mut Vec<Form>) {
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

fn comparisons(forms: &mut Vec<Form>) {
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
    ]);
    for (flush, ty, operators) in kinds {
        for operator in operators {
            let mut form = Form::new(&format!("setp.{operator}{flush}.{ty}"), "pred", &[ty, ty]);
            form.pair = true;
            forms.push(form);
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
            form.pair = true;
            forms.push(form);
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
}

fn floats(forms: &mut Vec<Form>) {
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

fn conversions(forms: &mut Vec<Form>) {
    let types = [
        "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f16", "f32", "f64",
    ];
    for to in types {
        for from in types {
            let (to_float, from_float) = (to.starts_with('f'), from.starts_with('f'));
            let bits = |ty: &str| ty[1..].parse::<u32>().unwrap();
            let roundings: &[&str] = match (from_float, to_float) {
                (false, false) => &[""],
                (true, false) => &[".rni", ".rzi", ".rmi", ".rpi"],
                (false, true) => &[".rn", ".rz", ".rm", ".rp"],
                (true, true) if bits(to) < bits(from) => &[".rn", ".rz", ".rm", ".rp"],
                (true, true) if to == from => &["", ".rni", ".rzi", ".rmi", ".rpi"],
                (true, true) => &[""],
            };
            let flushes: &[&str] = if (from == "f32" || to == "f32") && from != "f64" && to != "f64"
            {
                &["", ".ftz"]
            } else {
                &[""]
            };
            for rounding in roundings {
                for flush in flushes {
                    for saturate in ["", ".sat"] {
                        // Saturation that can never happen is not allowed to be written.
                        let signs = (to.starts_with('s'), from.starts_with('s'));
                        let never = match signs {
                            (true, true) | (false, false) => bits(from) <= bits(to),
                            (true, false) => bits(from) < bits(to),
                            (false, true) => false,
                        };
                        if !saturate.is_empty() && !to_float && !from_float && never {
                            continue;
                        }
                        forms.push(Form::new(
                            &format!("cvt{rounding}{flush}{saturate}.{to}.{from}"),
                            to,
                            &[from],
                        ));
                    }
                }
            }
        }
    }
}
