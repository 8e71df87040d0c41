use cuda_driver::kernels;

kernels! {
    unsafe extern Kernels {
        unsafe fn k(a: &[f32], n: u32 = m, m: u32 = 2 * n);
    }
}

fn main() {}
