use cuda_driver::kernels;

kernels! {
    unsafe extern Kernels from ptx "../../../examples/kernels/typed_kernels.ptx" {
        unsafe fn axpi(a: f32);

        #[name = "fill<double>"]
        unsafe fn fill(out: &mut [f64], value: f64, n: u32);
    }
}

fn main() {}
