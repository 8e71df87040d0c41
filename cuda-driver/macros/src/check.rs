//! What can be wrong with a declaration in itself.

use std::collections::{HashMap, HashSet};

use proc_macro2::Span;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Error, Ident, Type};

use crate::syntax::{Amount, Block, Expression, Grid, Kernel, Kind, Parameter, Set};

/// The most parameters that a typed kernel has.
const MOST_PARAMETERS: usize = 16;
/// The most threads that a block has on any device.
const MOST_THREADS: u128 = 1024;

/// Everything that is wrong, as far as it can be told without the image.
pub(crate) fn set(set: &Set) -> Vec<Error> {
    let mut errors = Vec::new();
    let mut names: HashMap<String, &Ident> = HashMap::new();
    let mut types = HashSet::from([set.name.to_string()]);
    for kernel in &set.kernels {
        let name = kernel.name.to_string();
        if ["load", "load_with", "from_module", "strict"].contains(&name.as_str()) {
            let text = format!(
                "`{name}` is a function of every declaration; give the kernel another name and say `#[name = \"{name}\"]`"
            );
            errors.push(Error::new(kernel.name.span(), text));
        }
        if names.insert(name.clone(), &kernel.name).is_some() {
            let text = format!("`{name}` is declared twice");
            errors.push(Error::new(kernel.name.span(), text));
        }
        if let Some(prepared) = &kernel.prepared
            && !types.insert(prepared.to_string())
        {
            let text = format!("`{prepared}` is the name of another type of this declaration");
            errors.push(Error::new(prepared.span(), text));
        }
        self::kernel(kernel, &mut errors);
    }
    for kernel in &set.kernels {
        let suffixes = ["_with", "_function"].into_iter();
        for suffix in suffixes.chain(kernel.prepared.is_some().then_some("_prepare")) {
            if let Some(other) = names.get(&format!("{}{suffix}", kernel.name)) {
                let text = format!(
                    "`{other}` is also the name of a method for `{}`",
                    kernel.name
                );
                errors.push(Error::new(other.span(), text));
            }
        }
    }
    errors
}

fn kernel(kernel: &Kernel, errors: &mut Vec<Error>) {
    if kernel.is_safe && kernel.launch.is_none() {
        let mut text = "a safe kernel says how it is launched: add `#[launch(…)]`, such as `#[launch(for_len(output), block <= 1024)]`".to_owned();
        let mut attributes = kernel
            .attributes
            .iter()
            .filter_map(|it| it.path().get_ident());
        if let Some(other) = attributes.find(|it| !is_for_methods(it)) {
            text.push_str(&format!("; `#[{other}]` is none"));
        }
        errors.push(Error::new(kernel.name.span(), text));
    }
    if let Some(parameter) = kernel.parameters.get(MOST_PARAMETERS) {
        let text = format!(
            "a typed kernel has up to {MOST_PARAMETERS} parameters; pass a struct by value"
        );
        errors.push(Error::new(parameter.name.span(), text));
    }
    let mut seen = HashSet::new();
    for parameter in &kernel.parameters {
        if !seen.insert(parameter.name.unraw().to_string()) {
            let text = format!("`{}` has two parameters `{}`", kernel.name, parameter.name);
            errors.push(Error::new(parameter.name.span(), text));
        }
        match &parameter.kind {
            Kind::Memory { len: Some(len), .. } => {
                let own =
                    matches!(&len.expression, Expression::Len(name) if *name == parameter.name);
                if own {
                    let text = format!("the length of `{}` is stated by itself", parameter.name);
                    errors.push(Error::new(parameter.span, text));
                }
                names(kernel, &len.expression, errors);
            }
            Kind::Value {
                filled: Some(expression),
                ..
            } => names(kernel, expression, errors),
            _ => {}
        }
    }
    if let Err(parameter) = order(kernel) {
        let text = format!("the value of `{}` depends on itself", parameter.name);
        errors.push(Error::new(parameter.name.span(), text));
    }
    launch(kernel, errors);
}

/// Whether an attribute is one that methods have.
fn is_for_methods(name: &Ident) -> bool {
    let known = [
        "allow",
        "cfg_attr",
        "cold",
        "deny",
        "deprecated",
        "doc",
        "expect",
        "forbid",
        "inline",
        "must_use",
        "track_caller",
        "warn",
    ];
    known.iter().any(|it| name == it)
}

