use cuda_driver::Context;

fn send(context: &Context) {
    let stream = context.per_thread_stream();
    std::thread::spawn(move || drop(stream));
}

fn main() {}
