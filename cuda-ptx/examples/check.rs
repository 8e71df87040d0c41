//! Checks PTX files: prints what an assembler would refuse.
//!
//! `cargo run --release -p cuda-ptx --example check -- file.ptx …`

use std::process::ExitCode;

use cuda_ptx::Module;

fn main() -> ExitCode {
    let mut clean = true;
    for path in std::env::args().skip(1) {
        let text = match std::fs::read(&path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) => {
                println!("{path}: {error}");
                clean = false;
                continue;
            }
        };
        match Module::parse(&text) {
            Ok(module) => {
                for wrong in module.check() {
                    println!("{path}: {wrong}");
                    clean = false;
                }
            }
            Err(error) => {
                println!("{path}: {error}");
                clean = false;
            }
        }
    }
    ExitCode::from(u8::from(!clean))
}
