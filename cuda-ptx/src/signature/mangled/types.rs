//! Types of parameters and template arguments.

use super::item::{Item, Type, joined};
use super::names::named;
use super::{CType, Reader};
use crate::CScalar;

impl Reader<'_> {
    /// A type; it is remembered for substitutions, unless it is fundamental.
    pub(super) fn read_type(&mut self) -> Option<Item> {
        self.nested(Self::type_here)
    }

    fn type_here(&mut self) -> Option<Item> {
        let first = self.peek()?;
        if let Some(fundamental) = fundamental(first) {
            self.rest = self.rest.get(1..)?;
            return Some(fundamental);
        }
        match first {
            b'r' | b'V' | b'K' => {
                let qualifiers = self.take_while(|it| "rVK".contains(it));
                let inner = self.read_type()?;
                self.remember(inner.map(|ty| qualified(ty, qualifiers)))
            }
            b'P' => self.pointer("P", "*"),
            b'R' => self.pointer("R", "&"),
            b'O' => self.pointer("O", "&&"),
            b'N' | b'Z' | b'0'..=b'9' => self.class(),
            b'S' if self.rest.starts_with("St") => self.class(),
            b'S' => {
                let item = self.substitution()?;
                self.specialised(item)
            }
            b'T' if self.rest.starts_with(['T', '_']) && !self.is_elaborated() => {
                let item = self.template_parameter()?;
                self.specialised(item)
            }
            b'T' => {
                self.rest = self.rest.get(2..)?;
                self.class()
            }
            b'D' => self.type_behind_d(),
            b'U' => {
                self.rest = self.rest.get(1..)?;
                self.source_name()?;
                if self.peek() == Some(b'I') {
                    self.template_arguments()?;
                }
                let inner = self.read_type()?;
                self.remember(inner)
            }
            b'u' => {
                self.rest = self.rest.get(1..)?;
                let name = self.source_name()?;
                self.remember(Item::one(name.clone(), named(&name)))
            }
            b'F' => self.function(),
            b'A' => self.array(),
            b'M' => {
                self.rest = self.rest.get(1..)?;
                let (class, member) = (self.read_type()?, self.read_type()?);
                let text = format!("{} {}::*", joined(&[member]), joined(&[class]));
                self.unmodelled(text)
            }
            _ => None,
        }
    }

    /// Whether a `struct`, `union` or `enum` is said to be one.
    fn is_elaborated(&self) -> bool {
        ["Ts", "Tu", "Te"]
            .iter()
            .any(|prefix| self.rest.starts_with(prefix))
    }

    fn pointer(&mut self, prefix: &str, suffix: &str) -> Option<Item> {
        self.expect(prefix)?;
        let inner = self.read_type()?;
        self.remember(inner.map(|ty| {
            Type {
                // A star stands before a function's parameters.
                text: match ty.ctype {
                    CType::Unknown if ty.text.ends_with(')') => {
                        ty.text.replacen(" (", &format!(" ({suffix})("), 1)
                    }
                    _ => ty.text + suffix,
                },
                ctype: CType::Pointer {
                    to: Box::new(ty.ctype),
                    is_const: ty.is_const,
                },
                is_const: false,
            }
        }))
    }

    fn class(&mut self) -> Option<Item> {
        let name = self.name()?.full();
        let name = self.made(name)?;
        let ctype = named(&name);
        self.remember(Item::one(name, ctype))
    }

    /// An item, or what a template becomes with the arguments behind it.
    fn specialised(&mut self, item: Item) -> Option<Item> {
        if self.peek() != Some(b'I') {
            return Some(item);
        }
        let arguments = self.template_arguments()?;
        let text = format!("{}<{}>", joined(&[item]), joined(&arguments));
        let text = self.made(text)?;
        self.remember(Item::one(text.clone(), CType::Named(text)))
    }

    fn type_behind_d(&mut self) -> Option<Item> {
        let scalar = |scalar: CScalar| Some(Item::one(scalar.name(), CType::Scalar(scalar)));
        for (code, found) in [
            ("Ds", CScalar::Char16),
            ("Di", CScalar::Char32),
            ("Du", CScalar::Char8),
            ("Dh", CScalar::Half),
            ("DF16_", CScalar::Half),
            ("DF16b", CScalar::BFloat16),
        ] {
            if self.accept(code) {
                return scalar(found);
            }
        }
        if self.accept("Dn") {
            return Some(Item::one("std::nullptr_t", CType::Unknown));
        }
        if self.accept("Da") || self.accept("Dc") {
            return Some(Item::one("auto", CType::Unknown));
        }
        if self.accept("Dp") {
            let inner = self.read_type()?;
            return self.remember(inner);
        }
        if self.accept("Do") && self.peek() == Some(b'F') {
            return self.function();
        }
        if self.accept("Dv") {
            let len = self.number()?;
            self.expect("_")?;
            let element = self.read_type()?;
            let text = format!("{} __vector({len})", joined(&[element]));
            return self.unmodelled(text);
        }
        None
    }

    /// `F`, what is returned, the parameters, `E`.
    fn function(&mut self) -> Option<Item> {
        self.expect("F")?;
        self.accept("Y");
        let returned = self.read_type()?;
        let mut parameters = Vec::new();
        while !self.accept("E") {
            let parameter = self.read_type()?;
            if !parameter.is_void() {
                parameters.push(parameter);
            }
        }
        let text = format!("{} ({})", joined(&[returned]), joined(&parameters));
        self.unmodelled(text)
    }

    fn array(&mut self) -> Option<Item> {
        self.expect("A")?;
        let len = self.take_while(|it| it.is_ascii_digit());
        self.expect("_")?;
        let element = self.read_type()?;
        let text = format!("{} [{len}]", joined(&[element]));
        self.unmodelled(text)
    }

    fn unmodelled(&mut self, text: String) -> Option<Item> {
        let text = self.made(text)?;
        self.remember(Item::one(text, CType::Unknown))
    }
}

/// A type of one letter.
fn fundamental(letter: u8) -> Option<Item> {
    let scalar = match letter {
        b'v' => return Some(Item::one("void", CType::Void)),
        b'e' => return Some(Item::one("long double", CType::Unknown)),
        b'g' => return Some(Item::one("__float128", CType::Unknown)),
        b'z' => return Some(Item::one("...", CType::Unknown)),
        b'w' => CScalar::WideChar,
        b'b' => CScalar::Bool,
        b'c' => CScalar::Char,
        b'a' => CScalar::SignedChar,
        b'h' => CScalar::UnsignedChar,
        b's' => CScalar::Short,
        b't' => CScalar::UnsignedShort,
        b'i' => CScalar::Int,
        b'j' => CScalar::UnsignedInt,
        b'l' => CScalar::Long,
        b'm' => CScalar::UnsignedLong,
        b'x' => CScalar::LongLong,
        b'y' => CScalar::UnsignedLongLong,
        b'n' => CScalar::Int128,
        b'o' => CScalar::UnsignedInt128,
        b'f' => CScalar::Float,
        b'd' => CScalar::Double,
        _ => return None,
    };
    Some(Item::one(scalar.name(), CType::Scalar(scalar)))
}

/// A type with `restrict`, `volatile` and `const`, of which only the last matters.
fn qualified(mut ty: Type, qualifiers: &str) -> Type {
    for (letter, word) in [('K', " const"), ('V', " volatile"), ('r', " restrict")] {
        if qualifiers.contains(letter) {
            ty.text.push_str(word);
            ty.is_const |= letter == 'K';
        }
    }
    ty
}
