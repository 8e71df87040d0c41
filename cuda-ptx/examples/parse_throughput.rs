//! How fast modules are parsed: megabytes per second of PTX as compilers emit it.
//!
//! `cargo run --release -p cuda-ptx --example parse_throughput`

use std::time::Instant;

use cuda_ptx::{Module, ParseError};

const BODY: &str = include_str!("../../tests/kernels/arithmetic.ptx");

fn main() -> Result<(), ParseError> {
    // Many copies of the kernels behind one header.
    let body_start = BODY.find(".visible").unwrap_or(0);
    let mut text = BODY[..body_start].to_owned();
    while text.len() < 50_000_000 {
        text.push_str(&BODY[body_start..]);
    }
    let megabytes = text.len() as f64 / 1e6;
    let rate =
        |parse: &dyn Fn(&str) -> Result<usize, ParseError>| -> Result<(usize, f64), ParseError> {
            // Other work on the machine can only make it slower, so the best of several runs counts.
            let (mut functions, mut best) = (0, f64::INFINITY);
            for _ in 0..5 {
                let start = Instant::now();
                functions = parse(&text)?;
                best = best.min(start.elapsed().as_secs_f64());
            }
            Ok((functions, megabytes / best))
        };
    let (functions, full) =
        rate(&|text| Module::parse(text).map(|module| module.functions().len()))?;
    let (_, signatures) =
        rate(&|text| Module::parse_signatures(text).map(|module| module.functions().len()))?;
    let (_, checked) = rate(&|text| Module::parse(text).map(|module| module.check().len()))?;
    println!(
        "{megabytes:.0} MB, {functions} functions: everything {full:.0} MB/s, signatures {signatures:.0} MB/s, everything and its check {checked:.0} MB/s"
    );
    Ok(())
}
