use cuda_driver::BorrowedStream;

fn share(stream: &BorrowedStream) {
    std::thread::scope(|scope| {
        scope.spawn(|| stream.synchronize());
    });
}

fn main() {}
