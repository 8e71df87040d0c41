//! Every implemented form of an instruction computes what a GPU computes, bit for bit.
//!
//! `results.tsv` holds, for each form, a digest of what a GPU gave for the inputs of `inputs.rs`; `approximate.tsv` holds samples of the
//! forms that the ISA defines up to an error. To record them again:
//!
//! 1. `GOLDEN_DIRECTORY=/tmp/golden cargo test -p cuda-sim-machine --test golden -- --ignored write_inputs`
//! 2. assemble `module.ptx` there for the GPU at hand, compile `record.c` with `cc -O2 record.c -ldl`, and run it in that directory;
//! 3. `GOLDEN_DIRECTORY=/tmp/golden cargo test -p cuda-sim-machine --test golden -- --ignored read_results`

mod forms;
mod inputs;
#[path = "../support/mod.rs"]
mod support;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use forms::{Form, Kind};
use support::{Arena, Params, launch, program};

/// What the machine computes for a form.
fn compute(form: &Form) -> Vec<u64> {
    let program = program(&forms::module(std::slice::from_ref(form)));
    let unsupported = program.kernel("form_0").unwrap().unsupported();
    assert_eq!(unsupported, None, "{}", form.name);
    let arena = Arena::new();
    let input = arena.place_words(&inputs::for_kinds(&form.inputs), u64::to_le_bytes);
    let out = arena.place(&vec![0; 8 * inputs::COUNT]);
    let params = Params::default()
        .u64(input)
        .u64(out)
        .u32(inputs::COUNT as u32);
    launch(&program, "form_0", 8, 128, &params, &arena).unwrap();
    arena.read_u64s(out, inputs::COUNT)
}

fn recorded() -> HashMap<&'static str, u64> {
    let lines = include_str!("results.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'));
    let entry = |line: &'static str| {
        let (name, digest) = line.split_once('\t').unwrap();
        (name, u64::from_str_radix(digest, 16).unwrap())
    };
    lines.map(entry).collect()
}

#[test]
fn every_form_agrees_with_the_gpu() {
    let recorded = recorded();
    let mut wrong = Vec::new();
    for form in forms::all() {
        let results = compute(&form);
        match recorded.get(form.name.as_str()) {
            Some(&digest) if digest == inputs::digest(&results) => {}
            Some(_) => wrong.push(form.name),
            None => wrong.push(format!("{} (not recorded)", form.name)),
        }
    }
    assert!(wrong.is_empty(), "{} forms differ: {wrong:#?}", wrong.len());
}

/// How far the ISA lets an approximation be from the exact value: relative and absolute. Nothing where it promises nothing.
fn promised(name: &str, input: f64) -> Option<(f64, f64)> {
    let power = |exponent: f64| exponent.exp2();
    Some(match name.split('.').next().unwrap() {
        "sin" | "cos" if input.abs() > std::f64::consts::TAU => return None,
        "sin" | "cos" => (0.0, power(-20.5)),
        "lg2" => (power(-22.0), power(-22.0)),
        "tanh" => (power(-11.0), 0.0),
        "rcp" | "rsqrt" if name.ends_with("ftz.f64") => (power(-19.0), 0.0),
        "rsqrt" if name.ends_with("f64") => (power(-51.0), 0.0),
        _ => (power(-22.0), 0.0),
    })
}

