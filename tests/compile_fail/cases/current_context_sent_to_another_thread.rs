use cuda_driver::{Context, Result};

fn send(context: &'static Context) -> Result<()> {
    let current = context.push()?;
    std::thread::spawn(move || drop(current));
    Ok(())
}

fn main() {}
