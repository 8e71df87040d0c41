//! Names around a declaration, and in it, that the macro could take for its own.

// As few names as possible are the usual ones here.
use cuda_driver::{LaunchConfig, kernels};

use crate::support::bench::Bench;

/// Types that hide those of the prelude.
#[allow(dead_code, reason = "they are only in the way")]
mod hidden {
    pub(super) struct Result;
    pub(super) struct Option;
    pub(super) struct Ok;
    pub(super) struct Err;
    pub(super) struct TryFrom;
    pub(super) struct Clone;
    pub(super) struct Function;
    pub(super) struct Context;
    pub(super) struct Module;
    pub(super) fn core() {}
}

#[allow(unused_imports, reason = "they are only in the way")]
use hidden::*;

const PTX: &str = ".version 7.0 .target sm_52 .address_size 64
    .visible .entry record(.param .u64 out, .param .u64 maybe, .param .u32 a, .param .u32 b, .param .u32 c, .param .u32 d) {
        .reg .b32 %r<9>; .reg .b64 %rd<3>;
        ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd2, %rd1;
        ld.param.u32 %r1, [a]; ld.param.u32 %r2, [b]; ld.param.u32 %r3, [c]; ld.param.u32 %r4, [d];
        st.global.u32 [%rd2], %r1; st.global.u32 [%rd2+4], %r2; st.global.u32 [%rd2+8], %r3; st.global.u32 [%rd2+12], %r4;
        ret;
    }";

kernels! {
    /// One kernel under names that the macro uses itself.
    unsafe extern Names {
        #[name = "record"]
        #[launch(for_len(config), grid <= most + config, block <= wanted, shared <= module)]
        safe fn clone(stream: &mut [u32; 4], p: Option<&[u32; len(stream)]>, config: u32, most: u32, wanted: u32, module: u32);

        #[name = "record"]
        #[launch(for_len(len), block <= 32)]
        safe fn fmt(len: &mut [u32; 4 * len_of_len..], min: Option<&[u32]>, value: u32, r#type: u32 = len(len) + configuration,
                    configuration: u32, len_of_len: u32);

        #[name = "record"]
        #[launch(grid = 1, block = 1)]
        safe fn origin(context: &mut [u32; 4], kernel: Option<&mut [u32; 2]>, n: u32 = len(kernel), set: u32, options: u32, f: u32);
    }
}

fn names(bench: &Bench) -> Names {
    let module = bench.context().load_ptx(PTX).expect("it loads");
    // SAFETY: the kernel writes four elements of its first parameter, and nothing else.
    unsafe { Names::from_module(&module) }.expect("it is as declared")
}

#[test]
fn parameters_and_kernels_may_have_the_macros_own_names() {
    let bench = Bench::new();
    let (kernels, stream) = (names(&bench), bench.stream());
    let mut out = stream.zeroed::<u32>(4).expect("memory");
    kernels
        .clone(&stream, &mut out, cuda_driver::Null, 1, 2, 3, 4)
        .expect("it is enqueued");
    assert_eq!(out.to_vec().expect("it ran"), [1, 2, 3, 4]);
    let config = LaunchConfig::new(2, 3).with_dynamic_shared_bytes(4);
    let same = Clone::clone_of(&kernels);
    same.clone_with(config, &stream, &mut out, cuda_driver::Null, 5, 6, 3, 4)
        .expect("it is enqueued");
    assert_eq!(out.to_vec().expect("it ran"), [5, 6, 3, 4]);
    kernels
        .fmt(&stream, &mut out, cuda_driver::Null, 7, 8, 1)
        .expect("it is enqueued");
    assert_eq!(out.to_vec().expect("it ran"), [7, 12, 8, 1]);
    assert!(format!("{kernels:?}").contains("origin"));
}

impl Clone {
    fn clone_of(kernels: &Names) -> Names {
        std::clone::Clone::clone(kernels)
    }
}

#[test]
fn host_memory_may_be_missing() {
    let bench = Bench::new();
    let (kernels, stream) = (names(&bench), bench.stream());
    let (mut out, mut two) = ([0; 4], [9; 2]);
    let nothing: std::option::Option<cuda_driver::Out<'_, u32>> = None;
    kernels
        .origin(&stream, cuda_driver::Out(&mut out), nothing, 1, 2, 3)
        .expect("it is enqueued");
    assert_eq!(out, [0, 1, 2, 3], "the length of null is 0");
    let some = Some(cuda_driver::InOut(&mut two));
    kernels
        .origin(&stream, cuda_driver::InOut(&mut out), some, 4, 5, 6)
        .expect("it is enqueued");
    assert_eq!((out, two), ([2, 4, 5, 6], [9; 2]));
    let mut three = [0; 3];
    let wrong = Some(cuda_driver::Out(&mut three));
    kernels
        .origin(&stream, cuda_driver::Out(&mut out), wrong, 4, 5, 6)
        .expect_err("three are not two");
    assert_eq!(out, [2, 4, 5, 6], "nothing was launched");
}
