use cuda_driver::kernels;

kernels! {
    unsafe extern Kernels from ptx "../../../examples/kernels/typed_kernels.ptx" {
        safe fn axpy(a: f32, x: &[f32], y: &mut [f32; len(x)], n: u32 = len(y));
    }
}

fn main() {}
