//! Random damage to PTX, committed heads and sources: whatever comes of it, nothing panics, and the same input gives the same text.

use std::path::Path;

use crate::committed::Committed;
use crate::declare::{Declaration, TypeNames};
use crate::interface::{Interface, Probe};

const PTX: &str = ".version 7.0 .target sm_52 .address_size 64
.visible .entry vadd(.param .u64 a, .param .u64 b, .param .u32 d) { ret; }
.visible .entry _ZN2ns5scaleIfLi4EEEvPT_S1_(.param .u64 a, .param .f32 b) { ret; }
.visible .entry _Z5stepsPN2ns8ParticleENS_6ParamsE6float4b5Colormc(.param .u64 a, .param .align 8 .b8 b[24], .param .align 16 .b8 c[16],
    .param .u8 d, .param .u32 e, .param .u64 f, .param .u8 g) { ret; }
.visible .entry _Z16cuda_build_typesILi0EJPKfS1_jEEvDpT0_(.param .u64 a, .param .u64 b, .param .u32 c) { ret; }
";

const HEAD: &str = "// cuda-build: made-of 3cd1afb5e96d10a6044b389ce9bf620c
// cuda-build: input kernels/a.cu
// cuda-build: long 8
// cuda-build: body 3e07da42a329c2b93429933ddc8ed909
// cuda-build: types vadd _Z16cuda_build_typesILi0EJPKfS1_jEEvDpT0_
// cuda-build: names steps particles in wind on type - last
";

const SOURCE: &str = "#define X \\\n 1\nextern \"C\" __global__ void __launch_bounds__(256, 2) vadd(const float *a, float (*b)[3], unsigned n = f(1, '\\''));
template <class T, int N> __global__ void scale(T *data /* the */, T by // rest\n);";

/// Numbers that look random and are the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(limit.max(1)).unwrap()).unwrap()
    }

    /// Some bytes removed, doubled, exchanged or replaced.
    fn damaged(&mut self, text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        for _ in 0..=self.below(6) {
            let at = self.below(bytes.len());
            let len = self.below(12).min(bytes.len() - at);
            match self.below(4) {
                0 => drop(bytes.drain(at..at + len)),
                1 => {
                    let copy = bytes[at..at + len].to_vec();
                    let to = self.below(bytes.len());
                    bytes.splice(to..to, copy);
                }
                2 => {
                    let other = self.below(bytes.len());
                    bytes.swap(at, other);
                }
                _ => {
                    let all = b"(){}<>[]\"'\\/*#,;:_Z0ESIJ\n\r\0\xc3\xa9 ";
                    bytes[at] = all[self.below(all.len())];
                }
            }
            if bytes.is_empty() {
                bytes.push(b' ');
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

fn declared(committed: &str, source: &str) -> Option<String> {
    let committed = Committed::read_text(committed.to_owned());
    let mut interface = Interface::read(&committed.text, "a.cu").ok()?;
    interface.take_types(&committed.probe);
    interface.take_types(&Probe::read(&committed.text, &["vadd".to_owned()]));
    let mut names = committed.names;
    names.read(source);
    interface.take_names(&names);
    let declaration = Declaration {
        name: "a",
        type_name: None,
        source: "a.cu",
        image: "ptx \"a.ptx\"",
        interface: &interface,
        kernels: &[],
        types: &TypeNames::default(),
    };
    declaration.text().ok()?
}

#[test]
fn damage_is_survived() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let whole = format!("{HEAD}{PTX}");
    let undamaged = declared(&whole, SOURCE).unwrap();
    assert!(
        undamaged.contains("pub unsafe fn vadd(a: &[f32], b: &[f32], n: u32);"),
        "{undamaged}"
    );
    let mut read = 0;
    for _ in 0..3000 {
        let (committed, source) = (random.damaged(&whole), random.damaged(SOURCE));
        let text = declared(&committed, &source);
        assert_eq!(text, declared(&committed, &source));
        let Some(text) = text else {
            continue;
        };
        read += 1;
        // Every line is a comment, an attribute, a method or a part of the frame.
        for line in text.lines().map(str::trim) {
            let known = ["", "}", "///", "::cuda_driver::kernels! {"].contains(&line)
                || ["/// ", "#[name = \"", "pub unsafe "]
                    .iter()
                    .any(|start| line.starts_with(start));
            assert!(known && !line.contains('\r'), "{line:?} from {committed:?}");
        }
    }
    assert!(read > 300, "only {read} of 3000 could be read at all");
    let file = Path::new("/nowhere/a.ptx");
    assert!(Committed::read(file).unwrap().is_none());
}
