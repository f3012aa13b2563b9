// SPDX-License-Identifier: Apache-2.0

use std::ops::AddAssign;
use std::time::Duration;

/// Where the time of an application went: one after the other, so that they add up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    /// On its own data.
    pub compute: Duration,
    /// Data put where the interface reads them; descriptors and messages.
    pub post: Duration,
    /// For data that were in flight: others' that had not come, own ones that had not been taken.
    /// Where one computes longer than the others, they wait for it here.
    pub network: Duration,
    /// For all others, before data go and after all have gone.
    pub wait: Duration,
}

impl Phases {
    /// All of it.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.compute + self.post + self.network + self.wait
    }
}

impl AddAssign for Phases {
    fn add_assign(&mut self, other: Self) {
        self.compute += other.compute;
        self.post += other.post;
        self.network += other.network;
        self.wait += other.wait;
    }
}

/// Assigns the time since its last lap to a phase.
#[derive(Clone, Debug)]
pub struct PhaseTimer {
    last: Duration,
    phases: Phases,
}

impl PhaseTimer {
    /// A timer that starts at `now`.
    #[must_use]
    pub fn new(now: Duration) -> Self {
        Self { last: now, phases: Phases::default() }
    }

    /// Counts the time since the last lap to `phase`.
    pub fn lap(&mut self, now: Duration, phase: impl FnOnce(&mut Phases) -> &mut Duration) {
        *phase(&mut self.phases) += now.saturating_sub(self.last);
        self.last = now;
    }

    /// The phases up to the last lap.
    #[must_use]
    pub fn phases(&self) -> Phases {
        self.phases
    }
}
