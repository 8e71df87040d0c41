//! Programs: a source, the headers that go with it, and the instances of templates that are wanted of it.

use std::borrow::Cow;
use std::ffi::CString;
use std::path::Path;

use crate::error::{Doing, Error, ErrorKind, Result};

/// A CUDA C++ source to compile, with headers that exist only in memory and the instances that are wanted of its templates.
///
/// Every `&str`, `String` and `&Program` converts into one, so a plain text can be given wherever a program is asked for.
///
/// ```
/// use cuda_nvrtc::Program;
///
/// let program = Program::new("#include \"shape.h\"\ntemplate<class T> __global__ void scale(T *x, T by) { x[threadIdx.x] *= by; }")
///     .name("scale.cu")
///     .header("shape.h", "constexpr int WIDTH = 8;")
///     .instance("scale<float>")
///     .instance("scale<double>");
/// assert_eq!(program.instances().collect::<Vec<_>>(), ["scale<float>", "scale<double>"]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    name: String,
    source: String,
    headers: Vec<(String, String)>,
    instances: Vec<String>,
}

/// The name of a program that was given none.
const UNNAMED: &str = "program.cu";

impl Program {
    /// A program from its source.
    #[must_use]
    pub fn new(source: impl Into<String>) -> Self {
        Self {
            name: UNNAMED.into(),
            source: source.into(),
            headers: Vec::new(),
            instances: Vec::new(),
        }
    }

    /// A program from a file, named like it, so that `#include "…"` finds what lies beside it.
    ///
    /// # Errors
    /// [`ErrorKind::File`] if the file cannot be read, or is not UTF-8.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let source = std::fs::read_to_string(path).map_err(|error| {
            Error::new(ErrorKind::File, error.to_string())
                .doing(format!("read `{}`", path.display()))
                .caused_by(error)
        })?;
        Ok(Self::new(source).name(path.to_string_lossy()))
    }

    /// The name that messages call the source by; a path, if `#include "…"` is to find what lies beside that.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Adds a header that `#include` finds under `name` before it looks into any directory.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.headers.push((name.into(), text.into()));
        self
    }

    /// Asks for an instance of a template, or for the address of anything else with a mangled name, by the expression that
    /// C++ names it by: `scale<float>`, `my::filter<int, 4>`, `&my::table`.
    ///
    /// After compiling, [`Compiled::name`](crate::Compiled::name) gives its name in the image.
    #[must_use]
    #[doc(alias = "nvrtcAddNameExpression")]
    #[doc(alias = "name_expressions")]
    pub fn instance(mut self, expression: impl Into<String>) -> Self {
        let expression = expression.into();
        if !self.instances.contains(&expression) {
            self.instances.push(expression);
        }
        self
    }

    /// The source.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The name that messages call the source by.
    #[must_use]
    pub fn file_name(&self) -> &str {
        &self.name
    }

    /// The headers in memory, each with its text.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        self.headers
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// The expressions of the instances that are asked for.
    pub fn instances(&self) -> impl Iterator<Item = &str> {
        self.instances.iter().map(String::as_str)
    }

    /// The text that a diagnostic means by a file's name.
    pub(crate) fn text_of(&self, file: &str) -> Option<&str> {
        if file == self.name {
            return Some(&self.source);
        }
        let header = self.headers.iter().find(|(name, _)| name == file);
        header.map(|(_, text)| text.as_str())
    }

    /// The bytes of all texts.
    pub(crate) fn len(&self) -> usize {
        let headers = self.headers.iter().map(|(_, text)| text.len());
        headers.fold(self.source.len(), usize::saturating_add)
    }

    /// What the compiler is called with.
    pub(crate) fn encode(&self) -> Result<Encoded> {
        let headers = |part: fn(&(String, String)) -> &String, what: &'static str| {
            let texts = self.headers.iter();
            texts
                .map(|header| c_text(part(header), || format!("{what} `{}`", header.0).into()))
                .collect::<Result<Vec<_>>>()
        };
        if self.name.is_empty() || self.headers.iter().any(|(name, _)| name.is_empty()) {
            return Err(Error::invalid("the name of a source or header is empty"));
        }
        let mut names: Vec<&str> = self.headers.iter().map(|(name, _)| &**name).collect();
        names.sort_unstable();
        if let Some(&[twice, _]) = names
            .windows(2)
            .find(|pair| pair.first() == pair.last())
            .and_then(|pair| pair.first_chunk::<2>())
        {
            return Err(Error::invalid(format!(
                "there are two headers of the name `{twice}`"
            )));
        }
        if let Some(instance) = self.instances.iter().find(|it| it.contains(['\n', '\r'])) {
            let instance = instance.escape_default();
            return Err(Error::invalid(format!(
                "the name expression `{instance}` is of several lines"
            )));
        }
        Ok(Encoded {
            source: c_text(&self.source, || "the source".into())?,
            name: c_text(&self.name, || "the source's name".into())?,
            header_texts: headers(|it| &it.1, "the header")?,
            header_names: headers(|it| &it.0, "the name of the header")?,
            instances: self
                .instances
                .iter()
                .map(|it| c_text(it, || format!("the name expression `{it}`").into()))
                .collect::<Result<_>>()?,
        })
        .doing(|| format!("compile `{}`", self.name))
    }
}

/// A program as C takes it.
pub(crate) struct Encoded {
    pub(crate) source: CString,
    pub(crate) name: CString,
    pub(crate) header_texts: Vec<CString>,
    pub(crate) header_names: Vec<CString>,
    pub(crate) instances: Vec<CString>,
}

/// A text for C, which ends at the first NUL, so that none may be inside.
pub(crate) fn c_text<'a>(text: &str, what: impl FnOnce() -> Cow<'a, str>) -> Result<CString> {
    CString::new(text).map_err(|error| {
        let (at, what) = (error.nul_position(), what());
        let what = what.replace('\0', "\\0");
        Error::invalid(format!(
            "{what} has a NUL at byte {at}, where C would end it"
        ))
    })
}

impl From<&str> for Program {
    fn from(source: &str) -> Self {
        Self::new(source)
    }
}

impl From<String> for Program {
    fn from(source: String) -> Self {
        Self::new(source)
    }
}

impl From<&String> for Program {
    fn from(source: &String) -> Self {
        Self::new(source.as_str())
    }
}

impl From<&Self> for Program {
    fn from(program: &Self) -> Self {
        program.clone()
    }
}
