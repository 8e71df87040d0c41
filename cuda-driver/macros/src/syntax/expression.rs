//! Expressions of lengths, numbers and launch shapes.

use std::fmt;

use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{Ident, LitInt, Result, Token};

/// `2 * len(a) + 1`
#[derive(Clone)]
pub(crate) enum Expression {
    Integer(u128),
    /// `len(slice)`
    Len(Ident),
    /// A parameter that is a value.
    Name(Ident),
    Binary(Operation, Box<(Expression, Expression)>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    DivideUp,
    Smaller,
    Larger,
}

impl Operation {
    fn evaluate(self, a: u128, b: u128) -> Option<u128> {
        match self {
            Self::Add => a.checked_add(b),
            Self::Subtract => a.checked_sub(b),
            Self::Multiply => a.checked_mul(b),
            Self::Divide => a.checked_div(b),
            Self::Remainder => a.checked_rem(b),
            Self::DivideUp => (b != 0).then(|| a.div_ceil(b)),
            Self::Smaller => Some(a.min(b)),
            Self::Larger => Some(a.max(b)),
        }
    }
}

impl Expression {
    /// The value, if no parameter is in it.
    pub(crate) fn constant(&self) -> Option<u128> {
        match self {
            Self::Integer(value) => Some(*value),
            Self::Len(_) | Self::Name(_) => None,
            Self::Binary(operation, sides) => {
                operation.evaluate(sides.0.constant()?, sides.1.constant()?)
            }
        }
    }

    /// Every parameter in it.
    pub(crate) fn visit<'a>(&'a self, each: &mut dyn FnMut(&'a Self)) {
        match self {
            Self::Integer(_) => {}
            Self::Len(_) | Self::Name(_) => each(self),
            Self::Binary(_, sides) => {
                sides.0.visit(each);
                sides.1.visit(each);
            }
        }
    }
}

/// How deep expressions may be nested.
const DEEPEST: usize = 32;

impl Parse for Expression {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        sum(input, 0)
    }
}

fn sum(input: ParseStream<'_>, depth: usize) -> Result<Expression> {
    let mut left = product(input, depth)?;
    loop {
        let operation = if input.peek(Token![+]) {
            input.parse::<Token![+]>()?;
            Operation::Add
        } else if input.peek(Token![-]) {
            input.parse::<Token![-]>()?;
            Operation::Subtract
        } else {
            return Ok(left);
        };
        left = Expression::Binary(operation, Box::new((left, product(input, depth)?)));
    }
}

fn product(input: ParseStream<'_>, depth: usize) -> Result<Expression> {
    let mut left = atom(input, depth)?;
    loop {
        let operation = if input.peek(Token![*]) {
            input.parse::<Token![*]>()?;
            Operation::Multiply
        } else if input.peek(Token![/]) {
            input.parse::<Token![/]>()?;
            Operation::Divide
        } else if input.peek(Token![%]) {
            input.parse::<Token![%]>()?;
            Operation::Remainder
        } else {
            return Ok(left);
        };
        left = Expression::Binary(operation, Box::new((left, atom(input, depth)?)));
    }
}

fn atom(input: ParseStream<'_>, depth: usize) -> Result<Expression> {
    if depth > DEEPEST {
        return Err(input.error("the expression is nested too deep"));
    }
    if input.peek(LitInt) {
        return number(&input.parse()?);
    }
    if input.peek(syn::token::Paren) {
        let content;
        syn::parenthesized!(content in input);
        let inner = sum(&content, depth + 1)?;
        expect_end(&content)?;
        return Ok(inner);
    }
    if !input.peek(Ident::peek_any) {
        return Err(input.error(
            "expected an integer, `len(slice)`, a parameter that is an integer, `min`, `max`, `div_ceil`, or parentheses",
        ));
    }
    let name: Ident = input.parse()?;
    if input.peek(Token![.]) && !input.peek(Token![..]) {
        let text = format!("there are no methods here; the length of a slice is `len({name})`");
        return Err(input.error(text));
    }
    if !input.peek(syn::token::Paren) {
        return Ok(Expression::Name(name));
    }
    let content;
    syn::parenthesized!(content in input);
    if name == "len" {
        let slice = content.parse()?;
        expect_end(&content)?;
        return Ok(Expression::Len(slice));
    }
    let operation = match name.to_string().as_str() {
        "min" => Operation::Smaller,
        "max" => Operation::Larger,
        "div_ceil" => Operation::DivideUp,
        _ => {
            let text = "there are `len(slice)`, `min(a, b)`, `max(a, b)` and `div_ceil(a, b)`";
            return Err(syn::Error::new(name.span(), text));
        }
    };
    let left = sum(&content, depth + 1)?;
    content.parse::<Token![,]>()?;
    let right = sum(&content, depth + 1)?;
    expect_end(&content)?;
    Ok(Expression::Binary(operation, Box::new((left, right))))
}

