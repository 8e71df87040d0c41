//! `types.rs`: enums, records, aliases and constants.

use std::fmt::Write as _;

use quote::ToTokens;

use crate::constants::Constant;
use crate::model::{Api, Enum, Record};
use crate::{FIRST_LINE, Fallible};

/// The text of `types.rs`.
pub(crate) fn types(api: &Api, constants: &[Constant]) -> Fallible<String> {
    let mut text = format!("{FIRST_LINE}use core::ffi::*;\n\n");
    for alias in &api.aliases {
        for (condition, ty) in by_width(&alias.ty, alias.narrow.as_ref()) {
            let _ = writeln!(text, "{condition} pub type {} = {ty};", alias.name);
        }
    }
    for constant in constants {
        let _ = writeln!(
            text,
            "pub const {}: {} = {};",
            constant.name, constant.ty, constant.value
        );
    }
    api.records
        .iter()
        .for_each(|record| write_record(&mut text, record));
    let mut text = prettyplease::unparse(&syn::parse_str(&text)?);
    text.insert_str(0, FIRST_LINE);

    let filled = api.records.iter().filter(|record| !record.is_opaque);
    write_list(&mut text, "zeroed_default", filled.clone());
    write_list(
        &mut text,
        "opaque_debug",
        filled.filter(|record| record.is_union),
    );
    for item in &api.enums {
        write_enum(&mut text, item)?;
    }
    Ok(text)
}

fn write_record(text: &mut String, record: &Record) {
    if record.is_opaque {
        let _ = writeln!(
            text,
            "#[repr(C)] #[derive(Debug)] pub struct {} {{ _unused: [u8; 0] }}",
            record.tag
        );
        return;
    }
    let (derive, keyword) = if record.is_union {
        ("", "union")
    } else {
        ("Debug, ", "struct")
    };
    let align = record
        .align
        .map_or(String::new(), |align| format!(", align({align})"));
    let _ = writeln!(
        text,
        "#[repr(C{align})] #[derive({derive}Copy, Clone)] pub {keyword} {} {{",
        record.tag
    );
    for field in &record.fields {
        for (condition, ty) in by_width(&field.ty, field.narrow.as_ref()) {
            let _ = writeln!(text, "{condition} pub {}: {ty},", field.name);
        }
    }
    text.push_str("}\n");
}

/// The type, or the types of 64 and of 32 bit targets with the condition of each.
fn by_width(ty: &syn::Type, narrow: Option<&syn::Type>) -> Vec<(&'static str, String)> {
    let ty = ty.to_token_stream().to_string();
    match narrow {
        None => vec![("", ty)],
        Some(narrow) => vec![
            ("#[cfg(target_pointer_width = \"64\")]", ty),
            (
                "#[cfg(not(target_pointer_width = \"64\"))]",
                narrow.to_token_stream().to_string(),
            ),
        ],
    }
}

fn write_list<'a>(text: &mut String, macro_name: &str, records: impl Iterator<Item = &'a Record>) {
    let _ = writeln!(text, "\n{macro_name}! {{");
    for record in records {
        let _ = writeln!(text, "    {},", record.tag);
    }
    text.push_str("}\n");
}

/// Enums whose enumerators are bits that may be combined, although their names do not say `flags`.
const BITS: [&str; 4] = [
    "CUatomicOperationCapability",
    "CUflushGPUDirectRDMAWritesOptions",
    "CUmemAllocationHandleType",
    "CUmemDecompressAlgorithm",
];

/// Writes one enumeration, which must fit into 32 bits: every C compiler in question gives it an `int` or `unsigned`.
fn write_enum(text: &mut String, item: &Enum) -> Fallible<()> {
    let is_flags =
        item.tag.to_ascii_lowercase().contains("flag") || BITS.contains(&item.tag.as_str());
    let macro_name = if is_flags { "flags" } else { "newtype" };
    let repr = if item.values.iter().any(|value| value.1 < 0) {
        "i32"
    } else {
        "u32"
    };
    let _ = writeln!(text, "\n{macro_name}! {{ {}: {repr} {{", item.tag);
    for (name, value) in &item.values {
        if u32::try_from(*value).is_err() && i32::try_from(*value).is_err() {
            return Err(format!("{}::{name} = {value} does not fit into 32 bits", item.tag).into());
        }
        let _ = writeln!(text, "    {name} = {value},");
    }
    text.push_str("} }\n");
    Ok(())
}
