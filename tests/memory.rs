//! Device memory: allocating, freeing, and the edges.

use std::mem::MaybeUninit;

use cuda_driver::ErrorKind;
use cuda_sys::CUresult;

use crate::support::bench::Bench;
use crate::support::{Test, numbers};

#[test]
fn what_is_uploaded_comes_back() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let memory = stream.upload(&numbers(1000))?;
    assert_eq!(memory.len(), 1000);
    assert_eq!(memory.size_in_bytes(), 4000);
    assert!(!memory.is_empty());
    assert_ne!(memory.as_raw(), 0);
    assert!(memory.context().is_same(bench.context()));
    assert_eq!(
        memory.home_stream().ok_or("a home")?.as_raw(),
        stream.as_raw()
    );
    assert_eq!(memory.to_vec()?, numbers(1000));
    Ok(())
}

#[test]
fn zeroed_memory_is_zero_also_where_it_was_used_before() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    for _ in 0..4 {
        let mut memory = stream.zeroed::<u64>(4096)?;
        assert_eq!(memory.to_vec()?, [0; 4096]);
        stream.fill(&mut memory, u64::MAX)?;
    }
    Ok(())
}

#[test]
fn uninitialised_memory_is_maybe_uninit_until_it_was_written() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let source = stream.upload(&numbers(100))?;
    let target = stream.uninitialized::<u32>(100)?;
    assert_eq!(target.len(), 100);
    // SAFETY: the copy that follows writes every element before anything reads one.
    let mut target = unsafe { target.assume_init() };
    stream.copy(&source, &mut target)?;
    assert_eq!(target.to_vec()?, numbers(100));
    let mut unused: cuda_driver::DeviceAllocation<MaybeUninit<u8>> = stream.uninitialized(7)?;
    assert_eq!(unused.split_off(3)?.len(), 4);
    Ok(())
}

#[test]
fn zero_bytes_make_no_driver_call_and_no_entry() -> Test {
    let Some(bench) = Bench::only_software() else {
        return Ok(());
    };
    let (stream, other) = (bench.stream(), bench.stream());
    let (result, calls) = bench.calls_of(|| -> Test {
        let mut memory = stream.upload::<u32>(&[])?;
        assert!(memory.is_empty());
        assert_eq!(memory.size_in_bytes(), 0);
        assert_eq!(memory.to_vec()?, [0_u32; 0]);
        other.fill(&mut memory, 5)?;
        other.zero(&mut memory)?;
        let mut copy = stream.zeroed::<u32>(0)?;
        other.copy(&memory, &mut copy)?;
        let mut buffer = stream.pinned_zeroed::<u32>(0)?;
        assert!(buffer.is_empty());
        stream.copy(&memory, &mut buffer)?;
        stream.copy(&buffer, &mut memory)?;
        assert_eq!(buffer.as_slice()?, [0_u32; 0]);
        buffer.close()?;
        memory.close()?;
        Ok(())
    });
    result?;
    assert_eq!(calls, "no calls");
    Ok(())
}

#[test]
fn empty_memory_works_everywhere() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let mut empty = stream.zeroed::<f64>(0)?;
    assert_eq!(empty.to_vec()?, [0.0_f64; 0]);
    assert_eq!(empty.slice(..)?.len(), 0);
    assert!(empty.split_off(0)?.is_empty());
    assert!(empty.slice(0..1).is_err());
    let mut full = stream.upload(&[1.0, 2.0])?;
    stream.copy(&empty, &mut full.slice_mut(1..1)?)?;
    assert_eq!(full.to_vec()?, [1.0, 2.0]);
    Ok(())
}

