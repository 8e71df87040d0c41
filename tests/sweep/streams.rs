//! Streams, events and host functions.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cuda_driver::{AnyStream, Event, EventFlags, StreamFlags};

use super::{Operation, context};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation {
        items: &["Context::create_stream", "Stream::close"],
        run: |driver| {
            let stream = context(driver)?.create_stream()?;
            assert!(stream.is_idle()?);
            stream.close().map_err(Into::into)
        },
    },
    Operation {
        items: &[
            "Context::create_stream_with",
            "AnyStream::priority",
            "AnyStream::flags",
        ],
        run: |driver| {
            let stream = context(driver)?.create_stream_with(StreamFlags::BLOCKING, -2)?;
            assert_eq!(stream.priority()?, -2);
            assert_eq!(stream.flags()?, StreamFlags::BLOCKING);
            Ok(())
        },
    },
    Operation {
        items: &[
            "AnyStream::is_idle",
            "Stream::is_idle",
            "AnyStream::synchronize",
            "Stream::synchronize",
        ],
        run: |driver| {
            let stream = context(driver)?.create_stream()?;
            let mut memory = stream.zeroed::<u32>(100)?;
            stream.fill(&mut memory, 1)?;
            stream.is_idle()?;
            stream.synchronize()?;
            assert!(stream.is_idle()?);
            AnyStream::synchronize(&stream)
        },
    },
    Operation {
        items: &["Context::legacy_stream", "Context::per_thread_stream"],
        run: |driver| {
            let context = context(driver)?;
            let (legacy, own) = (context.legacy_stream(), context.per_thread_stream());
            let mut memory = legacy.upload(&[1_u32; 100])?;
            own.fill(&mut memory, 2)?;
            own.synchronize()?;
            assert_eq!(memory.to_vec()?, [2; 100]);
            legacy.synchronize()
        },
    },
    Operation {
        items: &["Context::adopt_stream", "Stream::into_raw"],
        run: |driver| {
            let context = context(driver)?;
            let raw = context.create_stream()?.into_raw()?;
            // SAFETY: the stream was given away by the line before.
            let stream = unsafe { context.adopt_stream(raw) };
            assert_eq!(stream.upload(&[1_u8; 5])?.to_vec()?, [1; 5]);
            stream.close().map_err(Into::into)
        },
    },
    Operation {
        items: &["Context::with_borrowed_stream", "Context::keep_stream"],
        run: |driver| {
            let context = context(driver)?;
            let owner = context.create_stream()?;
            let home = context.create_stream()?;
            let mut memory = home.zeroed::<u32>(100)?;
            // SAFETY: the owner outlives the borrow.
            unsafe {
                context.with_borrowed_stream(owner.as_raw(), |stream| stream.fill(&mut memory, 7))
            }?;
            assert_eq!(memory.to_vec()?, [7; 100]);
            let raw = owner.as_raw();
            // SAFETY: the owner is kept with the stream.
            let kept = unsafe { context.keep_stream(raw, owner) };
            kept.fill(&mut memory, 8)?;
            assert_eq!(home.download(&memory)?, [8; 100]);
            Ok(())
        },
    },
    Operation {
        items: &["AnyStream::wait_for", "Stream::wait_for"],
        run: |driver| {
            let context = context(driver)?;
            let (one, other) = (context.create_stream()?, context.create_stream()?);
            let event = context.create_event(EventFlags::default())?;
            event.record(&one)?;
            other.wait_for(&event)?;
            AnyStream::wait_for(&other, &event)?;
            other.synchronize()
        },
    },
    Operation {
        items: &[
            "Context::create_event",
            "Event::record",
            "Event::is_complete",
            "Event::synchronize",
            "Event::elapsed_since",
            "Event::close",
        ],
        run: |driver| {
            let context = context(driver)?;
            let stream = context.create_stream()?;
            let start = context.create_event(EventFlags::TIMING)?;
            let end = context.create_event(EventFlags::TIMING)?;
            start.record(&stream)?;
            end.record(&stream)?;
            end.is_complete()?;
            end.synchronize()?;
            assert!(end.is_complete()?);
            end.elapsed_since(&start)?;
            end.close().map_err(Into::into)
        },
    },
    Operation {
        items: &["Event::into_raw", "Event::from_raw"],
        run: |driver| {
            let context = context(driver)?;
            let raw = context.create_event(EventFlags::TIMING)?.into_raw();
            // SAFETY: the event was given away by the line before.
            let event = unsafe { Event::from_raw(&context, raw, EventFlags::TIMING) };
            event.record(&context.create_stream()?)?;
            event.synchronize()
        },
    },
    Operation {
        items: &["AnyStream::host_function", "Stream::host_function"],
        run: |driver| {
            let stream = context(driver)?.create_stream()?;
            let count = Arc::new(AtomicU32::new(0));
            for _ in 0..2 {
                let count = Arc::clone(&count);
                stream.host_function(move || {
                    count.fetch_add(1, Ordering::Relaxed);
                })?;
            }
            stream.synchronize()?;
            assert_eq!(count.load(Ordering::Relaxed), 2);
            Ok(())
        },
    },
];
