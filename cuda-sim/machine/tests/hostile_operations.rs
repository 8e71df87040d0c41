//! Matrix instructions, asynchronous operations, barriers in memory and locks that nobody meant: a launch ends or is a fault, without a
//! panic and within its limit of instructions, and the same for every processor. `OPERATION_FUZZ_ROUNDS=100000` searches for longer,
//! `OPERATION_FUZZ_SEED` elsewhere; `OPERATION_FUZZ_LOG` names a file that holds what is tried, which outlives a crash.

mod support;

use cuda_sim_machine::{Checks, Launch, Limits, Program, run};
use support::services::Recorder;
use support::{Arena, processors};

/// Texts with one kernel or more; `BODY` is where instructions of [`POOL`] go.
const TEXTS: [&str; 4] = [
    FRAME,
    include_str!("../../../tests/kernels/matrix.ptx"),
    include_str!("../../../tests/kernels/bulk_copies.ptx"),
    include_str!("../../../tests/kernels/clusters.ptx"),
];

const FRAME: &str = ".version 8.6\n.target sm_90\n.address_size 64
.shared .align 8 .b64 bar[4]; .shared .align 128 .b8 cells[4096]; .global .align 16 .b8 data[4096]; .global .u32 flag;
.visible .entry k(.param .u64 p)
{ .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<40>; .reg .f32 %f<40>; .reg .f64 %g<9>; .reg .b64 %d<20>; .reg .b128 %q<3>;
  ld.param.u64 %d0, [p]; mov.u32 %r0, %tid.x; mov.u32 %r1, cells; mad.lo.u32 %r2, %r0, 16, %r1; mov.u32 %r3, bar;
  mov.u64 %d1, data; mov.u64 %d2, cells; mad.wide.u32 %d3, %r0, 16, %d0; mov.u64 %d4, flag; cvta.shared.u64 %d5, %d2; cvta.shared.u64 %d6, %d5;
  mov.u32 %r4, %cluster_ctarank; xor.b32 %r5, %r4, 1; mapa.shared::cluster.u32 %r6, %r1, %r5; mapa.shared::cluster.u32 %r7, %r3, %r5;
  setp.eq.u32 %p0, %r0, 0; setp.lt.u32 %p1, %r0, 16; mov.u32 %r8, 256; mov.b32 %r9, -16; mov.b64 %d7, -16; mov.b16 %h0, 3;
  @%p0 mbarrier.init.shared::cta.b64 [bar], 1; @%p0 mbarrier.init.shared::cta.b64 [bar+8], 32; fence.mbarrier_init.release.cluster;
  barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
  BODY
  barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; ret; }
";

