//! Contexts: `CUDA_CTX` and peer access between contexts.

use cuda_sys::{CUcontext, CUctxCreateParams, CUdevice, CUexecAffinityParam, CUfunc_cache};

use super::prelude::*;
use super::primary_context::FLAGS;
use crate::state::context::{Context, ContextRef};
use crate::state::schedule;

built! {
    cuCtxCreate_v2 => create, (context: Out<CUcontext>, flags: c_uint, device: CUdevice);
    cuCtxCreate_v3 => create_with_affinity, (
        context: Out<CUcontext>, affinity: In<CUexecAffinityParam>, count: c_int, flags: c_uint, device: CUdevice
    );
    cuCtxCreate_v4 => create_with_params, (context: Out<CUcontext>, params: In<CUctxCreateParams>, flags: c_uint, device: CUdevice);
    cuCtxDestroy [cuCtxDestroy_v2] => destroy, (context: CUcontext);
    cuCtxPushCurrent [cuCtxPushCurrent_v2] => push_current, (context: CUcontext);
    cuCtxPopCurrent [cuCtxPopCurrent_v2] => pop_current, (context: Out<CUcontext>);
    cuCtxSetCurrent => set_current, (context: CUcontext);
    cuCtxGetCurrent => get_current, (context: Out<CUcontext>);
    cuCtxGetDevice => device, (device: Out<CUdevice>);
    cuCtxGetDevice_v2 => device_of, (device: Out<CUdevice>, context: CUcontext);
    cuCtxGetFlags => get_flags, (flags: Out<c_uint>);
    cuCtxSetFlags => set_flags, (flags: c_uint);
    cuCtxGetId => id, (context: CUcontext, id: Out<c_ulonglong>);
    cuCtxSynchronize => synchronize, ();
    cuCtxSynchronize_v2 => synchronize_context, (context: CUcontext);
    cuCtxGetCacheConfig => get_cache_config, (config: Out<CUfunc_cache>);
    cuCtxSetCacheConfig => set_cache_config, (config: CUfunc_cache);
    cuCtxGetApiVersion => api_version, (context: CUcontext, version: Out<c_uint>);
    cuCtxGetStreamPriorityRange => priority_range, (least: Out<c_int>, greatest: Out<c_int>);
    cuCtxResetPersistingL2Cache => reset_l2, ();
    cuCtxEnablePeerAccess => enable_peer_access, (peer: CUcontext, flags: c_uint);
    cuCtxDisablePeerAccess => disable_peer_access, (peer: CUcontext);
}

/// The greatest stream priority of a device like an H200; the least is 0.
pub(super) const GREATEST_PRIORITY: c_int = -5;

fn create(call: &Call<'_>, context: Out<CUcontext>, flags: c_uint, device: CUdevice) -> Answer {
    let context = context.check()?;
    let mut state = call.state();
    let ordinal = state.ordinal(device)?;
    if flags & !FLAGS != 0 || !matches!(flags & 7, 0 | 1 | 2 | 4) {
        return Err(code::INVALID_VALUE);
    }
    if let Some(result) = state.devices.get(ordinal).and_then(|device| device.poison) {
        return Err(result);
    }
    let life = state.new_life();
    let created = state
        .contexts
        .insert(Context::new(ordinal, false, flags, life, call.number));
    state
        .threads
        .entry(call.thread)
        .or_default()
        .stack
        .push(created);
    context.set(handle(created));
    Ok(())
}

fn create_with_affinity(
    call: &Call<'_>,
    context: Out<CUcontext>,
    affinity: In<CUexecAffinityParam>,
    count: c_int,
    flags: c_uint,
    device: CUdevice,
) -> Answer {
    if !affinity.is_null() && count > 0 {
        return Err(code::NOT_SUPPORTED);
    }
    create(call, context, flags, device)
}

fn create_with_params(
    call: &Call<'_>,
    context: Out<CUcontext>,
    params: In<CUctxCreateParams>,
    flags: c_uint,
    device: CUdevice,
) -> Answer {
    if !params.is_null() {
        let params = params.get()?;
        if params.numExecAffinityParams != 0 || !params.cigParams.is_null() {
            return Err(code::NOT_SUPPORTED);
        }
    }
    create(call, context, flags, device)
}

