use cuda_driver::kernels;

kernels! {
    unsafe extern Kernels from ptx "../kernels/c_linkage.ptx" {
        #[launch(for_len(results))]
        safe fn scale(factor: f32, values: &[f64], results: &mut [f32; len(values)], n: u32 = len(results));
    }
}

fn main() {}
