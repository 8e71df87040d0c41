//! `functions.rs`: one row per exported symbol.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use quote::ToTokens;

use crate::facts::Row;
use crate::model::{Api, Function};
use crate::{FIRST_LINE, Fallible};

/// The text of `functions.rs`; fails where headers and tables disagree about what there is.
pub(crate) fn functions(api: &Api, rows: &[Row]) -> Fallible<String> {
    let mut declared: BTreeMap<&str, &Function> = api
        .functions
        .iter()
        .map(|function| (function.symbol.as_str(), function))
        .collect();
    let mut text = FIRST_LINE.to_string();
    text.push_str(HEAD);
    for row in rows {
        let function = declared.remove(row.symbol.as_str()).ok_or_else(|| {
            format!(
                "{} is in the table of symbols but not in the headers",
                row.symbol
            )
        })?;
        write_row(&mut text, row, function)?;
    }
    if let Some(symbol) = declared.keys().next() {
        return Err(format!(
            "{symbol} is in the headers but not in the table of symbols: add its line"
        )
        .into());
    }
    text.push_str("    } }\n}\n");
    Ok(text)
}

const HEAD: &str = r#"
/// Calls `$callback!` with one row per exported symbol, sorted by name:
/// `symbol { base abi stream first_cuda deprecated_since, group public } (parameters);`.
///
/// The parameters' types are written as this crate and `core::ffi` name them; the caller brings both into scope.
/// Every function returns a `CUresult`.
#[macro_export]
macro_rules! for_each_symbol {
    ($callback:path) => { $callback! {
"#;

fn write_row(text: &mut String, row: &Row, function: &Function) -> Fallible<()> {
    let stream = match row.stream_variant.as_str() {
        "" => "Legacy",
        "ptds" => "PerThreadDefault",
        "ptsz" => "PerThread",
        other => {
            return Err(format!("{} has the unknown stream variant {other}", row.symbol).into());
        }
    };
    let deprecated = row
        .deprecated_since
        .map_or("None".to_string(), |version| format!("Some({version})"));
    let mut description = row.description.clone();
    if let Some(first) = description.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    let _ = writeln!(text, "        /// {description}.");
    let _ = write!(
        text,
        "        {} {{ {} {} {stream} {} {deprecated}, {:?} {} }} (",
        row.symbol, row.base, row.abi, row.first_cuda, row.group, row.public
    );
    for (index, (name, ty)) in function.parameters.iter().enumerate() {
        let separator = if index == 0 { "" } else { ", " };
        let _ = write!(text, "{separator}{name}: {}", plain(ty));
    }
    text.push_str(");\n");
    Ok(())
}

/// A type's tokens in the usual spacing.
fn plain(ty: &syn::Type) -> String {
    let text = ty.to_token_stream().to_string();
    text.replace("* mut ", "*mut ")
        .replace("* const ", "*const ")
        .replace(" < ", "<")
        .replace(" >", ">")
        .replace(" ; ", "; ")
}
