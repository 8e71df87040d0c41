use cuda_driver::{Context, Module};

fn adopt(context: &Context) -> Module {
    Module::from_raw(context, std::ptr::null_mut())
}

fn main() {}
