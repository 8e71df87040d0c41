//! Calls: where a function expects its arguments, and what is copied where.

use cuda_ptx::{FunctionKind, Operand, Param, ScalarType, Space};

use super::function::{Decoder, Why};
use super::symbols::{Symbol, register_bits};
use crate::code::{CallSite, Callee, Op, RowCounts, Signature, Slot, Transfer};
use crate::ops::map::Ty;

/// The parameters and returned values of a device function; both sides of a call lay them out from its signature.
#[derive(Debug)]
pub(super) struct Formals {
    pub(super) signature: Signature,
    pub(super) bytes: u32,
    pub(super) rows: RowCounts,
}

/// Puts `size` bytes behind the first `end` bytes; returns their offset and the new end.
pub(super) fn place(end: u32, size: usize, align: usize) -> Result<(u32, u32), Why> {
    let offset = (end as usize).checked_next_multiple_of(align.max(1));
    let end = offset
        .and_then(|offset| offset.checked_add(size))
        .filter(|&end| end < 1 << 20);
    match (offset, end) {
        (Some(offset), Some(end)) => Ok((offset as u32, end as u32)),
        _ => Err(String::from("the parameters of calls take more than 1 MiB")),
    }
}

impl Formals {
    pub(super) fn of(returns: &[Param<'_>], params: &[Param<'_>]) -> Result<Self, Why> {
        let (mut all, mut bytes, mut rows) = (Vec::new(), 0, RowCounts::default());
        for param in returns.iter().chain(params) {
            if param.space == Space::Register {
                let bits = register_bits(param.ty)
                    .filter(|&bits| bits <= 64)
                    .ok_or_else(|| {
                        format!("a parameter of type {} is not implemented", param.ty)
                    })?;
                let count = match param.ty {
                    ScalarType::Pred => &mut rows.predicates,
                    _ if bits == 64 => &mut rows.doubles,
                    _ => &mut rows.words,
                };
                all.push(Slot::Row {
                    bits,
                    row: *count as u32,
                });
                *count += 1;
            } else {
                let (offset, end) = place(bytes, param.size, param.align)?;
                all.push(Slot::Bytes(offset, param.size as u32));
                bytes = end;
            }
        }
        let params = all.split_off(returns.len());
        let signature = Signature {
            returns: all,
            params,
        };
        Ok(Self {
            signature,
            bytes,
            rows,
        })
    }
}

/// The parts of a call as they are written.
struct Written<'c, 'a> {
    results: &'c [Operand<'a>],
    /// A function, or a register with the address of one.
    name: &'a str,
    arguments: &'c [Operand<'a>],
    /// The label of a prototype or of a list of functions.
    label: Option<&'a str>,
}

impl<'c, 'a> Written<'c, 'a> {
    fn new(operands: &'c [Operand<'a>]) -> Option<Self> {
        let (results, rest): (&[_], _) = match operands {
            [Operand::List(results), rest @ ..] => (results, rest),
            rest => (&[], rest),
        };
        let (Operand::Name(name), rest) = rest.split_first()? else {
            return None;
        };
        let (arguments, rest): (&[_], _) = match rest {
            [Operand::List(arguments), rest @ ..] => (arguments, rest),
            rest => (&[], rest),
        };
        let label = match rest {
            [] => None,
            [Operand::Name(label)] => Some(*label),
            _ => return None,
        };
        Some(Self {
            results,
            name,
            arguments,
            label,
        })
    }
}

