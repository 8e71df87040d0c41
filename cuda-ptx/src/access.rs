//! What kernels do through their parameters: which memory they read and write, as what, and whether they wait before that.
//!
//! Each register is followed from the parameters on: as a sum of parameters and numbers, joined over all that may be in it, through
//! calls of functions of the module. An access *certainly* goes through a parameter if its address is that parameter and an offset;
//! where other parameters, or values from memory, may be the address, it *may* go through them.

mod decode;
mod equal;
mod flow;
mod form;
mod function;
mod hash;
mod kernel;
mod memory;
mod names;
mod numbers;
mod ops;
mod passing;
mod solve;
mod summary;

use std::collections::HashMap;

pub use kernel::KernelAccesses;

use crate::{Function, Module, ParseError, Position, ScalarType, SourceLine, SourceMap, Statement};
use form::Form;
use function::{analyse, callees};
use names::Globals;
use summary::{Summaries, Summary, condensed, joined};

/// What is done with memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// It is read.
    Read,
    /// It is written.
    Write,
    /// It is read and written in one step: `atom`, `red`.
    Update,
    /// An instruction of which it is not known what it does.
    Unknown,
    /// A call of a function of which nothing is known.
    Call,
}

/// An access to memory that may be global.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Access<'a> {
    /// What is done.
    pub kind: AccessKind,
    base: Form,
    is_generic: bool,
    /// The type of an element, as the instruction has it: compilers also take bits for numbers.
    pub ty: Option<ScalarType>,
    /// Elements that are accessed together: 1, 2, 4 or 8.
    pub lanes: u8,
    /// What the kernel computes with, where that is a floating-point number and clear.
    pub number: Option<ScalarType>,
    /// Whether it is `ld.global.nc`, which the device may execute before a wait that is in front of it.
    pub is_noncoherent: bool,
    /// Whether a thread may come here before it has executed `griddepcontrol.wait`.
    pub is_before_wait: bool,
    /// The instruction's place.
    pub position: Position,
    /// The function that it stands in.
    pub function: &'a str,
    /// Its line in the source, where PTX has it.
    pub line: Option<SourceLine<'a>>,
}

impl Access<'_> {
    /// Where it stands, as people are told: `PTX line 41 (scale.cu:7)`. Of what was inlined it is the place where that was done.
    #[must_use]
    pub fn place(&self, sources: &SourceMap<'_>) -> String {
        let mut place = format!("PTX line {}", self.position.line);
        let source = self.line.map(|line| match line.inlined {
            Some(inlined) => (inlined.file, inlined.line),
            None => (line.file, line.line),
        });
        // Line 0 is code that the compiler made.
        let source = source.filter(|(_, line)| *line > 0);
        if let Some((path, line)) =
            source.and_then(|(file, line)| Some((sources.file(file)?, line)))
        {
            let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
            place += &format!(" ({name}:{line})");
        }
        place
    }
}

/// Finds what the kernels of a module do through their parameters.
///
/// ```
/// let text = ".version 7.0 .target sm_52 .address_size 64
/// .visible .entry scale(.param .u64 data, .param .u32 n) {
///   .reg .f32 %f<3>; .reg .b32 %r<2>; .reg .b64 %rd<5>;
///   ld.param.u64 %rd1, [data];
///   cvta.to.global.u64 %rd2, %rd1;
///   mov.u32 %r1, %tid.x;
///   mul.wide.u32 %rd3, %r1, 4;
///   add.s64 %rd4, %rd2, %rd3;
///   ld.global.f32 %f1, [%rd4];
///   add.f32 %f2, %f1, %f1;
///   st.global.f32 [%rd4], %f2;
///   ret;
/// }";
/// let module = cuda_ptx::Module::parse_signatures(text)?;
/// let scale = module.entry("scale").ok_or("no such kernel")?;
/// let found = cuda_ptx::Accesses::new(&module).of(scale)?;
/// let store = found.write_through(0, |_| true).ok_or("none")?;
/// assert_eq!(store.position.line, 11);
/// let number = found.number_behind(0, |_| true).ok_or("none")?;
/// assert_eq!(number.number, Some(cuda_ptx::ScalarType::F32));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Accesses<'m, 'a> {
    module: &'m Module<'a>,
    globals: Globals<'m, 'a>,
    summaries: Summaries<'a>,
}

impl<'m, 'a> Accesses<'m, 'a> {
    /// Of a module, whose bodies need not have been parsed: those that matter are, when a kernel is asked for.
    #[must_use]
    pub fn new(module: &'m Module<'a>) -> Self {
        Self {
            globals: Globals::new(module),
            summaries: HashMap::new(),
            module,
        }
    }

    /// What a kernel does, with the functions that it calls. Takes time in proportion to the text of those that no kernel has called
    /// before.
    ///
    /// # Errors
    /// A body cannot be parsed.
    pub fn of(&mut self, kernel: &Function<'a>) -> Result<KernelAccesses<'a>, ParseError> {
        let parsed;
        let body = match &kernel.body {
            Some(body) => body,
            None => {
                parsed = self.module.body_of(kernel)?;
                &parsed
            }
        };
        self.summarise(callees(body))?;
        let analysed = analyse(&self.globals, kernel, body, &self.summaries);
        Ok(KernelAccesses::new(kernel, analysed))
    }

    /// Looks at functions, each after those that it calls. A call that leads back to where it came from is one of a function that nothing
    /// is known of.
    fn summarise(&mut self, roots: impl Iterator<Item = &'a str>) -> Result<(), ParseError> {
        let mut started = HashMap::new();
        let mut waiting: Vec<Step<'m, 'a>> = Vec::new();
        let functions = &self.globals.functions;
        let step = |name: &str| functions.get(name).map(|&it| Step::Start(it));
        waiting.extend(roots.filter_map(step));
        while let Some(next) = waiting.pop() {
            match next {
                Step::Start(function) => {
                    let is_known = self.summaries.contains_key(function.name);
                    if is_known || started.insert(function.name, ()).is_some() {
                        continue;
                    }
                    if !function.text.ends_with('}') {
                        // A declaration: its code is elsewhere.
                        continue;
                    }
                    let body = match &function.body {
                        Some(body) => body.clone(),
                        None => self.module.body_of(function)?,
                    };
                    let called: Vec<_> = callees(&body).filter_map(step).collect();
                    waiting.push(Step::End(function, body));
                    waiting.extend(called);
                }
                Step::End(function, body) => {
                    let found = analyse(&self.globals, function, &body, &self.summaries);
                    let summary = Summary {
                        accesses: condensed(&found.accesses),
                        slots: found.slots,
                        returned: joined(&found.returned),
                        escaped: found.escaped,
                        waits: found.waits,
                    };
                    self.summaries.insert(function.name, summary);
                }
            }
        }
        Ok(())
    }
}

/// What is to be done with a function.
enum Step<'m, 'a> {
    Start(&'m Function<'a>),
    End(&'m Function<'a>, Vec<Statement<'a>>),
}

fn is_float(ty: ScalarType) -> bool {
    use ScalarType as S;
    matches!(
        ty,
        S::F16 | S::F16x2 | S::BF16 | S::BF16x2 | S::F32 | S::F64
    )
}
