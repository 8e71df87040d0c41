//! Device memory of other libraries, borrowed within a closure.

use std::panic::{AssertUnwindSafe, catch_unwind};

use cuda_driver::{ErrorKind, Lender, Stream, call};
use cuda_sys::CUdeviceptr;

use crate::support::Test;
use crate::support::bench::Bench;
use crate::support::foreign::Foreign;
use crate::support::kernels::SlowAdd;

const HOST: Lender<'static, Stream> = Lender::Host;

#[test]
fn borrowed_memory_is_an_argument_and_an_end_of_copies() -> Test {
    let bench = Bench::new();
    let foreign = Foreign::new(&bench, 4000);
    let stream = bench.stream();
    let slow = SlowAdd::load(bench.context(), bench.slow());
    // SAFETY: the memory has 1000 numbers, is live, and nobody else uses it.
    let values = unsafe {
        bench.context().with_borrowed_memory::<f32, _, _>(
            foreign.address,
            1000,
            HOST,
            |mut memory| {
                assert_eq!((memory.len(), memory.as_raw()), (1000, foreign.address));
                stream.fill(&mut memory, 1.0)?;
                slow.run(&bench.stream(), memory.reborrow(), 2.0)?;
                stream.download(&memory)
            },
        )
    };
    assert_eq!(values??, [3.0; 1000]);
    Ok(())
}

#[test]
fn the_lenders_stream_is_ordered_before_and_behind_the_borrow() -> Test {
    let bench = Bench::new();
    let (lender, worker) = (bench.stream(), bench.stream());
    let slow = SlowAdd::load(bench.context(), bench.slow());
    let mut scratch = lender.zeroed::<f32>(256)?;
    for _ in 0..bench.repeats().min(6) {
        let foreign = Foreign::new(&bench, 4096);
        slow.occupy(&lender, &mut scratch)?;
        // SAFETY: the memory has that many bytes.
        unsafe {
            call!(
                bench.driver(),
                cuMemsetD32Async(foreign.address, 0x4000_0000, 1024, lender.as_raw())
            )
        }?;
        // SAFETY: the lender's work is on the stream that is named.
        let result = unsafe {
            bench.context().with_borrowed_memory::<f32, _, _>(
                foreign.address,
                1024,
                Lender::Stream(&lender),
                |memory| slow.run(&worker, memory, 1.0),
            )
        };
        result??;
        // The lender goes on at once, on its own stream.
        let mut host = vec![0.0_f32; 1024];
        let to = host.as_mut_ptr().cast();
        // SAFETY: both have 4096 bytes; the host waits before it looks.
        unsafe {
            call!(
                bench.driver(),
                cuMemcpyDtoHAsync_v2(to, foreign.address, 4096, lender.as_raw())
            )
        }?;
        lender.synchronize()?;
        assert!(host == [3.0; 1024]);
    }
    Ok(())
}

#[test]
fn a_panic_in_the_closure_still_orders_the_work() -> Test {
    let bench = Bench::new();
    let (lender, worker) = (bench.stream(), bench.stream());
    let slow = SlowAdd::load(bench.context(), bench.slow());
    for by_host in [false, true] {
        let foreign = Foreign::new(&bench, 4096);
        let borrow = AssertUnwindSafe(|| {
            let by = if by_host {
                Lender::Host
            } else {
                Lender::Stream(&lender)
            };
            // SAFETY: the memory has 1024 numbers; the lender's work is as it is named.
            unsafe {
                bench.context().with_borrowed_memory::<f32, _, ()>(
                    foreign.address,
                    1024,
                    by,
                    |memory| {
                        slow.run(&worker, memory, 7.0).expect("it is enqueued");
                        panic!("on purpose");
                    },
                )
            }
        });
        assert!(catch_unwind(borrow).is_err());
        if by_host {
            assert!(worker.is_idle()?, "the host has waited");
        }
        let mut host = vec![0.0_f32; 1024];
        let to = host.as_mut_ptr().cast();
        // SAFETY: both have 4096 bytes; the host waits before it looks.
        unsafe {
            call!(
                bench.driver(),
                cuMemcpyDtoHAsync_v2(to, foreign.address, 4096, lender.as_raw())
            )
        }?;
        lender.synchronize()?;
        assert!(host == [7.0; 1024]);
    }
    Ok(())
}

#[test]
fn wrong_pointers_are_refused_before_the_closure_runs() -> Test {
    let bench = Bench::new();
    let foreign = Foreign::new(&bench, 4096);
    let mut local = [0_u32; 4];
    let host = local.as_mut_ptr().expose_provenance() as CUdeviceptr;
    let pinned = bench.stream().pinned_zeroed::<u32>(4)?;
    let page_locked = pinned.as_slice()?.as_ptr().expose_provenance() as CUdeviceptr;
    let cases = [
        ("null", 0, 4),
        ("a host pointer", host, 4),
        ("a page-locked pointer", page_locked, 4),
        ("nobody's memory", 0x0123_4567_8900, 4),
        ("too long", foreign.address, (4 << 20) + 1),
        ("too long from the middle", foreign.address + 4092, 4 << 20),
        ("misaligned", foreign.address + 1, 4),
    ];
    for (what, address, len) in cases {
        // SAFETY: the checks must refuse each of these.
        let result = unsafe {
            bench
                .context()
                .with_borrowed_memory::<u32, _, ()>(address, len, HOST, |_| panic!("{what}"))
        };
        let error = result.expect_err(what);
        assert!(
            matches!(
                error.kind(),
                ErrorKind::InvalidArgument | ErrorKind::Mismatch
            ),
            "{what}: {error}"
        );
        assert!(
            error.to_string().contains(&format!("{address:#x}")),
            "{what}: {error}"
        );
    }
    Ok(())
}

#[test]
fn a_length_that_wraps_is_refused() {
    let bench = Bench::new();
    // SAFETY: the length must be refused.
    let result = unsafe {
        bench
            .context()
            .with_borrowed_memory::<u64, _, ()>(256, usize::MAX / 4, HOST, |_| panic!("too long"))
    };
    assert_eq!(result.expect_err("too long").kind(), ErrorKind::OutOfMemory);
}

#[test]
fn borrowed_memory_has_no_home() -> Test {
    let bench = Bench::new();
    let foreign = Foreign::new(&bench, 4000);
    // SAFETY: the memory has 1000 numbers, is live, and nobody else uses it.
    let result = unsafe {
        bench
            .context()
            .with_borrowed_memory::<u32, _, _>(foreign.address, 1000, HOST, |memory| {
                memory.as_slice().to_vec()
            })
    };
    let error = result?.expect_err("no stream is named");
    assert!(
        error.remedy().is_some_and(|it| it.contains("stream.copy")),
        "{error}"
    );
    Ok(())
}

#[test]
fn memory_of_zero_bytes_is_borrowed_without_a_question() -> Test {
    let bench = Bench::new();
    // SAFETY: nothing is accessed.
    let len = unsafe {
        bench
            .context()
            .with_borrowed_memory::<u32, _, _>(0, 0, HOST, |memory| memory.len())
    };
    assert_eq!(len?, 0);
    Ok(())
}
