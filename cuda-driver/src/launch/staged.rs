//! Launches with host memory as arguments: copied to the device before and from it after, in the order of the stream.

use std::ffi::c_void;

use super::any_config::sealed::Sealed as Config;
use super::host::{Flow, HostRange};
use super::launch_tracked;
use crate::error::{Doing, Result};
use crate::function::FunctionCore;
use crate::memory::{StreamMemory, device_to_host, host_to_device, offset};
use crate::order::Access;
use crate::stream::StreamCore;

/// Copies start at multiples of this on the device, as allocations do.
const ALIGNMENT: usize = 256;

/// A launch of which the arguments in `hosts`, at their places, are host memory.
///
/// When it returns, nothing of the host is in use any more.
pub(super) fn launch_staged(
    function: &FunctionCore,
    stream: &StreamCore,
    config: &dyn Config,
    pointers: &mut [*mut c_void],
    uses: &mut [Option<Access<'_, StreamCore>>],
    hosts: &[Option<HostRange>],
) -> Result<()> {
    let doing = || format!("launch `{}`", function.name());
    let bytes = |host: &HostRange| host.bytes.next_multiple_of(ALIGNMENT);
    // What does not fit the address space does not fit the device either.
    let all = hosts.iter().flatten().map(bytes);
    let total = all.fold(0, usize::saturating_add);
    // Freed in the order of the stream, however this ends.
    let memory = StreamMemory::allocate(stream, total).doing(doing)?;
    let mut addresses = Vec::with_capacity(hosts.len());
    let mut next = memory.address();
    for host in hosts {
        let empty = host.is_none_or(|host| host.bytes == 0);
        addresses.push(if empty { 0 } else { next });
        next += host.as_ref().map_or(0, |host| offset(bytes(host)));
    }
    let staged = || {
        let all = hosts.iter().zip(&addresses);
        all.filter_map(|(host, address)| host.map(|host| (host, *address)))
            .filter(|(host, _)| host.bytes != 0)
    };
    for (host, address) in staged() {
        if host.flow == Flow::Out {
            memory.zero(address, host.bytes).doing(doing)?;
        } else {
            host_to_device(stream, host.start, (address, None), host.bytes).doing(doing)?;
        }
    }
    for ((pointer, host), address) in pointers.iter_mut().zip(hosts).zip(&addresses) {
        if host.is_some() {
            *pointer = std::ptr::from_ref(address).cast_mut().cast();
        }
    }
    launch_tracked(function, stream, config, pointers, uses)?;
    for (host, address) in staged() {
        if host.flow != Flow::In {
            device_to_host(stream, (address, None), host.start, host.bytes).doing(doing)?;
        }
    }
    Ok(())
}
