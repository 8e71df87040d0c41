use cuda_driver::AnyStream;

struct Mine;

impl AnyStream for Mine {}

fn main() {}
