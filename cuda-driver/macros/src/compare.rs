//! Comparing declarations with the kernels of a PTX image while the program is compiled.

use std::cell::RefCell;

use cuda_ptx::{Accesses, CScalar, CType, Function, KernelName, Module, Signature, SourceMap};
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::Error;

use crate::access::{Comparison, Number};
use crate::syntax::{Block, Expression, Kernel, Launch};

/// Names that an error lists.
const MOST_NAMES: usize = 6;

/// What was found for a kernel.
pub(crate) struct Found {
    /// The name in the image.
    pub(crate) symbol: String,
    pub(crate) parameters: Vec<FoundParameter>,
    /// The names in the image of the global variables that are declared.
    pub(crate) globals: Vec<String>,
}

/// What was found for a parameter.
pub(crate) struct FoundParameter {
    pub(crate) size: usize,
    /// Its type, an expression of `FoundType`.
    pub(crate) ty: TokenStream,
    /// How an error says it.
    pub(crate) text: String,
    /// What the kernel computes with behind it.
    pub(crate) number: Option<Number>,
}

/// The kernels of an image, with their names taken apart.
pub(crate) struct Kernels<'a> {
    module: &'a Module<'a>,
    names: Vec<KernelName>,
    accesses: RefCell<Accesses<'a, 'a>>,
    sources: SourceMap<'a>,
}

impl<'a> Kernels<'a> {
    pub(crate) fn new(module: &'a Module<'a>) -> Self {
        let names = module.entries().map(|entry| KernelName::of(entry.name));
        Self {
            names: names.collect(),
            accesses: RefCell::new(Accesses::new(module)),
            sources: SourceMap::new(module),
            module,
        }
    }

    /// The kernel that a declaration means, compared with it; types are left to the compiler, which knows them.
    pub(crate) fn compare(&self, kernel: &Kernel, errors: &mut Vec<Error>) -> Option<Found> {
        let entry = match self.find(kernel) {
            Ok(entry) => entry,
            Err(error) => {
                errors.push(error);
                return None;
            }
        };
        let signature = Signature::of(entry);
        if signature.parameters.len() != kernel.parameters.len() {
            let types: Vec<String> = signature
                .parameters
                .iter()
                .map(|it| listed(&it.ty, it.size))
                .collect();
            let (own, declared) = (signature.parameters.len(), kernel.parameters.len());
            let s = if own == 1 { "" } else { "s" };
            let text = format!(
                "`{}` has {own} parameter{s} in the image, and {declared} are declared; it takes ({})",
                kernel.name,
                types.join(", ")
            );
            let superfluous = kernel.parameters.get(own);
            let span = superfluous.map_or(kernel.name.span(), |it| it.name.span());
            errors.push(Error::new(span, text));
            return None;
        }
        if let Some(launch) = &kernel.launch {
            bounds(kernel, launch, &signature, errors);
            if let Some(span) = launch.waits
                && !self.module.source().contains("griddepcontrol.wait")
            {
                let text = "nothing in the image waits for what is in front of it (`griddepcontrol.wait`, \
                            `cudaGridDependencySynchronize`)";
                errors.push(Error::new(span, text));
            }
        }
        let seen = self.seen(kernel, entry, &signature, errors);
        let parameters = signature.parameters.iter().enumerate();
        let parameters = parameters.map(|(index, it)| {
            let text = match it.ty {
                CType::Integer => format!("an integer or address of {}", bytes(it.size)),
                CType::Bytes | CType::Unknown => format!("something of {}", bytes(it.size)),
                CType::Named(ref name) => format!("`{name}` of {}", bytes(it.size)),
                ref other => format!("`{other}`"),
            };
            // A kernel that writes behind `const` is to be declared as what it does.
            let is_written = seen.as_ref().is_some_and(|it| it.is_written(index));
            FoundParameter {
                size: it.size,
                ty: found_type(&it.ty, is_written),
                text,
                number: seen.as_ref().and_then(|it| it.number(index)),
            }
        });
        let globals = self.globals(kernel, entry, errors);
        Some(Found {
            symbol: entry.name.to_owned(),
            globals,
            parameters: parameters.collect(),
        })
    }