pub(super) fn destroy(call: &Call<'_>, context: CUcontext) -> Answer {
    let mut state = call.state();
    let handle = number(context);
    if handle == 0 {
        return Err(code::INVALID_VALUE);
    }
    let context = state.living(handle)?;
    if state.context_entry(handle)?.primary {
        return Err(code::INVALID_CONTEXT);
    }
    // Whatever the work ends with goes with the context.
    let _ = schedule::run_context(call.instance, &mut state, context);
    state.end_context(context, call.number);
    let thread = state.threads.entry(call.thread).or_default();
    if thread.stack.last() == Some(&handle) {
        thread.stack.pop();
    }
    Ok(())
}

/// Whether a context can be made current: a primary one also while nobody retains it.
fn currentable(state: &State, handle: u64) -> Result<u64, CUresult> {
    if state.context_entry(handle)?.primary {
        return Ok(handle);
    }
    state.living(handle).map(|context| context.handle)
}

fn push_current(call: &Call<'_>, context: CUcontext) -> Answer {
    let mut state = call.state();
    if context.is_null() {
        return Err(code::INVALID_VALUE);
    }
    let context = currentable(&state, number(context))?;
    state
        .threads
        .entry(call.thread)
        .or_default()
        .stack
        .push(context);
    Ok(())
}

fn pop_current(call: &Call<'_>, context: Out<CUcontext>) -> Answer {
    let mut state = call.state();
    let popped = state
        .threads
        .entry(call.thread)
        .or_default()
        .stack
        .pop()
        .ok_or(code::INVALID_CONTEXT)?;
    context.set(handle(popped));
    Ok(())
}

fn set_current(call: &Call<'_>, context: CUcontext) -> Answer {
    let mut state = call.state();
    let context = match number(context) {
        0 => None,
        handle => Some(currentable(&state, handle)?),
    };
    let stack = &mut state.threads.entry(call.thread).or_default().stack;
    stack.pop();
    stack.extend(context);
    Ok(())
}

fn get_current(call: &Call<'_>, context: Out<CUcontext>) -> Answer {
    context
        .check()?
        .set(handle(call.state().current_handle(call.thread)));
    Ok(())
}

fn device(call: &Call<'_>, device: Out<CUdevice>) -> Answer {
    let device = device.check()?;
    let state = call.state();
    // Also of a context that is no more.
    let entry = state.context_entry(state.current_handle(call.thread))?;
    device.set(state.device_handle(entry.device));
    Ok(())
}

/// The context of an argument that may be null for the current one.
fn given_or_current(
    call: &Call<'_>,
    state: &State,
    context: CUcontext,
) -> Result<ContextRef, CUresult> {
    match number(context) {
        0 => state.current_unchecked(call.thread),
        handle => state.living(handle),
    }
}

fn device_of(call: &Call<'_>, device: Out<CUdevice>, context: CUcontext) -> Answer {
    let device = device.check()?;
    let state = call.state();
    let context = given_or_current(call, &state, context)?;
    device.set(state.device_handle(state.device_of(context)));
    Ok(())
}

fn get_flags(call: &Call<'_>, flags: Out<c_uint>) -> Answer {
    let flags = flags.check()?;
    let state = call.state();
    let entry = state.context_entry(state.current_handle(call.thread))?;
    // Primary contexts always map host memory.
    const MAP_HOST: u32 = 8;
    flags.set(entry.flags | if entry.primary { MAP_HOST } else { 0 });
    Ok(())
}

fn set_flags(call: &Call<'_>, flags: c_uint) -> Answer {
    let mut state = call.state();
    let context = state.current(call.thread)?;
    if flags & !FLAGS != 0 {
        return Err(code::INVALID_VALUE);
    }
    state.contexts.get_mut(context.handle)?.flags = flags;
    Ok(())
}

