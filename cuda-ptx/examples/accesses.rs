//! Says what the kernels of PTX files do through their parameters, beside what their mangled names promise.
//!
//! `cargo run --release -p cuda-ptx --example accesses -- kernels.ptx…`

use std::error::Error;

use cuda_ptx::{Accesses, CType, Module, Signature};

fn main() -> Result<(), Box<dyn Error>> {
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path)?;
        let module = Module::parse_signatures(&text)?;
        let mut accesses = Accesses::new(&module);
        for entry in module.entries() {
            let signature = Signature::of(entry);
            let found = accesses.of(entry)?;
            println!("{path}: {}", signature.name);
            let is_pointer = |index: usize| match signature.parameters.get(index).map(|it| &it.ty) {
                Some(CType::Pointer { .. }) => true,
                Some(CType::Integer | CType::Unknown) => found.is_pointer(index),
                _ => false,
            };
            for (index, parameter) in signature.parameters.iter().enumerate() {
                if !is_pointer(index) {
                    continue;
                }
                let all = found.list().iter();
                let certain = all.filter(|it| found.parameter_of(it, is_pointer) == Some(index));
                let written = match found.write_through(index, is_pointer) {
                    Some(access) => format!("written in line {}", access.position.line),
                    None if found.may_write(index) => "perhaps written".into(),
                    None => "not written".into(),
                };
                let is_const = matches!(parameter.ty, CType::Pointer { is_const: true, .. });
                let broken = match is_const && written.starts_with("written") {
                    true => ", CONST",
                    false => "",
                };
                let element = found.element_behind(index, is_pointer);
                let element = element.map_or_else(|| "?".into(), |it| it.to_string());
                let count = certain.count();
                println!(
                    "  {index}: {}: {written}{broken}, {count} accesses of {element}",
                    parameter.ty
                );
            }
            if found.always_waits() {
                let early = found.before_wait().map_or(0, |it| it.position.line);
                println!("  waits; early access in line {early}");
            }
        }
    }
    Ok(())
}
