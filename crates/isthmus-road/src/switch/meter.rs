// SPDX-License-Identifier: Apache-2.0
//! Decides when a run is steady and which packets count, and computes their figures.
//!
//! Packets arrive in blocks of a twentieth of those to be measured. A run is steady when the mean
//! delay of two blocks is within 5 % of that of the two before. From then on all packets made in a
//! window count. The sources continue until all of them have arrived. So both ends are excluded.
//!
//! A trace has neither warm-up nor end: each of its packets counts, and the window lasts from the making of
//! the first to the last word of the last.

use super::link::Delivery;
use super::link::end::WordCounters;
use isthmus_sim::Picoseconds;

use crate::error::RoadError;
use crate::measurement::Samples;

const BLOCKS: u64 = 20;
const BLOCK_LEAST: u64 = 100;
const STEADY: f64 = 0.05;
/// Growth of the backlog over the window, as a share of the packets made in it, above which a point
/// is saturated.
const SATURATED: f64 = 0.02;
const SATURATED_WORDS_A_PORT: u64 = 500;

/// The network's present state.
#[derive(Clone, Copy, Default)]
pub(super) struct Snapshot {
    pub(super) now: u64,
    pub(super) created: u64,
    pub(super) created_words: u64,
    pub(super) waiting_words: u64,
    /// Packets that will never arrive well.
    pub(super) gone: u64,
    /// Output of the switch.
    pub(super) heard: WordCounters,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    WarmUp,
    Window,
    Tail,
    Done,
}

pub(super) struct MeterConfig {
    pub(super) ports: usize,
    /// Flows that must carry something, by source and then output.
    pub(super) expected: Vec<bool>,
    pub(super) packets: u64,
    /// Clocks in which the sources create this many.
    pub(super) window_clocks: u64,
    /// From a packet's making to its being counted as made.
    pub(super) transmit_clocks: u64,
    pub(super) hop_clocks: u64,
    pub(super) clock_ps: f64,
    /// Every packet counts: a trace. `begin` and `end` are set from outside.
    pub(super) whole: bool,
}

/// The mean of something.
#[derive(Clone, Copy, Default)]
pub(super) struct Mean {
    sum: f64,
    count: u64,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1;
    }

    pub(super) fn value(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}

pub(super) struct Meter {
    config: MeterConfig,
    phase: Phase,
    block: Mean,
    blocks: Vec<f64>,
    pub(super) warm_up_packets: u64,
    pub(super) steady: bool,
    pub(super) begin: Snapshot,
    pub(super) end: Snapshot,
    pub(super) after: u64,
    pub(super) samples: Samples,
    pub(super) source: Mean,
    pub(super) switch: Mean,
    /// Data words and packets delivered in the window, and data words of each flow.
    pub(super) words: u64,
    pub(super) delivered: u64,
    pub(super) flows: Vec<u64>,
    pub(super) fastest: Option<Delivery>,
    /// The switch's own time stamps minus the times at its pins: least and most.
    pub(super) stamps: Option<(i64, i64)>,
}

impl Meter {
    pub(super) fn new(config: MeterConfig) -> Result<Self, RoadError> {
        Ok(Self {
            phase: if config.whole { Phase::Window } else { Phase::WarmUp },
            block: Mean::default(),
            blocks: Vec::new(),
            warm_up_packets: 0,
            steady: false,
            begin: Snapshot::default(),
            end: Snapshot::default(),
            after: 0,
            samples: Samples::new()?,
            source: Mean::default(),
            switch: Mean::default(),
            words: 0,
            delivered: 0,
            flows: vec![0; config.ports * config.ports],
            fastest: None,
            stamps: None,
            config,
        })
    }

    fn block_packets(&self) -> u64 {
        (self.config.packets / BLOCKS).max(BLOCK_LEAST)
    }

