use cuda_driver::{Result, Stream};

fn borrow(stream: &Stream) -> Result<()> {
    let mut count = 0;
    stream.host_function(|| count += 1)?;
    println!("{count}");
    Ok(())
}

fn main() {}
