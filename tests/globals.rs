//! Global variables: constant and device memory of modules, as typed values with an order.

use cuda_driver::{DynamicArgument, ErrorKind, Function, Global, LaunchConfig, Module, Stream};

use crate::support::Test;
use crate::support::bench::Bench;
use crate::support::kernels::{CONST_MEMORY, SPIN, SlowAdd, load};

/// A value, arrays of numbers, one that is misaligned for more than bytes, and kernels that touch them.
const VARIABLES: &str = "\
.version 7.0
.target sm_52
.address_size 64
.visible .const .align 4 .f32 factor;
.visible .global .align 4 .f32 total[2];
.visible .global .align 4 .b8 twelve[12];
.visible .entry scale(.param .u32 steps)
{
    .reg .f32 %f<4>;
    .reg .b32 %r<4>;
    .reg .pred %p;
    ld.param.u32 %r1, [steps];
    mov.u32 %r2, 0;
    mov.u32 %r3, 1;
more:
    setp.ge.u32 %p, %r2, %r1;
    @%p bra done;
    add.u32 %r2, %r2, 1;
    xor.b32 %r3, %r3, %r2;
    bra more;
done:
    setp.eq.u32 %p, %r3, 77;
    @%p bra end;
    ld.const.f32 %f1, [factor];
    ld.global.f32 %f2, [total+4];
    fma.rn.f32 %f3, %f1, 0f40000000, %f2;
    st.global.f32 [total+4], %f3;
end:
    ret;
}
";

struct Scale {
    module: Module,
    factor: Global<f32>,
    total: Global<[f32]>,
    scale: Function,
}

impl Scale {
    fn load(bench: &Bench) -> cuda_driver::Result<Self> {
        let module = bench.context().load_ptx(VARIABLES)?;
        Ok(Self {
            factor: module.global("factor")?,
            total: module.global("total")?,
            scale: module.function("scale")?,
            module,
        })
    }

    /// `total[1] += 2 * factor`, after some time.
    fn launch(&self, stream: &Stream, steps: u32) -> cuda_driver::Result<()> {
        // SAFETY: the kernel reads `factor` and changes `total`, and no two of it run at once.
        unsafe { self.scale.launch(stream, LaunchConfig::new(1, 1), (steps,)) }
    }
}

#[test]
fn initial_values_are_read_and_new_ones_are_seen_by_kernels() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let module = bench.context().load_ptx(CONST_MEMORY)?;
    let coefficients = module.global::<[f32]>("coefficients")?;
    assert_eq!(coefficients.name(), "coefficients");
    assert_eq!((coefficients.len(), coefficients.size_in_bytes()), (4, 16));
    assert_eq!(coefficients.read(&stream)?, [1.0, 2.0, 3.0, 4.0]);
    coefficients.write(&stream, &[5.0, 0.0, 0.0, 1.0])?;
    let polynomial = module.function("polynomial")?;
    let x = stream.upload(&[2.0_f32; 8])?;
    let mut y = stream.zeroed::<f32>(8)?;
    let config = LaunchConfig::for_len(8);
    // SAFETY: the kernel reads the coefficients and `x`, and writes `y`.
    unsafe { polynomial.launch(&stream, config, (&x, &mut y, 8_u32)) }?;
    assert_eq!(y.to_vec()?, [13.0; 8]);
    // The same memory as a value of another type of that size.
    let row = module.global::<[f32; 4]>("coefficients")?;
    assert_eq!(row.read(&stream)?, [5.0, 0.0, 0.0, 1.0]);
    Ok(())
}

#[test]
fn parts_are_read_and_written() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let module = bench.context().load_ptx(CONST_MEMORY)?;
    let coefficients = module.global::<[f32]>("coefficients")?;
    coefficients.write_at(&stream, 1, &[20.0, 30.0])?;
    assert_eq!(coefficients.read_range(&stream, 1..4)?, [20.0, 30.0, 4.0]);
    assert_eq!(coefficients.read_range(&stream, 4..4)?, []);
    for error in [
        coefficients.write_at(&stream, 3, &[0.0, 0.0]).err(),
        coefficients.write_at(&stream, usize::MAX, &[0.0]).err(),
        coefficients.read_range(&stream, 2..5).err(),
        coefficients.write(&stream, &[0.0; 3]).err(),
    ] {
        let error = error.ok_or("it does not fit")?;
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(
            error.to_string().contains("variable `coefficients`"),
            "{error}"
        );
    }
    Ok(())
}

