//! Devices: `CUDA_DEVICE` and peer access.

use cuda_sys::{
    CUarray_format, CUdevice, CUdevice_P2PAttribute, CUdevice_attribute, CUdevprop,
    CUexecAffinityType, CUflushGPUDirectRDMAWritesScope, CUflushGPUDirectRDMAWritesTarget, CUuuid,
};

use super::prelude::*;
use crate::args::copy_text;

built! {
    cuDeviceGet => get, (device: Out<CUdevice>, ordinal: c_int);
    cuDeviceGetCount => count, (count: Out<c_int>);
    cuDeviceGetName => name, (name: Out<c_char>, len: c_int, device: CUdevice);
    cuDeviceGetUuid [cuDeviceGetUuid_v2] => uuid, (uuid: Out<CUuuid>, device: CUdevice);
    cuDeviceGetLuid => luid, (luid: Out<c_char>, mask: Out<c_uint>, device: CUdevice);
    cuDeviceTotalMem_v2 => total_memory, (bytes: Out<usize>, device: CUdevice);
    cuDeviceGetAttribute => attribute, (value: Out<c_int>, attribute: CUdevice_attribute, device: CUdevice);
    cuDeviceComputeCapability => compute_capability, (major: Out<c_int>, minor: Out<c_int>, device: CUdevice);
    cuDeviceGetProperties => properties, (properties: Out<CUdevprop>, device: CUdevice);
    cuDeviceGetTexture1DLinearMaxWidth => texture_width, (
        width: Out<usize>, format: CUarray_format, channels: c_uint, device: CUdevice
    );
    cuFlushGPUDirectRDMAWrites => flush_writes, (
        target: CUflushGPUDirectRDMAWritesTarget, scope: CUflushGPUDirectRDMAWritesScope
    );
    cuDeviceGetByPCIBusId => by_pci_bus_id, (device: Out<CUdevice>, text: Text);
    cuDeviceGetPCIBusId => pci_bus_id, (text: Out<c_char>, len: c_int, device: CUdevice);
    cuDeviceCanAccessPeer => can_access_peer, (answer: Out<c_int>, device: CUdevice, peer: CUdevice);
    cuDeviceGetP2PAttribute => p2p_attribute, (value: Out<c_int>, attribute: CUdevice_P2PAttribute, device: CUdevice, peer: CUdevice);
    cuDeviceGetExecAffinitySupport => exec_affinity, (answer: Out<c_int>, kind: CUexecAffinityType, device: CUdevice);
}

fn get(call: &Call<'_>, device: Out<CUdevice>, ordinal: c_int) -> Answer {
    let device = device.check()?;
    let state = call.state();
    let ordinal = usize::try_from(ordinal)
        .ok()
        .filter(|ordinal| *ordinal < state.devices.len());
    device.set(state.device_handle(ordinal.ok_or(code::INVALID_DEVICE)?));
    Ok(())
}

fn count(call: &Call<'_>, count: Out<c_int>) -> Answer {
    count.check()?.set(call.state().devices.len() as c_int);
    Ok(())
}

fn name(call: &Call<'_>, name: Out<c_char>, len: c_int, device: CUdevice) -> Answer {
    let name = name.check()?;
    let len = usize::try_from(len)
        .ok()
        .filter(|len| *len > 0)
        .ok_or(code::INVALID_VALUE)?;
    let state = call.state();
    let (_, device) = state.device(device)?;
    copy_text(name, len, &device.config.name);
    Ok(())
}

fn uuid(call: &Call<'_>, uuid: Out<CUuuid>, device: CUdevice) -> Answer {
    let uuid = uuid.check()?;
    let state = call.state();
    let (ordinal, device) = state.device(device)?;
    let bytes = device.config.uuid_bytes(ordinal);
    uuid.set(CUuuid {
        bytes: bytes.map(|byte| byte as c_char),
    });
    Ok(())
}

fn luid(call: &Call<'_>, luid: Out<c_char>, mask: Out<c_uint>, device: CUdevice) -> Answer {
    let _ = (luid.check()?, mask.check()?);
    call.state().ordinal(device)?;
    // Only Windows has such identifiers.
    Err(code::NOT_SUPPORTED)
}

fn total_memory(call: &Call<'_>, bytes: Out<usize>, device: CUdevice) -> Answer {
    let bytes = bytes.check()?;
    let state = call.state();
    bytes.set(state.device(device)?.1.config.total_memory as usize);
    Ok(())
}

fn attribute(
    call: &Call<'_>,
    value: Out<c_int>,
    attribute: CUdevice_attribute,
    device: CUdevice,
) -> Answer {
    let value = value.check()?;
    let state = call.state();
    let (ordinal, device) = state.device(device)?;
    value.set(
        device
            .config
            .attribute(attribute.0, ordinal)
            .ok_or(code::INVALID_VALUE)?,
    );
    Ok(())
}

fn compute_capability(
    call: &Call<'_>,
    major: Out<c_int>,
    minor: Out<c_int>,
    device: CUdevice,
) -> Answer {
    let (major, minor) = (major.check()?, minor.check()?);
    let state = call.state();
    let capability = state.device(device)?.1.config.compute_capability;
    major.set(capability.0 as c_int);
    minor.set(capability.1 as c_int);
    Ok(())
}

