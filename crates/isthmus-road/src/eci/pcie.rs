// SPDX-License-Identifier: Apache-2.0
//! The same host memory by DMA over PCIe: of addresses that the FPGA's logic has, or of descriptors in a ring.
//!
//! With a ring each transfer is three tasks of the FPGA's DMA engine: it reads the descriptor, moves the data,
//! and writes a record of its end, which a host program would poll.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::rc::Rc;

use isthmus_sim::kernel::{DeviceHandle, OutputPin, RandomStream, Sim};
use isthmus_sim::world::ccix::Way as Direction;
use isthmus_sim::world::pcie::{self, TlpKind, TlpRecord};
use isthmus_sim::world::tasks::{Task, TaskPins, TaskUser};
use isthmus_sim::{ClockConfig, DeviceConfig, Hertz, Picoseconds, Simulation};

use super::program::{CHUNK, Counts, Outcome, SETTLE, STUCK};
use super::scenario::{EciDriver, EciPcie, EciScenario, MOST_TASKS};
use crate::arrivals::Starts;
use crate::dma::{Dma, LINE_BYTES, Line, pattern};
use crate::error::RoadError;
use crate::measurement::{SimulationCost, Stage};
use crate::road::Context;
use crate::stages::Way;
use crate::watch::{Step, follow};

/// Lines that transfers read or write, in ascending order, again and again.
const DATA_LINES: u64 = 8_192;
/// Descriptors of the ring, a line each, and records of their ends: more than transfers in flight.
const SLOTS: u64 = 256;
/// Bytes of a record.
const RECORD_BYTES: usize = 16;

/// A task of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Its descriptor is read.
    Descriptor,
    /// Its data is moved.
    Data,
    /// Its record is written.
    Record,
}

/// What a run over PCIe gives.
pub(super) struct Measured {
    pub(super) outcome: Outcome,
    pub(super) stages: Vec<Stage>,
    pub(super) counters: BTreeMap<String, u64>,
    pub(super) cost: SimulationCost,
}

struct Logic {
    sim: Sim,
    scenario: EciScenario,
    dma: Rc<Dma>,
    random: RandomStream,
    starts: Option<Starts>,
    next_start: Option<Picoseconds>,
    /// Transfers below this number may begin.
    limit: u64,
    begun: u64,
    ended: u64,
    /// Lines of the writes of each transfer that are not yet visible, and transfers of which all are.
    unseen: BTreeMap<u64, u64>,
    visible: u64,
    tags: VecDeque<u8>,
    /// Tasks that may be given to the engine, and those that it has.
    ready: VecDeque<(u64, Part)>,
    open: BTreeMap<u8, (u64, Part)>,
    /// Parts of transfers whose write to a line is not yet visible.
    storing: BTreeMap<u64, VecDeque<(u64, Part)>>,
    first_seed: u32,
    /// What each line of memory must have.
    lines: Vec<Line>,
    last: Picoseconds,
    wrong: Option<String>,
    outcome: Outcome,
}

fn first_lines(seed: u32) -> Vec<Line> {
    (0..DATA_LINES + 2 * SLOTS).map(|number| pattern(Dma::base() + number, seed)).collect()
}

impl Logic {
    fn new(sim: Sim, dma: &Rc<Dma>, scenario: &EciScenario) -> Result<Self, RoadError> {
        let rate = scenario.arrivals()?.rate_per_s();
        let random = RandomStream::new(scenario.seed, "eci:arrivals");
        let mut starts = rate.map(|rate| Starts::new(rate, random, sim.now()));
        let first_seed = scenario.seed as u32;
        Ok(Self {
            next_start: starts.as_mut().and_then(Iterator::next),
            starts,
            scenario: scenario.clone(),
            dma: Rc::clone(dma),
            random: RandomStream::new(scenario.seed, "eci:data"),
            limit: scenario.series(),
            begun: 0,
            ended: 0,
            unseen: BTreeMap::new(),
            visible: 0,
            tags: (0..MOST_TASKS as u8).collect(),
            ready: VecDeque::new(),
            open: BTreeMap::new(),
            storing: BTreeMap::new(),
            first_seed,
            lines: first_lines(first_seed),
            last: sim.now(),
            wrong: None,
            outcome: Outcome::new(scenario.series() as usize + 1, Vec::new()),
            sim,
        })
    }

    fn ring(&self) -> bool {
        self.scenario.workload.driver == EciDriver::PcieRing
    }

    fn counts(&self) -> Counts {
        let way = if self.scenario.writes() { Direction::Up } else { Direction::Down };
        let wire_bytes = self.dma.carried(way).wire_bytes;
        Counts { at: self.sim.now(), wire_bytes, ..Counts::default() }
    }

