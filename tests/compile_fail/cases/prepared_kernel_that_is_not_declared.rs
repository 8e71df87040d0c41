use cuda_driver::{LaunchConfig, kernels};

kernels! {
    unsafe extern Kernels {
        #[launch(grid = 1)]
        safe fn k();
    }
}

fn prepare(kernels: &Kernels) {
    let _ = kernels.k_prepare(LaunchConfig::new(1, 1));
}

fn main() {}
