// SPDX-License-Identifier: Apache-2.0
//! Packets through a buffered crossbar: the gateware, our model of it, or a switch that no switch can beat,
//! all under the same traffic.

mod ideal;
mod link;
mod meter;
mod reference;
pub mod scenario;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use isthmus_sim::world::link::{PortWords, SwitchPins, Token, Word};
use isthmus_sim::{
    ClockConfig, DeviceConfig, DeviceHandle, Hertz, Picoseconds, SimConfig, SimError, Simulation,
};

use crate::error::RoadError;
use crate::measurement::{
    Checked, Excluded, Measurement, Samples, SimulationCost, Stage, Throughput,
};
use crate::model::MakeModel;
use crate::road::{Context, Road};
use crate::watch::{Step, WATCH_PERIOD, Watch};
use ideal::Ideal;
use link::traffic::{FRAMING_WORDS, HEADER_WORDS};
use link::{Delivery, Network};
use meter::{Meter, MeterConfig, Snapshot};
use reference::{Reference, ReferenceConfig};
use scenario::{ArrivalsName, Engine, PatternName, SwitchScenario};

/// Clocks between two looks at what arrived.
const CHUNK: u64 = 256;
/// Clocks without any word out of the switch, while packets are on their way to it, after which it has
/// stopped: longer than a link's start, and than any refresh of credits.
const STUCK_CLOCKS: u64 = 1 << 18;
/// So many flows are named where packets are stuck.
const NAMED_FLOWS: usize = 4;
/// Clocks after which links that have never been up are given up.
const UP_CLOCKS: u64 = 1 << 16;

/// Links and buffered-crossbar switches under synthetic traffic.
pub struct BufferedCrossbar;

impl Road for BufferedCrossbar {
    fn name(&self) -> &'static str {
        "switch"
    }

    fn schema(&self) -> schemars::Schema {
        crate::schema::of::<SwitchScenario>()
    }

    fn run(&self, json: &str, context: &Context<'_>) -> Result<Vec<Measurement>, RoadError> {
        run(&SwitchScenario::parse(json)?, context.make_model, context.watch)
    }
}

/// Runs it.
pub(crate) fn run(
    scenario: &SwitchScenario,
    make_model: MakeModel<'_>,
    watch: &Watch,
) -> Result<Vec<Measurement>, RoadError> {
    let run = Run::new(scenario, watch)?;
    let measured = match scenario.workload.engine {
        Engine::Ideal => run.ideal()?,
        Engine::Reference => run.network(|_| Ok(None))?,
        Engine::Rtl => {
            run.network(|network| Gateware::new(scenario, network, make_model).map(Some))?
        }
    };
    Ok(vec![measured])
}

/// The gateware with a network at its pins.
struct Gateware {
    simulation: Simulation,
    device: DeviceHandle,
    period: Picoseconds,
}

impl Gateware {
    fn new(
        scenario: &SwitchScenario,
        network: &Rc<RefCell<Network>>,
        make_model: MakeModel<'_>,
    ) -> Result<Self, RoadError> {
        let simulation = Simulation::new(SimConfig {
            seed: scenario.seed,
            skip_idle: false,
            check_idle: false,
            idle_confirm_cycles: 16,
            wake_cycles: 8,
            simulated_limit_ps: None,
            wall_limit_ms: scenario.limits.wall_ms(),
        });
        let clock = Hertz((scenario.platform.clock_mhz * 1e6).round() as u64);
        let path = &scenario.device.model_path;
        let config = DeviceConfig {
            name: "switch".to_owned(),
            model_path: path.clone(),
            clocks: vec![ClockConfig::new("clk_i", clock)],
            reset_cycles: scenario.device.reset_cycles,
            // A repeater has none of them. The packets of this benchmark name no source for the switch.
            cfg: [("bench", 1), ("bind", 0), ("source", 0)]
                .into_iter()
                .filter(|_| scenario.bench())
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
            epoch_ns: 0,
            trace: scenario.waveform.clone(),
            resets: Vec::new(),
            holds: Vec::new(),
        };
        let model = make_model(path, scenario.waveform.as_deref())?;
        let device = simulation.add_model(model, &config)?;
        SwitchPins::attach(&device, network)?;
        // Millions of packets: what is said of each is in the packet itself.
        simulation.probes().set_enabled(false);
        let period = device.clock_period("clk_i").unwrap_or_default();
        Ok(Self { simulation, device, period })
    }
}

