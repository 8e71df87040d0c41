//! A whole module.

use crate::parser::{Bodies, Parser};
use crate::{Directive, Function, FunctionKind, ParseError, Position, Span, Statement, Variable};

/// A parsed module; it borrows the text that it was parsed from.
#[derive(Debug, Clone)]
pub struct Module<'a> {
    pub(crate) source: &'a str,
    pub(crate) version: (u32, u32),
    pub(crate) targets: Vec<&'a str>,
    pub(crate) address_size: Option<u32>,
    pub(crate) functions: Vec<Function<'a>>,
    pub(crate) variables: Vec<Variable<'a>>,
    pub(crate) directives: Vec<Directive<'a>>,
}

impl<'a> Module<'a> {
    /// Parses a module. A NUL byte ends the text, as it does for the driver.
    ///
    /// # Errors
    /// The text is not PTX; the error names the line, the column and what was expected there.
    pub fn parse(source: &'a str) -> Result<Self, ParseError> {
        Self::parse_with(source, Bodies::Parse)
    }

    /// Parses everything but the bodies of functions: several times as fast, for those who need names and parameters only.
    ///
    /// # Errors
    /// As for [`parse`](Self::parse), but what stands inside a body is only searched for its end.
    pub fn parse_signatures(source: &'a str) -> Result<Self, ParseError> {
        Self::parse_with(source, Bodies::Skip)
    }

    fn parse_with(source: &'a str, bodies: Bodies) -> Result<Self, ParseError> {
        if u32::try_from(source.len()).is_err() {
            return Err(Position { line: 1, column: 1 }.error("the text is longer than 4 GiB"));
        }
        Parser::new(source, bodies)?.module(source)
    }

    /// Parses the body of one of its functions, where [`parse_signatures`](Self::parse_signatures) passed over it. Empty for a declaration.
    ///
    /// # Errors
    /// As for [`parse`](Self::parse), and if the function is another module's.
    pub fn body_of(&self, function: &Function<'a>) -> Result<Vec<Statement<'a>>, ParseError> {
        Parser::body_at(self.source, function)
    }

    /// The text that it was parsed from.
    #[must_use]
    pub fn source(&self) -> &'a str {
        self.source
    }

    /// Where a part of the text stands: a name, an instruction's text, or any other string that this module handed out. Takes time in
    /// proportion to the length of the text before it. Nothing for a string that lies elsewhere.
    ///
    /// ```
    /// let text = ".version 7.0 .target sm_52\n.entry k() {\n  ret;\n}";
    /// let module = cuda_ptx::Module::parse(text)?;
    /// let body = module.functions()[0].body.as_ref().ok_or("no body")?;
    /// let cuda_ptx::Statement::Instruction(ret) = &body[0] else { return Err("no instruction".into()) };
    /// let span = module.span_of(ret.text).ok_or("not of this module")?;
    /// assert_eq!((span.position.line, span.position.column, span.bytes), (3, 3, 42..45));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn span_of(&self, part: &str) -> Option<Span> {
        let start = part
            .as_ptr()
            .addr()
            .checked_sub(self.source.as_ptr().addr())?;
        let before = self.source.get(..start)?;
        let end = start.checked_add(part.len())?;
        self.source.get(start..end)?;
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let lines = before.bytes().filter(|&byte| byte == b'\n').count();
        let position = Position {
            line: u32::try_from(lines).ok()?.checked_add(1)?,
            column: u32::try_from(start - line_start).ok()?.checked_add(1)?,
        };
        Some(Span {
            position,
            bytes: start..end,
        })
    }

    /// `.version`: major and minor.
    #[must_use]
    pub fn version(&self) -> (u32, u32) {
        self.version
    }

    /// The first word of `.target`: the architecture.
    #[must_use]
    pub fn target(&self) -> &'a str {
        self.targets.first().copied().unwrap_or("")
    }

    /// All words of `.target`.
    #[must_use]
    pub fn targets(&self) -> &[&'a str] {
        &self.targets
    }

    /// Bits of an address: 32 or 64; 32 where the module does not say.
    #[must_use]
    pub fn address_size(&self) -> u32 {
        self.address_size.unwrap_or(32)
    }

    /// What `.address_size` says, if it is there.
    #[must_use]
    pub fn stated_address_size(&self) -> Option<u32> {
        self.address_size
    }

    /// The kernels.
    pub fn entries(&self) -> impl Iterator<Item = &Function<'a>> {
        self.functions
            .iter()
            .filter(|function| function.kind == FunctionKind::Entry)
    }

    /// The kernel of that name.
    #[must_use]
    pub fn entry(&self, name: &str) -> Option<&Function<'a>> {
        self.entries().find(|entry| entry.name == name)
    }

    /// Kernels and device functions in the order of the text, declarations included.
    #[must_use]
    pub fn functions(&self) -> &[Function<'a>] {
        &self.functions
    }

    /// Variables of all spaces that are declared outside functions.
    #[must_use]
    pub fn variables(&self) -> &[Variable<'a>] {
        &self.variables
    }

    /// The directives outside functions: `.version`, `.target`, `.file`, `.section`, `.alias` …
    #[must_use]
    pub fn directives(&self) -> &[Directive<'a>] {
        &self.directives
    }
}