fn properties(call: &Call<'_>, properties: Out<CUdevprop>, device: CUdevice) -> Answer {
    let properties = properties.check()?;
    let state = call.state();
    let (ordinal, device) = state.device(device)?;
    let of = |number| device.config.attribute(number, ordinal).unwrap_or(0);
    properties.set(CUdevprop {
        maxThreadsPerBlock: of(1),
        maxThreadsDim: [2, 3, 4].map(of),
        maxGridSize: [5, 6, 7].map(of),
        sharedMemPerBlock: of(8),
        totalConstantMemory: of(9),
        SIMDWidth: of(10),
        memPitch: of(11),
        regsPerBlock: of(12),
        clockRate: of(13),
        textureAlign: of(14),
    });
    Ok(())
}

fn texture_width(
    call: &Call<'_>,
    width: Out<usize>,
    format: CUarray_format,
    channels: c_uint,
    device: CUdevice,
) -> Answer {
    let width = width.check()?;
    call.state().ordinal(device)?;
    let element = crate::state::array::element_size(format.0, channels);
    // A linear texture covers 4 GiB.
    width.set((1 << 32) / element.ok_or(code::INVALID_VALUE)?);
    Ok(())
}

/// Nothing but the devices writes here, so there is never something to flush.
fn flush_writes(
    call: &Call<'_>,
    target: CUflushGPUDirectRDMAWritesTarget,
    scope: CUflushGPUDirectRDMAWritesScope,
) -> Answer {
    call.state().current(call.thread)?;
    if target.0 == 0 && matches!(scope.0, 100 | 200) {
        Ok(())
    } else {
        Err(code::INVALID_VALUE)
    }
}

/// `domain:bus:device.function`, where domain and function may be missing, in hexadecimal digits.
fn parse_pci(text: &str) -> Option<(u32, u32, u32)> {
    let hex = |digits: &str| u32::from_str_radix(digits, 16).ok();
    let parts: Vec<&str> = text.split(':').collect();
    let (domain, bus, rest) = match parts.as_slice() {
        [bus, rest] => ("0", *bus, *rest),
        [domain, bus, rest] => (*domain, *bus, *rest),
        _ => return None,
    };
    let device = rest.split_once('.').map_or(rest, |(device, _)| device);
    Some((hex(domain)?, hex(bus)?, hex(device)?))
}

fn by_pci_bus_id(call: &Call<'_>, device: Out<CUdevice>, text: Text) -> Answer {
    let device = device.check()?;
    let wanted = text
        .get()?
        .to_str()
        .ok()
        .and_then(parse_pci)
        .ok_or(code::INVALID_VALUE)?;
    let state = call.state();
    let found = state
        .devices
        .iter()
        .enumerate()
        .position(|(ordinal, device)| device.config.pci_address(ordinal) == wanted);
    device.set(state.device_handle(found.ok_or(code::INVALID_DEVICE)?));
    Ok(())
}

fn pci_bus_id(call: &Call<'_>, text: Out<c_char>, len: c_int, device: CUdevice) -> Answer {
    let text = text.check()?;
    let state = call.state();
    let (ordinal, device) = state.device(device)?;
    let (domain, bus, number) = device.config.pci_address(ordinal);
    let id = format!("{domain:04X}:{bus:02X}:{number:02X}.0");
    let len = usize::try_from(len).ok().filter(|len| *len > id.len());
    let len = len.ok_or(code::INVALID_VALUE)?;
    copy_text(text, len, &id);
    Ok(())
}

fn can_access_peer(
    call: &Call<'_>,
    answer: Out<c_int>,
    device: CUdevice,
    peer: CUdevice,
) -> Answer {
    let answer = answer.check()?;
    let state = call.state();
    let (device, peer) = (state.ordinal(device)?, state.ordinal(peer)?);
    answer.set(c_int::from(device != peer));
    Ok(())
}

fn p2p_attribute(
    call: &Call<'_>,
    value: Out<c_int>,
    attribute: CUdevice_P2PAttribute,
    device: CUdevice,
    peer: CUdevice,
) -> Answer {
    let value = value.check()?;
    let state = call.state();
    if state.ordinal(device)? == state.ordinal(peer)? {
        return Err(code::INVALID_DEVICE);
    }
    value.set(match attribute {
        CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED
        | CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED
        | CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED => 1,
        // All peers are as fast, and all atomic operations reach them.
        CUdevice_P2PAttribute(1 | 5) => 0,
        _ => return Err(code::INVALID_VALUE),
    });
    Ok(())
}

fn exec_affinity(
    call: &Call<'_>,
    answer: Out<c_int>,
    kind: CUexecAffinityType,
    device: CUdevice,
) -> Answer {
    let answer = answer.check()?;
    call.state().ordinal(device)?;
    if kind.0 > 2 {
        return Err(code::INVALID_VALUE);
    }
    // Only under a multi-process service.
    answer.set(0);
    Ok(())
}
