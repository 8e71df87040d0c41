//! What an instruction works on.

/// One operand, as it is written.
#[derive(Debug, Clone, PartialEq)]
pub enum Operand<'a> {
    /// A register, variable, label, function or special register (with its component: `%tid.x`).
    Name(&'a str),
    /// A negated predicate: `!%p`.
    Not(&'a str),
    /// A register with a minus before it, as the video instructions take: `-%r1`.
    Negated(&'a str),
    /// A name and a byte offset: `table+8`.
    Offset(&'a str, i64),
    /// A name and an index: `table[2]`, the address of an element in a `mov`, the element itself in a `ld` or `st`.
    Element(&'a str, i64),
    /// A constant integer expression, evaluated to its 64 bits.
    Integer(i64),
    /// A single-precision constant by its bits: `0f3F800000`.
    Float32(u32),
    /// A double-precision constant by its bits: `0d…` or a decimal number.
    Float64(u64),
    /// Memory: `[base+offset]`, `[base]` or `[offset]`.
    Address {
        /// Register or variable; nothing for an absolute address.
        base: Option<&'a str>,
        /// Bytes added to it.
        offset: i64,
    },
    /// Several things in brackets, as texture and tensor copies take: `[tex, {x, y}]`.
    Brackets(Box<[Operand<'a>]>),
    /// `{a, b}`
    Vector(Box<[Operand<'a>]>),
    /// `(a, b)`, of a call.
    List(Box<[Operand<'a>]>),
    /// Two predicate destinations: `p|q`.
    Pair(&'a str, &'a str),
    /// A string without its quotes, escapes left as they are.
    Text(&'a str),
    /// `_`: the result is not wanted.
    Sink,
}

impl<'a> Operand<'a> {
    /// The name, where the operand is only that.
    #[must_use]
    pub fn name(&self) -> Option<&'a str> {
        match self {
            Self::Name(name) => Some(name),
            _ => None,
        }
    }
}
