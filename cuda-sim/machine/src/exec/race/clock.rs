//! What threads know of what others did.
//!
//! Time is counted in each cluster, in events that order threads: barriers, `.sync` instructions, fences, strong accesses. An access is known
//! to a thread if that one knows of a time after it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::known::{Known, includes, join};

/// The rows of several clusters, by the clusters' numbers.
pub(super) type Rows = Arc<BTreeMap<u32, Known>>;

/// What a thread knows of other clusters, and what it tells them.
#[derive(Debug, Clone, Default)]
pub(super) struct Beyond {
    /// Of other clusters.
    pub(super) others: Rows,
    /// What was known, its own cluster included, when it or one that it knows of went through a fence: what a strong write tells others.
    pub(super) fenced: Rows,
    /// What strong reads were told: known from the next fence on.
    pub(super) told: Rows,
}

/// All that a thread knows.
#[derive(Debug, Clone, Default)]
pub(super) struct Clock {
    /// Of its own cluster.
    pub(super) own: Known,
    /// Nothing where it has dealt with no fence.
    pub(super) beyond: Option<Arc<Beyond>>,
}

impl Clock {
    /// Knows nothing of so many threads.
    pub(super) fn new(threads: usize) -> Self {
        Self {
            own: Arc::new(vec![0; threads]),
            beyond: None,
        }
    }

    /// Whether both are the same without looking closer.
    pub(super) fn is(&self, other: &Self) -> bool {
        let same_beyond = match (&self.beyond, &other.beyond) {
            (None, None) => true,
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (Some(_), None) | (None, Some(_)) => false,
        };
        same_beyond && Arc::ptr_eq(&self.own, &other.own)
    }

    pub(super) fn join(&mut self, other: &Self) {
        join_row(&mut self.own, &other.own);
        match (&mut self.beyond, &other.beyond) {
            (_, None) => {}
            (own @ None, Some(other)) => *own = Some(Arc::clone(other)),
            (Some(own), Some(other)) if Arc::ptr_eq(own, other) => {}
            (Some(own), Some(other)) => {
                let own = Arc::make_mut(own);
                join_rows(&mut own.others, &other.others);
                join_rows(&mut own.fenced, &other.fenced);
                join_rows(&mut own.told, &other.told);
            }
        }
    }

    pub(super) fn beyond_mut(&mut self) -> &mut Beyond {
        Arc::make_mut(self.beyond.get_or_insert_default())
    }
}

pub(super) fn join_row(into: &mut Known, other: &Known) {
    if Arc::ptr_eq(into, other) || includes(into, other) {
        return;
    }
    if other.len() >= into.len() && includes(other, into) {
        *into = Arc::clone(other);
        return;
    }
    join(into, other);
}

pub(super) fn join_rows(into: &mut Rows, other: &Rows) {
    if Arc::ptr_eq(into, other) || other.is_empty() {
        return;
    }
    if into.is_empty() {
        *into = Arc::clone(other);
        return;
    }
    let news = |(cluster, row): &(&u32, &Known)| match into.get(cluster) {
        Some(own) => !Arc::ptr_eq(own, row) && !includes(own, row),
        None => true,
    };
    let news: Vec<(u32, Known)> = other
        .iter()
        .filter(news)
        .map(|(cluster, row)| (*cluster, Arc::clone(row)))
        .collect();
    // What is shared with others is only copied where it changes; and what is the same becomes the same, which is seen at once from then on.
    if news.is_empty() {
        if **into == **other {
            *into = Arc::clone(other);
        }
        return;
    }
    let rows = Arc::make_mut(into);
    for (cluster, row) in news {
        match rows.get_mut(&cluster) {
            Some(own) => join_row(own, &row),
            None => {
                rows.insert(cluster, row);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(entries: &[(u32, [u32; 2])]) -> Rows {
        let row = |&(cluster, times): &(u32, [u32; 2])| (cluster, Arc::new(times.to_vec()));
        Arc::new(entries.iter().map(row).collect())
    }

    #[test]
    fn what_either_side_knew_is_known_afterwards() {
        let mut one = rows(&[(1, [5, 0]), (2, [1, 1])]);
        join_rows(&mut one, &rows(&[(1, [3, 4]), (9, [2, 2])]));
        assert_eq!(one, rows(&[(1, [5, 4]), (2, [1, 1]), (9, [2, 2])]));
    }

    #[test]
    fn what_is_the_same_becomes_one() {
        let (mut one, other) = (rows(&[(1, [5, 5])]), rows(&[(1, [5, 5])]));
        join_rows(&mut one, &other);
        assert!(Arc::ptr_eq(&one, &other));
    }

    #[test]
    fn what_is_known_already_is_not_copied() {
        let mut one = rows(&[(1, [5, 5]), (2, [1, 1])]);
        let shared = Arc::clone(&one);
        join_rows(&mut one, &rows(&[(1, [5, 4])]));
        assert!(Arc::ptr_eq(&one, &shared));
    }
}
