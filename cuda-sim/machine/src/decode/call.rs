//! Calls: where a function expects its arguments, and what is copied where.

use cuda_ptx::{Function, FunctionKind, Operand, ScalarType, Space};

use super::function::{Decoder, Why};
use super::symbols::{Register, Symbol, register_bits};
use crate::code::{CallSite, Op, RowCounts, Transfer};
use crate::ops::map::Ty;

/// Where a parameter or a returned value lies in the called function.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place {
    /// Offset and size in its parameter memory.
    Bytes(u32, u32),
    /// A register.
    Row(Register),
}

/// The parameters and returned values of a device function; both sides of a call lay them out from its signature.
#[derive(Debug)]
pub(super) struct Formals {
    returns: Vec<Place>,
    params: Vec<Place>,
    all: Vec<Place>,
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
    pub(super) fn of(function: &Function<'_>) -> Result<Self, Why> {
        let (mut all, mut bytes, mut rows) = (Vec::new(), 0, RowCounts::default());
        for param in function.returns.iter().chain(&function.params) {
            if param.space == Space::Register {
                let bits = register_bits(param.ty).ok_or_else(|| {
                    format!("a parameter of type {} is not implemented", param.ty)
                })?;
                let count = match param.ty {
                    ScalarType::Pred => &mut rows.predicates,
                    _ if bits == 64 => &mut rows.doubles,
                    _ => &mut rows.words,
                };
                all.push(Place::Row(Register {
                    bits,
                    row: *count as u32,
                }));
                *count += 1;
            } else {
                let (offset, end) = place(bytes, param.size, param.align)?;
                all.push(Place::Bytes(offset, param.size as u32));
                bytes = end;
            }
        }
        let (returns, params) = all.split_at(function.returns.len());
        Ok(Self {
            returns: returns.to_vec(),
            params: params.to_vec(),
            all,
            bytes,
            rows,
        })
    }

    pub(super) fn all(&self) -> &[Place] {
        &self.all
    }
}

impl<'a> Decoder<'_, 'a> {
    /// `call (results), function, (arguments)`
    pub(super) fn call(&mut self, operands: &[Operand<'a>]) -> Result<(), Why> {
        let (results, name, arguments): (&[_], _, &[_]) = match operands {
            [Operand::Name(name)] => (&[], *name, &[]),
            [Operand::Name(name), Operand::List(arguments)] => (&[], *name, arguments),
            [Operand::List(results), Operand::Name(name)] => (results, *name, &[]),
            [
                Operand::List(results),
                Operand::Name(name),
                Operand::List(arguments),
            ] => (results, *name, arguments),
            _ => return Err(String::from("indirect calls are not implemented")),
        };
        let Some(&index) = self.names.functions.get(name) else {
            let what = if self.find(name).is_some() {
                "indirect calls are not implemented"
            } else {
                "there is no such function"
            };
            return Err(String::from(what));
        };
        let callee = &self.names.module.functions()[index];
        if callee.kind == FunctionKind::Entry {
            return Err(format!("`{name}` is a kernel and cannot be called"));
        }
        let formals = Formals::of(callee)?;
        if formals.params.len() != arguments.len() || formals.returns.len() != results.len() {
            return Err(format!(
                "`{name}` takes {} arguments and returns {} values",
                formals.params.len(),
                formals.returns.len()
            ));
        }
        let mut site = CallSite {
            function: index,
            arguments: Vec::new(),
            results: Vec::new(),
        };
        for (place, operand) in formals.params.iter().zip(arguments) {
            let transfer = self.argument(*place, operand)?;
            site.arguments.push(transfer);
        }
        for (place, operand) in formals.returns.iter().zip(results) {
            if !matches!(operand, Operand::Sink) {
                let transfer = reversed(self.argument(*place, operand)?);
                site.results.push(transfer);
            }
        }
        let mut instr = self.instr(Op::Call);
        instr.target = self.code.calls.len() as u32;
        self.code.calls.push(site);
        self.push(instr);
        Ok(())
    }

    /// How one argument gets from the caller to its place in the called function.
    fn argument(&mut self, place: Place, operand: &Operand<'a>) -> Result<Transfer, Why> {
        let symbol = operand.name().and_then(|name| self.find(name));
        match (place, symbol) {
            (Place::Bytes(offset, size), Some(Symbol::CallParam(from, given))) if given == size => {
                Ok(Transfer::Bytes(from, offset, size))
            }
            (Place::Bytes(_, size), Some(Symbol::CallParam(_, given))) => Err(format!(
                "an argument has {given} bytes where the function expects {size}"
            )),
            (Place::Row(formal), _) => {
                let ty = match formal.bits {
                    1 => Ty::Pred,
                    16 => Ty::B16,
                    32 => Ty::B32,
                    64 => Ty::B64,
                    bits => return Err(format!("arguments of {bits} bits are not implemented")),
                };
                let row = self.source(operand, ty)?;
                Ok(match ty {
                    Ty::Pred => Transfer::Predicate(row, formal.row),
                    Ty::B64 | Ty::F64 => Transfer::Row64(row, formal.row),
                    Ty::B16 | Ty::B32 | Ty::F32 => Transfer::Row32(row, formal.row),
                })
            }
            (Place::Bytes(..), _) => Err(String::from(
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
