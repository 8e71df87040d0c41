//! Forms as PTX.

use std::fmt::Write as _;

use crate::forms::{Form, Operand, register, registers, words};
use crate::kinds::{Kind, memory_bits};

impl Form {
    /// The instruction itself.
    fn instruction(&self) -> String {
        let mut next = 1;
        let mut operands = Vec::new();
        let mut first = 20;
        let destinations: Vec<String> = self
            .destinations
            .iter()
            .map(|destination| match destination {
                Operand::Registers(ty, count) => {
                    first += count;
                    registers(ty, first - count, *count)
                }
                Operand::Part(part) => {
                    first += 1;
                    format!("%r{}.{part}", first - 1)
                }
                _ => String::from("_"),
            })
            .collect();
        if !destinations.is_empty() {
            operands.push(destinations.join("|"));
        }
        for source in &self.sources {
            operands.push(match source {
                Operand::Text(text) => text.clone(),
                Operand::Sink => String::from("_"),
                Operand::Part(part) => {
                    next += 1;
                    format!("%r{}.{part}", next - 1)
                }
                Operand::Registers(ty, count) => {
                    next += count;
                    registers(ty, next - count, *count)
                }
                Operand::Cell(space, ..) => match space {
                    's' => String::from("[%s1]"),
                    'l' => String::from("[cell]"),
                    'c' => String::from("[constants]"),
                    'k' => String::from("[block]"),
                    'x' => String::from("[%a6]"),
                    _ => String::from("[%a1]"),
                },
            });
        }
        // A load names its destination before, a store its source behind the address; both are in order already.
        let guard = if self.even { "@%e " } else { "" };
        format!("{guard}{} {};\n", self.mnemonic, operands.join(", "))
    }

    /// The smallest kernel with the instruction, to ask whether it can be decoded or assembled.
    pub(crate) fn probe(&self, index: usize) -> String {
        format!(
            ".visible .entry form_{index}({BLOCK})\n{{\n{DECLARATIONS}{}ret;\n}}\n",
            self.instruction()
        )
    }

    /// The kernel that applies the form to `n` records of four words.
    pub(crate) fn kernel(&self, index: usize) -> String {
        let mut text = format!(
            ".visible .entry form_{index}(.param .u64 in, .param .u64 out, .param .u32 n, {BLOCK})\n{{\n{DECLARATIONS}{PROLOGUE}"
        );
        let (mut next, mut offset, mut cell) = (1, 0, None);
        for source in &self.sources {
            match source {
                Operand::Registers(ty, count) => {
                    let bits = memory_bits(ty);
                    for part in 0..*count {
                        // What needs more than a record begins it again.
                        let at = (offset + part * bits as usize / 8) % RECORD;
                        if ty == "quad" {
                            writeln!(text, "ld.global.v2.b64 {{%d15, %d16}}, [%a1+{at}]; mov.b128 %q{next}, {{%d15, %d16}};")
                        } else if bits == 1 {
                            writeln!(text, "ld.global.u32 %i4, [%a1+{at}]; and.b32 %i4, %i4, 1; setp.ne.u32 %p{next}, %i4, 0;")
                        } else {
                            writeln!(text, "ld.global.b{bits} {}, [%a1+{at}];", register(ty, next))
                        }
                        .unwrap();
                        next += 1;
                    }
                    offset += 8 * words(ty, *count);
                }
                Operand::Part(_) => {
                    writeln!(text, "ld.global.b32 %r{next}, [%a1+{offset}];").unwrap();
                    next += 1;
                    offset += 8;
                }
                Operand::Cell('c' | 'k', ..) => {}
                Operand::Cell(space, ty, count) => {
                    cell = Some((*space, words(ty, *count)));
                    offset += 8 * words(ty, *count);
                }
                Operand::Text(_) | Operand::Sink => {}
            }
        }
        let fill = |text: &mut String, from: &str, to: &str, count: usize| {
            for word in 0..count {
                let at = 8 * word;
                writeln!(
                    text,
                    "ld{}.b64 %d10, [{}+{at}]; st{}.b64 [{}+{at}], %d10;",
                    &from[..from.find(' ').unwrap()],
                    &from[from.find(' ').unwrap() + 1..],
                    &to[..to.find(' ').unwrap()],
                    &to[to.find(' ').unwrap() + 1..]
                )
                .unwrap();
            }
        };
        let place = match cell {
            Some(('s' | 'x', _)) => Some(".shared %s1"),
            Some(('l', _)) => Some(".local cell"),
            _ => None,
        };
        if let (Some(place), Some((_, count))) = (place, cell) {
            fill(&mut text, ".global %a1", place, count);
        }
        if ["addc", "subc", "madc"]
            .iter()
            .any(|opcode| self.mnemonic.starts_with(opcode))
        {
            // The carry is the lowest bit of the first input.
            let low = if self.inputs[0].bits() == 64 {
                "cvt.u32.u64 %r10, %d1;"
            } else {
                "mov.b32 %r10, %r1;"
            };
            writeln!(
                text,
                "{low} shl.b32 %r10, %r10, 31; add.cc.u32 %r10, %r10, %r10;"
            )
            .unwrap();
        }
        let registers_only = self
            .destinations
            .iter()
            .filter(|destination| **destination != Operand::Sink);
        for (number, destination) in registers_only.enumerate() {
            // A lane that does not run it leaves zero.
            if let (Operand::Registers(ty, 1), true) = (destination, self.even) {
                let number = 20 + number;
                match Kind::of(ty) {
                    Kind::Pred => writeln!(text, "setp.ne.u32 %p{number}, 0, 0;").unwrap(),
                    kind => {
                        writeln!(text, "mov.b{} {}, 0;", kind.bits(), register(ty, number)).unwrap()
                    }
                }
            }
        }
        text.push_str(&self.instruction());
        let mut results = Vec::new();
        let mut number = 20;
        for destination in &self.destinations {
            if let Operand::Part(_) = destination {
                results.push((32, format!("%r{number}")));
                number += 1;
            }
            if *destination == Operand::Registers(String::from("quad"), 1) {
                writeln!(text, "mov.b128 {{%d15, %d16}}, %q{number};").unwrap();
                results.extend([(64, String::from("%d15")), (64, String::from("%d16"))]);
                number += 1;
            } else if let Operand::Registers(ty, count) = destination {
                results.extend(
                    (number..number + count)
                        .map(|number| (Kind::of(ty).bits(), register(ty, number))),
                );
                number += count;
            }
        }
        if self.mnemonic.contains(".cc.") {
            text.push_str("addc.u32 %r11, 0, 0;\n");
            results.push((32, String::from("%r11")));
        }
        if let (Some(place), Some((_, count))) = (place, cell) {
            fill(&mut text, place, ".global %a1", count);
        }
        if let Some((_, count)) = cell.filter(|_| !self.mnemonic.starts_with("ld")) {
            for word in 0..count {
                writeln!(text, "ld.global.b64 %d{}, [%a1+{}];", 11 + word, 8 * word).unwrap();
                results.push((64, format!("%d{}", 11 + word)));
            }
        }
        text.push_str("mov.b64 %d0, 0;\n");
        let single = results.len() == 1;
        for (bits, name) in results {
            match bits {
                1 => writeln!(text, "selp.b64 %d9, 1, 0, {name};"),
                64 => writeln!(text, "mov.b64 %d9, {name};"),
                bits => writeln!(text, "cvt.u64.u{bits} %d9, {name};"),
            }
            .unwrap();
            // Several results are mixed.
            text.push_str(if single {
                "mov.b64 %d0, %d9;\n"
            } else {
                "mad.lo.u64 %d0, %d0, 0x9e3779b97f4a7c15, %d9;\n"
            });
        }
        text.push_str("st.global.b64 [%a2], %d0;\ndone: ret;\n}\n");
        text
    }
}

