//! The launches that took shape and parameters from the function.

mod support;

use std::ptr;

use support::{Rig, fails, ok};

#[test]
fn a_function_keeps_shape_and_parameters() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let increment = rig.kernel("increment");
    let data = rig.upload(&[1; 8]);
    let mut address = data;
    ok!(cuda, cuFuncSetBlockShape(increment, 4, 1, 1));
    ok!(cuda, cuParamSetSize(increment, 16));
    for offset in [0, 8] {
        ok!(
            cuda,
            cuParamSetv(increment, offset, ptr::from_mut(&mut address).cast(), 8)
        );
    }
    ok!(cuda, cuLaunch(increment));
    assert_eq!(rig.download(data, 8), [2, 2, 2, 2, 1, 1, 1, 1]);
    ok!(cuda, cuLaunchGrid(increment, 2, 1));
    ok!(cuda, cuLaunchGridAsync(increment, 1, 1, rig.stream(0)));
    ok!(cuda, cuCtxSynchronize());
    assert_eq!(rig.download(data, 8), [4, 4, 4, 4, 2, 2, 2, 2]);
}

#[test]
fn numbers_stand_where_they_are_put() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let add = rig.kernel("vector_add");
    let (a, b, sum) = (
        rig.upload(&[1, 2]),
        rig.upload(&[3, 4]),
        rig.upload(&[0, 0]),
    );
    for (index, mut address) in [a, b, sum].into_iter().enumerate() {
        let offset = 8 * index as i32;
        ok!(
            cuda,
            cuParamSetv(add, offset, ptr::from_mut(&mut address).cast(), 8)
        );
    }
    ok!(cuda, cuParamSetf(add, 24, 1.0));
    ok!(cuda, cuParamSeti(add, 24, 2));
    ok!(cuda, cuParamSetSize(add, 28));
    ok!(cuda, cuFuncSetBlockShape(add, 32, 1, 1));
    ok!(cuda, cuLaunch(add));
    assert_eq!(rig.download(sum, 2), [4, 6]);
}

#[test]
fn what_cannot_be_is_refused() {
    let rig = Rig::new();
    let cuda = &rig.cuda;
    let nothing = rig.kernel("nothing");
    // One thread, until it is said otherwise.
    ok!(cuda, cuLaunch(nothing));
    for (x, y, z) in [(0, 1, 1), (-1, 1, 1), (2000, 1, 1), (64, 64, 1), (1, 1, 65)] {
        fails!(1, cuda, cuFuncSetBlockShape(nothing, x, y, z));
    }
    ok!(cuda, cuFuncSetSharedSize(nothing, 49_152));
    fails!(1, cuda, cuFuncSetSharedSize(nothing, 60_000));
    fails!(1, cuda, cuLaunchGrid(nothing, 0, 1));
    fails!(1, cuda, cuLaunchGrid(nothing, -1, 1));
    fails!(1, cuda, cuParamSetv(nothing, 0, ptr::null_mut(), 8));
    fails!(1, cuda, cuParamSeti(nothing, -1, 8));
    ok!(cuda, cuParamSeti(nothing, 4000, 8));
    fails!(1, cuda, cuParamSeti(nothing, 40_000, 8));
    ok!(cuda, cuParamSetSize(nothing, 4));
    fails!(701, cuda, cuLaunch(nothing));
    fails!(400, cuda, cuFuncSetBlockShape(ptr::null_mut(), 1, 1, 1));
    fails!(400, cuda, cuLaunch(ptr::null_mut()));
}
