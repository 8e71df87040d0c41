//! Looks into `macro_rules!` definitions that write items, with the arguments of their first use in the same file.
//!
//! This is no macro expander: repetitions are taken once, and each metavariable is the argument at its place. That is
//! enough for macros that write the same methods for several types; others that name functions of the driver are
//! reported.

use std::collections::HashMap;

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use syn::Item;

use super::calls::is_driver_name;

/// The arguments of each macro's first use as an item of a file.
pub(super) struct Invocations(HashMap<String, TokenStream>);

impl Invocations {
    pub(super) fn of(file: &syn::File) -> Self {
        let mut first = HashMap::new();
        for item in &file.items {
            if let Item::Macro(item) = item
                && let Some(name) = item.mac.path.segments.last()
            {
                let arguments = || item.mac.tokens.clone();
                first
                    .entry(name.ident.to_string())
                    .or_insert_with(arguments);
            }
        }
        Self(first)
    }

    /// The items that a macro writes, if any of them names functions of the driver.
    ///
    /// # Errors
    /// If they do and are not understood.
    pub(super) fn expand(&self, name: &str, rules: &TokenStream) -> Result<Vec<Item>, String> {
        let mut items = Vec::new();
        for (pattern, body) in split_rules(rules) {
            if !names_functions(&body) {
                continue;
            }
            let arguments = self.0.get(name).cloned().unwrap_or_default();
            let values = bind(&pattern, &arguments);
            let file = syn::parse2::<syn::File>(substitute(&body, &values)).map_err(|error| {
                format!(
                    "the macro `{name}!` names functions of the driver but is not understood ({error}); \
                     let it call a function that is written out"
                )
            })?;
            items.extend(file.items);
        }
        Ok(items)
    }
}

/// The patterns and bodies of `(pattern) => {body}; …`.
fn split_rules(rules: &TokenStream) -> Vec<(TokenStream, TokenStream)> {
    let groups = rules.clone().into_iter().filter_map(|token| match token {
        TokenTree::Group(group) => Some(group.stream()),
        _ => None,
    });
    let groups: Vec<TokenStream> = groups.collect();
    let pairs = groups.chunks_exact(2);
    let pairs = pairs.filter_map(|pair| match pair {
        [pattern, body] => Some((pattern.clone(), body.clone())),
        _ => None,
    });
    pairs.collect()
}

/// Whether functions of the driver are named in the tokens, in calls or aliases.
fn names_functions(tokens: &TokenStream) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Group(group) => names_functions(&group.stream()),
        TokenTree::Ident(name) => is_driver_name(&name.to_string()),
        TokenTree::Literal(text) => is_driver_name(text.to_string().trim_matches('"')),
        TokenTree::Punct(_) => false,
    })
}

/// The metavariables of a pattern, each with the argument at its place.
fn bind(pattern: &TokenStream, arguments: &TokenStream) -> HashMap<String, TokenStream> {
    let mut names = Vec::new();
    metavariables(pattern, &mut names);
    let mut values = vec![TokenStream::new()];
    for token in arguments.clone() {
        match (&token, values.last_mut()) {
            (TokenTree::Punct(punct), _) if punct.as_char() == ',' => {
                values.push(TokenStream::new())
            }
            (_, Some(value)) => value.extend([token]),
            (_, None) => {}
        }
    }
    names.into_iter().zip(values).collect()
}

fn metavariables(pattern: &TokenStream, names: &mut Vec<String>) {
    let mut after_dollar = false;
    for token in pattern.clone() {
        match token {
            TokenTree::Group(group) => metavariables(&group.stream(), names),
            TokenTree::Ident(name) if after_dollar => names.push(name.to_string()),
            TokenTree::Punct(punct) => {
                after_dollar = punct.as_char() == '$';
                continue;
            }
            _ => {}
        }
        after_dollar = false;
    }
}

/// The body with repetitions taken once and metavariables replaced; those without a value keep their name.
fn substitute(body: &TokenStream, values: &HashMap<String, TokenStream>) -> TokenStream {
    let mut output = TokenStream::new();
    let mut tokens = body.clone().into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '$' => match tokens.next() {
                Some(TokenTree::Group(group)) => {
                    output.extend(substitute(&group.stream(), values));
                    // The separator, if there is one, and then the kind of repetition.
                    if !tokens.next().as_ref().is_some_and(is_repetition) {
                        tokens.next();
                    }
                }
                Some(TokenTree::Ident(name)) => output.extend(value_of(&name, values)),
                other => output.extend(other),
            },
            TokenTree::Group(group) => {
                let inner = substitute(&group.stream(), values);
                output.extend([TokenTree::from(Group::new(group.delimiter(), inner))]);
            }
            other => output.extend([other]),
        }
    }
    output
}

fn value_of(name: &Ident, values: &HashMap<String, TokenStream>) -> TokenStream {
    match values.get(&name.to_string()) {
        Some(value) if !value.is_empty() => value.clone(),
        _ => TokenStream::from(TokenTree::from(name.clone())),
    }
}

fn is_repetition(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if matches!(punct.as_char(), '*' | '+' | '?'))
}
