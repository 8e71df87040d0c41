//! Device and pinned memory: allocations, copies and fills, at home and away.

use cuda_driver::{Context, DeviceAllocation, Driver, Lender, Result, Stream};

use super::{Operation, context};
use crate::support::numbers;

/// A context with two streams.
fn two_streams(driver: &Driver) -> Result<(Context, Stream, Stream)> {
    let context = context(driver)?;
    let (home, other) = (context.create_stream()?, context.create_stream()?);
    Ok((context, home, other))
}

pub(super) const OPERATIONS: &[Operation] = &[
    Operation {
        items: &[
            "Stream::upload",
            "DeviceAllocation::to_vec",
            "DeviceAllocation::close",
        ],
        run: |driver| {
            let stream = context(driver)?.create_stream()?;
            let memory = stream.upload(&numbers(100))?;
            assert_eq!(memory.to_vec()?, numbers(100));
            memory.close().map_err(Into::into)
        },
    },
    Operation {
        items: &["Stream::uninitialized", "DeviceAllocation::assume_init"],
        run: |driver| {
            // The last device has no pools: its memory is the synchronous allocator's.
            for device in [0, 2] {
                let stream = driver.device(device)?.primary_context()?.create_stream()?;
                let memory = stream.uninitialized::<u32>(100)?;
                // SAFETY: nothing reads it before it is written.
                let mut memory = unsafe { memory.assume_init() };
                memory.copy_from(&numbers(100))?;
                assert_eq!(memory.to_vec()?, numbers(100));
            }
            Ok(())
        },
    },
    Operation {
        items: &["DeviceAllocation::copy_from", "DeviceAllocation::copy_to"],
        run: |driver| {
            let stream = context(driver)?.create_stream()?;
            // Small and staged; large and in pieces.
            for len in [100, (5 << 20) / 4] {
                let host = vec![7; len];
                let mut memory = stream.zeroed::<u32>(len)?;
                memory.copy_from(&host)?;
                let mut back = vec![0; len];
                memory.copy_to(&mut back)?;
                assert!(back == host);
            }
            Ok(())
        },
    },
    Operation {
        items: &[
            "Stream::zeroed",
            "Stream::fill",
            "Stream::zero",
            "DeviceAllocation::fill",
            "DeviceAllocation::zero",
        ],
        run: |driver| {
            let (_context, home, other) = two_streams(driver)?;
            let mut bytes = home.zeroed::<u8>(10)?;
            let mut words = home.zeroed::<u32>(10)?;
            let mut halves = home.zeroed::<u16>(10)?;
            bytes.fill(3)?;
            other.fill(&mut words, 0x0102_0304)?;
            other.fill(&mut halves, 0x0102)?;
            assert_eq!(bytes.to_vec()?, [3; 10]);
            assert_eq!(home.download(&words)?, [0x0102_0304; 10]);
            assert_eq!(home.download(&halves)?, [0x0102; 10]);
            words.zero()?;
            other.zero(&mut bytes)?;
            assert_eq!(words.to_vec()?, [0; 10]);
            assert_eq!(bytes.to_vec()?, [0; 10]);
            Ok(())
        },
    },
    Operation {
        items: &["Stream::copy", "Stream::download"],
        run: |driver| {
            let (_context, home, other) = two_streams(driver)?;
            let mut memory = home.zeroed::<u32>(100)?;
            other.fill(&mut memory, 1)?;
            home.copy(&numbers(50), &mut memory.slice_mut(..50)?)?;
            let mut copy = other.zeroed::<u32>(100)?;
            other.copy(&memory, &mut copy)?;
            let values = home.download(&copy)?;
            assert!(values[..50] == numbers(50) && values[50..] == [1; 50]);
            Ok(())
        },
    },
    Operation {
        items: &["Stream::copy"],
        run: |driver| {
            // Between devices.
            let (here, there) = (driver.device(0)?, driver.device(1)?);
            let home = here.primary_context()?.create_stream()?;
            let away = there.primary_context()?.create_stream()?;
            let source = home.upload(&numbers(100))?;
            let mut target = away.zeroed::<u32>(100)?;
            home.copy(&source, &mut target)?;
            assert_eq!(target.to_vec()?, numbers(100));
            Ok(())
        },
    },
    Operation {
        items: &["DeviceAllocation::split_off", "DeviceAllocation::slice"],
        run: |driver| {
            let (_context, home, other) = two_streams(driver)?;
            let mut left = home.upload(&numbers(100))?;
            let mut right = left.split_off(40)?;
            other.fill(&mut right, 5)?;
            home.fill(&mut left, 6)?;
            drop(left);
            assert_eq!(right.slice(10..)?.to_vec()?, [5; 50]);
            Ok(())
        },
    },
    Operation {
        items: &["a drop after use on other streams"],
        run: |driver| {
            let (_context, home, other) = two_streams(driver)?;
            let mut memory = home.zeroed::<u32>(100)?;
            let mut copy = other.zeroed::<u32>(100)?;
            other.copy(&memory, &mut copy)?;
            home.fill(&mut memory, 9)?;
            drop(memory);
            let again = home.zeroed::<u32>(100)?;
            assert_eq!(again.to_vec()?, [0; 100]);
            assert_eq!(copy.to_vec()?, [0; 100]);
            Ok(())
        },
    },
    Operation {
        items: &[
            "DeviceAllocation::into_raw_parts",
            "DeviceAllocation::from_raw_parts",
        ],
        run: |driver| {
            let (_context, home, other) = two_streams(driver)?;
            let mut memory = home.upload(&numbers(100))?;
            other.fill(&mut memory, 4)?;
            let parts = memory.into_raw_parts()?;
            // SAFETY: the parts were given away by the line before.
            let back: DeviceAllocation<u32> = unsafe { DeviceAllocation::from_raw_parts(parts) }?;
            assert_eq!(back.to_vec()?, [4; 100]);
            Ok(())
        },
    },
    Operation {
        items: &[
            "Stream::pinned_zeroed",
            "Stream::pinned_from",
            "PinnedBuffer::as_slice",
            "PinnedBuffer::close",
        ],
        run: |driver| {
            let (_context, home, other) = two_streams(driver)?;
            let mut buffer = home.pinned_from(&numbers(100))?;
            let mut target = home.pinned_zeroed::<u32>(100)?;
            let mut memory = home.zeroed::<u32>(100)?;
            home.copy(&buffer, &mut memory)?;
            buffer.as_mut_slice()?.fill(0);
            other.copy(&memory, &mut buffer)?;
            home.copy(&memory.slice(..50)?, &mut target.slice_mut(..50)?)?;
            assert_eq!(buffer.as_slice()?, numbers(100));
            assert_eq!(target.as_slice()?[..50], numbers(50));
            buffer.copy_from(&[1; 100])?;
            drop(target);
            buffer.close().map_err(Into::into)
        },
    },
    Operation {
        items: &["Context::with_borrowed_memory"],
        run: |driver| {
            let (context, home, other) = two_streams(driver)?;
            let lent = home.upload(&numbers(100))?;
            home.synchronize()?;
            // SAFETY: the memory has a hundred numbers, and outlives the closure; nothing else uses it meanwhile.
            unsafe {
                context.with_borrowed_memory::<u32, Stream, _>(
                    lent.as_raw(),
                    100,
                    Lender::Host,
                    |mut memory| other.fill(&mut memory, 8),
                )
            }??;
            assert_eq!(lent.to_vec()?, [8; 100]);
            Ok(())
        },
    },
    Operation {
        items: &["Stream::keep_memory"],
        run: |driver| {
            let (context, home, other) = two_streams(driver)?;
            let memory = home.upload(&numbers(100))?;
            let address = memory.as_raw();
            home.synchronize()?;
            let result = (|| {
                // SAFETY: the memory has a hundred numbers, and its owner is the allocation.
                let mut kept =
                    unsafe { home.keep_memory::<u32, Stream>(address, 100, Lender::Host, memory) }?;
                other.fill(&mut kept, 5)?;
                assert_eq!(kept.to_vec()?, [5; 100]);
                Ok(())
            })();
            // The owner holds the context by its memory, and waits there to be dropped.
            home.synchronize()?;
            other.synchronize()?;
            context.collect();
            result
        },
    },
];
