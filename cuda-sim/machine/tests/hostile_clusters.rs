//! Clusters that nobody meant: whatever instructions and addresses they have, a launch ends or is a fault, without a panic and within its
//! limit of instructions. `CLUSTER_FUZZ_ROUNDS=100000` searches for longer.

mod support;

use cuda_sim_machine::{Checks, Launch, Limits, Program, run};
use support::Arena;
use support::services::Recorder;

/// Blocks that reach into each other, with every instruction that knows of clusters.
const CLUSTER: &str = ".version 8.6\n.target sm_90a\n.address_size 64
.shared .align 16 .b8 s[256]; .shared .align 8 .b64 m[4]; .extern .shared .align 16 .b8 d[];
.visible .entry k(.param .u64 p, .param .u32 n) .explicitcluster
{ .reg .pred %p<5>; .reg .b32 %r<12>; .reg .b64 %d<12>; .reg .b128 %q<2>;
  ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r2, %cluster_ctarank; mov.u32 %r3, %cluster_nctarank; mov.u32 %r10, %clusterid.x;
  mov.u32 %r11, %nclusterid.y; mov.u32 %r9, %cluster_ctaid.x; mov.u32 %r8, %cluster_nctaid.z; mov.pred %p4, %is_explicit_cluster;
  mov.u32 %r4, s; mov.u64 %d2, s; mov.u64 %d5, m; add.u32 %r5, %r2, 1; rem.u32 %r5, %r5, %r3; mapa.shared::cluster.u32 %r6, %r4, %r5; cvta.shared.u64 %d6, %d2; mapa.u64 %d3, %d6, %r5;
  mapa.shared::cluster.u64 %d4, %d2, %r5; getctarank.shared::cluster.u32 %r7, %r6; getctarank.u64 %r7, %d6;
  st.shared.u32 [s+4], %r1; barrier.cluster.arrive.release; barrier.cluster.wait.acquire;
  ld.shared::cluster.u32 %r8, [%r6+4]; atom.shared::cluster.add.u32 %r9, [%r6], %r1; red.shared::cluster.add.u32 [%r6+8], 1; st.shared::cluster.v2.u32 [%r6+16], {%r1, %r2};
  isspacep.shared::cluster %p1, %d6; isspacep.shared::cta %p2, %d3; elect.sync %r8|%p3, -1; fence.acq_rel.cluster;
  setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared.b64 [%d5], 4; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
  mapa.shared::cluster.u64 %d7, %d5, %r5; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%d7]; mbarrier.arrive.shared.b64 %d8, [%d5];
  mbarrier.test_wait.shared.b64 %p2, [%d5], %d8; mbarrier.inval.shared.b64 [%d5]; griddepcontrol.launch_dependents; griddepcontrol.wait;
  ld.u32 %r8, [%d3]; atom.add.u32 %r9, [%d6], 1; bar.sync 0; @%p3 barrier.cluster.arrive.relaxed; @%p3 barrier.cluster.wait; ret; }
";

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 8) as usize % bound
    }
}

/// Some words removed, doubled, or replaced by others or by numbers at the edges.
fn changed(words: &[&str], random: &mut Random) -> String {
    const EDGES: [&str; 12] = [
        "4294967295,",
        "-1,",
        "0x7fffffffffffffff,",
        "16777216]",
        "2147483648]",
        "-4]",
        "%r3,",
        "shared::cta.",
        "shared::cluster.",
        "u64 ",
        "v4.",
        "@%p2 ",
    ];
    let mut changed = words.to_vec();
    for _ in 0..random.below(4) {
        let at = random.below(changed.len());
        match random.below(4) {
            0 => changed[at] = words[random.below(words.len())],
            1 => changed.insert(at, words[random.below(words.len())]),
            2 => drop(changed.remove(at)),
            _ => changed[at] = EDGES[random.below(EDGES.len())],
        }
    }
    changed.concat()
}

#[test]
fn clusters_changed_at_random() {
    let rounds = std::env::var("CLUSTER_FUZZ_ROUNDS").map_or(800, |it| it.parse().unwrap());
    let mut random = Random(0x5eed_c1a5_7e25_0001);
    let words: Vec<&str> = CLUSTER
        .split_inclusive([' ', ',', ';', '\n', '[', ']', '.', '+'])
        .collect();
    let (mut ended, mut faults) = (0, 0);
    for _ in 0..rounds {
        let text = changed(&words, &mut random);
        let Ok(module) = cuda_ptx::Module::parse(&text) else {
            continue;
        };
        let program = Program::new(&module);
        let arena = Arena::new();
        let globals: Vec<u64> = (program.globals().iter())
            .map(|global| arena.place(&global.bytes))
            .collect();
        let params = arena.place(&[0; 4096]).to_le_bytes().repeat(4);
        let host = Recorder::default();
        // Some of these do not divide the grid, or are too large.
        let shapes = [
            [1, 1, 1],
            [2, 1, 1],
            [4, 1, 1],
            [2, 2, 1],
            [1, 2, 2],
            [16, 1, 1],
            [3, 1, 1],
            [0, 1, 1],
            [65536, 65536, 1],
        ];
        for kernel in program.kernels() {
            let launch = Launch {
                globals: &globals,
                cluster: Some(shapes[random.below(shapes.len())]),
                dynamic_shared: [0, 64, 1 << 16][random.below(3)],
                seed: random.below(50) as u64,
                services: &host,
                threads: 1 + random.below(2),
                checks: Checks {
                    race: random.below(2) == 0,
                    global_race: random.below(2) == 0,
                    unwritten: random.below(2) == 0,
                    sync: random.below(2) == 0,
                },
                limits: Limits {
                    instructions: 40_000,
                    ..Limits::DEFAULT
                },
                ..Launch::new([16, 2, 2], [33, 1, 1], &params)
            };
            match run(kernel, &program, &launch, &arena) {
                Ok(_) => ended += 1,
                Err(fault) => {
                    assert!(!fault.to_string().is_empty());
                    faults += 1;
                }
            }
        }
    }
    assert!(
        ended > rounds / 100 && faults > rounds / 100,
        "{ended} launches ended, {faults} did not"
    );
}
