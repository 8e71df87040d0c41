//! What is in a module: its kernels and global variables by name.

use std::ffi::{CStr, CString};

use cuda_sys::{CUdeviceptr, CUfunction, CUresult};

use super::{Module, ModuleCore};
use crate::call;
use crate::error::{Doing, Error, ErrorKind, Result};

/// How many names an error lists.
const MOST: usize = 8;
/// Bytes of names that are compared, behind those at their beginning that are equal.
const MOST_COMPARED: usize = 64;

impl Module {
    /// The names of the module's kernels, as they stand in the image.
    ///
    /// # Errors
    /// [`ErrorKind::MissingSymbol`] for a module that was not loaded from PTX on a driver older than CUDA 12.4; what the
    /// driver returns.
    #[doc(alias = "cuModuleGetFunctionCount")]
    #[doc(alias = "cuModuleEnumerateFunctions")]
    #[doc(alias = "cuFuncGetName")]
    pub fn function_names(&self) -> Result<Vec<String>> {
        self.core().function_names()
    }

    /// The address and the size in bytes of a global variable.
    ///
    /// It is only an address: nothing orders accesses through it. It is good as long as the module is loaded.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the module has no variable of that name; what the driver returns.
    #[doc(alias = "cuModuleGetGlobal")]
    pub fn global_address(&self, name: &str) -> Result<(CUdeviceptr, usize)> {
        self.core()
            .global_address(name)
            .doing(|| format!("find the global variable `{name}`"))
    }
}

impl ModuleCore {
    /// The address and the size in bytes of a global variable.
    pub(super) fn global_address(&self, name: &str) -> Result<(CUdeviceptr, usize)> {
        let text = c_name(name)?;
        let _current = self.context().push()?;
        let (mut address, mut size) = (0, 0);
        let (address_out, size_out) = (&raw mut address, &raw mut size);
        let (raw, text) = (self.as_raw(), text.as_ptr());
        // SAFETY: the module is live, the name ends with NUL, and the other pointers are to live numbers.
        let result = unsafe {
            call!(
                self.driver(),
                cuModuleGetGlobal_v2(address_out, size_out, raw, text)
            )
        };
        match result {
            Ok(()) => Ok((address, size)),
            Err(error) if error.is_status(CUresult::CUDA_ERROR_NOT_FOUND) => {
                Err(self.no_such_variable(name, error))
            }
            Err(error) => self.context().watch(Err(error)),
        }
    }

    #[cold]
    fn no_such_variable(&self, name: &str, error: Error) -> Error {
        let names = self.symbols.names();
        let error = if names.is_empty() {
            error.because("the module has no global variable of that name")
        } else {
            error.because(not_among("global variable", name, names))
        };
        match names.iter().find(|mangled| is_mangled(name, mangled)) {
            Some(mangled) => error.remedied_by(format!(
                "ask for `{mangled}`, or declare the variable `extern \"C\"`"
            )),
            None => error.remedied_by(
                "give the name as it stands in the image (C++ mangles it inside of namespaces unless it is `extern \"C\"`), \
                 and mind that compilers drop variables that no kernel uses",
            ),
        }
    }

    /// The raw function of a kernel, good as long as the module is loaded.
    pub(crate) fn raw_function(&self, name: &str) -> Result<CUfunction> {
        let doing = || format!("find the kernel `{name}`");
        let text = c_name(name).doing(doing)?;
        let _current = self.context().push()?;
        let mut raw = std::ptr::null_mut();
        let (out, text) = (&raw mut raw, text.as_ptr());
        // SAFETY: the module is live, the name ends with NUL, and the other pointer is to a live handle.
        let result = unsafe { call!(self.driver(), cuModuleGetFunction(out, self.as_raw(), text)) };
        match result {
            Ok(()) => Ok(raw),
            Err(error) if error.is_status(CUresult::CUDA_ERROR_NOT_FOUND) => {
                let names = self.function_names().ok();
                Err(no_such_kernel(name, names.as_deref(), error).doing(doing()))
            }
            Err(error) => self.context().watch(Err(error.doing(doing()))),
        }
    }

    fn function_names(&self) -> Result<Vec<String>> {
        self.names_from_driver()
            .or_else(|error| match self.names_from_ptx() {
                Some(names) if error.kind() == ErrorKind::MissingSymbol => Ok(names),
                _ => Err(error),
            })
            .doing(|| "list the kernels of a module")
    }

    fn names_from_driver(&self) -> Result<Vec<String>> {
        let driver = self.driver();
        let _current = self.context().push()?;
        let mut count = 0;
        let out = &raw mut count;
        // SAFETY: the module is live, and the pointer is to a live number.
        let counted = unsafe { call!(driver, cuModuleGetFunctionCount(out, self.as_raw())) };
        self.context().watch(counted)?;
        let mut functions = vec![std::ptr::null_mut(); usize::try_from(count)?];
        if functions.is_empty() {
            return Ok(Vec::new());
        }
        let out = functions.as_mut_ptr();
        // SAFETY: the module is live, and the pointer is to that many live handles.
        let listed = unsafe {
            call!(
                driver,
                cuModuleEnumerateFunctions(out, count, self.as_raw())
            )
        };
        self.context().watch(listed)?;
        functions.into_iter().map(|it| self.name_of(it)).collect()
    }