/// Our model with a network at its pins.
struct Model {
    switch: Reference,
    from: Vec<Word>,
    to: Vec<Option<Word>>,
    next: Vec<Option<Word>>,
}

impl Model {
    fn new(scenario: &SwitchScenario) -> Self {
        let device = &scenario.device;
        let end = scenario.end(device.ports, 1, scenario.platform.receive_words);
        Self {
            switch: Reference::new(ReferenceConfig {
                ports: device.ports,
                depth: device.buffer_words,
                max_words: device.max_words,
                latency: device.latency_clocks,
                end,
            }),
            from: vec![Word::of(Token::Init { ready: false }); device.ports],
            to: vec![None; device.ports],
            next: vec![None; device.ports],
        }
    }

    fn step(&mut self, network: &mut Network) {
        network.step(&self.from, &mut self.next);
        self.switch.step(&self.to, &mut self.from);
        std::mem::swap(&mut self.to, &mut self.next);
    }
}

/// Whether anything still moves.
struct Motion {
    seed: u64,
    clock_ps: f64,
    /// Until then a fault may hold everything up. One that is planned for ever does not: the run ends.
    held_until: u64,
    /// Without faults each packet comes; with them some never do.
    faults: bool,
    words: u64,
    since: u64,
}

impl Motion {
    fn new(scenario: &SwitchScenario) -> Self {
        Self {
            seed: scenario.seed,
            clock_ps: 1e6 / scenario.platform.clock_mhz,
            held_until: scenario.start_clock().max(scenario.faults.over(STUCK_CLOCKS)),
            faults: scenario.faults.any(),
            words: 0,
            since: 0,
        }
    }

    /// Once a chunk, in the part of the run that is called `phase`.
    fn look(&mut self, network: &Network, phase: &str) -> Result<(), RoadError> {
        let (now, ledger) = (network.now(), network.ledger());
        let words = network.words_heard().data;
        let waits = network.waiting_words();
        // Where packets were hit by faults, those may be all that are in flight.
        let nothing_due = ledger.on_way() == 0 || (self.faults && waits == 0);
        if words != self.words || nothing_due || now <= self.held_until {
            (self.words, self.since) = (words, now);
            return Ok(());
        }
        if now - self.since < STUCK_CLOCKS {
            return Ok(());
        }
        let flows = ledger.outstanding();
        let named: Vec<String> = flows
            .iter()
            .take(NAMED_FLOWS)
            .map(|(from, to, packets)| format!("{packets} from port {from} to port {to}"))
            .collect();
        let more = match flows.len().saturating_sub(NAMED_FLOWS) {
            0 => String::new(),
            more => format!(", and {more} more flows"),
        };
        Err(RoadError::Violation(format!(
            "switch: stuck in the {phase}: no data word has come out for {} clocks, at clock {now} ({});              {} packets are outstanding: {}{more}; {waits} words wait at the sources; seed {}",
            now - self.since,
            Picoseconds((now as f64 * self.clock_ps) as u64),
            ledger.on_way(),
            named.join(", "),
            self.seed
        )))
    }
}

struct Run<'a> {
    scenario: &'a SwitchScenario,
    watch: Watch,
    meter: Meter,
    begin: Instant,
    watched: Instant,
    clock_ps: f64,
    /// A sum over all packets that arrived, whatever their order.
    checksum: u64,
    /// Packets whose time stamps are not those of their pins.
    stamps_altered: u64,
}

