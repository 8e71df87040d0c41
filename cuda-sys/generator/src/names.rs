//! Public names: what users of the C header write, not its tags.

use std::collections::{BTreeMap, BTreeSet};

use quote::ToTokens;
use syn::visit_mut::VisitMut;

use crate::Fallible;
use crate::model::{Alias, Api};

/// Gives each enum and record its public name, throughout.
///
/// * `struct CUDA_MEMCPY2D_st`, known as `CUDA_MEMCPY2D_v2` and then as `CUDA_MEMCPY2D`, becomes `CUDA_MEMCPY2D`;
///   the other typedefs stay as aliases of it.
/// * A record declared within another is named after its parent and the field that holds it
///   (`CUDA_RESOURCE_DESC_res_linear`); a field without a name is called `anonymous`.
pub(crate) fn apply(api: &mut Api) -> Fallible<BTreeMap<String, String>> {
    let mut names = typedef_names(api);
    name_fields(api);
    name_nested(api, &mut names)?;
    let mut seen = BTreeSet::new();
    for record in &mut api.records {
        rename(&names, &mut record.tag);
    }
    for item in &mut api.enums {
        rename(&names, &mut item.tag);
    }
    let mut renamer = Renamer { names: &names };
    for record in &mut api.records {
        record
            .fields
            .iter_mut()
            .for_each(|field| renamer.visit_type_mut(&mut field.ty));
    }
    for function in &mut api.functions {
        function
            .parameters
            .iter_mut()
            .for_each(|(_, ty)| renamer.visit_type_mut(ty));
    }
    for alias in &mut api.aliases {
        renamer.visit_type_mut(&mut alias.ty);
    }
    api.layouts = std::mem::take(&mut api.layouts)
        .into_iter()
        .map(|(mut tag, mut layout)| {
            rename(&names, &mut tag);
            layout.offsets = layout
                .offsets
                .into_iter()
                .map(|(field, offset)| (field_name(&field), offset))
                .collect();
            (tag, layout)
        })
        .collect();
    let taken: BTreeSet<String> = names.values().cloned().collect();
    api.aliases.retain(|alias| !taken.contains(&alias.name));
    for alias in &mut api.aliases {
        alias.ty = syn::parse_str(&alias.ty.to_token_stream().to_string())?;
    }
    let items = api.records.iter().map(|record| &record.tag);
    let items = items
        .chain(api.enums.iter().map(|item| &item.tag))
        .chain(api.aliases.iter().map(|alias| &alias.name));
    for name in items {
        if !seen.insert(name.clone()) {
            return Err(format!("two types would be called {name}").into());
        }
    }
    Ok(names)
}

fn rename(names: &BTreeMap<String, String>, tag: &mut String) {
    if let Some(name) = names.get(tag) {
        tag.clone_from(name);
    }
}

struct Renamer<'a> {
    names: &'a BTreeMap<String, String>,
}

impl VisitMut for Renamer<'_> {
    fn visit_ident_mut(&mut self, ident: &mut syn::Ident) {
        if let Some(name) = self.names.get(&ident.to_string()) {
            *ident = syn::Ident::new(name, ident.span());
        }
    }
}

/// Tag to name, for the tags that a typedef names.
fn typedef_names(api: &Api) -> BTreeMap<String, String> {
    let opaque: BTreeSet<&str> = api
        .records
        .iter()
        .filter(|record| record.is_opaque)
        .map(|record| record.tag.as_str())
        .collect();
    let tags = api.records.iter().map(|record| record.tag.as_str());
    let tags = tags
        .chain(api.enums.iter().map(|item| item.tag.as_str()))
        .filter(|tag| !opaque.contains(tag));
    let mut names = BTreeMap::new();
    for tag in tags {
        let Some(first) = alias_of(&api.aliases, tag) else {
            continue;
        };
        let unversioned = first
            .rsplit_once("_v")
            .filter(|(_, number)| number.parse::<u8>().is_ok())
            .map(|(name, _)| name);
        let name = unversioned.filter(|name| {
            api.aliases
                .iter()
                .any(|alias| alias.name == *name && alias.ty.to_token_stream().to_string() == first)
        });
        names.insert(tag.to_string(), name.unwrap_or(first).to_string());
    }
    names
}

fn alias_of<'a>(aliases: &'a [Alias], tag: &str) -> Option<&'a str> {
    aliases
        .iter()
        .find(|alias| alias.ty.to_token_stream().to_string() == tag)
        .map(|alias| alias.name.as_str())
}

/// The Rust name of a field that bindgen numbered.
fn field_name(name: &str) -> String {
    match name.strip_prefix("__bindgen_anon_") {
        Some("1") => "anonymous".to_string(),
        Some(number) => format!("anonymous{number}"),
        None => name.to_string(),
    }
}

fn name_fields(api: &mut Api) {
    for field in api.records.iter_mut().flat_map(|record| &mut record.fields) {
        field.name = field_name(&field.name);
    }
}

/// Names for records within records, parents first.
fn name_nested(api: &Api, names: &mut BTreeMap<String, String>) -> Fallible<()> {
    for parent in &api.records {
        let parent_name = names
            .get(&parent.tag)
            .cloned()
            .unwrap_or_else(|| parent.tag.clone());
        for field in &parent.fields {
            let ty = field.ty.to_token_stream().to_string();
            let Some(rest) = ty.strip_prefix(&format!("{}_", parent.tag)) else {
                continue;
            };
            if names.contains_key(&ty) || !api.records.iter().any(|record| record.tag == ty) {
                continue;
            }
            let name = match rest.strip_suffix("_st") {
                Some(own) => own.to_string(),
                None => format!("{parent_name}_{}", field.name),
            };
            names.insert(ty, name);
        }
    }
    let tags = api.records.iter().map(|record| &record.tag);
    match tags
        .clone()
        .find(|tag| tag.contains("bindgen") && !names.contains_key(*tag))
    {
        Some(tag) => Err(format!("{tag} is nested in no field that names it").into()),
        None => Ok(()),
    }
}
