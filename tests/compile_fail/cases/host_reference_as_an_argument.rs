use cuda_driver::{Function, LaunchConfig, Result, Stream};

fn run(function: &Function, stream: &Stream) -> Result<()> {
    unsafe { function.launch(stream, LaunchConfig::for_len(1), (&1_u32,)) }
}

fn main() {}
