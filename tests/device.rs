//! Devices: how they are found, and what can be asked.

use cuda_driver::ErrorKind;
use cuda_sim::DeviceConfig;

use crate::support::Test;
use crate::support::bench::Bench;

#[test]
fn every_device_is_found_by_its_ordinal_and_its_pci_address() -> Test {
    let bench = Bench::new();
    let driver = bench.driver();
    let devices = driver.devices()?;
    assert_eq!(devices.len(), driver.device_count()?);
    for (ordinal, device) in devices.iter().enumerate() {
        assert_eq!(device.ordinal(), ordinal);
        let address = device.pci_bus_id()?;
        let found = driver.device_by_pci_bus_id(&address)?;
        assert_eq!(found.ordinal(), ordinal);
        assert_eq!(found.as_raw(), device.as_raw());
        let numbers = device.pci_address()?.to_string();
        assert_eq!(driver.device_by_pci_bus_id(&numbers)?.ordinal(), ordinal);
        assert!(device.driver().is_same(driver));
    }
    Ok(())
}

#[test]
fn an_ordinal_beyond_the_last_is_an_invalid_device() -> Test {
    let bench = Bench::new();
    let count = bench.driver().device_count()?;
    for ordinal in [count, count + 1000, usize::MAX] {
        let error = bench.driver().device(ordinal).expect_err("there is none");
        assert_eq!(error.kind(), ErrorKind::InvalidDevice, "{error}");
        assert_eq!(error.call(), Some("cuDeviceGet"));
        assert_eq!(error.subject(), format!("find device {ordinal}"));
        let there = match count {
            1 => "there is 1 device: 0".to_owned(),
            _ => format!("there are {count} devices: 0 to {}", count - 1),
        };
        assert_eq!(error.remedy(), Some(there.as_str()));
    }
    Ok(())
}

#[test]
fn a_pci_address_of_no_device_is_refused() {
    let bench = Bench::new();
    for address in ["ffff:ff:1f.0", "", "no address", "0000:00:00.0\0"] {
        let error = bench
            .driver()
            .device_by_pci_bus_id(address)
            .expect_err(address);
        let kind = error.kind();
        assert!(
            matches!(kind, ErrorKind::InvalidDevice | ErrorKind::InvalidArgument),
            "{address:?}: {error}"
        );
    }
}

#[test]
fn the_attributes_are_sane() -> Test {
    let bench = Bench::new();
    let device = bench.driver().device(0)?;
    assert!(device.name()?.contains("NVIDIA"));
    assert!(device.total_memory()? >= 1 << 30);
    assert!(bench.context().memory_info()?.total <= device.total_memory()?);
    let capability = device.compute_capability()?;
    assert!((5..100).contains(&capability.major), "{capability}");
    assert_eq!(device.warp_size()?, 32);
    assert!(device.multiprocessor_count()? > 0);
    let [x, y, z] = device.max_block_dim()?;
    let threads = device.max_threads_per_block()?;
    assert!(x <= threads && y <= threads && z <= threads);
    assert!(device.max_grid_dim()?.iter().all(|&size| size >= 65_535));
    Ok(())
}

#[test]
fn every_attribute_has_a_value_or_says_why_not() -> Test {
    let bench = Bench::new();
    let device = bench.driver().device(0)?;
    let all = device.all_attributes();
    assert!(all.len() > 100, "{}", all.len());
    let known = all.iter().filter(|(_, value)| value.is_ok()).count();
    assert!(known > 90, "{known}");
    for (name, value) in all {
        if let Err(error) = value {
            assert!(
                error.to_string().contains("does not know the attribute"),
                "{name}: {error}"
            );
        }
    }
    Ok(())
}

#[test]
fn an_attribute_that_nobody_knows_is_an_invalid_argument() {
    let bench = Bench::new();
    let device = bench.driver().device(0).expect("there is one");
    let unknown = cuda_sys::CUdevice_attribute(9999);
    let error = device.raw_attribute(unknown).expect_err("nobody knows it");
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert_eq!(error.call(), Some("cuDeviceGetAttribute"));
}

#[test]
fn each_device_has_a_uuid_of_its_own() -> Test {
    let bench = Bench::new();
    let mut uuids = Vec::new();
    for device in bench.driver().devices()? {
        let uuid = device.uuid()?.to_string();
        assert!(!uuids.contains(&uuid));
        uuids.push(uuid);
    }
    Ok(())
}

#[test]
fn several_devices_have_contexts_of_their_own() -> Test {
    let devices = vec![DeviceConfig::h200(), DeviceConfig::h200()];
    let Some(bench) = Bench::only_software_with(|it| it.devices(devices)) else {
        return Ok(());
    };
    let (one, two) = (bench.driver().device(0)?, bench.driver().device(1)?);
    let second = two.primary_context()?;
    assert!(!second.is_same(bench.context()));
    assert_eq!(second.device().ordinal(), 1);
    assert_ne!(one.pci_bus_id()?, two.pci_bus_id()?);
    assert_ne!(one.uuid()?.to_string(), two.uuid()?.to_string());
    let stream = second.create_stream()?;
    assert_eq!(stream.upload(&[1_u8, 2])?.to_vec()?, [1, 2]);
    Ok(())
}

#[test]
fn devices_of_different_drivers_are_no_peers() -> Test {
    let bench = Bench::new();
    let other = cuda_driver::Driver::simulated()?;
    let (here, there) = (bench.driver().device(0)?, other.device(0)?);
    let error = here.can_access_peer(&there).expect_err("they have no link");
    assert_eq!(error.kind(), ErrorKind::Mismatch);
    assert_eq!(
        here.peer_link(&there).expect_err("none").kind(),
        ErrorKind::Mismatch
    );
    Ok(())
}
