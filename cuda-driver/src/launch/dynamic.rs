//! Argument lists that are built at run time.

use std::ffi::c_void;
use std::fmt;
use std::marker::PhantomData;

use super::argument::KernelArgument;
use super::argument::sealed::{MemoryUse, Sealed};
use super::{FunctionCore, launch_tracked};
use crate::error::Result;
use crate::function::Function;
use crate::order::{Access, Queue};
use crate::stream::{AnyStream, StreamCore};
use crate::{LaunchConfig, launch};

/// One argument of a list that is built at run time.
pub struct DynamicArgument<'a> {
    pointer: *mut c_void,
    size: usize,
    memory: Option<Access<'a, StreamCore>>,
    value: PhantomData<&'a ()>,
}

impl<'a> DynamicArgument<'a> {
    /// Any argument of a launch, borrowed: `&(&memory)`, `&(&mut memory)`, `&number`.
    pub fn new<A: KernelArgument>(argument: &'a A) -> Self {
        Self {
            pointer: argument.pointer(),
            size: <A as Sealed>::SIZE,
            memory: argument.memory_use().map(|MemoryUse(access)| access),
            value: PhantomData,
        }
    }
}

impl Function {
    /// Enqueues the kernel with a list of arguments of any length; otherwise as [`Function::launch`].
    ///
    /// # Errors
    /// As [`Function::launch`].
    ///
    /// # Safety
    /// As [`Function::launch`].
    #[doc(alias = "cuLaunchKernel")]
    pub unsafe fn launch_dynamic<S: AnyStream>(
        &self,
        stream: &S,
        config: LaunchConfig,
        arguments: &[DynamicArgument<'_>],
    ) -> Result<()> {
        let stream = stream.stream_core();
        let function: &FunctionCore = self.core();
        let sizes: Vec<usize> = arguments.iter().map(|argument| argument.size).collect();
        let fits = function
            .parameter_sizes()
            .is_none_or(|wanted| wanted == sizes);
        if !function.is_of(stream.context()) || !fits {
            return Err(function.refuse(stream, &sizes));
        }
        let mut pointers: Vec<_> = arguments.iter().map(|argument| argument.pointer).collect();
        let mut uses: Vec<_> = arguments.iter().map(|argument| argument.memory).collect();
        let home = |access: &Access<'_, StreamCore>| access.order.is_at_home(stream.number());
        if stream.is_plain() && uses.iter().flatten().all(home) {
            // SAFETY: the caller vouches for the kernel; what the arguments borrow is marked below.
            let result = unsafe { launch::enqueue(function, stream, &config, &mut pointers) };
            for access in uses.iter().flatten() {
                access.order.mark_home(access.write);
            }
            return match result {
                Ok(()) => Ok(()),
                Err(error) => {
                    launch::after_failure(function, stream, &config, &mut pointers, error)
                }
            };
        }
        launch_tracked(function, stream, &config, &mut pointers, &mut uses)
    }
}

impl fmt::Debug for DynamicArgument<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynamicArgument")
            .field("size", &self.size)
            .field("is_memory", &self.memory.is_some())
            .finish_non_exhaustive()
    }
}
