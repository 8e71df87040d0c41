//! A forked child has no driver.
#![cfg(all(unix, not(miri)))]

mod support;

use support::{Rig, ok};

unsafe extern "C" {
    fn fork() -> i32;
    fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
    fn _exit(status: i32) -> !;
}

#[test]
fn calls_in_a_forked_child_are_refused() {
    let rig = Rig::new();
    let memory = rig.memory(64);
    let free = rig.cuda.cuMemFree_v2().expect("exported");
    // SAFETY: the child makes one call, which takes no lock and allocates nothing, and ends.
    let child = unsafe { fork() };
    if child == 0 {
        // SAFETY: the address is an allocation's.
        let result = unsafe { free(memory) };
        // SAFETY: nothing of the parent is to be cleaned up here.
        unsafe { _exit(result.0 as i32) };
    }
    let mut status = -1;
    // SAFETY: the status is written before the call returns.
    assert_eq!(unsafe { waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(
        status >> 8 & 0xff,
        3,
        "CUDA_ERROR_NOT_INITIALIZED, as from a real driver"
    );
    ok!(rig.cuda, cuMemFree_v2(memory));
}
