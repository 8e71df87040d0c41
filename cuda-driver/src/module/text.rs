//! The PTX that a module was loaded from, kept to say what drivers cannot tell: what its kernels do, and with older ones their parameters.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::ModuleCore;
use super::image::Image;
use crate::function::Parameter;

/// The kernels of a PTX text, parsed at the first question.
pub(crate) struct KeptText {
    text: Box<str>,
    kernels: OnceLock<Option<Vec<Kernel>>>,
    /// The places of the kernels by their names.
    places: OnceLock<HashMap<Box<str>, usize>>,
}

struct Kernel {
    name: Box<str>,
    parameters: Vec<Parameter>,
}

impl KeptText {
    /// Keeps the text of PTX.
    pub(crate) fn of(image: &Image<'_>) -> Option<Arc<Self>> {
        Some(Arc::new(Self {
            text: image.text()?.into(),
            kernels: OnceLock::new(),
            places: OnceLock::new(),
        }))
    }

    /// The names of the kernels.
    pub(crate) fn names(&self) -> Option<Vec<String>> {
        let kernels = self.kernels()?;
        Some(kernels.iter().map(|it| it.name.to_string()).collect())
    }

    fn kernel(&self, name: &str) -> Option<&Kernel> {
        let kernels = self.kernels()?;
        let places = self.places.get_or_init(|| {
            let all = kernels.iter().enumerate();
            all.map(|(place, it)| (it.name.clone(), place)).collect()
        });
        kernels.get(*places.get(name)?)
    }

    /// The kernels, unless the parser does not understand what the driver took.
    fn kernels(&self) -> Option<&[Kernel]> {
        let parse = || {
            let module = cuda_ptx::Module::parse_signatures(&self.text).ok()?;
            let kernels = module.entries().map(|entry| Kernel {
                name: entry.name.into(),
                parameters: entry
                    .params
                    .iter()
                    .map(|parameter| Parameter {
                        offset: parameter.offset,
                        size: parameter.size,
                    })
                    .collect(),
            });
            Some(kernels.collect())
        };
        self.kernels.get_or_init(parse).as_deref()
    }
}

impl ModuleCore {
    /// What somebody makes of the PTX, if it is known and the parser understands it. Bodies of functions are not parsed.
    #[cfg(any(feature = "kernels", test))]
    pub(crate) fn with_ptx<T>(&self, look: impl FnOnce(&cuda_ptx::Module<'_>) -> T) -> Option<T> {
        let text = self.text()?;
        let module = cuda_ptx::Module::parse_signatures(&text.text).ok()?;
        Some(look(&module))
    }

    /// The parameters of a kernel according to the PTX, where the driver cannot tell them.
    pub(crate) fn parameters_from_ptx(&self, name: &str) -> Option<Vec<Parameter>> {
        let kernel = self.text()?.kernel(name)?;
        Some(kernel.parameters.clone())
    }

    /// The names of the kernels according to the PTX, where the driver cannot tell them.
    pub(super) fn names_from_ptx(&self) -> Option<Vec<String>> {
        self.text()?.names()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_with_their_parameters() {
        let text = ".version 7.0\n.target sm_70\n.address_size 64\n\
                    .visible .entry scale(.param .u32 n, .param .u64 p, .param .f32 f)\n{ ret; }\n";
        let kept = KeptText {
            text: text.into(),
            kernels: OnceLock::new(),
            places: OnceLock::new(),
        };
        let kernels = kept.kernels().expect("parses");
        assert_eq!(&*kernels[0].name, "scale");
        let layout = |offset, size| Parameter { offset, size };
        let expected = [layout(0, 4), layout(8, 8), layout(16, 4)];
        assert_eq!(kernels[0].parameters, expected);
    }

    #[test]
    fn text_that_does_not_parse_tells_nothing() {
        let kept = KeptText {
            text: "x".into(),
            kernels: OnceLock::new(),
            places: OnceLock::new(),
        };
        assert!(kept.kernels().is_none());
    }
}
