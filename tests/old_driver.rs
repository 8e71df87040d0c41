//! Old drivers: every call may want a current context, and newer functions are missing.

use cuda_driver::{AnyStream, EventFlags, LaunchConfig};

use crate::support::bench::Bench;
use crate::support::kernels::{SlowAdd, VECTOR_ADD, VectorAdd};
use crate::support::{Test, numbers};

/// The ordinary things, on a thread where no context is current.
fn everything_works(bench: &Bench) -> Test {
    assert!(bench.current().is_null());
    let (home, other) = (bench.stream(), bench.stream());
    let mut memory = home.upload(&numbers(1000))?;
    assert_eq!(memory.to_vec()?, numbers(1000));
    other.fill(&mut memory, 5)?;
    assert_eq!(home.download(&memory)?, [5; 1000]);
    let mut buffer = home.pinned_from(&numbers(1000))?;
    home.copy(&buffer, &mut memory)?;
    other.copy(&memory, &mut buffer)?;
    assert_eq!(buffer.as_slice()?, numbers(1000));
    let add = VectorAdd::load(bench.context());
    let a = home.upload(&[1.5; 300])?;
    let mut sum = home.zeroed::<f32>(300)?;
    for stream in [&home, &other] {
        add.run(stream, a.as_slice(), a.as_slice(), sum.as_mut_slice())?;
        assert_eq!(sum.to_vec()?, [3.0; 300]);
    }
    let slow = SlowAdd::load(bench.context(), 3);
    slow.run(&other, sum.as_mut_slice(), 1.0)?;
    let (start, end) = (
        bench.context().create_event(EventFlags::TIMING)?,
        bench.context().create_event(EventFlags::TIMING)?,
    );
    start.record(&home)?;
    end.record(&home)?;
    other.wait_for(&end)?;
    end.synchronize()?;
    end.elapsed_since(&start)?;
    assert!(end.is_complete()?);
    home.host_function(|| ())?;
    home.synchronize()?;
    assert!(home.is_idle()?);
    home.flags()?;
    assert_eq!(sum.to_vec()?, [4.0; 300]);
    drop((memory, buffer, start, end));
    assert!(bench.current().is_null());
    Ok(())
}

#[test]
fn a_driver_that_wants_a_context_for_every_call_gets_one() -> Test {
    let Some(bench) = Bench::only_software_with(|it| it.old_driver(true)) else {
        return Ok(());
    };
    everything_works(&bench)
}

#[test]
fn a_call_that_was_refused_for_want_of_a_context_is_repeated_once_and_remembered() -> Test {
    let Some(bench) = Bench::only_software_with(|it| it.old_driver(true)) else {
        return Ok(());
    };
    let stream = bench.stream();
    let add = VectorAdd::load(bench.context());
    let a = stream.upload(&[1.0; 10])?;
    let mut sum = stream.zeroed::<f32>(10)?;
    add.run(&stream, a.as_slice(), a.as_slice(), sum.as_mut_slice())?;
    let (result, calls) =
        bench.calls_of(|| add.run(&stream, a.as_slice(), a.as_slice(), sum.as_mut_slice()));
    result?;
    assert_eq!(
        calls,
        "1 × cuCtxPopCurrent_v2, 1 × cuCtxPushCurrent_v2, 1 × cuLaunchKernel"
    );
    Ok(())
}

#[test]
fn every_generation_from_11_4_on_works() -> Test {
    for version in [11_040, 11_080, 12_000, 12_030, 12_050, 12_080, 13_000] {
        let Some(bench) = Bench::only_software_with(|it| it.driver_version(version)) else {
            return Ok(());
        };
        everything_works(&bench)?;
    }
    Ok(())
}

#[test]
fn without_parameter_info_the_ptx_tells_the_parameters() -> Test {
    let Some(bench) = Bench::only_software_with(|it| it.driver_version(11_040)) else {
        return Ok(());
    };
    let stream = bench.stream();
    let module = bench.context().load_ptx(VECTOR_ADD)?;
    assert_eq!(module.function_names()?, ["vector_add"]);
    let add = module.function("vector_add")?;
    let sizes: Vec<_> = add
        .parameters()
        .ok_or("the text tells")?
        .iter()
        .map(|it| it.size)
        .collect();
    assert_eq!(sizes, [8, 8, 8, 4]);
    let a = stream.zeroed::<f32>(1)?;
    // SAFETY: the launch must be refused.
    let result = unsafe { add.launch(&stream, LaunchConfig::new(1, 1), (&a, 1_u64)) };
    assert_eq!(
        result.expect_err("two are too few").kind(),
        cuda_driver::ErrorKind::ArgumentMismatch
    );
    Ok(())
}
