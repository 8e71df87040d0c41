//! Memory of another library.

use cuda_driver::call;
use cuda_sys::CUdeviceptr;

use super::bench::Bench;

/// Memory that was allocated without this crate, zeroed.
pub(crate) struct Foreign<'a> {
    bench: &'a Bench,
    pub(crate) address: CUdeviceptr,
}

impl<'a> Foreign<'a> {
    pub(crate) fn new(bench: &'a Bench, bytes: usize) -> Self {
        let mut address = 0;
        let _current = bench.context().push().expect("a current context");
        // SAFETY: the pointer is to a live address, and a context is current.
        unsafe { call!(bench.driver(), cuMemAlloc_v2(&raw mut address, bytes)) }.expect("memory");
        // SAFETY: the memory has that many bytes.
        unsafe { call!(bench.driver(), cuMemsetD8_v2(address, 0, bytes)) }.expect("zeroed");
        // SAFETY: a context is current.
        unsafe { call!(bench.driver(), cuCtxSynchronize()) }.expect("done");
        Self { bench, address }
    }
}

impl Drop for Foreign<'_> {
    fn drop(&mut self) {
        // SAFETY: the memory is live, and nothing uses it any more.
        unsafe { call!(self.bench.driver(), cuMemFree_v2(self.address)) }.expect("it is live");
    }
}
