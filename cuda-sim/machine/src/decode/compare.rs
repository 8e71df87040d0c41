//! `setp`, `set` and `testp`.

use cuda_ptx::Operand;

use super::function::{Decoder, Why};
use crate::code::{Instr, NONE, Op};
use crate::ops::compare::pairs::{self, Pairs, SET_PREDICATES, SET_WORD};
use crate::ops::compare::{self, Combine, comparison};
use crate::ops::map::Ty;

/// `CmpOp{.BoolOp}{.ftz}.type` in its parts.
struct Parts<'a> {
    operator: &'a str,
    combine: Combine,
    flushes: bool,
    ty: &'a str,
}

fn parts<'a>(modifiers: &[&'a str]) -> Option<Parts<'a>> {
    let (operator, rest) = modifiers.split_first()?;
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
    Some(Parts {
        operator,
        combine,
        flushes,
        ty,
    })
}

impl<'a> Decoder<'_, 'a> {
    /// `testp.question.type`
    pub(super) fn testp(
        &mut self,
        question: &str,
        ty: &str,
        operands: &[Operand<'a>],
    ) -> Result<bool, Why> {
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

    /// The operands of a comparison.
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

    /// `setp.CmpOp{.BoolOp}{.ftz}.type p|q, a, b{, c}`
    pub(super) fn setp(
        &mut self,
        mnemonic: &[&'a str],
        operands: &[Operand<'a>],
    ) -> Result<bool, Why> {
        let (Some(parts), Some((destination, sources))) =
            (parts(&mnemonic[1..]), operands.split_first())
        else {
            return Ok(false);
        };
        let mut instr;
        if let Some(test) = Pairs::new(parts.operator, parts.flushes, parts.ty, parts.combine) {
            instr = self.instr(Op::Alu(SET_PREDICATES));
            self.compared(&mut instr, Ty::B32, parts.combine, sources)?;
            instr.imm = test.code();
        } else if let Some(test) = comparison(parts.operator, parts.flushes, parts.ty) {
            instr = self.instr(Op::SetPredicate(test.test, parts.combine));
            self.compared(&mut instr, test.ty, parts.combine, sources)?;
        } else {
            return Ok(false);
        }
        let (first, second) = match destination {
            Operand::Name(name) => (*name, "_"),
            Operand::Sink => ("_", "_"),
            Operand::Pair(..) if matches!(parts.ty, "f16" | "bf16") => {
                return Err(String::from("comparisons of halves have one destination"));
            }
            Operand::Pair(first, second) => (*first, *second),
            _ => return Err(String::from("the destination is not a predicate")),
        };
        for (row, name) in instr.dst.iter_mut().zip([first, second]) {
            *row = if name == "_" {
                NONE
            } else {
                self.register(name, 1)?
            };
        }
        self.push(instr);
        Ok(true)
    }

    /// `set.CmpOp{.BoolOp}{.ftz}.dtype.stype d, a, b{, c}`
    pub(super) fn set(
        &mut self,
        mnemonic: &[&'a str],
        operands: &[Operand<'a>],
    ) -> Result<bool, Why> {
        let [_, modifiers @ .., dtype, stype] = mnemonic else {
            return Ok(false);
        };
        let modifiers: Vec<&str> = modifiers.iter().copied().chain([*stype]).collect();
        let (Some(parts), Some((destination, sources))) =
            (parts(&modifiers), operands.split_first())
        else {
            return Ok(false);
        };
        let mut instr;
        if let (Some(test), Some(value)) = (
            Pairs::new(parts.operator, parts.flushes, parts.ty, parts.combine),
            pairs::set_value(dtype, stype),
        ) {
            instr = self.instr(Op::Alu(SET_WORD));
            self.compared(&mut instr, Ty::B32, parts.combine, sources)?;
            instr.imm = test.code();
            instr.target = value;
            instr.dst[0] = self.destination(destination, Ty::B32)?;
        } else if let (Some(test), Some((value, ty))) = (
            comparison(parts.operator, parts.flushes, parts.ty),
            compare::set_value(dtype, parts.flushes, stype),
        ) {
            instr = self.instr(Op::SetWord(test.test, parts.combine));
            self.compared(&mut instr, test.ty, parts.combine, sources)?;
            instr.target = value;
            instr.dst[0] = self.destination(destination, ty)?;
        } else {
            return Ok(false);
        }
        self.push(instr);
        Ok(true)
    }
}
