//! Every implemented form of an instruction computes what a GPU computes, bit for bit.
//!
//! `isa.txt` spans more mnemonics than there are; those that the decoder accepts are the entries. `results.tsv` holds, for each, a digest
//! of what a GPU gave for the inputs of `inputs.rs`; `approximate.tsv` holds samples of the forms that the ISA defines up to an error;
//! `unproved.tsv` lists the entries that have neither, and says why. `README.md` says how to record.

mod approximations;
mod forms;
mod grammar;
mod inputs;
mod kernel;
mod kinds;
mod recording;
#[path = "../support/mod.rs"]
mod support;
mod unproved;

use std::collections::HashMap;
use std::sync::OnceLock;

use cuda_sim_machine::{Launch, Processor, Program, run};
use forms::Form;
use support::{Arena, Params, processors, program};

/// The forms that the decoder accepts, of those that `isa.txt` spans.
fn accepted() -> Vec<Form> {
    static FORMS: OnceLock<Vec<Form>> = OnceLock::new();
    let find = || {
        let candidates: Vec<Form> = grammar::candidates().iter().map(Form::new).collect();
        let program = program(&kernel::module(&candidates, Form::probe));
        let kernels = candidates.into_iter().zip(program.kernels());
        let kept = kernels.filter(|(_, kernel)| kernel.unsupported().is_none());
        kept.map(|(form, _)| form).collect()
    };
    FORMS.get_or_init(find).clone()
}

/// What the machine computes for a form, whichever processor it is decoded for.
fn compute(form: &Form) -> Vec<u64> {
    let results = processors().map(|processor| compute_on(form, processor));
    let [portable, best] = results;
    assert_eq!(portable, best, "{}: the processors differ", form.name);
    best
}

fn compute_on(form: &Form, processor: Processor) -> Vec<u64> {
    let ptx = kernel::module(std::slice::from_ref(form), Form::kernel);
    let program = Program::for_processor(&cuda_ptx::Module::parse(&ptx).unwrap(), processor);
    let unsupported = program.kernel("form_0").unwrap().unsupported();
    assert_eq!(unsupported, None, "{}", form.name);
    let arena = Arena::new();
    let input = arena.place_words(&inputs::for_kinds(&form.inputs), u64::to_le_bytes);
    let out = arena.place(&vec![0; 8 * inputs::COUNT]);
    let params = Params::default()
        .u64(input)
        .u64(out)
        .u32(inputs::COUNT as u32)
        .push(kernel::block());
    let constants = arena.place(&kernel::block());
    let launch = Launch {
        globals: &[constants],
        ..Launch::new([8, 1, 1], [128, 1, 1], &params.0)
    };
    let kernel = program.kernel("form_0").unwrap();
    run(kernel, &program, &launch, &arena).unwrap_or_else(|fault| panic!("{}: {fault}", form.name));
    arena.read_u64s(out, inputs::COUNT)
}

/// Digests of the recorded results.
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
    let mut seen = 0;
    for form in accepted() {
        if let Some(&digest) = recorded.get(form.name.as_str()) {
            seen += 1;
            if digest != inputs::digest(&compute(&form)) {
                wrong.push(form.name);
            }
        }
    }
    assert!(wrong.is_empty(), "{} forms differ: {wrong:#?}", wrong.len());
    assert_eq!(
        seen,
        recorded.len(),
        "forms that were recorded are not accepted any more"
    );
}
