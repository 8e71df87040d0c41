//! Signatures of kernels and device functions.

use super::{Bodies, Parser};
use crate::lexer::Kind;
use crate::{
    Directive, Function, FunctionKind, Linkage, Param, ParseError, Position, Prototype, Space,
    Tuning,
};

impl<'a> Parser<'a> {
    /// A function whose `.entry` or `.func` has been taken.
    pub(super) fn function(
        &mut self,
        start: usize,
        kind: FunctionKind,
        linkage: Linkage,
    ) -> Result<Function<'a>, ParseError> {
        // Attributes may stand before the returned values: `.func .attribute(.unified(1,2)) (.param …) name`.
        while self.token.kind == Kind::Dotted && kind == FunctionKind::Device {
            self.advance()?;
            self.skip_parenthesised()?;
        }
        let returns = if kind == FunctionKind::Device && self.token.is("(") {
            self.params()?
        } else {
            Vec::new()
        };
        let position = self.here();
        let name = self.word("the name of the function")?;
        let params = if self.token.is("(") {
            self.params()?
        } else {
            Vec::new()
        };
        let mut tuning = Tuning::default();
        let mut directives = Vec::new();
        while self.token.kind == Kind::Dotted {
            self.count_node()?;
            let (start, directive) = (self.token.start, self.token);
            self.tuning(&mut tuning)?;
            let text = self.text_since(start);
            directives.push(Directive {
                position: directive.position,
                name: directive.text,
                text: text.trim_end_matches(';').trim_end(),
                arguments: Box::default(),
            });
        }
        let body = if self.token.is("{") {
            match self.bodies {
                Bodies::Parse => Some(self.body()?),
                Bodies::Skip => {
                    self.skip_block()?;
                    None
                }
            }
        } else {
            self.expect(";", "or `{` after the signature")?;
            None
        };
        Ok(Function {
            position,
            text: self.text_since(start),
            kind,
            linkage,
            name,
            returns,
            params,
            tuning,
            directives,
            body,
        })
    }

    /// The body of a function whose name is the current token.
    pub(super) fn body_after_name(&mut self) -> Result<Vec<crate::Statement<'a>>, ParseError> {
        self.advance()?;
        if self.token.is("(") {
            self.params()?;
        }
        let mut tuning = Tuning::default();
        while self.token.kind == Kind::Dotted {
            self.tuning(&mut tuning)?;
        }
        match self.token.is("{") {
            true => self.body(),
            false => Ok(Vec::new()),
        }
    }

    /// The rest of a `.callprototype` after its name: returned values, a name of no meaning, and parameters.
    pub(super) fn prototype(
        &mut self,
        start: usize,
        position: Position,
    ) -> Result<Prototype<'a>, ParseError> {
        let returns = if self.token.is("(") {
            self.params()?
        } else {
            Vec::new()
        };
        self.word("the name `_` of the prototype")?;
        let params = if self.token.is("(") {
            self.params()?
        } else {
            Vec::new()
        };
        let mut tuning = Tuning::default();
        while self.token.kind == Kind::Dotted {
            self.tuning(&mut tuning)?;
        }
        self.expect(";", "after the prototype")?;
        Ok(Prototype {
            position,
            text: self.text_since(start),
            returns,
            params,
        })
    }

    fn skip_parenthesised(&mut self) -> Result<(), ParseError> {
        if !self.accept("(")? {
            return Ok(());
        }
        let mut depth = 1u32;
        while depth > 0 {
            let token = self.advance()?;
            match token.text {
                "(" => depth = depth.saturating_add(1),
                ")" => depth -= 1,
                _ if token.kind == Kind::End => {
                    return Err(token.position.error("the parenthesis has no end"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// A parenthesised list of parameters, laid out as in the parameter buffer.
    fn params(&mut self) -> Result<Vec<Param<'a>>, ParseError> {
        self.advance()?;
        let mut params = Vec::new();
        let mut end = 0usize;
        if self.accept(")")? {
            return Ok(params);
        }
        loop {
            self.count_node()?;
            let param = self.param(end)?;
            end = param.offset.saturating_add(param.size);
            params.push(param);
            if !self.accept(",")? {
                break;
            }
        }
        self.expect(")", "after the parameters")?;
        Ok(params)
    }

    fn param(&mut self, end: usize) -> Result<Param<'a>, ParseError> {
        let space = self.advance()?;
        let space = match space.text {
            ".param" => Space::Param,
            ".reg" => Space::Register,
            _ => {
                return Err(space
                    .position
                    .error(format!("expected .param or .reg, found {}", space.shown())));
            }
        };
        let specifiers = self.specifiers()?;
        let position = self.here();
        let name = self.word("the name of the parameter")?;
        let extents = self.extents()?;
        let element = specifiers.ty.size() * usize::from(specifiers.vector);
        let too_large = || position.error(format!("the parameter `{name}` is too large"));
        let mut len = 1usize;
        for &extent in &extents {
            len = usize::try_from(extent)
                .ok()
                .and_then(|extent| len.checked_mul(extent))
                .ok_or_else(too_large)?;
        }
        let size = len
            .checked_mul(element)
            .filter(|&size| u32::try_from(size).is_ok())
            .ok_or_else(too_large)?;
        let align = specifiers
            .align
            .map_or(element.max(1), |align| align as usize);
        let offset = end
            .checked_next_multiple_of(align)
            .filter(|&offset| u32::try_from(offset).is_ok())
            .ok_or_else(too_large)?;
        let len = (!extents.is_empty()).then_some(len);
        let (ty, vector, pointer) = (specifiers.ty, specifiers.vector, specifiers.pointer);
        Ok(Param {
            position,
            name,
            space,
            ty,
            vector,
            len,
            size,
            align,
            offset,
            pointer,
        })
    }

    /// A directive between the signature and the body.
    fn tuning(&mut self, tuning: &mut Tuning) -> Result<(), ParseError> {
        let directive = self.advance()?;
        let mut numbers = [1u32; 3];
        let mut count = 0;
        while matches!(self.token.kind, Kind::Number | Kind::Text) {
            let position = self.here();
            if self.token.kind == Kind::Text {
                self.advance()?;
            } else {
                let value = self.integer()?.bits;
                let value = u32::try_from(value)
                    .map_err(|_| position.error(format!("{value} is out of range")))?;
                if let Some(place) = numbers.get_mut(count) {
                    *place = value;
                }
                count += 1;
            }
            if !self.accept(",")? {
                break;
            }
        }
        let one = (count > 0).then_some(numbers[0]);
        let three = (1..=3).contains(&count).then_some(numbers);
        let missing = || {
            directive
                .position
                .error(format!("{} needs its numbers", directive.shown()))
        };
        match directive.text {
            ".maxntid" => tuning.max_ntid = Some(three.ok_or_else(missing)?),
            ".reqntid" => tuning.req_ntid = Some(three.ok_or_else(missing)?),
            ".reqnctapercluster" => tuning.req_nctapercluster = Some(three.ok_or_else(missing)?),
            ".explicitcluster" => tuning.explicit_cluster = true,
            ".maxclusterrank" => tuning.max_cluster_rank = Some(one.ok_or_else(missing)?),
            ".minnctapersm" => tuning.min_nctapersm = Some(one.ok_or_else(missing)?),
            ".maxnreg" => tuning.max_nreg = Some(one.ok_or_else(missing)?),
            // `.pragma "…";` is the one that ends with a semicolon.
            ".pragma" => self.expect(";", "after .pragma")?,
            _ => self.skip_parenthesised()?,
        }
        Ok(())
    }
}
