//! Finding the declared kernels in a module, and comparing them with it, all at once.

use std::collections::HashMap;

use cuda_ptx::{CType, KernelName};

use super::behaviour::{self, Seen};
use super::declaration::{Kernel, Origin};
use super::found::{Found, FoundType, found_type};
use super::table::Table;
use crate::error::{Error, ErrorKind, Result, count};
use crate::function::Function;
use crate::module::{DeclaredGlobal, Module};

/// Dynamic shared memory that every kernel may have.
const SHARED_WITHOUT_ASKING: u32 = 48 << 10;

/// The functions of all declared kernels, in their order.
///
/// # Errors
/// [`ErrorKind::DeclarationMismatch`] with a table of everything that differs; what the driver returns.
///
/// # Safety
/// The kernels touch no global variables but those that are declared, if any are.
pub unsafe fn resolve<const N: usize>(
    set: &str,
    module: &Module,
    kernels: &[Kernel; N],
    origin: Origin,
) -> Result<[Function; N]> {
    let mut table = Table::new();
    let mut functions = Vec::with_capacity(N);
    let mut names = Names::default();
    // Variables first: those that are asked for after kernels make the first question wait for the context.
    let mut globals = Vec::with_capacity(N);
    for kernel in kernels {
        globals.push(globals_of(module, kernel, &mut table)?);
    }
    let mut found = Vec::with_capacity(N);
    for kernel in kernels {
        found.push(find(module, kernel, &mut names)?);
    }
    let mut seen = match origin {
        Origin::Compared => Vec::new(),
        _ => behaviour::look(module, kernels, &found),
    }
    .into_iter();
    for ((kernel, globals), found) in kernels.iter().zip(globals).zip(found) {
        let seen = seen.next().unwrap_or_default();
        match found {
            Ok(mut function) => {
                compare(kernel, &function, &seen, &mut table)?;
                if let Some(globals) = globals {
                    function.declare_globals(globals);
                }
                functions.push(function);
            }
            Err(reason) => table.row(kernel.method, "", kernel.name, &reason),
        }
    }
    match <[Function; N]>::try_from(functions) {
        Ok(functions) if table.is_empty() => {
            for (function, kernel) in functions.iter().zip(kernels) {
                allow_shared(function, kernel)?;
            }
            Ok(functions)
        }
        _ => Err(table.into_error(set)),
    }
}

/// Refuses what nothing could compare: neither the driver nor the image says what parameters a kernel has.
///
/// # Errors
/// [`ErrorKind::DeclarationMismatch`] with the names of these kernels.
pub fn require_verified(set: &str, functions: &[(&str, &Function)]) -> Result<()> {
    let all = functions.iter();
    let unverified: Vec<String> = all
        .filter(|(_, function)| function.parameters().is_none())
        .map(|(method, _)| format!("`{method}`"))
        .collect();
    if unverified.is_empty() {
        return Ok(());
    }
    let reason = format!(
        "neither the driver nor the image tells the parameters of {}",
        unverified.join(", ")
    );
    Err(Error::new(ErrorKind::DeclarationMismatch, reason)
        .doing(format!("take the kernels `{set}` as verified"))
        .remedied_by("use a driver of CUDA 12.4 or later, or an image of PTX"))
}

/// The kernels of a module by their names in C++, read when a kernel is not there by its exact name.
#[derive(Default)]
struct Names(Option<HashMap<String, Vec<KernelName>>>);

impl Names {
    /// The symbols of the kernels that may be meant.
    fn meant_by(&mut self, module: &Module, wanted: &str) -> Result<Vec<&KernelName>> {
        if self.0.is_none() {
            let mut all: HashMap<String, Vec<KernelName>> = HashMap::new();
            for symbol in module.function_names()? {
                let name = KernelName::of(&symbol);
                all.entry(name.unqualified().into()).or_default().push(name);
            }
            self.0 = Some(all);
        }
        let key = KernelName::unqualified_of(wanted);
        let candidates = self.0.as_ref().and_then(|all| all.get(key));
        let candidates = candidates.into_iter().flatten();
        Ok(candidates.filter(|it| it.is_meant_by(wanted)).collect())
    }
}

