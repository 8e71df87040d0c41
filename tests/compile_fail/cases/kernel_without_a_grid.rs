use cuda_driver::kernels;

kernels! {
    unsafe extern Kernels {
        #[launch(block = 3)]
        safe fn k(a: &[f32]);
    }
}

fn main() {}
