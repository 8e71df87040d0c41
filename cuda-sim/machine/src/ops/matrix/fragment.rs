//! `wmma.load` and `wmma.store`: which element of a matrix lies where in the registers of a warp.
//!
//! The ISA leaves this open for `wmma`, whose fragments only `wmma` instructions take apart. Here they are what `mma` takes for the same
//! types: `A` in blocks of sixteen rows, or of eight where it has no more, `B` in blocks of eight columns. Fragments of `f16` that have
//! more registers than that takes hold everything several times.

use super::{Element, Shape, all_lanes, memory};
use crate::code::Instr;
use crate::exec::{Env, LaneError, Scope, Space};
use crate::ops::memory::addresses;
use crate::registers::Lane;
use crate::{Lanes, WARP_SIZE};

/// Which of the matrices of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    A,
    B,
    /// What is added, and the result.
    Sum,
}

/// In which order a matrix lies in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    Row,
    Column,
}

impl Layout {
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        match name {
            "row" => Some(Self::Row),
            "col" => Some(Self::Column),
            _ => None,
        }
    }
}

/// A matrix in memory, and the rows of registers that hold it.
#[derive(Debug, Clone)]
pub(crate) struct Fragment {
    pub(crate) part: Part,
    pub(crate) shape: Shape,
    pub(crate) element: Element,
    pub(crate) layout: Layout,
    pub(crate) registers: Vec<u32>,
}

impl Fragment {
    /// One whose registers are not known yet.
    pub(crate) const fn new(part: Part, shape: Shape, element: Element, layout: Layout) -> Self {
        Self {
            part,
            shape,
            element,
            layout,
            registers: Vec::new(),
        }
    }

    /// Rows and columns.
    fn extent(&self) -> (usize, usize) {
        let Shape { m, n, k } = self.shape;
        match self.part {
            Part::A => (m, k),
            Part::B => (k, n),
            Part::Sum => (m, n),
        }
    }

    /// Registers that hold all elements once.
    pub(crate) fn distinct(&self) -> usize {
        let (rows, columns) = self.extent();
        rows * columns / (self.element.per_register() * WARP_SIZE)
    }

    /// Registers that it has.
    pub(crate) fn count(&self) -> usize {
        match (self.part, self.element) {
            (Part::A | Part::B, Element::F16) => 8,
            _ => self.distinct(),
        }
    }

    /// Elements between one line and the next, where nothing else is said.
    pub(crate) fn packed_stride(&self) -> usize {
        let (rows, columns) = self.extent();
        match self.layout {
            Layout::Row => columns,
            Layout::Column => rows,
        }
    }

    /// Row and column of an element.
    fn place(&self, register: usize, lane: usize, part: usize) -> (usize, usize) {
        let each = self.element.per_register();
        let (line, along) = (lane / 4, lane % 4 * each + part);
        match self.part {
            Part::A if self.shape.m == 8 => (line, register * 4 * each + along),
            Part::A => {
                let of_block = self.shape.k / (2 * each);
                let (block, register) = (register / of_block, register % of_block);
                let row = block * 16 + register % 2 * 8 + line;
                (row, register / 2 * 4 * each + along)
            }
            Part::B => {
                let of_block = self.shape.k / (4 * each);
                let (block, register) = (register / of_block, register % of_block);
                (register * 4 * each + along, block * 8 + line)
            }
            Part::Sum => {
                let index = register * each + part;
                let column = lane % 4 * 2 + index % 2;
                if self.shape.m == 8 {
                    return (line, index / 2 * 8 + column);
                }
                let blocks = self.shape.n / 8;
                let row = index / 4 / blocks * 16 + index / 2 % 2 * 8 + line;
                (row, index / 4 % blocks * 8 + column)
            }
        }
    }

    /// Whether the elements of a register follow each other in memory.
    fn is_along(&self) -> bool {
        match (self.part, self.layout) {
            (Part::A | Part::Sum, Layout::Row) | (Part::B, Layout::Column) => true,
            (Part::A | Part::Sum, Layout::Column) | (Part::B, Layout::Row) => false,
        }
    }

