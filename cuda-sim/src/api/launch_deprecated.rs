//! The first launches, which took shape and parameters from the function: `CUDA_EXEC_DEPRECATED`.

use cuda_sys::{CUfunction, CUstream};

use super::launch::{Attributes, Params, Shape, launch};
use super::prelude::*;
use crate::state::old_launch::OldLaunch;

built! {
    cuFuncSetBlockShape => block_shape, (function: CUfunction, x: c_int, y: c_int, z: c_int);
    cuFuncSetSharedSize => shared_size, (function: CUfunction, bytes: c_uint);
    cuParamSetSize => params_size, (function: CUfunction, bytes: c_uint);
    cuParamSeti => set_integer, (function: CUfunction, offset: c_int, value: c_uint);
    cuParamSetf => set_float, (function: CUfunction, offset: c_int, value: f32);
    cuParamSetv => set_bytes, (function: CUfunction, offset: c_int, value: In<c_void>, bytes: c_uint);
    cuLaunch => launch_one, (function: CUfunction);
    cuLaunchGrid => launch_grid, (function: CUfunction, width: c_int, height: c_int);
    cuLaunchGridAsync => launch_grid_async, (function: CUfunction, width: c_int, height: c_int, stream: CUstream);
}

/// Changes what a function keeps for its next launch.
fn change(
    call: &Call<'_>,
    function: CUfunction,
    change: impl FnOnce(&mut OldLaunch) -> bool,
) -> Answer {
    let mut state = call.state();
    let handle = number(function);
    state.function(handle)?;
    if change(&mut state.functions.get_mut(handle)?.old_launch) {
        Ok(())
    } else {
        Err(code::INVALID_VALUE)
    }
}

fn block_shape(call: &Call<'_>, function: CUfunction, x: c_int, y: c_int, z: c_int) -> Answer {
    let mut block = [0; 3];
    for (place, extent) in block.iter_mut().zip([x, y, z]) {
        *place = u32::try_from(extent).map_err(|_| code::INVALID_VALUE)?;
    }
    {
        let state = call.state();
        let facts = state.facts(state.function(number(function))?)?;
        let within = |(extent, number): (&u32, u32)| (1..=facts.limit(number)).contains(extent);
        let threads = crate::state::kernel::volume(block);
        if !block.iter().zip(2..).all(within) || threads > facts.limit(1) {
            return Err(code::INVALID_VALUE);
        }
    }
    change(call, function, |old| {
        old.block = block;
        true
    })
}

fn shared_size(call: &Call<'_>, function: CUfunction, bytes: c_uint) -> Answer {
    let most = {
        let state = call.state();
        state
            .facts(state.function(number(function))?)?
            .max_dynamic_shared()
    };
    change(call, function, |old| {
        if bytes <= most {
            old.shared = bytes;
        }
        bytes <= most
    })
}

fn params_size(call: &Call<'_>, function: CUfunction, bytes: c_uint) -> Answer {
    change(call, function, |old| {
        old.size = bytes as usize;
        true
    })
}

fn set(call: &Call<'_>, function: CUfunction, offset: c_int, bytes: &[u8]) -> Answer {
    let offset = usize::try_from(offset).map_err(|_| code::INVALID_VALUE)?;
    change(call, function, |old| old.set(offset, bytes))
}

fn set_integer(call: &Call<'_>, function: CUfunction, offset: c_int, value: c_uint) -> Answer {
    set(call, function, offset, &value.to_ne_bytes())
}

fn set_float(call: &Call<'_>, function: CUfunction, offset: c_int, value: f32) -> Answer {
    set(call, function, offset, &value.to_ne_bytes())
}

fn set_bytes(
    call: &Call<'_>,
    function: CUfunction,
    offset: c_int,
    value: In<c_void>,
    bytes: c_uint,
) -> Answer {
    let value = value.cast::<u8>();
    set(call, function, offset, value.bytes(bytes as usize)?)
}

fn launch_one(call: &Call<'_>, function: CUfunction) -> Answer {
    launch_grid(call, function, 1, 1)
}

fn launch_grid(call: &Call<'_>, function: CUfunction, width: c_int, height: c_int) -> Answer {
    launch_grid_async(call, function, width, height, std::ptr::null_mut())
}

fn launch_grid_async(
    call: &Call<'_>,
    function: CUfunction,
    width: c_int,
    height: c_int,
    stream: CUstream,
) -> Answer {
    let (Ok(width), Ok(height)) = (u32::try_from(width), u32::try_from(height)) else {
        return Err(code::INVALID_VALUE);
    };
    let (shape, params) = {
        let state = call.state();
        let old = &state.function(number(function))?.old_launch;
        let shape = Shape {
            grid: [width, height, 1],
            block: old.block,
            shared: old.shared,
            cooperative: false,
        };
        (shape, old.params())
    };
    let params = Params::Bytes(&params);
    launch(
        call,
        function,
        shape,
        &Attributes::default(),
        stream,
        params,
    )
}
