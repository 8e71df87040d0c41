//! What the kernels of a source take: places and sizes from PTX, types from mangled names, names of parameters from the source's text.

mod names;
mod probe;

use cuda_ptx::{
    Accesses, CType, Function, KernelAccesses, KernelName, Module, ScalarType, Signature,
};

pub(crate) use names::Names;
pub(crate) use probe::Probe;

use crate::{Error, ErrorKind};

/// The kernels of one source, in the order of its PTX.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Interface {
    pub(crate) kernels: Vec<KernelInterface>,
}

/// What one kernel takes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct KernelInterface {
    /// Its name, in the image and in C++.
    pub(crate) name: KernelName,
    pub(crate) parameters: Vec<Parameter>,
}

/// A parameter. Sizes are in bytes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parameter {
    /// Its name in the source, where that is known.
    pub(crate) name: Option<String>,
    pub(crate) ty: CType,
    pub(crate) size: usize,
    pub(crate) align: usize,
    /// Whether PTX passes it as a number, as opposed to a block of bytes.
    pub(crate) is_number: bool,
    /// Whether the kernel certainly writes through it.
    pub(crate) is_written: bool,
    /// What the kernel takes it for, if that is an address.
    pub(crate) memory: Option<Memory>,
}

/// Memory behind a parameter, by what a kernel does with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Memory {
    /// Whether something may write there.
    pub(crate) may_be_written: bool,
    /// What all accesses take its elements for.
    pub(crate) element: Option<ScalarType>,
}

impl Interface {
    /// Reads the kernels of a PTX text. `what` names it in errors.
    pub(crate) fn read(ptx: &str, what: &str) -> Result<Self, Error> {
        let module = Module::parse_signatures(ptx).map_err(|error| {
            Error::new(
                ErrorKind::Declaration,
                format!("cannot read the kernels of {what}: {error}"),
            )
        })?;
        let mut accesses = Accesses::new(&module);
        let kernels = module.entries().map(|entry| {
            // Where a body cannot be read, nothing is known of what it does.
            KernelInterface::of(entry, accesses.of(entry).ok().as_ref())
        });
        Ok(Self {
            kernels: kernels.collect(),
        })
    }

    /// Whether some types can only be told by the compiler: those of kernels with C linkage that take something.
    pub(crate) fn untyped(&self) -> impl Iterator<Item = &str> {
        let untyped = self.kernels.iter().filter(|kernel| kernel.is_untyped());
        untyped.map(|kernel| kernel.name.symbol.as_str())
    }

    /// Takes the types that the compiler told.
    pub(crate) fn take_types(&mut self, probe: &Probe) {
        for kernel in &mut self.kernels {
            if let Some(types) = probe.types_of(&kernel.name.symbol) {
                kernel.take_types(types);
            }
        }
    }

    /// Takes the names that the source has, and the order of the source: that of PTX differs between compilers.
    pub(crate) fn take_names(&mut self, names: &Names) {
        for kernel in &mut self.kernels {
            let found = names.of(kernel.name.unqualified(), kernel.parameters.len());
            for (parameter, name) in kernel.parameters.iter_mut().zip(found) {
                parameter.name = name;
            }
        }
        self.kernels.sort_by_cached_key(|kernel| {
            let place = names.place(kernel.name.unqualified());
            (place.is_none(), place, kernel.name.symbol.clone())
        });
    }
}

impl KernelInterface {
    fn of(entry: &Function<'_>, accesses: Option<&KernelAccesses<'_>>) -> Self {
        let signature = Signature::of(entry);
        let types: Vec<CType> = signature
            .parameters
            .iter()
            .map(|it| it.ty.clone())
            .collect();
        let is_memory = |index: usize| match types.get(index) {
            Some(CType::Pointer { .. }) => true,
            Some(CType::Integer | CType::Unknown) => {
                accesses.is_some_and(|it| it.is_pointer(index))
            }
            _ => false,
        };
        let parameters = signature.parameters.into_iter().zip(&entry.params);
        let parameters = parameters.enumerate();
        let parameters = parameters.map(|(index, (parameter, param))| Parameter {
            name: None,
            is_written: accesses.is_some_and(|it| it.write_through(index, is_memory).is_some()),
            memory: accesses.filter(|_| is_memory(index)).map(|it| Memory {
                may_be_written: it.may_write(index),
                element: it.element_behind(index, is_memory),
            }),
            ty: parameter.ty,
            size: parameter.size,
            align: parameter.align,
            is_number: param.len.is_none() && param.vector <= 1,
        });
        Self {
            parameters: parameters.collect(),
            name: signature.name,
        }
    }

