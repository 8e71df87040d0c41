use cuda_driver::kernels;

kernels! {
    unsafe extern Kernels from ptx "../kernels/limits.ptx" {
        #[launch(grid = 1)]
        safe fn count();
    }
}

fn main() {}
