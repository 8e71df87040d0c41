use cuda_driver::{DeviceAllocation, Result};

fn close(memory: DeviceAllocation<u32>) -> Result<Vec<u32>> {
    let slice = memory.slice(..)?;
    memory.close()?;
    slice.to_vec()
}

fn main() {}