#[test]
fn a_length_times_size_that_wraps_is_an_error() {
    let bench = Bench::new();
    let stream = bench.stream();
    for len in [
        usize::MAX,
        usize::MAX / 2,
        usize::MAX / 8 + 1,
        isize::MAX as usize / 8 + 1,
    ] {
        let errors = [
            stream.zeroed::<u64>(len).map(drop).expect_err("too long"),
            stream
                .uninitialized::<u64>(len)
                .map(drop)
                .expect_err("too long"),
            stream
                .pinned_zeroed::<u64>(len)
                .map(drop)
                .expect_err("too long"),
        ];
        for error in errors {
            assert_eq!(error.kind(), ErrorKind::OutOfMemory, "{error}");
            assert_eq!(error.call(), None, "{error}");
            assert!(error.to_string().contains(&len.to_string()), "{error}");
            assert!(error.to_string().contains("address space"), "{error}");
        }
    }
}

#[test]
fn more_than_the_device_has_is_out_of_memory_with_a_remedy() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let total = bench.context().memory_info()?.total;
    let error = stream
        .uninitialized::<u8>(total * 2)
        .map(drop)
        .expect_err("there is less");
    assert_eq!(error.kind(), ErrorKind::OutOfMemory);
    assert_eq!(error.status(), Some(CUresult::CUDA_ERROR_OUT_OF_MEMORY));
    assert_eq!(
        error.subject(),
        format!("allocate {} elements of 1 byte", total * 2)
    );
    assert!(error.remedy().is_some());
    assert!(!bench.context().is_poisoned());
    Ok(())
}

#[test]
fn memory_runs_out_at_the_limit_and_can_be_had_again_after_a_free() -> Test {
    let Some(bench) = Bench::only_software_with(|it| it.memory_limit(1 << 20)) else {
        return Ok(());
    };
    let stream = bench.stream();
    let first = stream.uninitialized::<u8>(800 << 10)?;
    let error = stream
        .uninitialized::<u8>(800 << 10)
        .map(drop)
        .expect_err("it is full");
    assert_eq!(error.kind(), ErrorKind::OutOfMemory);
    drop(first);
    stream.synchronize()?;
    stream.uninitialized::<u8>(800 << 10)?;
    Ok(())
}

#[test]
fn close_reports_and_a_shared_block_is_given_back() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    stream.zeroed::<u8>(100)?.close()?;
    let mut memory = stream.upload(&[1_u8, 2, 3, 4])?;
    let rest = memory.split_off(2)?;
    let error = memory.close().expect_err("the rest has an owner");
    assert_eq!(error.error().kind(), ErrorKind::StillShared);
    let memory = error.into_handle().ok_or("the handle comes back")?;
    assert_eq!(memory.to_vec()?, [1, 2]);
    drop(memory);
    assert_eq!(rest.to_vec()?, [3, 4]);
    rest.close()?;
    Ok(())
}

#[test]
fn memory_of_a_closed_stream_stays_usable() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let memory = stream.upload(&numbers(10))?;
    drop(stream);
    assert_eq!(memory.to_vec()?, numbers(10));
    Ok(())
}

#[test]
fn without_the_stream_ordered_allocator_memory_is_freed_after_its_last_use() -> Test {
    // Such a device has no memory pools: attribute 115.
    let mut device = cuda_sim::DeviceConfig::h200();
    device
        .attributes
        .push((cuda_sys::CUdevice_attribute(115), 0));
    let Some(bench) = Bench::only_software_with(|it| it.devices(vec![device])) else {
        return Ok(());
    };
    let (stream, other) = (bench.stream(), bench.stream());
    let (result, calls) = bench.calls_of(|| -> Test {
        let mut memory = stream.zeroed::<u32>(1000)?;
        other.fill(&mut memory, 9)?;
        assert_eq!(stream.download(&memory)?, [9; 1000]);
        other.fill(&mut memory, 8)?;
        drop(memory);
        Ok(())
    });
    result?;
    assert!(
        calls.contains("1 × cuMemAlloc_v2") && calls.contains("1 × cuMemFree_v2"),
        "{calls}"
    );
    assert!(
        !calls.contains("cuMemAllocAsync") && !calls.contains("cuMemFreeAsync"),
        "{calls}"
    );
    Ok(())
}
