//! A memory for tests: one checked arena, and what turns slices into parameters.
#![allow(dead_code, reason = "each test file uses a part of it")]

pub(crate) mod bulk;
pub(crate) mod recorder;
pub(crate) mod services;

use std::sync::Mutex;

use cuda_sim_machine::{
    Contents, Fault, Launch, Memory, MemoryFault, Processor, Program, Statistics, run,
};

/// First address of the arena.
pub(crate) const BASE: u64 = 0x7000_0000_0000;

/// An arena whose blocks are apart by unmapped gaps.
pub(crate) struct Arena {
    bytes: Mutex<Vec<u8>>,
    blocks: Mutex<Vec<(u64, usize)>>,
}

impl Arena {
    pub(crate) fn new() -> Self {
        Self {
            bytes: Mutex::new(Vec::new()),
            blocks: Mutex::new(Vec::new()),
        }
    }

    /// Places bytes at an address that is a multiple of 256.
    pub(crate) fn place(&self, content: &[u8]) -> u64 {
        let mut bytes = self.bytes.lock().unwrap();
        let start = bytes.len().next_multiple_of(256);
        bytes.resize(start, 0);
        bytes.extend_from_slice(content);
        let end = bytes.len() + 256;
        bytes.resize(end, 0xee);
        self.blocks
            .lock()
            .unwrap()
            .push((BASE + start as u64, content.len()));
        BASE + start as u64
    }

    pub(crate) fn place_words<const N: usize, T: Copy>(
        &self,
        values: &[T],
        to_bytes: impl Fn(T) -> [u8; N],
    ) -> u64 {
        self.place(
            &values
                .iter()
                .flat_map(|&value| to_bytes(value))
                .collect::<Vec<u8>>(),
        )
    }

    pub(crate) fn f32s(&self, values: &[f32]) -> u64 {
        self.place_words(values, f32::to_le_bytes)
    }

    pub(crate) fn u32s(&self, values: &[u32]) -> u64 {
        self.place_words(values, u32::to_le_bytes)
    }

    pub(crate) fn store_all(&self, address: u64, bytes: &[u8]) {
        self.store(address, bytes).unwrap();
    }

    pub(crate) fn read(&self, address: u64, size: usize) -> Vec<u8> {
        let mut out = vec![0; size];
        self.load(address, &mut out).unwrap();
        out
    }

    pub(crate) fn read_f32s(&self, address: u64, len: usize) -> Vec<f32> {
        self.read(address, len * 4)
            .chunks(4)
            .map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()))
            .collect()
    }

    pub(crate) fn read_u32s(&self, address: u64, len: usize) -> Vec<u32> {
        self.read(address, len * 4)
            .chunks(4)
            .map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap()))
            .collect()
    }

    pub(crate) fn read_u64s(&self, address: u64, len: usize) -> Vec<u64> {
        self.read(address, len * 8)
            .chunks(8)
            .map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap()))
            .collect()
    }

    fn range(&self, address: u64, size: usize) -> Result<std::ops::Range<usize>, MemoryFault> {
        let inside = |&&(start, len): &&(u64, usize)| {
            address >= start
                && address
                    .checked_add(size as u64)
                    .is_some_and(|end| end <= start + len as u64)
        };
        match self.blocks.lock().unwrap().iter().find(inside) {
            Some(_) => Ok((address - BASE) as usize..(address - BASE) as usize + size),
            None => Err(MemoryFault {
                address,
                size,
                why: "no allocation there".into(),
            }),
        }
    }
}

impl Memory for Arena {
    fn load(&self, address: u64, into: &mut [u8]) -> Result<Contents, MemoryFault> {
        let range = self.range(address, into.len())?;
        into.copy_from_slice(&self.bytes.lock().unwrap()[range]);
        Ok(Contents::Written)
    }

    fn store(&self, address: u64, bytes: &[u8]) -> Result<(), MemoryFault> {
        let range = self.range(address, bytes.len())?;
        self.bytes.lock().unwrap()[range].copy_from_slice(bytes);
        Ok(())
    }

