//! The modifiers of multiplications, which assemblers take in any order.

use crate::ops::matrix::{Element, Layout, Shape};
use crate::ops::numbers::Rounding;

/// What the modifiers say, each in its place.
#[derive(Debug, Default)]
pub(super) struct Modifiers<'a> {
    sync: bool,
    pub(super) aligned: bool,
    pub(super) shape: Option<(usize, usize, usize)>,
    /// Of `A` and `B`.
    pub(super) layouts: Vec<Layout>,
    /// As they stand there: of `D`, `A`, `B` and `C`, where there are four.
    pub(super) types: Vec<Element>,
    pub(super) rounding: Option<Rounding>,
    pub(super) saturates: bool,
    /// `xor` or `and`
    pub(super) bits: Option<&'a str>,
    pub(super) popc: bool,
}

/// Sets what must not be set twice.
fn once<T>(place: &mut Option<T>, value: T) -> Option<()> {
    place.replace(value).is_none().then_some(())
}

fn flag(place: &mut bool) -> Option<()> {
    (!std::mem::replace(place, true)).then_some(())
}

impl<'a> Modifiers<'a> {
    /// Reads them, if each of them is known, and none stands twice that must stand once.
    pub(super) fn read(modifiers: &[&'a str]) -> Option<Self> {
        let mut all = Self::default();
        for &modifier in modifiers {
            match modifier {
                // Assemblers let it stand twice.
                "sync" => all.sync = true,
                "aligned" => flag(&mut all.aligned)?,
                "satfinite" => flag(&mut all.saturates)?,
                "popc" => flag(&mut all.popc)?,
                "xor" | "and" => once(&mut all.bits, modifier)?,
                "rn" | "rz" | "rm" | "rp" => {
                    once(&mut all.rounding, Rounding::from_name(modifier)?.0)?;
                }
                "row" | "col" => all.layouts.push(Layout::from_name(modifier)?),
                other => match shape(other) {
                    Some(found) => once(&mut all.shape, (found.m, found.n, found.k))?,
                    None => all.types.push(Element::from_name(other)?),
                },
            }
        }
        all.sync.then_some(all)
    }
}

/// `m16n8k16`
pub(super) fn shape(name: &str) -> Option<Shape> {
    let (m, rest) = name.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    Some(Shape::new(
        m.parse().ok()?,
        n.parse().ok()?,
        k.parse().ok()?,
    ))
}
