//! Writes the linked module.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::symbol::{Strength, Symbol, is_of_system};
use super::text::{Item, ItemKind, Kind, Token, items, tokens};
use super::{Failure, Input, Shared};
use crate::code;

/// The parts of the linked module, in the order in which they are put together.
#[derive(Debug, Default)]
struct Parts {
    files: String,
    prototypes: String,
    variables: String,
    functions: String,
    /// Numbers of files that were given out.
    file_count: u32,
    /// Functions of the system that were declared.
    declared: BTreeSet<String>,
}

/// One text of all inputs, whose symbols agree.
///
/// # Errors
/// Declarations that cannot be taken apart.
pub(super) fn merge(
    inputs: &[Input],
    shared: &BTreeMap<String, Shared>,
) -> Result<String, Failure> {
    let renames = renames(inputs, shared);
    let mut parts = Parts::default();
    for (number, input) in inputs.iter().enumerate() {
        let tokens = tokens(&input.text);
        let mut writer = Writer {
            number,
            input,
            shared,
            tokens: &tokens,
            renames: renames.get(number),
            files: BTreeMap::new(),
        };
        for item in items(&input.text, &tokens) {
            writer.item(&item, &mut parts)?;
        }
    }
    let version = inputs.iter().map(|input| input.version).max();
    let (major, minor) = version.unwrap_or((6, 0));
    let target = inputs
        .iter()
        .map(|input| input.target.as_str())
        .max_by_key(|target| crate::image::target(target))
        .unwrap_or("sm_50");
    Ok(format!(
        ".version {major}.{minor}\n.target {target}\n.address_size 64\n{}{}{}{}",
        parts.files, parts.prototypes, parts.variables, parts.functions
    ))
}

/// For each input the new names of what it keeps to itself: all names are to differ.
fn renames(inputs: &[Input], shared: &BTreeMap<String, Shared>) -> Vec<BTreeMap<String, String>> {
    let mut taken: BTreeSet<String> = shared.keys().cloned().collect();
    let names = inputs.iter().flat_map(|input| &input.symbols);
    let all: BTreeSet<String> = names.map(|symbol| symbol.name.clone()).collect();
    let mut count = 0u64;
    inputs
        .iter()
        .map(|input| {
            let own: BTreeSet<&str> = input
                .symbols
                .iter()
                .filter(|symbol| is_own(symbol))
                .map(|symbol| symbol.name.as_str())
                .collect();
            let mut renames = BTreeMap::new();
            for name in own {
                if taken.insert(name.to_owned()) {
                    continue;
                }
                let new = loop {
                    count += 1;
                    let candidate = format!("{name}$linked{count}");
                    if !all.contains(&candidate) && taken.insert(candidate.clone()) {
                        break candidate;
                    }
                };
                renames.insert(name.to_owned(), new);
            }
            renames
        })
        .collect()
}

/// Whether other inputs may have the same name for something else. Dynamic shared arrays all start at the same place, whatever their names.
fn is_own(symbol: &Symbol) -> bool {
    symbol.strength == Strength::Internal || symbol.is_dynamic_shared()
}

/// Writes the declarations of one input.
struct Writer<'a> {
    number: usize,
    input: &'a Input,
    shared: &'a BTreeMap<String, Shared>,
    tokens: &'a [Token],
    renames: Option<&'a BTreeMap<String, String>>,
    /// The new number of each of its files.
    files: BTreeMap<String, u32>,
}

/// Directives by which a kernel bounds its registers.
const BOUNDS: [&str; 3] = [".maxnreg", ".maxntid", ".reqntid"];

