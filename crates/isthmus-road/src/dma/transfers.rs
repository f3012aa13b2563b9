// SPDX-License-Identifier: Apache-2.0
//! Blocks that the FPGA starts, a series of them and one more that is observed alone.
//!
//! A write ends when its last part is visible to the host: its data, or with a ring its record, which a program would
//! poll. A read ends when its data is in the FPGA. The ring's descriptors are in host memory before their blocks are
//! due, so no doorbell is on the way.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use isthmus_host::pcie::{Descriptor, RingPlace};
use isthmus_sim::kernel::{DeviceHandle, RandomStream, Sim};
use isthmus_sim::world::ccix::Carried;
use isthmus_sim::world::pcie::Direction;
use isthmus_sim::world::tasks::{Task, TaskPins, TaskUser};
use isthmus_sim::world::{Memory, MemoryConfig};
use isthmus_sim::{Picoseconds, Simulation};

use super::card::{Card, Status};
use super::engine::{Engine, Part, ring_lines};
use super::line::{LINE_BYTES, Line, first_seed, pattern};
use super::link::{BASE_LINE, Dma};
use super::stages::{Tlps, fetch};
use crate::arrivals::stream;
use crate::error::RoadError;
use crate::host_bus::MEMORY_BASE;
use crate::measurement::{SimulationCost, Stage};
use crate::road::Context;
use crate::scenario::Limits;
use crate::series::{Extent, Pace, Stores, Times};
use crate::stages::Way;
use crate::watch::{Step, follow};

/// Lines that blocks read or write, in ascending order, again and again.
const DATA_LINES: u64 = 8_192;
/// Descriptors of the ring, and records: more than blocks in flight.
const SLOTS: u64 = 256;
const RING: (RingPlace, u64) = ring_lines(DATA_LINES, SLOTS);
const CHUNK: Picoseconds = Picoseconds::from_us(1);
/// A run in which no block ends for this long is an error: the link has stopped.
const STUCK: Picoseconds = Picoseconds::from_us(500);
/// Longer than a write that has left needs to become visible, and than the comparison of data takes.
const SETTLE: Picoseconds = Picoseconds::from_us(2);

/// What to measure.
#[derive(Clone, Debug)]
pub(crate) struct Blocks {
    /// The road that compares itself: it names errors and random numbers.
    pub(crate) road: &'static str,
    /// The FPGA writes, and does not read.
    pub(crate) to_host: bool,
    pub(crate) bytes: usize,
    /// By descriptors in host memory.
    pub(crate) ring: bool,
    /// Blocks in flight.
    pub(crate) window: Option<u32>,
    /// Blocks per second, Poisson arrivals.
    pub(crate) rate_per_s: Option<f64>,
    /// A write is in flight until it is visible, and not until it has left the FPGA.
    pub(crate) until_visible: bool,
    pub(crate) extent: Extent,
    pub(crate) seed: u64,
    pub(crate) limits: Limits,
}

impl Blocks {
    /// Lines of host memory that a block touches.
    fn lines(&self) -> u64 {
        self.bytes.div_ceil(LINE_BYTES) as u64
    }

    /// The first line of a block, which has no other's place while that is in flight.
    fn first_line(&self, block: u64) -> u64 {
        block % (DATA_LINES / self.lines()) * self.lines()
    }

    fn violation(&self, reason: &str) -> RoadError {
        RoadError::Violation(format!("{}: {reason}; seed {}", self.road, self.seed))
    }
}

/// Traffic of the link up to one time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) at: Picoseconds,
    pub(crate) up: Carried,
    pub(crate) down: Carried,
    /// Blocks that have ended.
    pub(crate) ended: u64,
}

/// What a run gives.
pub(crate) struct Measured {
    pub(crate) times: Times,
    pub(crate) from: Counts,
    pub(crate) until: Counts,
    /// Number of bytes compared.
    pub(crate) checked: u64,
    pub(crate) stages: Vec<Stage>,
    pub(crate) counters: BTreeMap<String, u64>,
    pub(crate) cost: SimulationCost,
}

struct Logic {
    sim: Sim,
    of: Blocks,
    dma: Rc<Dma>,
    engine: Engine,
    pace: Pace,
    ended: u64,
    stores: Stores,
    /// What each line of memory must have.
    lines: Vec<Line>,
    last: Picoseconds,
    wrong: Option<String>,
    times: Times,
    from: Counts,
    until: Counts,
    checked: u64,
}

/// What memory has at the start: descriptors are empty.
fn first_lines(seed: u64) -> Vec<Line> {
    let empty = DATA_LINES..DATA_LINES + SLOTS;
    let line = |index: u64| match empty.contains(&index) {
        true => [0; LINE_BYTES],
        false => pattern(BASE_LINE + index, first_seed(seed)),
    };
    (0..RING.1).map(line).collect()
}

