use cuda_driver::{Function, Stream, launch};

fn main() {}

fn launches(stream: &Stream, kernel: &Function) {
    let _ = unsafe { launch!(stream, kernel(1)) };
    let _ = unsafe { launch!(stream, kernel<<<1, 2, 3, 4>>>(1)) };
    let _ = unsafe { launch!(stream) };
}
