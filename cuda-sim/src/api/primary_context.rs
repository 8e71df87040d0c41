//! Primary contexts: `CUDA_PRIMARY_CTX`.

use cuda_sys::{CUcontext, CUdevice};

use super::prelude::*;
use crate::state::context::{Context, ContextRef};
use crate::state::schedule;

built! {
    cuDevicePrimaryCtxRetain => retain, (context: Out<CUcontext>, device: CUdevice);
    cuDevicePrimaryCtxRelease [cuDevicePrimaryCtxRelease_v2] => release, (device: CUdevice);
    cuDevicePrimaryCtxReset [cuDevicePrimaryCtxReset_v2] => reset, (device: CUdevice);
    cuDevicePrimaryCtxGetState => get_state, (device: CUdevice, flags: Out<c_uint>, active: Out<c_int>);
    cuDevicePrimaryCtxSetFlags [cuDevicePrimaryCtxSetFlags_v2] => set_flags, (device: CUdevice, flags: c_uint);
}

/// Flags that a context can have: scheduling, mapped host memory, local memory resize, core dumps, synchronous copies.
pub(super) const FLAGS: u32 = 0xff;

/// Makes a primary context usable and returns its handle.
fn activate(state: &mut State, ordinal: usize, call: u64) -> Result<u64, CUresult> {
    let handle = state.primary(ordinal);
    if !state.contexts.get(handle)?.alive {
        if let Some(result) = state.devices.get(ordinal).and_then(|device| device.poison) {
            return Err(result);
        }
        let flags = state
            .devices
            .get(ordinal)
            .map_or(0, |device| device.primary_flags);
        let life = state.new_life();
        *state.contexts.get_mut(handle)? = Context::new(ordinal, true, flags, life, call);
    }
    Ok(handle)
}

fn retain(call: &Call<'_>, context: Out<CUcontext>, device: CUdevice) -> Answer {
    let context = context.check()?;
    let mut state = call.state();
    let ordinal = state.ordinal(device)?;
    let primary = activate(&mut state, ordinal, call.number)?;
    if let Some(device) = state.devices.get_mut(ordinal) {
        device.primary_references += 1;
    }
    context.set(handle(primary));
    Ok(())
}

/// Ends the primary context's life after its work.
fn end(call: &Call<'_>, ordinal: usize) {
    let mut state = call.state();
    let handle = state.primary(ordinal);
    let Ok(context) = state.contexts.get(handle).map(|entry| ContextRef {
        handle,
        life: entry.life,
    }) else {
        return;
    };
    if state.is_alive(context) {
        // Whatever the work ends with goes with the context.
        let _ = schedule::run_context(call.instance, &mut state, context);
        state.end_context(context, call.number);
    }
}

fn release(call: &Call<'_>, device: CUdevice) -> Answer {
    let ordinal = {
        let mut state = call.state();
        let ordinal = state.ordinal(device)?;
        let device = state.devices.get_mut(ordinal).ok_or(code::INVALID_DEVICE)?;
        device.primary_references = device
            .primary_references
            .checked_sub(1)
            .ok_or(code::INVALID_CONTEXT)?;
        if device.primary_references > 0 {
            return Ok(());
        }
        ordinal
    };
    end(call, ordinal);
    Ok(())
}

fn reset(call: &Call<'_>, device: CUdevice) -> Answer {
    let ordinal = call.state().ordinal(device)?;
    end(call, ordinal);
    Ok(())
}

fn get_state(call: &Call<'_>, device: CUdevice, flags: Out<c_uint>, active: Out<c_int>) -> Answer {
    let mut state = call.state();
    let ordinal = state.ordinal(device)?;
    let (flags, active) = (flags.check()?, active.check()?);
    let primary = state.primary(ordinal);
    let context = state.contexts.get(primary)?;
    let stored = state
        .devices
        .get(ordinal)
        .map_or(0, |device| device.primary_flags);
    flags.set(if context.alive { context.flags } else { stored });
    active.set(c_int::from(context.alive));
    Ok(())
}

fn set_flags(call: &Call<'_>, device: CUdevice, flags: c_uint) -> Answer {
    let mut state = call.state();
    let ordinal = state.ordinal(device)?;
    if flags & !FLAGS != 0 || !matches!(flags & 7, 0 | 1 | 2 | 4) {
        return Err(code::INVALID_VALUE);
    }
    let primary = state.primary(ordinal);
    if let Some(device) = state.devices.get_mut(ordinal) {
        device.primary_flags = flags;
    }
    let context = state.contexts.get_mut(primary)?;
    if context.alive {
        context.flags = flags;
    }
    Ok(())
}