#[test]
fn approximations_are_as_near_as_the_isa_promises() {
    let forms = forms::approximate();
    let mut seen = 0;
    for line in include_str!("approximate.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'))
    {
        let mut columns = line.split('\t');
        let name = columns.next().unwrap();
        let form = forms.iter().find(|form| form.name == name).unwrap();
        let (given, machine) = (inputs::for_kinds(&form.inputs), compute(form));
        for sample in columns {
            let (index, gpu) = sample.split_once(':').unwrap();
            let (index, gpu) = (
                index.parse::<usize>().unwrap(),
                u64::from_str_radix(gpu, 16).unwrap(),
            );
            let value = |bits: u64| {
                if form.output == Kind::F64 {
                    f64::from_bits(bits)
                } else {
                    f64::from(f32::from_bits(bits as u32))
                }
            };
            let Some((relative, absolute)) = promised(name, value(given[4 * index])) else {
                continue;
            };
            let (gpu, machine) = (value(gpu), value(machine[index]));
            seen += 1;
            if gpu.is_nan() || gpu.is_infinite() || machine.is_nan() || machine.is_infinite() {
                assert!(
                    gpu == machine || gpu.is_nan() && machine.is_nan(),
                    "{name} of {:x?}: {gpu}, {machine}",
                    &given[4 * index..][..2]
                );
                continue;
            }
            // Both may be off to different sides; the last term is the distance of denormals.
            let allowed = 2.0 * (relative * gpu.abs() + absolute) + f64::from(f32::from_bits(1));
            assert!(
                (gpu - machine).abs() <= allowed,
                "{name} of {:x?}: {gpu:e}, {machine:e}",
                &given[4 * index..][..2]
            );
        }
    }
    assert!(seen > 500, "{seen}");
}

fn directory() -> PathBuf {
    PathBuf::from(
        std::env::var_os("GOLDEN_DIRECTORY").expect("GOLDEN_DIRECTORY names where the files go"),
    )
}

fn exact_and_approximate() -> Vec<Form> {
    forms::all()
        .into_iter()
        .chain(forms::approximate())
        .collect()
}

/// How far apart two results are, relative to the larger; NaN and infinities must agree.
fn distance(kind: Kind, a: u64, b: u64) -> f64 {
    let value = |bits: u64| {
        if kind == Kind::F64 {
            f64::from_bits(bits)
        } else {
            f64::from(f32::from_bits(bits as u32))
        }
    };
    let (a, b) = (value(a), value(b));
    if a == b || a.is_nan() && b.is_nan() {
        0.0
    } else {
        (a - b).abs() / a.abs().max(b.abs()).min(f64::MAX)
    }
}

/// The number of the input file for forms with inputs of these kinds.
fn input_number(files: &mut Vec<Vec<Kind>>, form: &Form) -> usize {
    files
        .iter()
        .position(|kinds| *kinds == form.inputs)
        .unwrap_or_else(|| {
            files.push(form.inputs.clone());
            files.len() - 1
        })
}

#[test]
#[ignore = "writes the files that a recording needs"]
fn write_inputs() {
    let directory = directory();
    let forms = exact_and_approximate();
    std::fs::write(directory.join("module.ptx"), forms::module(&forms)).unwrap();
    let mut files = Vec::new();
    let mut list = String::new();
    for form in &forms {
        writeln!(list, "{}", input_number(&mut files, form)).unwrap();
    }
    std::fs::write(directory.join("forms.txt"), list).unwrap();
    for (number, kinds) in files.iter().enumerate() {
        let bytes: Vec<u8> = inputs::for_kinds(kinds)
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        std::fs::write(directory.join(format!("input_{number}.bin")), bytes).unwrap();
    }
}

#[test]
#[ignore = "compares a recording with the machine and writes its digests"]
fn read_results() {
    let directory = directory();
    let driver = std::fs::read_to_string(directory.join("driver.txt")).unwrap();
    let results = std::fs::read(directory.join("results.bin")).unwrap();
    let mut table = format!(
        "# digests of the results of {}: written by the test `read_results`\n",
        driver.trim()
    );
    let mut samples = format!(
        "# samples of the results of {}: form, then index of the input and result\n",
        driver.trim()
    );
    let (mut wrong, forms) = (0, exact_and_approximate());
    let exact = forms::all().len();
    assert_eq!(results.len(), forms.len() * inputs::COUNT * 8);
    for (number, (form, bytes)) in forms
        .iter()
        .zip(results.chunks_exact(inputs::COUNT * 8))
        .enumerate()
    {
        let gpu: Vec<u64> = bytes
            .chunks_exact(8)
            .map(|word| u64::from_le_bytes(word.try_into().unwrap()))
            .collect();
        let machine = compute(form);
        let given = inputs::for_kinds(&form.inputs);
        let show = |i: usize| {
            println!(
                "    {:x?} gives {:x}, the machine {:x}",
                &given[4 * i..4 * i + form.inputs.len()],
                gpu[i],
                machine[i]
            );
        };
        if number >= exact {
            let far = |i: &usize| distance(form.output, gpu[*i], machine[*i]);
            let mut order: Vec<usize> = (0..inputs::COUNT).collect();
            order.sort_by(|a, b| far(b).total_cmp(&far(a)));
            println!(
                "{}: at most 2^{:.1} apart",
                form.name,
                far(&order[0]).log2()
            );
            order.iter().take(2).for_each(|&i| show(i));
            write!(samples, "{}", form.name).unwrap();
            (0..inputs::COUNT)
                .step_by(23)
                .for_each(|i| write!(samples, "\t{i}:{:x}", gpu[i]).unwrap());
            samples.push('\n');
            continue;
        }
        writeln!(table, "{}\t{:016x}", form.name, inputs::digest(&gpu)).unwrap();
        let differing: Vec<usize> = (0..inputs::COUNT)
            .filter(|&i| gpu[i] != machine[i])
            .collect();
        if !differing.is_empty() {
            wrong += 1;
            println!(
                "{}: {} of {} differ",
                form.name,
                differing.len(),
                inputs::COUNT
            );
            differing.iter().take(3).for_each(|&i| show(i));
        }
    }
    std::fs::write(
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/approximate.tsv"),
        samples,
    )
    .unwrap();
    std::fs::write(
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/results.tsv"),
        table,
    )
    .unwrap();
    println!("{wrong} of {exact} forms differ");
}
