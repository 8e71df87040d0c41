//! Asynchronous operations: `cp.async.bulk`, `cp.reduce.async.bulk`, `st.async`, `red.async`, and the groups of bulk copies.

use cuda_ptx::Operand;

use super::function::{Decoder, Why};
use crate::code::{Asynchronous, Given, Op, Pointer};
use crate::exec::{Reduction, Space};
use crate::ops::asynchronous::{self, combine};
use crate::ops::map::Ty;
use crate::ops::memory::Element;

/// A bulk copy as its modifiers describe it.
struct Form {
    to: Space,
    from: Space,
    combine: Option<Reduction>,
    multicast: bool,
    policy: bool,
    masked: bool,
}

/// Takes a modifier in front.
fn take<'m, 'a>(name: &str, modifiers: &'m [&'a str]) -> (bool, &'m [&'a str]) {
    match modifiers.split_first() {
        Some((first, rest)) if *first == name => (true, rest),
        _ => (false, modifiers),
    }
}

/// The same modifiers in the order of the grammar: assemblers take any, but for spaces and types among themselves.
fn ordered<'a>(modifiers: &[&'a str]) -> Vec<&'a str> {
    let mut ordered = modifiers.to_vec();
    // Stable: the destination's space stays before the source's.
    ordered.sort_by_key(|modifier| match *modifier {
        "weak" | "relaxed" => 0,
        "cluster" => 1,
        "mbarrier::complete_tx::bytes" | "bulk_group" => 3,
        "multicast::cluster" => 4,
        "L2::cache_hint" => 5,
        "cp_mask" => 6,
        "add" | "min" | "max" | "inc" | "dec" | "and" | "or" | "xor" => 7,
        "noftz" | "v2" | "v4" => 8,
        modifier if modifier == "global" || modifier.starts_with("shared") => 2,
        _ => 9,
    });
    ordered
}

/// `cp.async.bulk` between memories.
fn copy_form(modifiers: &[&str]) -> Option<Form> {
    let (to, from, rest) = match modifiers {
        [
            "shared::cluster" | "shared::cta",
            "global",
            "mbarrier::complete_tx::bytes",
            rest @ ..,
        ] => (Space::Cluster, Space::Global, rest),
        [
            "shared::cluster",
            "shared::cta",
            "mbarrier::complete_tx::bytes",
            rest @ ..,
        ] => (Space::Cluster, Space::Shared, rest),
        ["global", "shared::cta", "bulk_group", rest @ ..] => (Space::Global, Space::Shared, rest),
        _ => return None,
    };
    let to = if modifiers.first() == Some(&"shared::cta") {
        Space::Shared
    } else {
        to
    };
    let (multicast, rest) = take("multicast::cluster", rest);
    let (policy, rest) = take("L2::cache_hint", rest);
    let (masked, rest) = take("cp_mask", rest);
    let possible = (!multicast || to == Space::Cluster && from == Space::Global)
        && (!policy || from == Space::Global || to == Space::Global)
        && (!masked || to == Space::Global);
    (rest.is_empty() && possible).then_some(Form {
        to,
        from,
        combine: None,
        multicast,
        policy,
        masked,
    })
}

/// `cp.reduce.async.bulk`
fn reduction_form(modifiers: &[&str]) -> Option<Form> {
    let (to, policy, combine) = match modifiers {
        [
            "shared::cluster",
            "shared::cta",
            "mbarrier::complete_tx::bytes",
            operation,
            ty,
        ] => (Space::Cluster, false, combine::shared(operation, ty)?),
        ["global", "shared::cta", "bulk_group", rest @ ..] => {
            let (policy, rest) = take("L2::cache_hint", rest);
            let (operation, rest) = rest.split_first()?;
            let (noftz, rest) = take("noftz", rest);
            let [ty] = rest else { return None };
            let combine = combine::global(operation, noftz, ty)?;
            (Space::Global, policy, combine)
        }
        _ => return None,
    };
    Some(Form {
        to,
        from: Space::Shared,
        combine: Some(combine),
        multicast: false,
        policy,
        masked: false,
    })
}

