use cuda_driver::kernels;

kernels! {
    unsafe extern Kernels from ptx "../../../examples/kernels/typed_kernels.ptx" {
        #[launch(for_len(y))]
        safe fn axpy(x: &[f32], y: &mut [f32; len(x)], a: f32, n: u32 = len(y));
    }
}

fn main() {}
