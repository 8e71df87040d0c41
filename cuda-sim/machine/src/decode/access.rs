//! The modifiers of loads and stores, in the order in which they must stand.
//!
//! What they say about ordering and caches asks for no more than the machine does anyway: it executes the lanes of a launch one after the
//! other, and what one stores the next one sees.

use crate::exec::Space;
use crate::ops::memory::Element;

/// A load or a store as its modifiers describe it.
pub(super) struct Form {
    pub(super) stores: bool,
    pub(super) space: Space,
    pub(super) element: Element,
    pub(super) count: usize,
    /// The elements are the halves of one 128-bit register.
    pub(super) whole: bool,
    /// Another operand gives a cache policy.
    pub(super) policy: bool,
}

/// How strongly an access is ordered.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Weak,
    Volatile,
    /// Relaxed, or an acquire or a release.
    Scoped,
    MemoryMapped,
}

/// Takes the modifier in front if it is one of these.
fn take<'m, 'a>(rest: &'m [&'a str], names: &[&str]) -> (Option<&'a str>, &'m [&'a str]) {
    match rest.split_first() {
        Some((first, after)) if names.contains(first) => (Some(first), after),
        _ => (None, rest),
    }
}

fn order<'m, 'a>(stores: bool, rest: &'m [&'a str]) -> Option<(Order, &'m [&'a str])> {
    let strongest = if stores { "release" } else { "acquire" };
    Some(match rest {
        ["weak", rest @ ..] => (Order::Weak, rest),
        ["volatile", rest @ ..] => (Order::Volatile, rest),
        ["mmio", "relaxed", "sys", rest @ ..] => (Order::MemoryMapped, rest),
        [first, rest @ ..] if *first == "relaxed" || *first == strongest => {
            let (scope, rest) = take(rest, &["cta", "cluster", "gpu", "sys"]);
            scope?;
            (Order::Scoped, rest)
        }
        rest => (Order::Weak, rest),
    })
}

fn space<'m, 'a>(rest: &'m [&'a str]) -> (Space, &'m [&'a str]) {
    let Some((first, after)) = rest.split_first() else {
        return (Space::Generic, rest);
    };
    match *first {
        "global" | "const" => (Space::Global, after),
        "shared" | "shared::cta" => (Space::Shared, after),
        "shared::cluster" => (Space::Cluster, after),
        "local" => (Space::Local, after),
        "param" | "param::entry" | "param::func" => (Space::Param, after),
        _ => (Space::Generic, rest),
    }
}

/// The form with that mnemonic, split at its dots.
pub(super) fn form(mnemonic: &[&str]) -> Option<Form> {
    let (stores, uniform, rest) = match mnemonic {
        ["ld", rest @ ..] => (false, false, rest),
        ["ldu", rest @ ..] => (false, true, rest),
        ["st", rest @ ..] => (true, false, rest),
        _ => return None,
    };
    let (order, rest) = order(stores, rest)?;
    let constant = rest.first() == Some(&"const");
    let entry = rest.first() == Some(&"param::entry");
    let (space, rest) = space(rest);
    let device = matches!(space, Space::Global | Space::Generic) && !constant;
    let (cached, rest) = if stores {
        take(rest, &["wb", "cg", "cs", "wt"])
    } else {
        take(rest, &["ca", "cg", "cs", "lu", "cv"])
    };
    let (nc, rest) = take(rest, &["nc"]);
    let (first_level, rest) = take(
        rest,
        &[
            "L1::evict_normal",
            "L1::evict_unchanged",
            "L1::evict_first",
            "L1::evict_last",
            "L1::no_allocate",
        ],
    );
    let (second_level, rest) = take(
        rest,
        &["L2::evict_normal", "L2::evict_first", "L2::evict_last"],
    );
    let (policy, rest) = take(rest, &["L2::cache_hint"]);
    let (prefetch, rest) = take(rest, &["L2::64B", "L2::128B", "L2::256B"]);
    let (count, rest) = match take(rest, &["v2", "v4", "v8"]) {
        (Some("v2"), rest) => (2, rest),
        (Some("v4"), rest) => (4, rest),
        (Some(_), rest) => (8, rest),
        (None, rest) => (1, rest),
    };
    let [ty] = rest else { return None };
    let whole = *ty == "b128" && count == 1;
    let (element, count) = if whole {
        (Element::from_name("b64")?, 2)
    } else {
        (Element::from_name(ty)?, count)
    };
    let evicts = first_level.is_some() || second_level.is_some();
    let hints = evicts || policy.is_some() || prefetch.is_some();
    let legal = match order {
        Order::Weak => true,
        Order::Volatile => cached.is_none() && !evicts && policy.is_none(),
        Order::Scoped => {
            cached.is_none()
                && matches!(
                    space,
                    Space::Global | Space::Generic | Space::Shared | Space::Cluster
                )
        }
        Order::MemoryMapped => cached.is_none() && !hints && device && count == 1,
    };
    let legal = legal
        && (!hints || device && !(cached.is_some() && evicts))
        && (nc.is_none()
            || !stores
                && order == Order::Weak
                && space == Space::Global
                && !constant
                && !matches!(cached, Some("lu" | "cv")))
        && (!(constant || entry) || !stores && order == Order::Weak)
        && (space != Space::Param || order == Order::Weak)
        && (prefetch.is_none() || !stores)
        && (!uniform
            || order == Order::Weak && device && cached.is_none() && nc.is_none() && !hints);
    // Vectors of 32 bytes exist in global memory only, and of some types only.
    let bytes = count * element.bytes;
    let wide =
        bytes == 32 && device && matches!(*ty, "b32" | "u32" | "s32" | "f32" | "b64" | "f64");
    let narrow = bytes <= 16 && count < 8 && second_level.is_none();
    (legal && (narrow || wide)).then_some(Form {
        stores,
        space,
        element,
        count,
        whole,
        policy: policy.is_some(),
    })
}
