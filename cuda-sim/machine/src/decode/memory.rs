//! Loads and stores.

use cuda_ptx::Operand;

use super::function::{Decoder, Why};
use super::symbols::{Symbol, new_row};
use crate::code::{Init, Op};
use crate::exec::Space;
use crate::ops::memory::{self, Element};
use crate::ops::moves;

/// Modifiers that say how strongly an access is ordered or cached. The machine executes the lanes of a launch one after the other, which
/// is at least as strong as any of them.
pub(super) fn is_hint(modifier: &str) -> bool {
    matches!(
        modifier,
        "volatile"
            | "relaxed"
            | "acquire"
            | "release"
            | "weak"
            | "cta"
            | "cluster"
            | "gpu"
            | "sys"
            | "ca"
            | "cg"
            | "cs"
            | "lu"
            | "cv"
            | "wb"
            | "wt"
            | "nc"
            | "mmio"
    ) || modifier.strip_prefix("L1::").is_some_and(|rest| {
        matches!(
            rest,
            "evict_normal" | "evict_unchanged" | "evict_first" | "evict_last" | "no_allocate"
        )
    }) || modifier.strip_prefix("L2::").is_some_and(|rest| {
        matches!(
            rest,
            "64B" | "128B" | "256B" | "evict_normal" | "evict_first" | "evict_last"
        )
    })
}

/// An access as its modifiers describe it.
struct Form {
    space: Space,
    element: Element,
    count: usize,
}

fn form(modifiers: &[&str]) -> Option<Form> {
    let (element, rest) = modifiers.split_last()?;
    let element = Element::from_name(element)?;
    let (mut space, mut count) = (None, None);
    for &modifier in rest {
        let found = match modifier {
            "global" => Some(Space::Global),
            "const" => Some(Space::Global),
            "shared" | "shared::cta" => Some(Space::Shared),
            "local" => Some(Space::Local),
            "param" | "param::entry" | "param::func" => Some(Space::Param),
            _ => None,
        };
        match (found, modifier) {
            (Some(found), _) if space.is_none() => space = Some(found),
            (None, "v2") if count.is_none() => count = Some(2),
            (None, "v4") if count.is_none() => count = Some(4),
            (None, "v8") if count.is_none() && element.bytes == 4 => count = Some(8),
            (None, hint) if is_hint(hint) => {}
            _ => return None,
        }
    }
    let count = count.unwrap_or(1);
    (count * element.bytes <= 32).then_some(Form {
        space: space.unwrap_or(Space::Generic),
        element,
        count,
    })
}

