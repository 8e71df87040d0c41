//! Kernels and device functions.

use crate::{Directive, Linkage, Position, ScalarType, Space, Statement};

/// Whether a function can be launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FunctionKind {
    /// `.entry`: a kernel.
    Entry,
    /// `.func`: called by kernels.
    Device,
}

/// What a pointer parameter points to (`.ptr`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pointer {
    /// The space; nothing for generic addresses.
    pub space: Option<Space>,
    /// Alignment of what it points to, in bytes.
    pub align: Option<u32>,
}

/// A parameter or a returned value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param<'a> {
    /// Where its name stands.
    pub position: Position,
    /// Its name.
    pub name: &'a str,
    /// [`Space::Param`], or [`Space::Register`] for device functions that pass registers.
    pub space: Space,
    /// The type of an element.
    pub ty: ScalarType,
    /// Elements of a vector type: 1, 2 or 4.
    pub vector: u8,
    /// Elements of an array; nothing for a scalar. A struct passed by value is an array of `b8`.
    pub len: Option<usize>,
    /// Bytes.
    pub size: usize,
    /// Alignment in bytes.
    pub align: usize,
    /// First byte in the parameter buffer.
    pub offset: usize,
    /// What it points to, where that is stated.
    pub pointer: Option<Pointer>,
}

/// The limits that a kernel states for its launches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tuning {
    /// `.maxntid`: the largest block.
    pub max_ntid: Option<[u32; 3]>,
    /// `.reqntid`: the only block.
    pub req_ntid: Option<[u32; 3]>,
    /// `.minnctapersm`: blocks that are to fit on one multiprocessor.
    pub min_nctapersm: Option<u32>,
    /// `.maxnreg`: registers that a thread may take.
    pub max_nreg: Option<u32>,
    /// `.reqnctapercluster`: the only cluster shape.
    pub req_nctapercluster: Option<[u32; 3]>,
    /// `.explicitcluster`: launches must have a cluster shape.
    pub explicit_cluster: bool,
    /// `.maxclusterrank`: the most blocks of a cluster.
    pub max_cluster_rank: Option<u32>,
}

/// A kernel or a device function.
#[derive(Debug, Clone, PartialEq)]
pub struct Function<'a> {
    /// Where its name stands.
    pub position: Position,
    /// The whole text, from the first directive to the closing brace or semicolon.
    pub text: &'a str,
    /// Whether it can be launched.
    pub kind: FunctionKind,
    /// How other modules see it.
    pub linkage: Linkage,
    /// Its name.
    pub name: &'a str,
    /// What it returns.
    pub returns: Vec<Param<'a>>,
    /// Its parameters in order, with their offsets in the parameter buffer.
    pub params: Vec<Param<'a>>,
    /// The limits that it states.
    pub tuning: Tuning,
    /// All directives between the signature and the body.
    pub directives: Vec<Directive<'a>>,
    /// Its statements; nothing for a declaration, and when only signatures were asked for.
    pub body: Option<Vec<Statement<'a>>>,
}

impl Function<'_> {
    /// Bytes of the parameter buffer, up to the end of the last parameter.
    #[must_use]
    pub fn params_size(&self) -> usize {
        self.params
            .last()
            .map_or(0, |last| last.offset.saturating_add(last.size))
    }
}
