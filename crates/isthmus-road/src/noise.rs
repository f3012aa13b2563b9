// SPDX-License-Identifier: Apache-2.0
//! Operating-system noise: how late a program runs that should run now.

use std::cell::RefCell;
use std::rc::Rc;

use schemars::JsonSchema;
use serde::Deserialize;

use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::{RandomStream, Sim};

use crate::error::RoadError;
use crate::scenario::within;

/// A histogram of delays, as cyclictest measures one.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoiseHistogram {
    /// The unit of the delays.
    pub unit: NoiseUnit,
    /// Buckets: the highest delay in it, and how many were seen.
    pub buckets: Vec<(f64, u64)>,
}

/// The unit of a histogram's delays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NoiseUnit {
    /// Nanoseconds.
    Ns,
}

impl NoiseHistogram {
    /// Refuses a histogram without delays, or with impossible ones.
    pub(crate) fn check(&self) -> Result<(), RoadError> {
        for (delay, _) in &self.buckets {
            within("noise.buckets", *delay, 0.0, 1e9)?;
        }
        let counts: Option<u64> =
            self.buckets.iter().try_fold(0_u64, |sum, (_, count)| sum.checked_add(*count));
        match counts {
            Some(1..) => Ok(()),
            Some(0) => Err(RoadError::scenario("noise.buckets", "no delay was counted in it")),
            None => Err(RoadError::scenario("noise.buckets", "the counts exceed 64 bits")),
        }
    }
}

/// A source of delays with a histogram's distribution. Each delay is the highest of its bucket. Clones draw
/// from one stream.
#[derive(Debug, Clone)]
pub(crate) struct Noise(Rc<Source>);

#[derive(Debug)]
struct Source {
    /// Delay, and how many were this long or shorter.
    cumulative: Vec<(Picoseconds, u64)>,
    random: RefCell<RandomStream>,
}

impl Noise {
    /// The noise of one host; `random` is its own stream.
    pub(crate) fn new(histogram: &NoiseHistogram, random: RandomStream) -> Self {
        let mut sum = 0_u64;
        let cumulative = histogram.buckets.iter().map(|(delay, count)| {
            sum = sum.saturating_add(*count);
            (Picoseconds::from_ns_f64(*delay), sum)
        });
        Self(Rc::new(Source { cumulative: cumulative.collect(), random: RefCell::new(random) }))
    }

    /// The longest delay that can come.
    pub(crate) fn longest(&self) -> Picoseconds {
        self.0.cumulative.last().map_or(Picoseconds::ZERO, |(delay, _)| *delay)
    }

    /// The next delay.
    pub(crate) fn draw(&self) -> Picoseconds {
        let all = self.0.cumulative.last().map_or(0, |(_, count)| *count);
        let which = self.0.random.borrow_mut().below(all);
        let at = self.0.cumulative.partition_point(|(_, count)| *count <= which);
        self.0.cumulative.get(at).map_or(Picoseconds::ZERO, |(delay, _)| *delay)
    }

    /// Waits for the next delay: a program was woken, and something else runs.
    pub(crate) async fn delay(&self, sim: &Sim) {
        let delay = self.draw();
        if delay > Picoseconds::ZERO {
            sim.sleep(delay).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(buckets: &[(f64, u64)]) -> NoiseHistogram {
        NoiseHistogram { unit: NoiseUnit::Ns, buckets: buckets.to_vec() }
    }

    #[test]
    fn delays_come_as_often_as_they_were_counted() {
        let noise = Noise::new(
            &histogram(&[(0.0, 700), (1_000.0, 0), (2_000.0, 250), (50_000.0, 50)]),
            RandomStream::new(1, "noise"),
        );
        let draws: Vec<u64> = (0..20_000).map(|_| noise.draw().0 / 1_000).collect();
        let share = |ns: u64| draws.iter().filter(|draw| **draw == ns).count() as f64 / 20_000.0;
        for (ns, expected) in [(0, 0.7), (1_000, 0.0), (2_000, 0.25), (50_000, 0.05)] {
            assert!((share(ns) - expected).abs() < 0.02, "{ns}: {}", share(ns));
        }
    }

    #[test]
    fn a_histogram_without_delays_is_refused() {
        let check = |buckets: &[(f64, u64)]| histogram(buckets).check().map_err(|e| e.to_string());
        assert_eq!(check(&[(5.0, 1)]), Ok(()));
        let none = Err("scenario: noise.buckets: no delay was counted in it".to_owned());
        assert_eq!(check(&[]), none);
        assert_eq!(check(&[(5.0, 0)]), none);
        assert!(check(&[(-1.0, 1)]).is_err() && check(&[(f64::INFINITY, 1)]).is_err());
        assert!(check(&[(1.0, u64::MAX), (2.0, 1)]).is_err());
    }
}
