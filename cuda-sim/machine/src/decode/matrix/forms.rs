//! The forms that there are: which shapes go with which types and modifiers.

use super::modifiers::Modifiers;
use crate::exec::Space;
use crate::ops::matrix::Element::{B1, Bf16, E4m3, E5m2, F16, F32, F64, S4, S8, S32, Tf32, U4, U8};
use crate::ops::matrix::{Element, Form, Fragment, Holding, Layout, Part, Shape, Step};
use crate::ops::numbers::Rounding;

/// The step that the modifiers ask for, where they are possible with these types.
fn step(modifiers: &Modifiers<'_>, a: Element) -> Option<Step> {
    let &Modifiers {
        rounding,
        saturates,
        bits,
        popc,
        ..
    } = modifiers;
    match (a, rounding, saturates, bits, popc) {
        (F16 | Bf16 | Tf32 | E4m3 | E5m2, None, false, None, false) => Some(Step::Numbers),
        (F64, rounding, false, None, false) => {
            Some(Step::Doubles(rounding.unwrap_or(Rounding::Nearest)))
        }
        (S8 | U8 | S4 | U4, None, saturates, None, false) => Some(Step::Integers { saturates }),
        (B1, None, false, Some("xor"), true) => Some(Step::Bits { and: false }),
        (B1, None, false, Some("and"), true) => Some(Step::Bits { and: true }),
        _ => None,
    }
}

/// `mma`
pub(super) fn mma(modifiers: &Modifiers<'_>) -> Option<Form> {
    if !modifiers.aligned {
        return None;
    }
    let (shape, &[a_layout, b_layout], &[d, a, b, c]) =
        (modifiers.shape?, &*modifiers.layouts, &*modifiers.types)
    else {
        return None;
    };
    let holding = match (shape, [d, a, b, c]) {
        ((8, 8, 4), [F16 | F32, F16, F16, F16] | [F32, F16, F16, F32]) => {
            Holding::Quarters(a_layout, b_layout)
        }
        ((8, 8, 4) | (16, 8, 4 | 8 | 16), [F64, F64, F64, F64])
        | ((8, 8, 16) | (16, 8, 16 | 32), [S32, S8 | U8, S8 | U8, S32])
        | ((8, 8, 32) | (16, 8, 32 | 64), [S32, S4 | U4, S4 | U4, S32])
        | ((8, 8, 128) | (16, 8, 128 | 256), [S32, B1, B1, S32])
        | ((16, 8, 4 | 8), [F32, Tf32, Tf32, F32])
        | ((16, 8, 8 | 16), [F32, Bf16, Bf16, F32])
        | ((16, 8, 8 | 16), [F32, F16, F16, F32] | [F16, F16, F16, F16])
        | ((16, 8, 16 | 32), [F32, E4m3 | E5m2, E4m3 | E5m2, F32])
        | ((16, 8, 16 | 32), [F16, E4m3 | E5m2, E4m3 | E5m2, F16])
            if (a_layout, b_layout) == (Layout::Row, Layout::Column) =>
        {
            Holding::Once
        }
        _ => return None,
    };
    let (m, n, k) = shape;
    Some(Form {
        shape: Shape::new(m, n, k),
        a,
        b,
        c,
        d,
        step: step(modifiers, a)?,
        holding,
    })
}

/// `wmma.mma`, which in old versions of PTX is not called `.aligned`. Where only the types of the results are named, the factors are `f16`.
pub(super) fn wmma(modifiers: &Modifiers<'_>) -> Option<Form> {
    let (shape, layouts) = (modifiers.shape?, &*modifiers.layouts);
    let (d, a, b, c) = match *modifiers.types {
        [d, c] => (d, F16, F16, c),
        [_, F16, F16, _] => return None,
        [d, a, b, c] => (d, a, b, c),
        _ => return None,
    };
    match (shape, [d, a, b, c], layouts) {
        (
            (16, 16, 16) | (32, 8, 16) | (8, 32, 16),
            [F16 | F32, F16, F16, F16 | F32]
            | [F32, Bf16, Bf16, F32]
            | [S32, S8, S8, S32]
            | [S32, U8, U8, S32],
            [_, _],
        )
        | ((16, 16, 8), [F32, Tf32, Tf32, F32], [_, _])
        | ((8, 8, 4), [F64, F64, F64, F64], [_, _])
        | ((8, 8, 32), [S32, S4, S4, S32] | [S32, U4, U4, S32], [Layout::Row, Layout::Column])
        | ((8, 8, 128), [S32, B1, B1, S32], [Layout::Row, Layout::Column]) => {}
        _ => return None,
    }
    let step = match (modifiers.saturates, a) {
        // Of halves, an obsolete form that promises finite results.
        (true, F16) => return None,
        _ => step(modifiers, a)?,
    };
    let (m, n, k) = shape;
    Some(Form {
        shape: Shape::new(m, n, k),
        a,
        b,
        c,
        d,
        step,
        holding: Holding::Fragments,
    })
}