    /// What the kernel does, compared with the declaration; nothing if its body is no PTX that can be read.
    fn seen<'c>(
        &'c self,
        kernel: &'c Kernel,
        entry: &Function<'a>,
        signature: &'c Signature,
        errors: &mut Vec<Error>,
    ) -> Option<Comparison<'c>> {
        let found = self.accesses.borrow_mut().of(entry).ok()?;
        let comparison = Comparison {
            kernel,
            signature,
            found,
            sources: &self.sources,
        };
        comparison.writes(errors);
        comparison.waits(errors);
        Some(comparison)
    }

    /// The names in the image of the variables that are declared, which must be all that the kernel refers to.
    fn globals(
        &self,
        kernel: &Kernel,
        entry: &Function<'a>,
        errors: &mut Vec<Error>,
    ) -> Vec<String> {
        let Some(launch) = &kernel.launch else {
            return Vec::new();
        };
        let shared = self
            .module
            .variables()
            .iter()
            .filter(|it| it.is_shared_by_launches());
        let shared: Vec<&str> = shared.map(|it| it.name).collect();
        let mut declared = Vec::new();
        for global in &launch.globals {
            let found = shared.iter().find(|it| **it == global.name).or_else(|| {
                let mut meant = shared
                    .iter()
                    .filter(|it| KernelName::of(it).is_meant_by(&global.name));
                meant.next().filter(|_| meant.next().is_none())
            });
            match found {
                Some(name) => declared.push((*name).to_owned()),
                None => {
                    let there = match shared.as_slice() {
                        [] => "it has none".into(),
                        names => format!("it has `{}`", names.join("`, `")),
                    };
                    let text = format!(
                        "the image has no global variable `{}`; {there}",
                        global.name
                    );
                    errors.push(Error::new(global.span, text));
                }
            }
        }
        if kernel.is_safe {
            let used = self.module.variables_of(entry).into_iter();
            for variable in used.filter(|it| it.is_shared_by_launches()) {
                if !declared.iter().any(|it| it == variable.name) {
                    let name = KernelName::of(variable.name);
                    let text = format!(
                        "`{}` touches the global variable `{name}`: list it in `#[launch(…, globals({}))]`, with `mut` before it if \
                         the kernel writes it",
                        kernel.name,
                        name.unqualified()
                    );
                    errors.push(Error::new(kernel.name.span(), text));
                }
            }
        }
        declared
    }

    fn find(&self, kernel: &Kernel) -> Result<&Function<'a>, Error> {
        let method = kernel.name.to_string();
        let (wanted, span) = match &kernel.image_name {
            Some((name, span)) => (name.clone(), *span),
            None => (method, kernel.name.span()),
        };
        if let Some(entry) = self.module.entry(&wanted) {
            return Ok(entry);
        }
        let all = || self.module.entries().zip(&self.names);
        let meant: Vec<_> = all()
            .filter(|(_, name)| name.is_meant_by(&wanted))
            .collect();
        match meant.as_slice() {
            [(entry, _)] => return Ok(entry),
            [] => {}
            several => {
                let names = several
                    .iter()
                    .take(MOST_NAMES)
                    .map(|(_, name)| format!("`{name}`"));
                let text = format!(
                    "{} kernels of the image are called `{wanted}`: {}; say which by `#[name = \"…\"]`",
                    several.len(),
                    names.collect::<Vec<_>>().join(", ")
                );
                return Err(Error::new(span, text));
            }
        }
        let mut names: Vec<String> = self.names.iter().map(|name| format!("`{name}`")).collect();
        // Names that have something in common come first.
        names.sort_by_key(|name| {
            !(name.contains(&wanted) || wanted.contains(name.trim_matches('`')))
        });
        let more = match names.len().saturating_sub(MOST_NAMES) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        names.truncate(MOST_NAMES);
        let there = match names.as_slice() {
            [] => "it has no kernels".to_owned(),
            names => format!("it has {}{more}", names.join(", ")),
        };
        Err(Error::new(
            span,
            format!("the image has no kernel `{wanted}`; {there}"),
        ))
    }
}

