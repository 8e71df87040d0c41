use cuda_driver::{Function, Result, Stream, launch};

fn run(function: &Function, stream: &Stream) -> Result<()> {
    launch!(*stream, function<<<1, 1>>>())
}

fn main() {}
