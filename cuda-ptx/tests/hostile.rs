//! Damaged texts: each is parsed and checked, or is an error with its place; none ends in a panic.
//!
//! `PTX_FUZZ_ROUNDS=10000000 PTX_FUZZ_SEED=7 cargo test --release -p cuda-ptx --test hostile` searches for longer, from another start.

use cuda_ptx::{Accesses, Module};

const SAMPLE: &str = r#".version 7.0
.target sm_52
.address_size 64
.global .align 4 .b8 table[8] = {1, 2, (3+4)*2, 0x8};
.visible .entry kernel(.param .u64 .ptr .global .align 4 a, .param .align 8 .b8 b[12])
.maxntid 128, 1, 1
{
	.reg .pred %p<3>;
	.reg .b64 %rd<4>;
	.shared .align 4 .b8 s[128];
	ld.param.u64 %rd1, [a];
	@!%p1 bra $L1; /* comment */
	{ .param .b32 q; call.uni (q), f, (%rd1, 0f3F800000); }
	ld.global.v2.u32 {%r1, %r2}, [%rd1+4]; // comment
	setp.ne.or.s32 %p1|%p2, %r1, -1, !%p2;
$L1:
	ret;
}
"#;

const KERNELS: &str = include_str!("../../tests/kernels/params.ptx");
/// Directives and operands of the less common kinds.
const RARE: &str = r#".version 9.0
.target sm_90a, texmode_independent
.address_size 64
.file 1 "a.cu", 12, 34
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v);
.global .attribute(.managed, .unified(1, 2)) .align 16 .b8 m[2][2] = {{1, 2}, {3}};
.global .u64 g[3] = {generic(m)+4, 0xff(m), f};
.global .texref t;
.func .attribute(.unified(0x1, 0x2)) (.reg .b32 %o) f (.reg .b32 %i) .noreturn { mov.b32 %o, %i; }
.weak .entry k() .maxntid 32, 1, 1 .minnctapersm 2 .pragma "nounroll"; .explicitcluster .reqnctapercluster 2
{
	.reg .v4 .f32 %v; .reg .b128 %q;
	.loc 1 2 3, function_name $s+4, inlined_at 1 5 6
	T: .branchtargets L, L2;
	P: .callprototype (.param .align 4 .b8 _[8]) _ (.param .b32 _);
	tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, s, {%f5, %f6}];
	shfl.sync.idx.b32 %r1|%p1, %r2, 1 ? 2 : (.u64) 3, -1;
	call (%r1), %rd1, (%r2, _), P;
	vadd.u32.u32.u32 %r1, -%r2.b0, %r3.h1;
L: L2: @!%p exit;
}
.section .debug_str { $s: .b8 1, 2, 0x3 .b64 L+1 }
.alias a, f;
"#;

/// Addresses on all ways that are followed.
const POINTERS: &str = r#".version 8.0
.target sm_90
.address_size 64
.func (.param .b64 r) g(.param .b64 p, .param .b64 q) { .reg .b64 %a<4>;
	ld.param.u64 %a1, [p]; ld.param.b64 %a2, [q+0]; sub.s64 %a3, %a1, %a2; st.global.u64 [%a3], %a1; st.param.b64 [r+0], %a3; ret; }
.func h(.reg .b64 %x) { call g, (%x, %x); call h, (%x); ret; }
.visible .entry k(.param .u64 a, .param .u64 b, .param .align 8 .b8 s[24], .param .u32 n)
{
	.reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p<2>;
	ld.param.u64 %rd1, [a]; ld.param.v2.u64 {%rd2, %rd3}, [s+8];
	cvta.to.global.u64 %rd4, %rd1; mad.wide.u32 %rd5, %r1, 4, %rd4;
L:	add.s64 %rd5, %rd5, 4; @%p1 bra L;
	T: .branchtargets L, M; brx.idx %r1, T;
M:	atom.global.add.u32 %r2, [%rd5], 1; selp.b64 %rd6, %rd2, %rd5, %p1; griddepcontrol.wait;
	{ .param .b64 x; .param .b64 y; .param .b64 z; st.param.b64 [x+0], %rd6; st.param.b64 [y], %rd1;
	call.uni (z), g, (x, y); ld.param.b64 %rd7, [z+0]; } call h, (%rd7);
	cp.async.ca.shared.global [%r1], [%rd7+8], 16; mov.b64 {%r3, %r4}, %rd7; st.v2.b32 [%rd3], {%r3, %r4};
	ret;
}
"#;

