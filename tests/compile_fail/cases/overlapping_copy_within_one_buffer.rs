use cuda_driver::{DeviceAllocation, Result, Stream};

fn overlap(stream: &Stream, data: &mut DeviceAllocation<u8>) -> Result<()> {
    stream.copy(&data.slice(0..5)?, &mut data.slice_mut(2..7)?)
}

fn main() {}