/// Bytes of a record.
const RECORD: usize = 32;

const BLOCK: &str = ".param .align 32 .b8 block[32]";

const DECLARATIONS: &str = ".reg .pred %p<30>; .reg .b128 %q<30>; .reg .b8 %b<30>; .reg .b16 %h<30>; .reg .b32 %r<30>; .reg .b64 %d<30>; .reg .b32 %i<6>; .reg .b64 %a<7>;\n\
    .reg .b32 %s<2>; .reg .pred %past; .reg .pred %e; .shared .align 32 .b8 shared_cells[4096]; .local .align 32 .b8 cell[32];\n";

const PROLOGUE: &str = "mov.u32 %i1, %ctaid.x; mov.u32 %i2, %ntid.x; mov.u32 %i3, %tid.x; mad.lo.u32 %i1, %i1, %i2, %i3;\n\
    ld.param.u32 %i4, [n]; setp.ge.u32 %past, %i1, %i4; @%past bra done;\n\
    ld.param.u64 %a1, [in]; ld.param.u64 %a2, [out]; mul.wide.u32 %a3, %i1, 32; add.u64 %a1, %a1, %a3;\n\
    mul.wide.u32 %a3, %i1, 8; add.u64 %a2, %a2, %a3; mov.u32 %s1, shared_cells; shl.b32 %i5, %i3, 5; add.u32 %s1, %s1, %i5;\n\
    createpolicy.fractional.L2::evict_last.b64 %a0, 1.0; cvt.u64.u32 %a5, %s1; cvta.shared.u64 %a6, %a5; and.b32 %i5, %i3, 1; setp.eq.u32 %e, %i5, 0;\n";

/// What the constant variable and the last parameter hold.
pub(crate) fn block() -> [u8; 32] {
    std::array::from_fn(|index| (index as u8).wrapping_mul(37).wrapping_add(130))
}

/// A module with the kernels of these forms.
pub(crate) fn module(forms: &[Form], text_of: impl Fn(&Form, usize) -> String) -> String {
    let mut text = format!(
        ".version 9.0\n.target sm_90a\n.address_size 64\n.const .align 32 .b8 constants[32] = {{{}}};\n",
        block().map(|byte| byte.to_string()).join(", ")
    );
    for (index, form) in forms.iter().enumerate() {
        text.push_str(&text_of(form, index));
    }
    text
}
