use cuda_driver::kernels;

kernels! {
    unsafe extern Kernels {
        #[launch(for_len(out), block <= 2048)]
        safe fn k(out: &mut [u32]);
    }
}

fn main() {}
