use cuda_driver::{DeviceAllocation, Result, Stream, kernels};

kernels! {
    unsafe extern Kernels from ptx "../../../examples/kernels/typed_kernels.ptx" {
        #[launch(for_len(y))]
        safe fn axpy(a: f32, x: &[f32], y: &mut [f32; len(x)], n: u32 = len(y));

        #[name = "fill<float>"]
        #[launch(for_len(out))]
        unsafe fn fill(out: &mut [f32], value: f32, n: u32);
    }
}

fn launch(
    kernels: &Kernels,
    stream: &Stream,
    x: &DeviceAllocation<f32>,
    y: &mut DeviceAllocation<f32>,
) -> Result<()> {
    kernels.axpy(stream, 1.0, x, &*y)
}

fn main() {}
