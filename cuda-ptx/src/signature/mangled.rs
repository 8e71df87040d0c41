//! Mangled names of functions and variables, by the Itanium C++ ABI: names, template arguments and the types of parameters.
//!
//! It reads what kernels have and gives up on the rest (expressions, `decltype`), without trying anything twice: time is linear
//! in the symbol but for the texts that substitutions repeat, of which there is a limit, and so has the depth.

mod item;
mod names;
mod types;

use super::{CType, KernelName};
use item::{Item, joined};

/// Bytes of the longest symbol that is read.
const LONGEST_SYMBOL: usize = 64 << 10;
/// Bytes of text that may be made of a symbol altogether.
const MOST_TEXT: usize = 1 << 20;
/// How deep types may be nested.
const DEEPEST: usize = 64;

/// Reads a mangled name; nothing if it is none, or beyond what is read here.
pub(super) fn read(symbol: &str) -> Option<KernelName> {
    if symbol.len() > LONGEST_SYMBOL {
        return None;
    }
    let mut reader = Reader {
        rest: symbol.strip_prefix("_Z")?,
        depth: 0,
        text: 0,
        substitutions: Vec::new(),
        template: Vec::new(),
    };
    let name = reader.name()?;
    let parameters = reader.parameters(&name);
    let whole = reader.rest.is_empty();
    let types = |list: Vec<Item>| list.into_iter().flat_map(Item::into_types).collect();
    Some(KernelName {
        symbol: symbol.into(),
        qualified: name.base,
        template_arguments: name
            .arguments
            .iter()
            .flatten()
            .flat_map(Item::texts)
            .collect(),
        parameters: parameters.filter(|_| whole).map(types),
    })
}

/// What was read of a symbol, and what later parts refer to.
struct Reader<'a> {
    rest: &'a str,
    depth: usize,
    text: usize,
    substitutions: Vec<Item>,
    /// The arguments of the function's template.
    template: Vec<Item>,
}

/// A qualified name.
struct Name {
    /// Without the arguments of the last component.
    base: String,
    /// The arguments of the last component.
    arguments: Option<Vec<Item>>,
}

impl Name {
    fn full(&self) -> String {
        match &self.arguments {
            Some(arguments) => format!("{}<{}>", self.base, joined(arguments)),
            None => self.base.clone(),
        }
    }
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.rest.bytes().next()
    }

    fn accept(&mut self, prefix: &str) -> bool {
        match self.rest.strip_prefix(prefix) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, prefix: &str) -> Option<()> {
        self.accept(prefix).then_some(())
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|it| !wanted(it)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    fn number(&mut self) -> Option<usize> {
        self.take_while(|it| it.is_ascii_digit()).parse().ok()
    }

    /// A text that was made, counted against the limit.
    fn made(&mut self, text: String) -> Option<String> {
        self.text += text.len();
        (self.text <= MOST_TEXT).then_some(text)
    }

    fn remember(&mut self, item: Item) -> Option<Item> {
        self.text += item.size();
        self.substitutions.push(item.clone());
        (self.text <= MOST_TEXT).then_some(item)
    }

    /// One level deeper.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.depth += 1;
        let result = if self.depth > DEEPEST {
            None
        } else {
            read(self)
        };
        self.depth -= 1;
        result
    }

    /// The types of the parameters behind a function's name, up to the end or an `E`; nothing for what is no function.
    fn parameters(&mut self, name: &Name) -> Option<Vec<Item>> {
        if self.rest.is_empty() {
            return None;
        }
        if let Some(arguments) = &name.arguments {
            self.template.clone_from(arguments);
            // Templates say what they return.
            self.read_type()?;
        }
        let mut types = Vec::new();
        while self.peek().is_some_and(|next| next != b'E') {
            types.push(self.read_type()?);
        }
        match types.as_slice() {
            [] => None,
            [only] if only.is_void() => Some(Vec::new()),
            _ => Some(types),
        }
    }

    /// A function or variable within another name, up to its `E`.
    fn encoding(&mut self) -> Option<String> {
        let outer = std::mem::take(&mut self.template);
        let name = self.name()?;
        let full = name.full();
        let parameters = match self.peek() {
            Some(b'E') => None,
            _ => Some(self.parameters(&name)?),
        };
        self.template = outer;
        self.made(match parameters {
            Some(parameters) => format!("{full}({})", joined(&parameters)),
            None => full,
        })
    }

    /// `I … E`
    fn template_arguments(&mut self) -> Option<Vec<Item>> {
        self.expect("I")?;
        self.arguments_to_end()
    }

    fn arguments_to_end(&mut self) -> Option<Vec<Item>> {
        let mut arguments = Vec::new();
        while !self.accept("E") {
            arguments.push(self.nested(Self::template_argument)?);
        }
        Some(arguments)
    }

    fn template_argument(&mut self) -> Option<Item> {
        if self.accept("J") {
            let items = self.arguments_to_end()?;
            let all = items.into_iter().flat_map(Item::into_all);
            return Some(Item::Pack(all.collect()));
        }
        // Of expressions, a parameter of the template and the address of a function or variable are read.
        if self.rest.starts_with("XT") {
            self.expect("X")?;
            let item = self.template_parameter_in_expression()?;
            self.text += item.size();
            self.expect("E")?;
            return (self.text <= MOST_TEXT).then_some(item);
        }
        if self.accept("XadL_Z") {
            let name = self.encoding()?;
            self.expect("EE")?;
            return Some(Item::one(self.made(format!("&{name}"))?, CType::Unknown));
        }
        if !self.accept("L") {
            return self.read_type();
        }
        let text = if self.accept("_Z") {
            let name = self.encoding()?;
            format!("&{name}")
        } else {
            self.literal()?
        };
        self.expect("E")?;
        Some(Item::one(self.made(text)?, CType::Unknown))
    }

    /// The type and the value of a literal.
    fn literal(&mut self) -> Option<String> {
        let ty = self.read_type()?;
        let value = self.take_while(|it| it.is_ascii_lowercase() || it.is_ascii_digit());
        let value = match value.strip_prefix('n') {
            Some(positive) => format!("-{positive}"),
            None => value.to_owned(),
        };
        let CType::Scalar(scalar) = ty.ctype() else {
            return Some(value);
        };
        Some(match (scalar, value.as_str()) {
            (super::CScalar::Bool, "0") => "false".into(),
            (super::CScalar::Bool, "1") => "true".into(),
            _ => value,
        })
    }
}
