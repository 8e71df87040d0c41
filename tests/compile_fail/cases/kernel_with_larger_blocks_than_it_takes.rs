use cuda_driver::kernels;

kernels! {
    unsafe extern Kernels from ptx "../kernels/limits.ptx" {
        #[launch(for_len(out))]
        safe fn small_blocks(out: &mut [u32]);

        #[launch(for_len(out), block <= 64)]
        safe fn one_block(out: &mut [u32]);
    }
}

fn main() {}
