use cuda_driver::{DeviceAllocation, DynamicArgument};

fn outlive(memory: DeviceAllocation<f32>) -> DynamicArgument<'static> {
    let argument = &memory;
    DynamicArgument::new(&argument)
}

fn main() {}
