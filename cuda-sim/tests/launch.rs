//! Launches: arguments, shapes, limits, and the kernels' results.

mod support;

use std::ffi::c_void;
use std::ptr;

use cuda_sys::{CUfunction_attribute, CUlaunchConfig};
use support::{Rig, SUCCESS, call, fails, ok};

#[test]
fn vector_add_gives_the_sum() {
    let rig = Rig::new();
    let n = 1000u32;
    let a: Vec<u32> = (0..n).collect();
    let b: Vec<u32> = (0..n).map(|i| i * 10).collect();
    let (mut a, mut b, mut sum) = (rig.upload(&a), rig.upload(&b), rig.memory(4 * n as usize));
    let vector_add = rig.kernel("vector_add");
    let stream = rig.stream(0);
    let mut len = n;
    let mut params: [*mut c_void; 4] = [
        (&raw mut a).cast(),
        (&raw mut b).cast(),
        (&raw mut sum).cast(),
        (&raw mut len).cast(),
    ];
    ok!(
        rig.cuda,
        cuLaunchKernel(
            vector_add,
            4,
            1,
            1,
            256,
            1,
            1,
            0,
            stream,
            params.as_mut_ptr(),
            ptr::null_mut()
        )
    );
    ok!(rig.cuda, cuStreamSynchronize(stream));
    let expected: Vec<u32> = (0..n).map(|i| i * 11).collect();
    assert_eq!(rig.download(sum, n as usize), expected);
    assert_eq!(rig.simulator.reports(), []);
}
