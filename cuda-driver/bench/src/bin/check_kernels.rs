//! Times the comparison of a thousand declared kernels with their module, on a driver that answers at once.

use std::time::{Duration, Instant};

use cuda_driver::Result;
use cuda_driver::kernels::__private::{Access, Kernel, Origin, Parameter, resolve};
use cuda_driver::kernels::KernelType;
use cuda_driver_bench::idle_driver;

const KERNELS: usize = 1000;
const ROUNDS: usize = 51;

fn main() -> Result<()> {
    let context = idle_driver()?.device(0)?.primary_context()?;
    let module = context.load_ptx(".version 7.0\n.target sm_52\n.address_size 64\n")?;
    let declared: &[Kernel; KERNELS] = Box::leak(Box::new(std::array::from_fn(kernel)));
    let mut times: Vec<Duration> = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        // SAFETY: the kernels touch no global variables.
        let functions = unsafe { resolve("Kernels", &module, declared, Origin::Elsewhere) }?;
        times.push(start.elapsed());
        drop(functions);
    }
    times.sort();
    println!(
        "{KERNELS} kernels of 4 parameters: {:.2?}, the median of {ROUNDS}",
        times[ROUNDS / 2]
    );
    Ok(())
}

/// `module::kernel_7(float const*, float const*, float*, unsigned int)` in a namespace.
fn kernel(index: usize) -> Kernel {
    let name = format!("kernel_{index}");
    let symbol = format!("_ZN6module{}{name}EPKfS1_Pfj", name.len());
    let parameter = |access| Parameter {
        name: "parameter",
        text: "&[f32]",
        access,
        size: 4,
        element: f32::TYPE,
    };
    let number = Parameter {
        element: u32::TYPE,
        ..parameter(Access::Value)
    };
    let parameters = vec![
        parameter(Access::Read),
        parameter(Access::Read),
        parameter(Access::Write),
        number,
    ];
    Kernel {
        method: "kernel",
        name: symbol.leak(),
        symbol: None,
        parameters: parameters.leak(),
        most_threads: Some(256),
        shared_bytes: None,
        globals: Some(&[]),
        waits: false,
    }
}