    /// Whether a name is this kernel's alone: its symbol, or its whole name with the template's arguments.
    pub(crate) fn is_exactly(&self, name: &str) -> bool {
        let letters = |text: &str| -> String {
            text.chars()
                .filter(|letter| !letter.is_whitespace())
                .collect()
        };
        self.name.symbol == name || letters(&self.name.to_string()) == letters(name)
    }

    /// Whether it was made from a template.
    pub(crate) fn is_instance(&self) -> bool {
        !self.name.template_arguments.is_empty()
    }

    fn is_untyped(&self) -> bool {
        self.name.parameters.is_none() && !self.parameters.is_empty()
    }

    /// Takes types if they are as many as the parameters, and where they do not contradict what PTX says.
    fn take_types(&mut self, types: &[CType]) {
        if types.len() != self.parameters.len() {
            return;
        }
        for (parameter, ty) in self.parameters.iter_mut().zip(types) {
            if parameter.can_be(ty) {
                parameter.ty = ty.clone();
            }
        }
    }
}

impl Parameter {
    fn can_be(&self, ty: &CType) -> bool {
        match ty {
            CType::Pointer { .. } => {
                self.is_number
                    && self.size == 8
                    && matches!(
                        self.ty,
                        CType::Integer | CType::Unknown | CType::Pointer { .. }
                    )
            }
            CType::Scalar(scalar) => scalar.may_have_size(self.size),
            CType::Void => false,
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = ".version 7.0 .target sm_52 .address_size 64
        .visible .entry add(.param .u64 add_param_0, .param .u64 add_param_1, .param .u32 add_param_2, .param .f32 add_param_3) { ret; }
        .visible .entry _Z5scalePKff(.param .u64 p, .param .f32 q) { ret; }
        .visible .entry nothing() { ret; }";

    fn types(kernel: &KernelInterface) -> Vec<String> {
        kernel
            .parameters
            .iter()
            .map(|parameter| parameter.ty.to_string())
            .collect()
    }

    #[test]
    fn kernels_with_c_linkage_get_their_types_from_the_compiler() {
        let mut interface = Interface::read(PTX, "test").unwrap();
        assert_eq!(interface.untyped().collect::<Vec<_>>(), ["add"]);
        assert_eq!(types(&interface.kernels[1]), ["const float *", "float"]);
        let told = "_Z16cuda_build_typesILi0EJPKfPfifEEvDpT0_";
        let probe = Probe::from_symbols([("add", told)]);
        interface.take_types(&probe);
        assert_eq!(
            types(&interface.kernels[0]),
            ["const float *", "float *", "int", "float"]
        );
    }

    /// What contradicts PTX is not believed.
    #[test]
    fn wrong_types_are_not_taken() {
        let before = Interface::read(PTX, "test").unwrap();
        for told in [
            "_Z16cuda_build_typesILi0EJPKfPfiEEvDpT0_",
            "_Z16cuda_build_typesILi0EJiiPfPfEEvDpT0_",
            "_Z16cuda_build_types",
            "nonsense",
        ] {
            let mut interface = before.clone();
            interface.take_types(&Probe::from_symbols([("add", told)]));
            assert_eq!(interface, before, "{told}");
        }
    }

    #[test]
    fn hostile_ptx_is_an_error() {
        for text in [
            "",
            "\0",
            ".version",
            ".version 7.0 .target sm_52 .entry k(",
            &"(".repeat(100_000),
            &format!("{PTX}{{"),
        ] {
            if let Err(error) = Interface::read(text, "kernels/a.cu") {
                assert_eq!(error.kind(), ErrorKind::Declaration);
                assert!(error.to_string().contains("kernels/a.cu"), "{error}");
            }
        }
    }
}
