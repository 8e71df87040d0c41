//! Lane instructions per second on saxpy, a compute-bound loop and a tiled matrix product.
//!
//! `cargo run --release -p cuda-sim-machine --example throughput [kernel]`

use std::sync::RwLock;
use std::time::Instant;

use cuda_sim_machine::{Launch, Memory, MemoryFault, Processor, Program, run};

/// One flat piece of memory at address 4096.
struct Flat(RwLock<Vec<u8>>);

const BASE: u64 = 4096;

impl Flat {
    fn range(
        &self,
        address: u64,
        size: usize,
        total: usize,
    ) -> Result<std::ops::Range<usize>, MemoryFault> {
        let start = address.wrapping_sub(BASE) as usize;
        match start.checked_add(size) {
            Some(end) if end <= total => Ok(start..end),
            _ => Err(MemoryFault {
                address,
                size,
                why: "outside".into(),
            }),
        }
    }
}

impl Memory for Flat {
    fn load(&self, address: u64, into: &mut [u8]) -> Result<(), MemoryFault> {
        let bytes = self.0.read().map_err(|_| MemoryFault {
            address,
            size: 0,
            why: "poisoned".into(),
        })?;
        into.copy_from_slice(&bytes[self.range(address, into.len(), bytes.len())?]);
        Ok(())
    }

    fn store(&self, address: u64, from: &[u8]) -> Result<(), MemoryFault> {
        let mut bytes = self.0.write().map_err(|_| MemoryFault {
            address,
            size: 0,
            why: "poisoned".into(),
        })?;
        let range = self.range(address, from.len(), bytes.len())?;
        bytes[range].copy_from_slice(from);
        Ok(())
    }

    fn atomic(
        &self,
        address: u64,
        size: usize,
        update: &mut dyn FnMut(u64) -> u64,
    ) -> Result<u64, MemoryFault> {
        let mut word = [0; 8];
        self.load(address, &mut word[..size])?;
        let old = u64::from_le_bytes(word);
        self.store(address, &update(old).to_le_bytes()[..size])?;
        Ok(old)
    }
}

fn processor() -> Processor {
    #[cfg(target_arch = "x86_64")]
    if std::env::var_os("PORTABLE").is_none()
        && is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
    {
        // SAFETY: the processor has both features.
        return unsafe { Processor::avx2() };
    }
    Processor::PORTABLE
}

fn measure(
    title: &str,
    ptx: &str,
    kernel: &str,
    launch: &Launch<'_>,
    memory: &Flat,
) -> Result<(), Box<dyn std::error::Error>> {
    if std::env::args().nth(1).is_some_and(|only| only != kernel) {
        return Ok(());
    }
    let program = Program::for_processor(&cuda_ptx::Module::parse(ptx)?, processor());
    let kernel = program.kernel(kernel).ok_or("no such kernel")?;
    let mut best = f64::INFINITY;
    let mut statistics = run(kernel, &program, launch, memory)?;
    for _ in 0..5 {
        let start = Instant::now();
        statistics = run(kernel, &program, launch, memory)?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    let rate = statistics.lane_instructions as f64 / best;
    println!(
        "{title}: {:.0} M lane instructions in {:.1} ms = {:.0} M/s",
        statistics.lane_instructions as f64 / 1e6,
        best * 1e3,
        rate / 1e6
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let n = 1u32 << 20;
    let memory = Flat(RwLock::new(vec![0; 3 * 4 * n as usize]));
    let (x, y, z) = (BASE, BASE + 4 * u64::from(n), BASE + 8 * u64::from(n));
    let mut params = 2.0f32.to_le_bytes().to_vec();
    params.resize(8, 0);
    params.extend(x.to_le_bytes());
    params.extend(y.to_le_bytes());
    params.extend(n.to_le_bytes());
    let launch = Launch::new([n / 256, 1, 1], [256, 1, 1], &params);
    measure(
        "saxpy",
        include_str!("../../../examples/kernels/saxpy.ptx"),
        "saxpy",
        &launch,
        &memory,
    )?;

    let mut params = x.to_le_bytes().to_vec();
    params.extend(65536u32.to_le_bytes());
    params.extend(0.5f32.to_le_bytes());
    params.extend(1f32.to_le_bytes());
    params.extend(200u32.to_le_bytes());
    let launch = Launch::new([256, 1, 1], [256, 1, 1], &params);
    measure(
        "scale",
        include_str!("../../../examples/kernels/scale.ptx"),
        "scale",
        &launch,
        &memory,
    )?;

    let size = 256u32;
    let mut params = [x, y, z].map(u64::to_le_bytes).concat();
    params.extend([size; 3].map(u32::to_le_bytes).concat());
    let launch = Launch::new([size / 16, size / 16, 1], [16, 16, 1], &params);
    measure(
        "matmul",
        include_str!("../../../examples/kernels/matmul.ptx"),
        "matmul",
        &launch,
        &memory,
    )?;

    let mut params = x.to_le_bytes().to_vec();
    params.extend([512u32, 512].map(u32::to_le_bytes).concat());
    params.extend([-0.5f32, 0.0, 0.006].map(f32::to_le_bytes).concat());
    params.extend(256u32.to_le_bytes());
    let launch = Launch::new([16, 64, 1], [32, 8, 1], &params);
    measure(
        "mandelbrot",
        include_str!("../../../examples/kernels/mandelbrot.ptx"),
        "mandelbrot",
        &launch,
        &memory,
    )?;
    Ok(())
}
