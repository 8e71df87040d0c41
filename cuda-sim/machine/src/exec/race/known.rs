//! What a thread knows of the others.

use std::sync::Arc;

/// For each agent, the time before which all that it did is known. What a list does not reach to is not known at all.
///
/// The first agents are the threads. Then they come once more, with the time before which their writes are visible to asynchronous copies;
/// then whoever else does something, as it is met with.
pub(super) type Known = Arc<Vec<u32>>;

/// Whether joining `other` would change nothing.
pub(super) fn includes(known: &Known, other: &Known) -> bool {
    let all = known
        .iter()
        .zip(other.iter())
        .all(|(own, other)| own >= other);
    all && other.iter().skip(known.len()).all(|time| *time == 0)
}

pub(super) fn join(into: &mut Known, other: &Known) {
    let into = Arc::make_mut(into);
    if into.len() < other.len() {
        into.resize(other.len(), 0);
    }
    for (into, other) in into.iter_mut().zip(other.iter()) {
        *into = (*into).max(*other);
    }
}

/// From now on, everything that an agent did before that time is known.
pub(super) fn learn(known: &mut Known, agent: u32, time: u32) {
    let (known, agent) = (Arc::make_mut(known), agent as usize);
    if known.len() <= agent {
        known.resize(agent + 1, 0);
    }
    known[agent] = known[agent].max(time);
}
