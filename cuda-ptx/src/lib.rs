//! PTX as data: the text of a module becomes statements with their places, kernels with their parameters, and variables with their
//! initial values.
//!
//! ```
//! let module = cuda_ptx::Module::parse(
//!     ".version 7.0 .target sm_52 .address_size 64
//!      .visible .entry scale(.param .u64 data, .param .f32 factor) { ret; }",
//! )?;
//! let scale = module.entry("scale").ok_or("no such kernel")?;
//! assert_eq!(scale.params[1].offset, 8);
//! assert_eq!(scale.params[1].ty, cuda_ptx::ScalarType::F32);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The syntax is generic: any instruction of the form `opcode.modifiers operands;` is accepted and kept as it is written, so the parser
//! needs no change for new instructions. What an instruction means is the concern of those who execute it.
//!
//! [`Module::check`] says what an assembler would refuse: unknown names, operands that do not fit, instructions that PTX does not have or
//! that are newer than the module. Its knowledge is a table, `check/instructions.txt`.
//!
//! Nothing of the text is lost: every part of the tree hands out its piece of the text, [`Module::span_of`] says where that stands, and
//! between the pieces there are only blanks, comments and separators.
//!
//! [`Signature`] joins what PTX says of a kernel's parameters with what its mangled name says.
//!
//! [`Accesses`] finds what a kernel does through its parameters: what it reads and writes, as which numbers, and whether it waits first.
//!
//! The text may come from anywhere. Time and memory are linear in its length, nothing recurses on its depth, and whatever is wrong with
//! it becomes a [`ParseError`] with line and column.
#![forbid(unsafe_code)]

mod access;
mod check;
mod error;
mod function;
mod lexer;
mod module;
mod operand;
mod parser;
mod position;
mod references;
mod scalar;
mod signature;
mod source_line;
mod statement;
mod variable;

pub use access::{Access, AccessKind, Accesses, KernelAccesses};
pub use check::Invalid;
pub use error::ParseError;
pub use function::{Function, FunctionKind, Param, Pointer, Tuning};
pub use module::Module;
pub use operand::Operand;
pub use position::{Position, Span};
pub use scalar::ScalarType;
pub use signature::{CScalar, CType, KernelName, Parameter, Signature};
pub use source_line::{Inlined, SourceLine, SourceMap};
pub use statement::{Directive, Guard, Instruction, Prototype, Statement};
pub use variable::{Initial, Linkage, Space, Variable};

// The program of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