impl<'a> Decoder<'_, 'a> {
    /// Decodes the instruction if it is one of these.
    pub(super) fn bulk(
        &mut self,
        mnemonic: &[&'a str],
        operands: &[Operand<'a>],
    ) -> Result<bool, Why> {
        let form = match mnemonic {
            ["cp", "async", "bulk", rest @ ..] => {
                if self.bulk_group(rest, operands)? {
                    return Ok(true);
                }
                copy_form(&ordered(rest))
            }
            ["cp", "reduce", "async", "bulk", rest @ ..] => reduction_form(&ordered(rest)),
            ["st", "async", rest @ ..] => {
                return self.store_asynchronously(&ordered(rest), operands);
            }
            ["red", "async", rest @ ..] => {
                return self.reduce_asynchronously(&ordered(rest), operands);
            }
            _ => return Ok(false),
        };
        match form {
            Some(form) => self.bulk_copy(&form, operands),
            None => Ok(false),
        }
    }

    /// Groups of bulk copies, and hints.
    fn bulk_group(&mut self, form: &[&'a str], operands: &[Operand<'a>]) -> Result<bool, Why> {
        match (form, operands) {
            (["commit_group"], []) => {
                self.push(self.instr(Op::Access(asynchronous::commit)));
            }
            (["wait_group", read @ ..], [Operand::Integer(pending)])
                if matches!(read, [] | ["read"]) =>
            {
                let mut instr = self.instr(Op::Access(asynchronous::wait));
                instr.imm = i64::from(*pending as u32);
                instr.target = u32::from(!read.is_empty());
                self.push(instr);
            }
            (["prefetch", "L2", "global"] | ["prefetch", "global", "L2"], [from, size]) => {
                self.address(from, Space::Global)?;
                self.source(size, Ty::B32)?;
            }
            (["prefetch", "L2", "global", "L2::cache_hint"], [from, size, policy]) => {
                self.address(from, Space::Global)?;
                self.source(size, Ty::B32)?;
                self.source(policy, Ty::B64)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn pointer(&mut self, operand: &Operand<'a>, space: Space) -> Result<Pointer, Why> {
        let address = self.address(operand, space)?;
        if space == Space::Global && address.narrow {
            return Err(String::from("an address of global memory has 64 bits"));
        }
        Ok(Pointer {
            row: address.row,
            narrow: address.narrow,
            offset: address.offset,
            space,
        })
    }

    fn bulk_copy(&mut self, form: &Form, operands: &[Operand<'a>]) -> Result<bool, Why> {
        let mut rest = operands.iter();
        let (Some(to), Some(from), Some(size)) = (rest.next(), rest.next(), rest.next()) else {
            return Ok(false);
        };
        let wanted = [
            form.to != Space::Global,
            form.multicast,
            form.policy,
            form.masked,
        ];
        let [barrier, blocks, policy, bytes] = wanted.map(|wanted| {
            let operand = wanted.then(|| rest.next());
            (wanted, operand.flatten())
        });
        let missing =
            |(wanted, operand): &(bool, Option<&Operand<'a>>)| *wanted && operand.is_none();
        if [barrier, blocks, policy, bytes].iter().any(missing) || rest.next().is_some() {
            return Ok(false);
        }
        let to = self.pointer(to, form.to)?;
        let given = Given::Memory(self.pointer(from, form.from)?, self.source(size, Ty::B32)?);
        let barrier = match barrier.1 {
            Some(barrier) => Some(self.pointer(barrier, form.to)?),
            None => None,
        };
        if let Some(policy) = policy.1 {
            self.source(policy, Ty::B64)?;
        }
        let sets = [blocks.1, bytes.1].map(|set| set.map(|set| self.source(set, Ty::B16)));
        let [blocks, bytes] = sets.map(Option::transpose);
        self.push_operation(Asynchronous {
            to,
            given,
            barrier,
            combine: form.combine,
            blocks: blocks?,
            bytes: bytes?,
        });
        Ok(true)
    }

    fn push_operation(&mut self, operation: Asynchronous) {
        let mut instr = self.instr(Op::Access(asynchronous::start));
        instr.target = self.code.operations.len() as u32;
        self.code.operations.push(operation);
        self.push(instr);
    }

    /// The rest of `{.weak}{.shared::cluster}.mbarrier::complete_tx::bytes` or the like: the space, and what follows.
    fn counted<'m>(modifiers: &'m [&'a str]) -> Option<(Space, &'m [&'a str])> {
        let (space, rest) = match modifiers {
            ["shared::cluster", rest @ ..] => (Space::Cluster, rest),
            ["shared" | "shared::cta", rest @ ..] => (Space::Shared, rest),
            rest => (Space::Generic, rest),
        };
        let (counted, rest) = take("mbarrier::complete_tx::bytes", rest);
        counted.then_some((space, rest))
    }

    /// `st.async{.weak}{.shared::cluster}.mbarrier::complete_tx::bytes{.v2,.v4}.type [to], value, [barrier]`
    fn store_asynchronously(
        &mut self,
        modifiers: &[&'a str],
        operands: &[Operand<'a>],
    ) -> Result<bool, Why> {
        let (_, rest) = take("weak", modifiers);
        let (Some((space, rest)), [to, value, barrier]) = (Self::counted(rest), operands) else {
            return Ok(false);
        };
        let (count, ty) = match rest {
            [ty] => (1, ty),
            ["v2", ty] => (2, ty),
            ["v4", ty] => (4, ty),
            _ => return Ok(false),
        };
        let Some(element) = Element::from_name(ty)
            .filter(|element| element.bytes >= 4 && element.bytes * count <= 16)
        else {
            return Ok(false);
        };
        let values = match value {
            Operand::Vector(values) if count > 1 && values.len() == count => &values[..],
            value if count == 1 => std::slice::from_ref(value),
            _ => return Ok(false),
        };
        let mut rows = Vec::with_capacity(count);
        for value in values {
            rows.push(self.source(value, element.ty())?);
        }
        let operation = Asynchronous {
            to: self.pointer(to, space)?,
            given: Given::Registers(rows, element.bytes),
            barrier: Some(self.pointer(barrier, space)?),
            combine: None,
            blocks: None,
            bytes: None,
        };
        self.push_operation(operation);
        Ok(true)
    }

    /// `red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.operation.type [to], value, [barrier]`
    fn reduce_asynchronously(
        &mut self,
        modifiers: &[&'a str],
        operands: &[Operand<'a>],
    ) -> Result<bool, Why> {
        let ["relaxed", "cluster", rest @ ..] = modifiers else {
            return Ok(false);
        };
        let (Some((space, [operation, ty])), [to, value, barrier]) =
            (Self::counted(rest), operands)
        else {
            return Ok(false);
        };
        let (Some(combine), Some(element)) =
            (combine::shared(operation, ty), Element::from_name(ty))
        else {
            return Ok(false);
        };
        let row = self.source(value, element.ty())?;
        let operation = Asynchronous {
            to: self.pointer(to, space)?,
            given: Given::Registers(vec![row], element.bytes),
            barrier: Some(self.pointer(barrier, space)?),
            combine: Some(combine),
            blocks: None,
            bytes: None,
        };
        self.push_operation(operation);
        Ok(true)
    }
}
