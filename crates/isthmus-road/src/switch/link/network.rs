// SPDX-License-Identifier: Apache-2.0
//! All that is connected to a switch: an interface for each port, and the cables between, both
//! ways.

use super::end::{EndCounters, WordCounters};
use super::lanes::{Joiner, LaneCounters, LanesConfig, Splitter};
use super::ledger::Ledger;
use super::station::{Delivery, Station, StationConfig};
use super::traffic::{TrafficConfig, invalid};
use isthmus_sim::kernel::{RandomStream, SimError};
use isthmus_sim::world::link::word::{Token, Word};
use isthmus_sim::world::link::{FaultCounters, PortWords};
use isthmus_sim::world::link::{Line, LineFaults};

/// A port whose link loses its signal for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkReset {
    /// Which.
    pub port: usize,
    /// Only one of its lanes.
    pub lane: Option<usize>,
    /// When.
    pub at: u64,
    /// For how many clocks.
    pub clocks: u64,
}

/// A lane of a port that gets longer or shorter, both ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneSlip {
    /// Which port.
    pub port: usize,
    /// Which lane.
    pub lane: usize,
    /// When.
    pub at: u64,
    /// By this many words.
    pub words: i64,
}

/// A sink that takes nothing for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SinkStall {
    /// The port.
    pub port: usize,
    /// From when.
    pub at: u64,
    /// For how many clocks.
    pub clocks: u64,
}

/// Everything outside the switch.
#[derive(Clone, Debug)]
pub struct NetworkConfig {
    /// The traffic.
    pub traffic: TrafficConfig,
    /// The interfaces.
    pub station: StationConfig,
    /// Clocks from pins to pins: both transceivers and the cable.
    pub hop_clocks: u64,
    /// The lanes of each link, both ways.
    pub lanes: LanesConfig,
    /// Random faults on every line.
    pub faults: LineFaults,
    /// Only on this lane.
    pub faulty_lane: Option<usize>,
    /// Links that go down.
    pub resets: Vec<LinkReset>,
    /// Sinks that stop.
    pub stalls: Vec<SinkStall>,
    /// Lanes that slip.
    pub slips: Vec<LaneSlip>,
}

/// One port's side of a link of several lanes.
struct Bundle {
    splitter: Splitter,
    joiner: Joiner,
    mixed: u64,
}

/// Stations and cables around a switch.
///
/// A switch reads its pins at a clock's edge and drives them from it on; so does every station.
pub struct Network {
    stations: Vec<Station>,
    /// Lane by lane, port by port; so are the next two.
    lanes: usize,
    /// One a port, for links of several lanes.
    bundles: Vec<Bundle>,
    arrived: Vec<Option<Word>>,
    sent: Vec<Word>,
    /// A slip is over after this many clocks.
    slip_clocks: u64,
    to_switch: Vec<Line>,
    from_switch: Vec<Line>,
    ledger: Ledger,
    deliveries: Vec<Delivery>,
    /// In the order of time, the next one last.
    resets: Vec<LinkReset>,
    stalls: Vec<SinkStall>,
    slips: Vec<LaneSlip>,
    now: u64,
    ended: bool,
}