/// Everything that can be done with a text.
fn work(text: &str) -> bool {
    // Inside a line of debugging information it counts braces that the whole parser passes over, so the two may differ.
    drop(Module::parse_signatures(text));
    let lines = u32::try_from(text.matches('\n').count()).unwrap() + 1;
    match Module::parse(text) {
        Ok(module) => {
            for wrong in module.check().iter().chain(&module.unresolved()) {
                let position = wrong.position;
                assert!(
                    (1..=lines).contains(&position.line) && position.column >= 1,
                    "{wrong}: {text}"
                );
            }
            let mut accesses = Accesses::new(&module);
            for entry in module.entries() {
                let found = accesses.of(entry).expect("its body has been parsed");
                for access in found.list() {
                    let parameter = found.parameter_of(access, |_| true);
                    let may = parameter.is_none_or(|it| found.may_be_of(access, it));
                    assert!(may && access.position.line <= lines, "{access:?}: {text}");
                }
            }
            true
        }
        Err(error) => {
            assert!(
                (1..=lines).contains(&error.line) && error.column >= 1,
                "{error}: {text}"
            );
            false
        }
    }
}

#[test]
fn truncated_at_every_byte() {
    for sample in [SAMPLE, KERNELS, RARE, POINTERS] {
        assert!(work(sample), "{:?}", Module::parse(sample).err());
        for text in (0..sample.len()).filter_map(|end| sample.get(..end)) {
            let whole = work(text);
            // A cut between two items leaves a whole module.
            assert!(
                !whole || text.matches('{').count() == text.matches('}').count(),
                "{text}"
            );
        }
    }
}

fn number(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{name} is no number")),
        Err(_) => default,
    }
}

#[test]
fn changed_at_random() {
    let mut state = 0x1234_5678_9abc_def1u64 ^ number("PTX_FUZZ_SEED", 0);
    let mut next = |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 8) as usize % bound.max(1)
    };
    let alphabet: Vec<char> = "{}[]()<>,;:.@!%|+-*/=&^~?\"'\\#$_ \n\r\t09afzx\u{0}é"
        .chars()
        .collect();
    let samples =
        [SAMPLE, KERNELS, RARE, POINTERS].map(|sample| sample.chars().collect::<Vec<char>>());
    let mut accepted = 0;
    for round in 0..number("PTX_FUZZ_ROUNDS", 20_000) {
        let sample = &samples[next(samples.len())];
        let mut text = sample.clone();
        for _ in 0..1 + next(4) {
            let (at, other) = (next(text.len()), next(sample.len()));
            let end = sample.len().min(other + next(20));
            match next(5) {
                0 => text[at] = alphabet[next(alphabet.len())],
                1 => text.insert(at, alphabet[next(alphabet.len())]),
                2 => {
                    text.remove(at);
                }
                3 => {
                    let end = text.len().min(at + next(20));
                    text.drain(at..end);
                }
                _ => {
                    text.splice(at..at, sample[other..end].iter().copied());
                }
            }
            if text.is_empty() {
                break;
            }
        }
        let text: String = text.into_iter().collect();
        accepted += u64::from(work(&text));
        if round == 10_000 {
            assert!(
                accepted > 100,
                "so small changes are harmless at times, but only {accepted} were accepted"
            );
        }
    }
}

/// A substitution that stands for many types, and is repeated as often as a symbol has room for.
#[test]
fn names_that_unfold_are_given_up() {
    for (pack, class) in [
        ("i", "1AI"),
        ("Pi", "1AIJ"),
        ("i", "St1AI"),
        ("i", "PFv"),
        ("i", "A4_1AI"),
    ] {
        for repeated in ["S_", "S0_", "S1_", "T_", "S_S0_", "PS_"] {
            let ends = if class.ends_with('J') { "EE" } else { "E" };
            let symbol = format!(
                "_Z1fIJ{}EEvDpT_{class}{}{ends}",
                pack.repeat(7000),
                repeated.repeat(20_000 / repeated.len())
            );
            let started = std::time::Instant::now();
            let name = cuda_ptx::KernelName::of(&symbol);
            let length: usize = name.parameters.iter().flatten().count();
            assert!(length < 20_000, "{length}");
            assert!(started.elapsed().as_secs() < 5, "{class} {repeated}");
        }
    }
}
