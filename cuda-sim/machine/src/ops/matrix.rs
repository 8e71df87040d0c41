//! What the lanes of a warp do with matrices of which each holds a part.

pub(crate) mod element;
pub(crate) mod fragment;
mod memory;
pub(crate) mod multiply;
pub(crate) mod product;
mod quarter;
pub(crate) mod rows;

pub(crate) use element::Element;
pub(crate) use fragment::{Fragment, Layout, Part};
pub(crate) use product::{Form, Holding, Product, Shape, Step};

use crate::FaultKind;
use crate::exec::LaneError;

/// All lanes must take part: each holds a part of the matrices.
#[inline(always)]
fn all_lanes(mask: u32) -> Result<(), LaneError> {
    if mask == u32::MAX {
        return Ok(());
    }
    Err(LaneError {
        lane: mask.trailing_zeros() as usize & 31,
        kind: FaultKind::MissingLanes { missing: !mask },
    })
}
