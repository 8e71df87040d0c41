//! Instructions that a whole warp carries out on matrices.

mod forms;
mod modifiers;

use cuda_ptx::Operand;

use super::address::Address;
use super::function::{Decoder, Why};
use crate::code::{Access, Instr, Op};
use crate::exec::Space;
use crate::ops::map::Ty;
use crate::ops::matrix::{Element, Form, Fragment, Holding, Layout, Part, Product, fragment, rows};
use modifiers::Modifiers;

impl<'a> Decoder<'_, 'a> {
    /// Decodes the instruction if it is one of these.
    pub(super) fn matrix(
        &mut self,
        mnemonic: &[&'a str],
        operands: &[Operand<'a>],
    ) -> Result<bool, Why> {
        match mnemonic {
            ["mma", rest @ ..] => {
                let form = Modifiers::read(rest).and_then(|it| forms::mma(&it));
                self.product(form, operands)
            }
            ["wmma", "mma", rest @ ..] => {
                let form = Modifiers::read(rest).and_then(|it| forms::wmma(&it));
                self.product(form, operands)
            }
            ["wmma", operation @ ("load" | "store"), rest @ ..] => {
                self.fragment(operation, rest, operands)
            }
            ["ldmatrix", rest @ ..] => self.matrix_rows(false, rest, operands),
            ["stmatrix", rest @ ..] => self.matrix_rows(true, rest, operands),
            ["movmatrix", rest @ ..] => self.transpose(rest, operands),
            _ => Ok(false),
        }
    }

    /// An instruction that the whole warp carries out. `row` is some row that it uses: only [barriers](Instr::is_warp_barrier) name none.
    fn together(&mut self, run: Access, row: u32) -> Result<Instr, Why> {
        let mut instr = self.instr(Op::Collective(run));
        instr.src[3] = self.source(&Operand::Integer(0xffff_ffff), Ty::B32)?;
        instr.dst[0] = row;
        Ok(instr)
    }

    /// The rows of the registers in braces, so many of them.
    fn parts(
        &mut self,
        operand: &Operand<'a>,
        element: Element,
        count: usize,
        written: bool,
    ) -> Result<Vec<u32>, Why> {
        let Operand::Vector(parts) = operand else {
            return Err(String::from("registers in braces are expected"));
        };
        if parts.len() != count {
            return Err(format!(
                "{} registers where {count} are needed",
                parts.len()
            ));
        }
        let ty = match element {
            Element::F64 => Ty::F64,
            Element::F32 => Ty::F32,
            _ => Ty::B32,
        };
        let rows = parts.iter().map(|part| {
            if written {
                self.destination(part, ty)
            } else {
                match (part, ty) {
                    // Integers stand for the bits of doubles.
                    (Operand::Integer(_), Ty::F64) => self.source(part, Ty::B64),
                    _ => self.source(part, ty),
                }
            }
        });
        rows.collect()
    }

    fn product(&mut self, form: Option<Form>, operands: &[Operand<'a>]) -> Result<bool, Why> {
        let (Some(form), [d, a, b, c]) = (form, operands) else {
            return Ok(false);
        };
        let Some(run) = (self.names.processor.multiply)(&form) else {
            return Ok(false);
        };
        let count = |part, element: Element| {
            // The layout makes no difference.
            let fragment = Fragment::new(part, form.shape, element, Layout::Row);
            match (form.holding, part) {
                (Holding::Once, _) => fragment.distinct(),
                (Holding::Fragments, _) => fragment.count(),
                // A lane holds a line of four, and eight results.
                (Holding::Quarters(..), Part::A | Part::B) => 2,
                (Holding::Quarters(..), Part::Sum) => 8 / element.per_register(),
            }
        };
        let product = Product {
            a: self.parts(a, form.a, count(Part::A, form.a), false)?,
            b: self.parts(b, form.b, count(Part::B, form.b), false)?,
            c: self.parts(c, form.c, count(Part::Sum, form.c), false)?,
            d: self.parts(d, form.d, count(Part::Sum, form.d), true)?,
            form,
        };
        let mut instr = self.together(run, product.d[0])?;
        instr.target = self.code.products.len() as u32;
        self.code.products.push(product);
        self.push(instr);
        Ok(true)
    }

    /// `wmma.load` and `wmma.store`.
    fn fragment(
        &mut self,
        operation: &str,
        modifiers: &[&'a str],
        operands: &[Operand<'a>],
    ) -> Result<bool, Why> {
        let Some((space, mut fragment)) = forms::fragment(operation, modifiers) else {
            return Ok(false);
        };
        let stores = operation == "store";
        let (address, registers, stride) = match (stores, operands) {
            (false, [registers, address]) | (true, [address, registers]) => {
                (address, registers, None)
            }
            (false, [registers, address, stride]) | (true, [address, registers, stride]) => {
                (address, registers, Some(stride))
            }
            _ => return Ok(false),
        };
        let (address, space) = self.matrix_address(address, space)?;
        let run: Access = if stores {
            fragment::store
        } else {
            fragment::load
        };
        fragment.registers = self.parts(registers, fragment.element, fragment.count(), !stores)?;
        let packed = Operand::Integer(fragment.packed_stride() as i64);
        let stride = self.source(stride.unwrap_or(&packed), Ty::B32)?;
        let mut instr = self.together(run, fragment.registers[0])?;
        instr.src = [
            address.row,
            u32::from(address.narrow),
            space.code(),
            instr.src[3],
        ];
        instr.dst[1] = stride;
        instr.imm = address.offset;
        instr.target = self.code.fragments.len() as u32;
        self.code.fragments.push(fragment);
        self.push(instr);
        Ok(true)
    }

    /// An address and its space. A variable in shared memory may also be named where the space is not.
    fn matrix_address(
        &mut self,
        operand: &Operand<'a>,
        space: Space,
    ) -> Result<(Address, Space), Why> {
        match self.address(operand, space) {
            Err(_) if space == Space::Generic => {
                Ok((self.address(operand, Space::Shared)?, Space::Shared))
            }
            found => Ok((found?, space)),
        }
    }

    /// `ldmatrix` and `stmatrix`.
    fn matrix_rows(
        &mut self,
        stores: bool,
        modifiers: &[&'a str],
        operands: &[Operand<'a>],
    ) -> Result<bool, Why> {
        let Some((space, count, transposed)) = forms::rows(modifiers) else {
            return Ok(false);
        };
        let (address, registers) = match (stores, operands) {
            (false, [registers, address]) | (true, [address, registers]) => (address, registers),
            _ => return Ok(false),
        };
        let run: Access = match (stores, transposed) {
            (false, false) => rows::load::<false>,
            (false, true) => rows::load::<true>,
            (true, false) => rows::store::<false>,
            (true, true) => rows::store::<true>,
        };
        let (address, space) = self.matrix_address(address, space)?;
        let registers = self.parts(registers, Element::S32, count, !stores)?;
        let mut instr = self.together(run, registers[0])?;
        instr.src = [
            address.row,
            u32::from(address.narrow),
            space.code(),
            instr.src[3],
        ];
        instr.imm = address.offset;
        instr.target = self.code.vectors.len() as u32;
        self.code.vectors.push(registers);
        self.push(instr);
        Ok(true)
    }

    fn transpose(&mut self, modifiers: &[&'a str], operands: &[Operand<'a>]) -> Result<bool, Why> {
        let [destination, source] = operands else {
            return Ok(false);
        };
        if !forms::is_transpose(modifiers) {
            return Ok(false);
        }
        let source = self.source(source, Ty::B32)?;
        let destination = self.destination(destination, Ty::B32)?;
        let mut instr = self.together(rows::transpose, destination)?;
        instr.src[0] = source;
        self.push(instr);
        Ok(true)
    }
}
