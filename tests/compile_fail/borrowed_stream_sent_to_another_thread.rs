use cuda_driver::{AnyStream, BorrowedStream};

fn share(stream: &BorrowedStream) {
    std::thread::scope(|scope| {
        scope.spawn(|| stream.synchronize());
    });
}

fn main() {}
