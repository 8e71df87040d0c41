use cuda_driver::kernels;

kernels! {
    unsafe extern Kernels {
        unsafe fn k(a: *const f32);
    }
}

fn main() {}