impl<'a> Decoder<'_, 'a> {
    /// `call (results), function, (arguments), label`
    pub(super) fn call(&mut self, operands: &[Operand<'a>]) -> Result<(), Why> {
        let written =
            Written::new(operands).ok_or_else(|| String::from("this is no form of a call"))?;
        let name = written.name;
        let mut without_body = false;
        let (callee, signature, address) = if let Some(Symbol::Register(_)) = self.find(name) {
            let (signature, targets) = self.indirect(written.label)?;
            let address = self.register(name, 64)?;
            (
                Callee::Indirect(signature.clone(), targets),
                signature,
                Some(address),
            )
        } else {
            let index = self.function_named(name)?;
            let function = &self.names.module.functions()[index];
            let formals = Formals::of(&function.returns, &function.params)?;
            without_body = function.body.is_none();
            (Callee::Direct(index), formals.signature, None)
        };
        let (params, returns) = (&signature.params, &signature.returns);
        if params.len() != written.arguments.len() || returns.len() != written.results.len() {
            return Err(format!(
                "the function takes {} arguments and returns {} values",
                params.len(),
                returns.len()
            ));
        }
        if without_body && self.service(name, &signature, written.results, written.arguments)? {
            return Ok(());
        }
        let mut site = CallSite {
            callee,
            arguments: Vec::new(),
            results: Vec::new(),
        };
        for (slot, operand) in params.iter().zip(written.arguments) {
            let transfer = self.argument(*slot, operand)?;
            site.arguments.push(transfer);
        }
        for (slot, operand) in returns.iter().zip(written.results) {
            if !matches!(operand, Operand::Sink) {
                let transfer = reversed(self.argument(*slot, operand)?);
                site.results.push(transfer);
            }
        }
        let mut instr = self.instr(if address.is_some() {
            Op::CallIndirect
        } else {
            Op::Call
        });
        instr.src[0] = address.unwrap_or(0);
        instr.target = self.code.calls.len() as u32;
        self.code.calls.push(site);
        self.push(instr);
        Ok(())
    }

    /// The device function of that name.
    fn function_named(&self, name: &str) -> Result<usize, Why> {
        let Some(&index) = self.names.functions.get(name) else {
            return Err(format!("there is no function `{name}`"));
        };
        let function = &self.names.module.functions()[index];
        if function.kind == FunctionKind::Entry {
            return Err(format!(
                "`{name}` is a kernel, which a kernel cannot call and whose address it cannot take"
            ));
        }
        Ok(index)
    }

    /// What an indirect call says about the functions that it reaches.
    fn indirect(&self, label: Option<&str>) -> Result<(Signature, Option<Vec<usize>>), Why> {
        let label =
            label.ok_or_else(|| String::from("an indirect call needs a prototype or targets"))?;
        if let Some(signature) = self.prototypes.get(label) {
            return Ok((signature.clone(), None));
        }
        let names = self.call_targets.get(label).ok_or_else(|| {
            format!("`{label}` is neither a prototype nor a list of targets before the call")
        })?;
        let mut targets = Vec::new();
        let mut common = None;
        for name in names {
            let index = self.function_named(name)?;
            let function = &self.names.module.functions()[index];
            let signature = Formals::of(&function.returns, &function.params)?.signature;
            if *common.get_or_insert_with(|| signature.clone()) != signature {
                return Err(format!("the functions of `{label}` differ in parameters"));
            }
            targets.push(index);
        }
        let signature = common.ok_or_else(|| format!("`{label}` lists no functions"))?;
        Ok((signature, Some(targets)))
    }

    /// The index of a device function whose address is taken.
    pub(super) fn take_address(&mut self, name: &str) -> Result<usize, Why> {
        let index = self.function_named(name)?;
        if !self.code.taken.contains(&index) {
            self.code.taken.push(index);
        }
        Ok(index)
    }

    /// How one argument gets from the caller to its place in the called function.
    pub(super) fn argument(&mut self, slot: Slot, operand: &Operand<'a>) -> Result<Transfer, Why> {
        let symbol = operand.name().and_then(|name| self.find(name));
        match (slot, symbol) {
            (Slot::Bytes(offset, size), Some(Symbol::CallParam(from, given))) if given == size => {
                Ok(Transfer::Bytes(from, offset, size))
            }
            (Slot::Bytes(_, size), Some(Symbol::CallParam(_, given))) => Err(format!(
                "an argument has {given} bytes where the function expects {size}"
            )),
            (Slot::Row { bits, row: formal }, _) => {
                let ty = match bits {
                    1 => Ty::Pred,
                    16 => Ty::B16,
                    32 => Ty::B32,
                    64 => Ty::B64,
                    bits => return Err(format!("arguments of {bits} bits are not implemented")),
                };
                let row = self.source(operand, ty)?;
                Ok(match ty {
                    Ty::Pred => Transfer::Predicate(row, formal),
                    Ty::B64 | Ty::F64 => Transfer::Row64(row, formal),
                    Ty::B8 | Ty::B16 | Ty::B32 | Ty::F32 => Transfer::Row32(row, formal),
                })
            }
            (Slot::Bytes(..), _) => Err(String::from(
                "an argument of this kind is not implemented for a `.param` parameter",
            )),
        }
    }
}

/// The same transfer from the called function to the caller.
fn reversed(transfer: Transfer) -> Transfer {
    match transfer {
        Transfer::Bytes(from, to, size) => Transfer::Bytes(to, from, size),
        Transfer::Row32(from, to) => Transfer::Row32(to, from),
        Transfer::Row64(from, to) => Transfer::Row64(to, from),
        Transfer::Predicate(from, to) => Transfer::Predicate(to, from),
    }
}
