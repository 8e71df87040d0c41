//! The forms that are compared with a GPU, each as a kernel of its own.

use crate::grammar::Candidate;
use crate::kinds::{Kind, memory_bits};

/// An operand in the notation of `isa.txt`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Operand {
    /// Written out.
    Text(String),
    /// `_`
    Sink,
    /// So many registers of a type: a vector where there are more than one.
    Registers(String, usize),
    /// A part of a 32-bit register.
    Part(String),
    /// A cell of memory that holds so many elements of a type: space, type, number.
    Cell(char, String, usize),
}

/// A candidate that can be written as a kernel.
#[derive(Debug, Clone)]
pub(crate) struct Form {
    /// Mnemonic and operands.
    pub(crate) name: String,
    pub(crate) mnemonic: String,
    pub(crate) destinations: Vec<Operand>,
    pub(crate) sources: Vec<Operand>,
    /// Only the even lanes run it.
    pub(crate) even: bool,
    /// Why it is not recorded.
    pub(crate) excuse: Option<String>,
    /// What each input word holds.
    pub(crate) inputs: Vec<Kind>,
    pub(crate) output: Kind,
}

fn is_type(part: &str) -> bool {
    matches!(
        part,
        "pred" | "tf32" | "e4m3x2" | "e5m2x2" | "u4" | "s4" | "u2" | "s2"
    ) || part
        .strip_prefix("bf")
        .or_else(|| part.strip_prefix(['u', 's', 'b', 'f']))
        .is_some_and(|width| {
            let width = width.strip_suffix("x2").unwrap_or(width);
            !width.is_empty() && width.bytes().all(|byte| byte.is_ascii_digit())
        })
}

/// The type that a token names: a number counts the mnemonic's types from the end, `w` is twice as wide as the last.
fn named_type(token: &str, types: &[&str]) -> String {
    match token {
        "w" if types[types.len() - 1].ends_with("16") => String::from("b32"),
        "w" => String::from("b64"),
        token => match token.parse::<usize>() {
            Ok(number) => types[types.len() - number].to_owned(),
            Err(_) => token.to_owned(),
        },
    }
}

fn operand(token: &str, types: &[&str]) -> Operand {
    let (space, token) = match token.split_once(':') {
        Some((space, token)) => (space.chars().next(), token),
        None => (None, token),
    };
    if let Some(text) = token.strip_prefix('=') {
        return Operand::Text(text.to_owned());
    }
    if let Some(part) = token.strip_prefix('~') {
        return Operand::Part(part.to_owned());
    }
    if token == "_" {
        return Operand::Sink;
    }
    let (ty, count) = token
        .split_once('*')
        .map_or((token, 1), |(ty, count)| (ty, count.parse().unwrap()));
    let ty = named_type(ty, types);
    match space {
        Some(space) => Operand::Cell(space, ty, count),
        None => Operand::Registers(ty, count),
    }
}

/// The name of a register for a type.
pub(crate) fn register(ty: &str, number: usize) -> String {
    if ty == "quad" {
        return format!("%q{number}");
    }
    let prefix = match Kind::of(ty).bits() {
        1 => "%p",
        8 => "%b",
        16 => "%h",
        32 => "%r",
        _ => "%d",
    };
    format!("{prefix}{number}")
}

pub(crate) fn registers(ty: &str, first: usize, count: usize) -> String {
    if count == 1 {
        return register(ty, first);
    }
    let names: Vec<String> = (first..first + count)
        .map(|number| register(ty, number))
        .collect();
    format!("{{{}}}", names.join(", "))
}

/// Words of input that so many elements take.
pub(crate) fn words(ty: &str, count: usize) -> usize {
    (memory_bits(ty) as usize * count).div_ceil(64)
}

impl Form {
    pub(crate) fn new(candidate: &Candidate) -> Self {
        let types: Vec<&str> = candidate
            .mnemonic
            .split('.')
            .filter(|part| is_type(part))
            .collect();
        let (operands, excuse) = match candidate.operands.split_once(" !") {
            Some((operands, excuse)) => (operands, Some(excuse.to_owned())),
            None => (candidate.operands.as_str(), None),
        };
        let mut tokens: Vec<&str> = operands.split(' ').collect();
        let even = tokens.last() == Some(&"@even");
        if even {
            tokens.pop();
        }
        let destinations = match tokens[0] {
            "-" => Vec::new(),
            token => token
                .split('|')
                .map(|token| operand(token, &types))
                .collect(),
        };
        let sources: Vec<Operand> = tokens[1..]
            .iter()
            .map(|token| operand(token, &types))
            .collect();
        let mut inputs = Vec::new();
        for source in &sources {
            if let Operand::Part(_) = source {
                inputs.push(Kind::I32);
            }
            if let Operand::Registers(ty, count) | Operand::Cell('g' | 's' | 'l' | 'x', ty, count) =
                source
            {
                let kind = if ty == "quad" {
                    Kind::I64
                } else {
                    Kind::of(ty)
                };
                let kind = if *count == 1 { kind } else { kind.packed() };
                inputs.extend(vec![kind; words(ty, *count)]);
            }
        }
        let output = match destinations.first() {
            Some(Operand::Registers(ty, 1)) if destinations.len() == 1 && ty != "quad" => {
                Kind::of(ty)
            }
            Some(Operand::Part(_)) => Kind::I32,
            _ => Kind::I64,
        };
        Self {
            name: format!("{} | {operands}", candidate.mnemonic),
            mnemonic: candidate.mnemonic.clone(),
            destinations,
            sources,
            even,
            excuse,
            inputs,
            output,
        }
    }
}
