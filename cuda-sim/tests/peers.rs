//! Two devices: access between them, and copies.

mod support;

use std::ptr;

use cuda_sim::{DeviceConfig, Simulator};
use cuda_sys::{
    CUcontext, CUdevice, CUdevice_P2PAttribute, CUdeviceptr, CUmemAccess_flags, CUmemAccessDesc,
    CUmemLocation, CUmemLocationType, CUresult,
};
use support::{Rig, call, fails, ok};

/// Two devices: the first's context is current, the second has a context and 64 words of memory.
struct Pair {
    rig: Rig,
    device: CUdevice,
    context: CUcontext,
    far: CUdeviceptr,
}

impl Pair {
    fn new() -> Self {
        let builder = Simulator::builder().devices(vec![DeviceConfig::h200(); 2]);
        let rig = Rig::with(builder.build().expect("a free slot"));
        let (mut device, mut context) = (0, ptr::null_mut());
        ok!(rig.cuda, cuDeviceGet(&raw mut device, 1));
        ok!(rig.cuda, cuDevicePrimaryCtxRetain(&raw mut context, device));
        ok!(rig.cuda, cuCtxPushCurrent_v2(context));
        let far = rig.upload(&[5; 64]);
        ok!(rig.cuda, cuCtxSynchronize());
        let mut popped = ptr::null_mut();
        ok!(rig.cuda, cuCtxPopCurrent_v2(&raw mut popped));
        Self {
            rig,
            device,
            context,
            far,
        }
    }

    /// Runs a kernel of the first device that reads a word at `from`.
    fn read(&self, from: CUdeviceptr) -> CUresult {
        let near = self.rig.memory(4);
        let increment = self.rig.kernel("increment");
        let launched = self
            .rig
            .launch(increment, 1, 1, ptr::null_mut(), &[near, from]);
        assert_eq!(launched, support::SUCCESS);
        call!(self.rig.cuda, cuCtxSynchronize())
    }
}

#[test]
fn devices_say_that_they_reach_each_other() {
    let pair = Pair::new();
    let cuda = &pair.rig.cuda;
    let mut answer = 9;
    ok!(
        cuda,
        cuDeviceCanAccessPeer(&raw mut answer, pair.rig.device, pair.device)
    );
    assert_eq!(answer, 1);
    ok!(
        cuda,
        cuDeviceCanAccessPeer(&raw mut answer, pair.device, pair.device)
    );
    assert_eq!(answer, 0);
    let attribute = |number| {
        let (mut value, attribute) = (9, CUdevice_P2PAttribute(number));
        let (here, there) = (pair.rig.device, pair.device);
        let result = call!(
            cuda,
            cuDeviceGetP2PAttribute(&raw mut value, attribute, here, there)
        );
        (result.0, value)
    };
    assert_eq!(
        [1, 2, 3, 4, 5].map(attribute),
        [(0, 0), (0, 1), (0, 1), (0, 1), (0, 0)]
    );
    assert_eq!([0, 6].map(|number| attribute(number).0), [1, 1]);
}

#[test]
fn access_is_enabled_once_and_disabled_once() {
    let pair = Pair::new();
    let cuda = &pair.rig.cuda;
    let stream = pair.rig.stream(1);
    fails!(705, cuda, cuCtxDisablePeerAccess(pair.context));
    fails!(1, cuda, cuMemsetD8_v2(pair.far, 1, 64));
    fails!(1, cuda, cuMemsetD2D8Async(pair.far, 8, 1, 4, 2, stream));
    fails!(1, cuda, cuCtxEnablePeerAccess(pair.context, 1));
    ok!(cuda, cuCtxEnablePeerAccess(pair.context, 0));
    fails!(704, cuda, cuCtxEnablePeerAccess(pair.context, 0));
    fails!(217, cuda, cuCtxEnablePeerAccess(pair.rig.context, 0));
    fails!(201, cuda, cuCtxEnablePeerAccess(ptr::null_mut(), 0));
    ok!(cuda, cuMemsetD8Async(pair.far, 1, 64, stream));
    ok!(cuda, cuStreamSynchronize(stream));
    assert_eq!(pair.rig.download(pair.far, 1), [0x0101_0101]);
    ok!(cuda, cuCtxDisablePeerAccess(pair.context));
    fails!(705, cuda, cuCtxDisablePeerAccess(pair.context));
    fails!(1, cuda, cuMemsetD8_v2(pair.far, 1, 64));
}

