//! Execution: blocks of warps, warps of lanes.

mod access;
mod ahead;
mod barriers;
mod block;
mod cluster;
mod env;
mod findings;
mod flight;
mod fresh;
mod grid;
mod interleave;
mod ledger;
mod local;
mod observe;
mod order;
mod patience;
mod places;
mod race;
mod scope;
mod sequence;
mod spaces;
mod templates;
mod unwritten;
mod warp;

pub(crate) use ahead::wait as wait_for_prerequisite;
pub(crate) use cluster::RANK_SHIFT;
pub(crate) use env::{Env, LaneError};
pub(crate) use findings::{Seen, Site};
pub(crate) use flight::{Operation, Origin, Poll, Reduction, SharedAt, Target};
pub use grid::run;
pub(crate) use race::fence;
pub(crate) use scope::Scope;
pub(crate) use spaces::{CALL_PARAMS, Space, resolve};
