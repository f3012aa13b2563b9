// SPDX-License-Identifier: Apache-2.0
//! Traffic: when a source makes a packet, how long it is, where it goes. Seeded, one stream a source.

use isthmus_sim::kernel::{RandomStream, SimError};

/// Words around a packet's data on the line: its begin and its end.
pub const FRAMING_WORDS: u16 = 2;
/// Data words that a packet needs for its own header and time stamps.
pub const HEADER_WORDS: u16 = 6;

/// A packet to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The clock at which it is made.
    pub created: u64,
    /// The output port it goes to.
    pub destination: u8,
    /// Its data words.
    pub words: u16,
}

/// When packets are made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrivals {
    /// As a line would bring them: after each packet its own length, then a geometric gap.
    Paced,
    /// Independent of each other: exponential gaps from packet to packet.
    Poisson,
    /// Bursts back to back to one destination, geometric in packets, geometric gaps between them.
    Bursty {
        /// Packets of a burst, in the mean.
        packets: f64,
    },
    /// So many packets wait at each source, always: for saturation.
    Backlog {
        /// How many.
        packets: u32,
    },
}

/// Where packets go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pattern {
    /// Each output equally often.
    Uniform,
    /// Source `i` to output `i + 1`, modulo the ports.
    Permutation,
    /// This share of all packets to output 0, the others uniform.
    Hotspot(f64),
    /// This share of source `i`'s packets to output `i`, the others uniform.
    Unbalanced(f64),
    /// One source alone, 0, to the last output.
    Single,
}

/// All of a run's traffic.
#[derive(Clone, Debug)]
pub struct TrafficConfig {
    /// Sources, and outputs.
    pub ports: usize,
    /// The share of a line's words that each source's packets take, framing included: 0 to 1.
    pub load: f64,
    /// When.
    pub arrivals: Arrivals,
    /// Its destination.
    pub pattern: Pattern,
    /// Data words of a packet: uniform from the first to the second.
    pub words: (u16, u16),
    /// Words around each on the line.
    pub framing: u16,
    /// Sources begin at this clock; a trace's clocks count from it.
    pub start: u64,
    /// The seed.
    pub seed: u64,
    /// Packets given one by one instead, for each source in the order of time.
    pub trace: Option<Vec<Vec<Packet>>>,
}

impl TrafficConfig {
    /// The mean length of a packet on the line, in words.
    #[must_use]
    pub fn mean_line_words(&self) -> f64 {
        (f64::from(self.words.0) + f64::from(self.words.1)) / 2.0 + f64::from(self.framing)
    }

    /// One source a port.
    ///
    /// # Errors
    /// When a number is out of range.
    pub fn sources(&self) -> Result<Vec<Source>, SimError> {
        self.check()?;
        Ok((0..self.ports).map(|port| Source::new(self, port)).collect())
    }

    fn check(&self) -> Result<(), SimError> {
        let wrong = |reason: String| Err(invalid("traffic", reason));
        let (low, high) = self.words;
        if low < HEADER_WORDS || high < low {
            return wrong(format!("packets of {low} to {high} words: {HEADER_WORDS} at least"));
        }
        if !(1..=64).contains(&self.ports) {
            return wrong(format!("{} ports: 1 to 64 expected", self.ports));
        }
        if !(self.load > 0.0 && self.load <= 1.0) {
            return wrong(format!("load {}: above 0, to 1", self.load));
        }
        match (self.pattern, self.arrivals) {
            (Pattern::Hotspot(share) | Pattern::Unbalanced(share), _)
                if !(0.0..=1.0).contains(&share) =>
            {
                wrong(format!("a share of {share} of the packets: 0 to 1 expected"))
            }
            (_, Arrivals::Bursty { packets }) if !(1.0..=1e6).contains(&packets) => {
                wrong(format!("bursts of {packets} packets: 1 to 10^6 expected"))
            }
            (_, Arrivals::Backlog { packets: 0 }) => wrong("a backlog of no packet".to_owned()),
            _ => Ok(()),
        }
    }
}

