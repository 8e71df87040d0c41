//! Giving memory away and taking it over, with its home and the way to free it.

use cuda_driver::{Deallocation, DeviceAllocation, ErrorKind, RawAllocation, call};

use crate::support::bench::Bench;
use crate::support::kernels::SlowAdd;
use crate::support::{Test, numbers};

#[test]
fn memory_goes_away_and_comes_back() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let memory = stream.upload(&numbers(100))?;
    let address = memory.as_raw();
    let parts = memory.into_raw_parts()?;
    assert_eq!((parts.address, parts.len), (address, 100));
    assert_eq!(parts.deallocation, Deallocation::StreamOrdered);
    assert_eq!(parts.home.as_raw(), stream.as_raw());
    assert!(format!("{parts:?}").contains("len: 100"));
    // SAFETY: the parts are those that were given away just now.
    let back: DeviceAllocation<u32> = unsafe { DeviceAllocation::from_raw_parts(parts) }?;
    assert_eq!(back.to_vec()?, numbers(100));
    Ok(())
}

#[test]
fn memory_given_away_is_ordered_behind_all_work_on_it() -> Test {
    let bench = Bench::new();
    let (home, other) = (bench.stream(), bench.stream());
    let slow = SlowAdd::load(bench.context(), bench.slow());
    for _ in 0..bench.repeats().min(8) {
        let mut memory = home.zeroed::<f32>(256)?;
        slow.run(&other, memory.as_mut_slice(), 3.0)?;
        let parts = memory.into_raw_parts()?;
        // SAFETY: everything is ordered before what the home stream does from now on.
        let back: DeviceAllocation<f32> = unsafe { DeviceAllocation::from_raw_parts(parts) }?;
        assert_eq!(home.download(&back)?, [3.0; 256]);
    }
    Ok(())
}

#[test]
fn memory_given_away_is_freed_as_the_parts_say() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let RawAllocation {
        address,
        home,
        deallocation,
        ..
    } = stream.zeroed::<u8>(10)?.into_raw_parts()?;
    assert_eq!(deallocation, Deallocation::StreamOrdered);
    // SAFETY: the memory was given to us, and nothing uses it.
    unsafe { call!(bench.driver(), cuMemFreeAsync(address, home.as_raw())) }?;
    Ok(())
}

#[test]
fn memory_of_the_synchronous_allocator_is_freed_synchronously() -> Test {
    let bench = Bench::new();
    let stream = bench.stream();
    let mut address = 0;
    {
        let _current = bench.context().push()?;
        // SAFETY: the pointer is to a live address, and a context is current.
        unsafe { call!(bench.driver(), cuMemAlloc_v2(&raw mut address, 4000)) }?;
    }
    let parts = RawAllocation {
        address,
        len: 1000,
        home: stream.clone(),
        deallocation: Deallocation::Synchronous,
    };
    // SAFETY: the memory is live, of that size, from that allocator, and ours; every bit pattern is a number.
    let mut memory: DeviceAllocation<u32> = unsafe { DeviceAllocation::from_raw_parts(parts) }?;
    let other = bench.stream();
    other.fill(&mut memory, 4)?;
    assert_eq!(memory.to_vec()?, [4; 1000]);
    drop(memory);
    Ok(())
}

#[test]
fn a_part_of_a_block_is_not_given_away() -> Test {
    let bench = Bench::new();
    let mut memory = bench.stream().upload(&numbers(10))?;
    let rest = memory.split_off(5)?;
    let error = memory.into_raw_parts().expect_err("the rest has an owner");
    assert_eq!(error.error().kind(), ErrorKind::StillShared);
    let memory = error.into_handle().ok_or("the handle comes back")?;
    drop(rest);
    let error = memory.into_raw_parts().expect_err("it is only a part");
    assert_eq!(error.error().kind(), ErrorKind::InvalidArgument);
    assert_eq!(
        error
            .into_handle()
            .ok_or("the handle comes back")?
            .to_vec()?,
        numbers(5)
    );
    Ok(())
}

#[test]
fn empty_memory_is_not_given_away() -> Test {
    let bench = Bench::new();
    let error = bench
        .stream()
        .zeroed::<u8>(0)?
        .into_raw_parts()
        .expect_err("there is none");
    assert_eq!(error.error().kind(), ErrorKind::InvalidArgument);
    Ok(())
}

#[test]
fn parts_whose_size_wraps_are_refused() {
    let bench = Bench::new();
    let parts = RawAllocation {
        address: 256,
        len: usize::MAX,
        home: bench.stream(),
        deallocation: Deallocation::StreamOrdered,
    };
    // SAFETY: the size is refused before the address is used.
    let result = unsafe { DeviceAllocation::<u64>::from_raw_parts(parts) };
    assert_eq!(
        result.map(drop).expect_err("the size wraps").kind(),
        ErrorKind::OutOfMemory
    );
}
