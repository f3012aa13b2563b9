// SPDX-License-Identifier: Apache-2.0
//! The places in memory where transfers begin, one after the other.

use isthmus_sim::kernel::RandomStream;

use super::scenario::{CcixOrder, CcixScenario};

/// Where transfers begin.
pub(super) struct Visits {
    stride: u64,
    places: u64,
    /// In this order; empty: ascending.
    shuffled: Vec<u32>,
}

impl Visits {
    pub(super) fn new(scenario: &CcixScenario) -> Self {
        let (stride, places) = (scenario.stride(), scenario.places());
        let order = scenario.workload.translation.map(|one| one.order);
        let mut shuffled = Vec::new();
        if order == Some(CcixOrder::Random) {
            let mut random = RandomStream::new(scenario.seed, "ccix:order");
            shuffled = (0..places as u32).collect();
            for place in (1..shuffled.len()).rev() {
                shuffled.swap(place, random.below(place as u64 + 1) as usize);
            }
        }
        Self { stride, places, shuffled }
    }

    /// The first line of transfer number `transfer`: it does not wrap inside the region.
    pub(super) fn first_line(&self, transfer: u64) -> u64 {
        let place = transfer % self.places;
        let place = self.shuffled.get(place as usize).map_or(place, |place| u64::from(*place));
        place * self.stride
    }
}
