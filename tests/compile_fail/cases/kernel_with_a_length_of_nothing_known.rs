use cuda_driver::kernels;

kernels! {
    unsafe extern Kernels {
        #[launch(for_len(n), shared = 4 * len(n))]
        safe fn k(a: &[f32; len(c)], b: &[f32; a], n: u32, m: u32 = len(n) + c);
    }
}

fn main() {}
