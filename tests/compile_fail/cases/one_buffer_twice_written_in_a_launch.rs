use cuda_driver::{DeviceAllocation, Function, LaunchConfig, Result, Stream};

fn run(function: &Function, stream: &Stream, data: &mut DeviceAllocation<f32>) -> Result<()> {
    unsafe { function.launch(stream, LaunchConfig::for_len(1), (&mut *data, &mut *data)) }
}

fn main() {}
