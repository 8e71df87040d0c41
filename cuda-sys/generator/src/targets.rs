//! What differs between targets, and the proof that nothing else does.

use quote::ToTokens;

use crate::Fallible;
use crate::headers::TARGETS;
use crate::model::Api;

/// Aliases of fixed width that the headers spell differently for one compiler.
const SPELLED_DIFFERENTLY: [&str; 2] = ["cuuint32_t", "cuuint64_t"];

/// Declared for Windows alone; no driver was available to check it against.
const LEFT_OUT: [&str; 2] = ["cuWGLGetDevice", "HGPUNV"];

/// Enters what 32 bit targets declare differently into the first target's declarations; fails where something else differs.
pub(crate) fn merge(targets: &mut [Api]) -> Fallible<()> {
    let (first, others) = targets.split_first_mut().ok_or("no target was read")?;
    for (api, target) in others.iter_mut().zip(&TARGETS[1..]) {
        api.aliases
            .retain(|alias| !SPELLED_DIFFERENTLY.contains(&alias.name.as_str()));
        api.aliases
            .retain(|alias| !LEFT_OUT.contains(&alias.name.as_str()));
        api.functions
            .retain(|function| !LEFT_OUT.contains(&function.symbol.as_str()));
        if target.starts_with("i686") {
            enter_narrow_types(first, api);
        }
    }
    for (api, target) in others.iter().zip(&TARGETS[1..]) {
        if let Some(name) = difference(first, api, target.starts_with("i686")) {
            return Err(format!(
                "{target} declares {name}, unlike {}: it needs a `cfg`",
                TARGETS[0]
            )
            .into());
        }
    }
    Ok(())
}

/// Notes each array length and alias that is another on a 32 bit target.
fn enter_narrow_types(first: &mut Api, narrow: &Api) {
    for (record, other) in first.records.iter_mut().zip(&narrow.records) {
        for (field, other) in record.fields.iter_mut().zip(&other.fields) {
            let are_arrays = matches!(
                (&field.ty, &other.ty),
                (syn::Type::Array(_), syn::Type::Array(_))
            );
            if are_arrays && field.ty != other.ty {
                field.narrow = Some(other.ty.clone());
            }
        }
    }
    for alias in &mut first.aliases {
        let other = narrow.aliases.iter().find(|other| other.name == alias.name);
        alias.narrow = other
            .filter(|other| other.ty != alias.ty)
            .map(|other| other.ty.clone());
    }
}

/// The name of something that `api` declares unlike `first`.
fn difference(first: &Api, api: &Api, is_narrow: bool) -> Option<String> {
    let expected = |ty: &syn::Type, narrow: &Option<syn::Type>| {
        narrow
            .clone()
            .filter(|_| is_narrow)
            .unwrap_or_else(|| ty.clone())
    };
    if api.records.len() != first.records.len()
        || api.enums.len() != first.enums.len()
        || api.functions.len() != first.functions.len()
    {
        return Some("another number of items".to_string());
    }
    for (record, other) in first.records.iter().zip(&api.records) {
        let fields = record
            .fields
            .iter()
            .map(|field| (&field.name, expected(&field.ty, &field.narrow)));
        if record.tag != other.tag
            || !fields.eq(other
                .fields
                .iter()
                .map(|field| (&field.name, field.ty.clone())))
        {
            return Some(other.tag.clone());
        }
    }
    if let Some((_, other)) = first
        .enums
        .iter()
        .zip(&api.enums)
        .find(|(item, other)| item != other)
    {
        return Some(other.tag.clone());
    }
    if let Some((_, other)) = first
        .functions
        .iter()
        .zip(&api.functions)
        .find(|(function, other)| function != other)
    {
        return Some(other.symbol.clone());
    }
    for alias in first
        .aliases
        .iter()
        .filter(|alias| !SPELLED_DIFFERENTLY.contains(&alias.name.as_str()))
    {
        let other = api.aliases.iter().find(|other| other.name == alias.name);
        if other.is_none_or(|other| other.ty != expected(&alias.ty, &alias.narrow)) {
            return Some(format!("{} ({})", alias.name, alias.ty.to_token_stream()));
        }
    }
    None
}
