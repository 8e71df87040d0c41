//! Whether the arguments of a launch fit the kernel and the stream.

use crate::error::{Error, ErrorKind, Result, count};
use crate::function::FunctionCore;
use crate::stream::StreamCore;

impl FunctionCore {
    /// Refuses a stream of another context, and arguments that are not as many or as large as the kernel's parameters,
    /// where these are known.
    pub(super) fn require_fit(&self, stream: &StreamCore, given: &[usize]) -> Result<()> {
        let fits = |wanted: &[usize]| wanted == given;
        if self.is_of(stream.context()) && self.parameter_sizes().is_none_or(fits) {
            return Ok(());
        }
        Err(self.refuse(stream, given))
    }

    /// Why arguments do not fit.
    #[cold]
    fn refuse(&self, stream: &StreamCore, given: &[usize]) -> Error {
        let doing = format!("launch `{}`", self.name());
        if !self.is_of(stream.context()) {
            return Error::new(
                ErrorKind::Mismatch,
                "the kernel's module and the stream belong to different contexts",
            )
            .doing(doing);
        }
        let wanted = self.parameter_sizes().unwrap_or(&[]);
        if wanted.len() != given.len() {
            let were = if given.len() == 1 { "was" } else { "were" };
            let reason = format!(
                "it has {}, and {} {were} given",
                count(wanted.len(), "parameter"),
                count(given.len(), "argument")
            );
            return Error::new(ErrorKind::ArgumentMismatch, reason).doing(doing);
        }
        let differing = wanted.iter().zip(given).enumerate();
        let list: Vec<String> = differing
            .filter(|(_, (wanted, given))| wanted != given)
            .map(|(index, (takes, has))| {
                let (number, all) = (index + 1, given.len());
                let has = count(*has, "byte");
                format!("argument {number} of {all} has {has} where the kernel takes {takes}")
            })
            .collect();
        let error = Error::new(ErrorKind::ArgumentMismatch, list.join("; ")).doing(doing);
        // Those that may be numbers without a type.
        let differing = wanted.iter().zip(given).filter(|(takes, has)| takes != has);
        let plain = differing
            .filter(|(takes, has)| takes.is_power_of_two() && **takes <= 8 && matches!(has, 4 | 8));
        let mut sizes = plain.map(|(takes, _)| *takes).peekable();
        if sizes.peek().is_none() {
            return error;
        }
        if sizes.all(|it| it == 1) {
            return error
                .remedied_by("a plain number is an i32, so pass a `bool`, or write `1_u8`");
        }
        error.remedied_by(
            "a plain number is an i32 or an f64, so write its type: `1_u32`, `0.5_f32`",
        )
    }
}