#[test]
fn operations_on_other_streams_wait_for_each_other() -> Test {
    let bench = Bench::new();
    let (a, b) = (bench.stream(), bench.stream());
    let slow = SlowAdd::load(bench.context(), bench.slow());
    let mut scratch = a.zeroed::<f32>(64)?;
    let variables = Scale::load(&bench)?;
    for round in 0..bench.repeats() {
        let value = round as f32;
        slow.occupy(&a, &mut scratch)?;
        // Another object of the same variable knows of the write.
        let again = variables.module.global::<f32>("factor")?;
        variables.factor.write(&a, &value)?;
        assert_eq!(again.read(&b)?, value);
        slow.occupy(&b, &mut scratch)?;
        again.write(&b, &-value)?;
        assert_eq!(variables.factor.read(&a)?, -value);
    }
    Ok(())
}

#[test]
fn launches_and_operations_on_other_streams_wait_for_each_other() -> Test {
    let bench = Bench::new();
    let (a, b) = (bench.stream(), bench.stream());
    let variables = Scale::load(&bench)?;
    let slow = SlowAdd::load(bench.context(), bench.slow());
    let mut scratch = a.zeroed::<f32>(64)?;
    for round in 0..bench.repeats() {
        let value = round as f32;
        slow.occupy(&a, &mut scratch)?;
        variables.factor.write(&a, &value)?;
        variables.total.write(&a, &[0.0, 0.0])?;
        variables.launch(&b, 1000)?;
        assert_eq!(variables.total.read(&a)?, [0.0, 2.0 * value]);
    }
    Ok(())
}

#[test]
fn a_variable_that_is_asked_for_late_waits_for_what_was_launched() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    for _ in 0..bench.repeats().min(5) {
        let module = bench.context().load_ptx(VARIABLES)?;
        let scale = module.function("scale")?;
        // SAFETY: the kernel touches the two variables, and nothing else does.
        unsafe { scale.launch(&stream, LaunchConfig::new(1, 1), (100_000_u32,)) }?;
        let other = bench.stream();
        let factor = module.global::<f32>("factor")?;
        factor.write(&other, &3.0)?;
        let total = module.global::<[f32]>("total")?;
        assert_eq!(total.read(&other)?, [0.0, 0.0]);
    }
    Ok(())
}

#[test]
fn launches_do_not_wait_for_each_other() -> Test {
    let Some(bench) = Bench::only_software() else {
        return Ok(());
    };
    let (a, b) = (bench.stream(), bench.stream());
    let module = bench.context().load_ptx(CONST_MEMORY)?;
    let coefficients = module.global::<[f32]>("coefficients")?;
    let polynomial = module.function("polynomial")?;
    coefficients.write(&a, &[1.0; 4])?;
    let config = LaunchConfig::for_len(8);
    let x = [a.upload(&[2.0_f32; 8])?, b.upload(&[2.0_f32; 8])?];
    let mut y = [a.zeroed::<f32>(8)?, b.zeroed::<f32>(8)?];
    let expected = [
        ["1 × cuEventCreate", "1 × cuLaunchKernel"],
        ["1 × cuStreamWaitEvent", "1 × cuLaunchKernel"],
        ["1 × cuLaunchKernel", "1 × cuEventRecord"],
        ["1 × cuLaunchKernel", "1 × cuEventRecord"],
    ];
    for (round, expected) in expected.into_iter().enumerate() {
        let index = round % 2;
        let stream = [&a, &b][index];
        let (result, calls) = bench.calls_of(|| {
            // SAFETY: the kernel reads the coefficients and `x`, and writes `y`.
            unsafe { polynomial.launch(stream, config, (&x[index], &mut y[index], 8_u32)) }
        });
        result?;
        for call in expected {
            assert!(calls.contains(call), "round {round}: {calls}");
        }
        if round > 1 {
            assert!(!calls.contains("Wait"), "round {round}: {calls}");
        }
    }
    assert_eq!(y[0].to_vec()?, y[1].to_vec()?);
    Ok(())
}

#[test]
fn modules_without_variables_in_use_are_launched_by_one_call() -> Test {
    let Some(bench) = Bench::only_software() else {
        return Ok(());
    };
    let stream = bench.stream();
    let module = bench.context().load_ptx(CONST_MEMORY)?;
    module.global_address("coefficients")?;
    let polynomial = module.function("polynomial")?;
    let x = stream.upload(&[2.0_f32; 8])?;
    let mut y = stream.zeroed::<f32>(8)?;
    let (result, calls) = bench.calls_of(|| {
        // SAFETY: the kernel reads the coefficients and `x`, and writes `y`.
        unsafe { polynomial.launch(&stream, LaunchConfig::for_len(8), (&x, &mut y, 8_u32)) }
    });
    result?;
    assert_eq!(calls, "1 × cuLaunchKernel");
    Ok(())
}

