use cuda_driver::{ExtendedLaunchConfig, PreparedLaunch, Result, kernels};

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

fn of_another_kernel(fill: Fill) -> Axpy {
    Axpy {
        launch: fill.launch,
    }
}

fn of_a_launch(launch: PreparedLaunch<ExtendedLaunchConfig>) -> Axpy {
    Axpy { launch }
}

fn of_any_configuration(kernels: &Kernels, config: ExtendedLaunchConfig) -> Result<Axpy> {
    let launch = kernels.axpy.prepare(config)?;
    Ok(Axpy { launch })
}

fn main() {}
