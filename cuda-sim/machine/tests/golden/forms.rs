//! Every form of an instruction that is compared with a GPU, each as a kernel of its own.

mod comparisons;
mod conversions;
mod floats;
mod integers;

use std::fmt::Write as _;

pub(crate) use floats::approximate;

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
        let carries = ["addc", "subc", "madc"]
            .iter()
            .any(|opcode| self.name.starts_with(opcode));
        if carries {
            // The carry is the lowest bit of the first input.
            let low = if self.output.bits() == 64 {
                "cvt.u32.u64 %r8, %d1;"
            } else {
                "mov.b32 %r8, %r1;"
            };
            writeln!(
                text,
                "{low} shl.b32 %r8, %r8, 31; add.cc.u32 %r8, %r8, %r8;"
            )
            .unwrap();
        }
        let mnemonic = self.name.split(' ').next().unwrap();
        let second = if self.pair { "|%p8" } else { "" };
        writeln!(
            text,
            "{mnemonic} {destination}{second}, {}{};",
            sources.join(", "),
            self.tail
        )
        .unwrap();
        let gives = self.name.contains(".cc.");
        if gives {
            writeln!(
                text,
                "addc.u32 %r7, 0, 0; cvt.u64.u32 %d6, %r7; shl.b64 %d6, %d6, 63;"
            )
            .unwrap();
        }
        match self.output.bits() {
            1 if self.pair => {
                writeln!(text, "selp.b64 %d7, 1, 0, {destination}; selp.b64 %d8, 2, 0, %p8; add.u64 %d7, %d7, %d8;").unwrap();
            }
            1 => writeln!(text, "selp.b64 %d7, 1, 0, {destination};").unwrap(),
            64 => writeln!(text, "mov.b64 %d7, {destination};").unwrap(),
            bits => writeln!(text, "cvt.u64.u{bits} %d7, {destination};").unwrap(),
        }
        if gives {
            text.push_str("xor.b64 %d7, %d7, %d6;\n");
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
    integers::integers(&mut forms);
    integers::logic(&mut forms);
    comparisons::comparisons(&mut forms);
    floats::floats(&mut forms);
    floats::halves(&mut forms);
    conversions::conversions(&mut forms);
    forms
}
