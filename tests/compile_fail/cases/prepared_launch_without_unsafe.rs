use cuda_driver::{PreparedLaunch, Stream};

fn launch(prepared: &PreparedLaunch, stream: &Stream) {
    let _ = prepared.launch(stream, ());
}

fn main() {}
