use cuda_driver::kernels;

kernels! {
    unsafe extern Kernels from ptx "../../../examples/kernels/typed_kernels.ptx" {
        unsafe fn fill(out: &mut [f32], value: f32, n: u32);
    }
}

fn main() {}
