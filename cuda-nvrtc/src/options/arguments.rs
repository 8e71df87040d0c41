//! Options as the compiler's arguments.

use super::{CompileOptions, Standard};
use crate::error::{Error, ErrorKind, Result};

impl CompileOptions {
    /// Checks what can be checked without the compiler: names of macros, NULs, paths that are not UTF-8.
    ///
    /// Compiling does so too.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`], with the option.
    pub fn check(&self) -> Result<()> {
        self.arguments().map(drop)
    }

    /// The arguments that follow from the options alone: all but the architecture and CUDA's own headers.
    pub(crate) fn arguments(&self) -> Result<Vec<String>> {
        let mut arguments = Vec::new();
        let mut switch = |wanted: bool, argument: &str| {
            if wanted {
                arguments.push(argument.to_owned());
            }
        };
        switch(self.fast_math, "--use_fast_math");
        switch(self.extra_vectorization, "--extra-device-vectorization");
        switch(self.debug_info, "--device-debug");
        switch(self.line_info, "--generate-line-info");
        switch(self.relocatable, "--relocatable-device-code=true");
        switch(self.default_device, "--device-as-default-execution-space");
        switch(self.restrict, "--restrict");
        switch(self.int128, "--device-int128");
        switch(self.warnings_off, "--disable-warnings");
        switch(self.warnings_are_errors, "--warning-as-error=all-warnings");
        for (option, value) in [
            ("ftz", self.flush_denormals),
            ("prec-div", self.precise_division),
            ("prec-sqrt", self.precise_square_root),
            ("fmad", self.fuse_multiply_add),
        ] {
            arguments.extend(value.map(|value| format!("--{option}={value}")));
        }
        arguments.extend(self.max_registers.map(|it| format!("--maxrregcount={it}")));
        arguments.extend(self.standard.map(|it| format!("--std={}", dialect(it))));
        for (name, value) in &self.macros {
            arguments.push(definition(name, value.as_deref())?);
        }
        for directory in &self.include_paths {
            let Some(directory) = directory.to_str() else {
                return Err(Error::invalid(format!(
                    "the include path `{}` is not UTF-8",
                    directory.display()
                )));
            };
            if directory.is_empty() {
                return Err(Error::invalid("an include path is empty")
                    .remedied_by("write `.` for the working directory"));
            }
            refuse_blank_end("the include path", directory)?;
            arguments.push(format!("--include-path={directory}"));
        }
        for header in &self.pre_includes {
            refuse_blank_end("the header", header)?;
        }
        arguments.extend(
            self.pre_includes
                .iter()
                .map(|it| format!("--pre-include={it}")),
        );
        arguments.extend(self.raw.iter().cloned());
        match arguments.iter().find(|it| it.contains('\0')) {
            Some(argument) => Err(Error::invalid(format!(
                "the option `{}` has a NUL inside",
                argument.replace('\0', "\\0")
            ))),
            None => Ok(arguments),
        }
    }
}

/// The compiler drops blanks at the end of an argument, and so would look for another file.
fn refuse_blank_end(what: &str, path: &str) -> Result<()> {
    if path.ends_with(|it: char| it.is_ascii_whitespace() || it == '\x0b') {
        let path = path.escape_default();
        return Err(Error::invalid(format!(
            "{what} `{path}` ends with a blank, which the compiler would drop"
        )));
    }
    Ok(())
}

/// The argument that defines or cancels a macro.
fn definition(name: &str, value: Option<&str>) -> Result<String> {
    let (symbol, parameters) = name.split_at(name.find('(').unwrap_or(name.len()));
    let mut letters = symbol.chars();
    let begins = letters
        .next()
        .is_some_and(|it| it.is_alphabetic() || it == '_');
    if !begins || !letters.all(|it| it.is_alphanumeric() || it == '_') {
        return Err(Error::new(
            ErrorKind::InvalidArgument,
            format!("`{}` is not the name of a macro", name.escape_default()),
        ));
    }
    // The compiler would drop the rest after the end of a line without a word.
    if let Some(text) = [parameters, value.unwrap_or("")]
        .into_iter()
        .find(|it| it.contains(['\n', '\r']))
    {
        return Err(Error::invalid(format!(
            "the definition of the macro `{symbol}` is of several lines: `{}`",
            text.escape_default()
        )));
    }
    Ok(match value {
        Some(value) => format!("--define-macro={name}={value}"),
        None => format!("--undefine-macro={name}"),
    })
}

fn dialect(standard: Standard) -> &'static str {
    match standard {
        Standard::Cpp11 => "c++11",
        Standard::Cpp14 => "c++14",
        Standard::Cpp17 => "c++17",
        Standard::Cpp20 => "c++20",
        Standard::Cpp23 => "c++23",
    }
}
