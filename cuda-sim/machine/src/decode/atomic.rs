//! `atom` and `red`.

use cuda_ptx::Operand;

use super::function::{Decoder, Why};
use crate::code::{NONE, Op};
use crate::exec::Space;
use crate::ops::atomic;
use crate::ops::atomic::vector;

/// `{.sem}{.scope}{.space}.operation{.noftz}{.L2::cache_hint}{.vec}.type`
struct Form<'a> {
    space: Space,
    operation: &'a str,
    noftz: bool,
    /// Another operand gives a cache policy.
    policy: bool,
    count: usize,
    ty: &'a str,
}

fn form<'a>(returns: bool, modifiers: &[&'a str]) -> Option<Form<'a>> {
    let rest = match modifiers {
        ["relaxed" | "release", rest @ ..] => rest,
        ["acquire" | "acq_rel", rest @ ..] if returns => rest,
        rest => rest,
    };
    let rest = match rest {
        ["cta" | "cluster" | "gpu" | "sys", rest @ ..] => rest,
        rest => rest,
    };
    let (space, rest) = match rest {
        ["global", rest @ ..] => (Space::Global, rest),
        ["shared" | "shared::cta", rest @ ..] => (Space::Shared, rest),
        ["shared::cluster", rest @ ..] => (Space::Cluster, rest),
        rest => (Space::Generic, rest),
    };
    let (operation, rest) = rest.split_first()?;
    let (noftz, rest) = match rest {
        ["noftz", rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let is_shared = matches!(space, Space::Shared | Space::Cluster);
    let (policy, rest) = match rest {
        ["L2::cache_hint", rest @ ..] if !is_shared => (true, rest),
        rest => (false, rest),
    };
    let (count, ty) = match rest {
        [ty] => (1, ty),
        ["v2", ty] => (2, ty),
        ["v4", ty] => (4, ty),
        ["v8", ty] => (8, ty),
        _ => return None,
    };
    (count == 1 || !is_shared).then_some(Form {
        space,
        operation,
        noftz,
        policy,
        count,
        ty,
    })
}

impl<'a> Decoder<'_, 'a> {
    /// Decodes the instruction if it is one of these.
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
        let Some(form) = form(returns, modifiers) else {
            return Ok(false);
        };
        let (destination, rest) = match (returns, operands) {
            (true, [destination, rest @ ..]) => (Some(destination), rest),
            (true, []) => return Ok(false),
            (false, rest) => (None, rest),
        };
        let rest = match (form.policy, rest) {
            (true, [rest @ .., policy]) => {
                self.source(policy, crate::ops::map::Ty::B64)?;
                rest
            }
            (true, []) => return Ok(false),
            (false, rest) => rest,
        };
        if form.count > 1 {
            return self.vector_atomic(&form, destination, rest);
        }
        // Without a result, an exchange would be a store, and a comparison of no use.
        let Some(operation) = atomic::lookup(form.operation, form.noftz, form.ty)
            .filter(|_| returns || !matches!(form.operation, "exch" | "cas"))
        else {
            return Ok(false);
        };
        let (address, first, second) = match (operation.operands, rest) {
            (1, [address, first]) => (address, first, None),
            (2, [address, first, second]) => (address, first, Some(second)),
            _ => return Ok(false),
        };
        let address = self.address(address, form.space)?;
        let mut instr = self.instr(Op::Access(operation.run));
        instr.src = [
            address.row,
            u32::from(address.narrow),
            form.space.code(),
            self.source(first, operation.ty)?,
        ];
        instr.imm = address.offset;
        if let Some(second) = second {
            instr.target = self.source(second, operation.ty)?;
        }
        if let Some(destination) =
            destination.filter(|destination| !matches!(destination, Operand::Sink))
        {
            instr.dst[0] = self.destination(destination, operation.ty)?;
        }
        self.push(instr);
        Ok(true)
    }

    fn vector_atomic(
        &mut self,
        form: &Form<'a>,
        destination: Option<&Operand<'a>>,
        rest: &[Operand<'a>],
    ) -> Result<bool, Why> {
        let (Some(operation), [address, Operand::Vector(sources)]) = (
            vector::lookup(form.operation, form.noftz, form.count, form.ty),
            rest,
        ) else {
            return Ok(false);
        };
        let destinations = match destination {
            None | Some(Operand::Sink) => None,
            Some(Operand::Vector(parts)) => Some(parts),
            Some(_) => return Err(String::from("the destination is not a vector")),
        };
        if sources.len() != form.count || destinations.is_some_and(|all| all.len() != form.count) {
            return Err(format!("vectors of {} elements are needed", form.count));
        }
        let mut rows = Vec::with_capacity(2 * form.count);
        for source in sources {
            rows.push(self.source(source, operation.ty)?);
        }
        for destination in destinations.into_iter().flatten() {
            rows.push(self.destination(destination, operation.ty)?);
        }
        let address = self.address(address, form.space)?;
        let mut instr = self.instr(Op::Access(operation.run));
        instr.src = [address.row, u32::from(address.narrow), form.space.code(), 0];
        instr.imm = address.offset;
        instr.dst[0] = if destinations.is_some() { 0 } else { NONE };
        instr.target = self.code.vectors.len() as u32;
        self.code.vectors.push(rows);
        self.push(instr);
        Ok(true)
    }
}
