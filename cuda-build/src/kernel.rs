//! What the user adds to a declaration that is made from a kernel.

use std::panic::Location;

/// What the build script knows of a kernel beyond what the compiler tells: lengths, defaults of a launch, and whether calls are safe.
///
/// Parameters are named as in the source, or `p0`, `p1` … where it names none. Lengths and values are expressions as in `kernels!`:
/// integers, `len(p)`, integer parameters, `+ - * / %`, `min`, `max`, `div_ceil`.
///
/// ```
/// use cuda_build::Kernel;
///
/// let vector_add = Kernel::new("vector_add")
///     .len("b", "len(a)")
///     .len("sum", "len(a)")
///     .value("n", "len(a)")
///     .vouch("for_len(sum), block <= 1024");
/// ```
/// declares
/// ```text
/// #[launch(for_len(sum), block <= 1024)]
/// pub safe fn vector_add(a: &[f32], b: &[f32; len(a)], sum: &mut [f32; len(a)], n: u32 = len(a));
/// ```
#[derive(Debug, Clone)]
pub struct Kernel {
    pub(crate) name: String,
    pub(crate) method: Option<String>,
    pub(crate) docs: Vec<String>,
    pub(crate) launch: Option<Launch>,
    pub(crate) is_vouched_for: bool,
    pub(crate) is_skipped: bool,
    pub(crate) parameters: Vec<Said>,
}

/// How a kernel is launched, and where the build script says so.
#[derive(Debug, Clone)]
pub(crate) struct Launch {
    pub(crate) text: String,
    pub(crate) place: &'static Location<'static>,
}

/// What is said of which parameter, and where the build script says so.
#[derive(Debug, Clone)]
pub(crate) struct Said {
    pub(crate) parameter: String,
    pub(crate) change: Change,
    pub(crate) place: &'static Location<'static>,
}

/// Something that is said of a parameter.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    Name(String),
    Type(String),
    Len(String),
    Value(String),
    Nullable,
}

impl Kernel {
    /// The kernel with this name: as in the source, `scale`; with namespaces and template arguments where that is not enough,
    /// `filters::scale<float, 4>`; or as in the image. A template's name without arguments means all its instances of which nothing
    /// else is said.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            method: None,
            docs: Vec::new(),
            launch: None,
            is_vouched_for: false,
            is_skipped: false,
            parameters: Vec::new(),
        }
    }

    /// The name of its method in Rust. Its own name in the style of Rust unless this says otherwise: `scale<float, 4>` is `scale_float_4`.
    #[must_use]
    pub fn method(mut self, name: impl Into<String>) -> Self {
        self.method = Some(name.into());
        self
    }

    /// Documentation of the method: for a kernel that is not vouched for, what the caller must see to.
    #[must_use]
    pub fn doc(mut self, text: impl Into<String>) -> Self {
        self.docs.push(text.into());
        self
    }

    /// How it is launched when the call does not say so, `#[launch(…)]`: `for_len(sum)`, `grid = 64, block = 256`.
    #[must_use]
    #[track_caller]
    pub fn launch(mut self, launch: impl Into<String>) -> Self {
        self.launch = Some(Launch {
            text: launch.into(),
            place: Location::caller(),
        });
        self
    }

    /// Makes it a `safe fn`, launched like this: *you promise* that no call which this declaration lets through does anything undefined.
    /// It reads and writes only elements that exist, whatever they contain; writes nothing behind a `const` pointer, and no global
    /// that is not listed; keeps no pointer after its end; ends. The types of what its pointers point to must be known in Rust, because
    /// lengths count elements.
    #[must_use]
    #[track_caller]
    pub fn vouch(mut self, launch: impl Into<String>) -> Self {
        self.is_vouched_for = true;
        self.launch(launch)
    }

    /// Leaves it out of the declarations.
    #[must_use]
    pub fn skip(mut self) -> Self {
        self.is_skipped = true;
        self
    }

    /// The number of elements behind a pointer: exactly `len(a)`, or at least that many, `len(a)..`.
    #[must_use]
    #[track_caller]
    pub fn len(self, parameter: impl Into<String>, expression: impl Into<String>) -> Self {
        self.change(parameter, Change::Len(expression.into()))
    }

    /// The value of a number, which the call then does not state.
    #[must_use]
    #[track_caller]
    pub fn value(self, parameter: impl Into<String>, expression: impl Into<String>) -> Self {
        self.change(parameter, Change::Value(expression.into()))
    }

    /// A pointer that may be null: `Option<&[T]>`.
    #[must_use]
    #[track_caller]
    pub fn nullable(self, parameter: impl Into<String>) -> Self {
        self.change(parameter, Change::Nullable)
    }

    /// The type in Rust: of the value, or of the elements behind a pointer.
    #[must_use]
    #[track_caller]
    pub fn ty(self, parameter: impl Into<String>, ty: impl Into<String>) -> Self {
        self.change(parameter, Change::Type(ty.into()))
    }

    /// Another name for a parameter, in the declaration and in errors.
    #[must_use]
    #[track_caller]
    pub fn rename(self, parameter: impl Into<String>, name: impl Into<String>) -> Self {
        self.change(parameter, Change::Name(name.into()))
    }

    #[track_caller]
    fn change(mut self, parameter: impl Into<String>, change: Change) -> Self {
        self.parameters.push(Said {
            parameter: parameter.into(),
            change,
            place: Location::caller(),
        });
        self
    }
}
