//! Sizes, alignments, offsets and values, compared with what clang and a C compiler make of the headers.

mod common;

/// Generated: what Rust says.
mod facts {
    #![allow(clippy::unnecessary_cast, reason = "generated")]
    use core::mem::offset_of;
    use cuda_sys::*;

    include!("layout/facts.rs");
}

/// One line of the table: kind, item, member, C expression, and one value per target.
struct Fact<'a> {
    name: String,
    #[cfg_attr(not(unix), allow(dead_code, reason = "C is compared on Unix only"))]
    in_c: &'a str,
    value: i64,
}

/// The targets whose layouts are recorded, in the order of the table's columns.
const TARGETS: [&str; 4] = [
    "x86_64-unknown-linux-gnu",
    "aarch64-unknown-linux-gnu",
    "i686-unknown-linux-gnu",
    "x86_64-pc-windows-msvc",
];

/// The one of [`TARGETS`] that this target is laid out like.
const COLUMN: usize = match (
    cfg!(windows),
    cfg!(target_pointer_width = "64"),
    cfg!(target_arch = "aarch64"),
) {
    (true, ..) => 3,
    (false, false, _) => 2,
    (false, true, true) => 1,
    (false, true, false) => 0,
};

fn table(text: &str) -> Vec<Fact<'_>> {
    let mut lines = text.lines().skip_while(|line| line.starts_with('#'));
    let index = lines
        .next()
        .unwrap()
        .split('\t')
        .position(|name| name == TARGETS[COLUMN])
        .unwrap();
    let facts = lines.map(|line| {
        let cells: Vec<&str> = line.split('\t').collect();
        Fact {
            name: cells[..3].join(" "),
            in_c: cells[3],
            value: cells[index].parse().unwrap(),
        }
    });
    facts.collect()
}

#[test]
fn rust_agrees_with_the_recorded_layouts() {
    let table = table(include_str!("layout/layout.tsv"));
    let rust = facts::rust();
    assert_eq!(table.len(), rust.len());
    for (fact, rust) in table.iter().zip(&rust) {
        assert_eq!(fact.value, *rust, "{}", fact.name);
    }
    println!("{} facts for {} agree", table.len(), TARGETS[COLUMN]);
}

/// Compares with C compiled from the headers in the directories that `CUDA_SYS_HEADERS` lists.
#[test]
#[cfg(unix)]
fn rust_agrees_with_c() {
    let Some(directories) = std::env::var_os("CUDA_SYS_HEADERS") else {
        println!(
            "skipped: CUDA_SYS_HEADERS does not name the directories of cuda.h and cudaProfiler.h"
        );
        return;
    };
    let table = table(include_str!("layout/layout.tsv"));
    let rust = facts::rust();
    let expressible: Vec<_> = table
        .iter()
        .zip(&rust)
        .filter(|(fact, _)| fact.in_c != "-")
        .collect();
    let mut source =
        "#include <stddef.h>\n#include <stdio.h>\n#include <all.h>\nint main(void) {\n".to_string();
    for (fact, _) in &expressible {
        source += &format!("    printf(\"%lld\\n\", (long long)({}));\n", fact.in_c);
    }
    source += "    return 0;\n}\n";
    let directory = common::empty_directory("layout");
    let (c, program) = (directory.join("layout.c"), directory.join("layout"));
    std::fs::write(&c, source).unwrap();

    // The shims stand in for headers of other projects that this machine may not have.
    let shims = concat!(env!("CARGO_MANIFEST_DIR"), "/generator/shims");
    let mut compiler = common::compiler();
    compiler.args(["-w", "-std=gnu11", "-O0", "-idirafter", shims]);
    for directory in std::env::split_paths(&directories) {
        compiler.arg("-I").arg(directory);
    }
    let output = compiler.arg("-o").arg(&program).arg(&c).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );

    let output = std::process::Command::new(&program).output().unwrap();
    let values = String::from_utf8(output.stdout).unwrap();
    let values: Vec<i64> = values.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(values.len(), expressible.len());
    for ((fact, rust), value) in expressible.iter().zip(&values) {
        assert_eq!(value, *rust, "{}: {}", fact.name, fact.in_c);
    }
    println!(
        "{} facts agree with C, {} have no name in C",
        values.len(),
        table.len() - values.len()
    );
}
