use cuda_driver::Context;

fn share(context: &Context) {
    let stream = context.per_thread_stream();
    std::thread::scope(|scope| {
        scope.spawn(|| stream.synchronize());
    });
}

fn main() {}
