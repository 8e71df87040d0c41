//! The forms that the ISA defines up to an error only.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::forms::Form;
use crate::kinds::Kind;
use crate::{accepted, compute, inputs};

/// Whether the ISA leaves the form's last bits open.
pub(crate) fn is_approximate(form: &Form) -> bool {
    form.name.contains(".approx") || form.name.starts_with("div.full")
}

/// How far the ISA lets an approximation be from the exact value: relative and absolute. Nothing where it promises nothing.
fn promised(name: &str, input: f64) -> Option<(f64, f64)> {
    let power = |exponent: f64| exponent.exp2();
    let opcode = name.split('.').next().unwrap();
    Some(if name.contains("bf16") {
        (power(-7.0), 0.0)
    } else if name.contains("f16") {
        if opcode == "tanh" {
            (0.0, power(-10.987))
        } else {
            (power(-9.9), 0.0)
        }
    } else {
        match opcode {
            "sin" | "cos" if input.abs() > std::f64::consts::TAU => return None,
            "sin" | "cos" => (0.0, power(-20.5)),
            "lg2" => (power(-22.0), power(-22.0)),
            "tanh" => (power(-11.0), 0.0),
            "rcp" | "rsqrt" if name.contains("ftz.f64") => (power(-19.0), 0.0),
            "rsqrt" if name.contains("f64") => (power(-51.0), 0.0),
            _ => (power(-22.0), 0.0),
        }
    })
}

/// The numbers that a result or an input consists of.
fn values(kind: Kind, word: u64) -> Vec<f64> {
    let (part, count) = kind.parts();
    (0..count)
        .map(|index| {
            let bits = word >> (index * part.bits());
            match part {
                Kind::F64 => f64::from_bits(bits),
                Kind::F32 => f64::from(f32::from_bits(bits as u32)),
                Kind::Bf16 => f64::from(f32::from_bits((bits as u32) << 16)),
                Kind::F16 => half(bits as u16),
                other => panic!("{other:?} is no approximation"),
            }
        })
        .collect()
}

fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => fraction * (-24f64).exp2(),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * f64::from(exponent - 25).exp2(),
    };
    if bits >> 15 == 1 {
        -magnitude
    } else {
        magnitude
    }
}

/// Recorded samples by form.
pub(crate) fn recorded() -> HashMap<&'static str, &'static str> {
    let lines = include_str!("approximate.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split_once('\t').unwrap()).collect()
}

/// Every 23rd result, and the size of the largest difference on the screen.
pub(crate) fn samples(form: &Form, gpu: &[u64]) -> String {
    let machine = compute(form);
    let distance = |i: usize| {
        let pairs = values(form.output, gpu[i])
            .into_iter()
            .zip(values(form.output, machine[i]));
        pairs
            .map(|(a, b)| {
                if a == b || a.is_nan() && b.is_nan() {
                    0.0
                } else {
                    (a - b).abs() / a.abs().max(b.abs()).min(f64::MAX)
                }
            })
            .fold(0.0, f64::max)
    };
    let worst = (0..inputs::COUNT)
        .max_by(|&a, &b| distance(a).total_cmp(&distance(b)))
        .unwrap();
    let given = &inputs::for_kinds(&form.inputs)[4 * worst..][..form.inputs.len()];
    println!(
        "{}: at most 2^{:.1} apart: {given:x?} gives {:x}, the machine {:x}",
        form.name,
        distance(worst).log2(),
        gpu[worst],
        machine[worst]
    );
    let mut line = String::new();
    for i in (0..inputs::COUNT).step_by(23) {
        write!(
            line,
            "{}{i}:{:x}",
            if line.is_empty() { "" } else { "\t" },
            gpu[i]
        )
        .unwrap();
    }
    line
}

#[test]
fn approximations_are_as_near_as_the_isa_promises() {
    let recorded = recorded();
    let mut seen = 0;
    for form in accepted().iter().filter(|form| is_approximate(form)) {
        let Some(line) = recorded.get(form.name.as_str()) else {
            continue;
        };
        let (given, machine) = (inputs::for_kinds(&form.inputs), compute(form));
        for sample in line.split('\t') {
            let (index, gpu) = sample.split_once(':').unwrap();
            let (index, gpu) = (
                index.parse::<usize>().unwrap(),
                u64::from_str_radix(gpu, 16).unwrap(),
            );
            let input = values(form.inputs[0], given[4 * index]);
            for ((gpu, machine), input) in values(form.output, gpu)
                .into_iter()
                .zip(values(form.output, machine[index]))
                .zip(input)
            {
                let Some((relative, absolute)) = promised(&form.name, input) else {
                    continue;
                };
                seen += 1;
                let context = format!(
                    "{} of {:x?}: {gpu:e}, {machine:e}",
                    form.name,
                    &given[4 * index..][..2]
                );
                if !gpu.is_finite() || !machine.is_finite() {
                    assert!(
                        gpu == machine || gpu.is_nan() && machine.is_nan(),
                        "{context}"
                    );
                    continue;
                }
                // Both may be off to different sides; the last term is the distance of denormals.
                let denormal = values(form.output, 1)[0];
                assert!(
                    (gpu - machine).abs() <= 2.0 * (relative * gpu.abs() + absolute) + denormal,
                    "{context}"
                );
            }
        }
    }
    assert!(seen > 500, "{seen}");
}
