// SPDX-License-Identifier: Apache-2.0
//! How requests come: a closed loop with a window, or an open rate.

use std::fmt;

use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::RandomStream;

use crate::error::RoadError;
use crate::scenario::within;

/// The least growth of a backlog that counts as one.
const LEAST_BACKLOG: u64 = 16;
/// The backlog may grow by one for this many requests.
const BACKLOG_SHARE: u64 = 25;

/// A gap of more than so many mean ones does not come: its chance is below 1e-17.
const LONGEST_GAP: f64 = 40.0;

/// The name of a source's random numbers. It is no road's: with one seed and one rate all have the same arrivals.
pub(crate) fn stream_of(source: usize) -> String {
    format!("arrivals:{source}")
}

/// The random numbers of a lone source's arrivals.
pub(crate) fn stream(seed: u64) -> RandomStream {
    RandomStream::new(seed, &stream_of(0))
}

/// An arrival process.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Arrivals {
    /// So many requests in flight: the next is due when one of them has ended.
    Window(u32),
    /// So many requests a second on the mean, each at a time that depends on no other (Poisson).
    Rate(f64),
}

impl Arrivals {
    /// From a scenario's two keys in `group`: one of them, or none for a window of 1.
    pub(crate) fn of(
        group: &str,
        window: Option<u32>,
        rate_per_s: Option<f64>,
    ) -> Result<Self, RoadError> {
        match (window, rate_per_s) {
            (Some(_), Some(_)) => {
                let reason = "a window and a rate exclude each other: expected one of the two";
                Err(RoadError::scenario(format!("{group}.rate_per_s"), reason))
            }
            (window, None) => {
                let window = window.unwrap_or(1);
                within(&format!("{group}.window"), f64::from(window), 1.0, 4_096.0)?;
                Ok(Self::Window(window))
            }
            (None, Some(rate)) => {
                within(&format!("{group}.rate_per_s"), rate, 1.0, 1e9)?;
                Ok(Self::Rate(rate))
            }
        }
    }

    /// The window, where there is one.
    pub(crate) fn window(self) -> Option<u32> {
        match self {
            Self::Window(window) => Some(window),
            Self::Rate(_) => None,
        }
    }

    /// The rate, where there is one.
    pub(crate) fn rate_per_s(self) -> Option<f64> {
        match self {
            Self::Window(_) => None,
            Self::Rate(rate) => Some(rate),
        }
    }

    /// The longest time between two arrivals at a rate; with a window none, since the next one waits for an end.
    pub(crate) fn longest_gap(self) -> Picoseconds {
        self.rate_per_s()
            .map_or(Picoseconds::ZERO, |rate| Picoseconds::from_ns_f64(LONGEST_GAP * 1e9 / rate))
    }

    /// The end of a measurement's name: `w4`, `r100000`.
    pub(crate) fn suffix(self) -> String {
        match self {
            Self::Window(window) => format!("w{window}"),
            Self::Rate(rate) => format!("r{rate}"),
        }
    }
}

impl fmt::Display for Arrivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Window(window) => write!(f, "window:{window}"),
            Self::Rate(rate) => write!(f, "poisson:{rate}/s"),
        }
    }
}

/// The intended starts of an open arrival process, without end. Starts lie at whole nanoseconds, as
/// programs can wait for them.
#[derive(Debug)]
pub(crate) struct Starts {
    mean_ns: f64,
    random: RandomStream,
    at_ns: f64,
}

impl Starts {
    /// Those of a rate, from a time on.
    pub(crate) fn new(rate_per_s: f64, random: RandomStream, from: Picoseconds) -> Self {
        Self { mean_ns: 1e9 / rate_per_s, random, at_ns: from.0 as f64 / 1e3 }
    }
}

impl Iterator for Starts {
    type Item = Picoseconds;

    fn next(&mut self) -> Option<Picoseconds> {
        self.at_ns += self.random.exponential(self.mean_ns);
        Some(Picoseconds(self.at_ns.ceil() as u64 * 1_000))
    }
}

/// True if requests arrive faster than they are served: over `measured` the backlog (requests due
/// and not ended) grew by more than that of a stable queue. `due` and `ended` are in order.
pub(crate) fn is_saturated(
    due: &[Picoseconds],
    ended: &[Picoseconds],
    measured: std::ops::Range<usize>,
) -> bool {
    let backlog = |request: usize| {
        let at = due.get(request).copied().unwrap_or_default();
        let done = ended.partition_point(|end| *end <= at);
        (request + 1).saturating_sub(done) as u64
    };
    let (Some(last), count) = (measured.end.checked_sub(1), measured.len() as u64) else {
        return false;
    };
    let growth = backlog(last).saturating_sub(backlog(measured.start));
    growth > LEAST_BACKLOG.max(count / BACKLOG_SHARE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_window_and_rate() {
        let of = |window, rate| Arrivals::of("workload", window, rate).map_err(|e| e.to_string());
        assert_eq!(of(None, None), Ok(Arrivals::Window(1)));
        assert_eq!(of(Some(4), None).map(Arrivals::suffix), Ok("w4".to_owned()));
        assert_eq!(of(None, Some(1e5)).map(|a| a.to_string()), Ok("poisson:100000/s".to_owned()));
        let both = "scenario: workload.rate_per_s: a window and a rate exclude each other: \
                    expected one of the two";
        assert_eq!(of(Some(4), Some(1e5)), Err(both.to_owned()));
        let zero = "scenario: workload.window: 0 is outside 1 to 4096";
        assert_eq!(of(Some(0), None), Err(zero.to_owned()));
        assert!(of(None, Some(f64::NAN)).is_err() && of(None, Some(0.5)).is_err());
    }

    #[test]
    fn starts_have_the_rate_and_the_spread_of_a_poisson_process() {
        let random = RandomStream::new(3, "arrivals");
        let starts: Vec<Picoseconds> =
            Starts::new(1e6, random, Picoseconds::from_us(5)).take(20_001).collect();
        assert!(starts.is_sorted() && starts[0] > Picoseconds::from_us(5));
        let longest = Arrivals::Rate(1e6).longest_gap();
        assert_eq!(longest, Picoseconds::from_us(40));
        assert!(starts.windows(2).all(|pair| pair[1] - pair[0] < longest));
        assert_eq!(Arrivals::Window(4).longest_gap(), Picoseconds::ZERO);
        let gaps: Vec<f64> = starts.windows(2).map(|pair| (pair[1] - pair[0]).0 as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        assert!((mean / 1e6 - 1.0).abs() < 0.03, "{mean}");
        let squares = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>();
        let deviation = (squares / gaps.len() as f64).sqrt();
        assert!((deviation / mean - 1.0).abs() < 0.05, "{deviation}");
    }

    #[test]
    fn a_backlog_that_grows_is_saturation_and_one_that_is_long_is_not() {
        let at = |ns: u64| Picoseconds::from_ns(ns);
        let due: Vec<_> = (0..1_000).map(|i| at(100 * i)).collect();
        // Each is served in 110 ns, one after the other.
        let slow: Vec<_> = (0..1_000).map(|i| at(110 * (i + 1))).collect();
        assert!(is_saturated(&due, &slow, 100..1_000));
        // Each takes 10 us, many at a time.
        let late: Vec<_> = (0..1_000).map(|i| at(100 * i + 10_000)).collect();
        assert!(!is_saturated(&due, &late, 200..1_000));
    }
}
