//! Operands: which row holds a value, and where an address starts.

use cuda_ptx::Operand;

use super::effect::{CLOCK, Effect};
use super::function::{Decoder, Why};
use super::symbols::Symbol;
use crate::code::{Init, Op, Special};
use crate::exec::{CALL_PARAMS, Space};
use crate::ops::clock;
use crate::ops::compare::negate;
use crate::ops::map::Ty;
use crate::ops::moves;

/// An address as an instruction carries it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Address {
    pub(super) row: u32,
    /// Whether the row is a 32-bit one.
    pub(super) narrow: bool,
    pub(super) offset: i64,
}

impl<'a> Decoder<'_, 'a> {
    /// The row of a register that must have that many bits.
    pub(super) fn register(&mut self, name: &'a str, bits: u32) -> Result<u32, Why> {
        match self.symbols.find(name, &mut self.code) {
            Some(Symbol::Register(register)) if register.bits == bits => Ok(register.row),
            Some(Symbol::Register(register)) => Err(format!(
                "`{name}` has {} bits where {bits} are needed",
                register.bits
            )),
            Some(_) => Err(format!("`{name}` is not a register")),
            None => Err(format!("the name `{name}` is not known")),
        }
    }

    /// A destination; `_` gets a row that nobody reads.
    pub(super) fn destination(&mut self, operand: &Operand<'a>, ty: Ty) -> Result<u32, Why> {
        match operand {
            Operand::Name(name) => self.register(name, ty.bits()),
            Operand::Sink => Ok(super::symbols::new_row(ty.bits(), &mut self.code)),
            _ => Err(String::from("the destination is not a register")),
        }
    }

    /// The row that holds an operand: a register, a constant, an address or a special register.
    pub(super) fn source(&mut self, operand: &Operand<'a>, ty: Ty) -> Result<u32, Why> {
        let bits = ty.bits();
        match (operand, ty) {
            (Operand::Name(name), _) => self.named_source(name, ty),
            (Operand::Not(name), Ty::Pred) => {
                let row = self.register(name, 1)?;
                let mut instr = self.instr(Op::Alu(negate));
                instr.src[0] = row;
                instr.dst[0] = super::symbols::new_row(1, &mut self.code);
                self.push(instr);
                Ok(instr.dst[0])
            }
            (Operand::Integer(value), Ty::Pred) => {
                // A row that nobody writes is false.
                let truth = *value != 0;
                Ok(if truth {
                    self.symbols.always(&mut self.code)
                } else {
                    super::symbols::new_row(1, &mut self.code)
                })
            }
            (Operand::Integer(value), Ty::B8 | Ty::B16 | Ty::B32 | Ty::B64) => {
                let kept = if bits == 64 {
                    u64::MAX
                } else {
                    (1 << bits) - 1
                };
                Ok(self
                    .symbols
                    .constant(bits, Init::Value(*value as u64 & kept), &mut self.code))
            }
            (Operand::Float32(value), Ty::F32 | Ty::B32) => {
                Ok(self
                    .symbols
                    .constant(32, Init::Value(u64::from(*value)), &mut self.code))
            }
            (Operand::Float64(value), Ty::F64 | Ty::B64) => {
                Ok(self
                    .symbols
                    .constant(64, Init::Value(*value), &mut self.code))
            }
            (Operand::Float64(value), Ty::F32) => {
                let single = f64::from_bits(*value) as f32;
                Ok(self.symbols.constant(
                    32,
                    Init::Value(u64::from(single.to_bits())),
                    &mut self.code,
                ))
            }
            (Operand::Offset(name, offset), Ty::B32 | Ty::B64) => {
                let symbol = self.lookup(name)?;
                let (init, _) = self
                    .variable(symbol, *offset)
                    .ok_or_else(|| format!("`{name}` has no address"))?;
                Ok(self.symbols.constant(bits, init, &mut self.code))
            }
            _ => Err(String::from(
                "an operand of this kind is not implemented here",
            )),
        }
    }

    fn named_source(&mut self, name: &'a str, ty: Ty) -> Result<u32, Why> {
        if let Some(symbol) = self.find(name) {
            return match (symbol, ty) {
                (Symbol::Register(_), _) => self.register(name, ty.bits()),
                (_, Ty::B32 | Ty::B64) => {
                    let symbol = self.usable(symbol)?;
                    let (init, _) = self
                        .variable(symbol, 0)
                        .ok_or_else(|| format!("`{name}` has no address"))?;
                    Ok(self.symbols.constant(ty.bits(), init, &mut self.code))
                }
                _ => Err(format!("the address of `{name}` does not fit this operand")),
            };
        }
        if name == "WARP_SZ" {
            return self.source(&Operand::Integer(32), ty);
        }
        if let Some(row) = self.clock_source(name, ty)? {
            return Ok(row);
        }
        if (name, ty) == ("%is_explicit_cluster", Ty::Pred) {
            let word = Init::Special(Special::ExplicitCluster);
            let mut instr = self.instr(Op::Alu(moves::test_word));
            instr.src[0] = self.symbols.constant(32, word, &mut self.code);
            instr.dst[0] = super::symbols::new_row(1, &mut self.code);
            self.push(instr);
            return Ok(instr.dst[0]);
        }
        match (special(name), ty) {
            (Some((bits, special)), Ty::B32 | Ty::B64) if bits == ty.bits() => Ok(self
                .symbols
                .constant(bits, Init::Special(special), &mut self.code)),
            (Some((bits, _)), _) => Err(format!(
                "`{name}` has {bits} bits where {} are needed",
                ty.bits()
            )),
            (None, Ty::B64) if self.names.functions.contains_key(name) => {
                let function = self.take_address(name)?;
                Ok(self
                    .symbols
                    .constant(64, Init::Function(function), &mut self.code))
            }
            (None, _) => Err(unknown(name)),
        }
    }

    /// The row of a special register that changes while the kernel runs: it is read right before the instruction.
    fn clock_source(&mut self, name: &str, ty: Ty) -> Result<Option<u32>, Why> {
        let (bits, shift, timer) = match name {
            "%clock" => (32, 0, 0),
            "%clock_hi" => (32, 32, 0),
            "%clock64" => (64, 0, 0),
            "%globaltimer" => (64, 0, 1),
            "%globaltimer_lo" => (32, 0, 1),
            "%globaltimer_hi" => (32, 32, 1),
            _ => return Ok(None),
        };
        if bits != ty.bits() {
            return Err(format!(
                "`{name}` has {bits} bits where {} are needed",
                ty.bits()
            ));
        }
        let mut instr = self.instr(Op::Access(if bits == 64 {
            clock::read_double
        } else {
            clock::read_word
        }));
        instr.imm = shift;
        instr.target = timer;
        instr.dst[0] = super::symbols::new_row(bits, &mut self.code);
        self.push(instr);
        self.note(Effect::Orders(CLOCK));
        Ok(Some(instr.dst[0]))
    }

    /// What a name stands for, in the function or in the module.
    pub(super) fn find(&mut self, name: &'a str) -> Option<Symbol> {
        if let Some(symbol) = self.symbols.find(name, &mut self.code) {
            return Some(symbol);
        }
        if let Some(&index) = self.names.globals.get(name) {
            return Some(Symbol::Global(index));
        }
        self.names
            .shared
            .get(name)
            .map(|&index| Symbol::Shared(index))
    }

    /// A module variable must be one that the machine can place.
    fn usable(&self, symbol: Symbol) -> Result<Symbol, Why> {
        match symbol {
            Symbol::Global(index) => self
                .names
                .unusable
                .get(&index)
                .map_or(Ok(symbol), |why| Err(why.clone())),
            other => Ok(other),
        }
    }

    fn lookup(&mut self, name: &'a str) -> Result<Symbol, Why> {
        let symbol = self.find(name).ok_or_else(|| unknown(name))?;
        self.usable(symbol)
    }

    /// The address of a variable, within its own space.
    pub(super) fn variable(&mut self, symbol: Symbol, offset: i64) -> Option<(Init, Space)> {
        Some(match symbol {
            Symbol::Register(_) => return None,
            Symbol::KernelParam(start, _) => (
                Init::Value(u64::from(start).wrapping_add_signed(offset)),
                Space::Param,
            ),
            Symbol::CallParam(start, _) => (
                Init::Value((CALL_PARAMS + u64::from(start)).wrapping_add_signed(offset)),
                Space::Param,
            ),
            Symbol::Local(start) => (
                Init::Local(i64::from(start).wrapping_add(offset)),
                Space::Local,
            ),
            Symbol::Shared(index) => {
                if !self.code.shared.contains(&index) {
                    self.code.shared.push(index);
                }
                (Init::Shared(index, offset), Space::Shared)
            }
            Symbol::Global(index) => (Init::Global(index, offset), Space::Global),
        })
    }

    /// The address in brackets. `space` is what the instruction names; a variable must lie there.
    pub(super) fn address(&mut self, operand: &Operand<'a>, space: Space) -> Result<Address, Why> {
        let Operand::Address { base, offset } = operand else {
            return Err(String::from("an address is expected"));
        };
        let Some(name) = base else {
            let row = self.symbols.constant(64, Init::Value(0), &mut self.code);
            return Ok(Address {
                row,
                narrow: false,
                offset: *offset,
            });
        };
        match self.lookup(name)? {
            Symbol::Register(register) if matches!(register.bits, 32 | 64) => Ok(Address {
                row: register.row,
                narrow: register.bits == 32,
                offset: *offset,
            }),
            Symbol::Register(_) => Err(format!("`{name}` cannot hold an address")),
            symbol => {
                let (init, home) = self
                    .variable(symbol, 0)
                    .ok_or_else(|| format!("`{name}` has no address"))?;
                // Without a space, a variable of any space can be named; only those that lie in global memory have that address there.
                let reaches = |space| match space {
                    Space::Generic => home == Space::Global,
                    Space::Cluster => home == Space::Shared,
                    _ => false,
                };
                if home != space && !reaches(space) {
                    return Err(format!(
                        "`{name}` does not lie in the space that the instruction names"
                    ));
                }
                Ok(Address {
                    row: self.symbols.constant(64, init, &mut self.code),
                    narrow: false,
                    offset: *offset,
                })
            }
        }
    }
}

