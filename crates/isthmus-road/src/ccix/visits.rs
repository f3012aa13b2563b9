// SPDX-License-Identifier: Apache-2.0
//! The places in memory where transfers begin, one after the other.

use isthmus_sim::kernel::RandomStream;

use super::scenario::{CcixOrder, CcixScenario};

/// Half of the transfers in a skewed order are in the first of so many parts.
const HOT: u64 = 16;

/// Where transfers begin.
pub(super) struct Visits {
    stride: u64,
    places: u64,
    /// In this order; empty: ascending.
    shuffled: Vec<u32>,
    /// Lines from one visit of a place to the next; 0: each visit begins at its first line.
    step: u64,
    /// Instead: where each transfer begins.
    skewed: Vec<u32>,
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
        let mut skewed = Vec::new();
        if order == Some(CcixOrder::Skewed) {
            let mut random = RandomStream::new(scenario.seed, "ccix:order");
            let hot = (places / HOT).max(1);
            let among = |random: &mut RandomStream| match random.below(2) {
                0 => random.below(hot),
                _ => random.below(places),
            };
            skewed = (0..=scenario.series()).map(|_| among(&mut random) as u32).collect();
        }
        let step = if scenario.workload.cache { scenario.lines() } else { 0 };
        Self { stride, places, shuffled, step, skewed }
    }

    /// The first line of transfer number `transfer`: it does not wrap inside the region.
    pub(super) fn first_line(&self, transfer: u64) -> u64 {
        if let Some(place) = self.skewed.get(transfer as usize) {
            return u64::from(*place) * self.stride;
        }
        let (round, place) = (transfer / self.places, transfer % self.places);
        let place = self.shuffled.get(place as usize).map_or(place, |place| u64::from(*place));
        // The first line of a page is read before the first transfer, where pages are.
        let offset = (round + 1) * self.step % self.stride;
        let fits = self.step > 0 && self.stride.is_multiple_of(self.step);
        place * self.stride + if fits { offset } else { 0 }
    }
}