impl Writer<'_> {
    fn item(&mut self, item: &Item, parts: &mut Parts) -> Result<(), Failure> {
        match item.kind {
            ItemKind::Header => {}
            ItemKind::File => self.file(item, parts),
            ItemKind::Function { body } => {
                let Some(symbol) = self.declared(item).next() else {
                    return Ok(());
                };
                let entry = self.has_directive(item, ".entry");
                match body {
                    Some(body) if self.is_kept(symbol) => {
                        if !entry {
                            self.write(item.tokens.start..body, &mut parts.prototypes);
                            parts.prototypes.push_str(";\n");
                        }
                        self.write(item.tokens.start..body, &mut parts.functions);
                        let bounded = BOUNDS.iter().any(|name| self.has_directive(item, name));
                        if let Some(most) = self.input.max_registers.filter(|_| entry && !bounded) {
                            // Writing to a string cannot fail.
                            let _ = write!(parts.functions, " .maxnreg {}", most.clamp(24, 255));
                        }
                        parts.functions.push('\n');
                        self.write(body..item.tokens.end, &mut parts.functions);
                        parts.functions.push('\n');
                    }
                    // What is defined is declared with its definition.
                    None if is_of_system(&symbol.name)
                        && parts.declared.insert(symbol.name.clone()) =>
                    {
                        self.write(item.tokens.clone(), &mut parts.prototypes);
                        parts.prototypes.push('\n');
                    }
                    _ => {}
                }
            }
            ItemKind::Other => {
                let symbols: Vec<&Symbol> = self.declared(item).collect();
                let kept = symbols.iter().filter(|symbol| self.is_kept(symbol)).count();
                let part = if symbols.is_empty() {
                    &mut parts.functions
                } else {
                    &mut parts.variables
                };
                if kept == symbols.len() {
                    self.write(item.tokens.clone(), part);
                    part.push('\n');
                } else if kept > 0 {
                    let name = symbols.first().map_or("", |symbol| symbol.name.as_str());
                    return Err(Failure {
                        result: code::NOT_SUPPORTED,
                        lines: vec![format!(
                            "error   : '{name}' in '{}' is declared together with variables that another input defines; declare each by itself",
                            self.input.name
                        )],
                    });
                }
            }
        }
        Ok(())
    }

    /// The symbols that an item declares.
    fn declared(&self, item: &Item) -> impl Iterator<Item = &Symbol> {
        let at = |token: usize| self.tokens.get(token).map(|token| &token.range);
        let start = at(item.tokens.start).map_or(0, |range| range.start);
        let end = at(item.tokens.end.wrapping_sub(1)).map_or(0, |range| range.end);
        self.input
            .symbols
            .iter()
            .filter(move |symbol| (start..end).contains(&symbol.place))
    }

    fn is_kept(&self, symbol: &Symbol) -> bool {
        is_own(symbol)
            || self.shared.get(&symbol.name).is_some_and(|shared| {
                shared.input == self.number
                    && shared.strength != Strength::Extern
                    && symbol.strength != Strength::Extern
            })
    }

    fn text(&self, token: &Token) -> &str {
        self.input.text.get(token.range.clone()).unwrap_or("")
    }

    fn has_directive(&self, item: &Item, name: &str) -> bool {
        let tokens = self.tokens.get(item.tokens.clone()).unwrap_or(&[]);
        tokens
            .iter()
            .take_while(|token| token.kind != Kind::Mark(b'{'))
            .any(|token| self.text(token) == name)
    }

    /// Gives a file a number of its own.
    fn file(&mut self, item: &Item, parts: &mut Parts) {
        let tokens = self.tokens.get(item.tokens.clone()).unwrap_or(&[]);
        let [_, number, rest @ ..] = tokens else {
            return;
        };
        parts.file_count += 1;
        let number = self.text(number).to_owned();
        let rest: String = rest.iter().map(|token| self.text(token)).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(parts.files, ".file {} {rest}", parts.file_count);
        self.files.insert(number, parts.file_count);
    }

    /// Copies tokens with what stands between them, with the new names and the new numbers of files.
    fn write(&self, range: std::ops::Range<usize>, into: &mut String) {
        let tokens = self.tokens.get(range).unwrap_or(&[]);
        let mut copied = tokens.first().map_or(0, |token| token.range.start);
        let mut from_loc = usize::MAX;
        for token in tokens {
            if token.range.start < copied {
                continue;
            }
            let text = self.text(token);
            from_loc = from_loc.saturating_add(1);
            let new = match token.kind {
                Kind::Word => self.renames.and_then(|renames| renames.get(text)).cloned(),
                Kind::Number if from_loc == 1 => self.files.get(text).map(u32::to_string),
                Kind::Directive if text == ".loc" => {
                    from_loc = 0;
                    None
                }
                // Where a line was inlined from names labels of sections, which are left out.
                Kind::Mark(b',') if from_loc == 4 => {
                    let rest = self.input.text.get(token.range.start..).unwrap_or("");
                    let end = rest.find('\n').unwrap_or(rest.len());
                    into.push_str(self.input.text.get(copied..token.range.start).unwrap_or(""));
                    copied = token.range.start + end;
                    continue;
                }
                _ => None,
            };
            if let Some(new) = new {
                into.push_str(self.input.text.get(copied..token.range.start).unwrap_or(""));
                into.push_str(&new);
                copied = token.range.end;
            }
        }
        let end = tokens.last().map_or(copied, |token| token.range.end);
        into.push_str(self.input.text.get(copied..end).unwrap_or(""));
    }
}
