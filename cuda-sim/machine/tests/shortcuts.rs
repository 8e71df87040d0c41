//! What the machine leaves out must make no difference: random kernels run as they are, and once more with code at their end that nothing
//! reaches but that takes away what the shortcuts rest on.

mod support;

use std::fmt::Write as _;

use cuda_sim_machine::{Launch, Limits, Program, Statistics, run};
use support::{Arena, Params, processors};

const WORDS: usize = 10;
const WIDE: usize = 6;
const BLOCKS: u32 = 5;
/// Of shared memory, and of global memory for each block.
const BYTES: usize = 1024;

/// Numbers without a pattern.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 8) as usize % bound
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

/// A statement that may read registers that nothing has written.
fn statement(random: &mut Random, text: &mut String) {
    if random.below(4) == 0 {
        let not = random.pick(&["", "!"]);
        write!(text, "@{not}%p{} ", random.below(3)).unwrap();
    }
    let mut word = || format!("%r{}", random.below(WORDS));
    let (r, a, b, c) = (word(), word(), word(), word());
    let mut wide = || format!("%rd{}", random.below(WIDE));
    let (d, e, f) = (wide(), wide(), wide());
    let p = random.below(3);
    let shift = random.below(40);
    let line = match random.below(23) {
        0 => format!("mov.u32 {r}, %tid.x"),
        1 => format!("mov.u32 {r}, %ctaid.x"),
        2 => format!("ld.param.u32 {r}, [number]"),
        3 => format!("ld.param.u16 {r}, [number]"),
        4 => format!("ld.param.u64 {d}, [out]"),
        5 => format!("mov.u32 {r}, {shift}"),
        6 => format!("mov.b64 {d}, {e}"),
        7 => format!("mov.b32 {r}, {a}"),
        8 => format!("cvta.to.global.u64 {d}, {e}"),
        9 => format!("mad.lo.s32 {r}, {a}, {b}, {c}"),
        10 => format!("add.u32 {r}, {a}, {b}"),
        11 => format!("shl.b32 {r}, {a}, {}", shift % 32),
        12 => format!("mul.wide.u32 {d}, {a}, {b}"),
        13 => format!("add.s64 {d}, {e}, {f}"),
        14 => format!("cvt.u64.u32 {d}, {a}"),
        15 => format!("cvt.u32.u64 {r}, {e}"),
        16 => format!("setp.lt.u32 %p{p}, {a}, {b}"),
        17 => format!("selp.b32 {r}, {a}, {b}, %p{p}"),
        18 => format!("mov.b64 {d}, {{{a}, {b}}}"),
        19 => format!("mov.b64 {{{r}, _}}, {e}"),
        20 => format!("and.b32 {a}, {a}, 63; add.u32 {a}, {a}, 0; xor.b32 {r}, {b}, {c}"),
        21 => format!("shfl.sync.down.b32 {r}, {a}, {}, 31, -1", shift % 8),
        _ => format!("shfl.idx.b32 {r}, {a}, {}, 31", shift % 32),
    };
    // All lanes are to take part; a guard would leave some out.
    if line.starts_with("shfl.sync") {
        text.truncate(text.rfind('\n').map_or(0, |at| at + 1));
        return;
    }
    writeln!(text, "{line};").unwrap();
}

/// The body of a kernel: blocks with branches forwards, and loops of few rounds.
fn body(random: &mut Random) -> String {
    let mut text = String::new();
    for label in 0..6 {
        let rounds = random.below(3);
        writeln!(text, "mov.u32 %count, 0;\nL{label}:").unwrap();
        for _ in 0..random.below(7) {
            statement(random, &mut text);
        }
        let p = random.below(3);
        let over = label + 1 + random.below(6 - label);
        match random.below(3) {
            0 => writeln!(text, "@%p{p} bra E{over};").unwrap(),
            1 => writeln!(
                text,
                "add.u32 %count, %count, 1;\nsetp.le.u32 %again, %count, {rounds};\n@%again bra L{label};"
            )
            .unwrap(),
            _ => {}
        }
        writeln!(text, "E{}:", label + 1).unwrap();
    }
    text
}