    /// Elements that a lane accesses at once.
    fn together(&self) -> usize {
        if self.is_along() {
            self.element.per_register()
        } else {
            1
        }
    }

    /// Where the elements of a register lie from `part` on, in each lane.
    fn addresses(
        &self,
        (bases, strides): (&[u64; WARP_SIZE], &[u32; WARP_SIZE]),
        register: usize,
        part: usize,
    ) -> [u64; WARP_SIZE] {
        let mut out = [0; WARP_SIZE];
        for (lane, out) in out.iter_mut().enumerate() {
            let (row, column) = self.place(register, lane, part);
            let (line, along) = match self.layout {
                Layout::Row => (row, column),
                Layout::Column => (column, row),
            };
            let elements = u64::from(strides[lane]) * line as u64 + along as u64;
            *out = bases[lane].wrapping_add(elements * self.element.bits() as u64 / 8);
        }
        out
    }
}

/// `wmma.load`: the fragment is [`fragments`](crate::code::Code::fragments)`[target]`, `dst[1]` the row with the stride in elements.
pub(crate) fn load(
    i: &Instr,
    scope: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
) -> Result<(), LaneError> {
    all_lanes(mask)?;
    let fragment = &env.shape.program.codes[scope.function].fragments[i.target as usize];
    let from = addresses(i, scope);
    let strides = *u32::row(&scope.registers, i.dst[1]);
    let (together, each) = (fragment.together(), fragment.element.per_register());
    let bytes = together * fragment.element.bits() / 8;
    let distinct = fragment.distinct();
    let mut values = vec![[0u64; WARP_SIZE]; distinct];
    for (register, values) in values.iter_mut().enumerate() {
        for part in (0..each).step_by(together) {
            let lanes = Lanes {
                mask,
                size: bytes,
                addresses: &fragment.addresses((&from, &strides), register, part),
            };
            let mut buffer = [0; 8 * WARP_SIZE];
            let buffer = &mut buffer[..bytes * WARP_SIZE];
            memory::read(i, scope, env, Space::from_code(i.src[2]), &lanes, buffer)?;
            for (value, bytes) in values.iter_mut().zip(buffer.chunks_exact(bytes)) {
                let mut word = [0; 8];
                word[..bytes.len()].copy_from_slice(bytes);
                *value |= u64::from_le_bytes(word) << (part * fragment.element.bits());
            }
        }
    }
    for (&row, values) in fragment.registers.iter().zip(values.iter().cycle()) {
        if fragment.element == Element::F64 {
            scope.registers.doubles[row as usize] = *values;
        } else {
            scope.registers.words[row as usize] = values.map(|value| value as u32);
        }
    }
    Ok(())
}

/// `wmma.store`, in the same way.
pub(crate) fn store(
    i: &Instr,
    scope: &mut Scope,
    env: &mut Env<'_>,
    mask: u32,
) -> Result<(), LaneError> {
    all_lanes(mask)?;
    let fragment = &env.shape.program.codes[scope.function].fragments[i.target as usize];
    let to = addresses(i, scope);
    let strides = *u32::row(&scope.registers, i.dst[1]);
    let (together, each) = (fragment.together(), fragment.element.per_register());
    let bytes = together * fragment.element.bits() / 8;
    for (register, &row) in fragment.registers.iter().enumerate() {
        let values = if fragment.element == Element::F64 {
            scope.registers.doubles[row as usize]
        } else {
            scope.registers.words[row as usize].map(u64::from)
        };
        for part in (0..each).step_by(together) {
            let mut buffer = [0; 8 * WARP_SIZE];
            let buffer = &mut buffer[..bytes * WARP_SIZE];
            for (to, value) in buffer.chunks_exact_mut(bytes).zip(values) {
                let value = value >> (part * fragment.element.bits());
                to.copy_from_slice(&value.to_le_bytes()[..bytes]);
            }
            let lanes = Lanes {
                mask,
                size: bytes,
                addresses: &fragment.addresses((&to, &strides), register, part),
            };
            memory::write(i, scope, env, Space::from_code(i.src[2]), &lanes, buffer)?;
        }
    }
    Ok(())
}
