//! Asks the compiler for the types of kernels with C linkage, whose names do not tell them: a second source includes the first and
//! instantiates, for each of them, a template whose arguments are its parameters' types. That instance's name is mangled.

use std::fmt::Write as _;
use std::path::Path;

use cuda_ptx::{CType, KernelName, Module};

const TEMPLATE: &str = "cuda_build_types";

/// What the compiler told.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Probe {
    /// Kernels, each with the name of its instance and the types in that.
    kernels: Vec<(String, String, Vec<CType>)>,
}

impl Probe {
    /// The source that asks for the types of these kernels.
    pub(crate) fn source(original: &Path, kernels: &[String]) -> String {
        let path = original.display().to_string().replace('\\', "/");
        let mut text = format!(
            "#include \"{path}\"\n\
             template <int Index, class... Types> __global__ void {TEMPLATE}(Types...) {{}}\n\
             template <int Index, class... Types> inline void *cuda_build_instantiate(void (*)(Types...)) {{\n    \
             return reinterpret_cast<void *>(&{TEMPLATE}<Index, Types...>);\n}}\n"
        );
        for (index, kernel) in kernels.iter().enumerate() {
            let _ = writeln!(
                text,
                "void *cuda_build_{index} = cuda_build_instantiate<{index}>(&{kernel});"
            );
        }
        text
    }

    /// Reads the answer from the PTX of that source.
    pub(crate) fn read(ptx: &str, kernels: &[String]) -> Self {
        let Ok(module) = Module::parse_signatures(ptx) else {
            return Self::default();
        };
        let symbols = module.entries().filter_map(|entry| {
            let name = KernelName::of(entry.name);
            let index = name.template_arguments.first()?.parse::<usize>().ok()?;
            let kernel = kernels.get(index).filter(|_| name.qualified == TEMPLATE)?;
            Some((kernel.as_str(), entry.name))
        });
        Self::from_symbols(symbols)
    }

    /// From kernels and the names of their instances. What cannot be read is left out.
    pub(crate) fn from_symbols<'a>(symbols: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let known = symbols.into_iter().filter_map(|(kernel, symbol)| {
            let types = KernelName::of(symbol).parameters?;
            Some((kernel.to_owned(), symbol.to_owned(), types))
        });
        Self {
            kernels: known.collect(),
        }
    }

    /// The kernels with the names of their instances.
    pub(crate) fn symbols(&self) -> impl Iterator<Item = (&str, &str)> {
        let kernels = self.kernels.iter();
        kernels.map(|(kernel, symbol, _)| (kernel.as_str(), symbol.as_str()))
    }

    pub(super) fn types_of(&self, kernel: &str) -> Option<&[CType]> {
        let mut kernels = self.kernels.iter();
        let (_, _, types) = kernels.find(|(known, _, _)| known == kernel)?;
        Some(types)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_belongs_to_the_kernel_that_was_asked_for() {
        let kernels = ["add".to_owned(), "sub".to_owned()];
        let source = Probe::source(Path::new("C:\\k\\a.cu"), &kernels);
        assert!(source.starts_with("#include \"C:/k/a.cu\"\n"));
        assert!(source.contains("cuda_build_instantiate<1>(&sub)"));
        let ptx = ".version 7.0 .target sm_52 .address_size 64
            .visible .entry _Z16cuda_build_typesILi1EJPdEEvDpT0_(.param .u64 a) { ret; }
            .visible .entry _Z16cuda_build_typesILi7EJPdEEvDpT0_(.param .u64 a) { ret; }
            .visible .entry _Z5otherILi0EJPdEEvDpT0_(.param .u64 a) { ret; }";
        let probe = Probe::read(ptx, &kernels);
        let symbols: Vec<_> = probe.symbols().collect();
        assert_eq!(symbols, [("sub", "_Z16cuda_build_typesILi1EJPdEEvDpT0_")]);
        assert_eq!(probe.types_of("sub").unwrap()[0].to_string(), "double *");
        assert_eq!(probe.types_of("add"), None);
        assert_eq!(Probe::read("nonsense", &kernels), Probe::default());
    }
}
