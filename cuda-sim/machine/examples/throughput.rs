//! Lane instructions per second on one core: saxpy, a compute-bound loop, a tiled matrix product and a kernel that diverges; and
//! multiplications per second of a tiled product of halves by `mma`.
//!
//! `cargo run --release -p cuda-sim-machine --example throughput [kernel]`
//!
//! Each kernel is measured with the operations for any processor, and with those for this one; the figure is the median of 15 launches,
//! and the fastest one stands beside it. Memory is one flat array here; the example `launch_throughput` of `cuda-sim` measures some of the
//! kernels through the driver, memory checks included.

use std::sync::RwLock;
use std::time::Instant;

use cuda_sim_machine::{Contents, Launch, Memory, MemoryFault, Processor, Program, run};

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
    fn load(&self, address: u64, into: &mut [u8]) -> Result<Contents, MemoryFault> {
        let bytes = self.0.read().map_err(|_| MemoryFault {
            address,
            size: 0,
            why: "poisoned".into(),
        })?;
        into.copy_from_slice(&bytes[self.range(address, into.len(), bytes.len())?]);
        Ok(Contents::Written)
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
    ) -> Result<(u64, Contents), MemoryFault> {
        let mut word = [0; 8];
        self.load(address, &mut word[..size])?;
        let old = u64::from_le_bytes(word);
        self.store(address, &update(old).to_le_bytes()[..size])?;
        Ok((old, Contents::Written))
    }
}

/// The processors to measure: any, and this one where it can do more.
fn processors() -> Vec<Processor> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: the processor has both features.
        return vec![Processor::PORTABLE, unsafe { Processor::avx2() }];
    }
    vec![Processor::PORTABLE]
}

const LAUNCHES: usize = 15;

fn measure(
    title: &str,
    ptx: &str,
    launch: &Launch<'_>,
    memory: &Flat,
) -> Result<(), Box<dyn std::error::Error>> {
    measure_work(title, ptx, launch, memory, None)
}

/// As `measure`; where so many multiplications are stated, their rate is shown too.
fn measure_work(
    title: &str,
    ptx: &str,
    launch: &Launch<'_>,
    memory: &Flat,
    multiplications: Option<f64>,
) -> Result<(), Box<dyn std::error::Error>> {
    if std::env::args().nth(1).is_some_and(|only| only != title) {
        return Ok(());
    }
    for processor in processors() {
        let program = Program::for_processor(&cuda_ptx::Module::parse(ptx)?, processor);
        let kernel = program.kernel(title).ok_or("no such kernel")?;
        let lanes = run(kernel, &program, launch, memory)?.lane_instructions as f64;
        let mut seconds = Vec::new();
        for _ in 0..LAUNCHES {
            let start = Instant::now();
            run(kernel, &program, launch, memory)?;
            seconds.push(start.elapsed().as_secs_f64());
        }
        seconds.sort_by(f64::total_cmp);
        println!(
            "{title:<10} {:<12} {:>4.0} M lane instructions: {:.2} G/s (fastest {:.2})",
            processor.name(),
            lanes / 1e6,
            lanes / seconds[LAUNCHES / 2] / 1e9,
            lanes / seconds[0] / 1e9,
        );
        if let Some(work) = multiplications {
            println!(
                "{:<23} {:>4.0} M multiplications: {:.2} G/s (fastest {:.2})",
                "",
                work / 1e6,
                work / seconds[LAUNCHES / 2] / 1e9,
                work / seconds[0] / 1e9,
            );
        }
    }
    Ok(())
}

/// What the processor offers, as far as it matters here.
fn features() -> String {
    #[cfg(target_arch = "x86_64")]
    let found = [
        ("avx2", is_x86_feature_detected!("avx2")),
        ("fma", is_x86_feature_detected!("fma")),
        ("avx512f", is_x86_feature_detected!("avx512f")),
    ];
    #[cfg(not(target_arch = "x86_64"))]
    let found: [(&str, bool); 0] = [];
    let names: Vec<&str> = found
        .iter()
        .filter(|(_, has)| *has)
        .map(|(name, _)| *name)
        .collect();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!(
        "{} {} ({cores} cores, one used)",
        std::env::consts::ARCH,
        names.join(" ")
    )
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("{}", features());
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
        &launch,
        &memory,
    )?;

    let mut params = [x, y, z].map(u64::to_le_bytes).concat();
    params.extend([size; 2].map(u32::to_le_bytes).concat());
    let launch = Launch::new([size / 64, size / 64, 1], [128, 1, 1], &params);
    measure_work(
        "product_of_halves",
        include_str!("../../../tests/kernels/matrix.ptx"),
        &launch,
        &memory,
        Some(f64::from(size).powi(3)),
    )?;

    let mut params = x.to_le_bytes().to_vec();
    params.extend([512u32, 512].map(u32::to_le_bytes).concat());
    params.extend([-0.5f32, 0.0, 0.006].map(f32::to_le_bytes).concat());
    params.extend(256u32.to_le_bytes());
    let launch = Launch::new([16, 64, 1], [32, 8, 1], &params);
    measure(
        "mandelbrot",
        include_str!("../../../examples/kernels/mandelbrot.ptx"),
        &launch,
        &memory,
    )?;
    Ok(())
}
