use cuda_driver::{DeviceAllocation, Result, Stream};

fn upload<'a>(stream: &Stream, text: &'a str) -> Result<DeviceAllocation<&'a str>> {
    stream.upload(&[text])
}

fn main() {}
