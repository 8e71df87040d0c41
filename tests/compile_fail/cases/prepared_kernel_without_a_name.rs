use cuda_driver::kernels;

kernels! {
    unsafe extern Kernels {
        #[launch(grid = 1)]
        #[prepared]
        safe fn k();
    }
}

fn main() {}
