//! A whole module.

use crate::ParseError;

/// A parsed module; it borrows the text that it was parsed from.
#[derive(Debug)]
pub struct Module<'a> {
    source: &'a str,
}

impl<'a> Module<'a> {
    /// Parses a module.
    ///
    /// # Errors
    /// The text is not PTX.
    pub fn parse(source: &'a str) -> Result<Self, ParseError> {
        Ok(Self { source })
    }

    /// The text that it was parsed from.
    #[must_use]
    pub fn source(&self) -> &'a str {
        self.source
    }
}
