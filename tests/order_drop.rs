//! Memory that is dropped while work on it is in flight.

use cuda_driver::ContextFlags;

use crate::support::bench::Bench;
use crate::support::kernels::{SlowAdd, VectorAdd};
use crate::support::{Test, numbers};

#[test]
fn freed_memory_is_not_reused_while_two_streams_read_it() -> Test {
    // Elsewhere only the last reader was remembered, and a kernel read words of the next owner.
    let bench = Bench::new();
    let (home, one, two) = (bench.stream(), bench.stream(), bench.stream());
    let slow = SlowAdd::load(bench.context(), bench.slow());
    let len = if bench.is_real() { 1 << 20 } else { 1 << 12 };
    for _ in 0..bench.repeats().min(10) {
        let memory = home.upload(&numbers(len))?;
        let mut copies = Vec::new();
        for stream in [&one, &two] {
            let mut scratch = stream.zeroed::<f32>(256)?;
            let mut copy = stream.zeroed::<u32>(len)?;
            if copies.is_empty() {
                // The first reader is the late one.
                slow.occupy(stream, &mut scratch)?;
            }
            stream.copy(&memory, &mut copy)?;
            copies.push(copy);
        }
        let address = memory.as_raw();
        drop(memory);
        let mut reused = home.uninitialized::<u32>(len)?.into_filled(&home)?;
        for copy in &copies {
            let wrong = copy
                .to_vec()?
                .iter()
                .zip(0..)
                .filter(|(it, index)| *it != index)
                .count();
            assert_eq!(
                wrong, 0,
                "words of memory already freed and reused (at {address:#x})"
            );
        }
        home.fill(&mut reused, 0)?;
    }
    Ok(())
}

/// Fills new memory with a value that no test looks for.
trait IntoFilled {
    fn into_filled(
        self,
        home: &cuda_driver::Stream,
    ) -> cuda_driver::Result<cuda_driver::DeviceAllocation<u32>>;
}

impl IntoFilled for cuda_driver::DeviceAllocation<std::mem::MaybeUninit<u32>> {
    fn into_filled(
        self,
        home: &cuda_driver::Stream,
    ) -> cuda_driver::Result<cuda_driver::DeviceAllocation<u32>> {
        // SAFETY: the fill that follows writes every element first.
        let mut memory = unsafe { self.assume_init() };
        home.fill(&mut memory, 0xdead_dead)?;
        Ok(memory)
    }
}

#[test]
fn a_kernel_reads_its_arguments_though_they_are_dropped_at_once() -> Test {
    let bench = Bench::new();
    let (home, other) = (bench.stream(), bench.stream());
    let add = VectorAdd::load(bench.context());
    let slow = SlowAdd::load(bench.context(), bench.slow());
    let mut scratch = other.zeroed::<f32>(256)?;
    for _ in 0..bench.repeats().min(10) {
        let (a, b) = (home.upload(&[1.0; 1000])?, home.upload(&[2.0; 1000])?);
        let mut sum = home.zeroed::<f32>(1000)?;
        slow.occupy(&other, &mut scratch)?;
        add.run(&other, a.as_slice(), b.as_slice(), sum.as_mut_slice())?;
        drop((a, b));
        let next = (home.upload(&[100.0; 1000])?, home.upload(&[100.0; 1000])?);
        assert_eq!(sum.to_vec()?, [3.0; 1000]);
        drop(next);
    }
    Ok(())
}

#[test]
fn memory_is_dropped_on_a_thread_without_a_context() -> Test {
    let bench = Bench::new();
    let (home, other) = (bench.stream(), bench.stream());
    let mut memory = home.zeroed::<u32>(1000)?;
    other.fill(&mut memory, 1)?;
    let pinned = home.pinned_zeroed::<u8>(100)?;
    std::thread::scope(|scope| {
        let handle = scope.spawn(|| {
            assert!(bench.current().is_null());
            drop((memory, pinned));
            bench.current().is_null()
        });
        assert!(handle.join().expect("no panic"));
    });
    home.synchronize()?;
    Ok(())
}

