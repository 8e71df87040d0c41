//! Which launches are not known to be complete, for the error that reports a kernel's fault.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// How many launches of a stream are remembered.
const REMEMBERED: usize = 16;
/// How many streams that are gone are remembered, if launches on them may be running.
const GONE: usize = 64;
/// How many names of kernels there may be before those that nobody needs are sought.
const FEW_NAMES: usize = 64;

/// A launch that was not known to be complete when a kernel's fault was reported.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct LaunchInFlight {
    /// The kernel, by its name in the image.
    pub kernel: Arc<str>,
    /// A number that tells its stream from others; it is part of the stream's `Debug`.
    pub stream: u64,
}

/// The last launches of one stream.
///
/// Threads that launch at the same moment may overwrite each other's entry: this is for messages only.
pub(crate) struct RecentLaunches {
    stream: u64,
    /// The numbers of the kernels' names; the entry after the latest is the oldest.
    kernels: [AtomicU32; REMEMBERED],
    /// How many there were.
    count: AtomicUsize,
    /// How many of these are known to be complete.
    complete: AtomicUsize,
}

impl RecentLaunches {
    fn new(stream: u64) -> Self {
        Self {
            stream,
            kernels: [const { AtomicU32::new(0) }; REMEMBERED],
            count: AtomicUsize::new(0),
            complete: AtomicUsize::new(0),
        }
    }

    /// Notes a launch of the kernel of that number.
    #[inline(always)]
    pub(crate) fn note(&self, kernel: u32) {
        let count = self.count.load(Ordering::Relaxed);
        self.count.store(count.wrapping_add(1), Ordering::Relaxed);
        if let Some(entry) = self.kernels.get(count % REMEMBERED) {
            entry.store(kernel, Ordering::Relaxed);
        }
    }

    /// What is complete once the stream has done what it has now.
    pub(crate) fn mark(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// Notes that the launches before a [mark](Self::mark) are complete.
    pub(crate) fn complete(&self, mark: usize) {
        self.complete.fetch_max(mark, Ordering::Relaxed);
    }

    /// The numbers of the kernels that may be running, the latest last.
    fn in_flight(&self) -> impl Iterator<Item = u32> + '_ {
        let count = self.mark();
        let complete = self.complete.load(Ordering::Relaxed);
        let first = complete.max(count.saturating_sub(REMEMBERED)).min(count);
        let entries = (first..count).filter_map(|index| self.kernels.get(index % REMEMBERED));
        entries.map(|kernel| kernel.load(Ordering::Relaxed))
    }
}

/// The names of a context's kernels, which outlive them while launches of them may be running, and the last launches of its streams.
#[derive(Default)]
pub(crate) struct LaunchLog {
    /// Locked before `streams` where both are.
    names: Mutex<Names>,
    streams: Mutex<Vec<Arc<RecentLaunches>>>,
    /// What was in flight when a fault was found.
    at_fault: OnceLock<Arc<[LaunchInFlight]>>,
}

/// Names by number, and numbers by name.
///
/// # Invariants
/// Both have the same names, and no number stands for two names one after the other.
#[derive(Default)]
struct Names {
    numbers: HashMap<Arc<str>, u32>,
    names: HashMap<u32, Arc<str>>,
    /// The number of the next new name.
    next: u32,
    /// With more names than this, some may be needed no more.
    limit: usize,
}

impl Names {
    /// Whether a function has the name, or an error: both maps have it too.
    fn is_used(name: &Arc<str>) -> bool {
        Arc::strong_count(name) > 2
    }

