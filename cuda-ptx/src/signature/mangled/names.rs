//! Names: of functions, and of the classes that types are of.

use super::item::{Item, joined};
use super::{CType, MOST_TEXT, Name, Reader};

impl Reader<'_> {
    /// A name with its scopes.
    pub(super) fn name(&mut self) -> Option<Name> {
        self.nested(|reader| match reader.peek()? {
            b'N' => reader.nested_name(),
            b'Z' => reader.local_name(),
            _ => reader.unscoped_name(),
        })
    }

    fn unscoped_name(&mut self) -> Option<Name> {
        let substituted = self.peek() == Some(b'S') && !self.rest.starts_with("St");
        let base = if substituted {
            joined(&[self.substitution()?])
        } else if self.accept("St") {
            format!("std::{}", self.unqualified()?)
        } else {
            self.unqualified()?
        };
        let base = self.made(base)?;
        let mut name = Name {
            base,
            arguments: None,
        };
        if self.peek() == Some(b'I') {
            if !substituted {
                self.remember_name(&name)?;
            }
            name.arguments = Some(self.template_arguments()?);
        }
        Some(name)
    }

    fn nested_name(&mut self) -> Option<Name> {
        self.expect("N")?;
        self.take_while(|it| "rVK".contains(it));
        let _reference = self.accept("R") || self.accept("O");
        let mut name: Option<Name> = None;
        let mut last = String::new();
        while !self.accept("E") {
            let (base, is_new) = match (self.peek()?, name.take()) {
                (b'I', Some(before)) if before.arguments.is_none() => {
                    let arguments = Some(self.template_arguments()?);
                    let whole = Name {
                        arguments,
                        ..before
                    };
                    self.remember_name(&whole)?;
                    name = Some(whole);
                    continue;
                }
                (b'S', None) if self.accept("St") => ("std".into(), false),
                (b'S', None) => (joined(&[self.substitution()?]), false),
                (b'T', None) => (joined(&[self.template_parameter()?]), true),
                (kind @ (b'C' | b'D'), Some(before)) => {
                    self.rest = self.rest.get(2..)?;
                    let tilde = if kind == b'D' { "~" } else { "" };
                    (format!("{}::{tilde}{last}", before.full()), true)
                }
                (_, before) => {
                    last = self.unqualified()?;
                    let scope = before.map(|before| before.full() + "::");
                    (scope.unwrap_or_default() + &last, true)
                }
            };
            let base = self.made(base)?;
            let whole = Name {
                base,
                arguments: None,
            };
            if is_new {
                self.remember_name(&whole)?;
            }
            name = Some(whole);
        }
        // The whole is remembered as a type, if it is one.
        self.substitutions.pop();
        name
    }

    fn remember_name(&mut self, name: &Name) -> Option<()> {
        let full = name.full();
        let ctype = named(&full);
        self.remember(Item::one(full, ctype)).map(|_| ())
    }

    /// Something that is declared within a function.
    fn local_name(&mut self) -> Option<Name> {
        self.expect("Z")?;
        let scope = self.encoding()?;
        self.expect("E")?;
        if self.accept("d") {
            self.take_while(|it| it.is_ascii_digit());
            self.expect("_")?;
        }
        let inner = self.name()?;
        if self.accept("__") {
            self.number()?;
            self.expect("_")?;
        } else if self.accept("_") {
            self.take_while(|it| it.is_ascii_digit());
        }
        Some(Name {
            base: self.made(format!("{scope}::{}", inner.base))?,
            arguments: inner.arguments,
        })
    }

    fn unqualified(&mut self) -> Option<String> {
        // Internal linkage.
        self.accept("L");
        let mut text = if self.accept("Ul") {
            let mut types = Vec::new();
            while !self.accept("E") {
                types.push(self.read_type()?);
            }
            let types: Vec<Item> = types.into_iter().filter(|it| !it.is_void()).collect();
            let number = self.ordinal()?;
            format!("{{lambda({})#{number}}}", joined(&types))
        } else if self.accept("Ut") {
            format!("{{unnamed type#{}}}", self.ordinal()?)
        } else if self.accept("cl") {
            "operator()".into()
        } else {
            self.source_name()?
        };
        while self.accept("B") {
            let tag = self.source_name()?;
            text = format!("{text}[abi:{tag}]");
        }
        self.made(text)
    }

    /// `_` is the first, `0_` the second.
    fn ordinal(&mut self) -> Option<usize> {
        let number = match self.peek()? {
            b'_' => 1,
            _ => self.number()?.checked_add(2)?,
        };
        self.expect("_")?;
        Some(number)
    }

    /// A name behind its length.
    pub(super) fn source_name(&mut self) -> Option<String> {
        let len = self.number()?;
        let (name, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        match name {
            "" => None,
            _ if name.starts_with("_GLOBAL__N") => Some("(anonymous namespace)".into()),
            _ => Some(name.into()),
        }
    }

    /// `S_`, `S0_` … and the abbreviations of the standard library.
    pub(super) fn substitution(&mut self) -> Option<Item> {
        self.expect("S")?;
        let known = match self.peek()? {
            b'a' => "std::allocator",
            b'b' => "std::basic_string",
            b's' => "std::string",
            b'i' => "std::istream",
            b'o' => "std::ostream",
            b'd' => "std::iostream",
            _ => {
                let index = self.sequence(36)?;
                // What stands for much is not repeated without end.
                self.text += self.substitutions.get(index)?.size();
                return match self.text <= MOST_TEXT {
                    true => self.substitutions.get(index).cloned(),
                    false => None,
                };
            }
        };
        self.rest = self.rest.get(1..)?;
        Some(Item::one(known, CType::Named(known.into())))
    }

    /// `T_`, `T0_` … as a type.
    pub(super) fn template_parameter(&mut self) -> Option<Item> {
        let item = self.template_parameter_in_expression()?;
        self.remember(item)
    }

    /// The same as a value, for which no substitution ever stands.
    pub(super) fn template_parameter_in_expression(&mut self) -> Option<Item> {
        self.expect("T")?;
        let index = self.sequence(10)?;
        // A generic lambda's own parameters are not among the function's.
        let unknown = || Item::one("auto", CType::Unknown);
        Some(self.template.get(index).cloned().unwrap_or_else(unknown))
    }

    /// Which one: `_` is 0, `0_` is 1, with digits and capital letters.
    fn sequence(&mut self, radix: u32) -> Option<usize> {
        let digits = self.take_while(|it| it.is_ascii_digit() || it.is_ascii_uppercase());
        self.expect("_")?;
        if digits.is_empty() {
            return Some(0);
        }
        usize::from_str_radix(digits, radix).ok()?.checked_add(1)
    }
}

/// The type of that name.
pub(super) fn named(name: &str) -> CType {
    CType::from_name(name).unwrap_or_else(|| CType::Named(name.into()))
}
