// SPDX-License-Identifier: Apache-2.0
//! A series of transfers and one more behind it that is observed alone: which are measured, when each begins, which of
//! its writes are not yet visible, and its times.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::RandomStream;

use crate::arrivals::{Starts, is_saturated};
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

/// Excluded transfers at either end of a series with random arrivals.
const RANDOM_EDGE: u64 = 16;

/// Which transfers are measured, of how many without the observed one.
#[derive(Clone, Debug)]
pub(crate) struct Extent {
    pub(crate) counted: Range<u64>,
    pub(crate) series: u64,
}

impl Extent {
    /// At either end as many more as are in flight at once.
    pub(crate) fn new(
        iterations: u64,
        warmup: u64,
        window: Option<u32>,
        rate_per_s: Option<f64>,
    ) -> Self {
        let edge = match (window, rate_per_s) {
            (_, Some(_)) => RANDOM_EDGE,
            (Some(1) | None, None) => 0,
            (Some(window), None) => u64::from(window),
        };
        let head = warmup + edge;
        let end = head + iterations;
        Self { counted: head..end, series: end + edge }
    }
}

/// When transfers begin: so many in flight, or at times of their own.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    starts: Option<Starts>,
    next: Option<Picoseconds>,
    window: u64,
    series: u64,
    /// Transfers below this number may begin.
    limit: u64,
    begun: u64,
}

impl Pace {
    /// Of a series that begins now.
    pub(crate) fn new(
        window: Option<u32>,
        rate_per_s: Option<f64>,
        series: u64,
        random: RandomStream,
        now: Picoseconds,
    ) -> Self {
        let mut starts = rate_per_s.map(|rate| Starts::new(rate, random, now));
        let next = starts.as_mut().and_then(Iterator::next);
        let window = u64::from(window.unwrap_or(1));
        Self { starts, next, window, series, limit: series, begun: 0 }
    }

    /// The series is over, and the observed transfer follows.
    pub(crate) fn observe(&mut self) {
        self.limit += 1;
    }

    /// How many may begin, and how many have.
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    pub(crate) fn begun(&self) -> u64 {
        self.begun
    }

    /// Begins the next transfer, if it may begin at `time` and all but `ended` are in flight: its number, and when it
    /// was due.
    pub(crate) fn begin(&mut self, time: Picoseconds, ended: u64) -> Option<(u64, Picoseconds)> {
        if self.begun == self.limit {
            return None;
        }
        let observed = self.begun == self.series;
        let due = match self.next.filter(|_| !observed) {
            Some(start) if start > time => return None,
            Some(start) => {
                self.next = self.starts.as_mut().and_then(Iterator::next);
                start
            }
            None if self.begun - ended < self.window => time,
            None => return None,
        };
        self.begun += 1;
        Some((self.begun - 1, due))
    }
}

/// Writes to lines that are not yet visible.
#[derive(Debug, Default)]
pub(crate) struct Stores {
    /// By line, in order, the transfers; and whether it is of a transfer's last part.
    waiting: BTreeMap<u64, VecDeque<(u64, bool)>>,
    /// Lines of each transfer's last part.
    unseen: BTreeMap<u64, u64>,
    visible: u64,
}

impl Stores {
    /// A transfer writes these lines. `last`: with them it ends.
    pub(crate) fn expect(&mut self, transfer: u64, lines: Range<u64>, last: bool) {
        if last {
            self.unseen.insert(transfer, lines.end - lines.start);
        }
        for line in lines {
            self.waiting.entry(line).or_default().push_back((transfer, last));
        }
    }

    /// It does not write them.
    pub(crate) fn forget(&mut self, transfer: u64, lines: Range<u64>) {
        self.unseen.remove(&transfer);
        for line in lines {
            if let Some(waiting) = self.waiting.get_mut(&line) {
                waiting.retain(|(other, _)| *other != transfer);
            }
        }
    }