/// Stores a mixture of all registers that any lane could have seen.
fn ending() -> String {
    let mut text = String::from("mov.u32 %sum, 0;\n");
    for number in 0..WORDS {
        writeln!(text, "mad.lo.u32 %sum, %sum, 31, %r{number};").unwrap();
    }
    for number in 0..WIDE {
        writeln!(
            text,
            "mov.b64 {{%low, %high}}, %rd{number};\nmad.lo.u32 %sum, %sum, 31, %low;\nmad.lo.u32 %sum, %sum, 31, %high;"
        )
        .unwrap();
    }
    text + "mov.u32 %low, %ctaid.x; mov.u32 %high, %ntid.x; mov.u32 %count, %tid.x; mad.lo.u32 %low, %low, %high, %count;
ld.param.u64 %to, [out]; mul.wide.u32 %at, %low, 4; add.s64 %to, %to, %at; st.global.u32 [%to], %sum; ret;\n"
}

/// Code that nothing reaches, in which lanes read all registers of each other, and which writes all of them.
fn spoiler() -> String {
    let names = (0..WORDS).map(|number| format!("%r{number}"));
    let named = ["%count", "%sum", "%low", "%high"].map(String::from);
    let words = names
        .chain(named)
        .map(|word| format!("shfl.idx.b32 {word}, {word}, 0, 31;\n"));
    let wide = (0..WIDE).map(|number| format!("%rd{number}"));
    let doubles = wide
        .chain(["%to", "%at"].map(String::from))
        .map(|double| format!("atom.global.add.u64 {double}, [{double}], {double};\n"));
    words.chain(doubles).collect()
}

fn execute(body: &str, threads: u32, index: usize) -> (Statistics, Vec<u8>) {
    let text = format!(
        ".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u32 number) {{\n\
         .reg .pred %p<3>; .reg .pred %again; .reg .b32 %r<{WORDS}>; .reg .b64 %rd<{WIDE}>; .reg .b16 %h;\n\
         .shared .align 16 .b8 data[{BYTES}];\n\
         .reg .b32 %count; .reg .b32 %sum; .reg .b32 %low; .reg .b32 %high; .reg .b64 %to; .reg .b64 %at;\n{body}}}\n"
    );
    let module = cuda_ptx::Module::parse(&text).unwrap();
    let program = Program::for_processor(&module, processors()[index]);
    let kernel = program.kernel("k").unwrap();
    assert_eq!(kernel.unsupported(), None, "{text}");
    let arena = Arena::new();
    let size = 4 * (BLOCKS * threads) as usize + BLOCKS as usize * BYTES;
    let out = arena.place(&vec![0; size]);
    let params = Params::default().u64(out).u32(0xfedc_ba98);
    let mut launch = Launch::new([BLOCKS, 1, 1], [threads, 1, 1], &params.0);
    launch.limits = Limits {
        instructions: 1 << 20,
        ..launch.limits
    };
    let statistics = run(kernel, &program, &launch, &arena).unwrap();
    (statistics, arena.read(out, size))
}

#[test]
fn registers_are_what_they_are_without_shortcuts() {
    let mut random = Random(0x5eed_0f5e);
    for round in 0..400 {
        let body = body(&mut random) + &ending();
        let plain = execute(&body, 48, round % 2);
        let spoiled = execute(&(body.clone() + &spoiler()), 48, round % 2);
        assert!(plain == spoiled, "{body}");
    }
}

/// A statement that accesses memory, or changes where the next ones do. Shared memory is accessed through `%r0` to `%r2`, global memory
/// through `%rd0` to `%rd1`.
fn access(random: &mut Random) -> String {
    let guard = match random.below(3) {
        0 => format!("@%p{} ", random.below(3)),
        _ => String::new(),
    };
    let (base, wide) = (random.below(3), random.below(2));
    let (value, other) = (3 + random.below(4), 3 + random.below(4));
    let offset = 4 * random.below(40);
    let line = match random.below(18) {
        // One address, rows of two kinds, halves that read a row or an element each, and everything in one word.
        0 => {
            let (mask, scale) =
                [(0, 4), (31, 4), (31, 8), (15, 4), (16, 4), (3, 4)][random.below(6)];
            format!("and.b32 %sum, %r8, {mask}; {guard}mul.lo.u32 %r{base}, %sum, {scale}")
        }
        1 => format!("{guard}add.u32 %r{base}, %r{base}, 4; and.b32 %r{base}, %r{base}, 511"),
        2 => format!(
            "and.b32 %sum, %r{base}, 508; cvt.u64.u32 %at, %sum; {guard}add.u64 %rd{wide}, %rd2, %at"
        ),
        3 => format!("{guard}st.shared.u32 [%r{base}+{offset}], %r{value}"),
        4 => format!("{guard}st.global.u32 [%rd{wide}+{offset}], %r{value}"),
        5 => format!("{guard}ld.shared.u16 %h, [%r{base}+{offset}]; cvt.u32.u16 %r{value}, %h"),
        6 => format!("{guard}st.shared.u16 [%r{base}+{offset}], %h"),
        7 => format!("{guard}ld.u32 %r{value}, [%rd{wide}+{offset}]"),
        8 => {
            format!("ld.shared.u32 %r{base}, [%r{base}+{offset}]; and.b32 %r{base}, %r{base}, 508")
        }
        9 => format!("xor.b32 %r{value}, %r{value}, %r{other}; add.u32 %r{value}, %r{value}, %r8"),
        10 => format!(
            "setp.lt.u32 %p{}, %r8, {}",
            random.below(3),
            [0, 0, 5, 16, 40][random.below(5)]
        ),
        // Through a row of wide elements.
        11 => format!(
            "{guard}ld.shared.u64 %to, [%r7+{}]; cvt.u32.u64 %r{value}, %to",
            2 * offset
        ),
        12 => format!("{guard}ld.shared.u32 %r{value}, [%r7+{offset}]"),
        13 | 14 => format!("{guard}ld.global.u32 %r{value}, [%rd{wide}+{offset}]"),
        _ => format!("{guard}ld.shared.u32 %r{value}, [%r{base}+{offset}]"),
    };
    line + ";"
}

