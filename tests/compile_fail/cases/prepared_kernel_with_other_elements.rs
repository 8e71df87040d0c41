use cuda_driver::{DeviceAllocation, LaunchConfig, Result, Stream, kernels};

kernels! {
    unsafe extern Kernels from ptx "../../../examples/kernels/typed_kernels.ptx" {
        #[launch(for_len(y), block <= 1024)]
        #[prepared(Axpy)]
        safe fn axpy(a: f32, x: &[f32], y: &mut [f32; len(x)], n: u32 = len(y));

        #[name = "fill<float>"]
        #[prepared(Fill)]
        unsafe fn fill(out: &mut [f32], value: f32, n: u32);
    }
}

fn launch(
    kernels: &Kernels,
    stream: &Stream,
    x: &DeviceAllocation<f64>,
    y: &mut DeviceAllocation<f32>,
) -> Result<()> {
    let axpy = kernels.axpy_prepare(LaunchConfig::for_len(x.len()))?;
    axpy.launch(stream, 1.0, x, &*y)
}

fn main() {}
