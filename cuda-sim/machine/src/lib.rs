//! Executes PTX kernels on the CPU, without unsafe code.
//!
//! ```
//! use std::sync::Mutex;
//! use cuda_sim_machine::{Contents, Launch, Memory, MemoryFault, Program, run};
//!
//! /// Eight bytes at address 4096.
//! struct Word(Mutex<[u8; 8]>);
//!
//! impl Word {
//!     fn check(address: u64, size: usize) -> Result<(), MemoryFault> {
//!         let fault = MemoryFault { address, size, why: "no allocation there".into() };
//!         if (address, size) == (4096, 8) { Ok(()) } else { Err(fault) }
//!     }
//! }
//!
//! impl Memory for Word {
//!     fn load(&self, address: u64, into: &mut [u8]) -> Result<Contents, MemoryFault> {
//!         Self::check(address, into.len())?;
//!         into.copy_from_slice(&*self.0.lock().unwrap());
//!         Ok(Contents::Written)
//!     }
//!     fn store(&self, address: u64, bytes: &[u8]) -> Result<(), MemoryFault> {
//!         Self::check(address, bytes.len())?;
//!         self.0.lock().unwrap().copy_from_slice(bytes);
//!         Ok(())
//!     }
//!     fn atomic(&self, address: u64, size: usize, update: &mut dyn FnMut(u64) -> u64) -> Result<(u64, Contents), MemoryFault> {
//!         Self::check(address, size)?;
//!         let mut word = self.0.lock().unwrap();
//!         let old = u64::from_le_bytes(*word);
//!         *word = update(old).to_le_bytes();
//!         Ok((old, Contents::Written))
//!     }
//! }
//!
//! let module = cuda_ptx::Module::parse(
//!     ".version 7.0 .target sm_52 .address_size 64
//!      .visible .entry count(.param .u64 at)
//!      { .reg .b64 %rd1; ld.param.u64 %rd1, [at]; red.global.add.u64 [%rd1], 1; ret; }",
//! )?;
//! let program = Program::new(&module);
//! let kernel = program.kernel("count").ok_or("no such kernel")?;
//! let memory = Word(Mutex::new([0; 8]));
//! let params = 4096u64.to_le_bytes();
//! let statistics = run(kernel, &program, &Launch::new([10, 1, 1], [64, 1, 1], &params), &memory)?;
//! assert_eq!(statistics.blocks, 10);
//! assert_eq!(u64::from_le_bytes(*memory.0.lock().unwrap()), 640);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What it promises
//! * **Exact decode.** Each family of instructions has one list of the forms that it implements, modifiers and types included. A form that is
//!   in no list makes every launch that could reach it fail with [`FaultKind::Unsupported`], which gives the instruction, its line and its
//!   function; nothing is computed in its place. The module's other kernels can be launched.
//! * **Exact results.** Where the ISA says what an instruction gives, that is what it gives, NaN included; the test `golden` compares every
//!   such form with a GPU. Approximations (`ex2.approx` …) are rounded correctly, and so within the error that the ISA allows, but they are
//!   not bit for bit what a GPU computes. Of products of matrices (`mma`, `wmma`) the ISA says for floating-point types of at most 32 bits only that they are at
//!   least as precise as single precision; here each product is exact, they are added to `C` in double precision in the order of `k`, and the sum is rounded
//!   once, to nearest. Denormals count, a NaN is the canonical one, and of `tf32` the last 13 bits are not looked at. Doubles are fused multiplications and
//!   additions in the order of `k`, integers are exact. Where `wmma` leaves open which lane holds which elements, they lie as `mma` has them.
//! * **The same every time.** A launch depends on its arguments and on [`Launch::seed`] alone, which chooses among the orders that CUDA allows.
//!   Clocks count instructions.
//! * **Asynchronous as on a GPU.** A bulk copy, an asynchronous store or reduction happens at once, some turns later, or when nobody can go on
//!   without it, and reads its source early or late, by the seed; with seed 0 each one happens late. `cp.async` copies at once.
//! * **Faults with their place.** Whatever goes wrong is a [`Fault`] with line, instruction, block and thread.
//!
//! # What kernels ask of the host
//! `printf`, `assert`, `malloc` and `free` go to the launch's [`Services`], accesses of global memory to its [`Memory`]. A launch can be asked to look for mistakes of a block's threads among themselves ([`Checks`]): races in shared memory,
//! divided barriers, wrong masks.
//!
//! # How it works
//! A decoded instruction runs for the 32 lanes of a warp at once; registers are rows of 32 lanes. Lanes that diverge run in groups, the lowest
//! program counter first, so that they meet again as early as possible; a group that keeps branching backwards while others could run makes
//! room for them, so lanes that spin until another lane has done something do not wait for ever. Barriers park lanes. Blocks that cannot
//! influence each other run to their end one after the other, on [several threads](Launch::threads) if there is enough to do; blocks that
//! could run on one thread, side by side as soon as one does not end within its share. The blocks of a [cluster](Launch::cluster) always run
//! side by side, and different clusters go by those same rules.
//!
//! # Speed
//! What a kernel would do again and again for nothing is found out when it is decoded: registers to which one statement alone moves a
//! parameter, a special register or a constant hold it from the start; registers that are written before they are read need not be cleared
//! between blocks; and accesses through an address register that has not changed know how the lanes lie to each other. None of this can be
//! noticed: an instruction that has nothing left to do is executed, and counted, as one.
//!
//! Lane instructions (one PTX instruction of one active lane) per second, on one core of an AMD EPYC at 2.6 GHz, with AVX2 and FMA, the
//! fastest of 15 launches:
//!
//! | kernel | the machine alone | through the driver, with its checks |
//! |---|---|---|
//! | saxpy | 3.0 G | 2.1 G |
//! | tiled matrix product | 2.7 G | 2.6 G |
//! | mandelbrot, which diverges | 2.4 G | |
//! | scale, a loop of multiplications and additions | 4.0 G | |
//!
//! A tiled product of halves by `ldmatrix` and `mma` makes 0.6 G multiplications and additions per second.
//!
//! `cargo run --release -p cuda-sim-machine --example throughput` measures the first column, also with the operations for any processor
//! ([`Processor`]); `cargo run --release -p cuda-sim --example launch_throughput 1` measures the second, and
//! `cargo run --release -p cuda-sim --example launch_cost` what a launch of a small kernel costs.

#![forbid(unsafe_code)]

mod check;
mod code;
mod decode;
mod exec;
mod fault;
mod launch;
mod memory;
mod ops;
mod prerequisite;
mod processor;
mod program;
mod registers;
mod services;

pub use check::{Access, Cause, Checks, Finding, FindingKind};
pub use exec::run;
pub use fault::{Fault, FaultKind, Interaction, Place, SourceLine, Unsupported, Window};
pub use launch::{Launch, Limits, Statistics, StillRunning};
pub use memory::{
    CODE_WINDOW, Contents, LOCAL_WINDOW, LaneFault, Lanes, Memory, MemoryFault, PARAM_WINDOW,
    SHARED_WINDOW, WARP_SIZE, WINDOW_SIZE,
};
pub use prerequisite::{Abandoned, Prerequisite};
pub use processor::Processor;
pub use program::{
    ClusterRules, Global, GlobalSpace, Kernel, KernelParam, Program, Relocation, RelocationTarget,
};
pub use services::{NoServices, Output, Services};

// The program of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
