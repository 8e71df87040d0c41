//! Kernels with asynchronous operations: their text, and launches that record what the checks find.

use std::sync::Mutex;

use cuda_sim_machine::{Checks, Fault, Finding, Launch, Limits, Output, Services, run};

use super::{Arena, Params, program};

/// Keeps what the checks find.
#[derive(Debug, Default)]
pub(crate) struct Recorder(Mutex<Vec<Finding>>);

impl Services for Recorder {
    fn print(&self, _: Output, _: &[u8]) {}

    fn allocate(&self, _: u64) -> u64 {
        0
    }

    fn free(&self, _: u64) -> Result<(), String> {
        Ok(())
    }

    fn found(&self, finding: Finding) {
        self.0.lock().unwrap().push(finding);
    }
}

/// How a kernel is launched: blocks, blocks of a cluster, threads of a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape(pub(crate) u32, pub(crate) u32, pub(crate) u32);

/// A kernel `k(from, out)` with a barrier `bar`, 4096 bytes `cells`, a thread number `%t`, a block number in its cluster `%rank` and `%p0`
/// set for thread 0; it gives `%r0` of each thread to `out`, behind the cluster's barrier.
pub(crate) fn kernel(body: &str) -> String {
    format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 from, .param .u64 out)\n{{\n\
         .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<20>; .reg .b64 %d<20>; .reg .b32 %t, %g, %n, %rank; .reg .b64 %from, %out;\n\
         .shared .align 8 .b64 bar; .shared .align 128 .b8 cells[4096];\n\
         mov.u32 %t, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %g, %ctaid.x; mad.lo.u32 %g, %g, %n, %t; mov.u32 %rank, %cluster_ctarank;\n\
         setp.eq.u32 %p0, %t, 0; ld.param.u64 %from, [from]; ld.param.u64 %out, [out];\n{body}\n\
         barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n\
         mul.wide.u32 %d1, %g, 4; add.u64 %d0, %out, %d1; st.global.u32 [%d0], %r0;\nret;\n}}\n"
    )
}

/// Thread 0 makes the barrier for one arrival, and all see it.
pub(crate) const INIT: &str =
    "@%p0 mbarrier.init.shared::cta.b64 [bar], 1; fence.mbarrier_init.release.cluster;
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;";

/// Waits for the phase of that parity.
pub(crate) fn wait(parity: u32) -> String {
    format!(
        "{{ AGAIN: mbarrier.try_wait.parity.shared::cta.b64 %p8, [bar], {parity}; @!%p8 bra AGAIN; }}"
    )
}

/// What came of a launch: what each thread left, what `from` holds then, and what was found.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) result: Result<(), Fault>,
    pub(crate) out: Vec<u32>,
    pub(crate) memory: Vec<u8>,
    pub(crate) found: Vec<Finding>,
}

/// The contents of `from` at the start.
pub(crate) fn source() -> Vec<u8> {
    (0..4096u32)
        .flat_map(|i| (i * 3 + 1).to_le_bytes())
        .collect()
}

/// Runs a text with the checks or without.
pub(crate) fn run_text(
    text: &str,
    Shape(blocks, cluster, threads): Shape,
    seed: u64,
    race: bool,
) -> Ran {
    let program = program(text);
    let kernel = program.kernel("k").unwrap();
    assert_eq!(kernel.unsupported(), None);
    let arena = Arena::new();
    let from = arena.place(&source());
    let out = arena.u32s(&vec![0xdead; (blocks * threads) as usize]);
    let params = Params::default().u64(from).u64(out);
    let recorder = Recorder::default();
    let launch = Launch {
        cluster: Some([cluster, 1, 1]),
        services: &recorder,
        checks: Checks {
            race,
            global_race: race,
            unwritten: false,
            sync: race,
        },
        limits: Limits {
            instructions: 5_000_000,
            ..Limits::DEFAULT
        },
        seed,
        ..Launch::new([blocks, 1, 1], [threads, 1, 1], &params.0)
    };
    let result = run(kernel, &program, &launch, &arena);
    Ran {
        result: result.map(|_| ()),
        out: arena.read_u32s(out, (blocks * threads) as usize),
        memory: arena.read(from, 4096 * 4),
        found: recorder.0.into_inner().unwrap(),
    }
}

/// Seeds under which operations happen at different times.
pub(crate) const SEEDS: [u64; 6] = [0, 1, 2, 3, 40, 77];

/// Runs a correct kernel under several seeds, with the checks and without, which find nothing; gives what its threads leave and what
/// `from` holds then.
pub(crate) fn correct(body: &str, shape: Shape) -> (Vec<u32>, Vec<u8>) {
    let text = kernel(body);
    let mut last: Option<(Vec<u32>, Vec<u8>)> = None;
    for (seed, race) in SEEDS.iter().flat_map(|&seed| [(seed, false), (seed, true)]) {
        let ran = run_text(&text, shape, seed, race);
        assert_eq!(ran.result, Ok(()), "seed {seed}");
        assert_eq!(ran.found, [], "seed {seed}");
        let ran = (ran.out, ran.memory);
        if let Some(last) = &last {
            assert_eq!(*last, ran, "seed {seed}");
        }
        last = Some(ran);
    }
    last.unwrap()
}

/// What is wrong with a kernel, which the checks say under every seed.
pub(crate) fn finding(body: &str, shape: Shape) -> Finding {
    let text = kernel(body);
    let found = SEEDS.map(|seed| {
        let ran = run_text(&text, shape, seed, true);
        assert_eq!(ran.result, Ok(()), "seed {seed}");
        let first = ran.found.into_iter().next();
        first.unwrap_or_else(|| panic!("seed {seed} finds nothing"))
    });
    let kinds = found.each_ref().map(|it| it.kind);
    assert!(kinds.iter().all(|kind| *kind == kinds[0]), "{kinds:?}");
    let [first, ..] = found;
    first
}

/// How a kernel fails, whatever the seed.
pub(crate) fn fault(body: &str, shape: Shape) -> Fault {
    let text = kernel(body);
    let faults = SEEDS.map(|seed| run_text(&text, shape, seed, false).result.unwrap_err());
    let [first, ..] = faults;
    first
}

impl Recorder {
    pub(crate) fn take(self) -> Vec<Finding> {
        self.0.into_inner().unwrap()
    }
}
