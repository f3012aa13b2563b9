// SPDX-License-Identifier: Apache-2.0
//! The end that asks, the FPGA's own logic or a core of the host: it reads or writes ranges of the other end's memory,
//! line by line, and checks every byte. Where each end has memory both may ask at once.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::{RandomStream, Sim};
use isthmus_sim::world::atomics::AtomicPins;
use isthmus_sim::world::lines::{
    LINE_BYTES, Line, LineKind, LineMemory, LineRequest, LineUser, LineUserPins,
};
use isthmus_sim::world::tasks::TaskPins;

use super::pattern::{self, Writer};
use super::scenario::{EciDriver, EciScenario, REGION_LINES, WORD_BYTES};
use super::world::{Status, World, first_lines, of_links, random_line};
use crate::arrivals::{Starts, stream};
use crate::error::RoadError;
use crate::series::Times;

pub(super) const CHUNK: Picoseconds = Picoseconds::from_us(1);
/// A run without any response for this long is an error: the link has stopped.
pub(super) const STUCK: Picoseconds = Picoseconds::from_us(500);
/// Longer than an acknowledged store needs to become visible, and longer than blocks are in flight.
pub(super) const SETTLE: Picoseconds = Picoseconds::from_us(2);

/// Counters of the direction that carries the data, at one time.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) at: Picoseconds,
    pub(super) words: u32,
    /// Of these words, those on the second link.
    pub(super) second: u32,
    pub(super) blocks: u32,
    pub(super) bad: u64,
    pub(super) again: u64,
    /// Over PCIe: all bytes of TLPs.
    pub(super) wire_bytes: u64,
}

impl Counts {
    /// Those of the direction that carries the scenario's data, now.
    pub(super) fn at(sim: &Sim, scenario: &EciScenario, status: &[Rc<Status>; 2]) -> Self {
        let data = &status[usize::from(!scenario.to_host())];
        let sum = |pin: fn(&Status) -> u32| status.iter().map(|end| u64::from(pin(end))).sum();
        Self {
            at: sim.now(),
            words: of_links(&data.words),
            second: (data.words.get() >> 32) as u32,
            blocks: of_links(&data.blocks),
            bad: sum(|end| of_links(&end.bad)),
            again: sum(|end| of_links(&end.again)),
            wire_bytes: 0,
        }
    }
}

/// Result of a run.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) times: Times,
    pub(super) from: Counts,
    pub(super) until: Counts,
    /// Number of bytes compared.
    pub(super) checked: u64,
    /// Expected content of memory.
    pub(super) lines: Vec<Line>,
}

impl Outcome {
    /// Of so many transfers, none of which has begun.
    pub(super) fn new(transfers: usize, lines: Vec<Line>) -> Self {
        Self { times: Times::new(transfers), lines, ..Self::default() }
    }
}

/// A line with an outstanding request.
pub(super) struct Open {
    pub(super) transfer: u64,
    pub(super) index: u64,
    pub(super) bytes: usize,
}

/// The program at the lines' home: it writes lines before the other end requests them, and reads all lines at the end.
#[derive(Default)]
struct Home {
    tags: VecDeque<u8>,
    open: BTreeMap<u8, (u64, bool)>,
    /// Number of lines written, and of writes requested.
    stored: u64,
    storing: u64,
    /// Number of lines read at the end, of `reads`.
    reads: u64,
    reading: u64,
    read: u64,
}

pub(super) struct Logic {
    sim: Sim,
    pub(super) scenario: EciScenario,
    memory: Rc<RefCell<LineMemory>>,
    status: [Rc<Status>; 2],
    pub(super) random: RandomStream,
    starts: Option<Starts>,
    next_start: Option<Picoseconds>,
    /// Transfers below this number may begin.
    limit: u64,
    /// Series of which not all transfers that count have ended, this one and the one beside it.
    measured: Rc<Cell<usize>>,
    /// Number of transfers begun, and of lines of the last one that were requested.
    pub(super) begun: u64,
    asked: u64,
    /// Lines of each transfer that are not done.
    missing: BTreeMap<u64, u64>,
    pub(super) tags: VecDeque<u8>,
    pub(super) open: BTreeMap<u8, Open>,
    /// Of the open atomic.
    pub(super) operand: u64,
    /// Transfers whose store to a line is not yet visible.
    storing: BTreeMap<u64, VecDeque<u64>>,
    ended: u64,
    /// From a core to the pins, and back the same.
    core: Picoseconds,
    /// When what may begin after each ended transfer can be at the pins, and how many have come so far.
    freed: VecDeque<Picoseconds>,
    free: u64,
    home: Home,
    pub(super) last: Picoseconds,
    wrong: Option<String>,
    pub(super) outcome: Outcome,
}

