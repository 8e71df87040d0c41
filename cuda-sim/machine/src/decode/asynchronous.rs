//! `mbarrier`, and `cp.async` to shared memory.

use cuda_ptx::Operand;

use super::function::{Decoder, Why};
use crate::code::{Access, Instr, Op};
use crate::exec::Space;
use crate::ops::map::Ty;
use crate::ops::{copy, mbarrier};

/// `{.sem}{.scope}{.space}.b64` of an operation on a barrier: its space.
fn barrier_space(modifiers: &[&str]) -> Option<Space> {
    let rest = match modifiers {
        [
            "acquire" | "release" | "relaxed",
            "cta" | "cluster",
            rest @ ..,
        ] => rest,
        rest => rest,
    };
    match rest {
        ["shared" | "shared::cta", "b64"] => Some(Space::Shared),
        ["shared::cluster", "b64"] => Some(Space::Cluster),
        ["b64"] => Some(Space::Generic),
        _ => None,
    }
}

impl<'a> Decoder<'_, 'a> {
    /// Decodes the instruction if it is one of these.
    pub(super) fn asynchronous(
        &mut self,
        mnemonic: &[&'a str],
        operands: &[Operand<'a>],
    ) -> Result<bool, Why> {
        match mnemonic {
            ["mbarrier", operation, modifiers @ ..] => {
                self.barrier_in_memory(operation, modifiers, operands)
            }
            ["cp", "async", "bulk", ..] => self.bulk(mnemonic, operands),
            ["cp", "async", rest @ ..] => self.copy(rest, operands),
            _ => self.bulk(mnemonic, operands),
        }
    }

    fn barrier_in_memory(
        &mut self,
        operation: &str,
        modifiers: &[&'a str],
        operands: &[Operand<'a>],
    ) -> Result<bool, Why> {
        let (with_bytes, modifiers) = match (operation, modifiers) {
            ("arrive" | "arrive_drop", ["expect_tx", rest @ ..]) => (true, rest),
            ("arrive" | "arrive_drop", ["noComplete", rest @ ..]) => (false, rest),
            (_, rest) => (false, rest),
        };
        let (parity, modifiers) = match (operation, modifiers) {
            ("test_wait" | "try_wait", ["parity", rest @ ..]) => (true, rest),
            (_, rest) => (false, rest),
        };
        if operation == "pending_count" {
            let (["b64"], [destination, state]) = (modifiers, operands) else {
                return Ok(false);
            };
            let mut instr = self.instr(Op::Alu(mbarrier::pending_count));
            instr.src[0] = self.source(state, Ty::B64)?;
            instr.dst[0] = self.destination(destination, Ty::B32)?;
            self.push(instr);
            return Ok(true);
        }
        let plain = matches!(modifiers, ["b64"] | ["shared" | "shared::cta", "b64"]);
        let Some(space) =
            barrier_space(modifiers).filter(|_| plain || !matches!(operation, "init" | "inval"))
        else {
            return Ok(false);
        };
        // Another block's barrier can be arrived at, without learning its state, and cannot be waited for.
        let other_block = space == Space::Cluster;
        if other_block && matches!(operation, "test_wait" | "try_wait") {
            return Ok(false);
        }
        let one = Operand::Integer(1);
        let (run, destination, address, operand): (Access, _, _, _) = match (operation, operands) {
            ("init", [address, count]) => (mbarrier::init, None, address, count),
            ("inval", [address]) => (mbarrier::inval, None, address, &one),
            ("expect_tx", [address, bytes]) => (mbarrier::expect, None, address, bytes),
            ("complete_tx", [address, bytes]) => (mbarrier::complete, None, address, bytes),
            ("arrive", [state, address, bytes]) if with_bytes => {
                (mbarrier::arrive_expect, Some(state), address, bytes)
            }
            ("arrive", [state, address]) if !with_bytes => {
                (mbarrier::arrive, Some(state), address, &one)
            }
            ("arrive", [state, address, count]) => (mbarrier::arrive, Some(state), address, count),
            ("arrive_drop", [state, address, bytes]) if with_bytes => {
                (mbarrier::drop_expect, Some(state), address, bytes)
            }
            ("arrive_drop", [state, address]) if !with_bytes => {
                (mbarrier::arrive_drop, Some(state), address, &one)
            }
            ("arrive_drop", [state, address, count]) => {
                (mbarrier::arrive_drop, Some(state), address, count)
            }
            ("test_wait", [over, address, phase]) | ("try_wait", [over, address, phase]) => {
                return self.wait_for_phase(space, parity, over, address, phase);
            }
            // The time after which to give up.
            ("try_wait", [over, address, phase, time]) => {
                self.source(time, Ty::B32)?;
                return self.wait_for_phase(space, parity, over, address, phase);
            }
            _ => return Ok(false),
        };
        if other_block && destination.is_some_and(|state| !matches!(state, Operand::Sink)) {
            return Ok(false);
        }
        let mut instr = self.at(run, address, space)?;
        instr.src[3] = self.source(operand, Ty::B32)?;
        if let Some(state) = destination.filter(|state| !matches!(state, Operand::Sink)) {
            instr.dst[0] = self.destination(state, Ty::B64)?;
        }
        self.push(instr);
        Ok(true)
    }

    fn wait_for_phase(
        &mut self,
        space: Space,
        parity: bool,
        over: &Operand<'a>,
        address: &Operand<'a>,
        phase: &Operand<'a>,
    ) -> Result<bool, Why> {
        let (run, ty): (Access, _) = if parity {
            (mbarrier::test_parity, Ty::B32)
        } else {
            (mbarrier::test_state, Ty::B64)
        };
        let mut instr = self.at(run, address, space)?;
        instr.op = Op::Poll(run);
        instr.src[3] = self.source(phase, ty)?;
        instr.dst[0] = self.destination(over, Ty::Pred)?;
        self.push(instr);
        Ok(true)
    }

    /// An operation at an address.
    fn at(&mut self, run: Access, address: &Operand<'a>, space: Space) -> Result<Instr, Why> {
        let address = self.address(address, space)?;
        let mut instr = self.instr(Op::Access(run));
        instr.src = [address.row, u32::from(address.narrow), space.code(), 0];
        instr.imm = address.offset;
        Ok(instr)
    }

    /// `cp.async`; the copies are made at once, so that waiting for them is nothing.
    fn copy(&mut self, rest: &[&'a str], operands: &[Operand<'a>]) -> Result<bool, Why> {
        let (cached, rest) = match (rest, operands) {
            (["commit_group"] | ["wait_all"], []) => return Ok(true),
            (["wait_group"], [Operand::Integer(_)]) => return Ok(true),
            (["mbarrier", "arrive", rest @ ..], [address]) => {
                return self.arrive_when_copied(rest, address);
            }
            (
                [
                    level @ ("ca" | "cg"),
                    "shared" | "shared::cta",
                    "global",
                    rest @ ..,
                ],
                _,
            ) => (*level == "ca", rest),
            _ => return Ok(false),
        };
        let (policy, rest) = match rest {
            ["L2::cache_hint", rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        if !matches!(rest, [] | ["L2::64B" | "L2::128B" | "L2::256B"]) {
            return Ok(false);
        }
        let operands = match (policy, operands) {
            (true, [operands @ .., policy]) => {
                self.source(policy, Ty::B64)?;
                operands
            }
            (true, []) => return Ok(false),
            (false, operands) => operands,
        };
        let [to, from, Operand::Integer(size), rest @ ..] = operands else {
            return Ok(false);
        };
        let run: Access = match (*size, cached) {
            (4, true) => copy::copy::<4>,
            (8, true) => copy::copy::<8>,
            (16, _) => copy::copy::<16>,
            _ => return Ok(false),
        };
        let given = match rest {
            [] => self.source(&Operand::Integer(*size), Ty::B32)?,
            [given] => self.source(given, Ty::B32)?,
            _ => return Ok(false),
        };
        let from = self.address(from, Space::Global)?;
        if from.narrow {
            return Err(String::from("the source is not a 64-bit address"));
        }
        let offset = i32::try_from(from.offset)
            .map_err(|_| String::from("the source's offset takes more than 32 bits"))?;
        let mut instr = self.at(run, to, Space::Shared)?;
        instr.dst[0] = from.row;
        instr.target = offset as u32;
        instr.src[3] = given;
        self.push(instr);
        Ok(true)
    }

    /// `cp.async.mbarrier.arrive{.noinc}{.space}.b64`: without `.noinc`, the arrival is one that the barrier did not expect, so that
    /// nothing comes of it.
    fn arrive_when_copied(&mut self, rest: &[&'a str], address: &Operand<'a>) -> Result<bool, Why> {
        let (expected, rest) = match rest {
            ["noinc", rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        let Some(space) = barrier_space(rest) else {
            return Ok(false);
        };
        let mut instr = self.at(mbarrier::arrive, address, space)?;
        let count = if expected { 1 } else { 0 };
        instr.src[3] = self.source(&Operand::Integer(count), Ty::B32)?;
        self.push(instr);
        Ok(true)
    }
}
