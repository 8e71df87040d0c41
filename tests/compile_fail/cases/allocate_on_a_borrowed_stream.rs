use cuda_driver::{BorrowedStream, Result};

fn allocate(stream: &BorrowedStream) -> Result<()> {
    let memory = stream.zeroed::<u32>(10)?;
    drop(memory);
    Ok(())
}

fn main() {}
