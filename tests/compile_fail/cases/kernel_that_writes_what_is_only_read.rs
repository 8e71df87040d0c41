use cuda_driver::kernels;

kernels! {
    unsafe extern Kernels from ptx "../kernels/c_linkage.ptx" {
        #[launch(for_len(results))]
        safe fn scale(factor: f32, values: &[f32], results: &[f32; len(values)], n: u32 = len(results));
    }

    // An `unsafe fn` too: nothing that a caller promises makes it right.
    unsafe extern Unsafe from ptx "../kernels/c_linkage.ptx" {
        unsafe fn scale(factor: f32, values: &[f32], results: Option<&[f32]>, n: u32);

        // It is `const float *`, and the kernel casts that away.
        unsafe fn set(values: &[f32]);
    }
}

fn main() {}
