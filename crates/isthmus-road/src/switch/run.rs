// SPDX-License-Identifier: Apache-2.0
//! One run: traffic through the switch, chunk by chunk, until its window is full and all sent
//! packets have arrived.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use isthmus_sim::world::link::PortWords;
use isthmus_sim::{Picoseconds, SimError};

use super::gateware::{Gateware, Model};
use super::ideal::Ideal;
use super::link::traffic::{FRAMING_WORDS, HEADER_WORDS};
use super::link::{Delivery, Network};
use super::meter::{Meter, MeterConfig, Snapshot, stamps_off};
use super::motion::{Motion, STUCK_CLOCKS};
use super::scenario::{ArrivalsName, PatternName, SwitchScenario};
use crate::error::RoadError;
use crate::measurement::{Checked, Measurement};
use crate::watch::{Step, WATCH_PERIOD, Watch};

/// Clocks between two checks of the arrivals.
pub(super) const CHUNK: u64 = 256;
/// Timeout in clocks for links that have never been up.
const UP_CLOCKS: u64 = 1 << 16;

pub(super) struct Run<'a> {
    pub(super) scenario: &'a SwitchScenario,
    watch: Watch,
    pub(super) meter: Meter,
    pub(super) begin: Instant,
    watched: Instant,
    pub(super) clock_ps: f64,
    /// A sum over all packets that arrived, independent of their order.
    checksum: u64,
    /// Packets whose time stamps are not those of their pins.
    stamps_altered: u64,
}

impl<'a> Run<'a> {
    pub(super) fn new(scenario: &'a SwitchScenario, watch: &Watch) -> Result<Self, RoadError> {
        let traffic = scenario.traffic();
        let sources = match scenario.workload.pattern {
            PatternName::Single => 1,
            _ => scenario.device.ports,
        };
        let load = match scenario.workload.arrivals {
            ArrivalsName::Backlog(_) => 1.0,
            _ => scenario.workload.load,
        };
        let words = scenario.workload.packets as f64 * traffic.mean_line_words();
        let clock_ps = 1e6 / scenario.platform.clock_mhz;
        let meter = Meter::new(MeterConfig {
            ports: scenario.device.ports,
            expected: scenario.expected_flows(),
            packets: scenario.workload.packets,
            window_clocks: (words / load / sources as f64).ceil() as u64,
            transmit_clocks: scenario.platform.transmit_words,
            hop_clocks: scenario.hop_clocks(),
            clock_ps,
            whole: scenario.is_trace(),
        })?;
        let now = Instant::now();
        let watch = Rc::clone(watch);
        Ok(Self {
            scenario,
            watch,
            meter,
            begin: now,
            watched: now,
            clock_ps,
            checksum: 0,
            stamps_altered: 0,
        })
    }

    /// Once a chunk: is a progress report due, or the time limit reached?
    fn look(&mut self, now: u64) -> Result<(), RoadError> {
        if self.watched.elapsed() < WATCH_PERIOD {
            return Ok(());
        }
        self.watched = Instant::now();
        let at = self.at(now);
        let limit = Duration::from_secs(self.scenario.limits.wall_s);
        if self.begin.elapsed() > limit {
            return Err(SimError::WallTimeLimit { limit, at }.into());
        }
        let step = Step {
            total: 1,
            transfers: self.meter.samples.count(),
            transfers_total: self.scenario.packets(),
            now: at,
            device_cycles: now,
            ..Step::default()
        };
        if self.watch.borrow_mut()(step).is_break() {
            return Err(SimError::Interrupted { at }.into());
        }
        Ok(())
    }

    pub(super) fn at(&self, clocks: u64) -> Picoseconds {
        Picoseconds((clocks as f64 * self.clock_ps) as u64)
    }

