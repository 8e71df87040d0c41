//! Declarations of kernels in Rust, from what they take and from what the build script says of them.

mod chosen;
mod expression;
mod identifiers;
mod types;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::panic::Location;

use cuda_ptx::CType;

use crate::interface::{Interface, KernelInterface};
use crate::kernel::{Change, Kernel};
use crate::{Error, ErrorKind};
use identifiers::{snake_case, type_name, unique};
pub(crate) use types::{SIZE_OF_LONG, TypeNames};

/// What a declaration is made of.
#[derive(Debug)]
pub(crate) struct Declaration<'a> {
    /// The name of the image.
    pub(crate) name: &'a str,
    /// The name of the struct, if the build script gives one.
    pub(crate) type_name: Option<&'a str>,
    /// The source, as the build script names it.
    pub(crate) source: &'a str,
    /// `ptx "…"` as a declaration has it.
    pub(crate) image: &'a str,
    pub(crate) interface: &'a Interface,
    pub(crate) kernels: &'a [Kernel],
    pub(crate) types: &'a TypeNames,
}

/// A parameter as it is declared.
#[derive(Debug)]
struct Declared {
    name: String,
    /// Its name in C++, or its place.
    original: String,
    /// `mut` for what is written; nothing for values.
    pointer: Option<&'static str>,
    ty: String,
    len: Option<String>,
    value: Option<String>,
    is_nullable: bool,
    note: Option<String>,
}

