use cuda_driver::kernels;

kernels! {
    unsafe extern Kernels from ptx "../../../examples/kernels/typed_kernels.ptx" {
        #[launch(for_len(y))]
        safe fn axpy(a: f64, x: &[f32], y: &mut [f32; len(x)], n: u64 = len(y));
    }
}

fn main() {}