/// The packets of one source, in the order of time.
pub struct Source {
    port: usize,
    config: TrafficConfig,
    random: RandomStream,
    /// When the next packet may be made, to fractions of a clock.
    clock: f64,
    /// Packets left of the burst in progress, and where it goes.
    burst: u64,
    destination: u8,
    trace: Option<std::vec::IntoIter<Packet>>,
}

impl Source {
    fn new(config: &TrafficConfig, port: usize) -> Self {
        let trace = config.trace.as_ref().map(|all| {
            let own = all.get(port).map_or(&[][..], Vec::as_slice).iter();
            let shifted = own.map(|p| Packet { created: p.created + config.start, ..*p });
            shifted.collect::<Vec<_>>().into_iter()
        });
        let mut source = Self {
            port,
            random: RandomStream::new(config.seed, &format!("traffic:{port}")),
            clock: 0.0,
            burst: 0,
            destination: 0,
            trace,
            config: TrafficConfig { trace: None, ..config.clone() },
        };
        // Sources do not begin in step.
        let first = source.random.unit() * config.mean_line_words() / config.load;
        source.clock = config.start as f64 + first;
        source
    }

    /// Number of packets that always wait at this source; `None` if packets are made at given
    /// times.
    #[must_use]
    pub fn backlog(&self) -> Option<u32> {
        match self.config.arrivals {
            Arrivals::Backlog { packets } if self.trace.is_none() => Some(packets),
            _ => None,
        }
    }

    /// The next packet; `None` where no more will come. Of a backlog: one made now.
    pub fn next(&mut self, now: u64) -> Option<Packet> {
        if let Some(trace) = &mut self.trace {
            return trace.next();
        }
        if self.config.pattern == Pattern::Single && self.port != 0 {
            return None;
        }
        let (low, high) = self.config.words;
        let words = low + self.random.below(u64::from(high - low) + 1) as u16;
        let line = f64::from(words + self.config.framing);
        // Gaps for each packet, in the mean, at this load.
        let idle = self.config.mean_line_words() * (1.0 / self.config.load - 1.0);
        if self.burst == 0 {
            self.destination = self.draw_destination();
            self.burst = 1;
            if let Arrivals::Bursty { packets } = self.config.arrivals {
                self.burst += self.random.failures_before_success(1.0 / packets);
            }
        }
        self.burst -= 1;
        let created = match self.config.arrivals {
            Arrivals::Backlog { .. } => now,
            _ => self.clock as u64,
        };
        self.clock += match self.config.arrivals {
            Arrivals::Paced => line + self.geometric(idle),
            Arrivals::Poisson => {
                self.random.exponential(self.config.mean_line_words() / self.config.load)
            }
            Arrivals::Bursty { .. } if self.burst > 0 => line,
            Arrivals::Bursty { packets } => line + self.geometric(idle * packets),
            Arrivals::Backlog { .. } => 0.0,
        };
        Some(Packet { created, destination: self.destination, words })
    }

    fn geometric(&mut self, mean: f64) -> f64 {
        self.random.failures_before_success(1.0 / (1.0 + mean)) as f64
    }

    fn draw_destination(&mut self) -> u8 {
        let ports = self.config.ports;
        let uniform = |random: &mut RandomStream| random.below(ports as u64) as usize;
        let chosen = match self.config.pattern {
            Pattern::Uniform => uniform(&mut self.random),
            Pattern::Permutation => (self.port + 1) % ports,
            Pattern::Hotspot(share) if self.random.chance(share) => 0,
            Pattern::Unbalanced(share) if self.random.chance(share) => self.port,
            Pattern::Hotspot(_) | Pattern::Unbalanced(_) => uniform(&mut self.random),
            Pattern::Single => ports - 1,
        };
        chosen as u8
    }
}