    /// Forgets the names of functions that are gone and not in flight.
    fn forget(&mut self, streams: &[Arc<RecentLaunches>]) {
        let in_flight = streams.iter().flat_map(|stream| stream.in_flight());
        let in_flight: HashSet<u32> = in_flight.collect();
        let numbers = &mut self.numbers;
        self.names.retain(|number, name| {
            let stays = Self::is_used(name) || in_flight.contains(number);
            if !stays {
                numbers.remove(name);
            }
            stays
        });
        self.limit = (2 * self.names.len()).max(FEW_NAMES);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What they hold is consistent between any two steps.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl LaunchLog {
    /// The number of a kernel's name, which it keeps as long as the returned name is kept.
    pub(crate) fn number(&self, name: &str) -> (Arc<str>, u32) {
        let names = &mut *lock(&self.names);
        if let Some((name, number)) = names.numbers.get_key_value(name) {
            return (Arc::clone(name), *number);
        }
        if names.names.len() >= names.limit {
            names.forget(&lock(&self.streams));
        }
        let name: Arc<str> = name.into();
        let number = names.next;
        // When all numbers have been used, further names share one that stands for none.
        if number != u32::MAX {
            names.next += 1;
            names.names.insert(number, Arc::clone(&name));
            names.numbers.insert(Arc::clone(&name), number);
        }
        (name, number)
    }

    /// Room for the launches of a new stream.
    pub(crate) fn stream(&self, number: u64) -> Arc<RecentLaunches> {
        let stream = Arc::new(RecentLaunches::new(number));
        let mut streams = lock(&self.streams);
        streams.retain(|stream| is_live(stream) || stream.in_flight().next().is_some());
        if let Some(gone) = streams.iter().position(|stream| !is_live(stream))
            && streams.len() > GONE
        {
            streams.remove(gone);
        }
        streams.push(Arc::clone(&stream));
        stream
    }

    /// What is complete once everything in the context is.
    pub(crate) fn mark(&self) -> Vec<(Arc<RecentLaunches>, usize)> {
        let streams = lock(&self.streams);
        let marks = streams.iter().map(|it| (Arc::clone(it), it.mark()));
        marks.collect()
    }

    /// The launches that may have been running when the first fault was found.
    #[cold]
    pub(crate) fn at_fault(&self) -> Arc<[LaunchInFlight]> {
        let find = || {
            let names = lock(&self.names);
            let streams = lock(&self.streams);
            let launches = streams.iter().flat_map(|stream| {
                stream.in_flight().filter_map(|kernel| {
                    let kernel = names.names.get(&kernel)?;
                    Some(LaunchInFlight {
                        kernel: Arc::clone(kernel),
                        stream: stream.stream,
                    })
                })
            });
            launches.collect()
        };
        Arc::clone(self.at_fault.get_or_init(find))
    }
}

/// Whether the stream still exists.
fn is_live(stream: &Arc<RecentLaunches>) -> bool {
    Arc::strong_count(stream) > 1
}

/// Writes launches by stream, repeated ones with their number.
pub(crate) fn write_launches(
    f: &mut fmt::Formatter<'_>,
    launches: &[LaunchInFlight],
) -> fmt::Result {
    f.write_str("\nlaunches that were not known to be complete, the latest last: ")?;
    for (index, stream) in launches.chunk_by(|a, b| a.stream == b.stream).enumerate() {
        let number = stream.first().map_or(0, |launch| launch.stream);
        write!(
            f,
            "{}on stream {number} ",
            if index > 0 { "; " } else { "" }
        )?;
        let kernels = stream.chunk_by(|a, b| a.kernel == b.kernel);
        for (index, launches) in kernels.enumerate() {
            let kernel = launches.first().map_or("", |launch| &launch.kernel);
            write!(f, "{}`{kernel}`", if index > 0 { ", " } else { "" })?;
            if launches.len() > 1 {
                write!(f, " × {}", launches.len())?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{FEW_NAMES, GONE, LaunchLog, REMEMBERED, lock};

    fn names(log: &LaunchLog) -> Vec<(String, u64)> {
        let all = log.at_fault();
        all.iter()
            .map(|it| (it.kernel.to_string(), it.stream))
            .collect()
    }

    #[test]
    fn what_is_complete_is_forgotten_and_the_rest_named_in_order() {
        let log = LaunchLog::default();
        let (a, b) = (log.number("a").1, log.number("b").1);
        assert_eq!((log.number("a").1, log.number("b").1), (a, b));
        let (one, two) = (log.stream(1), log.stream(2));
        one.note(a);
        let mark = one.mark();
        one.note(b);
        one.complete(mark);
        two.note(a);
        drop(two);
        let expected = [("b", 1), ("a", 2)].map(|(name, stream)| (name.to_owned(), stream));
        assert_eq!(names(&log), expected);
        // What comes later is not what was there at the fault.
        one.note(a);
        assert_eq!(names(&log), expected);
    }

    #[test]
    fn only_the_latest_are_remembered() {
        let log = LaunchLog::default();
        let stream = log.stream(1);
        for number in 0..REMEMBERED + 3 {
            stream.note(log.number(&number.to_string()).1);
        }
        let all = names(&log);
        assert_eq!(all.len(), REMEMBERED);
        assert_eq!(
            (all[0].0.as_str(), all[REMEMBERED - 1].0.as_str()),
            ("3", "18")
        );
    }

    #[test]
    fn streams_that_are_gone_are_bounded() {
        let log = LaunchLog::default();
        let kernel = log.number("a").1;
        let live = log.stream(0);
        for number in 1..500 {
            log.stream(number).note(kernel);
        }
        for _ in 0..500 {
            drop(log.stream(1000));
        }
        assert!(log.mark().len() <= GONE + 2);
        live.note(kernel);
        assert!(names(&log).contains(&("a".to_owned(), 0)));
    }

    #[test]
    fn names_are_bounded_and_those_in_use_or_in_flight_stay() {
        let log = LaunchLog::default();
        let stream = log.stream(1);
        let (used, number) = log.number("used");
        stream.note(log.number("running").1);
        for other in 0..10_000 {
            drop(log.number(&other.to_string()));
        }
        {
            let all = lock(&log.names);
            assert!(all.names.len() <= FEW_NAMES);
            assert_eq!(all.numbers.len(), all.names.len());
        }
        stream.note(number);
        let (again, same) = log.number("used");
        assert!(same == number && Arc::ptr_eq(&again, &used));
        let expected =
            [("running", 1), ("used", 1)].map(|(name, stream)| (name.to_owned(), stream));
        assert_eq!(names(&log), expected);
    }

    #[test]
    fn a_number_never_stands_for_another_name() {
        let log = LaunchLog::default();
        let stream = log.stream(1);
        let gone = log.number("gone").1;
        let mark = stream.mark();
        stream.complete(mark);
        for other in 0..1000 {
            assert_ne!(log.number(&other.to_string()).1, gone);
        }
        stream.note(gone);
        assert_eq!(names(&log), []);
    }
}
