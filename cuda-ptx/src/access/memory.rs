//! What an instruction does with memory outside the block, by its mnemonic.

use crate::{Instruction, Operand, ScalarType};

use super::AccessKind;

/// One thing that an instruction does with memory that may be global.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Effect {
    pub(super) kind: AccessKind,
    /// The operand with the address; nothing where no pointer tells the place.
    pub(super) operand: Option<usize>,
    pub(super) is_generic: bool,
    pub(super) ty: Option<ScalarType>,
    pub(super) lanes: u8,
    /// `ld.global.nc`
    pub(super) is_noncoherent: bool,
}

/// Instructions with addresses that touch no global memory's contents.
const HARMLESS: [&str; 17] = [
    "applypriority",
    "barrier",
    "clusterlaunchcontrol",
    "createpolicy",
    "cvta",
    "fence",
    "getctarank",
    "isspacep",
    "ldmatrix",
    "mapa",
    "mbarrier",
    "membar",
    "prefetch",
    "prefetchu",
    "st.bulk",
    "stmatrix",
    "tcgen05",
];

/// The space that the modifiers name first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Global,
    Param,
    /// Local, shared or constant.
    Near,
}

pub(super) fn place(modifier: &str) -> Option<Place> {
    let end = modifier.bytes().position(|it| it == b':');
    match modifier.get(..end.unwrap_or(modifier.len()))? {
        "global" => Some(Place::Global),
        "param" => Some(Place::Param),
        "local" | "shared" | "const" => Some(Place::Near),
        _ => None,
    }
}

/// What an instruction does; up to two things.
pub(super) fn effects(instruction: &Instruction<'_>) -> [Option<Effect>; 2] {
    let opcode = instruction.opcode();
    let access = |kind, operand| plain(instruction, kind, operand);
    let first = instruction.operands.iter().position(is_address);
    if first.is_none() {
        // Most instructions.
        return [None; 2];
    }
    match opcode {
        "ld" | "ldu" => [first.and_then(|it| access(AccessKind::Read, it)), None],
        "st" if instruction.mnemonic.starts_with("st.bulk") => [None; 2],
        "st" | "discard" => [first.and_then(|it| access(AccessKind::Write, it)), None],
        "atom" | "red" => [first.and_then(|it| access(AccessKind::Update, it)), None],
        "wmma" | "multimem" => {
            let has = |word| instruction.modifiers().any(|it| it == word);
            let kind = match () {
                () if has("ld_reduce") || has("load") => AccessKind::Read,
                () if has("red") => AccessKind::Update,
                () if has("st") || has("store") => AccessKind::Write,
                () => return [None; 2],
            };
            [first.and_then(|it| access(kind, it)), None]
        }
        "cp" => copy(instruction),
        "tex" | "tld4" | "suld" => [Some(elsewhere(AccessKind::Read)), None],
        "sust" | "sured" => [Some(elsewhere(AccessKind::Update)), None],
        "call" => [None; 2],
        _ if HARMLESS.contains(&opcode) => [None; 2],
        _ => {
            let mut all = instruction.operands.iter().enumerate();
            let mut next = || {
                let (index, _) = all.find(|(_, operand)| is_address(operand))?;
                access(AccessKind::Unknown, index)
            };
            [next(), next()]
        }
    }
}

fn is_address(operand: &Operand<'_>) -> bool {
    matches!(operand, Operand::Address { .. } | Operand::Brackets(_))
}

/// Memory that is reached through a texture, a surface or a tensor map.
fn elsewhere(kind: AccessKind) -> Effect {
    Effect {
        kind,
        operand: None,
        is_generic: false,
        ty: None,
        lanes: 1,
        is_noncoherent: false,
    }
}

/// An access by type and space of the mnemonic; nothing where the space is not global.
fn plain(instruction: &Instruction<'_>, kind: AccessKind, operand: usize) -> Option<Effect> {
    let mut space = None;
    let (mut ty, mut lanes, mut is_noncoherent) = (None, 1, false);
    for modifier in instruction.modifiers() {
        match modifier {
            "v2" => lanes = 2,
            "v4" => lanes = 4,
            "v8" => lanes = 8,
            "nc" => is_noncoherent = true,
            _ => {
                space = space.or_else(|| place(modifier));
                ty = ScalarType::from_name(modifier).or(ty);
            }
        }
    }
    matches!(space, None | Some(Place::Global)).then_some(Effect {
        kind,
        operand: Some(operand),
        is_generic: space.is_none(),
        ty,
        lanes,
        is_noncoherent,
    })
}

/// `cp.async`, `cp.async.bulk`, `cp.reduce.async.bulk`: from the second address to the first.
fn copy(instruction: &Instruction<'_>) -> [Option<Effect>; 2] {
    let has = |word| instruction.modifiers().any(|it| it == word);
    let passes = [
        "prefetch",
        "commit_group",
        "wait_group",
        "wait_all",
        "mbarrier",
    ];
    if passes.into_iter().any(has) && !has("bulk") || has("prefetch") {
        return [None; 2];
    }
    let mut spaces = instruction.modifiers().filter_map(place);
    let (to, from) = (spaces.next(), spaces.next());
    let written = match has("reduce") {
        true => AccessKind::Update,
        false => AccessKind::Write,
    };
    let effect = |kind, operand: usize| {
        let is_pointer = !has("tensor")
            && instruction
                .operands
                .get(operand)
                .is_some_and(|it| matches!(it, Operand::Address { .. }));
        Some(Effect {
            operand: is_pointer.then_some(operand),
            ..elsewhere(kind)
        })
    };
    [
        (to == Some(Place::Global))
            .then(|| effect(written, 0))
            .flatten(),
        (from == Some(Place::Global))
            .then(|| effect(AccessKind::Read, 1))
            .flatten(),
    ]
}