/// Instructions, one of which is a line.
const POOL: &str = "
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r10, %r11, %r12, %r13}, {%r14, %r15}, {%f0, %f1, %f2, %f3};
mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r20, %r21}, {%r10, %r11}, {%r14}, {%r20, %r21};
mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%g0, %g1}, {%g2}, {%g3}, {%g0, %g1};
mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, {%r10, %r11}, {%r12, %r13}, {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7};
mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32 {%r20, %r21, %r22, %r23}, {%r10, %r11, %r12, %r13}, {%r14, %r15}, {%r20, %r21, %r22, %r23};
mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc {%r20, %r21}, {%r10}, {%r11}, {%r20, %r21};
mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%f0, %f1, %f2, %f3}, {%r10, %r11}, {%r12}, {%f0, %f1, %f2, %f3};
wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, [%r1], %r8;
wmma.load.b.sync.aligned.col.m16n16k16.global.s8 {%r18, %r19}, [%d0];
wmma.load.c.sync.aligned.row.m16n16k16.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, [%d3], 16;
wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, {%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, {%r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27}, {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7};
wmma.store.d.sync.aligned.col.m16n16k16.shared.f32 [%r1], {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, 16;
wmma.load.a.sync.aligned.row.m8n8k4.f64 {%g0}, [%d0], %r8;
wmma.load.a.sync.aligned.row.m8n8k32.global.s4 {%r10}, [%d0], 32;
wmma.store.d.sync.aligned.row.m8n8k4.global.f64 [%d0], {%g0, %g1}, %r9;
ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r2];
ldmatrix.sync.aligned.m8n8.x2.trans.b16 {%r10, %r11}, [%d5];
stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%r2], {%r10};
movmatrix.sync.aligned.m8n8.trans.b16 %r10, %r11;
@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d0], 256, [bar];
@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [%r1], [%d0], %r8, [%r3], %h0, %d7;
@%p0 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r6+512], [%r1], %r8, [%r7];
@%p0 cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.cp_mask [%d1], [%r1], 128, %d7, %h0;
cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r1], 64;
cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.inc.u32 [%r6+1024], [%r1], 64, [%r7];
cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16 [%d1+1024], [%r1], 64;
cp.reduce.async.bulk.global.shared::cta.bulk_group.min.s64 [%d3+16], [%r2], 16;
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
cp.async.bulk.wait_group.read 1;
cp.async.bulk.prefetch.L2.global [%d0], 64;
st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.u32 [%r6], {%r0, %r1, %r2, 5}, [%r7];
st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [%r6+2048], %d0, [%r7];
red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64 [%r6+8], %d1, [%r7];
red.async.relaxed.cluster.mbarrier::complete_tx::bytes.dec.u32 [%d5], %r0, [%d6];
mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 256;
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], %r8;
mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r7], 256;
mbarrier.arrive_drop.shared::cta.b64 %d8, [bar+8], 1;
mbarrier.pending_count.b64 %r20, %d8;
mbarrier.test_wait.shared::cta.b64 %p2, [bar+8], %d8;
{ AGAIN: mbarrier.try_wait.parity.shared::cta.b64 %p8, [bar], 0; @!%p8 bra AGAIN; }
mbarrier.init.shared::cta.b64 [bar], %r9;
mbarrier.inval.shared::cta.b64 [bar];
cp.async.mbarrier.arrive.noinc.shared::cta.b64 [bar];
cp.async.cg.shared.global [%r2], [%d3], 16, %r8;
fence.proxy.async;
bar.sync 0;
{ SPIN: atom.global.cas.b32 %r30, [%d4], 0, 1; setp.ne.u32 %p3, %r30, 0; @%p3 bra SPIN; }
atom.global.exch.b32 %r31, [%d4], 0;
membar.gl; ld.volatile.global.u32 %r32, [%d4]; add.u32 %r32, %r32, 1; st.volatile.global.u32 [%d4], %r32;
st.release.gpu.global.u32 [%d4], %r0; ld.acquire.sys.global.u32 %r33, [%d4];
st.shared.v4.u32 [%r2], {%r0, %r1, %r2, %r3};
ld.shared.u64 %d9, [%r2];
@%p1 ret;
@%p1 bra SKIP; bar.warp.sync 0xffff0000; SKIP:
";

/// What takes the place of an operand.
const OPERANDS: [&str; 34] = [
    "0",
    "1",
    "-1",
    "8",
    "15",
    "17",
    "-16",
    "65535",
    "1048575",
    "1048576",
    "0x7ffffff0",
    "4294967280",
    "0xfffffffffffffff0",
    "0x7fffffffffffffff",
    "1.5",
    "_",
    "%p0",
    "%h0",
    "%r0",
    "%r1",
    "%r9",
    "%r30",
    "%f1",
    "%g1",
    "%d0",
    "%d5",
    "%d7",
    "%q1",
    "[%r9]",
    "[%d7]",
    "[bar+4]",
    "[cells-16]",
    "{%r0, %r1}",
    "%r99",
];

/// What takes the place of a modifier.
const MODIFIERS: [&str; 22] = [
    "trans",
    "x1",
    "x4",
    "row",
    "col",
    "f16",
    "bf16",
    "f64",
    "s4",
    "b1",
    "u64",
    "v2",
    "m8n8k4",
    "m16n8k16",
    "satfinite",
    "shared::cta",
    "shared::cluster",
    "global",
    "noinc",
    "parity",
    "multicast::cluster",
    "inc",
];

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 8) as usize % bound.max(1)
    }

    fn of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

fn is_operand(word: &str) -> bool {
    word.starts_with(['%', '[', '{', '-']) || word.starts_with(|it: char| it.is_ascii_digit())
}

/// Some operands and modifiers removed, doubled, or replaced by others.
fn changed(text: &str, changes: usize, random: &mut Random) -> String {
    const ENDS: [char; 11] = [' ', ',', ';', '\n', '\t', '[', ']', '.', '<', '>', '+'];
    let words: Vec<&str> = text.split_inclusive(ENDS).collect();
    let mut changed: Vec<String> = words.iter().map(|&it| it.to_owned()).collect();
    for _ in 0..changes {
        let at = random.below(changed.len());
        let (word, end) = match changed[at].strip_suffix(ENDS) {
            Some(word) => (word, &changed[at][word.len()..]),
            None => (&changed[at][..], ""),
        };
        let new = match random.below(8) {
            0 => random.of(&words).to_owned(),
            1 => changed[at].repeat(2),
            2 => String::new(),
            _ if end == "." => format!("{}.", random.of(&MODIFIERS)),
            _ if is_operand(word) => format!("{}{end}", random.of(&OPERANDS)),
            _ => format!("{word}{end}"),
        };
        changed[at] = new;
    }
    changed.concat()
}

