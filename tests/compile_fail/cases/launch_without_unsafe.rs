use cuda_driver::{Function, LaunchConfig, Result, Stream};

fn run(function: &Function, stream: &Stream) -> Result<()> {
    function.launch(stream, LaunchConfig::for_len(1), ())
}

fn main() {}
