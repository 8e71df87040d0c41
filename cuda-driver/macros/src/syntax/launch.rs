//! `#[launch(…)]`: how a kernel is launched, and what of it callers may choose.

use proc_macro2::Span;
use syn::parse::{Parse, ParseStream};
use syn::{Ident, LitStr, Result, Token, token};

use super::Expression;

pub(crate) struct Launch {
    pub(crate) span: Span,
    pub(crate) grid: Grid,
    /// The most blocks, where callers may choose.
    pub(crate) most_blocks: Option<Expression>,
    pub(crate) block: Block,
    pub(crate) shared: Option<Amount>,
    pub(crate) cluster: Option<Vec<Expression>>,
    pub(crate) is_cooperative: bool,
    pub(crate) waits: Option<Span>,
    pub(crate) globals: Vec<Global>,
}

/// The usual grid.
pub(crate) enum Grid {
    /// A thread for each element.
    ForLen(Expression),
    /// One to three dimensions.
    Exactly(Vec<Expression>),
}

pub(crate) enum Block {
    /// 256 threads, since nothing was said.
    Usual,
    /// One to three dimensions.
    Exactly(Vec<Expression>),
    /// So many threads at most.
    AtMost(Expression),
}

/// Bytes.
pub(crate) enum Amount {
    Exactly(Expression),
    AtMost(Expression),
}

/// A variable of the module that the kernel touches.
pub(crate) struct Global {
    pub(crate) name: String,
    pub(crate) span: Span,
    pub(crate) is_written: bool,
}

const KNOWN: &str = "is no part of a launch; there are `for_len(…)`, `grid = …`, `grid <= …`, `block = …`, `block <= …`, `shared = …`, `shared <= …`, \
                     `cluster = …`, `cooperative`, `waits` and `globals(…)`";

impl Parse for Launch {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let span = input.span();
        let (mut grid, mut most_blocks, mut block, mut shared, mut cluster) =
            (None, None, None, None, None);
        let (mut cooperative, mut waits, mut globals) = (None, None, None);
        while !input.is_empty() {
            let key: Ident = input.parse()?;
            let is_new = match key.to_string().as_str() {
                "for_len" | "grid" if says_another_grid(grid.as_ref(), &key, input) => {
                    let text = "both `for_len` and `grid` say the grid: keep one; `grid <= …` beside `for_len` is the most blocks";
                    return Err(syn::Error::new(key.span(), text));
                }
                "for_len" => {
                    let content;
                    syn::parenthesized!(content in input);
                    let shape = Grid::ForLen(content.parse()?);
                    if !content.is_empty() {
                        return Err(content.error("expected one length"));
                    }
                    grid.replace(shape).is_none()
                }
                "grid" if at_most(input)? => most_blocks.replace(input.parse()?).is_none(),
                "grid" => grid.replace(Grid::Exactly(dimensions(input)?)).is_none(),
                "block" if at_most(input)? => {
                    block.replace(Block::AtMost(input.parse()?)).is_none()
                }
                "block" => block.replace(Block::Exactly(dimensions(input)?)).is_none(),
                "shared" if at_most(input)? => {
                    shared.replace(Amount::AtMost(input.parse()?)).is_none()
                }
                "shared" => {
                    equals(input)?;
                    shared.replace(Amount::Exactly(input.parse()?)).is_none()
                }
                "cluster" => cluster.replace(dimensions(input)?).is_none(),
                "cooperative" => cooperative.replace(()).is_none(),
                "waits" => waits.replace(key.span()).is_none(),
                "globals" => globals.replace(self::globals(input)?).is_none(),
                _ => return Err(syn::Error::new(key.span(), format!("`{key}` {KNOWN}"))),
            };
            if !is_new {
                let text = "the shape of a launch says each thing once";
                return Err(syn::Error::new(key.span(), text));
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        let grid = grid.ok_or_else(|| {
            let text = "a launch needs its usual grid: `for_len(slice)` for a thread for each element, or `grid = …`";
            syn::Error::new(span, text)
        })?;
        Ok(Self {
            span,
            grid,
            most_blocks,
            block: block.unwrap_or(Block::Usual),
            shared,
            cluster,
            is_cooperative: cooperative.is_some(),
            waits,
            globals: globals.unwrap_or_default(),
        })
    }
}

/// Whether a key says the grid when the other one has said it.
fn says_another_grid(said: Option<&Grid>, key: &Ident, input: ParseStream<'_>) -> bool {
    match said {
        Some(Grid::ForLen(_)) => key == "grid" && input.peek(Token![=]),
        Some(Grid::Exactly(_)) => key == "for_len",
        None => false,
    }
}

/// Takes `=`.
fn equals(input: ParseStream<'_>) -> Result<()> {
    if !input.peek(Token![=]) {
        return Err(input.error("expected `=` or `<=`"));
    }
    input.parse::<Token![=]>().map(drop)
}

/// Takes `<=`, if it is there.
fn at_most(input: ParseStream<'_>) -> Result<bool> {
    let there = input.peek(Token![<=]);
    if there {
        input.parse::<Token![<=]>()?;
    }
    Ok(there)
}

/// `= x`, `= (x, y)` or `= (x, y, z)`
fn dimensions(input: ParseStream<'_>) -> Result<Vec<Expression>> {
    equals(input)?;
    if input.peek(token::Paren) {
        let fork = input.fork();
        let inner;
        syn::parenthesized!(inner in fork);
        let list = inner.parse_terminated(Expression::parse, Token![,])?;
        // A parenthesised number may go on behind the parenthesis.
        if list.len() > 1 {
            let content;
            let parenthesis = syn::parenthesized!(content in input);
            let list = content.parse_terminated(Expression::parse, Token![,])?;
            if list.len() > 3 {
                let text = "there are up to three dimensions";
                return Err(syn::Error::new(parenthesis.span.join(), text));
            }
            return Ok(list.into_iter().collect());
        }
    }
    Ok(vec![input.parse()?])
}

fn globals(input: ParseStream<'_>) -> Result<Vec<Global>> {
    let content;
    syn::parenthesized!(content in input);
    let list = content.parse_terminated(Global::parse, Token![,])?;
    let list: Vec<Global> = list.into_iter().collect();
    for (index, global) in list.iter().enumerate() {
        if list.iter().take(index).any(|it| it.name == global.name) {
            let text = format!("`{}` is listed twice", global.name);
            return Err(syn::Error::new(global.span, text));
        }
    }
    Ok(list)
}

impl Parse for Global {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let is_written = input.parse::<Option<Token![mut]>>()?.is_some();
        let span = input.span();
        let name = if input.peek(LitStr) {
            input.parse::<LitStr>()?.value()
        } else {
            input.parse::<Ident>()?.to_string()
        };
        Ok(Self {
            name,
            span,
            is_written,
        })
    }
}
