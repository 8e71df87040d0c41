//! Lines of the source that PTX was compiled from: `.loc`, `.file` and the names of inlined functions.

use std::collections::HashMap;

use crate::{Directive, Module};

/// A line of a source file, by the number of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceLine<'a> {
    /// Number of the file, as `.file` gives it.
    pub file: u32,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 where it is not known.
    pub column: u32,
    /// Where the function that the line belongs to was put into another one.
    pub inlined: Option<Inlined<'a>>,
}

/// The place at which a function was inlined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inlined<'a> {
    /// The label of the function's name in the section `.debug_str`, and bytes behind it.
    pub function: (&'a str, u32),
    /// Number of the file of the place.
    pub file: u32,
    /// Its line.
    pub line: u32,
    /// Its column.
    pub column: u32,
}

impl<'a> Directive<'a> {
    /// What a `.loc` says: the instructions behind it, up to the next one, come from this line. Nothing for other directives.
    ///
    /// ```
    /// let text = ".version 7.2 .target sm_52 .address_size 64
    /// .entry k() {
    /// .loc 1 7 5
    /// ret; }
    /// .file 1 \"kernel.cu\"";
    /// let module = cuda_ptx::Module::parse(text)?;
    /// let body = module.entry("k").and_then(|k| k.body.as_ref()).ok_or("no body")?;
    /// let cuda_ptx::Statement::Directive(loc) = &body[0] else { return Err("no .loc".into()) };
    /// let line = loc.source_line().ok_or("not understood")?;
    /// assert_eq!((line.file, line.line, line.column), (1, 7, 5));
    /// assert_eq!(cuda_ptx::SourceMap::new(&module).file(line.file), Some("kernel.cu"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn source_line(&self) -> Option<SourceLine<'a>> {
        let rest = self.text.strip_prefix(".loc")?;
        let mut parts = rest.split(',').map(str::trim);
        let (file, line, column) = numbers(parts.next()?)?;
        let (mut function, mut place) = (None, None);
        for part in parts {
            if let Some(name) = part.strip_prefix("function_name") {
                function = label(name);
            } else if let Some(numbered) = part.strip_prefix("inlined_at") {
                place = numbers(numbered);
            }
        }
        let inlined = function
            .zip(place)
            .map(|(function, (file, line, column))| Inlined {
                function,
                file,
                line,
                column,
            });
        Some(SourceLine {
            file,
            line,
            column,
            inlined,
        })
    }
}

/// Three numbers; the third, the column, may be missing.
fn numbers(text: &str) -> Option<(u32, u32, u32)> {
    // A comment may follow.
    let text = text.split("//").next().unwrap_or(text);
    let mut words = text.split_whitespace();
    let (file, line) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let column = words.next().map_or(Some(0), |word| word.parse().ok())?;
    Some((file, line, column))
}

/// `label` or `label+bytes`
fn label(text: &str) -> Option<(&str, u32)> {
    match text.split_once('+') {
        Some((label, bytes)) => Some((label.trim(), bytes.trim().parse().ok()?)),
        None => Some((text.trim(), 0)),
    }
}

/// The files and functions that the source lines of a module name.
#[derive(Debug, Clone, Default)]
pub struct SourceMap<'a> {
    files: HashMap<u32, &'a str>,
    /// The bytes behind each label of `.debug_str`.
    strings: HashMap<&'a str, Vec<u8>>,
}

impl<'a> SourceMap<'a> {
    /// Reads the `.file` directives and the section `.debug_str` of a module.
    #[must_use]
    pub fn new(module: &Module<'a>) -> Self {
        let mut map = Self::default();
        for directive in module.directives() {
            match directive.name {
                ".file" => {
                    let text = directive.text.strip_prefix(".file").unwrap_or("");
                    let number = text
                        .split_whitespace()
                        .next()
                        .and_then(|word| word.parse().ok());
                    let name = text.split('"').nth(1);
                    if let (Some(number), Some(name)) = (number, name) {
                        map.files.insert(number, name);
                    }
                }
                ".section" => map.section(directive.text),
                _ => {}
            }
        }
        map
    }

    fn section(&mut self, text: &'a str) {
        let Some((name, body)) = text.split_once('{') else {
            return;
        };
        if name.strip_prefix(".section").map(str::trim) != Some(".debug_str") {
            return;
        }
        let mut current: Option<&'a str> = None;
        for line in body.lines() {
            let mut line = line.trim();
            if let Some((label, rest)) = line.split_once(':') {
                current = Some(label.trim());
                line = rest.trim();
            }
            let bytes = line.strip_prefix(".b8").unwrap_or("");
            if let Some(label) = current {
                let string = self.strings.entry(label).or_default();
                let values = bytes.split([',', ' ', '\t']);
                string.extend(values.filter_map(|value| value.parse::<u8>().ok()));
            }
        }
    }

    /// The name of a file.
    #[must_use]
    pub fn file(&self, number: u32) -> Option<&'a str> {
        self.files.get(&number).copied()
    }

    /// The name of an inlined function, as compilers mangle it.
    #[must_use]
    pub fn function(&self, inlined: &Inlined<'_>) -> Option<&str> {
        let (label, bytes) = inlined.function;
        let string = self.strings.get(label)?.get(bytes as usize..)?;
        let name = string.split(|&byte| byte == 0).next()?;
        std::str::from_utf8(name)
            .ok()
            .filter(|name| !name.is_empty())
    }
}