impl Logic {
    fn new(
        world: &World,
        scenario: &EciScenario,
        measured: &Rc<Cell<usize>>,
    ) -> Result<Self, RoadError> {
        let sim = world.simulation.handle();
        let transfers = scenario.most() as usize;
        let rate = scenario.arrivals()?.rate_per_s();
        let random = stream(scenario.seed);
        let mut starts = rate.map(|rate| Starts::new(rate, random, sim.now()));
        Ok(Self {
            next_start: starts.as_mut().and_then(Iterator::next),
            starts,
            scenario: scenario.clone(),
            memory: Rc::clone(world.memory_of(scenario)?),
            status: world.status.clone(),
            random: RandomStream::new(scenario.seed, "eci:data"),
            limit: scenario.series(),
            measured: Rc::clone(measured),
            begun: 0,
            asked: 0,
            missing: BTreeMap::new(),
            tags: tags(scenario),
            open: BTreeMap::new(),
            operand: 0,
            storing: BTreeMap::new(),
            ended: 0,
            core: scenario.core(),
            freed: VecDeque::new(),
            free: 0,
            home: Home { tags: tags(scenario), ..Home::default() },
            last: sim.now(),
            wrong: None,
            outcome: Outcome::new(transfers, first_lines(scenario)),
            sim,
        })
    }

    /// Begins a transfer if one may begin at `time`.
    pub(super) fn begin(&mut self, time: Picoseconds) -> bool {
        if self.begun == self.limit && !self.go_on() || !self.prepared() {
            return false;
        }
        let alone = self.scenario.workload.beside.is_none();
        let observed = alone && self.begun == self.scenario.series();
        let due = match self.next_start.filter(|_| !observed) {
            Some(start) if start + self.core > time => return false,
            Some(start) => {
                self.next_start = self.starts.as_mut().and_then(Iterator::next);
                start
            }
            None => {
                let window = u64::from(self.scenario.workload.window.unwrap_or(1));
                while self.freed.front().is_some_and(|at| *at <= time) {
                    self.freed.pop_front();
                    self.free += 1;
                }
                if self.begun - self.free >= window {
                    return false;
                }
                time - self.core
            }
        };
        self.outcome.times.due.push(due);
        self.missing.insert(self.begun, self.scenario.lines());
        (self.begun, self.asked) = (self.begun + 1, 0);
        true
    }

    /// Whether there is one more transfer, for as long as those beside this series are measured.
    fn go_on(&mut self) -> bool {
        let beside = self.scenario.workload.beside.is_some() && self.measured.get() > 0;
        let more = beside && self.limit < self.scenario.most();
        self.limit += u64::from(more);
        more
    }

    fn counts(&self) -> Counts {
        Counts::at(&self.sim, &self.scenario, &self.status)
    }

    /// Whether the home's program has written the lines of the next transfer.
    fn prepared(&self) -> bool {
        self.scenario.workload.driver != EciDriver::CachedDirty
            || self.home.stored >= (self.begun + 1) * self.scenario.lines()
    }

    fn home_offer(&mut self) -> Option<LineRequest> {
        let lines = self.scenario.lines();
        // As far ahead as transfers may be in flight: what it wrote is then still in its cache.
        let window = u64::from(self.scenario.workload.window.unwrap_or(1));
        let ahead = (self.begun + window).min(self.limit) * lines;
        let dirty = self.scenario.workload.driver == EciDriver::CachedDirty;
        let (index, store) = if dirty && self.home.storing < ahead {
            let index = self.home.storing % REGION_LINES;
            let data = match self.scenario.over_axi() {
                true => {
                    let transfer = self.home.storing / lines;
                    pattern::line(index, pattern::seed(&self.scenario, transfer, Writer::Host))
                }
                false => random_line(&mut self.random),
            };
            self.home.storing += 1;
            self.outcome.lines[index as usize] = data;
            (index, Some((u128::MAX, data)))
        } else if self.home.reading < self.home.reads {
            self.home.reading += 1;
            (self.home.reading - 1, None)
        } else {
            return None;
        };
        let tag = self.home.tags.pop_front()?;
        self.home.open.insert(tag, (index, store.is_some()));
        Some(LineRequest { kind: LineKind::Cached, index, tag, store, atomic: None })
    }

