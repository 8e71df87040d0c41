//! Usage counts of contexts and the banks of shared memory: `CUDA_CTX_DEPRECATED`.

use cuda_sys::{CUcontext, CUsharedconfig};

use super::prelude::*;

built! {
    cuCtxAttach => attach, (context: Out<CUcontext>, flags: c_uint);
    cuCtxDetach => detach, (context: CUcontext);
    cuCtxGetSharedMemConfig => shared_config, (config: Out<CUsharedconfig>);
    cuCtxSetSharedMemConfig => set_shared_config, (config: CUsharedconfig);
}

fn attach(call: &Call<'_>, context: Out<CUcontext>, flags: c_uint) -> Answer {
    let context = context.check()?;
    let mut state = call.state();
    let current = state.current(call.thread)?;
    if flags != 0 {
        return Err(code::INVALID_VALUE);
    }
    let uses = &mut state.contexts.get_mut(current.handle)?.uses;
    *uses = uses.saturating_add(1);
    context.set(handle(current.handle));
    Ok(())
}

fn detach(call: &Call<'_>, context: CUcontext) -> Answer {
    let last = {
        let mut state = call.state();
        let current = state.current(call.thread)?;
        if current.handle != number(context) {
            return Err(code::INVALID_CONTEXT);
        }
        let uses = &mut state.contexts.get_mut(current.handle)?.uses;
        let last = *uses <= 1;
        if !last {
            *uses -= 1;
        }
        last
    };
    if last {
        super::context::destroy(call, context)
    } else {
        Ok(())
    }
}

fn shared_config(call: &Call<'_>, config: Out<CUsharedconfig>) -> Answer {
    let config = config.check()?;
    call.state().current(call.thread)?;
    // The banks of today's devices have four bytes, whatever was asked for.
    config.set(CUsharedconfig::CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE);
    Ok(())
}

fn set_shared_config(call: &Call<'_>, config: CUsharedconfig) -> Answer {
    call.state().current(call.thread)?;
    match config {
        CUsharedconfig::CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE
        | CUsharedconfig::CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE
        | CUsharedconfig::CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE => Ok(()),
        _ => Err(code::INVALID_VALUE),
    }
}