/// Compares the launch shape with the limits that the kernel states.
fn bounds(kernel: &Kernel, launch: &Launch, signature: &Signature, errors: &mut Vec<Error>) {
    let tuning = &signature.tuning;
    let mut refuse = |span: Span, text: String| errors.push(Error::new(span, text));
    let shape = constant_block(&launch.block);
    let product = |[x, y, z]: [u32; 3]| u128::from(x) * u128::from(y) * u128::from(z);
    if let Some(required) = tuning.req_ntid {
        let declared = matches!(launch.block, Block::Exactly(_))
            .then_some(shape)
            .flatten();
        let is_unknown = matches!(launch.block, Block::Exactly(_)) && shape.is_none();
        if !is_unknown && declared != Some(required.map(u128::from)) {
            let [x, y, z] = required;
            let text = format!(
                "`{}` can only be launched with blocks of {x}×{y}×{z} threads (`.reqntid`): say `block = ({x}, {y}, {z})`",
                kernel.name
            );
            refuse(launch.span, text);
        }
    } else if let Some(most) = tuning.max_ntid.map(product)
        && let Some(declared) =
            shape.and_then(|shape| shape.iter().try_fold(1_u128, |a, b| a.checked_mul(*b)))
        && declared > most
    {
        let text = format!(
            "`{}` can only be launched with blocks of up to {most} threads (`__launch_bounds__`), and the declaration lets \
             {declared} through: say `block <= {most}`",
            kernel.name
        );
        refuse(launch.span, text);
    }
    let cluster = launch.cluster.as_deref().and_then(constant_dimensions);
    if let Some(required) = tuning.req_nctapercluster
        && cluster.is_some_and(|it| it != required.map(u128::from))
    {
        let [x, y, z] = required;
        let text = format!(
            "`{}` is compiled for clusters of {x}×{y}×{z} blocks",
            kernel.name
        );
        refuse(launch.span, text);
    }
    if tuning.explicit_cluster && tuning.req_nctapercluster.is_none() && launch.cluster.is_none() {
        let text = format!(
            "`{}` is only launched in clusters: say `cluster = …`",
            kernel.name
        );
        refuse(launch.span, text);
    }
}

fn bytes(size: usize) -> String {
    let s = if size == 1 { "" } else { "s" };
    format!("{size} byte{s}")
}

/// A parameter in a list of those that a kernel takes.
fn listed(ty: &CType, size: usize) -> String {
    match ty {
        CType::Integer if size == 8 => "8-byte address or integer".into(),
        CType::Integer => format!("{size}-byte integer"),
        CType::Bytes | CType::Unknown => format!("something of {}", bytes(size)),
        other => other.to_string(),
    }
}

/// The largest block that a shape lets through, if it is a constant.
pub(crate) fn constant_block(block: &Block) -> Option<[u128; 3]> {
    match block {
        Block::Usual => Some([256, 1, 1]),
        Block::AtMost(most) => Some([most.constant()?, 1, 1]),
        Block::Exactly(list) => constant_dimensions(list),
    }
}

fn constant_dimensions(list: &[Expression]) -> Option<[u128; 3]> {
    let mut shape = [1; 3];
    for (place, expression) in shape.iter_mut().zip(list) {
        *place = expression.constant()?;
    }
    Some(shape)
}

/// The type as an expression of `FoundType`, in whose scope its names are.
fn found_type(ty: &CType, is_written: bool) -> TokenStream {
    match ty {
        CType::Pointer { to, is_const } => {
            let to = found_element(to);
            let is_const = *is_const && !is_written;
            quote!(p::FoundType::Pointer { to: #to, is_const: #is_const })
        }
        CType::Scalar(_) | CType::Vector { .. } | CType::Named(_) => {
            let element = found_element(ty);
            quote!(p::FoundType::Value(#element))
        }
        CType::Integer => quote!(p::FoundType::Integer),
        _ => quote!(p::FoundType::Unknown),
    }
}

fn found_element(ty: &CType) -> TokenStream {
    match ty {
        CType::Scalar(scalar) => numbers(*scalar, 1),
        CType::Vector { of, lanes } => numbers(*of, usize::from(*lanes)),
        CType::Named(name) => quote!(p::FoundElement::Named(#name)),
        CType::Pointer { .. } => quote!(p::FoundElement::Address),
        _ => quote!(p::FoundElement::Unknown),
    }
}

fn numbers(scalar: CScalar, lanes: usize) -> TokenStream {
    let kind = match scalar {
        CScalar::WideChar => return quote!(p::FoundElement::Unknown),
        CScalar::Bool => quote!(Bool),
        CScalar::Float | CScalar::Double => quote!(Float),
        _ => match scalar.is_signed() {
            Some(true) => quote!(Signed),
            Some(false) => quote!(Unsigned),
            None => quote!(Bits),
        },
    };
    let size = scalar.size().unwrap_or(0);
    quote!(p::FoundElement::Numbers { kind: p::NumberKind::#kind, size: #size, lanes: #lanes })
}
