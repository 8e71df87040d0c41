use cuda_driver::{Function, Module, Result, kernels};

kernels! {
    unsafe extern Kernels {
        #[launch(grid = 1, block = 1)]
        safe fn j();
        #[launch(grid = 1, block = 1)]
        safe fn k();
    }
}

fn put(j: Function, k: Function) -> Kernels {
    Kernels { j, k }
}

fn exchange(kernels: Kernels) -> Kernels {
    Kernels { j: kernels.k, k: kernels.j }
}

fn take(module: &Module) -> Result<Kernels> {
    Kernels::__resolve(module, cuda_driver::kernels::__private::Origin::Embedded)
}

fn main() {}