    /// When the next transfer is due, if it may begin at `time`.
    fn due(&mut self, time: Picoseconds) -> Option<Picoseconds> {
        if self.begun == self.limit {
            return None;
        }
        let observed = self.begun == self.scenario.series();
        match self.next_start.filter(|_| !observed) {
            Some(start) if start > time => None,
            Some(start) => {
                self.next_start = self.starts.as_mut().and_then(Iterator::next);
                Some(start)
            }
            None => {
                let window = u64::from(self.scenario.workload.window.unwrap_or(1));
                (self.begun - self.out_of_flight() < window).then_some(time)
            }
        }
    }

    /// The part of a write whose visibility ends it.
    fn last_part(&self) -> Part {
        if self.ring() { Part::Record } else { Part::Data }
    }

    /// Transfers that are no longer in flight.
    fn out_of_flight(&mut self) -> u64 {
        if !self.scenario.workload.until_visible || !self.scenario.writes() {
            return self.ended;
        }
        self.note_stored();
        self.visible.min(self.ended)
    }

    /// The line where a part of a transfer begins, and its bytes.
    fn place(&self, transfer: u64, part: Part) -> (u64, usize) {
        let slot = transfer % SLOTS;
        match part {
            Part::Descriptor => (DATA_LINES + slot, LINE_BYTES),
            Part::Record => (DATA_LINES + SLOTS + slot, RECORD_BYTES),
            Part::Data => {
                let lines = self.scenario.workload.bytes.div_ceil(LINE_BYTES) as u64;
                let places = DATA_LINES / lines;
                (transfer % places * lines, self.scenario.workload.bytes)
            }
        }
    }

    fn writes(&self, part: Part) -> bool {
        match part {
            Part::Descriptor => false,
            Part::Data => self.scenario.writes(),
            Part::Record => true,
        }
    }

    fn task(&mut self, tag: u8, transfer: u64, part: Part) -> Task {
        let (first, bytes) = self.place(transfer, part);
        let write = self.writes(part);
        let seed = if write { self.random.bits() as u32 } else { self.first_seed };
        for (number, index) in
            (first..).take(bytes.div_ceil(LINE_BYTES)).enumerate().filter(|_| write)
        {
            let bytes = (bytes - number * LINE_BYTES).min(LINE_BYTES);
            let data = pattern(Dma::base() + index, seed);
            self.lines[index as usize][..bytes].copy_from_slice(&data[..bytes]);
            self.storing.entry(index).or_default().push_back((transfer, part));
        }
        if write && part == self.last_part() {
            self.unseen.insert(transfer, bytes.div_ceil(LINE_BYTES) as u64);
        }
        let address = (Dma::base() + first) * LINE_BYTES as u64;
        self.open.insert(tag, (transfer, part));
        Task { write, tag, address, bytes: bytes as u32, seed }
    }

    /// Compares the writes that became visible since the last call.
    fn note_stored(&mut self) {
        let of = self.last_part();
        for stored in self.dma.take_stored() {
            let waiting = self.storing.get_mut(&stored.index).and_then(VecDeque::pop_front);
            let Some((transfer, part)) = waiting else {
                return self.fail(format!("line {} was written twice", stored.index));
            };
            if stored.line != self.lines[stored.index as usize] {
                return self.fail(format!("line {} was written wrong", stored.index));
            }
            if self.scenario.writes() && part == of {
                let done = &mut self.outcome.done[transfer as usize];
                *done = (*done).max(stored.at);
                if let Some(left) = self.unseen.get_mut(&transfer) {
                    *left -= 1;
                    self.visible += u64::from(*left == 0);
                }
            }
        }
    }

    fn end(&mut self, time: Picoseconds, transfer: u64) {
        self.ended += 1;
        self.outcome.known[transfer as usize] = time;
        self.outcome.checked += self.scenario.workload.bytes as u64;
        if !self.scenario.writes() {
            self.outcome.done[transfer as usize] = time;
        }
        self.sim.count_transfers(1);
        let counted = self.scenario.counted();
        if self.ended == counted.start {
            self.outcome.from = self.counts();
        }
        if self.ended == counted.end {
            self.outcome.until = self.counts();
        }
    }

    fn fail(&mut self, reason: String) {
        self.wrong.get_or_insert(reason);
    }
}

