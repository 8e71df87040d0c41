//! Applies a function to every lane, and the form in which the families list their instructions.

use crate::WARP_SIZE;
use crate::code::{Alu, Instr};
use crate::registers::{BITS, Lane, Registers, write};

/// What an operand is; registers must be declared with exactly that width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ty {
    Pred,
    B8,
    B16,
    B32,
    B64,
    F32,
    F64,
}

impl Ty {
    /// Bits of the register.
    pub(crate) const fn bits(self) -> u32 {
        match self {
            Self::Pred => 1,
            Self::B8 => 8,
            Self::B16 => 16,
            Self::B32 | Self::F32 => 32,
            Self::B64 | Self::F64 => 64,
        }
    }
}

/// A form of an instruction that works on registers alone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) dst: Ty,
    pub(crate) src: &'static [Ty],
    pub(crate) run: Alu,
    /// What the operation takes beside its operands.
    pub(crate) imm: i64,
}

impl Entry {
    pub(crate) const fn new(dst: Ty, src: &'static [Ty], run: Alu) -> Self {
        Self {
            dst,
            src,
            run,
            imm: 0,
        }
    }

    /// The same operation with something beside its operands.
    pub(crate) const fn with(self, imm: i64) -> Self {
        Self { imm, ..self }
    }
}

#[inline(always)]
pub(crate) fn map1<A: Lane, D: Lane>(i: &Instr, r: &mut Registers, mask: u32, f: impl Fn(A) -> D) {
    let a = A::row(r, i.src[0]);
    let mut out = [D::default(); WARP_SIZE];
    for lane in 0..WARP_SIZE {
        out[lane] = f(a[lane]);
    }
    write(r, i.dst[0], &out, mask);
}

#[inline(always)]
pub(crate) fn map2<A: Lane, B: Lane, D: Lane>(
    i: &Instr,
    r: &mut Registers,
    mask: u32,
    f: impl Fn(A, B) -> D,
) {
    let (a, b) = (A::row(r, i.src[0]), B::row(r, i.src[1]));
    let mut out = [D::default(); WARP_SIZE];
    for lane in 0..WARP_SIZE {
        out[lane] = f(a[lane], b[lane]);
    }
    write(r, i.dst[0], &out, mask);
}

#[inline(always)]
pub(crate) fn map3<A: Lane, B: Lane, C: Lane, D: Lane>(
    i: &Instr,
    r: &mut Registers,
    mask: u32,
    f: impl Fn(A, B, C) -> D,
) {
    let (a, b, c) = (
        A::row(r, i.src[0]),
        B::row(r, i.src[1]),
        C::row(r, i.src[2]),
    );
    let mut out = [D::default(); WARP_SIZE];
    for lane in 0..WARP_SIZE {
        out[lane] = f(a[lane], b[lane], c[lane]);
    }
    write(r, i.dst[0], &out, mask);
}

#[inline(always)]
pub(crate) fn map4<A: Lane, B: Lane, C: Lane, D: Lane>(
    i: &Instr,
    r: &mut Registers,
    mask: u32,
    f: impl Fn(A, B, C, C) -> D,
) {
    let (a, b, c, d) = (
        A::row(r, i.src[0]),
        B::row(r, i.src[1]),
        C::row(r, i.src[2]),
        C::row(r, i.src[3]),
    );
    let mut out = [D::default(); WARP_SIZE];
    for lane in 0..WARP_SIZE {
        out[lane] = f(a[lane], b[lane], c[lane], d[lane]);
    }
    write(r, i.dst[0], &out, mask);
}

/// The lanes for which `f` holds, as a mask.
#[inline(always)]
pub(crate) fn lanes_where<T: Lane>(i: &Instr, r: &Registers, f: impl Fn(T, T) -> bool) -> u32 {
    let (a, b) = (T::row(r, i.src[0]), T::row(r, i.src[1]));
    let mut bits = 0;
    for lane in 0..WARP_SIZE {
        bits |= if f(a[lane], b[lane]) { BITS[lane] } else { 0 };
    }
    bits
}

/// An [`Entry`] from the types of its operands and a closure on plain numbers.
macro_rules! entry {
    ($dst:ident <- $a:ident | $x:ident | $body:expr) => {
        Entry {
            dst: Ty::$dst,
            src: &[Ty::$a],
            run: |i, r, m| {
                crate::ops::map::map1::<lane!($a), lane!($dst)>(i, r, m, |$x| {
                    pack!($dst, {
                        let $x = unpack!($a, $x);
                        $body
                    })
                })
            },
            imm: 0,
        }
    };
    ($dst:ident <- $a:ident $b:ident | $x:ident, $y:ident | $body:expr) => {
        Entry {
            dst: Ty::$dst,
            src: &[Ty::$a, Ty::$b],
            run: |i, r, m| {
                crate::ops::map::map2::<lane!($a), lane!($b), lane!($dst)>(i, r, m, |$x, $y| {
                    pack!($dst, {
                        let ($x, $y) = (unpack!($a, $x), unpack!($b, $y));
                        $body
                    })
                })
            },
            imm: 0,
        }
    };
    ($dst:ident <- $a:ident $b:ident $c:ident | $x:ident, $y:ident, $z:ident | $body:expr) => {
        Entry {
            dst: Ty::$dst,
            src: &[Ty::$a, Ty::$b, Ty::$c],
            run: |i, r, m| {
                crate::ops::map::map3::<lane!($a), lane!($b), lane!($c), lane!($dst)>(
                    i,
                    r,
                    m,
                    |$x, $y, $z| {
                        pack!($dst, {
                            let ($x, $y, $z) = (unpack!($a, $x), unpack!($b, $y), unpack!($c, $z));
                            $body
                        })
                    },
                )
            },
            imm: 0,
        }
    };
}
macro_rules! lane {
    (B16) => {
        u32
    };
    (B32) => {
        u32
    };
    (F32) => {
        u32
    };
    (B64) => {
        u64
    };
    (F64) => {
        u64
    };
}
/// A lane as the number that the closure works on.
macro_rules! unpack {
    (B16, $x:expr) => {
        $x as u16
    };
    (B32, $x:expr) => {
        $x
    };
    (B64, $x:expr) => {
        $x
    };
    (F32, $x:expr) => {
        f32::from_bits($x)
    };
    (F64, $x:expr) => {
        f64::from_bits($x)
    };
}
/// The closure's result as a lane.
macro_rules! pack {
    (B16, $x:expr) => {
        u32::from($x)
    };
    (B32, $x:expr) => {
        $x
    };
    (B64, $x:expr) => {
        $x
    };
    (F32, $x:expr) => {
        crate::ops::float::canonical32($x)
    };
    (F64, $x:expr) => {
        crate::ops::float::canonical64($x)
    };
}
pub(crate) use {entry, lane, pack, unpack};