impl Network {
    /// A network at clock 0, all links down.
    ///
    /// # Errors
    /// When the traffic or a fault makes no sense.
    pub fn new(config: &NetworkConfig) -> Result<Self, SimError> {
        let ports = config.traffic.ports;
        let wrong = |reason: String| Err(invalid("network", reason));
        for rate in [
            config.faults.bit_error_rate,
            config.faults.credit_loss_rate,
            config.faults.credit_corrupt_rate,
        ] {
            if !(0.0..=1.0).contains(&rate) {
                return wrong(format!("a rate of {rate} is not a probability: 0 to 1 expected"));
            }
        }
        let ports_hit = config.resets.iter().map(|r| r.port);
        let ports_hit = ports_hit.chain(config.slips.iter().map(|s| s.port));
        if let Some(port) = ports_hit.chain(config.stalls.iter().map(|s| s.port)).max()
            && port >= ports
        {
            return wrong(format!("a fault at port {port} of {ports}"));
        }
        if !(2..=10_000).contains(&config.hop_clocks) {
            return wrong(format!("{} clocks a hop: 2 to 10^4 expected", config.hop_clocks));
        }
        let lanes = &config.lanes;
        if !(1..=8).contains(&lanes.lanes) || lanes.skew.len() != lanes.lanes {
            return wrong(format!("{} lanes, {} skews", lanes.lanes, lanes.skew.len()));
        }
        let lanes_hit = config.resets.iter().filter_map(|r| r.lane).chain(config.faulty_lane);
        if let Some(lane) = lanes_hit.chain(config.slips.iter().map(|s| s.lane)).max()
            && lane >= lanes.lanes
        {
            return wrong(format!("a fault at lane {lane} of {}", lanes.lanes));
        }
        let sources = config.traffic.sources()?.into_iter().enumerate();
        let watched = !config.resets.is_empty() || !config.slips.is_empty();
        let line = |name: &str, place: usize, length: u64| {
            let (port, lane) = (place / lanes.lanes, place % lanes.lanes);
            let stream = match lane {
                0 => format!("fault:{name}:{port}"),
                _ => format!("fault:{name}:{port}:{lane}"),
            };
            let random = RandomStream::new(config.traffic.seed, &stream);
            let struck = config.faulty_lane.is_none_or(|only| only == lane);
            let faults = if struck { config.faults } else { LineFaults::default() };
            Line::new((length + lanes.skew[lane]) as usize, faults, watched, lane, random)
        };
        let places = 0..ports * lanes.lanes;
        let mut resets = config.resets.clone();
        resets.sort_by_key(|reset| std::cmp::Reverse(reset.at));
        let mut stalls = config.stalls.clone();
        stalls.sort_by_key(|stall| std::cmp::Reverse(stall.at));
        let mut slips = config.slips.clone();
        slips.sort_by_key(|slip| std::cmp::Reverse(slip.at));
        let bundle =
            |_| Bundle { splitter: Splitter::new(lanes), joiner: Joiner::new(lanes), mixed: 0 };
        Ok(Self {
            stations: sources
                .map(|(port, source)| Station::new(port, ports, source, &config.station))
                .collect(),
            // A word that a station sends at one clock is valid at the switch's pins `hop` clocks
            // later; the other way a word has been valid at the switch's pins for one clock when it
            // is read.
            to_switch: places.clone().map(|p| line("up", p, config.hop_clocks)).collect(),
            from_switch: places.map(|p| line("down", p, config.hop_clocks - 1)).collect(),
            lanes: lanes.lanes,
            bundles: if lanes.lanes > 1 { (0..ports).map(bundle).collect() } else { Vec::new() },
            arrived: vec![None; lanes.lanes],
            sent: vec![Word::IDLE; lanes.lanes],
            // Found at the second mark, aligned with the one behind it, each a long packet late.
            slip_clocks: 4 * (lanes.align_words + u64::from(config.station.end.max_words) + 64),
            ledger: Ledger::new(ports),
            deliveries: Vec::new(),
            resets,
            stalls,
            slips,
            now: 0,
            ended: false,
        })
    }

