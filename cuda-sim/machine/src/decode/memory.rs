//! Loads and stores.

use cuda_ptx::Operand;

use super::access::{Form, form};
use super::function::{Decoder, Why};
use super::symbols::{Symbol, new_row};
use crate::code::{Init, Op};
use crate::exec::Space;
use crate::ops::map::Ty;
use crate::ops::memory::Element;
use crate::ops::moves;

impl<'a> Decoder<'_, 'a> {
    /// Decodes the instruction if it is one of these.
    pub(super) fn memory(
        &mut self,
        mnemonic: &[&'a str],
        operands: &[Operand<'a>],
    ) -> Result<bool, Why> {
        let Some(form) = form(mnemonic) else {
            return self.atomic(mnemonic, operands);
        };
        let operands = match (form.policy, operands) {
            (true, [operands @ .., policy]) => {
                self.source(policy, Ty::B64)?;
                operands
            }
            (true, []) => return Ok(false),
            (false, operands) => operands,
        };
        match (form.stores, operands) {
            (false, [destination, address]) => self.load(&form, destination, address)?,
            (true, [address, source]) => self.store(&form, address, source)?,
            _ => return Ok(false),
        }
        Ok(true)
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

    /// The rows that a load fills, and the bits of each.
    fn loaded_rows(
        &mut self,
        form: &Form,
        destination: &Operand<'a>,
    ) -> Result<(Vec<u32>, u32), Why> {
        if form.whole {
            return Ok((self.halves(destination)?.to_vec(), 64));
        }
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
        Ok((rows, widest))
    }

    /// The rows that a store takes, and whether they have 64 bits.
    fn stored_rows(&mut self, form: &Form, source: &Operand<'a>) -> Result<(Vec<u32>, bool), Why> {
        if form.whole {
            return Ok((self.halves(source)?.to_vec(), true));
        }
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
        Ok((rows, wide))
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
        let (rows, widest) = self.loaded_rows(form, destination)?;
        let run = (self.names.processor.load)(form.element, widest, form.count)
            .ok_or("loads of this width are not implemented")?;
        let mut instr = self.instr(Op::Access(run));
        instr.src = [address.row, u32::from(address.narrow), form.space.code(), 0];
        instr.imm = address.offset;
        instr.dst[0] = rows[0];
        if form.count > 1 {
            instr.target = self.code.vectors.len() as u32;
            self.code.vectors.push(rows);
        } else {
            self.note_single(form.element.bytes);
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
        let (rows, wide) = self.stored_rows(form, source)?;
        let run = (self.names.processor.store)(form.element, wide, form.count)
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
        } else {
            self.note_single(form.element.bytes);
        }
        self.push(instr);
        Ok(())
    }
}
