//! What the build script tells Cargo: what to watch, and what to show to the user.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

/// Lines for Cargo, in an order that depends on nothing but their content.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    watched: BTreeSet<String>,
    shown: Vec<String>,
}

impl Messages {
    /// Run the build script again when this file or folder changes.
    pub(crate) fn watch_file(&mut self, path: &Path) {
        self.watched
            .insert(format!("rerun-if-changed={}", path.display()));
    }

    /// Run the build script again when this variable changes.
    pub(crate) fn watch_variable(&mut self, name: &str) {
        self.watched.insert(format!("rerun-if-env-changed={name}"));
    }

    /// Show a warning. Each line becomes a warning of its own, as Cargo has it.
    pub(crate) fn warn(&mut self, text: &str) {
        self.show("warning", text);
    }

    /// Show an error, and let the build fail.
    pub(crate) fn fail(&mut self, text: &str) {
        self.show("error", text);
    }

    fn show(&mut self, kind: &str, text: &str) {
        let lines = text.lines().filter(|line| !line.is_empty());
        self.shown
            .extend(lines.map(|line| format!("{kind}={line}")));
    }

    /// All lines, as they are printed.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for line in self.watched.iter().chain(&self.shown) {
            let _ = writeln!(text, "cargo::{line}");
        }
        text
    }
}