impl Declaration<'_> {
    /// The declaration as text; nothing if there is no kernel to declare.
    pub(crate) fn text(&self) -> Result<Option<String>, Error> {
        let chosen = self.chosen()?;
        if chosen.is_empty() {
            return Ok(None);
        }
        let name = self
            .type_name
            .map_or_else(|| type_name(self.name), ToOwned::to_owned);
        let mut text = format!(
            "::cuda_driver::kernels! {{\n    /// Kernels of `{}`.\n    pub unsafe extern {name} from {} {{\n",
            self.source, self.image
        );
        let mut methods = BTreeSet::new();
        for (index, (kernel, said)) in chosen.iter().enumerate() {
            if index > 0 {
                text.push('\n');
            }
            let method = self.method_of(kernel, *said, &mut methods)?;
            self.kernel(&mut text, kernel, *said, &method)?;
        }
        text.push_str("    }\n}\n");
        Ok(Some(text))
    }

    fn error(&self, kernel: &str, why: &str) -> Error {
        let message = format!(
            "cannot declare the kernel `{kernel}` of {}: {why}",
            self.source
        );
        Error::new(ErrorKind::Declaration, message)
    }

    /// An error in what the build script says at this place.
    fn error_at(&self, place: &Location<'_>, kernel: &KernelInterface, why: &str) -> Error {
        self.error(&kernel.name.to_string(), &format!("{why} ({place})"))
    }

    /// The name of a kernel's method.
    fn method_of(
        &self,
        kernel: &KernelInterface,
        said: Option<&Kernel>,
        taken: &mut BTreeSet<String>,
    ) -> Result<String, Error> {
        if let Some(name) = said.and_then(|said| said.method.as_deref()) {
            if !identifiers::is_identifier(name) {
                return Err(self.error(
                    &kernel.name.to_string(),
                    &format!("`{name}` is no name of a method"),
                ));
            }
            if !taken.insert(name.to_owned()) {
                return Err(self.error(
                    &kernel.name.to_string(),
                    &format!("another kernel has the method `{name}`"),
                ));
            }
            return Ok(name.to_owned());
        }
        let arguments = kernel.name.template_arguments.iter();
        let words: Vec<&str> = [kernel.name.unqualified()]
            .into_iter()
            .chain(arguments.map(String::as_str))
            .collect();
        Ok(unique(&snake_case(&words.join("_"), "kernel"), taken))
    }

    fn kernel(
        &self,
        text: &mut String,
        kernel: &KernelInterface,
        said: Option<&Kernel>,
        method: &str,
    ) -> Result<(), Error> {
        let parameters = self.parameters(kernel, said)?;
        let is_safe = said.is_some_and(|said| said.is_vouched_for);
        let launch = said.and_then(|said| said.launch.as_ref());
        if let Some(launch) = launch {
            if let Some(unknown) = parameters.iter().find(|one| is_safe && one.is_guessed()) {
                return Err(self.error_at(launch.place, kernel, &unknown.why_not_safe()));
            }
            expression::check_launch(&launch.text, &parameters).map_err(|why| {
                let why = format!("the launch `{}`: {why}", launch.text);
                self.error_at(launch.place, kernel, &why)
            })?;
        }
        for line in docs(kernel, said, is_safe, &parameters, self.source) {
            // Nothing but the end of the line ends a comment.
            let line: String = line
                .chars()
                .map(|letter| if letter.is_control() { ' ' } else { letter })
                .collect();
            let _ = writeln!(text, "        {}", format!("/// {line}").trim_end());
        }
        if method != kernel.name.symbol {
            let _ = writeln!(text, "        #[name = {:?}]", kernel.name.symbol);
        }
        if let Some(launch) = launch {
            let _ = writeln!(text, "        #[launch({})]", launch.text);
        }
        let safety = if is_safe { "safe" } else { "unsafe" };
        let parameters: Vec<String> = parameters.iter().map(Declared::text).collect();
        let _ = writeln!(
            text,
            "        pub {safety} fn {method}({});",
            parameters.join(", ")
        );
        Ok(())
    }

    fn parameters(
        &self,
        kernel: &KernelInterface,
        said: Option<&Kernel>,
    ) -> Result<Vec<Declared>, Error> {
        let mut taken = BTreeSet::new();
        let mut declared: Vec<Declared> = Vec::new();
        for (index, parameter) in kernel.parameters.iter().enumerate() {
            let original = parameter
                .name
                .clone()
                .unwrap_or_else(|| format!("p{index}"));
            let written = self.types.of(parameter);
            declared.push(Declared {
                name: unique(&snake_case(&original, "p"), &mut taken),
                original,
                pointer: written.pointer,
                ty: written.ty,
                len: None,
                value: None,
                is_nullable: false,
                note: written.note,
            });
        }
        for said in said.iter().flat_map(|said| &said.parameters) {
            let error = |why: &str| self.error_at(said.place, kernel, why);
            let known: Vec<String> = declared
                .iter()
                .map(|one| format!("`{}`", one.name))
                .collect();
            let name = &said.parameter;
            let meant = declared
                .iter_mut()
                .find(|one| one.name == *name || one.original == *name);
            let Some(meant) = meant else {
                let known = if known.is_empty() {
                    "none".to_owned()
                } else {
                    known.join(", ")
                };
                let why = format!("it has no parameter `{name}`; its parameters are: {known}");
                return Err(error(&why));
            };
            meant.apply(&said.change).map_err(|why| error(&why))?;
        }
        let mut names = BTreeSet::new();
        if let Some(twice) = declared.iter().find(|one| !names.insert(one.name.as_str())) {
            let why = format!("two parameters have the name `{}`", twice.name);
            return Err(self.error(&kernel.name.to_string(), &why));
        }
        for said in said.iter().flat_map(|said| &said.parameters) {
            let (what, text, checked) = match &said.change {
                Change::Len(text) => ("length", text, expression::check_length(text, &declared)),
                Change::Value(text) => ("value", text, expression::check_value(text, &declared)),
                Change::Name(_) | Change::Type(_) | Change::Nullable => continue,
            };
            checked.map_err(|why| {
                let why = format!("the {what} `{text}` of `{}`: {why}", said.parameter);
                self.error_at(said.place, kernel, &why)
            })?;
        }
        Ok(declared)
    }
}