impl<'a> Run<'a> {
    fn new(scenario: &'a SwitchScenario, watch: &Watch) -> Result<Self, RoadError> {
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

    fn at(&self, clocks: u64) -> Picoseconds {
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

    fn ideal(mut self) -> Result<Measurement, RoadError> {
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

    fn network(
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
            // What a fault took is known only now.
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

    /// Clocks to the next look at what arrived. Of a trace so few that its window begins exactly where its
    /// first packet is made and ends exactly where its last one has arrived.
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
            // A bad packet is excused once the next of its flow has come.
            gone: tally.bad.max(tally.excused),
            heard: network.words_heard(),
        })
    }

    fn measurement(
        &self,
        clocks: u64,
        counters: &BTreeMap<String, u64>,
        checked: Checked,
        evaluated_cycles: u64,
    ) -> Result<Measurement, RoadError> {
        let (scenario, meter) = (self.scenario, &self.meter);
        let workload = &scenario.workload;
        let samples: &Samples = &meter.samples;
        if samples.count() == 0 && !scenario.is_trace() {
            return Err(RoadError::Inconsistent(
                "switch: not one packet of the window arrived".to_owned(),
            ));
        }
        let stages = self.stages();
        let road = "switch";
        let (platform, profile) = (scenario.platform.name.clone(), scenario.profile.name());
        let engine = workload.engine.name();
        let wire = meter.heard();
        let words_on_wire = wire.data + wire.framing + wire.credit;
        let elapsed = self.at(meter.clocks());
        let throughput = (meter.clocks() > 0).then(|| {
            let word_bytes = u64::from(scenario.word_bytes());
            let payload = word_bytes * meter.words;
            Throughput::new(
                payload,
                Some(word_bytes * words_on_wire),
                meter.delivered,
                None,
                elapsed,
            )
        });
        Ok(Measurement {
            id: format!("{road}/{platform}/{profile}/{engine}/{}", scenario.name()),
            road,
            platform,
            profile: profile.to_owned(),
            method: engine.to_owned(),
            workload: self.describe(),
            definition: "one_way",
            arrivals: match (workload.pattern, workload.arrivals) {
                (PatternName::Trace, _) => "open-loop trace".to_owned(),
                (_, ArrivalsName::Paced) => format!("paced:{}", workload.load),
                (_, ArrivalsName::Poisson) => format!("poisson:{}", workload.load),
                (_, ArrivalsName::Bursty(_)) => format!("bursty:{}", workload.load),
                (_, ArrivalsName::Backlog(_)) => "backlog".to_owned(),
            },
            seed: scenario.seed,
            iterations: samples.count().max(1),
            excluded: Excluded { head: meter.warm_up_packets, tail: meter.after },
            latency_ps: samples.latency(),
            histogram: samples.buckets(),
            samples: Vec::new(),
            windows_ps: Map::new(),
            throughput,
            stages_total_ps: stages.iter().map(|stage| stage.ps).sum(),
            stages,
            timeline: Vec::new(),
            checked,
            counters: counters.clone(),
            simulation: SimulationCost {
                device_cycles: clocks,
                evaluated_cycles,
                wall_s: self.begin.elapsed().as_secs_f64(),
            },
        })
    }

    /// The way of the fastest packet.
    fn stages(&self) -> Vec<Stage> {
        let Some(fastest) = &self.meter.fastest else { return Vec::new() };
        let hop = self.scenario.hop_clocks();
        let source = u64::from(fastest.left.wrapping_sub(fastest.created));
        let pins = u64::from(fastest.arrived.wrapping_sub(fastest.left));
        [
            ("queue, schedule, send", "nic", source),
            ("transceivers and cable to the switch", "wire", hop),
            ("switch", "switch", pins.saturating_sub(2 * hop)),
            ("transceivers and cable to the sink", "wire", hop),
        ]
        .into_iter()
        .map(|(name, place, clocks)| Stage {
            name: name.to_owned(),
            place: place.to_owned(),
            ps: self.at(clocks).0,
        })
        .collect()
    }

    fn describe(&self) -> Map<String, Value> {
        let (scenario, meter) = (self.scenario, &self.meter);
        let workload = &scenario.workload;
        let traffic = scenario.traffic();
        let mean = traffic.mean_line_words();
        let payload_share = (mean - f64::from(traffic.framing)) / mean;
        let load = match workload.arrivals {
            ArrivalsName::Backlog(_) => None,
            _ if scenario.is_trace() => None,
            _ => Some(workload.load),
        };
        // A trace says what is sent when: it has no load, and neither settles nor saturates.
        let steady = (!scenario.is_trace()).then_some(meter.steady);
        let backlog = matches!(workload.arrivals, ArrivalsName::Backlog(_));
        let sent = scenario.device.ports as u64 * meter.clocks();
        let share = |words: u64| (sent > 0).then(|| words as f64 / sent as f64);
        let wire = meter.heard();
        let fairness = meter.fairness();
        let described = json!({
            "ports": scenario.device.ports,
            "lanes": scenario.device.lanes,
            "pattern": scenario.pattern_text(),
            "sizes_bytes": scenario.sizes_bytes(),
            "load": load,
            "payload_load": load.map(|load| load * payload_share),
            "packets": scenario.packets(),
            "hop_clocks": scenario.hop_clocks(),
            "buffer_words": scenario.device.buffer_words,
            "credit_in_packet": scenario.device.credit_in_packet,
            "steady": steady,
            "saturated": backlog || meter.saturated(),
            "window_clocks": meter.clocks(),
            "payload_share": share(meter.words),
            "wire_shares": {
                "data": share(wire.data),
                "framing": share(wire.framing),
                "credit": share(wire.credit),
                "idle": share(wire.idle),
            },
            "clocks": {
                "delay": samples_mean(&meter.samples, self.clock_ps),
                "source": meter.source.value(),
                "switch": meter.switch.value(),
                "fastest": meter.fastest.map(|d| d.arrived.wrapping_sub(d.created)),
                "fastest_switch": meter.fastest.map(|d| {
                    i64::from(d.arrived.wrapping_sub(d.left)) - 2 * scenario.hop_clocks() as i64
                }),
                "stamps_off": meter.stamps.filter(|_| scenario.bench()).map(|(least, most)| [least, most]),
            },
            "flows": {
                "least_words": fairness.map(|found| found.0),
                "most_words": fairness.map(|found| found.1),
                "jain": fairness.map(|found| found.2),
            },
        });
        match described {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }
}

/// Clocks in the switch by its own time stamps, less those that its pins show.
fn stamps_off(delivery: &Delivery, hop_clocks: u64) -> i64 {
    let stamped = i64::from(delivery.departed.wrapping_sub(delivery.entered));
    let pins = i64::from(delivery.arrived.wrapping_sub(delivery.left));
    stamped - (pins - 2 * hop_clocks as i64)
}

fn samples_mean(samples: &Samples, clock_ps: f64) -> Option<f64> {
    samples.latency().map(|latency| latency.avg / clock_ps)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCENARIO: &str = r#"{
        "road": "switch", "profile": "isthmus",
        "platform": {"name": "x", "clock_mhz": 78.125, "serdes_ns": 304.0, "cable_ns": 16.0,
                     "transmit_words": 4, "receive_words": 512},
        "device": {"ports": 4, "buffer_words": 512, "max_words": 128, "credit_in_packet": false,
                   "credit_words": 64, "refresh_words": 64, "init_words": 128, "latency_clocks": 7},
        "workload": {"engine": "reference", "pattern": "uniform", "arrivals": "paced",
                     "sizes_bytes": [64, 512], "load": 0.5, "packets": 1000},
        "seed": 1
    }"#;

    fn judge_trace(engine: &str, trace: &str) -> Measurement {
        let mut scenario: Value = serde_json::from_str(SCENARIO).unwrap();
        scenario["workload"]["engine"] = engine.into();
        scenario["workload"]["pattern"] = "trace".into();
        scenario["workload"]["trace"] = serde_json::from_str(trace).unwrap();
        let scenario = SwitchScenario::parse(&scenario.to_string()).unwrap();
        let watch: Watch = Rc::new(RefCell::new(|_: Step| std::ops::ControlFlow::Continue(())));
        let make = |_: &std::path::Path, _: Option<&std::path::Path>| unreachable!("no gateware");
        run(&scenario, &make, &watch).unwrap().remove(0)
    }

    #[test]
    fn a_trace_of_one_packet_takes_what_the_constants_say() {
        // Hop: (304 + 16) ns of 12.8 ns = 25 clocks. One way: 4 to transmit, 25, 7 of the switch, 25 = 61.
        // 64 bytes are 16 words, with begin and end 18.
        for engine in ["ideal", "reference"] {
            let found = judge_trace(engine, "[[10, 0, 3, 64]]");
            let work = &found.workload;
            let latency = found.latency_ps.unwrap();
            assert_eq!((latency.min, latency.max), (61 * 12_800, 61 * 12_800), "{engine}");
            assert_eq!(found.iterations, 1);
            assert_eq!(work["packets"], 1);
            assert_eq!((&work["load"], &work["payload_load"]), (&Value::Null, &Value::Null));
            assert_eq!((&work["saturated"], &work["steady"]), (&json!(false), &Value::Null));
            let clocks = work["window_clocks"].as_u64().unwrap();
            assert!((61 + 18..=61 + 20).contains(&clocks), "{engine}: {clocks}");
            assert_eq!(found.throughput.unwrap().payload_bytes, 64);
            assert_eq!(found.id.rsplit('/').next().unwrap(), "4x4-trace-64-1-packets");
        }
    }

    #[test]
    fn every_packet_of_a_trace_counts_and_shares_are_shares() {
        // Two packets of 128 words to one output at the same clock: the second waits for the first.
        let trace = "[[0, 0, 2, 512], [0, 1, 2, 512], [100000, 3, 0, 64]]";
        for engine in ["ideal", "reference"] {
            let found = judge_trace(engine, trace);
            let work = &found.workload;
            assert_eq!(found.iterations, 3, "{engine}");
            let latency = found.latency_ps.unwrap();
            assert_eq!(latency.min, 61 * 12_800);
            let waited = latency.max / 12_800 - 61;
            assert!((130..=133).contains(&waited), "{engine}: {waited} clocks behind 130 words");
            let clocks = work["window_clocks"].as_u64().unwrap();
            assert!((100_000 + 79..=100_000 + 81).contains(&clocks), "{engine}: {clocks}");
            assert_eq!(found.throughput.unwrap().payload_bytes, 512 + 512 + 64);
            let shares = &work["wire_shares"];
            if engine == "reference" {
                let all = ["data", "framing", "credit", "idle"];
                let sum: f64 = all.iter().map(|kind| shares[kind].as_f64().unwrap()).sum();
                assert!((sum - 1.0).abs() < 1e-12, "{sum}");
                let data = shares["data"].as_f64().unwrap() * 4.0 * clocks as f64;
                assert_eq!(data.round() as u64, (128 + 128 + 16));
            }
            assert_eq!(work["sizes_bytes"], json!([64, 512]));
            assert_eq!(work["flows"]["least_words"], 16);
        }
    }

    #[test]
    fn a_trace_longer_than_a_window_counts_from_its_first_to_its_last_packet() {
        let rows: Vec<String> =
            (0..5_000).map(|n| format!("[{}, {}, {}, 64]", 40 * n, n % 4, (n + 1) % 4)).collect();
        let found = judge_trace("reference", &format!("[{}]", rows.join(",")));
        assert_eq!(found.iterations, 5_000);
        let clocks = found.workload["window_clocks"].as_u64().unwrap();
        assert!((40 * 4_999 + 79..=40 * 4_999 + 81).contains(&clocks), "{clocks}");
    }

    #[test]
    fn a_fault_at_a_port_or_a_lane_that_is_not_there_is_refused() {
        for (key, value, says) in [
            ("resets", json!([[4, 0, 1]]), "faults.resets: port 4 is outside 0 to 3"),
            ("stalls", json!([[9, 0, 1]]), "faults.stalls: port 9 is outside 0 to 3"),
            ("lane", json!(1), "faults.lane: lane 1 is outside 0 to 0"),
        ] {
            let mut scenario: Value = serde_json::from_str(SCENARIO).unwrap();
            scenario["faults"] = json!({key: value});
            let error = SwitchScenario::parse(&scenario.to_string()).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn a_trace_with_a_backlog_or_a_clock_out_of_range_is_refused() {
        for (key, value, says) in [
            ("arrivals", json!({"backlog": 256}), "no backlog"),
            ("trace", json!([[u64::MAX, 0, 1, 64]]), "outside 0 to 1000000000"),
        ] {
            let mut scenario: Value = serde_json::from_str(SCENARIO).unwrap();
            scenario["workload"]["pattern"] = "trace".into();
            scenario["workload"]["trace"] = json!([[0, 0, 1, 64]]);
            scenario["workload"][key] = value;
            let error = SwitchScenario::parse(&scenario.to_string()).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }

    /// What the account says of a switch whose words are changed on their way out.
    fn judged(mut tamper: impl FnMut(u64, &mut [Word])) -> Option<String> {
        let scenario = SwitchScenario::parse(SCENARIO).unwrap();
        let mut network = Network::new(&scenario.network()).unwrap();
        let mut model = Model::new(&scenario);
        for clock in 0..60_000 {
            model.step(&mut network);
            tamper(clock, &mut model.from);
            if clock == 50_000 {
                network.stop();
            }
        }
        network.close();
        assert!(network.ledger().tally.delivered > 500);
        network.ledger().first_wrong().map(str::to_owned)
    }

    #[test]
    fn a_switch_that_is_right_is_found_right() {
        assert_eq!(judged(|_, _| {}), None);
    }

    #[test]
    fn a_wrong_bit_a_lost_end_and_a_wrong_port_are_found() {
        let bit = judged(|clock, words| {
            if clock == 20_000 {
                words.iter_mut().filter(|word| word.k == 0).for_each(|word| word.data ^= 4);
            }
        });
        assert!(bit.unwrap().contains("never arrived, and no fault hit it"));
        let end = judged(|clock, words| {
            if (20_000..20_200).contains(&clock)
                && let Token::Eop(_) = words[2].token()
            {
                words[2] = Word::IDLE;
            }
        });
        assert!(end.unwrap().contains("never arrived"));
        let port = judged(|clock, words| {
            if clock > 20_000 {
                words.swap(0, 1);
            }
        });
        assert!(port.unwrap().contains("at port"));
    }

    /// What is said of a switch whose words are changed on their way out, while packets come.
    fn moved(mut tamper: impl FnMut(u64, &mut [Word])) -> Result<(), RoadError> {
        let scenario = SwitchScenario::parse(SCENARIO).unwrap();
        let mut network = Network::new(&scenario.network()).unwrap();
        let (mut model, mut motion) = (Model::new(&scenario), Motion::new(&scenario));
        for clock in 0..20_000 + 2 * STUCK_CLOCKS {
            model.step(&mut network);
            tamper(clock, &mut model.from);
            if clock % CHUNK == 0 {
                motion.look(&network, "measured window")?;
            }
        }
        Ok(())
    }

    #[test]
    fn a_switch_that_grants_nobody_any_more_is_stuck() {
        assert!(moved(|_, _| {}).is_ok());
        let silent = |clock: u64, words: &mut [Word]| {
            if clock > 20_000 {
                words.fill(Word::IDLE);
            }
        };
        let error = moved(silent).unwrap_err().to_string();
        for part in [
            "switch: stuck in the measured window: no data word",
            "packets are outstanding",
            " from port 0 to port ",
            "and 12 more flows; ",
            "; seed 1",
        ] {
            assert!(error.contains(part), "{part}: {error}");
        }
        // One output that goes on shows that the switch is not stuck as a whole.
        let one = |clock: u64, words: &mut [Word]| {
            if clock > 20_000 {
                words[1..].fill(Word::IDLE);
            }
        };
        assert!(moved(one).is_ok());
    }

    /// How far each packet's stamps are off where data word `index` of some is changed.
    fn stamps(index: u32) -> Vec<i64> {
        let scenario = SwitchScenario::parse(SCENARIO).unwrap();
        let mut network = Network::new(&scenario.network()).unwrap();
        let mut model = Model::new(&scenario);
        let mut at = 0;
        for clock in 0..30_000 {
            model.step(&mut network);
            match &mut model.from[1] {
                word if word.k == 0 => {
                    word.data = word.data.wrapping_add(u32::from(at == index && clock > 20_000));
                    at += 1;
                }
                _ => at = 0,
            }
        }
        assert_eq!(network.ledger().first_wrong(), None, "no check covers them");
        network.take_deliveries().map(|one| stamps_off(&one, scenario.hop_clocks())).collect()
    }

    #[test]
    fn time_stamps_altered_on_the_way_are_found() {
        let right = stamps(u32::MAX);
        assert!(right.len() > 300 && right.iter().all(|off| *off == 0));
        let (entered, departed) = (stamps(4), stamps(5));
        assert!(entered.iter().all(|off| [0, -1].contains(off)) && entered.contains(&-1));
        assert!(departed.iter().all(|off| [0, 1].contains(off)) && departed.contains(&1));
    }

    #[test]
    fn a_word_changed_with_its_check_is_found() {
        // The header's low byte means nothing to the link: only the account of bytes sees it. The check
        // at the end is made good for it.
        let mut change: Option<isthmus_sim::world::link::Crc24> = None;
        let mut index = 0_u32;
        let found = judged(|clock, words| {
            let word = &mut words[3];
            match word.token() {
                Token::Sop { .. } => {
                    index = 0;
                    change = (clock > 20_000 && change.is_none()).then(Default::default);
                }
                Token::Data(data) => {
                    if let Some(crc) = &mut change {
                        if index == 7 {
                            word.data = !data;
                        }
                        crc.add(if index == 4 || index == 5 { 0 } else { word.data });
                    }
                    index += 1;
                }
                Token::Eop(_) => {
                    if let Some(crc) = change.take() {
                        *word = Word::of(Token::Eop(crc.value()));
                    }
                }
                _ => {}
            }
        });
        assert!(found.unwrap().contains("(index, is, must be) Some((7,"));
    }
}