fn id(call: &Call<'_>, context: CUcontext, id: Out<c_ulonglong>) -> Answer {
    let id = id.check()?;
    let state = call.state();
    let context = given_or_current(call, &state, context)?;
    id.set(context.life);
    Ok(())
}

/// Runs all of a context's work and gives the error that it ended with.
pub(super) fn finish(
    call: &Call<'_>,
    state: &mut parking_lot::MutexGuard<'_, State>,
    context: ContextRef,
) -> Answer {
    schedule::run_context(call.instance, state, context)?;
    state.healthy(context).map(|_| ())
}

fn synchronize(call: &Call<'_>) -> Answer {
    let mut state = call.state();
    let context = state.current(call.thread)?;
    synchronize_checked(call, &mut state, context)
}

fn synchronize_context(call: &Call<'_>, context: CUcontext) -> Answer {
    let mut state = call.state();
    let context = given_or_current(call, &state, context)?;
    state.healthy(context)?;
    synchronize_checked(call, &mut state, context)
}

fn synchronize_checked(
    call: &Call<'_>,
    state: &mut parking_lot::MutexGuard<'_, State>,
    context: ContextRef,
) -> Answer {
    // Waiting for a whole context disturbs a capture in any of its streams, whatever the thread's mode.
    let captured: Vec<u64> = state
        .streams
        .iter()
        .filter(|(_, stream)| stream.context == context)
        .filter_map(|(_, stream)| stream.capture)
        .collect();
    for id in &captured {
        if let Some(capture) = state.captures.get_mut(id) {
            capture.invalidated = true;
        }
    }
    if !captured.is_empty() {
        return Err(code::STREAM_CAPTURE_UNSUPPORTED);
    }
    state.check_captures(call.thread)?;
    finish(call, state, context)
}

fn get_cache_config(call: &Call<'_>, config: Out<CUfunc_cache>) -> Answer {
    let config = config.check()?;
    let state = call.state();
    let context = state.current(call.thread)?;
    config.set(CUfunc_cache(
        state.context_entry(context.handle)?.cache_config as _,
    ));
    Ok(())
}

fn set_cache_config(call: &Call<'_>, config: CUfunc_cache) -> Answer {
    let mut state = call.state();
    let context = state.current(call.thread)?;
    if config.0 > 3 {
        return Err(code::INVALID_VALUE);
    }
    state.contexts.get_mut(context.handle)?.cache_config = config.0;
    Ok(())
}

fn api_version(call: &Call<'_>, context: CUcontext, version: Out<c_uint>) -> Answer {
    let version = version.check()?;
    let state = call.state();
    given_or_current(call, &state, context).map_err(|_| code::INVALID_CONTEXT)?;
    version.set(3020);
    Ok(())
}

fn priority_range(call: &Call<'_>, least: Out<c_int>, greatest: Out<c_int>) -> Answer {
    call.state().current(call.thread)?;
    least.set(0);
    greatest.set(GREATEST_PRIORITY);
    Ok(())
}

fn reset_l2(call: &Call<'_>) -> Answer {
    call.state().current(call.thread).map(|_| ())
}

fn enable_peer_access(call: &Call<'_>, peer: CUcontext, flags: c_uint) -> Answer {
    let mut state = call.state();
    let context = state.current(call.thread)?;
    let peer = state.living(number(peer))?;
    if flags != 0 {
        return Err(code::INVALID_VALUE);
    }
    if state.device_of(peer) == state.device_of(context) {
        return Err(code::PEER_ACCESS_UNSUPPORTED);
    }
    let added = state
        .contexts
        .get_mut(context.handle)?
        .peers
        .insert(peer.handle);
    if added {
        Ok(())
    } else {
        Err(code::PEER_ACCESS_ALREADY_ENABLED)
    }
}

fn disable_peer_access(call: &Call<'_>, peer: CUcontext) -> Answer {
    let mut state = call.state();
    let context = state.current(call.thread)?;
    let peer = state.living(number(peer))?;
    let removed = state
        .contexts
        .get_mut(context.handle)?
        .peers
        .remove(&peer.handle);
    if removed {
        Ok(())
    } else {
        Err(code::PEER_ACCESS_NOT_ENABLED)
    }
}
