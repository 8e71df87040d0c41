//! Says which kernels of PTX files the machine can run, and what is missing for the others.
//!
//! `cargo run --release -p cuda-sim-machine --example survey -- file.ptx…`

use cuda_sim_machine::Program;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path)?;
        let program = Program::new(&cuda_ptx::Module::parse(&text)?);
        let missing = program
            .kernels()
            .iter()
            .filter_map(|kernel| Some((kernel.name(), kernel.unsupported()?)));
        let missing: Vec<_> = missing.collect();
        println!(
            "{path}: {} of {} kernels can run",
            program.kernels().len() - missing.len(),
            program.kernels().len()
        );
        for (name, what) in missing {
            println!("    {name}: {what}");
        }
    }
    Ok(())
}
