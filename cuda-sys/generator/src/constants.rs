//! Constants that the headers define as macros.

use std::collections::BTreeMap;

use crate::Fallible;
use crate::model::Api;

/// A constant: its name, Rust type and Rust value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Constant {
    pub(crate) name: String,
    pub(crate) ty: String,
    pub(crate) value: String,
}

/// The `#define`s of `text` that have a value; function-like macros, renamed functions and guards are left out.
pub(crate) fn read(text: &str, api: &Api, constants: &mut Vec<Constant>) -> Fallible<()> {
    let text = without_comments(text);
    let mut enumerators = BTreeMap::new();
    for item in &api.enums {
        for (name, _) in &item.values {
            enumerators.insert(name.as_str(), item.tag.as_str());
        }
    }
    for line in text.lines() {
        if let Some(name) = line.trim_start().strip_prefix("#undef ") {
            constants.retain(|constant| constant.name != name.trim());
        }
        let Some(rest) = line.trim_start().strip_prefix("#define ") else {
            continue;
        };
        let Some((name, value)) = rest.trim().split_once(char::is_whitespace) else {
            continue;
        };
        let value = value.trim();
        if name.contains('(')
            || name.starts_with('_')
            || name.starts_with("cu")
            || value.contains("__")
        {
            continue;
        }
        let (ty, value) = evaluate(value, &enumerators, constants)
            .ok_or_else(|| format!("cannot read the macro {name}: unknown form `{value}`"))?;
        let constant = Constant {
            name: name.to_string(),
            ty,
            value,
        };
        if !constants.contains(&constant) {
            constants.push(constant);
        }
    }
    Ok(())
}

/// Type and value of a macro's text: an integer, an enumerator, another constant, or a cast of one of them.
fn evaluate(
    text: &str,
    enumerators: &BTreeMap<&str, &str>,
    known: &[Constant],
) -> Option<(String, String)> {
    let text = unparenthesised(text.trim());
    if let Some((ty, operand)) = text.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        let (_, value) = evaluate(operand, enumerators, known)?;
        return Some(match ty.trim() {
            "void*" | "void *" => (
                "*mut c_void".to_string(),
                format!("core::ptr::without_provenance_mut({value} as usize)"),
            ),
            "CUstream" => (
                ty.to_string(),
                format!("core::ptr::without_provenance_mut({value})"),
            ),
            _ => (ty.to_string(), value),
        });
    }
    if let Some(enumeration) = enumerators.get(text) {
        return Some((enumeration.to_string(), format!("{enumeration}::{text}")));
    }
    if known.iter().any(|constant| constant.name == text) {
        return Some(("u32".to_string(), text.to_string()));
    }
    if text == "~0u" {
        return Some(("u32".to_string(), "u32::MAX".to_string()));
    }
    let digits = text.trim_start_matches('-');
    let number = match digits.strip_prefix("0x") {
        Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some(match text.starts_with('-') {
        true => ("i32".to_string(), format!("-{number}")),
        false => ("u32".to_string(), number.to_string()),
    })
}

/// `text` without one pair of parentheses around all of it.
fn unparenthesised(text: &str) -> &str {
    let Some(inner) = text
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'))
    else {
        return text;
    };
    let mut depth = 0_i32;
    for character in inner.chars() {
        depth += i32::from(character == '(') - i32::from(character == ')');
        if depth < 0 {
            return text;
        }
    }
    inner
}

/// `text` with each comment replaced by a blank.
pub(crate) fn without_comments(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("/*") {
        result.push_str(&rest[..start]);
        result.push(' ');
        rest = rest[start..]
            .find("*/")
            .map_or("", |end| &rest[start + end + 2..]);
    }
    result.push_str(rest);
    result
}
