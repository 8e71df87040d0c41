//! Devices of the software driver.

use super::*;
use crate::error::ErrorKind;

#[test]
fn what_a_device_is() -> Result<()> {
    let driver = Driver::simulated()?;
    let device = driver.device(0)?;
    assert!(!device.name()?.is_empty());
    assert_eq!(device.uuid()?, driver.device(0)?.uuid()?);
    assert!(device.total_memory()? > 0);
    assert!(device.warp_size()? == 32);
    assert!(device.compute_capability()? >= ComputeCapability::new(5, 0));
    let found = driver.device_by_pci_bus_id(&device.pci_bus_id()?)?;
    assert_eq!(found.ordinal(), 0);
    assert_eq!(
        device.pci_bus_id()?.to_lowercase(),
        device.pci_address()?.to_string()
    );
    assert!(!device.can_access_peer(&device)?);
    Ok(())
}

#[test]
fn an_attribute_newer_than_the_driver_is_named() -> Result<()> {
    let device = Driver::simulated()?.device(0)?;
    let error = device.raw_attribute(CUdevice_attribute(9999)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.to_string().contains("9999"), "{error}");
    assert!(error.to_string().contains("does not know"), "{error}");
    Ok(())
}

#[test]
fn devices_of_two_drivers_do_not_mix() -> Result<()> {
    let here = Driver::simulated()?.device(0)?;
    let there = Driver::simulated()?.device(0)?;
    let error = here.can_access_peer(&there).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Mismatch);
    Ok(())
}

#[test]
fn all_attributes_agree_with_their_readers() -> Result<()> {
    let device = Driver::simulated()?.device(0)?;
    let all = device.all_attributes();
    let value = |name| all.iter().find(|(row, _)| *row == name).map(|(_, it)| it);
    match value("CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT") {
        Some(Ok(count)) => {
            assert_eq!(u32::try_from(*count)?, device.multiprocessor_count()?);
        }
        other => panic!("{other:?}"),
    }
    Ok(())
}
