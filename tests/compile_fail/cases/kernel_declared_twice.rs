use cuda_driver::kernels;

kernels! {
    unsafe extern Kernels {
        unsafe fn k(a: &[f32], a: u32);
        unsafe fn k();
        unsafe fn load();
    }
}

fn main() {}
