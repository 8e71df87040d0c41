//! The table of everything that differs between declarations and an image.

use std::fmt::Write;

use crate::error::{Error, ErrorKind};

/// Rows of kernel, parameter, declared, found.
pub(super) struct Table {
    rows: Vec<[String; 4]>,
}

impl Table {
    pub(super) fn new() -> Self {
        Self { rows: Vec::new() }
    }

    pub(super) fn row(&mut self, kernel: &str, parameter: &str, declared: &str, found: &str) {
        let row = [kernel, parameter, declared, found];
        self.rows.push(row.map(str::to_owned));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(super) fn into_error(self, set: &str) -> Error {
        let reason = match self.rows.len() {
            1 => "the declaration and the image differ".to_owned(),
            many => format!("the declaration and the image differ in {many} places"),
        };
        Error::new(ErrorKind::DeclarationMismatch, reason)
            .doing(format!("take the kernels `{set}` from the module"))
            .with_log(self.text())
    }

    fn text(&self) -> String {
        let head = ["kernel", "parameter", "declared", "found"].map(str::to_owned);
        let lines = || std::iter::once(&head).chain(&self.rows);
        let mut widths = [0; 4];
        for line in lines() {
            for (width, cell) in widths.iter_mut().zip(line) {
                *width = cell.chars().count().max(*width);
            }
        }
        let mut text = String::new();
        for line in lines() {
            let mut row = String::new();
            for (cell, width) in line.iter().zip(widths) {
                // Writing to a string does not fail.
                let _ = write!(row, "{cell:width$}  ");
            }
            text.push_str("  ");
            text.push_str(row.trim_end());
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new();
        table.row("vector_add", "n", "f32", "unsigned int");
        table.row("k", "", "2 parameters", "3 parameters");
        let error = table.into_error("Kernels");
        assert_eq!(error.kind(), ErrorKind::DeclarationMismatch);
        assert_eq!(
            error.to_string(),
            "cannot take the kernels `Kernels` from the module: the declaration and the image differ in 2 places\
             \n  kernel      parameter  declared      found\
             \n  vector_add  n          f32           unsigned int\
             \n  k                      2 parameters  3 parameters"
        );
    }
}