    fn arrived(&mut self, delivery: &Delivery, now: u64) {
        let off = stamps_off(delivery, self.scenario.hop_clocks());
        self.stamps_altered += u64::from(self.scenario.bench() && off != 0);
        self.meter.deliver(delivery, now);
        let key = delivery.key;
        let name = u64::from(key.source) << 56
            | u64::from(key.destination) << 48
            | u64::from(delivery.words) << 32
            | u64::from(key.sequence);
        let mixed = (name ^ name >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        self.checksum = self.checksum.wrapping_add(mixed ^ mixed >> 32);
    }

    pub(super) fn ideal(mut self) -> Result<Measurement, RoadError> {
        let (platform, device) = (&self.scenario.platform, &self.scenario.device);
        let transmit = platform.transmit_words;
        let unloaded = transmit + 2 * self.scenario.hop_clocks() + device.latency_clocks;
        let mut switch = Ideal::new(&self.scenario.traffic(), transmit, unloaded)?;
        let mut snapshot = Snapshot::default();
        if self.scenario.is_trace() {
            return self.ideal_trace(&mut switch);
        }
        loop {
            let due = |now: u64, switch: &Ideal| {
                switch.next_created().is_some_and(|created| created + transmit < now)
            };
            snapshot.now += CHUNK;
            while due(snapshot.now, &switch) {
                let Some(delivery) = switch.step() else { break };
                snapshot.created += 1;
                snapshot.created_words += u64::from(delivery.words);
                self.arrived(&delivery, snapshot.now);
            }
            let nothing_left = switch.next_created().is_none();
            if self.meter.poll(snapshot) || (nothing_left && snapshot.now > STUCK_CLOCKS) {
                break;
            }
            self.look(snapshot.now)?;
        }
        self.measurement(snapshot.now, &BTreeMap::new(), Checked::default(), 0)
    }

    /// Every packet of a trace, one after the other.
    fn ideal_trace(mut self, switch: &mut Ideal) -> Result<Measurement, RoadError> {
        let framing = u64::from(self.scenario.traffic().framing);
        let mut now = self.scenario.first_created();
        self.meter.begin(Snapshot { now, ..Snapshot::default() });
        while let Some(delivery) = switch.step() {
            now = now.max(u64::from(delivery.arrived) + u64::from(delivery.words) + framing);
            self.arrived(&delivery, now);
            self.look(now)?;
        }
        self.meter.finish(Snapshot { now, ..Snapshot::default() });
        self.measurement(now, &BTreeMap::new(), Checked::default(), 0)
    }

    pub(super) fn network(
        mut self,
        gateware: impl FnOnce(&Rc<RefCell<Network>>) -> Result<Option<Gateware>, RoadError>,
    ) -> Result<Measurement, RoadError> {
        let network = Rc::new(RefCell::new(Network::new(&self.scenario.network())?));
        let gateware = gateware(&network)?;
        let mut model = Model::new(self.scenario);
        let mut advance = |clocks: u64| -> Result<(), RoadError> {
            match &gateware {
                Some(gateware) => Ok(gateware.simulation.run_for(gateware.period * clocks)?),
                None => {
                    let mut network = network.borrow_mut();
                    (0..clocks).for_each(|_| model.step(&mut network));
                    Ok(())
                }
            }
        };
        let (timeout, mut up) = (self.scenario.start_clock() + UP_CLOCKS, false);
        let (whole, first) = (self.scenario.is_trace(), self.scenario.first_created());
        let mut motion = Motion::new(self.scenario);
        loop {
            let chunk = self.chunk(&network.borrow());
            advance(chunk)?;
            let snapshot = self.collect(&network)?;
            if whole && snapshot.now == first {
                self.meter.begin(snapshot);
            }
            up = up || network.borrow().is_up();
            if !up && snapshot.now > timeout {
                return Err(Self::never_up(snapshot.now, gateware.as_ref(), &network.borrow()));
            }
            if self.meter.poll(snapshot) || self.all_sent(&network) {
                break;
            }
            motion.look(&network.borrow(), self.meter.phase())?;
            self.look(snapshot.now)?;
        }
        if self.scenario.workload.drain || !self.meter.saturated() {
            network.borrow_mut().stop();
            let mut last = self.collect(&network)?;
            let (mut on_way, mut since) = (network.borrow().ledger().on_way(), 0);
            while since < STUCK_CLOCKS && !(whole && on_way == 0) {
                let chunk = self.chunk(&network.borrow());
                advance(chunk)?;
                let snapshot = self.collect(&network)?;
                let left = network.borrow().ledger().on_way();
                if left == on_way {
                    since += chunk;
                } else {
                    (since, last) = (0, snapshot);
                }
                on_way = left;
                if left == 0 {
                    break;
                }
                motion.look(&network.borrow(), "drain")?;
                self.look(snapshot.now)?;
            }
            // The losses of a fault are known only now.
            network.borrow_mut().close();
            self.collect(&network)?;
            if whole {
                self.meter.finish(last);
            }
        }
        let mut counters = BTreeMap::new();
        if let Some(gateware) = &gateware {
            for (name, value) in gateware.device.status() {
                counters.insert(format!("device.{name}"), value);
            }
        }
        let network = network.borrow();
        counters.extend(network.ledger().counters());
        let ends = network.end_counters();
        for (name, value) in [
            ("end.crc_bad", ends.crc_bad),
            ("end.poisoned", ends.poisoned),
            ("end.invalid", ends.invalid),
            ("end.cut", ends.cut),
            ("end.credit_bad", ends.credit_bad),
            ("end.dropped", ends.dropped),
            ("end.starts", ends.starts),
            ("end.overruns", network.overruns()),
            ("clocks", network.now()),
            ("packets.checksum", self.checksum >> 11),
        ] {
            counters.insert(name.to_owned(), value);
        }
        if network.lanes() > 1 {
            let lanes = network.lane_counters();
            counters.insert("lanes.lost".to_owned(), lanes.lost);
            counters.insert("lanes.late".to_owned(), lanes.late);
        }
        counters.insert("stamps.altered".to_owned(), self.stamps_altered);
        let tally = network.ledger().tally;
        let word_bytes = u64::from(self.scenario.word_bytes());
        let checked = Checked { bytes: word_bytes * tally.delivered_words, wrong: 0, lost: 0 };
        let evaluated = gateware.as_ref().map_or(0, |gateware| gateware.device.cycles().1);
        self.measurement(network.now(), &counters, checked, evaluated)
    }

    /// Links that do not come up: what both sides say of them.
    fn never_up(now: u64, gateware: Option<&Gateware>, network: &Network) -> RoadError {
        let mut said: Vec<String> = Vec::new();
        if let Some(gateware) = gateware {
            let told = ["up", "aligned", "late"];
            let status = gateware.device.status().into_iter();
            said.extend(
                status
                    .filter(|(name, _)| told.contains(&name.as_str()))
                    .map(|(name, value)| format!("device.{name} {value}")),
            );
        }
        let lanes = network.lane_counters();
        said.push(format!("lanes.late {}", lanes.late));
        RoadError::Inconsistent(format!(
            "switch: after {now} clocks not every link is up: {}",
            said.join(", ")
        ))
    }

    /// Clocks to the next check of the arrivals. For a trace they are few, so that its window
    /// begins exactly when its first packet is made and ends exactly when its last one has arrived.
    fn chunk(&self, network: &Network) -> u64 {
        let scenario = self.scenario;
        let (first, last) = (scenario.first_created(), scenario.last_made());
        let ports = scenario.device.ports as u64;
        // No port ends more packets in a chunk.
        let most = ports * CHUNK / u64::from(HEADER_WORDS + FRAMING_WORDS);
        match network.now() {
            _ if !scenario.is_trace() => CHUNK,
            now if now < first => CHUNK.min(first - now),
            now if now < last => CHUNK.min(last - now),
            _ if network.ledger().on_way() > most => CHUNK,
            _ => 1,
        }
    }

    /// The last packet of a trace has left its source.
    fn all_sent(&self, network: &Rc<RefCell<Network>>) -> bool {
        let network = network.borrow();
        self.scenario.is_trace() && network.is_empty() && network.ledger().tally.created > 0
    }

    fn collect(&mut self, network: &Rc<RefCell<Network>>) -> Result<Snapshot, RoadError> {
        let mut network = network.borrow_mut();
        let now = network.now();
        for delivery in network.take_deliveries() {
            self.arrived(&delivery, now);
        }
        let ledger = network.ledger();
        if let Some(what) = ledger.first_wrong() {
            let (wrong, now) = (ledger.tally.wrong, network.now());
            return Err(RoadError::Violation(format!(
                "switch: {what}; {wrong} packets wrong by clock {now}, seed {}",
                self.scenario.seed
            )));
        }
        // The link's checks do not cover time stamps; only a wrong bit on a line may alter them.
        if self.stamps_altered > 0 && ledger.faults.bit_errors == 0 {
            return Err(RoadError::Violation(format!(
                "switch: the time stamps of {} packets are not those of their pins by clock {}, seed {}",
                self.stamps_altered,
                network.now(),
                self.scenario.seed
            )));
        }
        let tally = ledger.tally;
        Ok(Snapshot {
            now: network.now(),
            created: tally.created,
            created_words: tally.created_words,
            waiting_words: network.waiting_words(),
            // A bad packet is excused once the next of its flow has arrived.
            gone: tally.bad.max(tally.excused),
            heard: network.words_heard(),
        })
    }
}