impl TaskUser for Logic {
    fn offer(&mut self, time: Picoseconds) -> Option<Task> {
        let tag = self.tags.front().copied()?;
        if self.ready.is_empty()
            && let Some(due) = self.due(time)
        {
            self.outcome.due.push(due);
            let part = if self.ring() { Part::Descriptor } else { Part::Data };
            self.ready.push_back((self.begun, part));
            self.begun += 1;
        }
        let (transfer, part) = self.ready.pop_front()?;
        self.tags.pop_front();
        Some(self.task(tag, transfer, part))
    }

    fn done(&mut self, time: Picoseconds, tag: u8, fault: bool) {
        self.last = time;
        let Some((transfer, part)) = self.open.remove(&tag) else {
            return self.fail(format!("task {tag}, which is not open, is done"));
        };
        self.tags.push_back(tag);
        if fault {
            return self.fail("a fault, and addresses are physical".to_owned());
        }
        match part {
            Part::Descriptor => {
                self.ready.push_back((transfer, Part::Data));
                // Writes stay in order: the record is visible behind its data.
                if self.scenario.writes() {
                    self.ready.push_back((transfer, Part::Record));
                }
            }
            Part::Data => {
                if self.ring() && !self.scenario.writes() {
                    self.ready.push_back((transfer, Part::Record));
                }
                self.end(time, transfer);
            }
            Part::Record => {}
        }
        self.note_stored();
    }
}

/// Runs all transfers, and one more that is observed.
pub(super) fn run(
    scenario: &EciScenario,
    pcie: &EciPcie,
    context: &Context<'_>,
) -> Result<Measured, RoadError> {
    let simulation = Simulation::new(scenario.limits.simulation(scenario.seed));
    let waveform = scenario.waveform.as_deref();
    let clock = Hertz((pcie.clock_mhz * 1e6).round() as u64);
    let config = DeviceConfig {
        name: "fpga".to_owned(),
        model_path: scenario.fpga.model_path.clone(),
        clocks: vec![ClockConfig::new("clk_i", clock)],
        reset_cycles: scenario.fpga.reset_cycles,
        cfg: BTreeMap::new(),
        epoch_ns: 0,
        trace: waveform.map(Path::to_owned),
        resets: Vec::new(),
        holds: Vec::new(),
    };
    let model = (context.make_model)(&scenario.fpga.model_path, waveform)?;
    let fpga = simulation.add_model(model, &config)?;
    let first = first_lines(scenario.seed as u32);
    let dma = Rc::new(Dma::attach(&simulation, &fpga, &pcie.memory_over_pcie(), &first)?);
    simulation.probes().set_enabled(false);
    let of = Step { total: 1, transfers_total: scenario.series() + 1, ..Step::default() };
    follow(&simulation, context.watch, of);
    simulation.run_for(CHUNK)?;
    let status = [fpga.output("status_wrong_o", 32)?, fpga.output("status_fail_o", 1)?];
    let logic = Rc::new(RefCell::new(Logic::new(simulation.handle(), &dma, scenario)?));
    TaskPins::attach(&fpga, &logic)?;
    if scenario.counted().start == 0 {
        let counts = logic.borrow().counts();
        logic.borrow_mut().outcome.from = counts;
    }
    complete(&simulation, &status, &logic)?;
    simulation.probes().set_enabled(true);
    logic.borrow_mut().limit += 1;
    complete(&simulation, &status, &logic)?;
    let mut logic = logic.borrow_mut();
    let wrong = dma.lines().iter().zip(&logic.lines).position(|(is, must)| is != must);
    if let Some(line) = wrong {
        let reason = format!("eci: line {line} of host memory has wrong bytes at the end");
        return Err(RoadError::Violation(format!("{reason}; seed {}", scenario.seed)));
    }
    let outcome = std::mem::take(&mut logic.outcome);
    let stages = stages(&simulation, &fpga, &dma, pcie, scenario, &outcome)?;
    let mut counters = BTreeMap::new();
    for (name, way) in [("to_host", Direction::Up), ("to_fpga", Direction::Down)] {
        let carried = dma.carried(way);
        counters.insert(format!("{name}.packets"), carried.packets);
        counters.insert(format!("{name}.wire_bytes"), carried.wire_bytes);
    }
    let cost = SimulationCost::of(&simulation.statistics());
    Ok(Measured { outcome, stages, counters, cost })
}

