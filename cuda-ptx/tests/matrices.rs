//! Matrix instructions that there are, and some that there are not: as `ptxas` judges them.

use cuda_ptx::Module;

/// What is wrong with an instruction in a module of that version and target.
fn wrong(version: &str, target: &str, instruction: &str) -> Option<String> {
    let text = format!(
        ".version {version}\n.target {target}\n.address_size 64\n.visible .entry k()\n{{\n\
         .reg .b16 %h<9>; .reg .b32 %r<80>; .reg .f32 %f<80>; .reg .f64 %d<80>; .reg .b64 %rd<40>; .reg .u32 %u<9>; .reg .s32 %s<9>;\n\
         .reg .f16x2 %x<9>; .reg .pred %p<9>;\n\
         .shared .align 128 .b8 sh[4096];\n{instruction}\nret;\n}}\n"
    );
    let module = Module::parse(&text).unwrap();
    let found = module.check();
    let first = found.first()?;
    Some(first.message.clone())
}

#[test]
fn what_ptxas_takes() {
    let judged = include_str!("matrices.tsv");
    let mut counts = [0, 0];
    let mut differences = Vec::new();
    for line in judged.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [verdict, version, target, instruction] = fields[..] else {
            panic!("{line}");
        };
        let found = wrong(version, target, instruction);
        if found.is_some() == (verdict == "takes") {
            differences.push(format!("{line}: {found:?}"));
        }
        counts[usize::from(verdict == "takes")] += 1;
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(counts[0] > 300 && counts[1] > 300, "{counts:?}");
}

#[test]
fn messages_say_what_is_wrong() {
    let product = |d: &str, b: &str| {
        format!(
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d}, {{%r0, %r1, %r2, %r3}}, {b}, {{%f0, %f1, %f2, %f3}};"
        )
    };
    let sums = "{%f0, %f1, %f2, %f3}";
    for (version, target, instruction, message) in [
        (
            "7.0",
            "sm_80",
            product("{%f0, %f1}", "{%r0, %r1}"),
            "the vector has 2 elements where 4 are expected",
        ),
        (
            "7.0",
            "sm_80",
            product(sums, "%r0"),
            "a vector of 2 elements is expected",
        ),
        (
            "7.0",
            "sm_80",
            product(sums, "{%u0, %u1}"),
            "`%u0` is .u32 where .f16x2 is expected",
        ),
        (
            "7.0",
            "sm_75",
            product(sums, "{%r0, %r1}"),
            "`mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32` needs .target sm_80 or newer, the module has sm_75",
        ),
        (
            "6.5",
            "sm_75",
            String::from("movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;"),
            "`movmatrix.sync.aligned.m8n8.trans.b16` needs .version 7.8 or newer, the module has 6.5",
        ),
        (
            "7.0",
            "sm_80",
            String::from("ldmatrix.sync.aligned.m8n8.x3.shared.b16 {%r0, %r1, %r2}, [%r4];"),
            "`ldmatrix` has no form with these modifiers and types",
        ),
        (
            "7.0",
            "sm_80",
            String::from("ldmatrix.sync.m8n8.x1.shared.b16 {%r0}, [%r4];"),
            "`ldmatrix` has no form with these modifiers and types",
        ),
    ] {
        assert_eq!(
            wrong(version, target, &instruction).as_deref(),
            Some(message)
        );
    }
}
