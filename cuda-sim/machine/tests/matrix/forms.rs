//! Which forms are decoded: all that `ptxas` takes.

use crate::support::program;

/// Verdicts of `ptxas`, which lie beside the tests of the parser's own.
const JUDGED: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../cuda-ptx/tests/matrices.tsv"
);

#[test]
fn what_ptxas_takes_is_decoded() {
    let Ok(judged) = std::fs::read_to_string(JUDGED) else {
        eprintln!("skipped, the verdicts of ptxas are in the repository only: {JUDGED}");
        return;
    };
    let (mut count, mut missing) = (0, Vec::new());
    for line in judged.lines() {
        let Some(("takes", rest)) = line.split_once('\t') else {
            continue;
        };
        let instruction = rest.rsplit('\t').next().unwrap();
        // What it promised about halves that are not finite is gone since PTX 6.5.
        let obsolete = instruction.contains("f32.f32.satfinite");
        let text = format!(
            ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k()\n{{\n\
             .reg .b16 %h<9>; .reg .b32 %r<80>; .reg .f32 %f<80>; .reg .f64 %d<80>; .reg .b64 %rd<40>; .reg .u32 %u<9>; .reg .s32 %s<9>;\n\
             .reg .f16x2 %x<9>; .reg .pred %p<9>;\n\
             .shared .align 128 .b8 sh[4096];\n{instruction}\nret;\n}}\n"
        );
        let program = program(&text);
        let unsupported = program.kernel("k").unwrap().unsupported();
        if unsupported.is_some() != obsolete {
            missing.push(format!("{instruction}: {unsupported:?}"));
        }
        count += 1;
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    assert!(count > 300, "{count}");
}