impl Declared {
    fn apply(&mut self, change: &Change) -> Result<(), String> {
        let needs_pointer = |what: &str| {
            Err(format!(
                "`{}` is a value and no pointer, so it has no {what}",
                self.name
            ))
        };
        match change {
            Change::Name(name) if !identifiers::is_identifier(name) => {
                return Err(format!("`{name}` is no name of a parameter"));
            }
            Change::Name(name) => self.name.clone_from(name),
            Change::Type(ty) => {
                self.ty.clone_from(ty);
                self.note = None;
            }
            Change::Len(_) if self.pointer.is_none() => return needs_pointer("length"),
            Change::Len(expression) => self.len = Some(expression.clone()),
            Change::Nullable if self.pointer.is_none() => return needs_pointer("null"),
            Change::Nullable => self.is_nullable = true,
            Change::Value(_) if self.pointer.is_some() => {
                return Err(format!(
                    "`{}` is a pointer, and only numbers are filled in",
                    self.name
                ));
            }
            Change::Value(expression) => self.value = Some(expression.clone()),
        }
        Ok(())
    }

    /// Whether the elements behind it are not those of C++: lengths would count something else than who states them means.
    fn is_guessed(&self) -> bool {
        self.pointer.is_some() && self.note.is_some()
    }

    fn why_not_safe(&self) -> String {
        let Self { name, ty, .. } = self;
        format!(
            "it is vouched for, and the elements behind `{name}` are not known in Rust: as `{ty}`, lengths would not count them as \
             C++ does; say their type with `rust_type(…)`, or with `.ty({name:?}, …)`"
        )
    }

    /// `sum: &mut [f32; len(a)]`
    fn text(&self) -> String {
        let Self { name, ty, .. } = self;
        let Some(mutable) = self.pointer else {
            let value = self.value.iter().map(|value| format!(" = {value}"));
            return format!("{name}: {ty}{}", value.collect::<String>());
        };
        let len = self
            .len
            .iter()
            .map(|len| format!("; {len}"))
            .collect::<String>();
        let slice = format!("&{mutable}[{ty}{len}]");
        if self.is_nullable {
            format!("{name}: Option<{slice}>")
        } else {
            format!("{name}: {slice}")
        }
    }
}

/// The lines of a method's documentation.
fn docs(
    kernel: &KernelInterface,
    said: Option<&Kernel>,
    is_safe: bool,
    parameters: &[Declared],
    source: &str,
) -> Vec<String> {
    let types = kernel
        .parameters
        .iter()
        .zip(parameters)
        .map(|(parameter, declared)| {
            let ty = match &parameter.ty {
                CType::Integer | CType::Bytes => "?".to_owned(),
                known => known.to_string(),
            };
            let space = if ty.ends_with('*') { "" } else { " " };
            format!("{ty}{space}{}", declared.original)
        });
    let types: Vec<String> = types.collect();
    let said: Vec<&str> = said
        .iter()
        .flat_map(|said| &said.docs)
        .flat_map(|text| text.lines())
        .collect();
    let mut lines: Vec<String> = said.iter().map(|&line| line.to_owned()).collect();
    if !lines.is_empty() {
        lines.push(String::new());
    }
    lines.push(format!("`{}({})`", kernel.name, types.join(", ")));
    let notes: Vec<&String> = parameters
        .iter()
        .filter_map(|one| one.note.as_ref())
        .collect();
    if !notes.is_empty() {
        lines.push(String::new());
        lines.extend(notes.into_iter().cloned());
    }
    if !is_safe && !said.iter().any(|line| line.trim() == "# Safety") {
        lines.push(String::new());
        lines.push("# Safety".to_owned());
        lines.push(format!("The kernel in `{source}` is run: what it demands of its arguments and of its launch must hold."));
    }
    lines
}

#[cfg(test)]
#[path = "declare_tests.rs"]
mod tests;