pub(super) fn invalid(model: &str, reason: String) -> SimError {
    SimError::Config { model: model.to_owned(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(ports: usize, load: f64, arrivals: Arrivals) -> TrafficConfig {
        let pattern = Pattern::Uniform;
        let (words, framing, start, seed) = ((16, 128), 0, 0, 7);
        TrafficConfig { ports, load, arrivals, pattern, words, framing, start, seed, trace: None }
    }

    fn packets(config: &TrafficConfig, source: usize, count: usize) -> Vec<Packet> {
        let mut source = config.sources().unwrap().swap_remove(source);
        (0..count).map_while(|_| source.next(0)).collect()
    }

    /// The mean wait in one queue that serves a word a clock.
    fn wait(packets: &[Packet]) -> f64 {
        let (mut free, mut total) = (0, 0);
        for packet in packets {
            let begin = packet.created.max(free);
            total += begin - packet.created;
            free = begin + u64::from(packet.words);
        }
        total as f64 / packets.len() as f64
    }

    #[test]
    fn poisson_packets_wait_as_long_as_pollaczek_and_khinchine_say() {
        // rho E[L^2] / (2 E[L] (1 - rho)), lengths uniform in 16..=128.
        let (mean, square) = (16..=128)
            .map(f64::from)
            .fold((0.0, 0.0), |(m, s), l| (m + l / 113.0, s + l * l / 113.0));
        for load in [0.3, 0.5, 0.8] {
            let found = wait(&packets(&config(1, load, Arrivals::Poisson), 0, 400_000));
            let expected = load * square / (2.0 * mean * (1.0 - load));
            assert!((found / expected - 1.0).abs() < 0.05, "{load}: {found}, not {expected}");
        }
    }

    #[test]
    fn every_process_offers_its_load() {
        for arrivals in [Arrivals::Paced, Arrivals::Poisson, Arrivals::Bursty { packets: 8.0 }] {
            for load in [0.1, 0.5, 0.95] {
                let made = packets(&config(4, load, arrivals), 2, 100_000);
                let words: u64 = made.iter().map(|p| u64::from(p.words)).sum();
                let found = words as f64 / made.last().unwrap().created as f64;
                assert!((found / load - 1.0).abs() < 0.02, "{arrivals:?} {load}: {found}");
            }
        }
    }

    #[test]
    fn paced_packets_never_come_faster_than_their_line() {
        for arrivals in [Arrivals::Paced, Arrivals::Bursty { packets: 4.0 }] {
            let made = packets(&config(4, 0.9, arrivals), 1, 10_000);
            assert!(made.windows(2).all(|p| p[1].created >= p[0].created + u64::from(p[0].words)));
        }
    }

    #[test]
    fn patterns_send_where_they_say() {
        let counts = |pattern, source| {
            let config = TrafficConfig { pattern, ..config(4, 0.5, Arrivals::Paced) };
            let mut counts = [0_u32; 4];
            packets(&config, source, 40_000)
                .iter()
                .for_each(|p| counts[usize::from(p.destination)] += 1);
            counts
        };
        assert!(counts(Pattern::Uniform, 0).iter().all(|n| (9_500..10_500).contains(n)));
        assert_eq!(counts(Pattern::Permutation, 3), [40_000, 0, 0, 0]);
        assert!((24_000..26_000).contains(&counts(Pattern::Hotspot(0.5), 2)[0]));
        assert!((24_000..26_000).contains(&counts(Pattern::Unbalanced(0.5), 2)[2]));
        assert_eq!(counts(Pattern::Single, 0), [0, 0, 0, 40_000]);
        assert_eq!(counts(Pattern::Single, 1), [0; 4]);
    }

    #[test]
    fn one_seed_gives_one_traffic() {
        let config = config(8, 0.7, Arrivals::Bursty { packets: 3.0 });
        assert_eq!(packets(&config, 5, 1_000), packets(&config, 5, 1_000));
        let other = TrafficConfig { seed: 8, ..config.clone() };
        assert_ne!(packets(&config, 5, 1_000), packets(&other, 5, 1_000));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for wrong in [
            TrafficConfig { load: 1.1, ..config(4, 0.5, Arrivals::Paced) },
            TrafficConfig { words: (5, 9), ..config(4, 0.5, Arrivals::Paced) },
            TrafficConfig { pattern: Pattern::Unbalanced(2.0), ..config(4, 0.5, Arrivals::Paced) },
            config(4, 0.5, Arrivals::Bursty { packets: 0.5 }),
            config(65, 0.5, Arrivals::Paced),
        ] {
            assert!(wrong.sources().is_err(), "{wrong:?}");
        }
    }
}
