//! What an instruction does to memory, for the checks that watch accesses.

use crate::code::{Instr, Op, Reach, Touch, TouchKind};

/// Bytes of a type by its name.
fn type_size(name: &str) -> Option<u32> {
    let digits = name
        .strip_prefix("bf")
        .or_else(|| name.strip_prefix(['b', 'u', 's', 'f']))?;
    Some(match digits {
        "8" => 1,
        "16" => 2,
        "32" | "16x2" => 4,
        "64" => 8,
        "128" => 16,
        _ => return None,
    })
}

/// What the instructions that a statement was decoded to do to memory: which of them, and what.
pub(super) fn touch(mnemonic: &[&str], pushed: &[Instr]) -> Option<(usize, Touch)> {
    let index = pushed
        .iter()
        .rposition(|it| matches!(it.op, Op::Access(_) | Op::Poll(_)))?;
    let has = |names: &[&str]| mnemonic.iter().any(|part| names.contains(part));
    let reach = if has(&["cta"]) {
        Reach::Block
    } else if has(&["cluster"]) {
        Reach::Cluster
    } else {
        Reach::Device
    };
    let is_strong = has(&[
        "volatile", "relaxed", "acquire", "release", "acq_rel", "mmio",
        // Programs pass flags with them.
        "cv", "wt",
    ]);
    let (kind, is_strong) = match *mnemonic.first()? {
        // They tell the checks themselves.
        "st" | "red" if mnemonic.get(1) == Some(&"async") => return None,
        "mbarrier" if matches!(mnemonic.get(1), Some(&("test_wait" | "try_wait"))) => {
            (TouchKind::Await, true)
        }
        "ld" | "ldu" => (TouchKind::Read, is_strong),
        "st" => (TouchKind::Write, is_strong),
        // Whatever was there before, it is a barrier afterwards.
        "mbarrier" => (TouchKind::Write, true),
        "atom" | "red" => (TouchKind::Update, true),
        _ => return None,
    };
    let size = mnemonic.iter().rev().find_map(|part| type_size(part))?;
    let count = mnemonic.iter().find_map(|part| match *part {
        "v2" => Some(2),
        "v4" => Some(4),
        "v8" => Some(8),
        _ => None,
    });
    let size = size * count.unwrap_or(1);
    let touch = Touch {
        kind,
        size,
        strong: is_strong.then_some(reach),
        acquires: has(&["acquire", "acq_rel"]),
        releases: has(&["release", "acq_rel"]),
    };
    Some((index, touch))
}

/// Which of the instructions that a statement was decoded to may write to memory of the block or thread, if that cannot be ruled out.
pub(super) fn opaque(mnemonic: &[&str], pushed: &[Instr]) -> Option<usize> {
    const HARMLESS: [&str; 34] = [
        "activemask",
        "alloca",
        "applypriority",
        "bar",
        "barrier",
        "call",
        "createpolicy",
        "cvta",
        "discard",
        "elect",
        "fence",
        "getctarank",
        "griddepcontrol",
        "isspacep",
        "ldmatrix",
        "mapa",
        "match",
        "membar",
        "mma",
        "mov",
        "movmatrix",
        "nanosleep",
        "pmevent",
        "prefetch",
        "prefetchu",
        "redux",
        "setmaxnreg",
        "shfl",
        "stackrestore",
        "stacksave",
        // Those of matrices tell the checks themselves.
        "stmatrix",
        "trap",
        "vote",
        "wmma",
    ];
    let reaches = |it: &Instr| matches!(it.op, Op::Access(_) | Op::Poll(_) | Op::Collective(_));
    let index = pushed.iter().rposition(reaches)?;
    (!HARMLESS.contains(mnemonic.first()?)).then_some(index)
}
