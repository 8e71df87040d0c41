//! What the code calls, and the names under which it offers that.
//!
//! Modules are followed from `lib.rs` as the compiler does it, so code for tests is left out.

mod calls;
mod items;
mod macros;

use std::path::{Path, PathBuf};

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Attribute, Item, Visibility};

/// Something with a body: a function, a method, a constant; or a type or macro with aliases.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// As a user names it, `Stream::copy`; with `unsafe ` in front where it is.
    pub(crate) path: String,
    /// The file it is in, relative to the package.
    pub(crate) file: String,
    /// Whether users can reach it.
    pub(crate) public: bool,
    /// The names of functions of the driver that it carries as documentation aliases.
    pub(crate) aliases: Vec<String>,
    /// The exact symbols that its body calls.
    pub(crate) calls: Vec<String>,
}

/// Everything found so far, and everything that could not be understood.
#[derive(Default)]
struct Scanner {
    found: Vec<Found>,
    problems: Vec<String>,
}

/// The file whose items are being read, and where its child modules are.
struct Place<'a> {
    file: &'a str,
    children: PathBuf,
    macros: macros::Invocations,
}

/// Scans the crate whose root is the file `root`, reading files with `read`.
///
/// # Errors
/// Every file that cannot be read or parsed, and every macro whose calls cannot be told.
pub(crate) fn scan(
    root: &Path,
    read: &dyn Fn(&Path) -> Result<String, String>,
) -> Result<Vec<Found>, Vec<String>> {
    let mut scanner = Scanner::default();
    let children = root.parent().map(Path::to_path_buf).unwrap_or_default();
    scanner.file(root, children, read);
    if scanner.problems.is_empty() {
        Ok(scanner.found)
    } else {
        Err(scanner.problems)
    }
}

impl Scanner {
    fn file(
        &mut self,
        path: &Path,
        children: PathBuf,
        read: &dyn Fn(&Path) -> Result<String, String>,
    ) {
        let file = path.display().to_string();
        let parsed = read(path).and_then(|text| {
            syn::parse_file(&text).map_err(|error| format!("cannot parse {file}: {error}"))
        });
        match parsed {
            Ok(parsed) => {
                let macros = macros::Invocations::of(&parsed);
                let place = Place {
                    file: &file,
                    children,
                    macros,
                };
                self.items(&parsed.items, &place, read);
            }
            Err(problem) => self.problems.push(problem),
        }
    }

    fn items(
        &mut self,
        items: &[Item],
        place: &Place<'_>,
        read: &dyn Fn(&Path) -> Result<String, String>,
    ) {
        for item in items {
            match item {
                _ if items::is_for_tests(items::attributes(item)) => {}
                Item::Mod(module) => {
                    let name = module.ident.to_string();
                    match &module.content {
                        Some((_, content)) => self.items(content, place, read),
                        None => {
                            // It might also be `name/mod.rs`, which the crate does not use.
                            let path = place.children.join(format!("{name}.rs"));
                            self.file(&path, place.children.join(&name), read);
                        }
                    }
                }
                Item::Macro(item) if items::is_macro_rules(item) => {
                    let Some(name) = &item.ident else { continue };
                    let public = items::is_exported(&item.attrs);
                    let path = format!("{name}!");
                    self.push(place, path, public, &item.attrs, &TokenStream::new());
                    match place.macros.expand(&name.to_string(), &item.mac.tokens) {
                        Ok(expanded) => self.items(&expanded, place, read),
                        Err(error) => self.problems.push(format!("{}: {error}", place.file)),
                    }
                }
                _ => self.item(item, place),
            }
        }
    }

    /// An item with neither files nor macros behind it.
    fn item(&mut self, item: &Item, place: &Place<'_>) {
        match item {
            Item::Fn(item) => {
                let public = is_public(&item.vis);
                let path = items::named("", &item.sig);
                self.push(
                    place,
                    path,
                    public,
                    &item.attrs,
                    &item.block.to_token_stream(),
                );
            }
            Item::Impl(item) => self.implementation(item, place),
            Item::Trait(item) => {
                let public = is_public(&item.vis);
                for method in &item.items {
                    if let syn::TraitItem::Fn(method) = method {
                        let path = items::named(&item.ident.to_string(), &method.sig);
                        let body = method.default.to_token_stream();
                        self.push(place, path, public, &method.attrs, &body);
                    }
                }
            }
            Item::Use(_) | Item::Type(_) | Item::ExternCrate(_) => {}
            other => {
                let (name, visibility) = items::name_and_visibility(other);
                let public = visibility.is_some_and(is_public);
                let attributes = items::attributes(other);
                self.push(place, name, public, attributes, &other.to_token_stream());
            }
        }
    }

    fn implementation(&mut self, item: &syn::ItemImpl, place: &Place<'_>) {
        let owner = items::type_name(&item.self_ty);
        for member in &item.items {
            match member {
                _ if items::is_for_tests(items::member_attributes(member)) => {}
                syn::ImplItem::Fn(method) => {
                    // A method of a trait is there for users where it says so by an alias.
                    let public = match item.trait_ {
                        Some(_) => !items::aliases(&method.attrs).is_empty(),
                        None => is_public(&method.vis),
                    };
                    let path = items::named(&owner, &method.sig);
                    let body = method.block.to_token_stream();
                    self.push(place, path, public, &method.attrs, &body);
                }
                other => {
                    let body = other.to_token_stream();
                    self.push(place, owner.clone(), false, &[], &body);
                }
            }
        }
    }

    fn push(
        &mut self,
        place: &Place<'_>,
        path: String,
        public: bool,
        attributes: &[Attribute],
        body: &TokenStream,
    ) {
        let aliases = items::aliases(attributes);
        let calls = calls::called(body);
        if !aliases.is_empty() || !calls.is_empty() {
            let file = place.file.to_owned();
            self.found.push(Found {
                path,
                file,
                public,
                aliases,
                calls,
            });
        }
    }
}

/// Whether it is `pub` without a restriction; the lints see to it that such items are reachable.
fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

#[cfg(test)]
mod tests;