    /// A packet arrived; it was made before the clock `now`, and not 2^32 clocks before.
    pub(super) fn deliver(&mut self, delivery: &Delivery, now: u64) {
        let delay = delivery.arrived.wrapping_sub(delivery.created);
        match self.phase {
            Phase::WarmUp => {
                self.warm_up_packets += 1;
                self.block.add(f64::from(delay));
                if self.block.count == self.block_packets() {
                    self.blocks.extend(self.block.value());
                    self.block = Mean::default();
                }
                return;
            }
            Phase::Window => {
                self.words += u64::from(delivery.words);
                self.delivered += 1;
                let key = delivery.key;
                let flow =
                    usize::from(key.source) * self.config.ports + usize::from(key.destination);
                self.flows[flow] += u64::from(delivery.words);
            }
            Phase::Tail | Phase::Done => {}
        }
        // Packets count clocks modulo 2^32.
        let age = (now as u32).wrapping_sub(delivery.created);
        let made = now.saturating_sub(u64::from(age)) + self.config.transmit_clocks;
        let until = if self.phase == Phase::Window { u64::MAX } else { self.end.now };
        if !self.config.whole && (made < self.begin.now || made >= until) {
            self.after += u64::from(made >= until);
            return;
        }
        self.samples.add(Picoseconds((f64::from(delay) * self.config.clock_ps).round() as u64));
        self.source.add(f64::from(delivery.left.wrapping_sub(delivery.created)));
        let pins = delivery.arrived.wrapping_sub(delivery.left);
        let switch = i64::from(pins) - 2 * self.config.hop_clocks as i64;
        self.switch.add(switch as f64);
        let off = stamps_off(delivery, self.config.hop_clocks);
        let (least, most) = self.stamps.unwrap_or((off, off));
        self.stamps = Some((least.min(off), most.max(off)));
        let best = self.fastest.map(|fastest| fastest.arrived.wrapping_sub(fastest.created));
        if best.is_none_or(|best| delay < best) {
            self.fastest = Some(*delivery);
        }
    }

    /// Now and then; true when there is nothing more to wait for.
    pub(super) fn poll(&mut self, now: Snapshot) -> bool {
        match self.phase {
            Phase::Window if self.config.whole => false,
            Phase::WarmUp => {
                if let [.., a, b, c, d] = self.blocks[..] {
                    self.steady = ((c + d) / (a + b) - 1.0).abs() < STEADY;
                }
                let enough = self.blocks.len() as u64 >= BLOCKS;
                if self.steady || enough {
                    self.begin = now;
                    self.phase = Phase::Window;
                }
                false
            }
            Phase::Window => {
                if now.now >= self.begin.now.saturating_add(self.config.window_clocks) {
                    self.end = now;
                    self.phase = Phase::Tail;
                }
                false
            }
            Phase::Tail => {
                let made = self.end.created.saturating_sub(self.begin.created);
                let gone = now.gone.saturating_sub(self.begin.gone);
                let timeout = self.config.window_clocks.max(100_000);
                let over = self.samples.count() + gone >= made
                    || now.now >= self.end.now.saturating_add(timeout)
                    || self.saturated();
                if over {
                    self.phase = Phase::Done;
                }
                over
            }
            Phase::Done => true,
        }
    }

    /// The first packet of a trace is made now.
    pub(super) fn begin(&mut self, now: Snapshot) {
        self.begin = now;
        self.end = now;
    }

    /// The last packet of a trace has arrived by now.
    pub(super) fn finish(&mut self, now: Snapshot) {
        self.end = now;
        self.phase = Phase::Done;
    }

