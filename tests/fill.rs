//! Filling and zeroing.

use crate::support::bench::Bench;
use crate::support::{Test, sized};

/// Fills a range in the middle, and demands that nothing else changed.
fn fill_middle<T>(bench: &Bench, background: T, value: T) -> Test
where
    T: bytemuck::NoUninit + bytemuck::AnyBitPattern + PartialEq + std::fmt::Debug,
{
    let (home, other) = (bench.stream(), bench.stream());
    for stream in [&home, &other] {
        let mut memory = home.upload(&[background; 100])?;
        stream.fill(&mut memory.slice_mut(10..77)?, value)?;
        let mut expected = vec![background; 100];
        expected[10..77].fill(value);
        assert_eq!(memory.to_vec()?, expected);
        stream.zero(&mut memory.slice_mut(0..1)?)?;
        expected[0] = T::zeroed();
        assert_eq!(memory.to_vec()?, expected);
        memory.fill(value)?;
        assert_eq!(memory.to_vec()?, [value; 100]);
    }
    Ok(())
}

#[test]
fn elements_of_one_two_and_four_bytes() -> Test {
    let bench = Bench::new();
    fill_middle(&bench, 1_u8, 0xab)?;
    fill_middle(&bench, -1_i8, 5)?;
    fill_middle(&bench, 1_u16, 0xabcd)?;
    fill_middle(&bench, 1_u32, 0xdead_beef)?;
    fill_middle(&bench, 1.0_f32, -2.5)
}

#[test]
fn elements_of_eight_and_more_bytes_that_do_not_repeat() -> Test {
    let bench = Bench::new();
    fill_middle(&bench, 1_u64, 0x0123_4567_89ab_cdef)?;
    fill_middle(&bench, 1.0_f64, std::f64::consts::PI)?;
    fill_middle(&bench, [1_u8; 3], [1, 2, 3])?;
    fill_middle(&bench, [0_u16; 3], [7, 8, 9])?;
    fill_middle(&bench, [1_u32; 3], [1, 2, 3])?;
    fill_middle(&bench, 1_u128, 1 << 77)
}

#[test]
fn elements_whose_bytes_repeat_are_one_operation_of_the_device() -> Test {
    let Some(bench) = Bench::only_software() else {
        return Ok(());
    };
    let stream = bench.stream();
    let mut words = stream.zeroed::<u64>(100)?;
    let mut odd = stream.zeroed::<[u16; 3]>(100)?;
    let one = |calls: String, symbol: &str| assert_eq!(calls, format!("1 × {symbol}"));
    let (result, calls) = bench.calls_of(|| stream.fill(&mut words, 0x0707_0707_0707_0707));
    result?;
    one(calls, "cuMemsetD8Async");
    let (result, calls) = bench.calls_of(|| stream.fill(&mut words, 0x0708_0708_0708_0708));
    result?;
    one(calls, "cuMemsetD16Async");
    let (result, calls) = bench.calls_of(|| stream.fill(&mut words, 0x0708_090a_0708_090a));
    result?;
    one(calls, "cuMemsetD32Async");
    let (result, calls) = bench.calls_of(|| stream.fill(&mut odd, [9, 9, 9]));
    result?;
    one(calls, "cuMemsetD16Async");
    let (result, calls) = bench.calls_of(|| stream.zero(&mut odd));
    result?;
    one(calls, "cuMemsetD8Async");
    assert_eq!(words.to_vec()?, [0x0708_090a_0708_090a; 100]);
    assert_eq!(odd.to_vec()?, [[0; 3]; 100]);
    Ok(())
}

#[test]
fn the_unsuffixed_memcpy_and_memset_are_never_called() -> Test {
    let Some(bench) = Bench::only_software() else {
        return Ok(());
    };
    let stream = bench.stream();
    let (result, calls) = bench.calls_of(|| -> Test {
        let mut memory = stream.zeroed::<u32>(sized(100_000))?;
        memory.fill(3)?;
        memory.copy_from(&vec![4; sized(100_000)])?;
        memory.to_vec()?;
        let mut legacy = bench.context().legacy_stream().zeroed::<u32>(10)?;
        legacy.fill(1)?;
        legacy.to_vec()?;
        Ok(())
    });
    result?;
    for part in calls.split(", ") {
        let symbol = part.split(" × ").nth(1).ok_or("a symbol")?;
        let sets_or_copies = symbol.starts_with("cuMemcpy") || symbol.starts_with("cuMemset");
        assert!(!sets_or_copies || symbol.contains("Async"), "{symbol}");
    }
    Ok(())
}

#[test]
fn large_fills_reach_the_last_element() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let len = (5 << 20) + 3;
    let mut memory = stream.zeroed::<u16>(len)?;
    stream.fill(&mut memory, 0x1234)?;
    assert_eq!(memory.slice(len - 2..)?.to_vec()?, [0x1234; 2]);
    assert_eq!(memory.slice(..2)?.to_vec()?, [0x1234; 2]);
    Ok(())
}

#[test]
fn a_failing_fill_says_how_many_bytes() -> Test {
    let Some(bench) = Bench::only_software() else {
        return Ok(());
    };
    let stream = bench.stream();
    let mut memory = stream.zeroed::<u32>(10)?;
    bench.simulator().fail(
        "cuMemsetD32Async",
        1,
        cuda_sys::CUresult::CUDA_ERROR_INVALID_VALUE,
    );
    let error = stream.fill(&mut memory, 0x0102_0304).expect_err("it fails");
    assert_eq!(error.subject(), "set 40 bytes of device memory");
    Ok(())
}