/// Why a name cannot be used.
fn unknown(name: &str) -> Why {
    format!("the name `{name}` is not known")
}

/// A special register that is fixed for a warp, with its bits.
fn special(name: &str) -> Option<(u32, Special)> {
    let axis = |name: &str| match name {
        "x" => Some(0),
        "y" => Some(1),
        "z" => Some(2),
        _ => None,
    };
    if let Some((register, component)) = name.split_once('.') {
        let axis = axis(component)?;
        return Some(match register {
            "%tid" => (32, Special::Tid(axis)),
            "%ntid" => (32, Special::Ntid(axis)),
            "%ctaid" => (32, Special::Ctaid(axis)),
            "%nctaid" => (32, Special::Nctaid(axis)),
            "%clusterid" => (32, Special::Clusterid(axis)),
            "%nclusterid" => (32, Special::Nclusterid(axis)),
            "%cluster_ctaid" => (32, Special::ClusterCtaid(axis)),
            "%cluster_nctaid" => (32, Special::ClusterNctaid(axis)),
            _ => return None,
        });
    }
    Some(match name {
        "%laneid" => (32, Special::Laneid),
        "%warpid" => (32, Special::Warpid),
        "%nwarpid" => (32, Special::Nwarpid),
        "%gridid" => (64, Special::Gridid),
        // The machine is one multiprocessor.
        "%smid" => (32, Special::Zero),
        "%nsmid" => (32, Special::One),
        "%cluster_ctarank" => (32, Special::ClusterCtarank),
        "%cluster_nctarank" => (32, Special::ClusterNctarank),
        "%envreg1" => (32, Special::WorkspaceHigh),
        "%envreg2" => (32, Special::WorkspaceLow),
        "%lanemask_eq" => (32, Special::LanemaskEq),
        "%lanemask_le" => (32, Special::LanemaskLe),
        "%lanemask_lt" => (32, Special::LanemaskLt),
        "%lanemask_ge" => (32, Special::LanemaskGe),
        "%lanemask_gt" => (32, Special::LanemaskGt),
        "%dynamic_smem_size" => (32, Special::DynamicSharedSize),
        "%total_smem_size" => (32, Special::TotalSharedSize),
        _ => return None,
    })
}
