//! Names of kernels and variables, in the image and in C++.

use std::fmt;

use crate::CType;

/// The name of a kernel or of a variable, and what a mangled one says of the kernel.
///
/// Names that are not mangled, or that nobody can read, are kept as they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelName {
    /// The name in the image: `_ZN2ns5scaleIfLi4EEvPT_`.
    pub symbol: String,
    /// The qualified name without arguments: `ns::scale`; the symbol, if that is not mangled.
    pub qualified: String,
    /// The template's arguments: `float`, `4`.
    pub template_arguments: Vec<String>,
    /// The types of the parameters; nothing if the name does not tell them.
    pub parameters: Option<Vec<CType>>,
}

impl KernelName {
    /// Reads a name as it stands in an image (the Itanium C++ ABI's mangling, which nvcc, NVRTC and clang have in common).
    ///
    /// The time is bounded, whatever the name is; what is too long or too deep stays as it is.
    #[must_use]
    pub fn of(symbol: &str) -> Self {
        super::mangled::read(symbol).unwrap_or_else(|| Self {
            symbol: symbol.into(),
            qualified: symbol.into(),
            template_arguments: Vec::new(),
            parameters: None,
        })
    }

    /// The name without namespaces and arguments: `scale`.
    #[must_use]
    pub fn unqualified(&self) -> &str {
        last_component(&self.qualified)
    }

    /// The same of a name that somebody wrote: `scale` of `ns::scale<float, 4>`.
    #[must_use]
    pub fn unqualified_of(written: &str) -> &str {
        let name = last_component(written);
        name.split('<').next().unwrap_or(name).trim()
    }

    /// Whether the symbol is a mangled name that was read.
    #[must_use]
    pub fn is_mangled(&self) -> bool {
        self.symbol != self.qualified
    }

    /// Whether someone who asks for `wanted` means this kernel: by its symbol, its qualified name, with template arguments
    /// if it has any, or its unqualified name with or without them. Blanks do not matter.
    #[must_use]
    pub fn is_meant_by(&self, wanted: &str) -> bool {
        let equal = |name: &str, arguments: &[String]| {
            let wanted = wanted.chars().filter(|it| !it.is_whitespace());
            let separated = arguments.iter().enumerate().flat_map(|(index, argument)| {
                let separator = if index == 0 { "<" } else { "," };
                separator.chars().chain(argument.chars())
            });
            let end = if arguments.is_empty() { "" } else { ">" };
            let own = name.chars().chain(separated).chain(end.chars());
            wanted.eq(own.filter(|it| !it.is_whitespace()))
        };
        let (all, short) = (&*self.template_arguments, self.unqualified());
        self.symbol == wanted
            || equal(&self.qualified, all)
            || equal(short, all)
            || equal(&self.qualified, &[])
            || equal(short, &[])
    }
}

/// What follows the last `::` outside of brackets.
fn last_component(name: &str) -> &str {
    let mut depth = 0_usize;
    let mut start = 0;
    for (index, byte) in name.bytes().enumerate() {
        match byte {
            b'(' | b'<' | b'{' => depth += 1,
            b')' | b'>' | b'}' => depth = depth.saturating_sub(1),
            b':' if depth == 0 => start = index + 1,
            _ => {}
        }
    }
    name.get(start..).unwrap_or(name)
}

impl fmt::Display for KernelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.qualified)?;
        if !self.template_arguments.is_empty() {
            write!(f, "<{}>", self.template_arguments.join(", "))?;
        }
        Ok(())
    }
}
