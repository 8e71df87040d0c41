use cuda_driver::{DeviceAllocation, Lender, Result, Stream};

fn keep(stream: &Stream) -> Result<DeviceAllocation<u8>> {
    let owner = vec![1_u8];
    unsafe { stream.keep_memory(256, 1, Lender::Stream(stream), &owner) }
}

fn main() {}
