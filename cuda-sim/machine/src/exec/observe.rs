//! What the checks are told of a warp's accesses before they are executed.

use crate::Lanes;
use crate::code::{Instr, Touch};
use crate::exec::cluster::SharedView;
use crate::exec::env::Env;
use crate::exec::fresh;
use crate::exec::race::{self, Observed};
use crate::exec::scope::Scope;
use crate::exec::spaces::Space;

impl Env<'_> {
    /// What is to be judged of an access when it has been executed; nothing where races are not looked for.
    pub(crate) fn observe(
        &mut self,
        i: &Instr,
        scope: &Scope,
        space: Space,
        touch: Touch,
        lanes: &Lanes<'_>,
    ) -> Option<Observed> {
        fresh::observe(self, scope.site(i), space, touch, lanes);
        let memory = self.memory(lanes.mask);
        let race = self.common.race.as_mut()?;
        let shared = SharedView {
            own: self.shared,
            peers: &self.peers,
        };
        let accesses = race::Lanes {
            block: self.block,
            warp: self.warp,
            mask: lanes.mask,
            space,
            addresses: lanes.addresses,
        };
        Some(race.observe(i, touch, scope, self.shape, (&shared, memory), &accesses))
    }
}
