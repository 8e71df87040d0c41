//! The driver's functions in a body, told apart from mere questions whether they exist.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The symbols that tokens call, sorted and each once.
///
/// `call!(driver, cuInit(0))` and a use of `library.cuInit()` are calls; `library.cuInit().is_ok()` only asks whether the
/// driver has the function, and `signatures::cuInit` is its type.
pub(super) fn called(tokens: &TokenStream) -> Vec<String> {
    let mut calls = Vec::new();
    collect(tokens.clone(), &mut calls);
    calls.sort();
    calls.dedup();
    calls
}

/// Whether it has the form of a function's name: `cuInit`, but neither `CUresult` nor `cuda`.
pub(super) fn is_driver_name(name: &str) -> bool {
    let rest = name.strip_prefix("cu");
    rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
}

fn collect(tokens: TokenStream, calls: &mut Vec<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (index, token) in tokens.iter().enumerate() {
        match token {
            // The brackets of an attribute, which names functions without calling them.
            TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
                let before = index.checked_sub(1).and_then(|before| tokens.get(before));
                if !before.is_some_and(|before| is_punct(before, '#')) {
                    collect(group.stream(), calls);
                }
            }
            TokenTree::Group(group) => collect(group.stream(), calls),
            TokenTree::Ident(name) => {
                let name = name.to_string();
                let (before, after) = tokens.split_at(index);
                let after = after.get(1..).unwrap_or_default();
                if is_driver_name(&name) && !is_type(before) && !is_question(after) {
                    calls.push(name);
                }
            }
            _ => {}
        }
    }
}

/// Whether the tokens in front end with `signatures::`.
fn is_type(before: &[TokenTree]) -> bool {
    let [.., TokenTree::Ident(module), first, second] = before else {
        return false;
    };
    module == "signatures" && is_punct(first, ':') && is_punct(second, ':')
}

/// Whether the tokens behind begin with `().is_ok` or `().is_err`.
fn is_question(after: &[TokenTree]) -> bool {
    let [
        TokenTree::Group(arguments),
        dot,
        TokenTree::Ident(method),
        ..,
    ] = after
    else {
        return false;
    };
    let asks = method == "is_ok" || method == "is_err";
    arguments.stream().is_empty() && is_punct(dot, '.') && asks
}

fn is_punct(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == wanted)
}
