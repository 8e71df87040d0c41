//! The entries that no recording proves.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::forms::Form;
use crate::{accepted, approximations, recorded};

/// Why a form cannot be recorded from the GPU at hand, which is one of compute capability 9.0.
pub(crate) fn excuse(form: &Form) -> Option<&str> {
    if let Some(excuse) = &form.excuse {
        return Some(excuse);
    }
    let name = form.name.as_str();
    let has = |part: &str| name.contains(part);
    let three = name.starts_with("min.") || name.starts_with("max.");
    if has("f32x2")
        || has(".f32.f16")
        || has(".f32.bf16") && !name.starts_with("cvt") && !name.starts_with("set")
    {
        return Some("needs compute capability 10.0: computed as the proved forms of f32 are");
    }
    if three && name.ends_with("| 1 1 1 1") {
        return Some("needs compute capability 10.0: two of the proved forms one after the other");
    }
    if name.starts_with("ld")
        && (name.contains("1*8") || name.contains(".v4.b64") || name.contains(".v4.f64"))
    {
        return Some(
            "needs compute capability 10.0: reads what the proved vectors of 16 bytes read",
        );
    }
    if name.starts_with("redux") && has(".f32") {
        return Some(
            "needs compute capability 10.0: the proved minima and maxima of f32, lane after lane",
        );
    }
    if has("volatile.local") {
        return Some("needs PTX ISA 9.1: computed as without .volatile");
    }
    if (name.starts_with("shfl.") || name.starts_with("vote.")) && !has(".sync") {
        return Some("gone since compute capability 7.0: the same operation as with .sync");
    }
    None
}

/// Each form that is not recorded, and why.
fn list() -> BTreeMap<String, String> {
    let (recorded, sampled) = (recorded(), approximations::recorded());
    let unproved = accepted().into_iter().filter(|form| {
        !recorded.contains_key(form.name.as_str()) && !sampled.contains_key(form.name.as_str())
    });
    let reason = |form: &Form| excuse(form).unwrap_or("not recorded yet").to_owned();
    unproved
        .map(|form| (form.name.clone(), reason(&form)))
        .collect()
}

fn text() -> String {
    let mut text = String::from(HEADER);
    for (name, reason) in list() {
        writeln!(text, "{name}\t{reason}").unwrap();
    }
    text
}

const HEADER: &str = "# Forms that the machine carries out and no recording proves, and why: written by the test `write_unproved`.\n\
    # Branches, calls, barriers and special registers have no results that could be recorded; `control.rs`, `kernels.rs` and `warp.rs`\n\
    # beside this folder test them. Of matrix instructions, only exact ones between registers are here; `matrix` beside this folder tests all.\n";

#[test]
fn the_list_of_unproved_forms_is_complete() {
    let committed = include_str!("unproved.tsv");
    assert!(
        committed == text(),
        "unproved.tsv is out of date: run the ignored test `write_unproved`"
    );
}

#[test]
#[ignore = "writes unproved.tsv"]
fn write_unproved() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/unproved.tsv");
    std::fs::write(path, text()).unwrap();
}
