use cuda_driver::{Context, Result};

fn allocate(context: &Context) -> Result<()> {
    let memory = context.per_thread_stream().upload(&[1_u32, 2, 3])?;
    drop(memory);
    Ok(())
}

fn main() {}
