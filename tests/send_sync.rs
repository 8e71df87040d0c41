//! `Send` and `Sync` of each public type, pinned.

use cuda_driver::*;
use static_assertions::{assert_impl_all, assert_not_impl_any};

assert_impl_all!(Driver: Send, Sync, Clone);
assert_impl_all!(Device: Send, Sync, Clone);
assert_impl_all!(Context: Send, Sync, Clone);
assert_impl_all!(Stream: Send, Sync, Clone);
assert_impl_all!(Event: Send, Sync);
assert_impl_all!(Module: Send, Sync, Clone);
assert_impl_all!(Global<f32>: Send, Sync, Clone);
assert_impl_all!(Global<[f32]>: Send, Sync, Clone);
assert_impl_all!(Linker: Send);
assert_not_impl_any!(Linker: Sync);
assert_impl_all!(LinkedImage: Send, Sync, Clone);
assert_impl_all!(Library: Send, Sync, Clone);
assert_impl_all!(Kernel: Send, Sync, Clone);
assert_impl_all!(LibraryOptions: Send, Sync, Clone);
assert_impl_all!(Function: Send, Sync, Clone);
assert_impl_all!(DeviceAllocation<f32>: Send, Sync);
assert_impl_all!(DeviceSlice<'static, f32>: Send, Sync, Copy);
assert_impl_all!(DeviceSliceMut<'static, f32>: Send, Sync);
assert_impl_all!(PinnedBuffer<f32>: Send, Sync);
assert_impl_all!(PinnedSlice<'static, f32>: Send, Sync);
assert_impl_all!(PinnedSliceMut<'static, f32>: Send, Sync);
assert_impl_all!(RawAllocation: Send, Sync);
assert_impl_all!(LaunchConfig: Send, Sync, Copy);
assert_impl_all!(ExtendedLaunchConfig: Send, Sync, Copy);
assert_impl_all!(JitOptions: Send, Sync, Clone);
assert_impl_all!(Error: Send, Sync);
assert_impl_all!(CloseError<Context>: Send, Sync);
assert_impl_all!(FunctionAttributes: Send, Sync, Copy);
assert_impl_all!(MemoryInfo: Send, Sync, Copy);
assert_impl_all!(Uuid: Send, Sync, Copy);

// What is current, the per-thread stream, and a borrowed one, which may be that, belong to one thread.
assert_not_impl_any!(PerThreadStream: Send, Sync);
assert_not_impl_any!(BorrowedStream: Send, Sync);
assert_not_impl_any!(BorrowedStream: Send, Sync);
assert_not_impl_any!(CurrentContext<'static>: Send);
// Elements that may not go to other threads stay on theirs.
assert_not_impl_any!(DeviceAllocation<std::rc::Rc<u8>>: Send, Sync);
assert_not_impl_any!(PinnedBuffer<std::rc::Rc<u8>>: Send, Sync);
assert_not_impl_any!(DeviceSliceMut<'static, f32>: Clone, Copy);
assert_not_impl_any!(DeviceAllocation<f32>: Clone);
assert_not_impl_any!(Event: Clone);

#[test]
fn handles_are_used_from_many_threads() -> crate::support::Test {
    let bench = crate::support::bench::Bench::new();
    let stream = bench.stream();
    std::thread::scope(|scope| {
        let upload = |value: u8| stream.upload(&[value; 100])?.to_vec();
        let handles: Vec<_> = (0..4)
            .map(|value| scope.spawn(move || upload(value)))
            .collect();
        for (handle, value) in handles.into_iter().zip(0..) {
            assert_eq!(handle.join().expect("no panic")?, [value; 100]);
        }
        Ok(())
    })
}
