//! Control flow and barriers.

use cuda_ptx::Operand;

use super::function::{Decoder, Pending, Why};
use crate::code::{ALIGNED, Op};
use crate::ops::map::Ty;

impl<'a> Decoder<'_, 'a> {
    /// Decodes the instruction if it is one of these.
    pub(super) fn control(
        &mut self,
        mnemonic: &[&'a str],
        operands: &[Operand<'a>],
    ) -> Result<bool, Why> {
        match (mnemonic, operands) {
            (["bra"] | ["bra", "uni"], [Operand::Name(label)]) => {
                let place = Pending::Instruction(self.code.instructions.len(), label, self.block);
                self.pending.push((place, self.line()));
                self.push(self.instr(Op::Branch));
            }
            (["brx", "idx"] | ["brx", "idx", "uni"], [index, Operand::Name(table)]) => {
                let mut instr = self.instr(Op::BranchIndexed);
                instr.src[0] = self.source(index, Ty::B32)?;
                let table = self.targets.get(table).copied();
                instr.target =
                    table.ok_or_else(|| String::from("its branch table is not known"))? as u32;
                self.push(instr);
            }
            (["ret"] | ["ret", "uni"], []) => self.push(self.instr(Op::Return)),
            (["exit"], []) => self.push(self.instr(Op::Exit)),
            // Without a debugger, a breakpoint ends the launch as a trap does.
            (["trap"] | ["brkpt"], []) => self.push(self.instr(Op::Trap)),
            (["call"] | ["call", "uni"], _) => self.call(operands)?,
            _ if self.hint(mnemonic, operands)? => {}
            _ => return self.barrier(mnemonic, operands),
        }
        Ok(true)
    }

    pub(super) fn line(&self) -> u32 {
        self.code.sources.last().map_or(0, |source| source.line)
    }

    fn barrier(&mut self, mnemonic: &[&'a str], operands: &[Operand<'a>]) -> Result<bool, Why> {
        let rest = match mnemonic {
            ["bar" | "barrier", rest @ ..] => rest,
            _ => return Ok(false),
        };
        if let (["barrier", ..], ["cluster", rest @ ..]) = (mnemonic, rest) {
            return Ok(operands.is_empty() && self.cluster_barrier(rest));
        }
        let aligned = mnemonic.contains(&"aligned") || mnemonic.first() == Some(&"bar");
        let rest = rest.strip_prefix(&["cta"]).unwrap_or(rest);
        let first = self.code.instructions.len();
        let known = match rest {
            ["sync"] | ["sync", "aligned"] => self.plain_barrier(Op::BarrierSync, operands),
            ["arrive"] | ["arrive", "aligned"] => self.plain_barrier(Op::BarrierArrive, operands),
            ["red", "popc", "u32"] | ["red", "popc", "aligned", "u32"] => {
                self.reduction(0, operands)
            }
            ["red", "and", "pred"] | ["red", "and", "aligned", "pred"] => {
                self.reduction(1, operands)
            }
            ["red", "or", "pred"] | ["red", "or", "aligned", "pred"] => self.reduction(2, operands),
            _ => Ok(false),
        };
        for instr in &mut self.code.instructions[first..] {
            let barrier = matches!(
                instr.op,
                Op::BarrierSync | Op::BarrierArrive | Op::BarrierReduce
            );
            if aligned && barrier {
                instr.target = ALIGNED;
            }
        }
        known
    }

    /// `barrier.cluster`
    fn cluster_barrier(&mut self, form: &[&str]) -> bool {
        let mut form = form.to_vec();
        form.sort_by_key(|part| *part == "aligned");
        let (op, relaxed, rest) = match &form[..] {
            ["arrive", "relaxed", rest @ ..] => (Op::ClusterArrive, true, rest),
            ["arrive", "release", rest @ ..] | ["arrive", rest @ ..] => {
                (Op::ClusterArrive, false, rest)
            }
            ["wait", "acquire", rest @ ..] | ["wait", rest @ ..] => (Op::ClusterWait, false, rest),
            _ => return false,
        };
        let mut instr = self.instr(op);
        instr.imm = i64::from(relaxed);
        match rest {
            [] => {}
            ["aligned"] => instr.target = ALIGNED,
            _ => return false,
        }
        self.push(instr);
        true
    }

    /// `bar.red`: arrives, waits, and then reads what the barrier has counted.
    fn reduction(&mut self, which: i64, operands: &[Operand<'a>]) -> Result<bool, Why> {
        let (destination, number, threads, predicate) = match operands {
            [destination, number, predicate] => (destination, number, None, predicate),
            [destination, number, threads, predicate] => {
                (destination, number, Some(threads), predicate)
            }
            _ => return Ok(false),
        };
        let mut arrive = self.instr(Op::BarrierReduce);
        arrive.src[0] = self.source(number, Ty::B32)?;
        if let Some(threads) = threads {
            arrive.src[1] = self.source(threads, Ty::B32)?;
            arrive.imm = 1;
        }
        arrive.src[2] = self.source(predicate, Ty::Pred)?;
        self.push(arrive);
        let mut collect = self.instr(Op::Access(crate::ops::warp::barrier_result));
        collect.src[0] = arrive.src[0];
        collect.imm = which;
        collect.dst[0] =
            self.destination(destination, if which == 0 { Ty::B32 } else { Ty::Pred })?;
        self.push(collect);
        Ok(true)
    }

    fn plain_barrier(&mut self, op: Op, operands: &[Operand<'a>]) -> Result<bool, Why> {
        let mut instr = self.instr(op);
        match operands {
            [number] => instr.src[0] = self.source(number, Ty::B32)?,
            [number, threads] => {
                instr.src[0] = self.source(number, Ty::B32)?;
                instr.src[1] = self.source(threads, Ty::B32)?;
                instr.imm = 1;
            }
            _ => return Ok(false),
        }
        self.push(instr);
        Ok(true)
    }
}
