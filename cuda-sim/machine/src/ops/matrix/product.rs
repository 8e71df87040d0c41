//! What a multiplication of matrices is: `D = A · B + C`, of which shape, types and parts.

use super::{Element, Layout};
use crate::ops::numbers::Rounding;

/// `A` has `m` rows and `k` columns, `B` has `k` rows and `n` columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) m: usize,
    pub(crate) n: usize,
    pub(crate) k: usize,
}

impl Shape {
    pub(crate) const fn new(m: usize, n: usize, k: usize) -> Self {
        Self { m, n, k }
    }
}

/// How products become sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Exact products of numbers of at most 32 bits; the sum is rounded once.
    Numbers,
    /// Doubles, rounded at each step.
    Doubles(Rounding),
    /// Integers, which wrap around, or stay within their range.
    Integers { saturates: bool },
    /// The set bits of `a ^ b`, or of `a & b`.
    Bits { and: bool },
}

/// How the registers of a warp hold the matrices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holding {
    /// Each element once, as `mma` says.
    Once,
    /// As [`Fragment`](super::Fragment) says.
    Fragments,
    /// Four products of eight rows and columns, each by eight lanes, with these layouts of `A` and `B`.
    Quarters(Layout, Layout),
}

/// A multiplication.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Form {
    pub(crate) shape: Shape,
    pub(crate) a: Element,
    pub(crate) b: Element,
    pub(crate) c: Element,
    pub(crate) d: Element,
    pub(crate) step: Step,
    pub(crate) holding: Holding,
}

/// A multiplication with the rows of registers that hold its parts.
#[derive(Debug, Clone)]
pub(crate) struct Product {
    pub(crate) form: Form,
    pub(crate) a: Vec<u32>,
    pub(crate) b: Vec<u32>,
    pub(crate) c: Vec<u32>,
    pub(crate) d: Vec<u32>,
}
