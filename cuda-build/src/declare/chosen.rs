//! Which kernels the build script means.

use super::Declaration;
use crate::interface::KernelInterface;
use crate::{Error, Kernel};

impl Declaration<'_> {
    /// Each kernel with what is said of it: by its exact name, or else by one that it shares with other instances of its template.
    pub(super) fn chosen(&self) -> Result<Vec<(&KernelInterface, Option<&Kernel>)>, Error> {
        let all = self.interface.kernels.iter();
        let mut chosen: Vec<(&KernelInterface, Option<&Kernel>)> =
            all.map(|kernel| (kernel, None)).collect();
        let is_exact = |said: &&Kernel| {
            self.interface
                .kernels
                .iter()
                .any(|kernel| kernel.is_exactly(&said.name))
        };
        let (exact, shared): (Vec<&Kernel>, Vec<&Kernel>) = self.kernels.iter().partition(is_exact);
        for said in exact {
            let mut meant = chosen
                .iter_mut()
                .filter(|(kernel, _)| kernel.is_exactly(&said.name));
            let Some((_, place)) = meant.next() else {
                continue;
            };
            if place.replace(said).is_some() {
                return Err(self.error(&said.name, "something is said of it twice"));
            }
            if meant.next().is_some() {
                let kernels = self.interface.kernels.iter();
                let meant: Vec<&KernelInterface> = kernels
                    .filter(|kernel| kernel.is_exactly(&said.name))
                    .collect();
                return Err(self.no_kernel(said, &meant));
            }
        }
        for said in shared {
            let meant = |kernel: &KernelInterface| kernel.name.is_meant_by(&said.name);
            let kernels: Vec<&KernelInterface> = self
                .interface
                .kernels
                .iter()
                .filter(|kernel| meant(kernel))
                .collect();
            let first = kernels.first().ok_or_else(|| self.no_kernel(said, &[]))?;
            let are_instances = kernels.iter().all(|kernel| {
                kernel.name.qualified == first.name.qualified && kernel.is_instance()
            });
            if kernels.len() > 1 && (!are_instances || said.method.is_some()) {
                return Err(self.no_kernel(said, &kernels));
            }
            for (_, place) in chosen.iter_mut().filter(|(kernel, _)| meant(kernel)) {
                match place {
                    None => *place = Some(said),
                    Some(other) if other.name == said.name || kernels.len() == 1 => {
                        return Err(self.error(&said.name, "something is said of it twice"));
                    }
                    // What is said of the one instance holds.
                    Some(_) => {}
                }
            }
        }
        chosen.retain(|(_, said)| !said.is_some_and(|said| said.is_skipped));
        Ok(chosen)
    }

    fn no_kernel(&self, said: &Kernel, meant: &[&KernelInterface]) -> Error {
        let why = match (meant, &said.method) {
            ([], _) => "there is no such kernel".to_owned(),
            (_, Some(method)) => format!(
                "several kernels have this name, which cannot all have the method `{method}`"
            ),
            (_, None) => "several kernels have this name".to_owned(),
        };
        let all: Vec<&KernelInterface> = self.interface.kernels.iter().collect();
        let listed = if meant.is_empty() { &all } else { meant };
        let names: Vec<String> = listed
            .iter()
            .map(|kernel| format!("`{}` ({})", kernel.name, kernel.name.symbol))
            .collect();
        let names = if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(", ")
        };
        self.error(&said.name, &format!("{why}; the kernels are: {names}"))
    }
}
