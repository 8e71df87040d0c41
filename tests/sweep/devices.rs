//! Drivers, devices and contexts.

use cuda_driver::{CacheConfig, Context, ContextFlags, Limit};
use cuda_sys::CUresult;

use super::{Operation, context};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation {
        items: &["Driver::error_name", "Driver::error_description"],
        run: |driver| {
            let code = CUresult::CUDA_ERROR_INVALID_VALUE;
            assert_eq!(driver.error_name(code)?, "CUDA_ERROR_INVALID_VALUE");
            assert!(!driver.error_description(code)?.is_empty());
            Ok(())
        },
    },
    Operation {
        items: &["Driver::device", "Driver::device_count", "Driver::devices"],
        run: |driver| {
            assert_eq!(driver.device_count()?, 3);
            assert_eq!(driver.devices()?.len(), 3);
            assert_eq!(driver.device(1)?.ordinal(), 1);
            Ok(())
        },
    },
    Operation {
        items: &[
            "Device::name",
            "Device::uuid",
            "Device::total_memory",
            "Device::raw_attribute",
            "Device::all_attributes",
            "Device::pci_bus_id",
            "Driver::device_by_pci_bus_id",
            "Driver::module_loading_mode",
        ],
        run: |driver| {
            let device = driver.device(1)?;
            assert!(device.name()?.contains("H200"));
            assert_ne!(device.uuid()?, driver.device(0)?.uuid()?);
            assert!(device.total_memory()? > 1 << 30);
            assert_eq!(device.compute_capability()?.major, 9);
            let address = device.pci_bus_id()?;
            assert_eq!(driver.device_by_pci_bus_id(&address)?.ordinal(), 1);
            driver.module_loading_mode()?;
            Ok(())
        },
    },
    Operation {
        items: &["Device::can_access_peer", "Device::peer_link"],
        run: |driver| {
            let (one, other) = (driver.device(0)?, driver.device(1)?);
            one.can_access_peer(&other)?;
            one.peer_link(&other)?;
            Ok(())
        },
    },
    Operation {
        items: &["Device::primary_context", "Context::close"],
        run: |driver| {
            let held = context(driver)?;
            let other = held.clone();
            assert!(other.is_same(&held));
            drop(other);
            held.close().map_err(Into::into)
        },
    },
    Operation {
        items: &["Device::create_context", "Context::close"],
        run: |driver| {
            let created = driver.device(0)?.create_context(ContextFlags::default())?;
            let stream = created.create_stream()?;
            assert_eq!(stream.upload(&[1_u8, 2])?.to_vec()?, [1, 2]);
            drop(stream);
            created.close().map_err(Into::into)
        },
    },
    Operation {
        items: &["Context::from_borrowed_raw"],
        run: |driver| {
            let ours = context(driver)?;
            // SAFETY: the context is live, and outlives the borrowed handle.
            let borrowed = unsafe { Context::from_borrowed_raw(driver, ours.as_raw()) }?;
            assert!(borrowed.is_same(&ours));
            let created = driver.device(1)?.create_context(ContextFlags::default())?;
            // SAFETY: as above.
            let borrowed = unsafe { Context::from_borrowed_raw(driver, created.as_raw()) }?;
            assert_eq!(borrowed.device().ordinal(), 1);
            Ok(())
        },
    },
    Operation {
        items: &["Context::push", "Context::synchronize", "Context::collect"],
        run: |driver| {
            let context = context(driver)?;
            let guard = context.push()?;
            context.synchronize()?;
            context.collect();
            drop(guard);
            context.synchronize()
        },
    },
    Operation {
        items: &[
            "Context::memory_info",
            "Context::limit",
            "Context::set_limit",
            "Context::cache_config",
            "Context::set_cache_config",
            "Context::stream_priority_range",
        ],
        run: |driver| {
            let context = context(driver)?;
            let info = context.memory_info()?;
            assert!(info.free <= info.total);
            context.set_limit(Limit::StackSize, 4096)?;
            assert_eq!(context.limit(Limit::StackSize)?, 4096);
            context.set_cache_config(CacheConfig::PreferL1)?;
            context.cache_config()?;
            assert_eq!(context.stream_priority_range()?, -5..=0);
            Ok(())
        },
    },
];
