//! Names inside a function, and the rows that registers and constants get.

use std::collections::HashMap;

use cuda_ptx::{ScalarType, Variable};

use crate::code::{Code, Init, NONE};

/// What a name stands for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Symbol {
    Register(Register),
    /// A parameter of the kernel: offset and size in the parameter buffer.
    KernelParam(u32, u32),
    /// Parameter memory of a call: offset and size.
    CallParam(u32, u32),
    /// A local variable's offset.
    Local(u32),
    /// Index of a shared variable.
    Shared(usize),
    /// Index of a module variable.
    Global(usize),
}

/// A register and where it lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Register {
    /// 1 for predicates, 8, 16, 32, 64 or 128.
    pub(super) bits: u32,
    pub(super) row: u32,
}

#[derive(Debug, Default)]
struct Block<'a> {
    names: HashMap<&'a str, Symbol>,
    /// `%r<n>`: bits and number of the registers.
    sets: HashMap<&'a str, (u32, u32)>,
}

/// The names that are visible, innermost block last, and the rows given out.
#[derive(Debug)]
pub(super) struct Symbols<'a> {
    blocks: Vec<Block<'a>>,
    constants: HashMap<(u32, Init), u32>,
    true_row: Option<u32>,
    carry_row: Option<u32>,
}

impl<'a> Symbols<'a> {
    pub(super) fn new() -> Self {
        Self {
            blocks: vec![Block::default()],
            constants: HashMap::new(),
            true_row: None,
            carry_row: None,
        }
    }

    pub(super) fn enter(&mut self) {
        self.blocks.push(Block::default());
    }

    pub(super) fn leave(&mut self) {
        self.blocks.pop();
    }

    pub(super) fn insert(&mut self, name: &'a str, symbol: Symbol) {
        if let Some(block) = self.blocks.last_mut() {
            block.names.insert(name, symbol);
        }
    }

    /// Declares a register or a set of them; a type without registers is an error.
    pub(super) fn declare_registers(
        &mut self,
        variable: &Variable<'a>,
        code: &mut Code,
    ) -> Result<(), String> {
        let bits = register_bits(variable.ty)
            .filter(|_| variable.vector == 1 && variable.extents.is_empty());
        let bits = bits.ok_or_else(|| {
            format!(
                "registers of type {} or vector registers are not implemented",
                variable.ty
            )
        })?;
        match (variable.count, self.blocks.last_mut()) {
            (Some(count), Some(block)) => {
                block.sets.insert(variable.name, (bits, count));
            }
            _ => {
                let register = Register {
                    bits,
                    row: new_row(bits, code),
                };
                self.insert(variable.name, Symbol::Register(register));
            }
        }
        Ok(())
    }

    pub(super) fn find(&mut self, name: &'a str, code: &mut Code) -> Option<Symbol> {
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        let (prefix, number) = name.split_at(name.len() - digits);
        for block in self.blocks.iter_mut().rev() {
            if let Some(&symbol) = block.names.get(name) {
                return Some(symbol);
            }
            if let Some(&(bits, count)) = block.sets.get(prefix) {
                let canonical = number.len() == 1 || !number.starts_with('0');
                if canonical && number.parse::<u32>().is_ok_and(|number| number < count) {
                    let symbol = Symbol::Register(Register {
                        bits,
                        row: new_row(bits, code),
                    });
                    block.names.insert(name, symbol);
                    return Some(symbol);
                }
            }
        }
        None
    }

    /// The row that holds a value from the start.
    pub(super) fn constant(&mut self, bits: u32, init: Init, code: &mut Code) -> u32 {
        let wide = if bits > 32 { 64 } else { 32 };
        *self.constants.entry((wide, init)).or_insert_with(|| {
            let row = new_row(wide, code);
            let inits = if wide == 64 {
                &mut code.double_inits
            } else {
                &mut code.word_inits
            };
            inits.push((row, init));
            row
        })
    }

    /// The predicate that holds the carry of `.cc` instructions.
    pub(super) fn carry(&mut self, code: &mut Code) -> u32 {
        *self.carry_row.get_or_insert_with(|| new_row(1, code))
    }

    /// A predicate that is always true.
    pub(super) fn always(&mut self, code: &mut Code) -> u32 {
        *self.true_row.get_or_insert_with(|| {
            let row = new_row(1, code);
            code.true_rows.push(row);
            row
        })
    }
}

/// Bits of a register of that type.
pub(super) fn register_bits(ty: ScalarType) -> Option<u32> {
    match ty {
        ScalarType::Pred => Some(1),
        ScalarType::B128 => Some(128),
        ScalarType::TexRef | ScalarType::SamplerRef | ScalarType::SurfRef => None,
        _ => u32::try_from(ty.size() * 8).ok(),
    }
}

/// A row that nothing else uses; 128 bits take two rows of 64, the low one first.
pub(super) fn new_row(bits: u32, code: &mut Code) -> u32 {
    let rows = match bits {
        1 => &mut code.rows.predicates,
        64 => &mut code.rows.doubles,
        128 => {
            code.rows.doubles += 2;
            return u32::try_from(code.rows.doubles - 2).unwrap_or(NONE);
        }
        _ => &mut code.rows.words,
    };
    *rows += 1;
    u32::try_from(*rows - 1).unwrap_or(NONE)
}
