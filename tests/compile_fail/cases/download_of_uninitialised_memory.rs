use cuda_driver::{Result, Stream};

fn download(stream: &Stream) -> Result<Vec<u32>> {
    let memory = stream.uninitialized::<u32>(10)?;
    memory.to_vec()
}

fn main() {}
