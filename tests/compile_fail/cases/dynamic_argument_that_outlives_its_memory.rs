use cuda_driver::{DeviceAllocation, DynamicArgument};

fn outlive(memory: DeviceAllocation<f32>) -> DynamicArgument<'static> {
    DynamicArgument::read(&memory)
}

fn main() {}