    fn home_response(&mut self, tag: u8, line: &Line) {
        let Some((index, store)) = self.home.open.remove(&tag) else {
            return self.fail(format!("the home has a response to tag {tag}, which is not open"));
        };
        self.home.tags.push_back(tag);
        if store {
            self.home.stored += 1;
        } else {
            self.home.read += 1;
            if *line != self.outcome.lines[index as usize] {
                self.fail(format!("the home reads wrong bytes of line {index} in the end"));
            }
            self.outcome.checked += LINE_BYTES as u64;
        }
    }

    /// Notes the stores that became visible since the last call.
    fn note_stored(&mut self) {
        let stored = self.memory.borrow_mut().take_stored();
        for (index, at) in stored {
            let transfer = self.storing.get_mut(&index).and_then(VecDeque::pop_front);
            if let Some(transfer) = transfer {
                let done = &mut self.outcome.times.done[transfer as usize];
                *done = (*done).max(at);
            }
        }
    }

    pub(super) fn end(&mut self, time: Picoseconds, transfer: u64) {
        self.missing.remove(&transfer);
        self.ended += 1;
        self.outcome.times.known[transfer as usize] = time + self.core;
        self.freed.push_back(time + self.core + self.core);
        self.sim.count_transfers(1);
        let counted = self.scenario.counted();
        if self.ended == counted.start {
            self.outcome.from = self.counts();
        }
        if self.ended == counted.end {
            self.outcome.until = self.counts();
            self.measured.set(self.measured.get() - 1);
        }
    }

    pub(super) fn fail(&mut self, reason: String) {
        self.wrong.get_or_insert(reason);
    }
}

impl LineUser for Logic {
    fn offer(&mut self, time: Picoseconds) -> Option<LineRequest> {
        if (self.begun == 0 || self.asked == self.scenario.lines()) && !self.begin(time) {
            return None;
        }
        let tag = self.tags.pop_front()?;
        let (transfer, line) = (self.begun - 1, self.asked);
        let index = (transfer * self.scenario.lines() + line) % self.scenario.region();
        let bytes = self.scenario.bytes_of(line);
        let kind = match self.scenario.workload.driver {
            EciDriver::Uncached => LineKind::Uncached,
            EciDriver::Atomic => LineKind::Increment,
            _ => LineKind::Cached,
        };
        let selects = (kind == LineKind::Increment).then_some((0xFF, [0; LINE_BYTES]));
        let store = self.scenario.writes().then(|| {
            let data = random_line(&mut self.random);
            let mask = u128::MAX >> (128 - bytes);
            self.outcome.lines[index as usize][..bytes].copy_from_slice(&data[..bytes]);
            if kind == LineKind::Uncached {
                self.storing.entry(index).or_default().push_back(transfer);
            }
            (mask, data)
        });
        self.asked += 1;
        self.open.insert(tag, Open { transfer, index, bytes });
        Some(LineRequest { kind, index, tag, store: store.or(selects), atomic: None })
    }

    fn response(&mut self, time: Picoseconds, tag: u8, line: &Line) {
        self.last = time;
        let Some(open) = self.open.remove(&tag) else {
            return self.fail(format!("a response to tag {tag}, which is not open"));
        };
        self.tags.push_back(tag);
        if self.scenario.workload.driver == EciDriver::Atomic {
            // One operation of a line is open at a time, so the old values come in order.
            let word = &mut self.outcome.lines[open.index as usize][..WORD_BYTES];
            if line[..WORD_BYTES] != *word {
                return self.fail(format!("update {} has a wrong old value", open.transfer));
            }
            let next = word.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte));
            word.copy_from_slice(&next.wrapping_add(1).to_le_bytes());
            self.outcome.times.done[open.transfer as usize] = time;
        } else if !self.scenario.writes() {
            let must = &self.outcome.lines[open.index as usize][..open.bytes];
            if line[..open.bytes] != *must {
                return self.fail(format!(
                    "line {} of transfer {} has wrong bytes",
                    open.index, open.transfer
                ));
            }
            self.outcome.times.done[open.transfer as usize] = time + self.core;
        } else if self.scenario.workload.driver != EciDriver::Uncached {
            // From now on a load of the line gets it from the cache of the end that stored.
            self.outcome.times.done[open.transfer as usize] = time + self.core;
        }
        self.outcome.checked += open.bytes as u64;
        let missing = self.missing.get_mut(&open.transfer).map(|left| {
            *left -= 1;
            *left
        });
        if missing == Some(0) {
            self.end(time, open.transfer);
        }
    }
}

