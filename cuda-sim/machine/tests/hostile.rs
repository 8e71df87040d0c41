//! Modules that nobody meant: whatever parses is decoded, and whatever is decoded runs or is refused, without a panic.

mod support;

use cuda_sim_machine::{Launch, Limits, Program, run};
use support::Arena;

const TEXTS: [&str; 6] = [
    include_str!("../../../tests/kernels/const_memory.ptx"),
    include_str!("../../../tests/kernels/divergence.ptx"),
    include_str!("../../../tests/kernels/barrier.ptx"),
    include_str!("../../../tests/kernels/params.ptx"),
    include_str!("../../../tests/kernels/shared_dynamic.ptx"),
    CALLS,
];

const CALLS: &str = ".version 8.0\n.target sm_90\n.address_size 64
.shared .align 16 .b8 s[64]; .const .align 8 .b8 c[2][8] = {{1, 2}, {3}}; .global .u64 g = c+4;
.func (.param .b32 result) f (.param .align 8 .b8 in[16], .reg .b32 %x)
{ .reg .b32 %r<5>; .local .align 4 .b8 l[64]; ld.param.u32 %r1, [in+8]; st.local.u32 [l+4], %r1; add.u32 %r1, %r1, %x;
  st.param.b32 [result], %r1; ret; }
.visible .entry k(.param .u64 p, .param .u32 n)
{ .reg .pred %p<5>; .reg .b16 %h<5>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<5>;
  ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mov.u64 %d2, s; mov.u64 %d3, c; setp.lt.u32 %p1|%p2, %r1, 5;
  { .param .align 8 .b8 a[16]; .param .b32 b; st.param.b64 [a], %d1; st.param.b64 [a+8], %d2; call (b), f, (a, %r1); ld.param.b32 %r2, [b]; }
  table: .branchtargets A, B, A; rem.u32 %r3, %r1, 3; @%p1 brx.idx %r3, table;
  A: atom.shared.add.u32 %r4, [s+4], %r2; shfl.sync.bfly.b32 %r5|%p3, %r4, 1, 31, -1; bar.sync 0;
  B: cvt.rn.f32.s32 %f1, %r5; fma.rn.f32 %f2, %f1, %f1, 0f3F800000; cvt.rzi.s16.f32 %h1, %f2; mov.b32 {%h2, %h3}, %r5;
  ld.const.v2.u32 {%r6, %r7}, [c+8]; vote.sync.ballot.b32 %r8, %p3, -1; bar.red.popc.u32 %r6, 1, %p2; ret; }
";

#[test]
fn changed_at_random() {
    let mut state = 0x0dd0_b1a5_ed15_ea5eu64;
    let mut next = |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 8) as usize % bound
    };
    let (mut decoded, mut ended) = (0, 0);
    for round in 0..30_000 {
        let text = TEXTS[round % TEXTS.len()];
        // Words change places, for a change of letters hardly ever gives PTX.
        let words: Vec<&str> = text
            .split_inclusive([' ', ',', ';', '\n', '\t', '[', ']', '.', '<', '>', '+'])
            .collect();
        let mut changed = words.clone();
        for _ in 0..1 + next(3) {
            let at = next(changed.len());
            match next(4) {
                0 => changed[at] = words[next(words.len())],
                1 => changed.insert(at, words[next(words.len())]),
                2 => {
                    changed.remove(at);
                }
                _ => {
                    changed[at] = [
                        "4294967295;",
                        "-1,",
                        "0x7fffffffffffffff;",
                        "1073741824]",
                        "2147483648 ",
                        "u64 ",
                        "b8 ",
                        "v4.",
                    ][next(8)];
                }
            }
        }
        let text = changed.concat();
        let Ok(module) = cuda_ptx::Module::parse(&text) else {
            continue;
        };
        decoded += 1;
        let program = Program::new(&module);
        if program.globals().iter().any(|global| global.size > 1 << 16) {
            continue;
        }
        let arena = Arena::new();
        let globals: Vec<u64> = program
            .globals()
            .iter()
            .map(|global| arena.place(&global.bytes))
            .collect();
        let data = arena.place(&[0; 4096]);
        let params: Vec<u8> = data.to_le_bytes().repeat(20);
        for kernel in program.kernels() {
            let mut launch = Launch {
                globals: &globals,
                ..Launch::new([2, 1, 1], [48, 1, 1], &params)
            };
            launch.dynamic_shared = 192;
            launch.limits = Limits {
                instructions: 2000,
                ..Limits::DEFAULT
            };
            ended += usize::from(run(kernel, &program, &launch, &arena).is_ok());
        }
    }
    assert!(
        decoded > 3000 && ended > 1000,
        "{decoded} modules were decoded, and {ended} launches ended"
    );
}
