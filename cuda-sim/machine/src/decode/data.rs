//! Instructions on registers alone: the lists of the families, comparisons, moves and address conversions.

use cuda_ptx::Operand;

use super::function::{Decoder, Why};
use super::symbols::{Symbol, new_row};
use crate::code::Op;
use crate::ops::compare::{Combine, comparison};
use crate::ops::map::{Entry, Ty};
use crate::ops::{carry, compare, convert, float, integer, moves, spaces};

impl<'a> Decoder<'_, 'a> {
    /// Decodes the instruction if it is one of these.
    pub(super) fn data(
        &mut self,
        mnemonic: &[&'a str],
        operands: &[Operand<'a>],
    ) -> Result<bool, Why> {
        match mnemonic {
            ["setp", ..] => self.setp(mnemonic, operands),
            ["set", ..] => self.set(mnemonic, operands),
            ["mov", "b128"] => self.mov_wide(operands),
            ["mov", ty] => self.mov(ty, operands),
            ["cvta", ..] => self.cvta(mnemonic, operands),
            ["cvt", ..] => match convert::of_several(mnemonic) {
                Some(entry) => self.entry(&entry, operands).map(|()| true),
                None => self.cvt(mnemonic, operands),
            },
            ["lop3", "b32"] => self.lop3(operands),
            ["lop3", "and", "b32"] => self.lop3_and_test(Combine::And, operands),
            ["lop3", "or", "b32"] => self.lop3_and_test(Combine::Or, operands),
            ["testp", question, ty] => self.testp(question, ty, operands),
            _ => match float::of_three(mnemonic)
                .filter(|_| operands.len() == 4)
                .or_else(|| (self.names.processor.lookup)(mnemonic))
                .or_else(|| integer::lookup(mnemonic))
                .or_else(|| float::lookup(mnemonic))
                .or_else(|| compare::lookup(mnemonic))
                .or_else(|| spaces::lookup(mnemonic))
            {
                Some(entry) => self.entry(&entry, operands).map(|()| true),
                None => self.with_carry(mnemonic, operands),
            },
        }
    }

    /// The members of carry chains.
    fn with_carry(&mut self, mnemonic: &[&'a str], operands: &[Operand<'a>]) -> Result<bool, Why> {
        let (Some(form), Some((destination, sources))) =
            (carry::lookup(mnemonic), operands.split_first())
        else {
            return Ok(false);
        };
        if sources.len() != form.sources {
            return Err(format!(
                "{} source operands where {} are needed",
                sources.len(),
                form.sources
            ));
        }
        let ty = if form.wide { Ty::B64 } else { Ty::B32 };
        let mut instr = self.instr(Op::Alu(form.run));
        for (row, operand) in instr.src.iter_mut().zip(sources) {
            *row = self.source(operand, ty)?;
        }
        if form.sources == 2 {
            instr.src[2] = instr.src[0];
        }
        instr.dst = [
            self.destination(destination, ty)?,
            self.symbols.carry(&mut self.code),
        ];
        instr.imm = form.imm;
        self.push(instr);
        Ok(true)
    }

    fn entry(&mut self, entry: &Entry, operands: &[Operand<'a>]) -> Result<(), Why> {
        let Some((destination, sources)) = operands
            .split_first()
            .filter(|(_, sources)| sources.len() == entry.src.len())
        else {
            return Err(format!(
                "{} operands where {} are needed",
                operands.len(),
                entry.src.len() + 1
            ));
        };
        let mut instr = self.instr(Op::Alu(entry.run));
        for ((row, operand), &ty) in instr.src.iter_mut().zip(sources).zip(entry.src) {
            *row = self.source(operand, ty)?;
        }
        instr.dst[0] = self.destination(destination, entry.dst)?;
        instr.imm = entry.imm;
        self.push(instr);
        Ok(())
    }

    fn mov(&mut self, ty: &str, operands: &[Operand<'a>]) -> Result<bool, Why> {
        let ty = match ty {
            "pred" => Ty::Pred,
            "b16" | "u16" | "s16" => Ty::B16,
            "b32" | "u32" | "s32" => Ty::B32,
            "b64" | "u64" | "s64" => Ty::B64,
            "f32" => Ty::F32,
            "f64" => Ty::F64,
            _ => return Ok(false),
        };
        let [destination, source] = operands else {
            return Err(format!("{} operands where 2 are needed", operands.len()));
        };
        match (destination, source) {
            (Operand::Vector(parts), source) => self.unpack(ty, parts, source)?,
            (destination, Operand::Vector(parts)) => self.pack(ty, destination, parts)?,
            (destination, source) => {
                let run = match ty {
                    Ty::Pred => moves::predicate,
                    Ty::B64 | Ty::F64 => moves::double,
                    Ty::B8 | Ty::B16 | Ty::B32 | Ty::F32 => moves::word,
                };
                let mut instr = self.instr(Op::Alu(run));
                instr.src[0] = self.source(source, ty)?;
                instr.dst[0] = self.destination(destination, ty)?;
                self.push(instr);
            }
        }
        Ok(true)
    }

    /// The width of each part of a vector, where that width exists.
    fn part_type(whole: Ty, parts: usize) -> Result<Ty, Why> {
        match (whole.bits(), parts) {
            (64, 2) => Ok(Ty::B32),
            (16, 2) | (32, 4) => Ok(Ty::B8),
            (64, 4) | (32, 2) => Ok(Ty::B16),
            (bits, parts) => Err(format!("{bits} bits in {parts} parts are not implemented")),
        }
    }

    /// `mov.b64 d, {a, b}`, as one instruction for each part.
    fn pack(
        &mut self,
        ty: Ty,
        destination: &Operand<'a>,
        parts: &[Operand<'a>],
    ) -> Result<(), Why> {
        let part = Self::part_type(ty, parts.len())?;
        // The destination may be among the parts, so the value grows in a row of its own.
        let row = new_row(ty.bits(), &mut self.code);
        let run = if ty.bits() == 64 {
            moves::place_in_double
        } else {
            moves::place_in_word
        };
        for (index, operand) in parts.iter().enumerate() {
            let mut instr = self.instr(Op::Alu(run));
            instr.src[0] = self.source(operand, part)?;
            instr.dst[0] = row;
            instr.imm = index as i64 * i64::from(part.bits());
            self.push(instr);
        }
        let mut instr = self.instr(Op::Alu(if ty.bits() == 64 {
            moves::double
        } else {
            moves::word
        }));
        instr.src[0] = row;
        instr.dst[0] = self.destination(destination, ty)?;
        self.push(instr);
        Ok(())
    }

    /// `mov.b64 {d, e}, a`
    fn unpack(&mut self, ty: Ty, parts: &[Operand<'a>], source: &Operand<'a>) -> Result<(), Why> {
        let part = Self::part_type(ty, parts.len())?;
        let whole = new_row(ty.bits(), &mut self.code);
        let mut instr = self.instr(Op::Alu(if ty.bits() == 64 {
            moves::double
        } else {
            moves::word
        }));
        instr.src[0] = self.source(source, ty)?;
        instr.dst[0] = whole;
        self.push(instr);
        let run = if ty.bits() == 64 {
            moves::take_from_double
        } else {
            moves::take_from_word
        };
        for (index, operand) in parts.iter().enumerate() {
            if matches!(operand, Operand::Sink) {
                continue;
            }
            let mut instr = self.instr(Op::Alu(run));
            instr.src[0] = whole;
            instr.dst[0] = self.destination(operand, part)?;
            instr.imm = index as i64 * i64::from(part.bits());
            // The mask of what is kept.
            instr.target = u32::MAX >> (32 - part.bits());
            self.push(instr);
        }
        Ok(())
    }

    /// `lop3.b32 d, a, b, c, table`
    fn lop3(&mut self, operands: &[Operand<'a>]) -> Result<bool, Why> {
        let [destination, a, b, c, Operand::Integer(table @ 0..=255)] = operands else {
            return Ok(false);
        };
        let mut instr = self.instr(Op::Alu(moves::lop3));
        instr.src = [
            self.source(a, Ty::B32)?,
            self.source(b, Ty::B32)?,
            self.source(c, Ty::B32)?,
            0,
        ];
        instr.imm = *table;
        instr.dst[0] = self.destination(destination, Ty::B32)?;
        self.push(instr);
        Ok(true)
    }

    /// `lop3.BoolOp.b32 d|p, a, b, c, table, q`: the predicate says whether the result has a bit set, combined with `q`.
    fn lop3_and_test(&mut self, combine: Combine, operands: &[Operand<'a>]) -> Result<bool, Why> {
        let [
            Operand::Pair(word, predicate),
            a,
            b,
            c,
            Operand::Integer(table),
            with,
        ] = operands
        else {
            return Ok(false);
        };
        let Some(test) = comparison("ne", false, "b32") else {
            return Ok(false);
        };
        let mut logic = self.instr(Op::Alu(moves::lop3));
        logic.src = [
            self.source(a, Ty::B32)?,
            self.source(b, Ty::B32)?,
            self.source(c, Ty::B32)?,
            0,
        ];
        logic.imm = *table;
        logic.dst[0] = new_row(32, &mut self.code);
        let zero = self.source(&Operand::Integer(0), Ty::B32)?;
        let mut set = self.instr(Op::SetPredicate(test.test, combine));
        set.src = [logic.dst[0], zero, self.source(with, Ty::Pred)?, 0];
        if *predicate != "_" {
            set.dst[0] = self.register(predicate, 1)?;
        }
        self.push(logic);
        if *word != "_" {
            let mut copy = self.instr(Op::Alu(moves::word));
            copy.src[0] = logic.dst[0];
            copy.dst[0] = self.register(word, 32)?;
            self.push(copy);
        }
        // Last, for the predicate may be the one that guards the instruction.
        self.push(set);
        Ok(true)
    }

    /// `cvta{.to}.space.u64`
    fn cvta(&mut self, mnemonic: &[&'a str], operands: &[Operand<'a>]) -> Result<bool, Why> {
        let (to, space) = match mnemonic {
            ["cvta", "to", space, "u64"] => (true, *space),
            ["cvta", space, "u64"] => (false, *space),
            _ => return Ok(false),
        };
        let window = match space {
            // Generic addresses of global memory are the addresses themselves.
            "global" | "const" => 0,
            "shared" | "shared::cta" | "shared::cluster" => crate::SHARED_WINDOW,
            "local" => crate::LOCAL_WINDOW,
            "param" | "param::entry" => crate::PARAM_WINDOW,
            _ => return Ok(false),
        };
        let [destination, source] = operands else {
            return Ok(false);
        };
        let mut instr = self.instr(Op::Alu(moves::add_constant));
        instr.src[0] = self.source(source, Ty::B64)?;
        instr.imm = if to {
            (window as i64).wrapping_neg()
        } else {
            window as i64
        };
        instr.dst[0] = self.destination(destination, Ty::B64)?;
        self.push(instr);
        Ok(true)
    }

    /// Conversions; their registers may be wider than their types.
    fn cvt(&mut self, mnemonic: &[&'a str], operands: &[Operand<'a>]) -> Result<bool, Why> {
        let ([destination, source], Some(form)) = (operands, convert::lookup(mnemonic)) else {
            return Ok(false);
        };
        let (source, source_bits) = match source {
            Operand::Name(name) => match self.find(name) {
                Some(Symbol::Register(register)) => (register.row, register.bits),
                // Special registers have 32 or 64 bits.
                _ => match self.source(source, Ty::B32) {
                    Ok(row) => (row, 32),
                    Err(_) => (self.source(source, Ty::B64)?, 64),
                },
            },
            _ => {
                let ty = match (form.from.is_float(), form.from.bits()) {
                    (true, 32) => Ty::F32,
                    (true, 64) => Ty::F64,
                    (false, 64) => Ty::B64,
                    _ => Ty::B32,
                };
                (self.source(source, ty)?, ty.bits())
            }
        };
        let Operand::Name(name) = destination else {
            return Err(String::from("the destination is not a register"));
        };
        let Some(Symbol::Register(register)) = self.find(name) else {
            return Err(format!("`{name}` is not a register"));
        };
        let operation = convert::operation(&form, source_bits, register.bits);
        let (run, imm) = operation
            .ok_or_else(|| String::from("the widths of the registers do not fit the conversion"))?;
        let mut instr = self.instr(Op::Alu(run));
        instr.src[0] = source;
        instr.dst[0] = register.row;
        instr.imm = imm;
        self.push(instr);
        Ok(true)
    }
}
