//! `atom` and `red`.

use cuda_ptx::Operand;

use super::function::{Decoder, Why};
use super::memory::is_hint;
use crate::code::Op;
use crate::exec::Space;
use crate::ops::atomic;

impl<'a> Decoder<'_, 'a> {
    /// Decodes the instruction if it is one of these: `atom{.order}{.scope}{.space}.operation{.level}.type`.
    pub(super) fn atomic(
        &mut self,
        mnemonic: &[&'a str],
        operands: &[Operand<'a>],
    ) -> Result<bool, Why> {
        let (returns, modifiers) = match mnemonic {
            ["atom", modifiers @ ..] => (true, modifiers),
            ["red", modifiers @ ..] => (false, modifiers),
            _ => return Ok(false),
        };
        let [modifiers @ .., ty] = modifiers else {
            return Ok(false);
        };
        let (mut space, mut operation) = (None, None);
        for &modifier in modifiers {
            match modifier {
                "global" if space.is_none() => space = Some(Space::Global),
                "shared" | "shared::cta" if space.is_none() => space = Some(Space::Shared),
                "relaxed" | "acquire" | "release" | "acq_rel" | "cta" | "cluster" | "gpu"
                | "sys" => {}
                hint if hint.starts_with("L2::") && is_hint(hint) => {}
                other if operation.is_none() => operation = Some(other),
                _ => return Ok(false),
            }
        }
        let Some(form) = operation.and_then(|operation| atomic::lookup(operation, ty)) else {
            return Ok(false);
        };
        let (destination, rest) = match (returns, operands) {
            (true, [destination, rest @ ..]) => (Some(destination), rest),
            (true, []) => return Ok(false),
            (false, rest) => (None, rest),
        };
        let (address, first, second) = match (form.operands, rest) {
            (1, [address, first]) => (address, first, None),
            (2, [address, first, second]) => (address, first, Some(second)),
            _ => return Ok(false),
        };
        let space = space.unwrap_or(Space::Generic);
        let address = self.address(address, space)?;
        let mut instr = self.instr(Op::Access(form.run));
        instr.src = [
            address.row,
            u32::from(address.narrow),
            space.code(),
            self.source(first, form.ty)?,
        ];
        instr.imm = address.offset;
        if let Some(second) = second {
            instr.target = self.source(second, form.ty)?;
        }
        if let Some(destination) =
            destination.filter(|destination| !matches!(destination, Operand::Sink))
        {
            instr.dst[0] = self.destination(destination, form.ty)?;
        }
        self.push(instr);
        Ok(true)
    }
}
