// SPDX-License-Identifier: Apache-2.0
//! The times of a series of transfers, and what a measurement takes from them.

use std::ops::Range;

use isthmus_sim::Picoseconds;

use crate::arrivals::is_saturated;
use crate::error::RoadError;
use crate::measurement::Samples;

/// When each transfer of a series was due, done, and known to be.
#[derive(Debug, Default)]
pub(crate) struct Times {
    /// Intended starts of all transfers, the observed one last.
    pub(crate) due: Vec<Picoseconds>,
    /// When the last line of each transfer was read, or was visible in memory.
    pub(crate) done: Vec<Picoseconds>,
    /// When the end that asked knew that each transfer was done.
    pub(crate) known: Vec<Picoseconds>,
}

fn places(of: &Range<u64>) -> Range<usize> {
    of.start as usize..of.end as usize
}

impl Times {
    /// Of so many transfers, none of which has begun.
    pub(crate) fn new(transfers: usize) -> Self {
        Self {
            due: Vec::with_capacity(transfers),
            done: vec![Picoseconds::ZERO; transfers],
            known: vec![Picoseconds::ZERO; transfers],
        }
    }

    fn spans(&self, of: &Range<u64>) -> impl Iterator<Item = Picoseconds> {
        let of = places(of);
        self.done[of.clone()].iter().zip(&self.due[of]).map(|(done, due)| *done - *due)
    }

    /// Latencies of these transfers.
    pub(crate) fn samples(&self, of: &Range<u64>) -> Result<Samples, RoadError> {
        let mut samples = Samples::new()?;
        self.spans(of).for_each(|span| samples.add(span));
        Ok(samples)
    }

    /// The least of them.
    pub(crate) fn fastest(&self, of: &Range<u64>) -> Picoseconds {
        self.spans(of).min().unwrap_or_default()
    }

    /// Mean time from a transfer's start until the end that asked knew that it was done.
    pub(crate) fn acknowledged_ps(&self, of: &Range<u64>) -> f64 {
        let of = places(of);
        let spans = self.known[of.clone()].iter().zip(&self.due[of.clone()]);
        spans.map(|(known, due)| (*known - *due).0 as f64).sum::<f64>() / of.len().max(1) as f64
    }

    /// Whether these came faster than they were done.
    pub(crate) fn are_saturated(&self, of: &Range<u64>) -> bool {
        let mut ends = self.done.clone();
        ends.sort_unstable();
        is_saturated(&self.due, &ends, places(of))
    }
}
