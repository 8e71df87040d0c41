//! Teaches typed kernels: the trust in a kernel is stated once, where it is declared, and launching it is calling a method.

use bytemuck::{Pod, Zeroable};
use cuda_driver::kernels::{ElementType, KernelType};
use cuda_driver::{Driver, LaunchConfig, Null, Result, kernels};

/// The same struct as in `typed_kernels.cu`.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Window {
    low: f32,
    high: f32,
}

impl KernelType for Window {
    // Compared with the kernel's parameter, by name.
    const TYPE: ElementType = ElementType::named("Window");
}

kernels! {
    /// Kernels of `typed_kernels.cu`. Number, sizes and types of their parameters are compared with the PTX at compile time.
    pub unsafe extern Kernels from ptx env!("TYPED_KERNELS_PTX") {
        /// `y[i] += a * x[i]`
        #[launch(for_len(y), block <= 1024)]
        #[prepared(Axpy)]
        pub safe fn axpy(a: f32, x: &[f32], y: &mut [f32; len(x)], n: u32 = len(y));

        /// `out[i] = value`
        #[name = "fill<float>"]
        #[launch(for_len(out))]
        pub safe fn fill(out: &mut [f32], value: f32, n: u32 = len(out));

        /// Brings every element into the window, and counts those that were outside.
        #[launch(for_len(data))]
        pub safe fn clamp(window: Window, data: &mut [f32], outside: Option<&mut [u32; 1]>, n: u32 = len(data));
    }
}

fn main() -> Result<()> {
    let driver = Driver::load_or_simulated()?;
    let context = driver.device(0)?.primary_context()?;
    println!("{driver}: {}", context.device().name()?);
    let kernels = Kernels::load(&context)?;
    let stream = context.create_stream()?;

    let x: Vec<f32> = (0..1000_u16).map(f32::from).collect();
    let x = stream.upload(&x)?;
    let mut y = stream.zeroed::<f32>(x.len())?;
    kernels.fill(&stream, &mut y, 1.0)?;
    kernels.axpy(&stream, 2.0, &x, &mut y)?;
    // What the declaration leaves open, here the size of a block, can be chosen.
    let small_blocks = LaunchConfig::for_len_with_block(x.len(), 64);
    kernels.axpy_with(small_blocks, &stream, -1.0, &x, &mut y)?;
    assert_eq!(y.to_vec()?[999], 1000.0);

    // What is launched many times with the same shape is checked once: then only the lengths are compared.
    let axpy: Axpy = kernels.axpy_prepare(LaunchConfig::for_len(x.len()))?;
    for _ in 0..10 {
        axpy.launch(&stream, 0.5, &x, &mut y)?;
        axpy.launch(&stream, -0.5, &x, &mut y)?;
    }
    assert_eq!(y.to_vec()?[999], 1000.0);

    let window = Window {
        low: 10.0,
        high: 500.0,
    };
    let mut outside = stream.zeroed::<u32>(1)?;
    kernels.clamp(&stream, window, &mut y, &mut outside)?;
    assert_eq!(outside.to_vec()?, [509]);
    kernels.clamp(&stream, window, &mut y, Null)?;
    println!("{} of {} elements were outside of {window:?}", 509, y.len());

    // A wrong argument never reaches the kernel.
    let mut short = stream.zeroed::<f32>(10)?;
    let error = kernels
        .axpy(&stream, 1.0, &x, &mut short)
        .expect_err("`short` is too short");
    println!("{error}");
    Ok(())
}
