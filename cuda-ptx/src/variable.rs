//! Declarations of registers and variables, and their initial values.

use crate::{Position, ScalarType};

/// The state space of a declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Space {
    /// `.reg`
    Register,
    /// `.sreg`
    SpecialRegister,
    /// `.const`
    Const,
    /// `.global`
    Global,
    /// `.local`
    Local,
    /// `.param`
    Param,
    /// `.shared`
    Shared,
    /// `.tex`
    Texture,
}

impl Space {
    /// The space with that directive, dot included.
    #[must_use]
    pub fn from_directive(name: &str) -> Option<Self> {
        Some(match name {
            ".reg" => Self::Register,
            ".sreg" => Self::SpecialRegister,
            ".const" => Self::Const,
            ".global" => Self::Global,
            ".local" => Self::Local,
            ".param" => Self::Param,
            ".shared" | ".shared::cta" => Self::Shared,
            ".tex" => Self::Texture,
            _ => return None,
        })
    }
}

/// How a name is seen by other modules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Linkage {
    /// Not at all.
    #[default]
    Internal,
    /// `.visible`
    Visible,
    /// `.extern`: defined elsewhere; for shared memory, sized by the launch.
    Extern,
    /// `.weak`
    Weak,
    /// `.common`
    Common,
}

/// One part of an initialiser, in the order of the text.
#[derive(Debug, Clone, PartialEq)]
pub enum Initial<'a> {
    /// `{`
    Open,
    /// `}`
    Close,
    /// An integer, by its 64 bits.
    Integer(i64),
    /// A single-precision constant by its bits.
    Float32(u32),
    /// A double-precision constant by its bits.
    Float64(u64),
    /// The address of a variable or function.
    Address {
        /// Whose address.
        name: &'a str,
        /// Bytes added to it.
        offset: i64,
        /// Whether it is written `generic(name)`.
        generic: bool,
        /// Which byte of the address is meant, where it is written `0xFF00(name)`.
        mask: Option<u64>,
    },
    /// A string without its quotes.
    Text(&'a str),
    /// `name = word`, of a sampler.
    Field(&'a str, &'a str),
}

/// A declaration.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable<'a> {
    /// Where its name stands.
    pub position: Position,
    /// The whole declaration with its semicolon; all names of a declaration share it.
    pub text: &'a str,
    /// How other modules see it.
    pub linkage: Linkage,
    /// Its state space.
    pub space: Space,
    /// The type of an element.
    pub ty: ScalarType,
    /// Elements of a vector type: 1, 2 or 4.
    pub vector: u8,
    /// The alignment that is asked for, in bytes.
    pub explicit_align: Option<u32>,
    /// The name; a prefix where `count` is given.
    pub name: &'a str,
    /// For `%r<n>`: the registers `%r0` to `%r(n-1)`.
    pub count: Option<u32>,
    /// Array extents, outermost first; 0 for `[]`.
    pub extents: Box<[u64]>,
    /// `.managed`
    pub managed: bool,
    /// The initial value.
    pub initial: Option<Box<[Initial<'a>]>>,
}

impl Variable<'_> {
    /// Bytes of one element, a vector's elements together.
    #[must_use]
    pub fn element_size(&self) -> usize {
        self.ty.size() * usize::from(self.vector)
    }

    /// Bytes of the whole; nothing when that exceeds the address space.
    ///
    /// An extent that is left open counts as many elements as the initialiser gives.
    #[must_use]
    pub fn size(&self) -> Option<usize> {
        let mut size = self.element_size();
        for (level, &extent) in self.extents.iter().enumerate() {
            let extent = if extent == 0 && level == 0 {
                self.initial_len()
            } else {
                usize::try_from(extent).ok()?
            };
            size = size.checked_mul(extent)?;
        }
        isize::try_from(size).ok().map(|_| size)
    }

    /// Alignment in bytes: the explicit one, or that of an element.
    #[must_use]
    pub fn align(&self) -> usize {
        self.explicit_align
            .map_or(self.element_size().max(1), |align| align as usize)
    }

    /// Elements that the outermost level of the initialiser has.
    fn initial_len(&self) -> usize {
        let (mut depth, mut len) = (0usize, 0);
        for part in self.initial.as_deref().unwrap_or(&[]) {
            match part {
                Initial::Open => {
                    len += usize::from(depth == 1);
                    depth += 1;
                }
                Initial::Close => depth = depth.saturating_sub(1),
                _ => len += usize::from(depth == 1),
            }
        }
        len
    }
}