/// Runs until all transfers that may begin have ended, and what they wrote is visible.
fn complete(
    simulation: &Simulation,
    [wrong, fail]: &[OutputPin; 2],
    logic: &Rc<RefCell<Logic>>,
) -> Result<(), RoadError> {
    let broken = |logic: &Logic| -> Result<(), RoadError> {
        let reason = match &logic.wrong {
            Some(reason) => reason.clone(),
            None if wrong.get() != 0 => format!("{} lines were read with wrong bytes", wrong.get()),
            None if fail.get() != 0 => "the FPGA's contract with its block broke".to_owned(),
            None => return Ok(()),
        };
        Err(RoadError::Violation(format!("eci: {reason}; seed {}", logic.scenario.seed)))
    };
    loop {
        simulation.run_for(CHUNK)?;
        let mut logic = logic.borrow_mut();
        logic.note_stored();
        broken(&logic)?;
        if logic.ended == logic.limit && logic.open.is_empty() && logic.ready.is_empty() {
            break;
        }
        if !logic.open.is_empty() && simulation.handle().now() - logic.last > STUCK {
            return Err(RoadError::Violation(format!(
                "eci: stuck after {} of {} transfers: none ended for {STUCK}; seed {}",
                logic.ended, logic.limit, logic.scenario.seed
            )));
        }
    }
    simulation.run_for(SETTLE)?;
    let mut logic = logic.borrow_mut();
    logic.note_stored();
    broken(&logic)?;
    let missing: usize = logic.storing.values().map(VecDeque::len).sum();
    if missing > 0 {
        let reason = format!("eci: {missing} acknowledged writes are not in memory");
        return Err(RoadError::Violation(format!("{reason}; seed {}", logic.scenario.seed)));
    }
    Ok(())
}

/// Stages of the observed transfer, which ran alone.
fn stages(
    simulation: &Simulation,
    fpga: &DeviceHandle,
    dma: &Dma,
    pcie: &EciPcie,
    scenario: &EciScenario,
    outcome: &Outcome,
) -> Result<Vec<Stage>, RoadError> {
    let missing = || RoadError::Inconsistent("eci: the observed transfer left no trace".to_owned());
    let begin = *outcome.due.last().ok_or_else(missing)?;
    let end = *outcome.done.last().ok_or_else(missing)?;
    let probes = simulation.probes().since(0);
    let taken = fpga.stages().iter().position(|stage| stage == "Taken");
    let taken = probes.iter().find(|one| Some(usize::from(one.stage)) == taken);
    let of = |direction, kind| -> Vec<TlpRecord> {
        let records = dma.link.records_since(direction, 0).into_iter();
        records.filter(|one| one.kind == kind && one.handed >= begin).collect()
    };
    let asked = of(pcie::Direction::Up, TlpKind::Read);
    let written = of(pcie::Direction::Up, TlpKind::Write);
    let answers = of(pcie::Direction::Down, TlpKind::Completion);
    let propagation = Picoseconds::from_ns_f64(pcie.link.propagation_ns);
    let mut way = Way::new(begin);
    way.until("fpga", "task taken", taken.ok_or_else(missing)?.time)?;
    let ring = usize::from(scenario.workload.driver == EciDriver::PcieRing);
    if ring == 1 {
        let ask = asked.first().ok_or_else(missing)?;
        let answer = answers.first().ok_or_else(missing)?;
        way.until("fpga", "descriptor asked for", ask.handed)?;
        way.until("wire", "descriptor, to the host", ask.delivered)?;
        way.until("host", "descriptor, memory", answer.handed)?;
        way.until("wire", "descriptor, back", answer.delivered)?;
    }
    if scenario.writes() {
        let [first, last] = [written.first(), written.last()].map(|one| one.ok_or_else(missing));
        let (first, last) = (first?, last?);
        way.until("fpga", "burst", first.handed)?;
        way.until("fpga", "hard block", first.start)?;
        way.until("wire", "bits", last.end)?;
        way.until("wire", "propagation", last.end + propagation)?;
        way.until("host", "port", last.delivered)?;
        way.until("host", "memory", end)?;
        return way.finish(end);
    }
    let ask = asked.get(ring).ok_or_else(missing)?;
    let [answer, last] = [answers.get(ring), answers.last()].map(|one| one.ok_or_else(missing));
    let (answer, last) = (answer?, last?);
    way.until("fpga", "burst", ask.handed)?;
    way.until("fpga", "hard block", ask.start)?;
    way.until("wire", "bits", ask.end)?;
    way.until("wire", "propagation", ask.end + propagation)?;
    way.until("host", "port", ask.delivered)?;
    way.until("host", "memory", answer.handed)?;
    way.until("host", "port", answer.start)?;
    way.until("wire", "bits", last.end)?;
    way.until("wire", "propagation", last.end + propagation)?;
    way.until("fpga", "hard block", last.delivered)?;
    way.until("fpga", "beats", end)?;
    way.finish(end)
}