#[test]
fn variables_are_arguments_and_ends_of_copies() -> Test {
    let bench = Bench::new();
    let (stream, other) = (bench.stream(), bench.stream());
    let variables = Scale::load(&bench)?;
    let add = load(bench.context(), SPIN, "delay_then_add");
    let config = LaunchConfig::for_len(2);
    let mut total = variables.total.clone();
    // SAFETY: the kernel changes the two elements of `total`.
    unsafe { add.launch(&stream, config, (&mut total, 2_u32, 1.5_f32, bench.slow())) }?;
    assert_eq!(total.read(&other)?, [1.5, 1.5]);
    {
        let arguments = [
            DynamicArgument::write(&mut total),
            DynamicArgument::value(&2_u32),
            DynamicArgument::value(&1.0_f32),
            DynamicArgument::value(&1_u32),
        ];
        // SAFETY: as before.
        unsafe { add.launch_dynamic(&other, config, &arguments) }?;
    }
    let mut copy = stream.zeroed::<f32>(2)?;
    stream.copy(&total, &mut copy)?;
    assert_eq!(copy.to_vec()?, [2.5, 2.5]);
    stream.copy(&[7.0_f32, 8.0], &mut total)?;
    other.copy(&total, &mut copy)?;
    assert_eq!(copy.to_vec()?, [7.0, 8.0]);
    Ok(())
}

#[test]
fn a_variable_keeps_its_module_loaded() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let Scale {
        module,
        factor,
        total,
        scale,
    } = Scale::load(&bench)?;
    drop((scale, total));
    let error = module.close().expect_err("the variable uses it");
    assert_eq!(error.error().kind(), ErrorKind::StillShared);
    drop(error);
    factor.write(&stream, &2.5)?;
    assert!(factor.module().function("scale").is_ok());
    assert_eq!(factor.read(&stream)?, 2.5);
    // What is in flight on it at its end is waited for.
    let slow = SlowAdd::load(bench.context(), bench.slow());
    let mut scratch = stream.zeroed::<f32>(64)?;
    slow.occupy(&stream, &mut scratch)?;
    factor.write(&stream, &1.0)?;
    drop(factor);
    assert_eq!(scratch.to_vec()?, [1.0; 64]);
    Ok(())
}

#[test]
fn sizes_and_names_are_checked() -> Test {
    let bench = Bench::new();
    let module = bench.context().load_ptx(VARIABLES)?;
    let told = |error: cuda_driver::Error, kind, parts: &[&str]| {
        assert_eq!(error.kind(), kind, "{error}");
        for part in parts {
            assert!(error.to_string().contains(part), "{error}");
        }
    };
    let error = module.global::<f32>("fact").expect_err("no such variable");
    told(
        error,
        ErrorKind::NotFound,
        &["no global variable `fact`; it has `factor`, ", "`total`"],
    );
    let error = module.global::<f64>("factor").expect_err("too large");
    told(
        error,
        ErrorKind::Mismatch,
        &["`factor`", "4 bytes", "`f64` has 8"],
    );
    let error = module.global::<f32>("total").expect_err("an array");
    told(error, ErrorKind::Mismatch, &["holds 2", "ask for `[f32]`"]);
    let error = module.global::<[u64]>("twelve").expect_err("no multiple");
    told(error, ErrorKind::Mismatch, &["12 bytes", "no whole number"]);
    assert_eq!(module.global::<[u8]>("twelve")?.len(), 12);
    let error = module.global::<f32>("a\0b").expect_err("a NUL");
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    Ok(())
}

#[test]
fn threads_write_and_read_one_variable() -> Test {
    let bench = Bench::new();
    let variables = Scale::load(&bench)?;
    std::thread::scope(|scope| {
        for thread in 0..3_u8 {
            let (total, stream) = (variables.total.clone(), bench.stream());
            scope.spawn(move || {
                for round in 0..20_u8 {
                    let value = f32::from(thread) * 100.0 + f32::from(round);
                    total.write(&stream, &[value; 2]).expect("it is written");
                    let found = total.read(&stream).expect("it is read");
                    assert_eq!(found[0], found[1]);
                }
            });
        }
    });
    Ok(())
}

#[test]
fn a_variable_is_not_copied_over_itself() -> Test {
    let bench = Bench::new();
    let all = Scale::load(&bench)?;
    let stream = bench.stream();
    let mut again = all.module.global::<[f32]>("total")?;
    let error = stream
        .copy(&all.total, &mut again)
        .expect_err("both are one variable");
    assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
    assert!(error.to_string().contains("same memory"), "{error}");
    Ok(())
}
