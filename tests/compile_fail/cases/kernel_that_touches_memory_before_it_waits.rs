use cuda_driver::kernels;

kernels! {
    unsafe extern Kernels from ptx "../kernels/c_linkage.ptx" {
        #[launch(for_len(results), waits)]
        safe fn early(values: &[f32; 1], results: &mut [f32; 1]);

        #[launch(for_len(results), waits)]
        safe fn noncoherent(values: &[f32; 1], results: &mut [f32; 1]);
    }
}

fn main() {}
