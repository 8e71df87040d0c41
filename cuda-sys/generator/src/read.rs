//! bindgen's output, taken apart into the [model](crate::model).

use quote::ToTokens;
use syn::visit_mut::{self, VisitMut};

use crate::Fallible;
use crate::model::{Alias, Api, Enum, Field, Function, Record};

/// Reads one file of bindgen's.
pub(crate) fn read(file: syn::File) -> Fallible<Api> {
    let mut api = Api::default();
    for mut item in file.items {
        let keeps_c =
            matches!(&item, syn::Item::Type(alias) if alias.ident.to_string().starts_with("Vdp"));
        Plain { keeps_c }.visit_item_mut(&mut item);
        match item {
            syn::Item::Type(alias) => api.aliases.push(Alias {
                name: alias.ident.to_string(),
                ty: *alias.ty,
                narrow: None,
            }),
            syn::Item::Use(import) => read_typedef(&import, &mut api)?,
            syn::Item::Struct(record) if is_newtype(&record) => {}
            syn::Item::Struct(record) => api.records.push(read_record(
                &record.ident,
                false,
                &record.attrs,
                &record.fields,
            )?),
            syn::Item::Union(record) => {
                api.records.push(read_record(
                    &record.ident,
                    true,
                    &record.attrs,
                    &syn::Fields::Named(record.fields),
                )?);
            }
            syn::Item::Impl(block) if block.trait_.is_none() => read_enum(&block, &mut api)?,
            syn::Item::ForeignMod(block) => read_functions(block, &mut api)?,
            syn::Item::Const(constant) if constant.ident == "_" => {
                read_layout(&constant, &mut api)?
            }
            // Macros are read from the headers themselves, which say more than bindgen's constants.
            syn::Item::Const(_) => {}
            other => {
                return Err(format!(
                    "bindgen wrote an item of an unknown kind: {}",
                    other.to_token_stream()
                )
                .into());
            }
        }
    }
    Ok(api)
}

/// Writes types as we want them: no paths, `extern "system"`, no suffix on array lengths.
struct Plain {
    keeps_c: bool,
}

impl VisitMut for Plain {
    fn visit_path_mut(&mut self, path: &mut syn::Path) {
        visit_mut::visit_path_mut(self, path);
        let is_core = path.leading_colon.is_some()
            && path
                .segments
                .first()
                .is_some_and(|first| first.ident == "core");
        if !is_core {
            return;
        }
        if let Some(last) = path.segments.pop() {
            *path = syn::Path {
                leading_colon: None,
                segments: std::iter::once(last.into_value()).collect(),
            };
        }
    }

    fn visit_abi_mut(&mut self, abi: &mut syn::Abi) {
        if !self.keeps_c {
            abi.name = Some(syn::LitStr::new("system", proc_macro2::Span::call_site()));
        }
    }

    fn visit_lit_int_mut(&mut self, literal: &mut syn::LitInt) {
        if literal.suffix() == "usize" {
            *literal = syn::LitInt::new(literal.base10_digits(), literal.span());
        }
    }
}

fn is_newtype(record: &syn::ItemStruct) -> bool {
    matches!(record.fields, syn::Fields::Unnamed(_))
}

/// `pub use self::CUresult_enum as CUresult;`
fn read_typedef(import: &syn::ItemUse, api: &mut Api) -> Fallible<()> {
    if let syn::UseTree::Path(path) = &import.tree
        && let syn::UseTree::Rename(rename) = &*path.tree
    {
        let ty = syn::parse_str(&rename.ident.to_string())?;
        let name = rename.rename.to_string();
        api.aliases.push(Alias {
            name,
            ty,
            narrow: None,
        });
        return Ok(());
    }
    Err(format!("unknown form of import: {}", import.to_token_stream()).into())
}

fn read_record(
    tag: &syn::Ident,
    is_union: bool,
    attributes: &[syn::Attribute],
    fields: &syn::Fields,
) -> Fallible<Record> {
    let mut record = Record {
        tag: tag.to_string(),
        is_union,
        is_opaque: false,
        align: read_align(tag, attributes)?,
        fields: Vec::new(),
    };
    for field in fields {
        let name = field
            .ident
            .as_ref()
            .ok_or("a record has a field without a name")?
            .to_string();
        match name.as_str() {
            "_unused" | "_address" => record.is_opaque = true,
            name if name.starts_with("_bitfield") => {
                return Err(format!("{tag} has bit fields, which are not handled").into());
            }
            _ => record.fields.push(Field {
                name,
                ty: field.ty.clone(),
                narrow: None,
            }),
        }
    }
    Ok(record)
}

