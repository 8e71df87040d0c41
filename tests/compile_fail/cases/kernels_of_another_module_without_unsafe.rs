use cuda_driver::{Module, Result, kernels};

kernels! {
    unsafe extern Kernels {
        unsafe fn k();
    }
}

fn take(module: &Module) -> Result<Kernels> {
    Kernels::from_module(module)
}

fn main() {}