/// The variables that a kernel declares.
fn globals_of(
    module: &Module,
    kernel: &Kernel,
    table: &mut Table,
) -> Result<Option<Vec<DeclaredGlobal>>> {
    let Some(declared) = kernel.globals else {
        return Ok(None);
    };
    let mut found = Vec::with_capacity(declared.len());
    for (name, write) in declared {
        match DeclaredGlobal::new(module.core(), name, *write) {
            Ok(global) => found.push(global),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                table.row(
                    kernel.method,
                    "",
                    &format!("globals({name})"),
                    error.reason(),
                );
            }
            Err(error) => return Err(error),
        }
    }
    Ok(Some(found))
}

/// The function of a kernel, or why there is none.
fn find(
    module: &Module,
    kernel: &Kernel,
    names: &mut Names,
) -> Result<std::result::Result<Function, String>> {
    let mut missing = String::new();
    for name in kernel.symbol.into_iter().chain([kernel.name]) {
        match module.function(name) {
            Ok(function) => return Ok(Ok(function)),
            Err(error) if error.kind() == ErrorKind::NotFound => missing = error.reason().into(),
            Err(error) => return Err(error),
        }
    }
    // An old driver cannot list them.
    let meant = names.meant_by(module, kernel.name).unwrap_or_default();
    match meant.as_slice() {
        [] => Ok(Err(missing)),
        [one] => Ok(Ok(module.function(&one.symbol)?)),
        several => {
            let list: Vec<String> = several.iter().take(4).map(|it| format!("`{it}`")).collect();
            Ok(Err(format!(
                "{} kernels have that name: {} …; say which by #[name = \"…\"]",
                several.len(),
                list.join(", ")
            )))
        }
    }
}

/// Enters what differs into the table.
fn compare(kernel: &Kernel, function: &Function, seen: &Seen, table: &mut Table) -> Result<()> {
    if let Some(parameters) = function.parameters() {
        if parameters.len() != kernel.parameters.len() {
            let declared = count(kernel.parameters.len(), "parameter");
            table.row(
                kernel.method,
                "",
                &declared,
                &count(parameters.len(), "parameter"),
            );
        } else {
            for (index, (declared, found)) in kernel.parameters.iter().zip(parameters).enumerate() {
                let ctype = seen.type_of(index);
                let ty = ctype.map_or(FoundType::Unknown, |it| {
                    found_type(it, seen.is_written(index))
                });
                let size = found.size;
                if !declared.fits(&Found { size, ty }) {
                    let declared_text = match declared.parameter_size() {
                        own if own == size => declared.text.to_owned(),
                        own => format!("{} ({})", declared.text, count(own, "byte")),
                    };
                    let found_text = found_text(ctype, size, declared.parameter_size());
                    table.row(kernel.method, declared.name, &declared_text, &found_text);
                } else if let Some(text) = seen.denied(index) {
                    table.row(kernel.method, declared.name, declared.text, text);
                }
            }
        }
    }
    if let Some(text) = &seen.early {
        table.row(kernel.method, "", "waits", text);
    }
    if let Some(most) = kernel.most_threads {
        let attributes = function.max_threads_per_block()?;
        if attributes < most {
            table.row(
                kernel.method,
                "",
                &format!("blocks of up to {}", count(most, "thread")),
                &format!(
                    "at most {} per block on this device",
                    count(attributes, "thread")
                ),
            );
        }
    }
    Ok(())
}

/// How the table names what was found.
fn found_text(ty: Option<&CType>, size: usize, declared: usize) -> String {
    match ty {
        Some(ty) if size == declared => ty.to_string(),
        Some(ty) => format!("{ty} ({})", count(size, "byte")),
        None => count(size, "byte"),
    }
}

/// Allows the kernel the dynamic shared memory that its declaration says.
fn allow_shared(function: &Function, kernel: &Kernel) -> Result<()> {
    match kernel.shared_bytes {
        Some(bytes) if bytes > SHARED_WITHOUT_ASKING => {
            function.set_max_dynamic_shared_bytes(bytes)
        }
        _ => Ok(()),
    }
}
