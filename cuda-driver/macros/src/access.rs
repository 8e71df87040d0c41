//! Comparing declarations with what the kernels of a PTX image do.

use cuda_ptx::{AccessKind, CType, KernelAccesses, ScalarType, Signature, SourceMap};
use syn::Error;

use crate::syntax::{Kernel, Kind, Parameter};

/// A floating-point number that the kernel computes with behind a parameter.
pub(crate) struct Number {
    /// Its bytes.
    pub(crate) size: usize,
    /// What an error says of it.
    pub(crate) text: String,
}

/// What the image shows of a kernel whose parameters are as many as declared.
pub(crate) struct Comparison<'c> {
    pub(crate) kernel: &'c Kernel,
    pub(crate) signature: &'c Signature,
    pub(crate) found: KernelAccesses<'c>,
    pub(crate) sources: &'c SourceMap<'c>,
}

impl Comparison<'_> {
    fn is_memory(&self, index: usize) -> bool {
        let parameter = self.kernel.parameters.get(index);
        parameter.is_some_and(|it| matches!(it.kind, Kind::Memory { .. }))
    }

    /// Whether the kernel certainly writes through a parameter, whatever its type says.
    pub(crate) fn is_written(&self, index: usize) -> bool {
        let is_memory = |index| self.is_memory(index);
        self.is_memory(index) && self.found.write_through(index, is_memory).is_some()
    }

    /// Refuses what is read by its declaration and written by the kernel.
    pub(crate) fn writes(&self, errors: &mut Vec<Error>) {
        for (index, parameter) in self.kernel.parameters.iter().enumerate() {
            if !matches!(
                parameter.kind,
                Kind::Memory {
                    is_written: false,
                    ..
                }
            ) {
                continue;
            }
            let is_memory = |index| self.is_memory(index);
            if let Some(access) = self.found.write_through(index, is_memory) {
                let text = format!(
                    "`{}` writes through `{}`, at {}: declare it `{}`",
                    self.kernel.name,
                    parameter.name,
                    access.place(self.sources),
                    mutable(parameter)
                );
                errors.push(Error::new(parameter.span, text));
            }
        }
    }

    /// Refuses `waits` where something comes before the wait.
    pub(crate) fn waits(&self, errors: &mut Vec<Error>) {
        let Some(span) = self.kernel.launch.as_ref().and_then(|it| it.waits) else {
            return;
        };
        let name = &self.kernel.name;
        let text = if let Some(access) = self.found.before_wait() {
            let does = match access.kind {
                AccessKind::Call => "calls a function that is not known",
                _ => "touches memory",
            };
            let place = access.place(self.sources);
            format!(
                "`{name}` {does} at {place}, where it may come without having waited (`griddepcontrol.wait`, \
                 `cudaGridDependencySynchronize`)"
            )
        } else if let Some(access) = self.found.noncoherent() {
            let place = access.place(self.sources);
            format!(
                "`{name}` reads by `ld.global.nc` at {place}, which the device may do before the wait: leave out `__restrict__` \
                 and `__ldg`"
            )
        } else {
            return;
        };
        errors.push(Error::new(span, text));
    }

    /// What the kernel computes with behind a parameter, where its type does not tell.
    pub(crate) fn number(&self, index: usize) -> Option<Number> {
        let parameter = self.signature.parameters.get(index)?;
        if let CType::Pointer { to, .. } = &parameter.ty
            && matches!(**to, CType::Scalar(_) | CType::Vector { .. })
        {
            return None;
        }
        let is_memory = |index| self.is_memory(index);
        if !self.is_memory(index) {
            return None;
        }
        let access = self.found.number_behind(index, is_memory)?;
        let number = access.number?;
        let what = match number {
            ScalarType::F64 => "`f64`",
            ScalarType::F32 => "`f32`",
            _ => "halves (2 bytes)",
        };
        let place = access.place(self.sources);
        Some(Number {
            size: number.size(),
            text: format!(
                "the kernel computes with {what} behind it, at {place}: declare that as its elements"
            ),
        })
    }
}

/// The type of a parameter that is written.
fn mutable(parameter: &Parameter) -> String {
    parameter.text.replacen("&[", "&mut [", 1)
}