/// Every expression of the launch shape.
fn launch(kernel: &Kernel, errors: &mut Vec<Error>) {
    let Some(launch) = &kernel.launch else {
        return;
    };
    let mut expressions: Vec<&Expression> = Vec::new();
    match &launch.grid {
        // `for_len(slice)` is short for `for_len(len(slice))`.
        Grid::ForLen(Expression::Name(name)) if is_memory(kernel, name) => {}
        Grid::ForLen(Expression::Name(name))
            if !kernel.parameters.iter().any(|it| it.name == *name) =>
        {
            let is_slice = |it: &&Parameter| matches!(it.kind, Kind::Memory { .. });
            let slices = kernel.parameters.iter().filter(is_slice);
            let values = kernel.parameters.iter().filter(|it| !is_slice(it));
            let all: Vec<String> = slices
                .chain(values)
                .map(|it| format!("`{}`", it.name))
                .collect();
            let there = match all.as_slice() {
                [] => "it has none".into(),
                [one] => format!("there is {one}"),
                all => format!("there are {}", all.join(", ")),
            };
            let text = format!("`{}` has no parameter `{name}`; {there}", kernel.name);
            errors.push(Error::new(name.span(), text));
        }
        Grid::ForLen(expression) => expressions.push(expression),
        Grid::Exactly(list) => expressions.extend(list),
    }
    match &launch.block {
        Block::Usual => {}
        Block::AtMost(most) => {
            too_large(launch.span, most.constant(), "`block <= …`", errors);
            expressions.push(most);
        }
        Block::Exactly(list) => {
            let product = list
                .iter()
                .try_fold(1_u128, |product, it| product.checked_mul(it.constant()?));
            too_large(launch.span, product, "`block`", errors);
            if matches!(launch.grid, Grid::ForLen(_)) && list.len() > 1 {
                let text = "`for_len(…)` counts threads of blocks in one dimension; with others, say `grid = (…)`";
                errors.push(Error::new(launch.span, text));
            }
            expressions.extend(list);
        }
    }
    match &launch.shared {
        Some(Amount::Exactly(bytes) | Amount::AtMost(bytes)) => expressions.push(bytes),
        None => {}
    }
    expressions.extend(&launch.most_blocks);
    expressions.extend(launch.cluster.iter().flatten());
    for expression in expressions {
        names(kernel, expression, errors);
    }
}

fn too_large(span: Span, threads: Option<u128>, what: &str, errors: &mut Vec<Error>) {
    match threads {
        Some(0) => errors.push(Error::new(
            span,
            format!("{what} is 0, and a block has at least one thread"),
        )),
        Some(threads) if threads > MOST_THREADS => {
            let text = format!(
                "{what} is {threads}, and no device has blocks of more than {MOST_THREADS} threads"
            );
            errors.push(Error::new(span, text));
        }
        _ => {}
    }
}

pub(crate) fn is_memory(kernel: &Kernel, name: &Ident) -> bool {
    let mut all = kernel.parameters.iter();
    all.any(|it| it.name == *name && matches!(it.kind, Kind::Memory { .. }))
}

fn is_integer(ty: &str) -> bool {
    let (sign, bits) = ty.split_at(ty.len().min(1));
    matches!(sign, "u" | "i") && matches!(bits, "8" | "16" | "32" | "64" | "128" | "size")
}

/// That every name in an expression is a parameter of the right kind.
fn names(kernel: &Kernel, expression: &Expression, errors: &mut Vec<Error>) {
    expression.visit(&mut |part| {
        let (name, wants_memory) = match part {
            Expression::Len(name) => (name, true),
            Expression::Name(name) => (name, false),
            _ => return,
        };
        let found = kernel.parameters.iter().find(|it| it.name == *name);
        let text = match found.map(|it| (matches!(it.kind, Kind::Memory { .. }), it)) {
            Some((is_memory, _)) if is_memory == wants_memory => return,
            Some((true, _)) => format!("`{name}` is a slice; its length is `len({name})`"),
            Some((false, parameter)) => match &parameter.kind {
                Kind::Value {
                    ty: Type::Array(array),
                    ..
                } => {
                    let of = array.elem.to_token_stream();
                    format!("`{name}` is an array by value; memory is declared as `&[{of}]` or `&mut [{of}]`")
                }
                _ if is_integer(&parameter.text) => {
                    format!("`{name}` is a value and has no length; write `{name}`")
                }
                _ => format!("`{name}` is a value, `{}`, and has no length", parameter.text),
            },
            None => {
                let all: Vec<String> = kernel
                    .parameters
                    .iter()
                    .filter(|it| matches!(it.kind, Kind::Memory { .. }) == wants_memory)
                    .map(|it| format!("`{}`", it.name))
                    .collect();
                let kind = if wants_memory { "slice" } else { "value" };
                let there = match all.as_slice() {
                    [] => "it has none".into(),
                    all => format!("there are {}", all.join(", ")),
                };
                format!(
                    "`{}` has no {kind} `{name}` among its parameters; {there}",
                    kernel.name
                )
            }
        };
        errors.push(Error::new(name.span(), text));
    });
}

/// The values that are filled in, each after those that it depends on.
///
/// # Errors
/// One that depends on itself.
pub(crate) fn order(kernel: &Kernel) -> Result<Vec<&Parameter>, &Parameter> {
    let is_filled = |it: &&Parameter| {
        matches!(
            it.kind,
            Kind::Value {
                filled: Some(_),
                ..
            }
        )
    };
    let mut waiting: Vec<&Parameter> = kernel.parameters.iter().filter(is_filled).collect();
    let mut ordered = Vec::new();
    while !waiting.is_empty() {
        let ready = waiting.iter().position(|it| {
            let Kind::Value {
                filled: Some(expression),
                ..
            } = &it.kind
            else {
                return true;
            };
            let mut is_ready = true;
            expression.visit(&mut |part| {
                if let Expression::Name(name) = part {
                    is_ready &= !waiting.iter().any(|other| other.name == *name);
                }
            });
            is_ready
        });
        match ready {
            Some(index) => ordered.push(waiting.remove(index)),
            None => return waiting.first().map_or(Ok(ordered), |first| Err(first)),
        }
    }
    Ok(ordered)
}
