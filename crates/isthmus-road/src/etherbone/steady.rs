// SPDX-License-Identifier: Apache-2.0
//! Which part of a pipelined series is steady.
//!
//! The program checks its series at the end of each round: whenever an eighth of its cycles in
//! flight have ended and it is about to submit the same number of new ones. The window begins at
//! the first such check at which as many cycles have ended as are kept in flight, so that the pipe
//! is full. It ends at a check at which the program still has the next cycles to submit, so that
//! the pipe never drains inside the window. It is steady when its halves have the same rate and the
//! mean of its parts' rates is known well enough. Otherwise a window of twice the length begins
//! where it ended. So a slow start has no influence, and a window covers many periods of a bus or
//! of interrupts.

use isthmus_sim::Picoseconds;

/// Maximum difference of the rates of the halves.
const DRIFT: f64 = 0.01;
/// Half the width of the interval in which the mean rate lies with a probability of 95 %.
const ERROR: f64 = 0.03;
/// Parts of a window.
const PARTS: usize = 8;
/// Student's t for as many parts, 95 %, two-sided.
const STUDENT: f64 = 2.365;
/// Maximum length of a window in cycles, unless more were requested.
pub(super) const MOST: u64 = 1 << 14;

/// A check of the series.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) at: Picoseconds,
    /// Cycles ended so far.
    pub(super) ended: u64,
}

/// The window of a series, while it runs.
#[derive(Debug)]
pub(super) struct Window {
    warm_up: u64,
    least: u64,
    most: u64,
    looks: Vec<Look>,
    steady: bool,
}

impl Window {
    /// Begins when `warm_up` cycles have ended, holds `least` cycles or more; more than `most` only if so
    /// many are the least.
    pub(super) fn new(warm_up: u64, least: u64, most: u64) -> Self {
        Self { warm_up, least: least.max(1), most, looks: Vec::new(), steady: false }
    }

    /// Looks at the series; true when the window is complete.
    pub(super) fn look(&mut self, look: Look) -> bool {
        if look.ended < self.warm_up {
            return false;
        }
        self.looks.push(look);
        let (first, last) = self.edges();
        if self.looks.len() <= PARTS || last.ended - first.ended < self.least {
            return false;
        }
        self.steady = self.judge();
        if self.steady || 2 * self.least > self.most {
            return true;
        }
        self.least *= 2;
        self.looks = vec![look];
        false
    }

    /// Its first and its last look.
    pub(super) fn edges(&self) -> (Look, Look) {
        let first = self.looks.first().copied().unwrap_or_default();
        (first, self.looks.last().copied().unwrap_or(first))
    }

    /// True if its rate was steady.
    pub(super) fn is_steady(&self) -> bool {
        self.steady
    }

    fn judge(&self) -> bool {
        let rounds = self.looks.len() - 1;
        let rate = |from: usize, to: usize| {
            let (from, to) = (self.looks[from], self.looks[to]);
            (to.ended - from.ended) as f64 / (to.at - from.at).0.max(1) as f64
        };
        let parts = (0..PARTS).map(|i| rate(i * rounds / PARTS, (i + 1) * rounds / PARTS));
        let parts: Vec<f64> = parts.collect();
        let mean = parts.iter().sum::<f64>() / PARTS as f64;
        let squares = parts.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>();
        let error = STUDENT * (squares / (PARTS * (PARTS - 1)) as f64).sqrt() / mean;
        let drift = (rate(0, rounds / 2) / rate(rounds / 2, rounds) - 1.0).abs();
        error <= ERROR && drift <= DRIFT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A series of rounds of 10 cycles, each as long as `length` says; where its window lies.
    fn windowed(least: u64, length: impl Fn(u64) -> u64) -> Window {
        let mut window = Window::new(20, least, MOST);
        let mut at = 0;
        for round in 0..10_000 {
            if window.look(Look { at: Picoseconds(at), ended: 10 * round }) {
                return window;
            }
            at += length(round);
        }
        panic!("the window never ends")
    }

    fn per_cycle(window: &Window) -> f64 {
        let (first, last) = window.edges();
        (last.at - first.at).0 as f64 / (last.ended - first.ended) as f64
    }

    #[test]
    fn the_window_begins_when_the_pipe_is_full_and_holds_what_was_asked_for() {
        let window = windowed(70, |_| 1_000);
        let (first, last) = window.edges();
        assert_eq!((first.ended, last.ended), (20, 100));
        assert!(window.is_steady());
    }

    #[test]
    fn a_slow_start_leaves_no_trace() {
        let window = windowed(40, |round| if round < 30 { 5_000 - 100 * round } else { 1_000 });
        assert!(window.is_steady() && window.edges().0.ended >= 300);
        assert_eq!(per_cycle(&window), 100.0);
    }

    #[test]
    fn rounds_that_wait_for_a_period_are_averaged_over_many() {
        // Each seventh round waits for an interrupt.
        let window = windowed(40, |round| if round % 7 == 0 { 4_000 } else { 1_000 });
        let exact = (6.0 * 1_000.0 + 4_000.0) / 70.0;
        assert!(window.is_steady());
        assert!((per_cycle(&window) / exact - 1.0).abs() < 0.01, "{}", per_cycle(&window));
    }

    #[test]
    fn a_rate_that_never_settles_is_said_not_to_be_steady() {
        let window = windowed(40, |round| 1_000 + 10 * round);
        assert!(!window.is_steady());
    }
}