    /// Clocks so far.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.now
    }

    fn step_lanes(&mut self, now: u64, from: &[Word], to: &mut [Option<Word>]) {
        for (port, (station, bundle)) in self.stations.iter_mut().zip(&mut self.bundles).enumerate()
        {
            let places = port * self.lanes..(port + 1) * self.lanes;
            for (arrived, place) in self.arrived.iter_mut().zip(places.clone()) {
                *arrived = self.from_switch[place].pass(from[place], now, &mut self.ledger);
            }
            let word = bundle.joiner.join(&self.arrived);
            let mixed = bundle.joiner.counters().mixed;
            if mixed > std::mem::replace(&mut bundle.mixed, mixed) {
                self.ledger.wrong(|| {
                    format!("at port {port} a packet's lanes disagree, each with its check")
                });
            }
            station.receive(word, now, &mut self.ledger, &mut self.deliveries);
            let word = if bundle.splitter.is_due() && station.end().is_between_packets() {
                Word::of(Token::Align)
            } else {
                station.transmit(now)
            };
            bundle.splitter.split(word, &mut self.sent);
            for (sent, place) in self.sent.iter().zip(places) {
                to[place] = self.to_switch[place].pass(*sent, now, &mut self.ledger);
            }
        }
    }

    #[cold]
    fn strike(&mut self, now: u64) {
        while let Some(reset) = self.resets.pop_if(|reset| reset.at <= now) {
            self.ledger.faults.resets += 1;
            self.ledger.allow(reset.port);
            for lane in reset.lane.map_or(0..self.lanes, |lane| lane..lane + 1) {
                let place = reset.port * self.lanes + lane;
                self.to_switch[place].cut(now, reset.clocks, &mut self.ledger);
                self.from_switch[place].cut(now, reset.clocks, &mut self.ledger);
            }
            if self.lanes > 1 {
                // One lane affects all others: the words in flight on them until both ends have
                // noticed.
                for lane in 0..self.lanes {
                    let place = reset.port * self.lanes + lane;
                    let until = now + reset.clocks + self.slip_clocks;
                    self.to_switch[place].slip(now, 0, until, &mut self.ledger);
                    self.from_switch[place].slip(now, 0, until, &mut self.ledger);
                }
            }
        }
        while let Some(slip) = self.slips.pop_if(|slip| slip.at <= now) {
            self.ledger.faults.slips += 1;
            let (place, until) = (slip.port * self.lanes + slip.lane, now + self.slip_clocks);
            self.to_switch[place].slip(now, slip.words, until, &mut self.ledger);
            self.from_switch[place].slip(now, slip.words, until, &mut self.ledger);
        }
        while let Some(stall) = self.stalls.pop_if(|stall| stall.at <= now) {
            self.ledger.faults.stalls += 1;
            self.stations[stall.port].stall_until(now + stall.clocks);
        }
    }

    /// Packets that arrived since the last call, in the order in which they ended.
    pub fn take_deliveries(&mut self) -> std::vec::Drain<'_, Delivery> {
        self.deliveries.drain(..)
    }

    /// Sources make no more packets.
    pub fn stop(&mut self) {
        self.stations.iter_mut().for_each(Station::stop);
    }

    /// True if no source has anything left to send.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.stations.iter().all(Station::is_empty)
    }

    /// The account of all packets.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Closes the ledger, once: packets that have not arrived by now are missing.
    pub fn close(&mut self) {
        if !std::mem::replace(&mut self.ended, true) {
            let overruns: u64 = self.stations.iter().map(Station::overruns).sum();
            if overruns > 0 && self.ledger.faults == FaultCounters::default() {
                self.ledger.wrong(|| format!("{overruns} words arrived without credit"));
            }
            self.ledger.close();
        }
    }

    /// Data words that wait at the sources.
    #[must_use]
    pub fn waiting_words(&self) -> u64 {
        self.stations.iter().map(Station::waiting_words).sum()
    }

    /// Errors at the stations' ends, summed.
    #[must_use]
    pub fn end_counters(&self) -> EndCounters {
        self.stations.iter().fold(EndCounters::default(), |sum, station| {
            let one = station.end().counters();
            EndCounters {
                crc_bad: sum.crc_bad + one.crc_bad,
                poisoned: sum.poisoned + one.poisoned,
                invalid: sum.invalid + one.invalid,
                cut: sum.cut + one.cut,
                credit_bad: sum.credit_bad + one.credit_bad,
                dropped: sum.dropped + one.dropped,
                starts: sum.starts + one.starts,
            }
        })
    }

    /// Lane errors at the stations' ends, summed.
    #[must_use]
    pub fn lane_counters(&self) -> LaneCounters {
        self.bundles.iter().fold(LaneCounters::default(), |sum, bundle| {
            let one = bundle.joiner.counters();
            LaneCounters {
                lost: sum.lost + one.lost,
                late: sum.late + one.late,
                mixed: sum.mixed + one.mixed,
            }
        })
    }

    /// Output of the switch, summed over its ports, while the links were up.
    #[must_use]
    pub fn words_heard(&self) -> WordCounters {
        self.stations.iter().fold(WordCounters::default(), |sum, station| {
            let one = station.end().heard();
            WordCounters {
                data: sum.data + one.data,
                framing: sum.framing + one.framing,
                credit: sum.credit + one.credit,
                idle: sum.idle + one.idle,
            }
        })
    }

    /// True if every link is up.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.stations.iter().all(|station| station.end().is_up())
    }

    /// Words that came without credit for them.
    #[must_use]
    pub fn overruns(&self) -> u64 {
        self.stations.iter().map(Station::overruns).sum()
    }
}

impl PortWords for Network {
    fn ports(&self) -> usize {
        self.stations.len()
    }

    fn lanes(&self) -> usize {
        self.lanes
    }

    #[inline]
    fn step(&mut self, from: &[Word], to: &mut [Option<Word>]) {
        let now = self.now;
        if self.resets.last().is_some_and(|reset| reset.at <= now)
            || self.stalls.last().is_some_and(|stall| stall.at <= now)
            || self.slips.last().is_some_and(|slip| slip.at <= now)
        {
            self.strike(now);
        }
        self.now += 1;
        if self.lanes > 1 {
            return self.step_lanes(now, from, to);
        }
        let lines = self.to_switch.iter_mut().zip(&mut self.from_switch);
        let pins = from.iter().zip(to.iter_mut());
        for ((station, (up, down)), (from, to)) in self.stations.iter_mut().zip(lines).zip(pins) {
            let arrived = down.pass(*from, now, &mut self.ledger);
            station.receive(arrived, now, &mut self.ledger, &mut self.deliveries);
            *to = up.pass(station.transmit(now), now, &mut self.ledger);
        }
    }
}
