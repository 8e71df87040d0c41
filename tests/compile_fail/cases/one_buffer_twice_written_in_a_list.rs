use cuda_driver::{DeviceAllocation, DynamicArgument, Function, LaunchConfig, Result, Stream};

fn run(function: &Function, stream: &Stream, data: &mut DeviceAllocation<f32>) -> Result<()> {
    let arguments = [DynamicArgument::write(data), DynamicArgument::write(data)];
    unsafe { function.launch_dynamic(stream, LaunchConfig::for_len(1), &arguments) }
}

fn main() {}
