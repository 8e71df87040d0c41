//! `.version`, `.target` and the directives outside functions.

use super::Checker;
use crate::{Module, Operand};

/// The newest minor version of each major one.
const VERSIONS: [(u32, u32); 9] = [
    (1, 5),
    (2, 3),
    (3, 2),
    (4, 3),
    (5, 1),
    (6, 5),
    (7, 8),
    (8, 8),
    (9, u32::MAX),
];

/// Architectures, and the version of PTX that brought each.
const TARGETS: &[(&str, (u32, u32))] = &[
    ("sm_10", (1, 0)),
    ("sm_11", (1, 0)),
    ("sm_12", (1, 2)),
    ("sm_13", (1, 2)),
    ("sm_20", (2, 0)),
    ("sm_21", (2, 0)),
    ("sm_30", (3, 0)),
    ("sm_32", (4, 0)),
    ("sm_35", (3, 1)),
    ("sm_37", (4, 1)),
    ("sm_50", (4, 0)),
    ("sm_52", (4, 1)),
    ("sm_53", (4, 2)),
    ("sm_60", (5, 0)),
    ("sm_61", (5, 0)),
    ("sm_62", (5, 0)),
    ("sm_70", (6, 0)),
    ("sm_72", (6, 1)),
    ("sm_75", (6, 3)),
    ("sm_80", (7, 0)),
    ("sm_86", (7, 1)),
    ("sm_87", (7, 4)),
    ("sm_88", (9, 0)),
    ("sm_89", (7, 8)),
    ("sm_90", (7, 8)),
    ("sm_90a", (8, 0)),
    ("sm_100", (8, 6)),
    ("sm_100a", (8, 6)),
    ("sm_100f", (8, 8)),
    ("sm_101", (8, 6)),
    ("sm_101a", (8, 6)),
    ("sm_101f", (8, 8)),
    ("sm_103", (8, 8)),
    ("sm_103a", (8, 8)),
    ("sm_103f", (8, 8)),
    ("sm_110", (9, 0)),
    ("sm_110a", (9, 0)),
    ("sm_110f", (9, 0)),
    ("sm_120", (8, 7)),
    ("sm_120a", (8, 7)),
    ("sm_120f", (8, 8)),
    ("sm_121", (8, 8)),
    ("sm_121a", (8, 8)),
    ("sm_121f", (8, 8)),
];

/// What may stand outside functions beside functions and variables.
const DIRECTIVES: [&str; 8] = [
    ".version",
    ".target",
    ".address_size",
    ".file",
    ".section",
    ".pragma",
    ".alias",
    ".loc",
];

impl Module<'_> {
    /// Whether there is, or may be, such a version of PTX: there never was a 5.5.
    #[must_use]
    pub fn version_exists(&self) -> bool {
        let (major, minor) = self.version();
        let newest = VERSIONS.iter().find(|known| known.0 == major);
        // Assemblers read 7.10 as 7.1.
        newest.is_none_or(|&(_, newest)| minor <= newest || minor >= 10)
    }
}

impl<'a> Checker<'_, 'a> {
    pub(super) fn target(&mut self) {
        let module = self.module;
        if let Some(at) = module.source().bytes().position(|byte| !byte.is_ascii()) {
            let rest = module.source().get(at..).unwrap_or("");
            let len = rest.chars().next().map_or(0, char::len_utf8);
            let text = rest.get(..len).unwrap_or("");
            self.report_text(text, "only ASCII characters are possible, even in comments");
        }
        let version = module.version();
        if !module.version_exists() {
            self.report_text(
                module.source(),
                format!("there is no version {}.{} of PTX", version.0, version.1),
            );
        }
        for (index, &target) in module.targets().iter().enumerate() {
            let known = TARGETS.iter().find(|(name, _)| {
                target == *name || target.strip_prefix("compute_") == name.strip_prefix("sm_")
            });
            let option = matches!(
                target,
                "texmode_unified" | "texmode_independent" | "debug" | "map_f64_to_f32"
            );
            match known {
                Some((_, since)) if version < *since => self.report_text(
                    target,
                    format!(
                        "{target} needs .version {}.{} or newer, the module has {}.{}",
                        since.0, since.1, version.0, version.1
                    ),
                ),
                Some(_) => {}
                // Those that come after this table.
                None if index == 0 && version >= (9, 1) => {}
                None if option && index > 0 => {}
                None => self.report_text(target, "there is no such target"),
            }
        }
        for directive in module.directives() {
            let aliased = directive.arguments.get(1).and_then(Operand::name);
            if let (".alias", Some(name)) = (directive.name, aliased)
                && !module
                    .functions()
                    .iter()
                    .any(|function| function.name == name)
            {
                let message = format!("there is no function `{name}`");
                self.report(directive.position, directive.text, message);
            }
            if !DIRECTIVES.contains(&directive.name) && version < (9, 1) {
                let message = format!(
                    "PTX has no directive `{}` outside functions",
                    directive.name
                );
                self.report(directive.position, directive.name, message);
            }
        }
    }

    /// A finding about a part of the text.
    pub(super) fn report_text(&mut self, text: &'a str, message: impl Into<String>) {
        if self.full() {
            return;
        }
        let position = self
            .module
            .span_of(text)
            .map_or_else(Default::default, |span| span.position);
        let line = text.lines().next().unwrap_or(text);
        self.report(position, line, message);
    }
}
