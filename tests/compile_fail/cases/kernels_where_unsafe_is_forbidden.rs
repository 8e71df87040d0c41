#![forbid(unsafe_code)]

use cuda_driver::kernels;

kernels! {
    unsafe extern Kernels {
        #[launch(grid = 1, block = 1)]
        safe fn k();
    }
}

fn main() {}
