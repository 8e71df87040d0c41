use cuda_driver::{DeviceAllocation, Result};

fn download(memory: &DeviceAllocation<bool>) -> Result<Vec<bool>> {
    memory.to_vec()
}

fn main() {}
