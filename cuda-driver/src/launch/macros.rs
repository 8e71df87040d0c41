//! The launch in CUDA's own notation.

/// Launches a kernel in the notation of CUDA C++: `launch!(stream, kernel<<<grid, block, shared>>>(arguments…))`.
///
/// It is [`Function::launch`](crate::Function::launch) in other words, and as `unsafe`. Grid and block are anything that
/// turns into a [`Dim3`](crate::Dim3); the bytes of dynamic shared memory can be left out. Instead of all three a
/// configuration can be given, with attributes or without: `kernel<<<config>>>(…)`.
///
/// ```
/// # fn main() -> cuda_driver::Result<()> {
/// # #[cfg(feature = "simulator")] {
/// # let context = cuda_driver::Driver::simulated()?.device(0)?.primary_context()?;
/// # let module = context.load_ptx(
/// #     ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry answer(.param .u64 to) {
/// #          .reg .b64 %rd<3>; ld.param.u64 %rd1, [to]; cvta.to.global.u64 %rd2, %rd1;
/// #          st.global.u32 [%rd2], 42; ret; }",
/// # )?;
/// use cuda_driver::launch;
///
/// let answer = module.function("answer")?;
/// let stream = context.create_stream()?;
/// let mut to = stream.zeroed::<u32>(1)?;
/// // SAFETY: the kernel writes one `u32` to where its only parameter points.
/// unsafe { launch!(stream, answer<<<1, 1>>>(&mut to)) }?;
/// assert_eq!(to.to_vec()?, [42]);
/// # }
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! launch {
    (@kernel $stream:tt [$($kernel:tt)+] <<< $($rest:tt)*) => {
        $crate::launch!(@config $stream [$($kernel)+] [] $($rest)*)
    };
    (@kernel $stream:tt [$($kernel:tt)*] $next:tt $($rest:tt)*) => {
        $crate::launch!(@kernel $stream [$($kernel)* $next] $($rest)*)
    };
    (@config $stream:tt $kernel:tt [$($config:tt)*] >>> ($($argument:expr),* $(,)?)) => {
        $crate::launch!(@launch $stream $kernel [$($config)*] ($($argument,)*))
    };
    (@config $stream:tt $kernel:tt [$($config:tt)*] $next:tt $($rest:tt)*) => {
        $crate::launch!(@config $stream $kernel [$($config)* $next] $($rest)*)
    };
    (@launch ($stream:expr) [$($kernel:tt)+] [$config:expr] $arguments:tt) => {
        $($kernel)+.launch(&$stream, $config, $arguments)
    };
    (@launch ($stream:expr) [$($kernel:tt)+] [$grid:expr, $block:expr $(,)?] $arguments:tt) => {
        $($kernel)+.launch(&$stream, $crate::LaunchConfig::new($grid, $block), $arguments)
    };
    (@launch ($stream:expr) [$($kernel:tt)+] [$grid:expr, $block:expr, $shared:expr $(,)?] $arguments:tt) => {
        $($kernel)+.launch(
            &$stream,
            $crate::LaunchConfig::new($grid, $block).with_dynamic_shared_bytes($shared),
            $arguments,
        )
    };
    (@ $($rest:tt)*) => {
        $crate::launch!()
    };
    ($stream:expr, $($rest:tt)+) => {
        $crate::launch!(@kernel ($stream) [] $($rest)+)
    };
    ($($rest:tt)*) => {
        ::core::compile_error!("write `launch!(stream, kernel<<<grid, block[, shared bytes]>>>(arguments))`")
    };
}
