use cuda_driver::{Context, Result};

fn close(context: &Context) -> Result<()> {
    let stream = context.create_stream()?;
    stream.close()?;
    stream.synchronize()
}

fn main() {}
