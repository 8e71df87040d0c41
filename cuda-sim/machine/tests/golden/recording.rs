//! Writes what a recording needs, and reads what it brings. `README.md` says how.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use crate::approximations::{self, is_approximate};
use crate::forms::Form;
use crate::inputs::{self, COUNT};
use crate::kernel;
use crate::kinds::Kind;
use crate::unproved::excuse;
use crate::{accepted, compute, recorded};

/// Kernels of one module: modules are assembled side by side.
const PART: usize = 400;

fn directory() -> PathBuf {
    PathBuf::from(
        std::env::var_os("GOLDEN_DIRECTORY").expect("GOLDEN_DIRECTORY names where the files go"),
    )
}

/// The forms to record: all that can be, or with `GOLDEN_NEW` those that have no result yet.
fn chosen() -> Vec<Form> {
    let mut forms = accepted();
    forms.retain(|form| excuse(form).is_none());
    if std::env::var_os("GOLDEN_NEW").is_some() {
        let (recorded, sampled) = (recorded(), approximations::recorded());
        forms.retain(|form| {
            !recorded.contains_key(form.name.as_str()) && !sampled.contains_key(form.name.as_str())
        });
    }
    forms
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
    let (directory, forms) = (directory(), chosen());
    let (mut files, mut list, mut names) = (Vec::new(), String::new(), String::new());
    for (part, forms) in forms.chunks(PART).enumerate() {
        let text = kernel::module(forms, Form::kernel);
        std::fs::write(directory.join(format!("part_{part}.ptx")), text).unwrap();
        for (number, form) in forms.iter().enumerate() {
            let expected = inputs::digest(&compute(form));
            // The results of approximations are wanted in full, those of others where they are not what the machine computes.
            let whole = u32::from(is_approximate(form));
            writeln!(
                list,
                "{part} {number} {} {expected:016x} {whole}",
                input_number(&mut files, form)
            )
            .unwrap();
            writeln!(names, "{}", form.name).unwrap();
        }
    }
    std::fs::write(directory.join("forms.txt"), list).unwrap();
    std::fs::write(directory.join("names.txt"), names).unwrap();
    std::fs::write(directory.join("block.bin"), kernel::block()).unwrap();
    for (number, kinds) in files.iter().enumerate() {
        let bytes: Vec<u8> = inputs::for_kinds(kinds)
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        std::fs::write(directory.join(format!("input_{number}.bin")), bytes).unwrap();
    }
}

/// Results by the number of their form.
fn results(directory: &std::path::Path) -> BTreeMap<usize, Vec<u64>> {
    let bytes = std::fs::read(directory.join("results.bin")).unwrap();
    let words: Vec<u64> = bytes
        .chunks_exact(8)
        .map(|word| u64::from_le_bytes(word.try_into().unwrap()))
        .collect();
    words
        .chunks_exact(COUNT + 1)
        .map(|block| (block[0] as usize, block[1..].to_vec()))
        .collect()
}

#[test]
#[ignore = "compares a recording with the machine, and writes its digests"]
fn read_results() {
    let directory = directory();
    let read = |name: &str| std::fs::read_to_string(directory.join(name)).unwrap();
    let (driver, names, digests) = (read("driver.txt"), read("names.txt"), read("digests.txt"));
    let whole = results(&directory);
    let forms: Vec<Form> = accepted();
    let mut table: BTreeMap<String, String> = recorded()
        .iter()
        .map(|(name, digest)| ((*name).to_owned(), format!("{digest:016x}")))
        .collect();
    let mut samples: BTreeMap<String, String> = approximations::recorded()
        .into_iter()
        .map(|(name, line)| (name.to_owned(), line.to_owned()))
        .collect();
    let mut wrong = 0;
    for (number, (name, digest)) in names.lines().zip(digests.lines()).enumerate() {
        let Some(form) = forms.iter().find(|form| form.name == name) else {
            println!("{name} is not accepted any more");
            continue;
        };
        if is_approximate(form) {
            samples.insert(
                name.to_owned(),
                approximations::samples(form, &whole[&number]),
            );
            continue;
        }
        table.insert(name.to_owned(), digest.to_owned());
        let machine = compute(form);
        if format!("{:016x}", inputs::digest(&machine)) != digest {
            wrong += 1;
            println!("{name}");
            if let Some(gpu) = whole.get(&number) {
                show(form, gpu, &machine);
            }
        }
    }
    let write = |name: &str, text: String| {
        std::fs::write(
            PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden")).join(name),
            text,
        )
        .unwrap();
    };
    let mut text = format!(
        "# digests of the results of {}: written by the test `read_results`\n",
        driver.trim()
    );
    table
        .iter()
        .for_each(|(name, digest)| writeln!(text, "{name}\t{digest}").unwrap());
    write("results.tsv", text);
    let mut text = format!(
        "# samples of the results of {}: form, then index of the input and result\n",
        driver.trim()
    );
    samples
        .iter()
        .for_each(|(name, line)| writeln!(text, "{name}\t{line}").unwrap());
    write("approximate.tsv", text);
    println!("{wrong} of {} forms differ", table.len());
}

/// Some of the inputs that give other results.
fn show(form: &Form, gpu: &[u64], machine: &[u64]) {
    let given = inputs::for_kinds(&form.inputs);
    let differing: Vec<usize> = (0..COUNT).filter(|&i| gpu[i] != machine[i]).collect();
    println!("    {} of {COUNT} differ", differing.len());
    for &i in differing.iter().take(3) {
        println!(
            "    {i}: {:x?} gives {:x}, the machine {:x}",
            &given[4 * i..4 * i + form.inputs.len()],
            gpu[i],
            machine[i]
        );
    }
}

/// All candidates, for an assembler to choose from.
#[test]
#[ignore = "writes what isa.txt spans"]
fn write_candidates() {
    let directory = directory();
    let candidates: Vec<Form> = crate::grammar::candidates().iter().map(Form::new).collect();
    let names = |forms: &[Form]| {
        forms
            .iter()
            .map(|form| form.name.clone() + "\n")
            .collect::<String>()
    };
    std::fs::write(
        directory.join("candidates.ptx"),
        kernel::module(&candidates, Form::probe),
    )
    .unwrap();
    std::fs::write(directory.join("candidates.txt"), names(&candidates)).unwrap();
    std::fs::write(directory.join("accepted.txt"), names(&accepted())).unwrap();
}
