//! CUDA arrays: made, described and destroyed; copies are with the other copies. Mipmapped, sparse and planar ones are missing, and textures
//! and surfaces of them.

use cuda_sys::{
    CUDA_ARRAY_DESCRIPTOR, CUDA_ARRAY_MEMORY_REQUIREMENTS, CUDA_ARRAY3D_DESCRIPTOR, CUarray,
    CUarray_format, CUdevice,
};

use super::prelude::*;
use crate::device::DeviceConfig;
use crate::state::array::Shape;
use crate::state::schedule;

built! {
    cuArrayCreate_v2 => create, (array: Out<CUarray>, descriptor: In<CUDA_ARRAY_DESCRIPTOR>);
    cuArray3DCreate_v2 => create_3d, (array: Out<CUarray>, descriptor: In<CUDA_ARRAY3D_DESCRIPTOR>);
    cuArrayGetDescriptor_v2 => descriptor, (descriptor: Out<CUDA_ARRAY_DESCRIPTOR>, array: CUarray);
    cuArray3DGetDescriptor_v2 => descriptor_3d, (descriptor: Out<CUDA_ARRAY3D_DESCRIPTOR>, array: CUarray);
    cuArrayGetMemoryRequirements => requirements, (
        requirements: Out<CUDA_ARRAY_MEMORY_REQUIREMENTS>, array: CUarray, device: CUdevice
    );
    cuArrayDestroy => destroy, (array: CUarray);
}

const LAYERED: u32 = 1;
const SURFACE: u32 = 2;
const CUBEMAP: u32 = 4;
const GATHER: u32 = 8;
/// Depth textures, colour attachments, sparse and deferred arrays, video.
const UNBUILT: u32 = 0x1f0;

fn create(call: &Call<'_>, array: Out<CUarray>, descriptor: In<CUDA_ARRAY_DESCRIPTOR>) -> Answer {
    let array = array.check()?;
    let asked = descriptor.get()?;
    let shape = Shape {
        width: asked.Width,
        height: asked.Height,
        depth: 0,
        format: asked.Format.0,
        channels: asked.NumChannels,
        flags: 0,
    };
    create_shape(call, array, shape)
}

fn create_3d(
    call: &Call<'_>,
    array: Out<CUarray>,
    descriptor: In<CUDA_ARRAY3D_DESCRIPTOR>,
) -> Answer {
    let array = array.check()?;
    let asked = descriptor.get()?;
    let shape = Shape {
        width: asked.Width,
        height: asked.Height,
        depth: asked.Depth,
        format: asked.Format.0,
        channels: asked.NumChannels,
        flags: asked.Flags,
    };
    create_shape(call, array, shape)
}

fn create_shape(call: &Call<'_>, array: Out<CUarray>, shape: Shape) -> Answer {
    let mut state = call.state();
    let context = state.current(call.thread)?;
    let device = state.devices.get(state.device_of(context));
    accept(&device.ok_or(code::INVALID_CONTEXT)?.config, &shape)?;
    state.check_captures(call.thread)?;
    array.set(handle(state.create_array(context, shape, call.number)?));
    Ok(())
}

/// Refuses shapes that a device does not have.
fn accept(device: &DeviceConfig, shape: &Shape) -> Answer {
    if shape.flags & UNBUILT != 0 {
        return Err(code::NOT_SUPPORTED);
    }
    if shape.flags & !(LAYERED | SURFACE | CUBEMAP | GATHER) != 0 || shape.element().is_none() {
        return Err(code::INVALID_VALUE);
    }
    // The limits of each kind of array are device attributes: width, height, depth or layers.
    let (layered, cubemap) = (shape.flags & LAYERED != 0, shape.flags & CUBEMAP != 0);
    let limits: [Option<u32>; 3] = match (shape.height, shape.depth) {
        _ if cubemap => match (layered, shape.depth) {
            (false, 6) => [Some(52), Some(52), None],
            (true, depth) if depth > 0 && depth.is_multiple_of(6) => [Some(53), Some(53), Some(54)],
            _ => return Err(code::INVALID_VALUE),
        },
        (_, 0) if layered => return Err(code::INVALID_VALUE),
        (0, _) if layered => [Some(42), None, Some(43)],
        (_, _) if layered => [Some(27), Some(28), Some(29)],
        (0, 0) => [Some(21), None, None],
        (_, 0) => [Some(22), Some(23), None],
        (0, _) => return Err(code::INVALID_VALUE),
        (_, _) => [Some(24), Some(25), Some(26)],
    };
    let square = !cubemap || shape.width == shape.height;
    let gathered = shape.flags & GATHER == 0 || shape.height > 0 && shape.depth == 0;
    let fits = [shape.width, shape.height, shape.depth]
        .into_iter()
        .zip(limits)
        .all(|(len, limit)| {
            let limit = limit.and_then(|attribute| device.attribute(attribute, 0));
            limit.is_none_or(|limit| len <= limit.max(0) as usize)
        });
    if shape.width == 0 || !square || !gathered || !fits {
        return Err(code::INVALID_VALUE);
    }
    Ok(())
}

fn descriptor(call: &Call<'_>, descriptor: Out<CUDA_ARRAY_DESCRIPTOR>, array: CUarray) -> Answer {
    let descriptor = descriptor.check()?;
    let state = call.state();
    state.current(call.thread)?;
    let shape = state.array(number(array))?.shape;
    descriptor.set(CUDA_ARRAY_DESCRIPTOR {
        Width: shape.width,
        Height: shape.height,
        Format: CUarray_format(shape.format),
        NumChannels: shape.channels,
    });
    Ok(())
}

fn descriptor_3d(
    call: &Call<'_>,
    descriptor: Out<CUDA_ARRAY3D_DESCRIPTOR>,
    array: CUarray,
) -> Answer {
    let descriptor = descriptor.check()?;
    let state = call.state();
    state.current(call.thread)?;
    let shape = state.array(number(array))?.shape;
    descriptor.set(CUDA_ARRAY3D_DESCRIPTOR {
        Width: shape.width,
        Height: shape.height,
        Depth: shape.depth,
        Format: CUarray_format(shape.format),
        NumChannels: shape.channels,
        Flags: shape.flags,
    });
    Ok(())
}

fn requirements(
    call: &Call<'_>,
    requirements: Out<CUDA_ARRAY_MEMORY_REQUIREMENTS>,
    array: CUarray,
    device: CUdevice,
) -> Answer {
    requirements.check()?;
    let state = call.state();
    state.ordinal(device)?;
    state.array(number(array))?;
    // Only arrays whose memory is mapped later have such.
    Err(code::INVALID_VALUE)
}

fn destroy(call: &Call<'_>, array: CUarray) -> Answer {
    let mut state = call.state();
    state.current(call.thread)?;
    let device = state.device_of(state.array(number(array))?.context);
    state.check_captures(call.thread)?;
    // The release waits for what may use it.
    schedule::run_device(call.instance, &mut state, device)?;
    state.destroy_array(number(array), call.number)
}
