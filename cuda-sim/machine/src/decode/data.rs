//! Instructions on registers alone: the lists of the families, comparisons, moves and address conversions.

use cuda_ptx::Operand;

use super::function::{Decoder, Why};
use super::symbols::{Symbol, new_row};
use crate::code::{Instr, NONE, Op};
use crate::ops::compare::{Combine, comparison};
use crate::ops::map::{Entry, Ty};
use crate::ops::{carry, compare, convert, float, integer, moves};

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
            ["mov", ty] => self.mov(ty, operands),
            ["cvta", ..] => self.cvta(mnemonic, operands),
            ["cvt", ..] => self.cvt(mnemonic, operands),
            ["lop3", "b32"] => self.lop3(operands),
            ["testp", question, ty] => self.testp(question, ty, operands),
            _ => match integer::lookup(mnemonic)
                .or_else(|| float::lookup(mnemonic))
                .or_else(|| compare::lookup(mnemonic))
            {
                Some(entry) => self.entry(&entry, operands).map(|()| true),
                None => self.with_carry(mnemonic, operands),
            },
        }
    }

    /// `testp.question.type`
    fn testp(&mut self, question: &str, ty: &str, operands: &[Operand<'a>]) -> Result<bool, Why> {
        let (Some(test), [destination, source]) = (compare::property(question, ty), operands)
        else {
            return Ok(false);
        };
        let mut instr = self.instr(Op::SetPredicate(test.test, Combine::Nothing));
        instr.src[0] = self.source(source, test.ty)?;
        instr.src[1] = instr.src[0];
        instr.dst[0] = self.destination(destination, Ty::Pred)?;
        self.push(instr);
        Ok(true)
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
        self.push(instr);
        Ok(())
    }

    /// `.CmpOp{.BoolOp}{.ftz}.type` after the opcode and, for `set`, before the source type.
    fn comparison(&mut self, parts: &[&'a str]) -> Option<(compare::Comparison, Combine)> {
        let (operator, rest) = parts.split_first()?;
        let (combine, rest) = match rest {
            ["and", rest @ ..] => (Combine::And, rest),
            ["or", rest @ ..] => (Combine::Or, rest),
            ["xor", rest @ ..] => (Combine::Xor, rest),
            rest => (Combine::Nothing, rest),
        };
        let (flushes, ty) = match rest {
            ["ftz", ty] => (true, ty),
            [ty] => (false, ty),
            _ => return None,
        };
        Some((comparison(operator, flushes, ty)?, combine))
    }

    fn compared(
        &mut self,
        instr: &mut Instr,
        ty: Ty,
        combine: Combine,
        sources: &[Operand<'a>],
    ) -> Result<(), Why> {
        let needed = if combine == Combine::Nothing { 2 } else { 3 };
        if sources.len() != needed {
            return Err(format!(
                "{} source operands where {needed} are needed",
                sources.len()
            ));
        }
        instr.src[0] = self.source(&sources[0], ty)?;
        instr.src[1] = self.source(&sources[1], ty)?;
        instr.src[2] = match sources.get(2) {
            Some(predicate) => self.source(predicate, Ty::Pred)?,
            None => self.symbols.always(&mut self.code),
        };
        Ok(())
    }

    fn setp(&mut self, mnemonic: &[&'a str], operands: &[Operand<'a>]) -> Result<bool, Why> {
        let (Some((comparison, combine)), Some((destination, sources))) =
            (self.comparison(&mnemonic[1..]), operands.split_first())
        else {
            return Ok(false);
        };
        let mut instr = self.instr(Op::SetPredicate(comparison.test, combine));
        self.compared(&mut instr, comparison.ty, combine, sources)?;
        let (first, second) = match destination {
            Operand::Name(name) => (*name, "_"),
            Operand::Pair(..) if mnemonic.ends_with(&["f16"]) => {
                return Err(String::from("comparisons of halves have one destination"));
            }
            Operand::Pair(first, second) => (*first, *second),
            _ => return Err(String::from("the destination is not a predicate")),
        };
        instr.dst[0] = if first == "_" {
            NONE
        } else {
            self.register(first, 1)?
        };
        instr.dst[1] = if second == "_" {
            NONE
        } else {
            self.register(second, 1)?
        };
        self.push(instr);
        Ok(true)
    }

    /// `set.CmpOp{.BoolOp}{.ftz}.dtype.stype`
    fn set(&mut self, mnemonic: &[&'a str], operands: &[Operand<'a>]) -> Result<bool, Why> {
        let [_, parts @ .., dtype, stype] = mnemonic else {
            return Ok(false);
        };
        let set = match *dtype {
            "u32" | "s32" => u32::MAX,
            "f32" => 1f32.to_bits(),
            _ => return Ok(false),
        };
        let parts: Vec<&str> = parts.iter().copied().chain([*stype]).collect();
        let (Some((comparison, combine)), Some((destination, sources))) =
            (self.comparison(&parts), operands.split_first())
        else {
            return Ok(false);
        };
        let mut instr = self.instr(Op::SetWord(comparison.test, combine));
        self.compared(&mut instr, comparison.ty, combine, sources)?;
        instr.dst[0] = self.destination(destination, Ty::B32)?;
        instr.target = set;
        self.push(instr);
        Ok(true)
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
                    Ty::B16 | Ty::B32 | Ty::F32 => moves::word,
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
            instr.target = if part.bits() == 32 { u32::MAX } else { 0xffff };
            self.push(instr);
        }
        Ok(())
    }

    /// `lop3.b32 d, a, b, c, table`
    fn lop3(&mut self, operands: &[Operand<'a>]) -> Result<bool, Why> {
        let [destination, a, b, c, Operand::Integer(table)] = operands else {
            return Ok(false);
        };
        let mut instr = self.instr(Op::Alu(moves::lop3));
        instr.src = [
            self.source(a, Ty::B32)?,
            self.source(b, Ty::B32)?,
            self.source(c, Ty::B32)?,
            0,
        ];
        instr.imm = *table & 0xff;
        instr.dst[0] = self.destination(destination, Ty::B32)?;
        self.push(instr);
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
            "shared" | "shared::cta" => crate::SHARED_WINDOW,
            "local" => crate::LOCAL_WINDOW,
            "param" => crate::PARAM_WINDOW,
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
