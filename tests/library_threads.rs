//! Libraries whose handles, kernels, functions and variables live and end on other threads than those that made them.

use std::sync::mpsc;
use std::thread;

use cuda_driver::{Context, ContextFlags, ErrorKind, LaunchConfig, Library};

use crate::support::Test;
use crate::support::bench::Bench;
use crate::support::kernels::CONST_MEMORY;

/// Evaluates the polynomial with the context's coefficients, whose sum is given.
fn evaluates(library: &Library, context: &Context, sum: f32) -> cuda_driver::Result<()> {
    let stream = context.create_stream()?;
    let polynomial = library.function(context, "polynomial")?;
    let x = stream.upload(&[1.0_f32; 64])?;
    let mut y = stream.zeroed::<f32>(64)?;
    // SAFETY: the kernel reads the coefficients and `x`, and writes `y`, 64 elements each.
    unsafe { polynomial.launch(&stream, LaunchConfig::for_len(64), (&x, &mut y, 64_u32)) }?;
    assert_eq!(y.to_vec()?, [sum; 64]);
    Ok(())
}

#[test]
fn handles_end_on_other_threads_in_any_order() -> Test {
    let bench = Bench::new();
    let driver = bench.driver();
    for round in 0..12_u64 {
        let library = driver.load_library_ptx(CONST_MEMORY)?;
        let created = (bench.context().device()).create_context(ContextFlags::default())?;
        thread::scope(|scope| {
            let (send, receive) = mpsc::channel();
            for number in 0..4 {
                let (library, send) = (library.clone(), send.clone());
                let context = if number % 2 == 0 {
                    created.clone()
                } else {
                    bench.context().clone()
                };
                scope.spawn(move || {
                    let stream = context.create_stream().expect("a stream");
                    let global = library
                        .global::<[f32]>(&context, "coefficients")
                        .expect("it has it");
                    global.write(&stream, &[1.0; 4]).expect("four numbers");
                    stream.synchronize().expect("it is written");
                    evaluates(&library, &context, 4.0).expect("it runs");
                    let kernel = library.kernel("count").expect("it has it");
                    let function = kernel.in_context(&context).expect("it is there");
                    let module = library.module(&context).expect("it is there");
                    // What is sent outlives the thread, its library and its context's handle.
                    let ends: [Box<dyn Send>; 4] = [
                        Box::new(global),
                        Box::new(kernel),
                        Box::new(function),
                        Box::new(module),
                    ];
                    ends.into_iter()
                        .for_each(|end| send.send(end).expect("somebody receives"));
                });
            }
            drop(send);
            let error = library.clone().close().expect_err("it is in use");
            assert_eq!(error.error().kind(), ErrorKind::StillShared);
            drop((library, created));
            scope.spawn(move || {
                let mut ends: Vec<_> = receive.into_iter().collect();
                while !ends.is_empty() {
                    let place = usize::try_from(round * 7 + 3).unwrap_or(0) % ends.len();
                    drop(ends.swap_remove(place));
                }
            });
        });
    }
    Ok(())
}

#[test]
fn a_context_that_closes_first_takes_nothing_with_it() -> Test {
    let bench = Bench::new();
    let library = bench.driver().load_library_ptx(CONST_MEMORY)?;
    for _ in 0..8 {
        // The next one may have the handle of the one before.
        let created = (bench.context().device()).create_context(ContextFlags::default())?;
        let stream = created.create_stream()?;
        let global = library.global::<[f32]>(&created, "coefficients")?;
        assert_eq!(global.read(&stream)?, [1.0, 2.0, 3.0, 4.0]);
        global.write(&stream, &[5.0; 4])?;
        evaluates(&library, &created, 20.0)?;
        drop(stream);
        let created = created
            .close()
            .expect_err("a variable is in use")
            .into_handle();
        let created = created.expect("it was given back");
        drop(global);
        created.close()?;
    }
    evaluates(&library, bench.context(), 10.0)?;
    library.close()?;
    Ok(())
}

#[test]
fn a_library_outlives_the_fault_of_one_of_its_contexts() -> Test {
    let Some(mut bench) = Bench::only_software() else {
        return Ok(());
    };
    let library = bench.driver().load_library_ptx(CONST_MEMORY)?;
    let global = library.global::<[f32]>(bench.context(), "coefficients")?;
    let kernel = library.kernel("polynomial")?;
    let function = kernel.in_context(bench.context())?;
    let stream = bench.stream();
    // SAFETY: the addresses are wrong, which is what the software driver is to report.
    unsafe { function.launch(&stream, LaunchConfig::for_len(64), (0_u64, 0_u64, 64_u32)) }?;
    assert!(stream.synchronize().is_err());
    assert!(global.read(&stream).is_err());
    assert!(kernel.in_context(bench.context()).is_err() || bench.context().is_poisoned());
    drop((stream, function, global, kernel));
    drop(library);
    assert_eq!(bench.take_reports().len(), 1);
    // Nothing in a lost context is released.
    bench.allow_leaks();
    Ok(())
}