/// The home's program at its own port of lines.
struct HomePort(Rc<RefCell<Logic>>);

impl LineUser for HomePort {
    fn offer(&mut self, _: Picoseconds) -> Option<LineRequest> {
        self.0.borrow_mut().home_offer()
    }

    fn response(&mut self, _: Picoseconds, tag: u8, line: &Line) {
        self.0.borrow_mut().home_response(tag, line);
    }
}

/// Tags of one of an end's users; where each end has memory it has two.
fn tags(scenario: &EciScenario) -> VecDeque<u8> {
    let last = if scenario.both_homes() { OF_HOME - 1 } else { u8::MAX };
    (0..=last).collect()
}

/// An end with memory and a cache: its own program and who asks for the other end's lines take turns at its port.
struct Peer {
    /// The series that this end begins, and the one for whose lines it is the home.
    agent: Option<Rc<RefCell<Logic>>>,
    home: Option<Rc<RefCell<Logic>>>,
    home_next: bool,
}

/// The tag's bit of the home's program.
const OF_HOME: u8 = 0x80;
/// The index's bit of the FPGA's memory.
const OF_FPGA: u64 = 1 << 32;

impl Peer {
    fn ask(&mut self, time: Picoseconds, home: bool) -> Option<LineRequest> {
        let logic = if home { &self.home } else { &self.agent };
        let mut logic = logic.as_ref()?.borrow_mut();
        let asked = if home { logic.home_offer() } else { logic.offer(time) };
        let memory = if logic.scenario.home_at_fpga() { OF_FPGA } else { 0 };
        let of_home = if home { OF_HOME } else { 0 };
        let request = asked?;
        self.home_next = !home;
        Some(LineRequest { index: request.index | memory, tag: request.tag | of_home, ..request })
    }
}

impl LineUser for Peer {
    fn offer(&mut self, time: Picoseconds) -> Option<LineRequest> {
        let first = self.home_next;
        self.ask(time, first).or_else(|| self.ask(time, !first))
    }

    fn response(&mut self, time: Picoseconds, tag: u8, line: &Line) {
        let home = tag & OF_HOME != 0;
        let logic = if home { &self.home } else { &self.agent };
        // Without the one whose tag it is no request was made, and the port gave none.
        let Some(logic) = logic.as_ref().or(self.agent.as_ref()).or(self.home.as_ref()) else {
            return;
        };
        let mut logic = logic.borrow_mut();
        match home {
            true => logic.home_response(tag & !OF_HOME, line),
            false => logic.response(time, tag, line),
        }
    }
}

type Shared = Rc<RefCell<Logic>>;

/// Gives each end's pins their users.
fn attach(world: &World, sides: &[Shared]) -> Result<(), RoadError> {
    if let [logic] = sides
        && let scenario = logic.borrow().scenario.clone()
        && !scenario.both_homes()
    {
        let agent = world.agent(&scenario);
        match (scenario.over_axi(), scenario.updates()) {
            (true, true) => AtomicPins::attach(agent, logic)?,
            (true, false) => TaskPins::attach(agent, logic)?,
            (false, _) => LineUserPins::attach(agent, logic)?,
        }
        if scenario.has_caches() {
            let home = Rc::new(RefCell::new(HomePort(Rc::clone(logic))));
            LineUserPins::attach(world.home(&scenario), &home)?;
        }
        return Ok(());
    }
    for (device, at_fpga) in [(&world.host, false), (&world.fpga, true)] {
        let of = |home_here: bool| {
            let wanted =
                |one: &&Shared| (one.borrow().scenario.home_at_fpga() == at_fpga) == home_here;
            sides.iter().find(wanted).map(Rc::clone)
        };
        let peer = Peer { agent: of(false), home: of(true), home_next: false };
        LineUserPins::attach(device, &Rc::new(RefCell::new(peer)))?;
    }
    Ok(())
}