    fn atomic(
        &self,
        address: u64,
        size: usize,
        update: &mut dyn FnMut(u64) -> u64,
    ) -> Result<(u64, Contents), MemoryFault> {
        let range = self.range(address, size)?;
        let mut bytes = self.bytes.lock().unwrap();
        let mut word = [0; 8];
        word[..size].copy_from_slice(&bytes[range.clone()]);
        let old = u64::from_le_bytes(word);
        bytes[range].copy_from_slice(&update(old).to_le_bytes()[..size]);
        Ok((old, Contents::Written))
    }
}

/// A parameter buffer under construction.
#[derive(Default)]
pub(crate) struct Params(pub(crate) Vec<u8>);

impl Params {
    pub(crate) fn push<const N: usize>(mut self, bytes: [u8; N]) -> Self {
        self.0.resize(self.0.len().next_multiple_of(N), 0);
        self.0.extend_from_slice(&bytes);
        self
    }

    pub(crate) fn u64(self, value: u64) -> Self {
        self.push(value.to_le_bytes())
    }

    pub(crate) fn u32(self, value: u32) -> Self {
        self.push(value.to_le_bytes())
    }

    pub(crate) fn f32(self, value: f32) -> Self {
        self.push(value.to_le_bytes())
    }
}

/// Any processor, and the one that runs the tests.
pub(crate) fn processors() -> [Processor; 2] {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: the processor has both features.
        return [Processor::PORTABLE, unsafe { Processor::avx2() }];
    }
    [Processor::PORTABLE; 2]
}

/// Decodes PTX text.
pub(crate) fn program(ptx: &str) -> Program {
    Program::new(&cuda_ptx::Module::parse(ptx).unwrap())
}

/// Launches a kernel over a line of blocks.
pub(crate) fn launch(
    program: &Program,
    name: &str,
    blocks: u32,
    threads: u32,
    params: &Params,
    memory: &Arena,
) -> Result<Statistics, Fault> {
    let kernel = program.kernel(name).unwrap();
    assert_eq!(kernel.unsupported(), None);
    run(
        kernel,
        program,
        &Launch::new([blocks, 1, 1], [threads, 1, 1], &params.0),
        memory,
    )
}

/// Numbers that look random and are the same in every run.
pub(crate) fn numbers(count: usize, seed: u64) -> Vec<u32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 16) as u32
    };
    std::iter::repeat_with(next).take(count).collect()
}

/// A kernel `k(out)` whose threads each leave `%r0` in `out[global thread number]`.
pub(crate) fn thread_kernel(functions: &str, body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n{functions}\n.visible .entry k(.param .u64 out)\n{{\n\
         .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<20>; .reg .b64 %d<20>; .reg .b32 %t, %g, %n;\n\
         mov.u32 %t, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %g, %ctaid.x; mad.lo.u32 %g, %g, %n, %t;\n{body}\n\
         FINISH: ld.param.u64 %d0, [out]; mul.wide.u32 %d1, %g, 4; add.u64 %d0, %d0, %d1; st.global.u32 [%d0], %r0;\nret;\n}}\n"
    )
}

pub(crate) fn thread_results(functions: &str, body: &str, blocks: u32, threads: u32) -> Vec<u32> {
    let program = program(&thread_kernel(functions, body));
    let arena = Arena::new();
    let out = arena.u32s(&vec![0xdead; (blocks * threads) as usize]);
    launch(
        &program,
        "k",
        blocks,
        threads,
        &Params::default().u64(out),
        &arena,
    )
    .unwrap();
    arena.read_u32s(out, (blocks * threads) as usize)
}

pub(crate) fn each(threads: u32, f: impl Fn(u32) -> u32) -> Vec<u32> {
    (0..threads).map(f).collect()
}

/// The number of a half.
pub(crate) fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 {
        -magnitude
    } else {
        magnitude
    }
}
