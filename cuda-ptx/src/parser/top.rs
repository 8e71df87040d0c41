//! The outermost level of a module.

use super::Parser;
use crate::lexer::Kind;
use crate::{Directive, FunctionKind, Linkage, Module, Operand, ParseError, Position, Space};

impl<'a> Parser<'a> {
    /// The whole text.
    pub(crate) fn module(&mut self, source: &'a str) -> Result<Module<'a>, ParseError> {
        let mut module = Module {
            source,
            version: (0, 0),
            targets: Vec::new(),
            address_size: None,
            functions: Vec::new(),
            variables: Vec::new(),
            directives: Vec::new(),
        };
        self.header(&mut module)?;
        while self.token.kind != Kind::End {
            self.count_node()?;
            self.item(&mut module)?;
        }
        Ok(module)
    }

    /// `.version` and `.target`, which every module starts with.
    fn header(&mut self, module: &mut Module<'a>) -> Result<(), ParseError> {
        if self.token.text != ".version" {
            return Err(self.unexpected("the module to start with `.version`"));
        }
        let (start, position) = (self.token.start, self.here());
        self.advance()?;
        let number = self.token;
        let parts = number
            .text
            .split_once('.')
            .filter(|_| number.kind == Kind::Number);
        let parts =
            parts.and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        module.version = parts.ok_or_else(|| self.unexpected("a version such as `7.0`"))?;
        self.advance()?;
        self.keep(module, start, position, ".version", Box::default());
        if self.token.text != ".target" {
            return Err(self.unexpected("`.target` after `.version`"));
        }
        self.target(module)
    }

    fn target(&mut self, module: &mut Module<'a>) -> Result<(), ParseError> {
        let (start, position) = (self.token.start, self.here());
        self.advance()?;
        loop {
            self.count_node()?;
            module.targets.push(self.word("a target such as `sm_52`")?);
            if !self.accept(",")? {
                break;
            }
        }
        self.keep(module, start, position, ".target", Box::default());
        Ok(())
    }

    /// Keeps a directive whose last token has been taken.
    fn keep(
        &self,
        module: &mut Module<'a>,
        start: usize,
        position: Position,
        name: &'a str,
        arguments: Box<[Operand<'a>]>,
    ) {
        let text = self.text_since(start).trim_end_matches(';').trim_end();
        module.directives.push(Directive {
            position,
            name,
            text,
            arguments,
        });
    }

    fn item(&mut self, module: &mut Module<'a>) -> Result<(), ParseError> {
        if self.accept(";")? {
            return Ok(());
        }
        let start = self.token.start;
        let mut linkage = Linkage::Internal;
        let mut directive = self.token;
        loop {
            if self.token.kind != Kind::Dotted {
                return Err(self.unexpected("a directive"));
            }
            linkage = match self.token.text {
                ".visible" => Linkage::Visible,
                ".extern" => Linkage::Extern,
                ".weak" => Linkage::Weak,
                ".common" => Linkage::Common,
                _ => break,
            };
            self.advance()?;
            directive = self.token;
        }
        let name = directive.text;
        if let Some(space) = Space::from_directive(name) {
            self.advance()?;
            let first = module.variables.len();
            self.variables(space, linkage, |variable| module.variables.push(variable))?;
            let text = self.text_since(start);
            for variable in module.variables.iter_mut().skip(first) {
                variable.text = text;
            }
            return Ok(());
        }
        match name {
            ".entry" | ".func" => {
                self.advance()?;
                let kind = if name == ".entry" {
                    FunctionKind::Entry
                } else {
                    FunctionKind::Device
                };
                module.functions.push(self.function(start, kind, linkage)?);
            }
            ".target" => self.target(module)?,
            ".address_size" => {
                self.advance()?;
                let position = self.here();
                module.address_size = match self.integer()?.bits {
                    32 => Some(32),
                    64 => Some(64),
                    other => {
                        return Err(position
                            .error(format!("the address size {other} is neither 32 nor 64")));
                    }
                };
                self.keep(module, start, directive.position, name, Box::default());
            }
            _ => self.other(module, start, directive.position, name)?,
        }
        Ok(())
    }

    /// A directive that is only kept as text.
    fn other(
        &mut self,
        module: &mut Module<'a>,
        start: usize,
        position: Position,
        name: &'a str,
    ) -> Result<(), ParseError> {
        self.advance()?;
        let mut arguments = Box::default();
        match name {
            ".section" => {
                while !self.token.is("{") {
                    if self.token.kind == Kind::End {
                        return Err(self.unexpected("`{` after .section"));
                    }
                    self.advance()?;
                }
                self.skip_block()?;
            }
            ".file" | ".loc" | ".version" => self.skip_line_directive(position.line)?,
            ".alias" => {
                arguments = self.operands(false)?;
                self.expect(";", "after the directive")?;
            }
            // `.pragma` and the directives of later versions end with a semicolon.
            _ => {
                while !self.token.is(";") {
                    if self.token.kind == Kind::End {
                        return Err(self.unexpected("`;` after the directive"));
                    }
                    self.advance()?;
                }
                self.advance()?;
            }
        }
        self.keep(module, start, position, name, arguments);
        Ok(())
    }
}
