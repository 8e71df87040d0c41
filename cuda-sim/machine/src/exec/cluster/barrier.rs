//! The barrier of a cluster: `barrier.cluster.arrive` and `barrier.cluster.wait`.

/// Counts the threads of a cluster. Which lanes have arrived, each warp knows of its own.
#[derive(Debug, Default)]
pub(crate) struct ClusterBarrier {
    /// Threads that have arrived and not ended.
    arrived: u32,
    /// Threads that have not ended.
    live: u32,
    ended: u32,
    complete: bool,
    /// Whether the launch before has ended for a thread that has arrived, and for one of those for which the barrier opened last.
    waited: bool,
    last_waited: bool,
}

impl ClusterBarrier {
    pub(crate) fn new(threads: u32) -> Self {
        Self {
            live: threads,
            ..Self::default()
        }
    }

    /// Threads arrive that had not, and hand on that the launch before has ended if it has for one of them; says whether they were the last.
    pub(crate) fn arrive(&mut self, threads: u32, waited: bool) -> bool {
        self.arrived += threads;
        self.waited |= waited;
        self.check()
    }

    /// Threads end, of which so many had arrived: an ended thread need not be waited for. Says whether it was all that was missing.
    pub(crate) fn leave(&mut self, threads: u32, arrived: u32) -> bool {
        self.live -= threads;
        self.ended += threads;
        self.arrived -= arrived.min(self.arrived);
        self.check()
    }

    fn check(&mut self) -> bool {
        let complete = self.arrived > 0 && self.arrived >= self.live;
        if complete {
            self.arrived = 0;
            self.complete = true;
            self.last_waited = std::mem::take(&mut self.waited);
        }
        complete
    }

    /// Whether the barrier has opened since the last question.
    pub(crate) fn take_complete(&mut self) -> bool {
        std::mem::take(&mut self.complete)
    }

    /// Whether the launch before had ended for one of the threads for which the barrier opened last.
    pub(crate) fn last_waited(&self) -> bool {
        self.last_waited
    }

    /// A sentence about what the barrier still waits for.
    pub(crate) fn missing(&self) -> String {
        let ended = match self.ended {
            0 => String::new(),
            ended => format!("; {ended} threads of the cluster have ended"),
        };
        format!(
            "the cluster's barrier, at which {} of {} threads have arrived{ended}",
            self.arrived, self.live
        )
    }
}
