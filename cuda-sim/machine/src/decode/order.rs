//! Modifiers in the order of the ISA's grammar.
//!
//! Assemblers take most modifiers in any order, and compilers and headers make use of that (`vote.ballot.sync`, `min.s32.relu`,
//! `atom.add.acq_rel.cta`). The lists of forms know one order; a mnemonic that is in none of them is looked up once more in that order.

/// The same mnemonic, split at its dots, in that order; nothing where it is in that order already.
pub(super) fn canonical<'a>(mnemonic: &[&'a str]) -> Option<Vec<&'a str>> {
    let (&opcode, modifiers) = mnemonic.split_first()?;
    let bytes = modifiers
        .iter()
        .any(|part| matches!(*part, "e4m3x2" | "e5m2x2"));
    let mut ordered = modifiers.to_vec();
    // Stable: types stay in their order among themselves.
    ordered.sort_by_key(|part| match *part {
        "satfinite" if bytes => rank(opcode, "sat"),
        part => rank(opcode, part),
    });
    (ordered != modifiers).then(|| std::iter::once(opcode).chain(ordered).collect())
}

/// Where a modifier stands.
fn rank(opcode: &str, modifier: &str) -> u8 {
    match (opcode, modifier) {
        // What says which of several instructions it is.
        ("match", "any" | "all") => 0,
        ("mul" | "mad" | "madc" | "mul24" | "mad24" | "dp2a", "lo" | "hi" | "wide") => 0,
        ("shf", "l" | "r") | ("cvta", "to") | ("cvt", "pack") => 0,
        (_, "mmio" | "weak" | "volatile") => 1,
        (_, "sync" | "relaxed" | "acquire" | "release" | "acq_rel" | "sc") => 2,
        (_, "cta" | "cluster" | "gpu" | "sys") => 3,
        (
            _,
            "global" | "shared" | "shared::cta" | "shared::cluster" | "local" | "const" | "param"
            | "param::entry" | "param::func",
        ) => 4,
        (_, "ca" | "cg" | "cs" | "lu" | "cv" | "wb" | "wt") => 5,
        (_, "nc") => 6,
        ("setp" | "set", "and" | "or" | "xor") => 8,
        (_, "noftz") => 8,
        (_, "approx" | "full") => 8,
        (
            _,
            "rn" | "rz" | "rm" | "rp" | "rni" | "rzi" | "rmi" | "rpi" | "rna" | "wrap" | "clamp"
            | "shiftamt",
        ) => 9,
        (_, "ftz") => 10,
        (_, "sat") => 11,
        (_, "cc" | "oob" | "NaN") => 12,
        (_, "xorsign") => 13,
        (_, "abs") => 14,
        (_, "relu") => 15,
        (_, "satfinite") => 16,
        (_, "v2" | "v4" | "v8") => 30,
        ("prmt", _) if modifier != "b32" => 50,
        (_, hint) if hint.starts_with("L1::") => 20,
        (_, hint) if hint.starts_with("L2::evict") => 21,
        (_, "L2::cache_hint") => 22,
        (_, hint) if hint.starts_with("L2::") => 23,
        (_, ty) if is_type(ty) => 40,
        // Operations, comparisons, modes.
        _ => 7,
    }
}

fn is_type(part: &str) -> bool {
    matches!(part, "pred" | "e4m3x2" | "e5m2x2")
        || ["bf", "tf", "u", "s", "b", "f"]
            .iter()
            .filter_map(|prefix| part.strip_prefix(prefix))
            .map(|width| width.strip_suffix("x2").unwrap_or(width))
            .any(|width| !width.is_empty() && width.bytes().all(|byte| byte.is_ascii_digit()))
}