/// Runs all transfers of a series and of one beside it, if any, and one more of each that is observed.
pub(super) fn run(world: &World, scenarios: &[&EciScenario]) -> Result<Vec<Outcome>, RoadError> {
    let measured = Rc::new(Cell::new(scenarios.len()));
    let logic = |scenario: &&EciScenario| {
        let made = Logic::new(world, scenario, &measured)?;
        Ok::<_, RoadError>(Rc::new(RefCell::new(made)))
    };
    let sides: Vec<Shared> = scenarios.iter().map(logic).collect::<Result<_, _>>()?;
    attach(world, &sides)?;
    for (logic, scenario) in sides.iter().zip(scenarios) {
        if scenario.counted().start == 0 {
            let counts = logic.borrow().counts();
            logic.borrow_mut().outcome.from = counts;
        }
    }
    complete(world, &sides)?;
    if let [logic] = &sides[..] {
        world.observe();
        logic.borrow_mut().limit += 1;
        complete(world, &sides)?;
    }
    for (logic, scenario) in sides.iter().zip(scenarios) {
        if scenario.has_caches() {
            read_all(world, scenario, logic)?;
        }
    }
    let outcome = |logic: &Shared| {
        let mut logic = logic.borrow_mut();
        let begun = logic.begun as usize;
        let mut outcome = std::mem::take(&mut logic.outcome);
        outcome.times.done.truncate(begun);
        outcome.times.known.truncate(begun);
        outcome
    };
    Ok(sides.iter().map(outcome).collect())
}

/// The home's program reads every line, wherever it is.
fn read_all(world: &World, scenario: &EciScenario, logic: &Shared) -> Result<(), RoadError> {
    let lines = scenario.memory_lines();
    logic.borrow_mut().home.reads = lines;
    let (mut begin, mut before) = (world.simulation.handle().now(), 0);
    loop {
        world.simulation.run_for(CHUNK)?;
        let logic = logic.borrow();
        let wrong = match &logic.wrong {
            Some(wrong) => wrong.clone(),
            None if logic.home.read == lines => return Ok(()),
            None if logic.home.read > before => {
                (begin, before) = (world.simulation.handle().now(), logic.home.read);
                continue;
            }
            None if world.simulation.handle().now() - begin < STUCK => continue,
            None => format!("the home has read {} lines in {STUCK}", logic.home.read),
        };
        return Err(RoadError::Violation(format!("eci: {wrong}; seed {}", scenario.seed)));
    }
}

/// Runs until all transfers that may begin have ended, and what they stored is visible.
fn complete(world: &World, sides: &[Shared]) -> Result<(), RoadError> {
    loop {
        world.simulation.run_for(CHUNK)?;
        let mut ended = 0;
        for logic in sides {
            let mut logic = logic.borrow_mut();
            logic.note_stored();
            let seed = logic.scenario.seed;
            if let Some(wrong) = &logic.wrong {
                return Err(RoadError::Violation(format!("eci: {wrong}; seed {seed}")));
            }
            if logic.ended == logic.limit {
                ended += 1;
                continue;
            }
            let waits = !logic.open.is_empty();
            if waits && world.simulation.handle().now() - logic.last > STUCK {
                return Err(RoadError::Violation(format!(
                    "eci: stuck after {} of {} transfers: {} requests are open and none was answered for \
                     {STUCK}; seed {seed}",
                    logic.ended,
                    logic.limit,
                    logic.open.len()
                )));
            }
        }
        if ended == sides.len() {
            break;
        }
    }
    world.simulation.run_for(SETTLE)?;
    for logic in sides {
        let mut logic = logic.borrow_mut();
        logic.note_stored();
        let missing: usize = logic.storing.values().map(VecDeque::len).sum();
        if missing > 0 {
            let seed = logic.scenario.seed;
            let reason =
                format!("eci: {missing} acknowledged stores are not in memory; seed {seed}");
            return Err(RoadError::Violation(reason));
        }
    }
    Ok(())
}
