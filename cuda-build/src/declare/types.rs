//! Types of C++ in Rust.

use cuda_ptx::{CScalar, CType, ScalarType};

use crate::interface::{Memory, Parameter};

/// Which types of Rust stand for types of C++ that the build script names.
#[derive(Debug, Clone)]
pub(crate) struct TypeNames {
    named: Vec<(String, String)>,
    /// Bytes of `long` behind a pointer, where the image was compiled.
    pub(crate) size_of_long: usize,
}

/// How a parameter is declared.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Written {
    /// `mut ` for what is written, nothing between `&` and `[` for what is read; nothing for values.
    pub(super) pointer: Option<&'static str>,
    /// The type of the value, or of an element.
    pub(super) ty: String,
    /// What the user should know.
    pub(super) note: Option<String>,
}

impl Default for TypeNames {
    fn default() -> Self {
        Self {
            named: Vec::new(),
            size_of_long: SIZE_OF_LONG,
        }
    }
}

/// Bytes of `long` in what is compiled on this system.
pub(crate) const SIZE_OF_LONG: usize = if cfg!(windows) { 4 } else { 8 };

impl TypeNames {
    pub(crate) fn add(&mut self, cpp: &str, rust: &str) {
        self.named.push((without_blanks(cpp), rust.to_owned()));
    }

    /// The type of Rust that the build script gives: for the qualified name, or for the name without namespaces.
    fn given(&self, ty: &CType) -> Option<&str> {
        let name = without_blanks(&ty.to_string());
        let stated = |wanted: &str| self.named.iter().rev().find(|(cpp, _)| cpp == wanted);
        let unqualified = || {
            let before_arguments = name.find('<').unwrap_or(name.len());
            let start = name.get(..before_arguments)?.rfind("::")? + 2;
            stated(name.get(start..)?)
        };
        stated(&name)
            .or_else(unqualified)
            .map(|(_, rust)| rust.as_str())
    }

    pub(super) fn of(&self, parameter: &Parameter) -> Written {
        let value = |ty: String, note| Written {
            pointer: None,
            ty,
            note,
        };
        match &parameter.ty {
            CType::Pointer { to, is_const } => {
                if **to == CType::Unknown
                    && let Some(memory) = parameter.memory
                {
                    return of_memory(memory);
                }
                // What is written behind `const` is written all the same.
                let is_const = *is_const && !parameter.is_written;
                let pointer = if is_const { "" } else { "mut " };
                let (ty, note) = self.element(to);
                Written {
                    pointer: Some(pointer),
                    ty,
                    note,
                }
            }
            ty => {
                if let Some(given) = self.given(ty) {
                    return value(given.to_owned(), None);
                }
                match ty {
                    CType::Scalar(scalar) => value(number(*scalar, parameter.size), None),
                    CType::Vector { of, lanes } => {
                        let size = parameter.size / usize::from((*lanes).max(1));
                        value(format!("[{}; {lanes}]", number(*of, size)), None)
                    }
                    CType::Named(name) if !parameter.is_number => {
                        let note = format!(
                            "`{name}` is passed as {} bytes: name its type in Rust with `rust_type({name:?}, …)` in the build script.",
                            parameter.size
                        );
                        value(bytes(parameter), Some(note))
                    }
                    CType::Integer | CType::Unknown if parameter.memory.is_some() => parameter
                        .memory
                        .map_or_else(|| value(bytes(parameter), None), of_memory),
                    CType::Integer if parameter.size == 8 => {
                        let note = "An integer of 8 bytes may be an address: the image does not tell which.";
                        value("u64".into(), Some(note.into()))
                    }
                    _ => value(bytes(parameter), None),
                }
            }
        }
    }

    /// What lies behind a pointer.
    fn element(&self, ty: &CType) -> (String, Option<String>) {
        if let Some(given) = self.given(ty) {
            return (given.to_owned(), None);
        }
        let number = |scalar: CScalar| number(scalar, scalar.size().unwrap_or(self.size_of_long));
        match ty {
            // What a kernel writes may be no `bool`.
            CType::Scalar(CScalar::Bool) => ("u8".into(), None),
            CType::Scalar(scalar) => (number(*scalar), None),
            CType::Vector { of, lanes } => (format!("[{}; {lanes}]", number(*of)), None),
            CType::Pointer { .. } => ("u64".into(), None),
            CType::Void => ("u8".into(), None),
            CType::Named(name) => {
                let note = format!(
                    "`{name}` in memory is declared as bytes: name its type in Rust with `rust_type({name:?}, …)` in the build script."
                );
                ("u8".into(), Some(note))
            }
            _ => ("u8".into(), None),
        }
    }
}

/// Memory of which only is known what the kernel does with it.
fn of_memory(memory: Memory) -> Written {
    use ScalarType as S;
    let ty = match memory.element {
        Some(S::F32) => "f32",
        Some(S::F64) => "f64",
        Some(S::S8) => "i8",
        Some(S::S16) => "i16",
        Some(S::S32) => "i32",
        Some(S::S64) => "i64",
        Some(S::U16 | S::B16 | S::F16 | S::BF16) => "u16",
        Some(S::U32 | S::B32) => "u32",
        Some(S::U64 | S::B64) => "u64",
        _ => "u8",
    };
    let note = "What it points to is declared by what the kernel does there: no name tells it.";
    Written {
        pointer: Some(if memory.may_be_written { "mut " } else { "" }),
        ty: ty.into(),
        note: Some(note.into()),
    }
}

/// The type of Rust for a number of that many bytes.
fn number(scalar: CScalar, size: usize) -> String {
    let kind = match scalar {
        CScalar::Bool => return "bool".into(),
        CScalar::Float | CScalar::Double => "f",
        CScalar::Char | CScalar::WideChar => "i",
        other if other.is_signed() == Some(true) => "i",
        _ => "u",
    };
    format!("{kind}{}", size * 8)
}

/// Unsigned numbers with the size and alignment of a parameter.
fn bytes(parameter: &Parameter) -> String {
    let unit = match parameter.align.min(8) {
        8 => 8,
        4.. => 4,
        2.. => 2,
        _ => 1,
    };
    let unit = if parameter.size.is_multiple_of(unit) {
        unit
    } else {
        1
    };
    match parameter.size / unit {
        1 => format!("u{}", unit * 8),
        count => format!("[u{}; {count}]", unit * 8),
    }
}

fn without_blanks(text: &str) -> String {
    text.chars()
        .filter(|letter| !letter.is_whitespace())
        .collect()
}