impl<'a> Decoder<'_, 'a> {
    /// Decodes the instruction if it is one of these.
    pub(super) fn memory(
        &mut self,
        mnemonic: &[&'a str],
        operands: &[Operand<'a>],
    ) -> Result<bool, Why> {
        match (mnemonic, operands) {
            (["ld", rest @ ..], [destination, address]) => match form(rest) {
                Some(form) => self.load(&form, destination, address).map(|()| true),
                None => Ok(false),
            },
            (["ldu", rest @ ..], [destination, address]) => match form(rest) {
                Some(form) if matches!(form.space, Space::Global | Space::Generic) => {
                    self.load(&form, destination, address).map(|()| true)
                }
                _ => Ok(false),
            },
            (["st", rest @ ..], [address, source]) => match form(rest) {
                Some(form) => self.store(&form, address, source).map(|()| true),
                None => Ok(false),
            },
            _ => self.atomic(mnemonic, operands),
        }
    }

    /// The row and width of the register that receives or gives an element; it may be wider than the element.
    fn element_register(
        &mut self,
        operand: &Operand<'a>,
        element: Element,
    ) -> Result<(u32, u32), Why> {
        match operand {
            Operand::Name(name) => match self.find(name) {
                Some(Symbol::Register(register)) => {
                    let fits = if element.float {
                        register.bits == element.bits()
                    } else {
                        register.bits >= element.bits()
                    };
                    if fits {
                        Ok((register.row, register.bits))
                    } else {
                        Err(format!("`{name}` has {} bits", register.bits))
                    }
                }
                _ => Err(format!("`{name}` is not a register")),
            },
            Operand::Sink => {
                let bits = element.bits().max(32);
                Ok((new_row(bits, &mut self.code), bits))
            }
            _ => Err(String::from("a register is expected")),
        }
    }

    fn load(
        &mut self,
        form: &Form,
        destination: &Operand<'a>,
        address: &Operand<'a>,
    ) -> Result<(), Why> {
        if self.load_kernel_parameter(form, destination, address)? {
            return Ok(());
        }
        let address = self.address(address, form.space)?;
        let parts = match destination {
            Operand::Vector(parts) => parts,
            single => std::slice::from_ref(single),
        };
        if parts.len() != form.count {
            return Err(format!(
                "{} destinations where {} are needed",
                parts.len(),
                form.count
            ));
        }
        let mut rows = Vec::with_capacity(parts.len());
        let mut widest = 0;
        for part in parts {
            let (row, bits) = self.element_register(part, form.element)?;
            if widest != 0 && widest != bits {
                return Err(String::from("the destinations have different widths"));
            }
            widest = bits;
            rows.push(row);
        }
        let run = memory::load(form.element, widest, form.count)
            .ok_or("loads of this width are not implemented")?;
        let mut instr = self.instr(Op::Access(run));
        instr.src = [address.row, u32::from(address.narrow), form.space.code(), 0];
        instr.imm = address.offset;
        instr.dst[0] = rows[0];
        if form.count > 1 {
            instr.target = self.code.vectors.len() as u32;
            self.code.vectors.push(rows);
        }
        self.push(instr);
        Ok(())
    }

    /// `ld.param` of one of the kernel's own parameters: a copy of a value that is known before the first instruction.
    fn load_kernel_parameter(
        &mut self,
        form: &Form,
        destination: &Operand<'a>,
        address: &Operand<'a>,
    ) -> Result<bool, Why> {
        let (
            Space::Param,
            1,
            Operand::Address {
                base: Some(name),
                offset,
            },
        ) = (form.space, form.count, address)
        else {
            return Ok(false);
        };
        let Some(Symbol::KernelParam(start, size)) = self.find(name) else {
            return Ok(false);
        };
        let bytes = form.element.bytes as i64;
        if *offset < 0 || *offset > i64::from(size) - bytes {
            return Err(format!(
                "{bytes} bytes at offset {offset} leave the parameter `{name}`, which has {size}"
            ));
        }
        if (i64::from(start) + offset) % bytes != 0 {
            return Err(format!(
                "offset {offset} of the parameter `{name}` is not aligned to {bytes} bytes"
            ));
        }
        let (row, bits) = self.element_register(destination, form.element)?;
        let init = Init::Param(
            start + *offset as u32,
            form.element.bytes as u8,
            form.element.signed,
        );
        let source = self.symbols.constant(bits, init, &mut self.code);
        let mut instr = self.instr(Op::Alu(match bits {
            64 => moves::double,
            16 => moves::word_of_16,
            _ => moves::word,
        }));
        instr.src[0] = source;
        instr.dst[0] = row;
        self.push(instr);
        Ok(true)
    }

    fn store(
        &mut self,
        form: &Form,
        address: &Operand<'a>,
        source: &Operand<'a>,
    ) -> Result<(), Why> {
        let address = self.address(address, form.space)?;
        let parts = match source {
            Operand::Vector(parts) => parts,
            single => std::slice::from_ref(single),
        };
        if parts.len() != form.count {
            return Err(format!(
                "{} sources where {} are needed",
                parts.len(),
                form.count
            ));
        }
        // Vectors may mix registers and constants; registers of different widths are told apart by a flag in the list.
        let mut rows = Vec::with_capacity(parts.len());
        let mut wide = false;
        for part in parts {
            let (row, bits) = match part {
                Operand::Name(name) if matches!(self.find(name), Some(Symbol::Register(_))) => {
                    self.element_register(part, form.element)?
                }
                _ => (
                    self.source(part, form.element.ty())?,
                    form.element.bits().max(32),
                ),
            };
            if !rows.is_empty() && wide != (bits == 64) {
                return Err(String::from("the sources have different widths"));
            }
            wide = bits == 64;
            rows.push(row);
        }
        let run = memory::store(form.element, wide, form.count)
            .ok_or("stores of this width are not implemented")?;
        let mut instr = self.instr(Op::Access(run));
        instr.src = [
            address.row,
            u32::from(address.narrow),
            form.space.code(),
            rows[0],
        ];
        instr.imm = address.offset;
        if form.count > 1 {
            instr.target = self.code.vectors.len() as u32;
            self.code.vectors.push(rows);
        }
        self.push(instr);
        Ok(())
    }
}