/// `.shared` and the like, or nothing.
fn space(name: &str) -> Option<Space> {
    Some(match name {
        "shared" | "shared::cta" => Space::Shared,
        "global" => Space::Global,
        _ => return None,
    })
}

/// `wmma.load` and `wmma.store`: the space and the matrix.
pub(super) fn fragment(operation: &str, modifiers: &[&str]) -> Option<(Space, Fragment)> {
    let (part, rest) = modifiers.split_first()?;
    let part = match (operation, *part) {
        ("load", "a") => Part::A,
        ("load", "b") => Part::B,
        ("load", "c") | ("store", "d") => Part::Sum,
        _ => return None,
    };
    let named = rest.iter().find_map(|name| space(name));
    let others: Vec<&str> = rest
        .iter()
        .copied()
        .filter(|name| space(name).is_none())
        .collect();
    let all = Modifiers::read(&others)?;
    let (shape, &[layout], &[element]) = (all.shape?, &*all.layouts, &*all.types) else {
        return None;
    };
    let plain = all.rounding.is_none() && !all.saturates && all.bits.is_none() && !all.popc;
    if !plain || rest.len() > others.len() + 1 {
        return None;
    }
    match (part, shape, element, layout) {
        (Part::A | Part::B, (16, 16, 16) | (32, 8, 16) | (8, 32, 16), F16 | Bf16 | S8 | U8, _)
        | (Part::Sum, (16, 16, 16) | (32, 8, 16) | (8, 32, 16), F16 | F32 | S32, _)
        | (Part::A | Part::B, (16, 16, 8), Tf32, _)
        | (Part::Sum, (16, 16, 8), F32, _)
        | (Part::A | Part::B | Part::Sum, (8, 8, 4), F64, _)
        | (Part::A, (8, 8, 32), S4 | U4, Layout::Row)
        | (Part::B, (8, 8, 32), S4 | U4, Layout::Column)
        | (Part::A, (8, 8, 128), B1, Layout::Row)
        | (Part::B, (8, 8, 128), B1, Layout::Column)
        | (Part::Sum, (8, 8, 32 | 128), S32 | F32, _) => {}
        _ => return None,
    }
    let (m, n, k) = shape;
    let fragment = Fragment::new(part, Shape::new(m, n, k), element, layout);
    Some((named.unwrap_or(Space::Generic), fragment))
}

/// `ldmatrix` and `stmatrix`: the space, how many matrices, and whether they are transposed.
pub(super) fn rows(modifiers: &[&str]) -> Option<(Space, usize, bool)> {
    let mut seen = Vec::new();
    let (mut found, mut count, mut transposed) = (Space::Generic, None, false);
    for &modifier in modifiers {
        if seen.contains(&modifier) && modifier != "sync" {
            return None;
        }
        seen.push(modifier);
        match modifier {
            "sync" | "aligned" | "m8n8" | "b16" => {}
            "trans" => transposed = true,
            "shared" | "shared::cta" if found == Space::Generic => found = Space::Shared,
            "x1" | "x2" | "x4" if count.is_none() => {
                count = modifier.strip_prefix('x').and_then(|it| it.parse().ok());
            }
            _ => return None,
        }
    }
    let complete = ["sync", "aligned", "m8n8", "b16"]
        .iter()
        .all(|needed| seen.contains(needed));
    complete.then_some((found, count?, transposed))
}

/// `movmatrix`
pub(super) fn is_transpose(modifiers: &[&str]) -> bool {
    let mut sorted = modifiers.to_vec();
    sorted.sort_unstable();
    sorted == ["aligned", "b16", "m8n8", "sync", "trans"]
}
