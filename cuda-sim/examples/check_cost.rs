//! What the checks cost: the same work with and without each of them. Run it with `--release`.

use std::error::Error;
use std::ffi::c_void;
use std::ptr;
use std::time::{Duration, Instant};

use cuda_sim::{Builder, Simulator};
use cuda_sys::{CUresult, Library};

const SAXPY: &std::ffi::CStr = c".version 7.0
.target sm_52
.address_size 64
.visible .entry saxpy(.param .u64 x, .param .u64 y, .param .u32 n) {
    .reg .pred %p; .reg .f32 %f<4>; .reg .b32 %r<6>; .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p, %r5, %r1;
    @%p ret;
    mul.wide.u32 %rd3, %r5, 4;
    add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
    ld.global.f32 %f1, [%rd4]; ld.global.f32 %f2, [%rd5];
    fma.rn.f32 %f3, %f1, 0f40000000, %f2;
    st.global.f32 [%rd5], %f3;
    ret;
}";

const LEN: usize = 1 << 22;

fn check(result: CUresult) -> Result<(), String> {
    if result == CUresult::CUDA_SUCCESS {
        Ok(())
    } else {
        Err(format!("{result:?}"))
    }
}

macro_rules! ok {
    ($library:expr, $function:ident($($argument:expr),*)) => {{
        let function = $library.$function()?;
        // SAFETY: pointers are to live variables, addresses and handles are the driver's own.
        check(unsafe { function($($argument),*) })?
    }};
}

/// An instance with a context current on this thread.
fn start(builder: Builder) -> Result<Library, Box<dyn Error>> {
    let cuda = builder.build()?.library();
    ok!(cuda, cuInit(0));
    let (mut device, mut context) = (0, ptr::null_mut());
    ok!(cuda, cuDeviceGet(&raw mut device, 0));
    ok!(cuda, cuDevicePrimaryCtxRetain(&raw mut context, device));
    ok!(cuda, cuCtxSetCurrent(context));
    Ok(cuda)
}

/// The shortest of some saxpys over [`LEN`] elements.
fn saxpy(builder: Builder) -> Result<Duration, Box<dyn Error>> {
    let cuda = start(builder)?;
    let (mut module, mut function) = (ptr::null_mut(), ptr::null_mut());
    ok!(
        cuda,
        cuModuleLoadData(&raw mut module, SAXPY.as_ptr().cast())
    );
    ok!(
        cuda,
        cuModuleGetFunction(&raw mut function, module, c"saxpy".as_ptr())
    );
    let (mut x, mut y, mut len) = (0_u64, 0_u64, LEN as u32);
    for address in [&raw mut x, &raw mut y] {
        ok!(cuda, cuMemAlloc_v2(address, LEN * 4));
    }
    for address in [x, y] {
        ok!(cuda, cuMemsetD32_v2(address, 0, LEN));
    }
    let mut shortest = Duration::MAX;
    for _ in 0..10 {
        let mut params: [*mut c_void; 3] = [
            (&raw mut x).cast(),
            (&raw mut y).cast(),
            (&raw mut len).cast(),
        ];
        let begin = Instant::now();
        let blocks = (LEN / 256) as u32;
        let params = params.as_mut_ptr();
        let (stream, extra) = (ptr::null_mut(), ptr::null_mut());
        ok!(
            cuda,
            cuLaunchKernel(function, blocks, 1, 1, 256, 1, 1, 0, stream, params, extra)
        );
        ok!(cuda, cuCtxSynchronize());
        shortest = shortest.min(begin.elapsed());
    }
    Ok(shortest)
}

/// One fill of a few bytes, enqueued and waited for.
fn small(builder: Builder) -> Result<Duration, Box<dyn Error>> {
    const ROUNDS: u32 = 20_000;
    let cuda = start(builder)?;
    let (mut memory, mut stream) = (0, ptr::null_mut());
    ok!(cuda, cuMemAlloc_v2(&raw mut memory, 64));
    ok!(cuda, cuStreamCreate(&raw mut stream, 1));
    let begin = Instant::now();
    for _ in 0..ROUNDS {
        ok!(cuda, cuMemsetD32Async(memory, 1, 16, stream));
        ok!(cuda, cuStreamSynchronize(stream));
    }
    Ok(begin.elapsed() / ROUNDS)
}

fn main() -> Result<(), Box<dyn Error>> {
    let plain = || Simulator::builder().check_order(false);
    println!("saxpy of {LEN} elements: {:?}", saxpy(plain())?);
    println!(
        "  with the check of the order: {:?}",
        saxpy(plain().check_order(true))?
    );
    println!("a fill and a wait: {:?}", small(plain())?);
    println!(
        "  with the check of the order: {:?}",
        small(plain().check_order(true))?
    );
    println!("  with call sites: {:?}", small(plain().call_sites(true))?);
    Ok(())
}