#[test]
fn kernels_reach_peers_when_access_is_enabled() {
    let pair = Pair::new();
    ok!(pair.rig.cuda, cuCtxEnablePeerAccess(pair.context, 0));
    assert_eq!(pair.read(pair.far), support::SUCCESS);
    ok!(pair.rig.cuda, cuCtxDisablePeerAccess(pair.context));
    assert_eq!(pair.read(pair.far), CUresult(700));
    let reports = pair.rig.simulator.reports();
    assert!(reports[0].message.contains("peer access is not enabled"));
}

#[test]
fn copies_between_devices_need_no_access() {
    let pair = Pair::new();
    let cuda = &pair.rig.cuda;
    let near = pair.rig.memory(256);
    let null = ptr::null_mut();
    ok!(cuda, cuMemcpyDtoD_v2(near, pair.far, 256));
    assert_eq!(pair.rig.download(near, 64), [5; 64]);
    ok!(cuda, cuMemsetD8_v2(near, 1, 256));
    ok!(
        cuda,
        cuMemcpyPeer(pair.far, pair.context, near, pair.rig.context, 128)
    );
    ok!(cuda, cuMemcpyPeer(pair.far + 128, null, near, null, 64));
    ok!(
        cuda,
        cuMemcpyPeerAsync(pair.far + 192, pair.context, near, null, 32, self::null())
    );
    let found = pair.rig.download(pair.far, 64);
    assert_eq!(found[..56], [0x0101_0101; 56]);
    assert_eq!(found[56..], [5; 8]);
}

#[test]
fn pools_are_opened_to_peers_on_their_own() {
    let pair = Pair::new();
    let cuda = &pair.rig.cuda;
    let (mut pool, mut address) = (ptr::null_mut(), 0);
    ok!(cuda, cuDeviceGetDefaultMemPool(&raw mut pool, pair.device));
    ok!(cuda, cuCtxPushCurrent_v2(pair.context));
    ok!(cuda, cuMemAllocAsync(&raw mut address, 256, null()));
    ok!(cuda, cuMemsetD8_v2(address, 1, 256));
    ok!(cuda, cuCtxSynchronize());
    ok!(cuda, cuCtxSetCurrent(pair.rig.context));
    // Enabling peer access opens what is allocated otherwise only.
    ok!(cuda, cuCtxEnablePeerAccess(pair.context, 0));
    fails!(1, cuda, cuMemsetD8_v2(address, 1, 256));
    let mut location = CUmemLocation {
        type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
        ..CUmemLocation::default()
    };
    location.anonymous.id = pair.rig.device;
    let mut access = CUmemAccessDesc {
        location,
        flags: CUmemAccess_flags(3),
    };
    let flags = || {
        let (mut location, mut flags) = (location, CUmemAccess_flags(9));
        ok!(
            cuda,
            cuMemPoolGetAccess(&raw mut flags, pool, &raw mut location)
        );
        flags.0
    };
    assert_eq!(flags(), 0);
    ok!(cuda, cuMemPoolSetAccess(pool, &raw const access, 1));
    assert_eq!(flags(), 3);
    assert_eq!(pair.read(address), support::SUCCESS);
    ok!(cuda, cuMemsetD8_v2(address, 2, 256));
    access.flags = CUmemAccess_flags(0);
    ok!(cuda, cuMemPoolSetAccess(pool, &raw const access, 1));
    assert_eq!(flags(), 0);
    assert_eq!(pair.read(address), CUresult(700));
}

fn null() -> cuda_sys::CUstream {
    ptr::null_mut()
}
