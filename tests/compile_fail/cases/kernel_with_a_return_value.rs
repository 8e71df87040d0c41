use cuda_driver::kernels;

kernels! {
    unsafe extern Kernels {
        unsafe fn k(a: &[f32]) -> u32;
    }
}

fn main() {}