/// The `N` of `#[repr(align(N))]`; packed records are refused.
fn read_align(tag: &syn::Ident, attributes: &[syn::Attribute]) -> Fallible<Option<u16>> {
    let mut align = None;
    for attribute in attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("repr"))
    {
        let text = attribute
            .meta
            .to_token_stream()
            .to_string()
            .replace(' ', "");
        match text
            .strip_prefix("repr(align(")
            .and_then(|text| text.strip_suffix("))"))
        {
            Some(number) => align = Some(number.trim_end_matches("usize").parse()?),
            None if text == "repr(C)" => {}
            None => return Err(format!("{tag} has an unknown representation: {text}").into()),
        }
    }
    Ok(align)
}

/// `impl CUresult_enum { pub const CUDA_SUCCESS: CUresult_enum = CUresult_enum(0); … }`
fn read_enum(block: &syn::ItemImpl, api: &mut Api) -> Fallible<()> {
    let tag = block.self_ty.to_token_stream().to_string();
    let mut values = Vec::new();
    for item in &block.items {
        let syn::ImplItem::Const(constant) = item else {
            continue;
        };
        let syn::Expr::Call(call) = &constant.expr else {
            return Err(format!("{tag}::{} is not a number", constant.ident).into());
        };
        let value: String = call.args.to_token_stream().to_string().replace(' ', "");
        let value = value
            .parse()
            .map_err(|error| format!("{tag}::{} = {value}: {error}", constant.ident))?;
        values.push((constant.ident.to_string(), value));
    }
    // bindgen writes one block per enumerator or one for all, depending on its version.
    match api.enums.iter_mut().find(|known| known.tag == tag) {
        Some(known) => known.values.append(&mut values),
        None => api.enums.push(Enum { tag, values }),
    }
    Ok(())
}

fn read_functions(block: syn::ItemForeignMod, api: &mut Api) -> Fallible<()> {
    for item in block.items {
        let syn::ForeignItem::Fn(function) = item else {
            return Err(format!("unknown foreign item: {}", item.to_token_stream()).into());
        };
        let symbol = function.sig.ident.to_string();
        let result = function.sig.output.to_token_stream().to_string();
        if result != "-> CUresult" {
            return Err(format!("{symbol} does not return a CUresult but `{result}`").into());
        }
        let mut parameters = Vec::new();
        for input in function.sig.inputs {
            let syn::FnArg::Typed(input) = input else {
                return Err(format!("{symbol} takes self").into());
            };
            parameters.push((input.pat.to_token_stream().to_string(), *input.ty));
        }
        api.functions.push(Function { symbol, parameters });
    }
    Ok(())
}

/// `["Size of X"][::core::mem::size_of::<X>() - 8usize];` and the like: the numbers are clang's.
fn read_layout(constant: &syn::ItemConst, api: &mut Api) -> Fallible<()> {
    let syn::Expr::Block(block) = &*constant.expr else {
        return Ok(());
    };
    for statement in &block.block.stmts {
        let syn::Stmt::Expr(syn::Expr::Index(index), _) = statement else {
            continue;
        };
        let text = match &*index.expr {
            syn::Expr::Array(array) => array.elems.to_token_stream().to_string(),
            _ => continue,
        };
        let text = text.trim_matches('"').to_string();
        let syn::Expr::Binary(difference) = &*index.index else {
            return Err(format!("unknown form of a layout fact: {text}").into());
        };
        let number = difference.right.to_token_stream().to_string();
        let number: i64 = number.trim_end_matches("usize").parse()?;
        if let Some(tag) = text.strip_prefix("Size of ") {
            api.layouts.entry(tag.to_string()).or_default().size = number;
        } else if let Some(tag) = text.strip_prefix("Alignment of ") {
            api.layouts.entry(tag.to_string()).or_default().align = number;
        } else if let Some((tag, field)) = text
            .strip_prefix("Offset of field: ")
            .and_then(|path| path.split_once("::"))
        {
            let layout = api.layouts.entry(tag.to_string()).or_default();
            layout.offsets.insert(field.to_string(), number);
        } else {
            return Err(format!("unknown layout fact: {text}").into());
        }
    }
    Ok(())
}
