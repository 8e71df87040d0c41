//! From sources to images: each source is a job, and a job whose inputs have not changed is not done again.

mod dependencies;
mod diagnostics;
mod jobs;
mod parallel;
mod record;
mod shadows;

pub(crate) use jobs::{Compiled, Job, Tools};
pub(crate) use parallel::{Limit, run_all};