impl Logic {
    fn new(sim: Sim, dma: &Rc<Dma>, of: &Blocks) -> Self {
        let random = stream(of.seed);
        let data = RandomStream::new(of.seed, &format!("{}:data", of.road));
        let ring = of.ring.then_some(RING.0);
        Self {
            pace: Pace::new(of.window, of.rate_per_s, of.extent.series, random, sim.now()),
            of: of.clone(),
            engine: Engine::new(&dma.memory, ring, data, first_seed(of.seed)),
            dma: Rc::clone(dma),
            ended: 0,
            stores: Stores::default(),
            lines: first_lines(of.seed),
            last: sim.now(),
            wrong: None,
            times: Times::new(of.extent.series as usize + 1),
            from: Counts { at: sim.now(), ..Counts::default() },
            until: Counts::default(),
            checked: 0,
            sim,
        }
    }

    fn counts(&self) -> Counts {
        let [up, down] = [Direction::Up, Direction::Down].map(|way| self.dma.carried(way));
        Counts { at: self.sim.now(), up, down, ended: self.ended }
    }

    /// Blocks that are no longer in flight.
    fn out_of_flight(&self) -> u64 {
        match self.of.until_visible && self.of.to_host {
            true => self.stores.visible().min(self.ended),
            false => self.ended,
        }
    }

    /// Gives the engine the next block, if one is due.
    fn begin(&mut self, time: Picoseconds) -> Result<(), RoadError> {
        if self.of.until_visible {
            self.note_stored();
        }
        let ended = self.out_of_flight();
        let Some((block, due)) = self.pace.begin(time, ended) else { return Ok(()) };
        self.times.due.push(due);
        let of = Descriptor {
            address: MEMORY_BASE + self.of.first_line(block) * LINE_BYTES as u64,
            bytes: self.of.bytes as u32,
            to_host: self.of.to_host,
        };
        if !self.of.ring {
            self.engine.begin(block, of);
            return Ok(());
        }
        let slot = DATA_LINES + block % SLOTS;
        self.dma.set(slot, &of.encode())?;
        self.lines[slot as usize] = self.dma.line(slot);
        self.engine.fetch(block);
        Ok(())
    }

    /// The part of a write whose visibility ends it.
    fn is_last(&self, part: Part) -> bool {
        self.of.to_host && (part == Part::Record) == self.of.ring
    }

    /// What a task will store, from now on.
    fn expect(&mut self, task: Task, block: u64, part: Part) {
        let first = task.address / LINE_BYTES as u64 - BASE_LINE;
        let bytes = task.bytes as usize;
        let lines = first..first + bytes.div_ceil(LINE_BYTES) as u64;
        for (number, index) in lines.clone().enumerate() {
            let bytes = (bytes - number * LINE_BYTES).min(LINE_BYTES);
            let data = pattern(BASE_LINE + index, task.seed);
            self.lines[index as usize][..bytes].copy_from_slice(&data[..bytes]);
        }
        self.stores.expect(block, lines, self.is_last(part));
    }

    /// Compares the writes that became visible since the last call.
    fn note_stored(&mut self) {
        for stored in self.dma.take_stored() {
            if !self.stores.seen(stored.index, stored.at, &mut self.times) {
                return self.fail(format!("line {} was written twice", stored.index));
            }
            if stored.line != self.lines[stored.index as usize] {
                return self.fail(format!("line {} was written wrong", stored.index));
            }
        }
    }

    fn end(&mut self, time: Picoseconds, block: u64) {
        self.ended += 1;
        self.times.known[block as usize] = time;
        self.checked += self.of.bytes as u64;
        if !self.of.to_host {
            self.times.done[block as usize] = time;
        }
        self.sim.count_transfers(1);
        if self.ended == self.of.extent.counted.start {
            self.from = self.counts();
        }
        if self.ended == self.of.extent.counted.end {
            self.until = self.counts();
        }
    }

    fn fail(&mut self, reason: String) {
        self.wrong.get_or_insert(reason);
    }
}

impl TaskUser for Logic {
    fn offer(&mut self, time: Picoseconds) -> Option<Task> {
        if self.engine.wants()
            && let Err(error) = self.begin(time)
        {
            self.fail(error.to_string());
        }
        let (task, block, part) = self.engine.next()?;
        if task.write {
            self.expect(task, block, part);
        }
        Some(task)
    }

    fn done(&mut self, time: Picoseconds, tag: u8, fault: bool) {
        self.last = time;
        match self.engine.done(tag, fault) {
            Ok((block, Part::Data(_))) => self.end(time, block),
            Ok(_) => {}
            Err(reason) => return self.fail(reason),
        }
        self.note_stored();
    }
}