    /// A write to a line became visible: a transfer may be done by then. `false`: none has written it.
    pub(crate) fn seen(&mut self, line: u64, at: Picoseconds, times: &mut Times) -> bool {
        let waiting = self.waiting.get_mut(&line).and_then(VecDeque::pop_front);
        let Some((transfer, last)) = waiting else { return false };
        if last {
            let done = &mut times.done[transfer as usize];
            *done = (*done).max(at);
            if let Some(left) = self.unseen.get_mut(&transfer) {
                *left -= 1;
                if *left == 0 {
                    self.unseen.remove(&transfer);
                    self.visible += 1;
                }
            }
        }
        true
    }

    /// Transfers of which all is visible.
    pub(crate) fn visible(&self) -> u64 {
        self.visible
    }

    /// Writes that are not.
    pub(crate) fn missing(&self) -> usize {
        self.waiting.values().map(VecDeque::len).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(ns: u64) -> Picoseconds {
        Picoseconds::from_ns(ns)
    }

    fn pace(window: Option<u32>, rate: Option<f64>, series: u64) -> Pace {
        Pace::new(window, rate, series, RandomStream::new(1, "test"), at(5))
    }

    #[test]
    fn what_is_in_flight_at_either_end_is_not_measured() {
        let extent = |window, rate| {
            let made = Extent::new(10, 2, window, rate);
            (made.counted, made.series)
        };
        assert_eq!(extent(None, None), (2..12, 12));
        assert_eq!(extent(Some(1), None), (2..12, 12));
        assert_eq!(extent(Some(4), None), (6..16, 20));
        assert_eq!(extent(None, Some(1e5)), (18..28, 44));
    }

    #[test]
    fn a_window_is_never_exceeded_and_the_observed_one_waits() {
        let mut pace = pace(Some(2), None, 3);
        assert_eq!(pace.begin(at(7), 0), Some((0, at(7))));
        assert_eq!(pace.begin(at(8), 0), Some((1, at(8))));
        assert_eq!(pace.begin(at(9), 0), None);
        assert_eq!(pace.begin(at(9), 1), Some((2, at(9))));
        assert_eq!(pace.begin(at(10), 3), None);
        pace.observe();
        assert_eq!(pace.begin(at(11), 3), Some((3, at(11))));
        assert_eq!((pace.begun(), pace.limit()), (4, 4));
    }

    #[test]
    fn arrivals_of_a_rate_are_due_at_their_own_times_however_many_are_in_flight() {
        let mut pace = pace(None, Some(1e6), 3);
        assert_eq!(pace.begin(at(5), 0), None);
        let due: Vec<_> = (0..3).map_while(|_| pace.begin(at(1_000_000), 0)).collect();
        assert_eq!(due.len(), 3);
        assert!(due.iter().all(|(_, due)| (at(5)..at(1_000_000)).contains(due)));
        assert!(due.is_sorted());
        pace.observe();
        assert_eq!(pace.begin(at(2_000_000), 2), None);
        assert_eq!(pace.begin(at(2_000_000), 3), Some((3, at(2_000_000))));
    }

    #[test]
    fn a_transfer_is_visible_when_the_last_line_of_its_last_part_is() {
        let mut times = Times::new(2);
        let mut stores = Stores::default();
        stores.expect(0, 4..6, false);
        stores.expect(0, 9..11, true);
        stores.expect(1, 9..10, true);
        assert!(stores.seen(4, at(1), &mut times) && stores.seen(10, at(9), &mut times));
        assert_eq!((stores.visible(), stores.missing(), times.done[0]), (0, 3, at(9)));
        assert!(stores.seen(9, at(3), &mut times));
        assert_eq!((stores.visible(), times.done[0]), (1, at(9)));
        assert!(!stores.seen(10, at(9), &mut times));
        stores.forget(1, 9..10);
        assert!(!stores.seen(9, at(12), &mut times));
        assert_eq!((stores.visible(), stores.missing()), (1, 1));
    }
}
