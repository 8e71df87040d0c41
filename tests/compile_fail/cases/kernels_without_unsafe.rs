use cuda_driver::kernels;

kernels! {
    extern Kernels {
        unsafe fn k();
    }
}

fn main() {}
