//! The caller's current context is never changed behind its back, whatever is called and whatever was current.

use cuda_driver::{AnyStream, CacheConfig, Context, ContextFlags, EventFlags, Limit, Result};
use cuda_sys::CUcontext;

use crate::support::bench::Bench;
use crate::support::kernels::{VECTOR_ADD, VectorAdd};
use crate::support::{Test, numbers};

type Step = (&'static str, fn(&Context) -> Result<()>);

/// One call or a few of each kind.
const STEPS: &[Step] = &[
    ("limits", |context| {
        context.limit(Limit::StackSize).map(drop)
    }),
    ("cache", |context| {
        context.set_cache_config(CacheConfig::PreferNone)
    }),
    ("priorities", |context| {
        context.stream_priority_range().map(drop)
    }),
    ("memory info", |context| context.memory_info().map(drop)),
    ("stream", |context| {
        let stream = context.create_stream()?;
        stream.flags()?;
        stream.priority()?;
        stream.is_idle()?;
        stream.synchronize()?;
        stream.close().map_err(Into::into)
    }),
    ("event", |context| {
        let (stream, event) = (
            context.create_stream()?,
            context.create_event(EventFlags::TIMING)?,
        );
        event.record(&stream)?;
        stream.wait_for(&event)?;
        event.synchronize()?;
        event.is_complete()?;
        event.elapsed_since(&event).map(drop)
    }),
    ("memory", |context| {
        let stream = context.create_stream()?;
        let mut memory = stream.upload(&numbers(1000))?;
        stream.zero(&mut memory)?;
        stream.fill(&mut memory, 3)?;
        memory.to_vec()?;
        memory.close().map_err(Into::into)
    }),
    ("large copies", |context| {
        let stream = context.create_stream()?;
        let memory = stream.upload(&numbers(1 << 18))?;
        memory.to_vec().map(drop)
    }),
    ("legacy stream", |context| {
        let stream = context.legacy_stream();
        let memory = stream.upload(&[1_u8, 2, 3])?;
        stream.synchronize()?;
        memory.to_vec().map(drop)
    }),
    ("per-thread stream", |context| {
        let home = context.create_stream()?;
        let stream = context.per_thread_stream();
        let mut memory = home.zeroed::<u8>(100)?;
        stream.fill(&mut memory, 3)?;
        stream.synchronize()
    }),
    ("pinned memory", |context| {
        let stream = context.create_stream()?;
        let mut buffer = stream.pinned_zeroed::<u32>(100)?;
        let memory = stream.upload(&numbers(100))?;
        stream.copy(&memory, &mut buffer)?;
        buffer.as_slice().map(drop)
    }),
    ("two streams", |context| {
        let (one, two) = (context.create_stream()?, context.create_stream()?);
        let mut memory = one.zeroed::<u32>(100)?;
        two.fill(&mut memory, 1)
    }),
    ("modules and launches", |context| {
        let module = context.load_ptx(VECTOR_ADD)?;
        assert!(module.function("missing").is_err());
        module.function("vector_add")?.attributes()?;
        assert!(context.load_ptx("nonsense").is_err());
        let stream = context.create_stream()?;
        let (a, mut sum) = (stream.zeroed::<f32>(10)?, stream.zeroed::<f32>(10)?);
        let add = VectorAdd::load(context);
        add.run(&stream, a.as_slice(), a.as_slice(), sum.as_mut_slice())
    }),
    ("another context", |context| {
        let created = context.device().create_context(ContextFlags::default())?;
        created.create_stream()?.upload(&[1_u8])?.to_vec()?;
        created.close().map_err(Into::into)
    }),
    ("the primary context again", |context| {
        context.device().primary_context().map(drop)
    }),
];

/// Runs each step, and demands that the same context is current after it as before.
fn run_all(bench: &Bench, context: &Context, expected: CUcontext) -> Test {
    for (name, step) in STEPS {
        step(context)?;
        assert_eq!(bench.current(), expected, "after {name}");
    }
    Ok(())
}

#[test]
fn no_current_context_stays_none() -> Test {
    let bench = Bench::new();
    std::thread::scope(|scope| {
        let handle = scope.spawn(|| {
            assert!(bench.current().is_null());
            run_all(&bench, bench.context(), std::ptr::null_mut())
        });
        handle.join().expect("the thread does not panic")
    })
}

#[test]
fn ours_stays_current() -> Test {
    let bench = Bench::new();
    let _current = bench.context().push()?;
    run_all(&bench, bench.context(), bench.context().as_raw())
}

#[test]
fn another_context_stays_current() -> Test {
    let bench = Bench::new();
    let other = bench
        .driver()
        .device(0)?
        .create_context(ContextFlags::default())?;
    let current = other.push()?;
    run_all(&bench, bench.context(), other.as_raw())?;
    drop(current);
    assert!(bench.current().is_null());
    Ok(())
}

#[test]
fn pushes_nest_and_are_popped_in_turn() -> Test {
    let bench = Bench::new();
    let other = bench
        .driver()
        .device(0)?
        .create_context(ContextFlags::default())?;
    let outer = bench.context().push()?;
    {
        let _inner = other.push()?;
        assert_eq!(bench.current(), other.as_raw());
    }
    assert_eq!(bench.current(), bench.context().as_raw());
    drop(outer);
    assert!(bench.current().is_null());
    Ok(())
}

#[test]
fn a_failed_call_leaves_the_current_context_alone() -> Test {
    let Some(bench) = Bench::only_software() else {
        return Ok(());
    };
    for symbol in [
        "cuStreamCreateWithPriority",
        "cuEventCreate",
        "cuMemHostAlloc",
        "cuModuleLoadDataEx",
    ] {
        bench
            .simulator()
            .fail(symbol, 1, cuda_sys::CUresult::CUDA_ERROR_UNKNOWN);
        let context = bench.context();
        let failed = match symbol {
            "cuStreamCreateWithPriority" => context.create_stream().is_err(),
            "cuEventCreate" => context.create_event(EventFlags::TIMING).is_err(),
            "cuMemHostAlloc" => context.create_stream()?.pinned_zeroed::<u8>(1).is_err(),
            _ => context.load_ptx(VECTOR_ADD).is_err(),
        };
        assert!(failed, "{symbol}");
        assert!(bench.current().is_null(), "{symbol}");
    }
    Ok(())
}
