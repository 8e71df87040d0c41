//! What the build script says in the language of `kernels!`: lengths, values and launches. What is wrong there would otherwise be shown in
//! generated code, far from where it was written.

use std::iter::Peekable;
use std::vec::IntoIter;

use super::Declared;

/// How deep expressions may be nested.
const DEEPEST: usize = 32;

/// Whether `text` is a length: an expression, or one followed by `..`.
pub(super) fn check_length(text: &str, parameters: &[Declared]) -> Result<(), String> {
    let text = text.trim();
    check_value(text.strip_suffix("..").unwrap_or(text), parameters)
}

/// Whether `text` is an expression of integers, lengths and parameters.
pub(super) fn check_value(text: &str, parameters: &[Declared]) -> Result<(), String> {
    let mut parser = Parser::new(text, parameters)?;
    parser.sum(0)?;
    parser.end()
}

/// Whether `text` is the inside of `#[launch(…)]`.
pub(super) fn check_launch(text: &str, parameters: &[Declared]) -> Result<(), String> {
    let mut parser = Parser::new(text, parameters)?;
    let mut has_grid = false;
    while parser.tokens.peek().is_some() {
        has_grid |= parser.clause()?;
        if parser.tokens.peek().is_some() {
            parser.expect(",")?;
        }
    }
    if has_grid {
        Ok(())
    } else {
        Err(
            "it does not say the grid: `for_len(…)` for a thread for each element, or `grid = …`"
                .into(),
        )
    }
}

struct Parser<'a> {
    tokens: Peekable<IntoIter<&'a str>>,
    parameters: &'a [Declared],
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, parameters: &'a [Declared]) -> Result<Self, String> {
        let tokens = tokens(text)?.into_iter().peekable();
        Ok(Self { tokens, parameters })
    }

    /// One part of a launch; whether it says the grid.
    fn clause(&mut self) -> Result<bool, String> {
        let key = self.tokens.next().unwrap_or_default();
        match key {
            "cooperative" | "waits" => return Ok(false),
            "for_len" => {
                self.expect("(")?;
                // A slice stands for its length here.
                let slice = self.tokens.peek().copied().unwrap_or_default();
                if self.parameter(slice).is_some_and(|it| it.pointer.is_some()) {
                    self.tokens.next();
                } else {
                    self.sum(0)?;
                }
                self.expect(")")?;
                return Ok(true);
            }
            "globals" => {
                // Names of variables, which the image has.
                let is_inside = |token: &&str| *token != ")";
                while self.tokens.next_if(is_inside).is_some() {}
                self.expect(")")?;
                return Ok(false);
            }
            "grid" | "block" | "shared" | "cluster" => {}
            "" => return Err("it ends where more is expected".into()),
            other => {
                return Err(format!(
                    "`{other}` is no part of a launch; there are `for_len(…)`, `grid`, `block`, `shared`, `cluster`, `cooperative`, \
                     `waits` and `globals(…)`"
                ));
            }
        }
        if key != "cluster" && self.tokens.next_if_eq(&"<=").is_some() {
            self.sum(0)?;
            return Ok(false);
        }
        self.expect("=")?;
        self.dimensions(key != "shared")?;
        Ok(key == "grid")
    }

    /// `x`, `(x, y)` or `(x, y, z)`
    fn dimensions(&mut self, may_be_several: bool) -> Result<(), String> {
        let mut ahead = self.tokens.clone();
        if may_be_several && ahead.next() == Some("(") {
            let mut inside = Parser {
                tokens: ahead,
                parameters: self.parameters,
            };
            inside.sum(1)?;
            let mut count = 1;
            while inside.tokens.next_if_eq(&",").is_some() {
                inside.sum(1)?;
                count += 1;
            }
            if count > 1 {
                inside.expect(")")?;
                self.tokens = inside.tokens;
                return match count {
                    2 | 3 => Ok(()),
                    _ => Err(format!(
                        "there are at most three dimensions, and not {count}"
                    )),
                };
            }
        }
        self.sum(0)
    }

    fn sum(&mut self, depth: usize) -> Result<(), String> {
        self.atom(depth)?;
        let is_operator = |token: &&str| matches!(*token, "+" | "-" | "*" | "/" | "%");
        while self.tokens.next_if(is_operator).is_some() {
            self.atom(depth)?;
        }
        Ok(())
    }

    fn atom(&mut self, depth: usize) -> Result<(), String> {
        if depth > DEEPEST {
            return Err("the expression is nested too deep".into());
        }
        let token = self.tokens.next().unwrap_or_default();
        let is_called = self.tokens.peek() == Some(&"(");
        match token {
            "(" => {
                self.sum(depth + 1)?;
                self.expect(")")
            }
            "len" if is_called => {
                self.expect("(")?;
                let slice = self.tokens.next().unwrap_or_default();
                match self.parameter(slice) {
                    Some(it) if it.pointer.is_some() => self.expect(")"),
                    Some(_) => Err(format!("`{slice}` is a value, which has no length")),
                    None => Err(self.unknown(slice)),
                }
            }
            "min" | "max" | "div_ceil" if is_called => {
                self.expect("(")?;
                self.sum(depth + 1)?;
                self.expect(",")?;
                self.sum(depth + 1)?;
                self.expect(")")
            }
            "" => Err("it ends where an integer, a length or a parameter is expected".into()),
            number if number.starts_with(|it: char| it.is_ascii_digit()) => Ok(()),
            name if name.starts_with(is_name) => match self.parameter(name) {
                Some(it) if it.pointer.is_none() => Ok(()),
                Some(_) => Err(format!(
                    "`{name}` is a pointer; its length is `len({name})`"
                )),
                None => Err(self.unknown(name)),
            },
            other => Err(format!(
                "there is `{other}` where an integer, a length or a parameter is expected"
            )),
        }
    }

    fn parameter(&self, name: &str) -> Option<&Declared> {
        self.parameters.iter().find(|it| it.name == name)
    }

    fn unknown(&self, name: &str) -> String {
        let known: Vec<String> = self
            .parameters
            .iter()
            .map(|it| format!("`{}`", it.name))
            .collect();
        let known = known.join(", ");
        format!("it has no parameter `{name}`; its parameters are: {known}")
    }

    fn expect(&mut self, wanted: &str) -> Result<(), String> {
        match self.tokens.next() {
            Some(token) if token == wanted => Ok(()),
            Some(token) => Err(format!("there is `{token}` where `{wanted}` is expected")),
            None => Err(format!("it ends where `{wanted}` is expected")),
        }
    }

    fn end(&mut self) -> Result<(), String> {
        match self.tokens.next() {
            None => Ok(()),
            Some(token) => Err(format!("there is `{token}` where it should end")),
        }
    }
}

fn is_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Words, texts and signs.
fn tokens(text: &str) -> Result<Vec<&str>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            it if is_name(it) => rest.find(|it| !is_name(it)).unwrap_or(rest.len()),
            '"' => match rest.get(1..).and_then(|inside| inside.find('"')) {
                Some(end) => end + 2,
                None => return Err("a text in it does not end".into()),
            },
            '<' if rest.starts_with("<=") => 2,
            it => it.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        tokens.push(token);
        rest = after.trim_start();
    }
    Ok(tokens)
}
