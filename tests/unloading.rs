//! Kernels in all their forms, whose modules, libraries and contexts go in any order, from any thread, with work pending: whoever is left
//! can still launch, and nothing is unloaded under a kernel that runs.

use std::sync::Barrier;
use std::thread;

use cuda_driver::{
    Context, ContextFlags, DeviceAllocation, ExtendedLaunchConfig, Function, Kernel, LaunchConfig,
    Library, Module, PreparedLaunch, Result, Stream, kernels,
};

use crate::support::Test;
use crate::support::bench::Bench;
use crate::support::kernels::SPIN;

/// How many elements each launch adds to.
const LEN: usize = 64;

kernels! {
    unsafe extern Spin from ptx "kernels/spin.ptx" {
        #[launch(for_len(x), block <= 64)]
        #[prepared(Delay)]
        safe fn delay_then_add(x: &mut [f32], n: u32 = len(x), value: f32, steps: u32);
    }
}

/// Everything that one can hold of a kernel; each is enough.
enum Form {
    Module(Module),
    Function(Function),
    Prepared(PreparedLaunch),
    Extended(PreparedLaunch<ExtendedLaunchConfig>),
    Typed(Spin),
    TypedPrepared(Delay),
    Library(Library, Context),
    Kernel(Kernel, Context),
}

impl Form {
    /// Adds 1 after some time.
    fn add(&self, stream: &Stream, x: &mut DeviceAllocation<f32>, steps: u32) -> Result<()> {
        const NAME: &str = "delay_then_add";
        let function = match self {
            Self::Typed(kernels) => return kernels.delay_then_add(stream, x, 1.0, steps),
            Self::TypedPrepared(launch) => return launch.launch(stream, x, 1.0, steps),
            Self::Prepared(launch) => {
                let arguments = (x, u32::try_from(LEN)?, 1.0_f32, steps);
                // SAFETY: the kernel adds to the elements of `x`.
                return unsafe { launch.launch(stream, arguments) };
            }
            Self::Extended(launch) => {
                let arguments = (x, u32::try_from(LEN)?, 1.0_f32, steps);
                // SAFETY: as above.
                return unsafe { launch.launch(stream, arguments) };
            }
            Self::Module(module) => module.function(NAME)?,
            Self::Function(function) => function.clone(),
            Self::Library(library, context) => library.function(context, NAME)?,
            Self::Kernel(kernel, context) => kernel.in_context(context)?,
        };
        let arguments = (x, u32::try_from(LEN)?, 1.0_f32, steps);
        // SAFETY: as above.
        unsafe { function.launch(stream, LaunchConfig::for_len(LEN), arguments) }
    }
}

/// All forms of one module, and those of one library.
fn forms(context: &Context) -> Result<[Vec<Form>; 2]> {
    let module = context.load_ptx(SPIN)?;
    // SAFETY: it is the image that the declaration names.
    let kernels = unsafe { Spin::from_module(&module) }?;
    let config = LaunchConfig::for_len_with_block(LEN, 64);
    let of_module = |module: Module, kernels: Spin| -> Result<Vec<Form>> {
        let function = module.function("delay_then_add")?;
        Ok(vec![
            Form::Prepared(function.prepare(config)?),
            Form::Extended(function.prepare(config.with_priority(0))?),
            Form::TypedPrepared(kernels.delay_then_add_prepare(config)?),
            Form::Typed(kernels),
            Form::Function(function),
            Form::Module(module),
        ])
    };
    let library = context.driver().load_library_ptx(SPIN)?;
    let module = (module, library.module(context)?);
    // SAFETY: as above.
    let of_library = unsafe { Spin::from_module(&module.1) }?;
    let mut of_library = of_module(module.1, of_library)?;
    of_library.push(Form::Kernel(
        library.kernel("delay_then_add")?,
        context.clone(),
    ));
    of_library.push(Form::Library(library, context.clone()));
    Ok([of_module(module.0, kernels)?, of_library])
}

/// A step of a generator of numbers that look random.
fn next(state: &mut u64) -> usize {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1);
    usize::try_from(*state >> 33).unwrap_or(0)
}

#[test]
fn whoever_is_left_can_launch_in_any_order_of_ends() -> Test {
    let bench = Bench::new();
    let device = bench.context().device();
    let mut state = 1;
    for round in 0..24 {
        let context = match round % 2 {
            0 => bench.context().clone(),
            _ => device.create_context(ContextFlags::default())?,
        };
        for mut forms in forms(&context)? {
            let mut context = Some(context.clone());
            let stream = context.as_ref().ok_or("it is there")?.create_stream()?;
            let mut x = stream.zeroed::<f32>(LEN)?;
            let mut sum = 0.0;
            while !forms.is_empty() {
                let next = next(&mut state);
                let form = forms.swap_remove(next % forms.len());
                form.add(&stream, &mut x, bench.slow() / 8)?;
                sum += 1.0;
                // It goes with its launch pending.
                if next.is_multiple_of(2) {
                    drop(form);
                } else {
                    thread::spawn(move || drop(form))
                        .join()
                        .map_err(|_| "it panicked")?;
                }
                if next.is_multiple_of(5) {
                    context = None;
                }
            }
            drop(context);
            assert_eq!(x.to_vec()?, [sum; LEN]);
        }
    }
    Ok(())
}

#[test]
fn the_forms_of_one_kernel_end_on_all_threads_at_once() -> Test {
    let bench = Bench::new();
    for _ in 0..8 {
        let forms: Vec<Form> = forms(bench.context())?.into_iter().flatten().collect();
        let start = Barrier::new(forms.len());
        let results: Vec<Result<Vec<f32>>> = thread::scope(|scope| {
            let threads: Vec<_> = forms
                .into_iter()
                .map(|form| {
                    scope.spawn(|| {
                        let stream = bench.stream();
                        let mut x = stream.zeroed::<f32>(LEN)?;
                        start.wait();
                        form.add(&stream, &mut x, 1)?;
                        form.add(&stream, &mut x, 1)?;
                        drop(form);
                        x.to_vec()
                    })
                })
                .collect();
            let joined = threads.into_iter().map(|it| it.join().expect("no panic"));
            joined.collect()
        });
        for result in results {
            assert_eq!(result?, [2.0; LEN]);
        }
    }
    Ok(())
}

#[test]
fn what_is_prepared_outlives_every_other_handle_and_goes_last() -> Test {
    let bench = Bench::new();
    let context = (bench.context().device()).create_context(ContextFlags::default())?;
    let stream = context.create_stream()?;
    let mut x = stream.zeroed::<f32>(LEN)?;
    let config = LaunchConfig::for_len_with_block(LEN, 64);
    let launch = Spin::load(&context)?.delay_then_add_prepare(config)?;
    let context = (context.close().expect_err("it is in use").into_handle()).ok_or("given back")?;
    drop(context);
    launch.launch(&stream, &mut x, 1.0, bench.slow())?;
    let clone = launch.clone();
    drop(launch);
    thread::spawn(move || {
        clone.launch(&stream, &mut x, 1.0, bench.slow()).map(|()| {
            // The kernel runs when its module, its memory and its stream go, in each order.
            drop(clone);
            drop(stream);
            x.to_vec()
        })
    })
    .join()
    .map_err(|_| "it panicked")???;
    Ok(())
}
