use cuda_driver::kernels;

kernels! {
    unsafe extern Kernels {
        #[launch(grid = 1)]
        #[prepared(Kernels)]
        safe fn j();
        #[launch(grid = 1)]
        #[prepared(Prepared)]
        safe fn k();
        #[launch(grid = 1)]
        #[prepared(Prepared)]
        safe fn l();
        #[launch(grid = 1)]
        safe fn l_prepare();
    }
}

fn main() {}
