use cuda_driver::{Function, LaunchConfig, Result, Stream};

#[derive(Clone, Copy)]
#[repr(C)]
struct Padded {
    small: u8,
    large: u32,
}

fn run(function: &Function, stream: &Stream) -> Result<()> {
    let padded = Padded { small: 1, large: 2 };
    unsafe { function.launch(stream, LaunchConfig::for_len(1), (padded,)) }
}

fn main() {}
