use cuda_driver::{Global, Module, Result};

fn flags(module: &Module) -> Result<Global<[bool]>> {
    module.global("flags")
}

fn main() {}