    /// Its present phase, for messages.
    pub(super) fn phase(&self) -> &'static str {
        match self.phase {
            Phase::WarmUp => "warm-up",
            Phase::Window => "measured window",
            Phase::Tail => "tail of the window",
            Phase::Done => "drain",
        }
    }

    /// More comes than goes. Never so of a trace, and not before the window is over.
    pub(super) fn saturated(&self) -> bool {
        if self.config.whole {
            return false;
        }
        let grown = self.end.waiting_words.saturating_sub(self.begin.waiting_words);
        let made = self.end.created_words.saturating_sub(self.begin.created_words);
        grown > SATURATED_WORDS_A_PORT * self.config.ports as u64
            && grown as f64 > SATURATED * made as f64
    }

    /// Clocks of the window; none where it has not ended.
    pub(super) fn clocks(&self) -> u64 {
        self.end.now.saturating_sub(self.begin.now)
    }

    /// The words that came out of the switch in the window.
    pub(super) fn heard(&self) -> WordCounters {
        let (from, to) = (self.begin.heard, self.end.heard);
        WordCounters {
            data: to.data.saturating_sub(from.data),
            framing: to.framing.saturating_sub(from.framing),
            credit: to.credit.saturating_sub(from.credit),
            idle: to.idle.saturating_sub(from.idle),
        }
    }

    /// The least and the most words of a flow, and Jain's index, over the flows that there should be: one
    /// that starves counts.
    pub(super) fn fairness(&self) -> Option<(u64, u64, f64)> {
        let flows = self.flows.iter().zip(&self.config.expected);
        let shares: Vec<u64> =
            flows.filter(|(words, expected)| **words > 0 || **expected).map(|(w, _)| *w).collect();
        let (least, most) = (*shares.iter().min()?, *shares.iter().max()?);
        let sum: f64 = shares.iter().map(|words| *words as f64).sum();
        let squares: f64 = shares.iter().map(|words| (*words as f64).powi(2)).sum();
        (most > 0).then(|| (least, most, sum * sum / (shares.len() as f64 * squares)))
    }
}

/// Clocks in the switch by its own time stamps, less those that its pins show.
pub(super) fn stamps_off(delivery: &Delivery, hop_clocks: u64) -> i64 {
    let stamped = i64::from(delivery.departed.wrapping_sub(delivery.entered));
    let pins = i64::from(delivery.arrived.wrapping_sub(delivery.left));
    stamped - (pins - 2 * hop_clocks as i64)
}

#[cfg(test)]
mod tests {
    use isthmus_sim::world::link::Key;

    use super::*;

    /// A packet each 10 clocks, each 50 clocks in flight; the source begins at clock `start`.
    /// Samples, and packets made before and after the window.
    fn metered(start: u64) -> (u64, u64, u64, u64) {
        let mut meter = Meter::new(MeterConfig {
            ports: 1,
            expected: vec![true],
            packets: 2_000,
            window_clocks: 20_000,
            transmit_clocks: 4,
            hop_clocks: 10,
            clock_ps: 1_000.0,
            whole: false,
        })
        .unwrap();
        let mut created = 0_u64;
        for step in 1.. {
            let now = start + 256 * step;
            while start + 10 * created + 50 <= now {
                let at = (start + 10 * created) as u32;
                let delivery = Delivery {
                    key: Key { source: 0, destination: 0, sequence: created as u32 },
                    words: 8,
                    created: at,
                    left: at.wrapping_add(4),
                    entered: 0,
                    departed: 0,
                    arrived: at.wrapping_add(50),
                };
                meter.deliver(&delivery, now);
                created += 1;
            }
            let made = (256 * step - 4) / 10 + 1;
            let snapshot = Snapshot { now, created: made, ..Snapshot::default() };
            if meter.poll(snapshot) {
                break;
            }
            assert!(step < 10_000, "it never ends");
        }
        (meter.samples.count(), meter.warm_up_packets, meter.after, meter.clocks())
    }

    #[test]
    fn a_window_across_clock_2_to_the_32_counts_the_packets_that_were_made_in_it() {
        let plain = metered(0);
        assert!((1_999..=2_100).contains(&plain.0) && plain.2 > 0, "{plain:?}");
        for before in [5_000, 15_000, 25_000] {
            assert_eq!(metered((1 << 32) - before), plain, "{before} clocks before the wrap");
        }
        assert_eq!(metered(5 << 32), plain, "far behind it");
    }
}
