//! Linkers: `CUlinkState`.

use crate::jit::Options;
use crate::link::Linker;
use crate::state::context::ContextRef;

/// A `CUlinkState`.
#[derive(Debug)]
pub(crate) struct LinkState {
    pub(crate) context: ContextRef,
    /// `10 * major + minor` of the architecture that is linked for.
    pub(crate) target: u32,
    pub(crate) linker: Linker,
    /// Where the logs go, as the caller said when the linker was made.
    pub(crate) options: Options,
    errors: String,
    information: String,
    /// The linked image, which callers use until the linker is destroyed.
    pub(crate) image: Option<Box<[u8]>>,
    /// Number of the call that made it.
    pub(crate) call: u64,
}

impl LinkState {
    pub(crate) fn new(context: ContextRef, target: u32, options: Options, call: u64) -> Self {
        Self {
            context,
            target,
            linker: Linker::default(),
            options,
            errors: String::new(),
            information: String::new(),
            image: None,
            call,
        }
    }

    /// Adds lines to the error log, which is written anew.
    pub(crate) fn log_error(&mut self, text: &str) {
        append(&mut self.errors, text);
        self.options.write(&self.errors, &self.information);
    }

    /// Adds lines to the information log, which is written anew.
    pub(crate) fn log_information(&mut self, text: &str) {
        append(&mut self.information, text);
        self.options.write(&self.errors, &self.information);
    }
}

fn append(log: &mut String, text: &str) {
    if !log.is_empty() && !text.is_empty() {
        log.push('\n');
    }
    log.push_str(text);
}
