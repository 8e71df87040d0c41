use cuda_driver::{BorrowedStream, Context};

fn leave(context: &Context) -> &BorrowedStream {
    unsafe { context.with_borrowed_stream(std::ptr::null_mut(), |stream| stream) }
}

fn main() {}
