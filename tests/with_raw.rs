//! Handing memory and streams to code that enqueues by itself.

use std::panic::{AssertUnwindSafe, catch_unwind};

use cuda_driver::{Result, call};
use cuda_sys::{CUdeviceptr, CUstream};

use crate::support::bench::Bench;
use crate::support::kernels::SlowAdd;
use crate::support::{Test, numbers};

/// What another library would do: it copies that many bytes on the stream that it is given.
fn foreign_copy(
    bench: &Bench,
    stream: CUstream,
    from: CUdeviceptr,
    to: CUdeviceptr,
    bytes: usize,
) -> Result<()> {
    // SAFETY: the tests hand over memory of that many bytes, and a stream, which live longer than the copy.
    unsafe {
        call!(
            bench.driver(),
            cuMemcpyDtoDAsync_v2(to, from, bytes, stream)
        )
    }
}

/// The same that sets words.
fn foreign_fill(bench: &Bench, stream: CUstream, address: CUdeviceptr, words: usize) -> Result<()> {
    // SAFETY: the tests hand over memory of that many words, and a stream, which live longer than the operation.
    unsafe { call!(bench.driver(), cuMemsetD32Async(address, 9, words, stream)) }
}

#[test]
fn foreign_work_waits_for_what_was_before_and_is_waited_for() -> Test {
    let bench = Bench::new();
    let (home, other, third) = (bench.stream(), bench.stream(), bench.stream());
    let slow = SlowAdd::load(bench.context(), bench.slow());
    for _ in 0..bench.repeats().min(10) {
        let mut source = home.zeroed::<f32>(256)?;
        slow.run(&third, source.as_mut_slice(), 6.0)?;
        let mut target = home.zeroed::<f32>(256)?;
        // SAFETY: the copy reads the one and writes the other, both of 1024 bytes, on the stream that it is given.
        let result = unsafe {
            other.with_raw((&source, &mut target), |stream, (from, to)| {
                foreign_copy(&bench, stream, from, to, 1024)
            })
        };
        result??;
        assert_eq!(home.download(&target)?, [6.0; 256]);
    }
    Ok(())
}

#[test]
fn a_panic_in_foreign_code_still_leaves_the_work_ordered() -> Test {
    let bench = Bench::new();
    let (home, other) = (bench.stream(), bench.stream());
    let slow = SlowAdd::load(bench.context(), bench.slow());
    let mut scratch = other.zeroed::<f32>(256)?;
    let mut memory = home.upload(&numbers(1000))?;
    slow.occupy(&other, &mut scratch)?;
    let body = AssertUnwindSafe(|| {
        // SAFETY: the call writes the 1000 elements, on the stream that it is given.
        unsafe {
            other.with_raw((&mut memory,), |stream, (address,)| {
                foreign_fill(&bench, stream, address, 1000).expect("it is enqueued");
                panic!("on purpose");
            })
        }
        .map(|(): ()| ())
    });
    assert!(catch_unwind(body).is_err());
    assert_eq!(memory.to_vec()?, [9; 1000]);
    Ok(())
}

#[test]
fn at_home_nothing_is_waited_for() -> Test {
    let Some(bench) = Bench::only_software() else {
        return Ok(());
    };
    let home = bench.stream();
    let mut memory = home.zeroed::<u32>(100)?;
    // SAFETY: nothing is done with the memory.
    let (result, calls) = bench.calls_of(|| unsafe { home.with_raw((&mut memory,), |_, _| ()) });
    result?;
    assert_eq!(calls, "no calls");
    Ok(())
}

#[test]
fn slices_and_several_buffers_are_handed_over() -> Test {
    let bench = Bench::new();
    let (home, other) = (bench.stream(), bench.stream());
    let a = home.upload(&numbers(100))?;
    let mut b = home.zeroed::<u32>(100)?;
    let address = a.as_raw();
    // SAFETY: the copy stays within the slices, on the stream that it is given.
    let result = unsafe {
        other.with_raw(
            (a.slice(10..20)?, b.slice_mut(0..10)?),
            |stream, (from, to)| {
                assert_eq!(from, address + 40);
                assert_eq!(stream, other.as_raw());
                foreign_copy(&bench, stream, from, to, 40)
            },
        )
    };
    result??;
    assert_eq!(
        b.to_vec()?[..11],
        [10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 0]
    );
    Ok(())
}

#[test]
fn what_the_body_returns_comes_back_errors_included() -> Test {
    let bench = Bench::new();
    let home = bench.stream();
    let memory = home.zeroed::<u32>(100)?;
    // SAFETY: nothing is done with the memory.
    let result = unsafe { home.with_raw((&memory,), |_, (address,)| Err::<(), _>(address)) };
    assert_eq!(result?, Err(memory.as_raw()));
    Ok(())
}
