// SPDX-License-Identifier: Apache-2.0
//! Batches of events that come evenly, and how long each takes until its rings are there.

use std::hint::spin_loop;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::record::Record;
use crate::times::Distribution;

/// Times of one kind, ns.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Times {
    /// Of so many.
    pub samples: usize,
    /// Mean.
    pub mean: f64,
    /// Median, 99 %, 99.9 %, 99.99 %; none with fewer than ten samples beyond.
    pub percentiles: [Option<u64>; 4],
    /// Longest.
    pub most: u64,
    /// All of them.
    #[serde(flatten)]
    pub distribution: Distribution,
}

impl Times {
    /// Of these times.
    #[must_use]
    pub fn of(mut times: Vec<u64>) -> Self {
        times.sort_unstable();
        let samples = times.len();
        let at = |share: f64| {
            let beyond = samples as f64 * (1.0 - share);
            (beyond >= 9.999).then(|| times[(samples as f64 * share) as usize])
        };
        let mean = times.iter().sum::<u64>() as f64 / samples.max(1) as f64;
        let most = times.last().copied().unwrap_or_default();
        Self {
            samples,
            mean,
            percentiles: [0.5, 0.99, 0.999, 0.9999].map(at),
            most,
            distribution: Distribution::of(times),
        }
    }
}

/// From the time at which a batch is due until `run` has all of it: `batches` batches of `events`, `rate_hz` events
/// a second, on the core that calls. A batch that is due while an earlier one is not done waits, and its wait counts.
pub fn on_a_core(
    events: &[Record],
    batch: usize,
    rate_hz: f64,
    batches: usize,
    mut run: impl FnMut(&[Record]),
) -> Times {
    let groups: Vec<&[Record]> = events.chunks_exact(batch.max(1)).collect();
    if groups.is_empty() {
        return Times::default();
    }
    let start = Instant::now();
    let times = (0..batches).map(|number| {
        let due = Duration::from_secs_f64((number * batch) as f64 / rate_hz);
        while start.elapsed() < due {
            spin_loop();
        }
        run(groups[number % groups.len()]);
        (start.elapsed() - due).as_nanos() as u64
    });
    Times::of(times.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::EMPTY;

    #[test]
    fn a_percentile_needs_ten_samples_beyond_it() {
        let times = Times::of((0..1000).collect());
        assert_eq!(times.percentiles, [Some(500), Some(990), None, None]);
        assert_eq!((times.most, times.mean), (999, 499.5));
        assert_eq!(times.distribution.samples(), 1000);
    }

    #[test]
    fn a_batch_that_waits_for_the_one_before_has_its_wait_in_its_time() {
        let slow = Duration::from_millis(2);
        // Due each millisecond, done each two: the last of 10 waits for 9 others.
        let times = on_a_core(&[EMPTY; 40], 20, 20_000.0, 10, |batch| {
            assert_eq!(batch.len(), 20);
            let start = Instant::now();
            while start.elapsed() < slow {}
        });
        assert_eq!(times.samples, 10);
        assert!(times.most >= 11_000_000, "{times:?}");
        assert!(times.mean >= 6_500_000.0, "{times:?}");
    }

    #[test]
    fn batches_are_not_early() {
        let start = Instant::now();
        on_a_core(&[EMPTY; 4], 4, 4_000.0, 21, |_| ());
        assert!(start.elapsed() >= Duration::from_millis(20));
    }

    #[test]
    fn fewer_events_than_a_batch_give_no_times() {
        assert_eq!(on_a_core(&[EMPTY; 3], 4, 1e6, 5, |_| ()).samples, 0);
    }
}
