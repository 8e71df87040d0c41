use cuda_driver::kernels;

kernels! {
    unsafe extern Kernels {
        #[launch(for_len(a), threads = 3)]
        safe fn k(a: &[f32]);
    }
}

fn main() {}
