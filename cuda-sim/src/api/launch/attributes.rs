//! The attributes of a launch: `CUlaunchAttribute`.

use cuda_sys::{CUevent, CUlaunchAttribute, CUlaunchAttributeID, CUlaunchConfig};

use super::super::prelude::*;
use super::unsupported;

/// What the attributes of a launch ask for.
#[derive(Debug, Default)]
pub(in crate::api) struct Attributes {
    pub(in crate::api) cooperative: bool,
    /// It may begin before the kernel before it has ended.
    pub(super) dependent: bool,
    /// Blocks of a cluster; nothing where the kernel decides.
    pub(in crate::api) cluster: Option<[u32; 3]>,
    /// Blocks of the clusters that the device may form instead.
    pub(super) preferred_cluster: Option<[u32; 3]>,
    /// Events to be recorded when all blocks have begun, with their flags.
    pub(super) events: Vec<(CUevent, c_uint)>,
}

/// Domains that a launch's memory operations can be assigned to.
const MEMORY_DOMAINS: u8 = 4;

impl Attributes {
    /// Reads them. Those that guide the hardware are checked and without effect.
    ///
    /// # Errors
    /// `INVALID_VALUE` for what no launch has, `INVALID_HANDLE` for no event, `NOT_SUPPORTED` for what belongs to graphs.
    pub(in crate::api) fn read(call: &Call<'_>, config: &CUlaunchConfig) -> Result<Self, CUresult> {
        let attributes = In::from_pointer(config.attrs.cast_const());
        let mut read = Self::default();
        for index in 0..config.numAttrs as usize {
            read.add(call, &attributes.at(index)?)?;
        }
        Ok(read)
    }

    fn add(&mut self, call: &Call<'_>, attribute: &CUlaunchAttribute) -> Answer {
        type A = CUlaunchAttributeID;
        let value = &attribute.value;
        let within = |allowed: bool| {
            if allowed {
                Ok(())
            } else {
                Err(code::INVALID_VALUE)
            }
        };
        match attribute.id {
            A::CU_LAUNCH_ATTRIBUTE_IGNORE
            | A::CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW
            | A::CU_LAUNCH_ATTRIBUTE_PRIORITY
            | A::CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING => Ok(()),
            A::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION => {
                // SAFETY: an attribute of that name has this value.
                self.dependent = unsafe { value.programmaticStreamSerializationAllowed } != 0;
                Ok(())
            }
            A::CU_LAUNCH_ATTRIBUTE_COOPERATIVE => {
                // SAFETY: an attribute of that name has this value.
                self.cooperative = unsafe { value.cooperative } != 0;
                Ok(())
            }
            A::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION => {
                // SAFETY: an attribute of that name has this value.
                let shape = unsafe { value.clusterDim };
                self.cluster = given([shape.x, shape.y, shape.z]);
                Ok(())
            }
            A::CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION => {
                // SAFETY: an attribute of that name has this value.
                let shape = unsafe { value.preferredClusterDim };
                self.preferred_cluster = given([shape.x, shape.y, shape.z]);
                Ok(())
            }
            A::CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE => {
                // SAFETY: an attribute of that name has this value.
                within(unsafe { value.clusterSchedulingPolicyPreference }.0 <= 2)
            }
            A::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP => {
                // SAFETY: an attribute of that name has this value.
                let map = unsafe { value.memSyncDomainMap };
                within(map.default_.max(map.remote) < MEMORY_DOMAINS)
            }
            A::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN => {
                // SAFETY: an attribute of that name has this value.
                within(unsafe { value.memSyncDomain }.0 <= 1)
            }
            A::CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => {
                // SAFETY: an attribute of that name has this value.
                within(unsafe { value.sharedMemCarveout } <= 100)
            }
            A::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT => {
                // SAFETY: an attribute of that name has this value.
                let event = unsafe { value.programmaticEvent };
                check_event(call, event.event, event.flags)?;
                let what = "CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT: events that a kernel triggers";
                Err(unsupported(call, format!("{}: {what}", call.symbol)))
            }
            A::CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT => {
                // SAFETY: an attribute of that name has this value.
                let event = unsafe { value.launchCompletionEvent };
                let flags = check_event(call, event.event, event.flags)?;
                self.events.push((event.event, flags));
                Ok(())
            }
            // A node of a graph that the device changes.
            A::CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE => Err(code::NOT_SUPPORTED),
            // Those of streams, and those that drivers after 13.0 have.
            _ => Err(code::INVALID_VALUE),
        }
    }
}

/// Checks an event of a launch; gives its flags.
fn check_event(call: &Call<'_>, event: CUevent, flags: c_int) -> Result<c_uint, CUresult> {
    call.state().event(number(event), call.number)?;
    let flags = c_uint::try_from(flags).ok().filter(|flags| *flags <= 1);
    flags.ok_or(code::INVALID_VALUE)
}

/// A shape, unless it is left out.
fn given(shape: [u32; 3]) -> Option<[u32; 3]> {
    Some(shape).filter(|shape| shape.iter().any(|extent| *extent > 0))
}
