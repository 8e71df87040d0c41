//! Every driver call of every path fails once: no panic, no leak, and no success that is none.

use cuda_driver::{Context, EventFlags, LaunchConfig, Lender, Result, Stream};
use cuda_sim::Simulator;
use cuda_sys::CUresult;

use crate::support::bench::Bench;
use crate::support::kernels::{SPIN, VECTOR_ADD};
use crate::support::{child, numbers};

type Path = (&'static str, fn(&Context) -> Result<()>);

const PATHS: &[Path] = &[
    ("allocate and free", |context| {
        let stream = context.create_stream()?;
        let memory = stream.upload(&numbers(100))?;
        assert_eq!(memory.to_vec()?, numbers(100));
        memory.close().map_err(Into::into)
    }),
    ("large copies", |context| {
        let stream = context.create_stream()?;
        let host = numbers((5 << 20) / 4);
        let memory = stream.upload(&host)?;
        assert!(memory.to_vec()? == host);
        Ok(())
    }),
    ("pinned copies", |context| {
        let stream = context.create_stream()?;
        let mut buffer = stream.pinned_from(&numbers(100))?;
        let mut memory = stream.zeroed::<u32>(100)?;
        stream.copy(&buffer, &mut memory)?;
        buffer.as_mut_slice()?.fill(0);
        stream.copy(&memory, &mut buffer)?;
        assert_eq!(buffer.as_slice()?, numbers(100));
        buffer.close().map_err(Into::into)
    }),
    ("two streams", |context| {
        let (home, other) = (context.create_stream()?, context.create_stream()?);
        let mut memory = home.zeroed::<u32>(100)?;
        other.fill(&mut memory, 1)?;
        home.copy(&numbers(50), &mut memory.slice_mut(..50)?)?;
        let mut copy = other.zeroed::<u32>(100)?;
        other.copy(&memory, &mut copy)?;
        let values = home.download(&copy)?;
        assert!(values[..50] == numbers(50) && values[50..] == [1; 50]);
        Ok(())
    }),
    ("modules and launches", |context| {
        let (home, other) = (context.create_stream()?, context.create_stream()?);
        let add = context.load_ptx(VECTOR_ADD)?.function("vector_add")?;
        let a = home.upload(&[1.0_f32; 100])?;
        let mut sum = home.zeroed::<f32>(100)?;
        for stream in [&home, &other] {
            let config = LaunchConfig::for_len(100);
            // SAFETY: the kernel reads `a` and writes `sum`, a hundred elements each.
            unsafe { add.launch(stream, config, (&a, &a, &mut sum, 100_u32)) }?;
        }
        assert_eq!(sum.to_vec()?, [2.0; 100]);
        Ok(())
    }),
    ("events", |context| {
        let stream = context.create_stream()?;
        let (start, end) = (
            context.create_event(EventFlags::TIMING)?,
            context.create_event(EventFlags::TIMING)?,
        );
        start.record(&stream)?;
        end.record(&stream)?;
        stream.wait_for(&end)?;
        end.synchronize()?;
        end.elapsed_since(&start)?;
        end.close().map_err(Into::into)
    }),
    ("the legacy stream", |context| {
        let stream = context.legacy_stream();
        let memory = stream.upload(&numbers(100))?;
        assert_eq!(memory.to_vec()?, numbers(100));
        stream.synchronize()
    }),
    ("kept memory", |context| {
        let home = context.create_stream()?;
        let other = context.create_stream()?;
        let memory = home.upload(&numbers(100))?;
        let address = memory.as_raw();
        home.synchronize()?;
        // SAFETY: the memory has a hundred numbers, and its owner is the allocation.
        let mut kept =
            unsafe { home.keep_memory::<u32, Stream>(address, 100, Lender::Host, memory) }?;
        other.fill(&mut kept, 5)?;
        assert_eq!(kept.to_vec()?, [5; 100]);
        drop(kept);
        home.synchronize()?;
        context.collect();
        Ok(())
    }),
    ("host functions", |context| {
        let stream = context.create_stream()?;
        stream.host_function(|| ())?;
        stream.synchronize()
    }),
    ("created contexts", |context| {
        let created = context
            .device()
            .create_context(cuda_driver::ContextFlags::default())?;
        let stream = created.create_stream()?;
        assert_eq!(stream.upload(&[1_u8, 2])?.to_vec()?, [1, 2]);
        drop(stream);
        created.close().map_err(Into::into)
    }),
    ("questions", |context| {
        context.memory_info()?;
        context.limit(cuda_driver::Limit::StackSize)?;
        context.stream_priority_range()?;
        let module = context.load_ptx(SPIN)?;
        module.function_names()?;
        module.function("delay_then_add")?.attributes()?;
        module.close().map_err(Into::into)
    }),
];

/// Calls that drops make too, where there is nobody to tell: then a leak is right.
fn is_made_by_drops(symbol: &str) -> bool {
    let parts = [
        "Free",
        "Destroy",
        "Unload",
        "Release",
        "PopCurrent",
        "PushCurrent",
        "Synchronize",
        "Exchange",
        "EventRecord",
        "EventCreate",
        "EventQuery",
        "StreamWaitEvent",
    ];
    parts.iter().any(|it| symbol.contains(it))
}

/// How many calls of a function fail in turn: each leak keeps one of the few software drivers that a process can have.
fn times(symbol: &str, count: u64) -> u64 {
    count.min(if is_made_by_drops(symbol) { 3 } else { 6 })
}

/// Runs a test in a process of its own, whose leaks take no software driver from the others.
fn alone(test: &str, body: impl FnOnce()) {
    let name = format!("fault_injection::{test}");
    if child::is_child(&name) {
        body();
    } else if Bench::only_software().is_some() {
        child::must_succeed(&name);
    }
}

/// Lets one call of a path fail; says what is wrong about what follows.
fn one_call_fails(
    path: &Path,
    symbol: &str,
    nth: u64,
    fail: impl FnOnce(&Simulator),
) -> Option<String> {
    let mut bench = Bench::only_software()?;
    let by_drops = is_made_by_drops(symbol);
    if by_drops {
        bench.allow_leaks();
    }
    fail(bench.simulator());
    // The path checks its results itself: a success that is none makes it panic.
    let result = (path.1)(bench.context());
    bench.simulator().clear_failures();
    let what = format!("{}, call {nth} of {symbol}", path.0);
    // Refused arguments are how the driver says that there are no more parameters.
    let is_an_answer = symbol == "cuFuncGetParamInfo";
    if result.is_ok() && !by_drops && !is_an_answer {
        return Some(format!("{what} failed, and nobody was told"));
    }
    // The context works on.
    let works =
        || -> Result<Vec<u8>> { bench.context().create_stream()?.upload(&[7; 10])?.to_vec() };
    match works() {
        Ok(values) if values == [7; 10] => None,
        other => Some(format!("{what} broke the context: {other:?}")),
    }
}

/// Lets each call of each path fail in turn.
fn each_call_fails(fail: impl Fn(&Simulator, &str, u64)) {
    let mut wrong = Vec::new();
    for path in PATHS {
        let Some(bench) = Bench::only_software() else {
            return;
        };
        let before = bench.simulator().calls();
        (path.1)(bench.context()).unwrap_or_else(|error| panic!("{}: {error}", path.0));
        let calls = bench.simulator().calls().since(&before);
        for (symbol, count) in calls.iter() {
            let each =
                |nth| one_call_fails(path, symbol, nth, |simulator| fail(simulator, symbol, nth));
            wrong.extend((1..=times(symbol, count)).filter_map(each));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_call_is_refused_once() {
    alone("every_call_is_refused_once", || {
        each_call_fails(|simulator, symbol, nth| {
            simulator.fail(symbol, nth, CUresult::CUDA_ERROR_INVALID_VALUE);
        });
    });
}

#[test]
fn every_call_runs_out_of_memory_once() {
    alone("every_call_runs_out_of_memory_once", || {
        each_call_fails(|simulator, symbol, nth| {
            simulator.fail(symbol, nth, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
        });
    });
}

#[test]
fn every_call_fails_once_after_it_was_executed() {
    alone(
        "every_call_fails_once_after_it_was_executed",
        each_call_fails_afterwards,
    );
}

fn each_call_fails_afterwards() {
    let code = CUresult::CUDA_ERROR_UNKNOWN;
    for path in PATHS {
        let Some(bench) = Bench::only_software() else {
            return;
        };
        let before = bench.simulator().calls();
        (path.1)(bench.context()).unwrap_or_else(|error| panic!("{}: {error}", path.0));
        let calls = bench.simulator().calls().since(&before);
        for (symbol, count) in calls.iter() {
            for nth in 1..=times(symbol, count) {
                let Some(mut bench) = Bench::only_software() else {
                    return;
                };
                // What was made and not handed over cannot be released.
                bench.allow_leaks();
                bench.simulator().fail_after_executing(symbol, nth, code);
                let result = (path.1)(bench.context());
                assert!(
                    result.is_err() || is_made_by_drops(symbol),
                    "{}, {symbol} {nth}",
                    path.0
                );
            }
        }
    }
}