#[test]
fn memory_is_dropped_while_another_context_is_current() -> Test {
    let bench = Bench::new();
    let other = bench
        .driver()
        .device(0)?
        .create_context(ContextFlags::default())?;
    let (home, second) = (bench.stream(), bench.stream());
    let legacy = bench.context().legacy_stream();
    let mut memory = [home.zeroed::<u32>(1000)?, legacy.zeroed::<u32>(1000)?];
    for memory in &mut memory {
        second.fill(memory, 1)?;
    }
    let pinned = home.pinned_zeroed::<u8>(100)?;
    let event = bench
        .context()
        .create_event(cuda_driver::EventFlags::TIMING)?;
    let module = bench.context().load_ptx(crate::support::kernels::SPIN)?;
    let _current = other.push()?;
    drop((memory, pinned, event, module));
    drop((home, second, legacy));
    assert_eq!(bench.current(), other.as_raw());
    Ok(())
}

#[test]
fn drop_does_not_wait_for_the_device() -> Test {
    let bench = Bench::new();
    if !bench.is_real() {
        return Ok(());
    }
    let (home, other) = (bench.stream(), bench.stream());
    let slow = SlowAdd::load(bench.context(), bench.slow());
    // Other tests may take the device meanwhile, so one of several tries is enough.
    let mut early = false;
    for _ in 0..5 {
        let mut memory = home.zeroed::<f32>(256)?;
        slow.run(&other, memory.as_mut_slice(), 1.0)?;
        drop(memory);
        early |= !other.is_idle()?;
        other.synchronize()?;
    }
    assert!(early, "each drop has waited");
    Ok(())
}

#[test]
fn a_latent_error_leaks_and_never_frees_what_is_in_use() -> Test {
    let Some(mut bench) = Bench::only_software() else {
        return Ok(());
    };
    bench.allow_leaks();
    let (home, other) = (bench.stream(), bench.stream());
    let code = cuda_sys::CUresult::CUDA_ERROR_UNKNOWN;
    // Home cannot be made to wait for the other stream: then the host waits, and if it cannot either, freeing would be too early.
    for host_waits in [true, false] {
        let mut memory = home.zeroed::<u32>(1000)?;
        other.fill(&mut memory, 1)?;
        bench.simulator().fail("cuStreamWaitEvent", 1, code);
        if !host_waits {
            bench.simulator().fail("cuEventSynchronize", 1, code);
        }
        let ((), calls) = bench.calls_of(|| drop(memory));
        assert!(calls.contains("cuEventSynchronize"), "{calls}");
        assert_eq!(calls.contains("cuMemFree"), host_waits, "{calls}");
    }
    Ok(())
}

#[test]
fn what_happens_behind_the_users_back_never_queries_and_is_relaxed() -> Test {
    let Some(bench) = Bench::only_software() else {
        return Ok(());
    };
    let (home, other) = (bench.stream(), bench.stream());
    let mut memory = home.zeroed::<u32>(1000)?;
    other.fill(&mut memory, 1)?;
    bench.simulator().set_trace(true);
    drop(memory);
    let symbols: Vec<_> = bench
        .simulator()
        .trace()
        .iter()
        .map(|it| it.symbol)
        .collect();
    bench.simulator().set_trace(false);
    assert_eq!(
        symbols.first(),
        Some(&"cuThreadExchangeStreamCaptureMode"),
        "{symbols:?}"
    );
    assert_eq!(
        symbols.last(),
        Some(&"cuThreadExchangeStreamCaptureMode"),
        "{symbols:?}"
    );
    assert!(
        !symbols
            .iter()
            .any(|it| it.contains("Query") || it.contains("Synchronize")),
        "{symbols:?}"
    );
    Ok(())
}
