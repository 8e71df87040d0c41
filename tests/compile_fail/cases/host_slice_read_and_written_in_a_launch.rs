use cuda_driver::{Function, In, LaunchConfig, Out, Stream};

fn launch(function: &Function, stream: &Stream, data: &mut [f32]) {
    let _ = unsafe { function.launch(stream, LaunchConfig::new(1, 1), (In(data), Out(data))) };
}

fn main() {}
