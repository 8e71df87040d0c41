use cuda_driver::kernels;

kernels! {
    unsafe extern Kernels {
        fn k(a: &[f32]);
    }
}

fn main() {}