/// Runs all blocks, and one more that is observed.
pub(crate) fn run(
    card: &Card<'_>,
    of: &Blocks,
    context: &Context<'_>,
) -> Result<Measured, RoadError> {
    let simulation = Simulation::new(of.limits.simulation(of.seed));
    let fpga = card.add(&simulation, context.make_model)?;
    let memory = Memory::new(&MemoryConfig {
        name: "host.memory".to_owned(),
        size_bytes: RING.1 as usize * LINE_BYTES,
        load_ns: 0.0,
        store_ns: 0.0,
        copy_ns_per_byte: 0.0,
    })?;
    let dma = Rc::new(Dma::attach(&simulation, &fpga, &card.pcie, memory)?);
    for (number, line) in (0..).zip(first_lines(of.seed)) {
        dma.set(number, &line)?;
    }
    simulation.probes().set_enabled(false);
    let step = Step { total: 1, transfers_total: of.extent.series + 1, ..Step::default() };
    follow(&simulation, context.watch, step);
    simulation.run_for(CHUNK)?;
    let status = Status::new(&fpga)?;
    let logic = Rc::new(RefCell::new(Logic::new(simulation.handle(), &dma, of)));
    TaskPins::attach(&fpga, &logic)?;
    complete(&simulation, &status, &logic)?;
    simulation.probes().set_enabled(true);
    logic.borrow_mut().pace.observe();
    complete(&simulation, &status, &logic)?;
    let mut logic = logic.borrow_mut();
    if let Some(line) = (0..RING.1).find(|line| dma.line(*line) != logic.lines[*line as usize]) {
        let reason = format!("line {line} of host memory has wrong bytes at the end");
        return Err(of.violation(&reason));
    }
    let times = std::mem::take(&mut logic.times);
    Ok(Measured {
        stages: stages(&simulation, &fpga, &dma, card, of, &times)?,
        times,
        from: logic.from,
        until: logic.until,
        checked: logic.checked,
        counters: dma.counters(),
        cost: SimulationCost::of(&simulation.statistics()),
    })
}

/// Runs until all blocks that may begin have ended, and what they wrote is visible.
fn complete(
    simulation: &Simulation,
    status: &Status,
    logic: &Rc<RefCell<Logic>>,
) -> Result<(), RoadError> {
    let broken = |logic: &Logic, at_rest: bool| -> Result<(), RoadError> {
        let problem = || status.problem(logic.engine.descriptors(), at_rest);
        let reason = logic.wrong.clone().or_else(problem);
        reason.map_or(Ok(()), |reason| Err(logic.of.violation(&reason)))
    };
    loop {
        simulation.run_for(CHUNK)?;
        let mut logic = logic.borrow_mut();
        logic.note_stored();
        broken(&logic, false)?;
        if logic.ended == logic.pace.limit() && logic.engine.is_idle() {
            break;
        }
        if logic.engine.is_busy() && simulation.handle().now() - logic.last > STUCK {
            let (ended, limit) = (logic.ended, logic.pace.limit());
            let reason =
                format!("stuck after {ended} of {limit} transfers: none ended for {STUCK}");
            return Err(logic.of.violation(&reason));
        }
    }
    simulation.run_for(SETTLE)?;
    let mut logic = logic.borrow_mut();
    logic.note_stored();
    broken(&logic, true)?;
    let missing = logic.stores.missing();
    if missing > 0 {
        let reason = format!("{missing} acknowledged writes are not in memory");
        return Err(logic.of.violation(&reason));
    }
    Ok(())
}

/// Stages of the observed block, which ran alone.
fn stages(
    simulation: &Simulation,
    fpga: &DeviceHandle,
    dma: &Dma,
    card: &Card<'_>,
    of: &Blocks,
    times: &Times,
) -> Result<Vec<Stage>, RoadError> {
    let missing =
        || RoadError::Inconsistent(format!("{}: the observed transfer left no trace", of.road));
    let begin = *times.due.last().ok_or_else(missing)?;
    let end = *times.done.last().ok_or_else(missing)?;
    let probes = simulation.probes().since(0);
    let taken = fpga.stages().iter().position(|stage| stage == "Taken");
    let taken = probes.iter().find(|one| Some(usize::from(one.stage)) == taken);
    let Tlps { asked, answers, written, .. } = Tlps::since(&dma.link, begin);
    let propagation = Picoseconds::from_ns_f64(card.pcie.link.propagation_ns);
    let mut way = Way::new(begin);
    way.until("fpga", "task taken", taken.ok_or_else(missing)?.time)?;
    if of.ring {
        let ask = asked.first().ok_or_else(missing)?;
        fetch(&mut way, "wire", ask, answers.first().ok_or_else(missing)?)?;
    }
    if of.to_host {
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
    let number = usize::from(of.ring);
    let ask = asked.get(number).ok_or_else(missing)?;
    let [answer, last] = [answers.get(number), answers.last()].map(|one| one.ok_or_else(missing));
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
