//! The functions of declared kernels.

use std::fmt;
use std::marker::PhantomData;

use crate::error::Result;
use crate::function::Function;
use crate::launch::{self, AnyLaunchConfig, KernelArguments, Known};
use crate::stream::AnyStream;

/// The function of one kernel of the declaration `Set`: the one of that number.
///
/// The fields of a declaration are open to the code beside it, so that code must not be able to make one: each kernel's has a type
/// of its own, which no other kernel's function has.
///
/// # Invariants
/// The function does what the kernel's declaration says, and its parameters, where they are known, are as many and as large as declared.
pub struct Declared<Set, const NUMBER: usize> {
    function: Function,
    set: PhantomData<fn() -> Set>,
}

impl<Set, const NUMBER: usize> Declared<Set, NUMBER> {
    /// # Safety
    /// The function does what the declaration of the kernel of that number says, and was compared with it.
    #[must_use]
    pub unsafe fn new(function: Function) -> Self {
        Self {
            function,
            set: PhantomData,
        }
    }

    /// Enqueues the kernel as [`Function::launch`] does; `NO_GLOBALS` says that the declaration lists no globals. A name of its own, by which the software driver knows that the caller is the method of
    /// a declaration, and looks further out for the program's line.
    ///
    /// # Errors
    /// As [`Function::launch`].
    ///
    /// # Safety
    /// As [`Function::launch`]; the arguments are of the declared types, and `NO_GLOBALS` is as the declaration says.
    #[inline(always)]
    pub unsafe fn launch_declared<
        const NO_GLOBALS: bool,
        S: AnyStream,
        C: AnyLaunchConfig,
        A: KernelArguments,
    >(
        &self,
        stream: &S,
        config: C,
        arguments: A,
    ) -> Result<()> {
        // The parameters were compared when the kernel was loaded.
        let known = Known {
            fits: true,
            touches_no_globals: NO_GLOBALS,
        };
        // SAFETY: the caller's promise.
        unsafe { launch::launch(&self.function, stream, &config, known, arguments) }
    }

    /// The function.
    #[inline(always)]
    #[must_use]
    pub fn function(&self) -> &Function {
        &self.function
    }
}

impl<Set, const NUMBER: usize> Clone for Declared<Set, NUMBER> {
    fn clone(&self) -> Self {
        Self {
            function: self.function.clone(),
            set: PhantomData,
        }
    }
}

impl<Set, const NUMBER: usize> fmt::Debug for Declared<Set, NUMBER> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.function.fmt(f)
    }
}
