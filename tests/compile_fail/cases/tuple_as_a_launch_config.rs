use cuda_driver::{Function, Stream};

fn launch(function: &Function, stream: &Stream) {
    let _ = unsafe { function.launch(stream, (1, 256), ()) };
}

fn main() {}