    fn name_of(&self, function: CUfunction) -> Result<String> {
        let mut text = std::ptr::null();
        let out = &raw mut text;
        // SAFETY: the function is the module's, and the pointer is to a live pointer.
        unsafe { call!(self.driver(), cuFuncGetName(out, function)) }?;
        if text.is_null() {
            return Ok(String::new());
        }
        // SAFETY: the name ends with NUL and lives as long as the module.
        let text = unsafe { CStr::from_ptr(text) };
        Ok(text.to_string_lossy().into_owned())
    }
}

/// Says that a kernel is not there, and which are, where that is known.
#[cold]
pub(crate) fn no_such_kernel(name: &str, names: Option<&[String]>, error: Error) -> Error {
    let Some(names) = names else {
        return error.because("there is no kernel of that name");
    };
    let error = error.because(not_among("kernel", name, names));
    match names.iter().find(|mangled| is_mangled(name, mangled)) {
        Some(mangled) => error.remedied_by(format!(
            "ask for `{mangled}`, or declare the kernel `extern \"C\"`"
        )),
        None => error,
    }
}

pub(crate) fn c_name(name: &str) -> Result<CString> {
    CString::new(name).map_err(|_| Error::invalid("the name contains a NUL"))
}

/// Says that something is not there, and which are: all if they are few, else those with similar names.
fn not_among<N: AsRef<str> + Ord>(what: &str, name: &str, names: &[N]) -> String {
    if names.is_empty() {
        return format!("the module has no {what}s");
    }
    let mut ranked: Vec<_> = names
        .iter()
        .map(|other| (rank(name, other.as_ref()), other))
        .collect();
    ranked.sort();
    let listed: Vec<_> = ranked
        .iter()
        .take(MOST)
        .map(|(_, it)| format!("`{}`", it.as_ref()))
        .collect();
    let more = match names.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "the module has no {what} `{name}`; it has {}{more}",
        listed.join(", ")
    )
}

/// Smaller for names that are more alike.
fn rank(wanted: &str, other: &str) -> usize {
    if other.contains(wanted) || wanted.contains(other) {
        0
    } else {
        distance(wanted.as_bytes(), other.as_bytes())
    }
}

/// Whether `mangled` is what C++ makes of a function called `name`: its length in front of it.
fn is_mangled(name: &str, mangled: &str) -> bool {
    mangled.starts_with("_Z") && mangled.contains(&format!("{}{name}", name.len()))
}

/// How many bytes must be put in, taken out or changed to turn one into the other; of long names, about how many.
fn distance(left: &[u8], right: &[u8]) -> usize {
    let pairs = left.iter().zip(right);
    let common = pairs.take_while(|(a, b)| a == b).count();
    let (left, right) = (left.get(common..), right.get(common..));
    let (left, right) = (left.unwrap_or(&[]), right.unwrap_or(&[]));
    // Mangled names of templates have thousands of bytes, and the work grows with the square.
    let cut = |name: &[u8]| name.len().saturating_sub(MOST_COMPARED);
    let beyond = cut(left).abs_diff(cut(right));
    let (left, right) = (
        left.get(..MOST_COMPARED).unwrap_or(left),
        right.get(..MOST_COMPARED).unwrap_or(right),
    );
    beyond + distance_of_short(left, right)
}

fn distance_of_short(left: &[u8], right: &[u8]) -> usize {
    // Of a table of distances between beginnings, the row of the last beginning.
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, a) in left.iter().enumerate() {
        let mut diagonal = index;
        let mut before = index + 1;
        let (first, others) = match row.split_first_mut() {
            Some(parts) => parts,
            None => return left.len(),
        };
        *first = before;
        for (cell, b) in others.iter_mut().zip(right) {
            let changed = diagonal + usize::from(a != b);
            diagonal = *cell;
            before = changed.min(*cell + 1).min(before + 1);
            *cell = before;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        let of = |a: &str, b: &str| distance(a.as_bytes(), b.as_bytes());
        assert_eq!(of("", ""), 0);
        assert_eq!(of("", "abc"), 3);
        assert_eq!(of("abc", ""), 3);
        assert_eq!(of("kitten", "sitting"), 3);
        assert_eq!(of("vector_ad", "vector_add"), 1);
    }

    #[test]
    fn long_names_are_compared_in_time() {
        let name = |end: &str| "_ZN7cutlass".repeat(2000) + end + &"x".repeat(20_000);
        let names: Vec<String> = (0..500).map(|it| name(&format!("kernel{it}"))).collect();
        let started = std::time::Instant::now();
        let text = not_among("kernel", &name("kernal7"), &names);
        assert!(text.contains(&format!("it has `{}`", names[7])));
        assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
    }

    #[test]
    fn few_names_are_all_listed_the_nearest_first() {
        let names = ["scale", "vector_add"];
        assert_eq!(
            not_among("kernel", "vector_ad", &names),
            "the module has no kernel `vector_ad`; it has `vector_add`, `scale`"
        );
        assert_eq!(
            not_among::<String>("kernel", "x", &[]),
            "the module has no kernels"
        );
    }

    #[test]
    fn of_many_names_the_nearest_are_listed() {
        let mut names: Vec<String> = (0..20).map(|it| format!("kernel_number_{it}")).collect();
        names.push("saxpy".into());
        let text = not_among("kernel", "sxpy", &names);
        assert!(text.contains("it has `saxpy`, "), "{text}");
        assert!(text.ends_with(" and 13 more"), "{text}");
    }

    #[test]
    fn mangled_names_are_recognised() {
        assert!(is_mangled("scale", "_Z5scalePfif"));
        assert!(is_mangled("scale", "_ZN2my5scaleEPf"));
        assert!(!is_mangled("scale", "_Z7rescalePf"));
        assert!(!is_mangled("scale", "scale"));
    }
}