/// A text of the frame and some lines of the pool.
fn composed(pool: &[&str], random: &mut Random) -> String {
    let mut body = String::new();
    for index in 0..1 + random.below(6) {
        let line = random.of(pool);
        let changes = [0, 1, 1, 2][random.below(4)];
        let line = changed(line, changes, random);
        body += &line
            .replace("AGAIN", &format!("AGAIN{index}"))
            .replace("SPIN", &format!("SPIN{index}"))
            .replace("SKIP", &format!("SKIP{index}"));
        body.push('\n');
    }
    FRAME.replace("BODY", &body)
}

fn variable(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |it| it.parse().unwrap())
}

#[test]
fn operations_changed_at_random() {
    let rounds = variable("OPERATION_FUZZ_ROUNDS", 240);
    let mut random =
        Random(0x5eed_0be7_a710_0001 ^ (variable("OPERATION_FUZZ_SEED", 0) as u64) << 13);
    let log = std::env::var("OPERATION_FUZZ_LOG").ok();
    let pool: Vec<&str> = POOL.lines().filter(|it| !it.is_empty()).collect();
    let (mut ended, mut faults) = (0, 0);
    for round in 0..rounds {
        let text = match round % 8 {
            index @ 1..4 => {
                let changes = 1 + random.below(3);
                changed(TEXTS[index], changes, &mut random)
            }
            _ => composed(&pool, &mut random),
        };
        let Ok(module) = cuda_ptx::Module::parse(&text) else {
            continue;
        };
        let shape = random.below(6);
        let (grid, block, cluster) = [
            ([4, 1, 1], [33, 1, 1], [2, 1, 1]),
            ([2, 1, 1], [64, 1, 1], [1, 1, 1]),
            ([2, 2, 1], [8, 4, 2], [2, 2, 1]),
            ([2, 1, 1], [32, 1, 1], [2, 1, 1]),
            ([16, 1, 1], [128, 1, 1], [16, 1, 1]),
            ([1, 1, 1], [1, 1, 1], [1, 1, 1]),
        ][shape];
        let [race, global_race, unwritten, sync] = [0; 4].map(|_| random.below(2) == 0);
        let seed = random.below(50) as u64;
        let limit = 10 + random.below(20_000) as u64;
        if let Some(log) = &log {
            let how = format!(
                "{grid:?} {block:?} {cluster:?} {race} {global_race} {unwritten} {sync} {seed} {limit}"
            );
            std::fs::write(log, format!("// {how}\n{text}")).unwrap();
        }
        let outcomes = processors().map(|processor| {
            let program = Program::for_processor(&module, processor);
            let small = program
                .globals()
                .iter()
                .all(|global| global.size <= 1 << 16);
            let kernels = program
                .kernels()
                .iter()
                .take(if small { usize::MAX } else { 0 });
            kernels
                .map(|kernel| {
                    let arena = Arena::new();
                    let globals: Vec<u64> = (program.globals().iter())
                        .map(|global| arena.place(&global.bytes))
                        .collect();
                    let data: Vec<u8> = (0..4096u32).map(|it| ((it * 37) >> 3) as u8).collect();
                    let data = arena.place(&data);
                    let params = data.to_le_bytes().repeat(8);
                    let host = Recorder::default();
                    let launch = Launch {
                        globals: &globals,
                        cluster: Some(cluster),
                        dynamic_shared: 8192,
                        seed,
                        services: &host,
                        threads: 1 + round % 2,
                        checks: Checks {
                            race,
                            global_race,
                            unwritten,
                            sync,
                        },
                        limits: Limits {
                            instructions: limit,
                            ..Limits::DEFAULT
                        },
                        ..Launch::new(grid, block, &params)
                    };
                    let outcome = run(kernel, &program, &launch, &arena);
                    (outcome.map_err(|it| it.to_string()), arena.read(data, 4096))
                })
                .collect::<Vec<_>>()
        });
        let [portable, native] = &outcomes;
        assert!(portable == native, "{text}");
        for (outcome, _) in native {
            ended += usize::from(outcome.is_ok());
            faults += usize::from(outcome.is_err());
        }
    }
    assert!(
        ended > rounds / 100 && faults > rounds / 100,
        "{ended} launches ended, {faults} did not"
    );
}