#[test]
fn memory_is_what_it_is_without_shortcuts() {
    let mut random = Random(0x0add_7e55);
    for round in 0..400 {
        let mut body = format!(
            "mov.u32 %r8, %tid.x; mov.u32 %r9, %ctaid.x; ld.param.u64 %rd2, [out]; mul.wide.u32 %at, %r9, {BYTES}; add.u64 %rd2, %rd2, %at;\n\
             add.u64 %rd2, %rd2, {}; mov.b64 %rd0, %rd2; mov.b64 %rd1, %rd2; mov.u32 %r0, data; mov.u32 %r1, 64; shl.b32 %r2, %r8, 2;\n\
             mov.u32 %r3, 3; mov.u32 %r4, %r8; mul.lo.u32 %r5, %r8, %r8; add.u32 %r6, %r9, 7; mov.u16 %h, 9; shl.b32 %r7, %r8, 3;\n\
             setp.eq.u32 %p0, %r8, 5; setp.lt.u32 %p1, %r8, 16; setp.lt.u32 %p2, %r8, 0; mov.u32 %count, 0;\nTOP:\n",
            4 * BLOCKS * 32,
        );
        let length = 6 + random.below(24);
        for number in 0..length {
            let branch = match random.below(12) {
                0 => format!(
                    "@%p{} bra S{};",
                    random.below(3),
                    number + random.below(length - number)
                ),
                _ => String::new(),
            };
            // A branch goes forwards only.
            let branch = branch.replace(&format!(" S{number};"), &format!(" S{};", number + 1));
            writeln!(body, "S{number}: {}\n{branch}", access(&mut random)).unwrap();
        }
        body += &format!(
            "S{length}: add.u32 %count, %count, 1; setp.lt.u32 %again, %count, 2; @%again bra TOP;\n"
        );
        // Shared memory counts as well.
        body += "shl.b32 %r0, %r8, 4; ld.shared.v4.u32 {%r0, %r1, %r2, %r7}, [%r0];\n";
        body += &ending();
        // Where control can come to each statement, nothing is known from the one before.
        let jumps = (0..length).fold(String::new(), |jumps, number| {
            jumps + &format!("bra S{number};\n")
        });
        let plain = execute(&body, 32, round % 2);
        let spoiled = execute(&(body.clone() + &jumps), 32, round % 2);
        assert!(plain == spoiled, "{body}");
        assert!(
            plain == execute(&one_by_one(&body), 32, round % 2),
            "{body}"
        );
    }
}

/// The same with atomic operations instead of accesses to words, which lanes carry out one by one.
fn one_by_one(body: &str) -> String {
    let mut text = String::new();
    for statement in body.split_inclusive(';') {
        let changed = ["shared", "global"].into_iter().find_map(|space| {
            if let Some((before, operands)) = statement.split_once(&format!("ld.{space}.u32 ")) {
                let operands = operands.trim_end_matches(';');
                return Some(format!("{before}atom.{space}.or.b32 {operands}, 0;"));
            }
            let (before, operands) = statement.split_once(&format!("st.{space}.u32 "))?;
            Some(format!("{before}atom.{space}.exch.b32 %high, {operands}"))
        });
        text += changed.as_deref().unwrap_or(statement);
    }
    text
}