/// An integer, which may say its Rust type but no unit.
fn number(literal: &LitInt) -> Result<Expression> {
    let (digits, suffix) = (literal.base10_digits(), literal.suffix());
    let thousands = match suffix.to_ascii_lowercase().as_str() {
        "" | "u8" | "u16" | "u32" | "u64" | "u128" | "usize" | "i8" | "i16" | "i32" | "i64"
        | "i128" | "isize" => return Ok(Expression::Integer(literal.base10_parse()?)),
        "k" | "kb" | "kib" => " * 1024",
        "m" | "mb" | "mib" => " * 1024 * 1024",
        _ => "",
    };
    let text = format!("`{literal}`: a number has no unit here; write `{digits}{thousands}`");
    Err(syn::Error::new(literal.span(), text))
}

fn expect_end(content: ParseStream<'_>) -> Result<()> {
    if content.is_empty() {
        return Ok(());
    }
    Err(content.error("expected the closing parenthesis"))
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => value.fmt(f),
            Self::Len(name) => write!(f, "len({name})"),
            Self::Name(name) => name.fmt(f),
            Self::Binary(operation, sides) => {
                let (left, right) = &**sides;
                let sign = match operation {
                    Operation::Add => "+",
                    Operation::Subtract => "-",
                    Operation::Multiply => "*",
                    Operation::Divide => "/",
                    Operation::Remainder => "%",
                    Operation::DivideUp => return write!(f, "div_ceil({left}, {right})"),
                    Operation::Smaller => return write!(f, "min({left}, {right})"),
                    Operation::Larger => return write!(f, "max({left}, {right})"),
                };
                write_side(f, left, *operation, false)?;
                write!(f, " {sign} ")?;
                write_side(f, right, *operation, true)
            }
        }
    }
}

/// A side with parentheses where precedence wants them.
fn write_side(
    f: &mut fmt::Formatter<'_>,
    side: &Expression,
    outer: Operation,
    is_right: bool,
) -> fmt::Result {
    let rank = |operation| match operation {
        Operation::Add | Operation::Subtract => 0,
        Operation::Multiply | Operation::Divide | Operation::Remainder => 1,
        _ => 2,
    };
    match side {
        Expression::Binary(inner, _)
            if rank(*inner) < rank(outer) || (is_right && rank(*inner) == rank(outer)) =>
        {
            write!(f, "({side})")
        }
        _ => write!(f, "{side}"),
    }
}

#[cfg(test)]
mod tests {
    use super::Expression;

    fn parsed(text: &str) -> Result<Expression, String> {
        syn::parse_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn expressions_are_shown_with_the_parentheses_that_they_need() {
        for text in [
            "len(a)",
            "2 * len(a) + n",
            "2 * (len(a) + n)",
            "a - (b - c)",
            "a / (b * c) % 3",
            "div_ceil(n + 1, 32) * max(min(a, b), 1)",
        ] {
            let expression = parsed(text).expect(text);
            assert_eq!(expression.to_string(), text);
        }
        let expression = parsed("((a)) - (b) * (c)").expect("parses");
        assert_eq!(expression.to_string(), "a - b * c");
    }

    #[test]
    fn constants_are_computed() {
        let value = |text| parsed(text).expect(text).constant();
        assert_eq!(value("1 + 2 * 3 - 10 / 4 % 3"), Some(5));
        assert_eq!(value("div_ceil(10, 4) + min(1, 2) + max(1, 2)"), Some(6));
        assert_eq!(value("0x10_u32"), Some(16));
        for overflow in [
            "1 - 2",
            "1 / 0",
            "1 % 0",
            "div_ceil(1, 0)",
            "n",
            "len(a) * 0",
        ] {
            assert_eq!(value(overflow), None, "{overflow}");
        }
    }

    #[test]
    fn what_is_no_expression_says_what_is_one() {
        for text in [
            "",
            "+",
            "len",
            "len()",
            "len(a, b)",
            "sqrt(a)",
            "min(a)",
            "(a",
            "1.5",
            "a b",
            "\"a\"",
        ] {
            assert!(text == "len" || parsed(text).is_err(), "{text}");
        }
        let deep = format!("{}a{}", "(".repeat(100), ")".repeat(100));
        assert!(parsed(&deep).is_err_and(|it| it.contains("too deep")));
        assert!(parsed("sqrt(a)").is_err_and(|it| it.contains("div_ceil(a, b)")));
    }
}
