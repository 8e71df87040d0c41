//! What reports say of an instruction: its text, and the line of the source that `.loc` names.

use std::sync::Arc;

use cuda_ptx::Directive;

use super::function::Decoder;
use crate::SourceLine;

impl<'a> Decoder<'_, 'a> {
    /// Takes note of a `.loc`; one that names no known file is passed over.
    pub(super) fn loc(&mut self, directive: &Directive<'a>) {
        self.compiled_from = directive.source_line().and_then(|line| {
            let file = self.file(line.file)?;
            let inlined = line.inlined.and_then(|inlined| {
                let function = self.names.source_map.function(&inlined)?.to_owned();
                Some((function, self.file(inlined.file)?, inlined.line))
            });
            self.code.source_lines.push(SourceLine {
                file,
                line: line.line,
                column: line.column,
                inlined,
            });
            u32::try_from(self.code.source_lines.len() - 1).ok()
        });
    }

    /// The name of a file; most lines come from the same file as the one before.
    fn file(&self, number: u32) -> Option<Arc<str>> {
        let name = self.names.source_map.file(number)?;
        let last = self.code.source_lines.last().map(|line| &line.file);
        match last {
            Some(last) if **last == *name => Some(Arc::clone(last)),
            _ => Some(Arc::from(name)),
        }
    }
}

/// A statement as a report shows it: compilers spread calls over many lines.
pub(super) fn one_line(text: &str) -> String {
    if !text.contains('\n') {
        return text.to_owned();
    }
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}
