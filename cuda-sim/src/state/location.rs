//! Where memory is, or is wished to be: a device, the host, or one of the host's nodes.

use cuda_sys::{CUdevice, CUmemLocation, CUmemLocationType, CUresult};

use crate::code;
use crate::state::State;

/// A `CUmemLocation`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Location {
    /// The device of that ordinal.
    Device(usize),
    /// The host, wherever.
    Host,
    /// A node of the host.
    HostNuma(i32),
}

/// What the older functions call the host.
const CPU: CUdevice = -1;
/// What stands for no location.
const NOWHERE: CUdevice = -2;

impl State {
    /// The location that a caller names.
    ///
    /// # Errors
    /// `INVALID_VALUE` for what is no location, `INVALID_DEVICE` for a device that is not there.
    pub(crate) fn location(&self, location: &CUmemLocation) -> Result<Location, CUresult> {
        // SAFETY: every variant of the union starts with plain integers, for which any bytes are valid.
        let id = unsafe { location.anonymous.id };
        match location.type_ {
            CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE => self.place_of(id),
            CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST => Ok(Location::Host),
            CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA if id == 0 => {
                Ok(Location::HostNuma(id))
            }
            // The software driver's host has one node.
            CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT => Ok(Location::HostNuma(0)),
            _ => Err(code::INVALID_VALUE),
        }
    }

    /// The location that a caller of the older functions names by a `CUdevice`, -1 for the host.
    ///
    /// # Errors
    /// `INVALID_DEVICE`
    pub(crate) fn old_location(&self, device: CUdevice) -> Result<Location, CUresult> {
        if device == CPU {
            Ok(Location::Host)
        } else {
            self.place_of(device)
        }
    }

    /// A device by its ordinal, which on a real driver is the `CUdevice`, or by its `CUdevice`.
    fn place_of(&self, id: i32) -> Result<Location, CUresult> {
        let ordinal = usize::try_from(id)
            .ok()
            .filter(|ordinal| *ordinal < self.devices.len());
        match ordinal {
            Some(ordinal) => Ok(Location::Device(ordinal)),
            None => self.ordinal(id).map(Location::Device),
        }
    }

    /// Type and number of a location, as a caller is told; nothing is of the type 0.
    pub(crate) fn describe_location(&self, location: Option<Location>) -> (u32, i32) {
        let (kind, id) = match location {
            Some(Location::Device(ordinal)) => (
                CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
                self.device_handle(ordinal),
            ),
            Some(Location::Host) => (CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST, 0),
            Some(Location::HostNuma(node)) => {
                (CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA, node)
            }
            None => (CUmemLocationType::CU_MEM_LOCATION_TYPE_INVALID, NOWHERE),
        };
        (kind.0, id)
    }

    /// A location as the older functions tell it: a `CUdevice`, -1 for the host, -2 for none.
    pub(crate) fn describe_old_location(&self, location: Option<Location>) -> i32 {
        match location {
            Some(Location::Device(ordinal)) => self.device_handle(ordinal),
            Some(Location::Host | Location::HostNuma(_)) => CPU,
            None => NOWHERE,
        }
    }
}
