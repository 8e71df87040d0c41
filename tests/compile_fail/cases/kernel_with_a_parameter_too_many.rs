use cuda_driver::kernels;

kernels! {
    unsafe extern Kernels from ptx "../../../examples/kernels/typed_kernels.ptx" {
        #[launch(for_len(y))]
        safe fn axpy(a: f32, x: &[f32], y: &mut [f32; len(x)], n: u32 = len(y), flag: bool);
    }
}

fn main() {}
