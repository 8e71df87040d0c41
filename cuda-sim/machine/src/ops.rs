//! What the instructions compute, by family. Each family has one exact list of the forms that it implements.

pub(crate) mod asynchronous;
pub(crate) mod atomic;
pub(crate) mod carry;
pub(crate) mod clock;
pub(crate) mod compare;
pub(crate) mod convert;
pub(crate) mod copy;
pub(crate) mod float;
pub(crate) mod integer;
pub(crate) mod map;
pub(crate) mod matrix;
pub(crate) mod mbarrier;
pub(crate) mod memory;
pub(crate) mod moves;
pub(crate) mod numbers;
pub(crate) mod services;
pub(crate) mod spaces;
pub(crate) mod stack;
pub(crate) mod video;
pub(crate) mod warp;
