use cuda_driver::{Function, LaunchConfig, Result, Stream};

fn run(function: &Function, stream: &Stream) -> Result<()> {
    unsafe { function.launch(stream, LaunchConfig::for_len(1), (vec![1.0_f32],)) }
}

fn main() {}
