// SPDX-License-Identifier: Apache-2.0
//! Commands to the traffic generator, transfer by transfer, and the check of what they wrote.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::{RandomStream, Sim};
use isthmus_sim::world::ccix::{Carried, Way};
use isthmus_sim::world::tasks::{Task, TaskPins, TaskUser};

use super::home::Content;
use super::scenario::{CcixScenario, LINE_BYTES};
use super::visits::Visits;
use super::world::{Agent, Progress, World};
use crate::arrivals::stream;
use crate::dma::{MOST_TASKS, first_seed, pattern};
use crate::error::RoadError;
use crate::series::{Pace, Stores, Times};

/// A run in which no transfer ends for this long is an error: the link has stopped.
const STUCK: Picoseconds = Picoseconds::from_us(500);
/// Longer than the comparison of data takes after its response.
const SETTLE: Picoseconds = Picoseconds::from_us(1);

/// Traffic of the link up to one time, to the host and back.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) at: Picoseconds,
    pub(super) up: Carried,
    pub(super) down: Carried,
    /// Lines of completed transfers: one message each way.
    pub(super) requests: u64,
    /// Translations that the host was asked for.
    pub(super) walks: u64,
    /// Lines that came to the FPGA's cache.
    pub(super) granted: u64,
    /// Accesses with virtual addresses, for which the host walked.
    pub(super) direct: u64,
}

/// Result of a run.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) times: Times,
    pub(super) from: Counts,
    pub(super) until: Counts,
    /// Number of bytes compared.
    pub(super) checked: u64,
    /// Transfers that met a page without a translation, and began again when it had one.
    pub(super) retries: u64,
    /// Expected content of memory.
    pub(super) lines: Content,
}

/// A task of the FPGA.
#[derive(Clone, Copy)]
struct Open {
    /// Number of its transfer; `None`: it reads a line of a page before the first transfer.
    transfer: Option<u64>,
    seed: u32,
}

struct Logic {
    sim: Sim,
    scenario: CcixScenario,
    agent: Rc<Agent>,
    random: RandomStream,
    visits: Visits,
    /// Lines that are read before the first transfer.
    touches: VecDeque<u64>,
    /// Transfers that wait for a page.
    again: VecDeque<Open>,
    moves: u32,
    pace: Pace,
    tags: VecDeque<u8>,
    open: BTreeMap<u8, Open>,
    stores: Stores,
    ended: u64,
    last: Picoseconds,
    wrong: Option<String>,
    outcome: Outcome,
}

impl Logic {
    fn new(world: &World, scenario: &CcixScenario) -> Result<Self, RoadError> {
        let sim = world.simulation.handle();
        let transfers = scenario.series() as usize + 1;
        Ok(Self {
            pace: Pace::default(),
            scenario: scenario.clone(),
            agent: Rc::clone(&world.agent),
            random: RandomStream::new(scenario.seed, "ccix:data"),
            visits: Visits::new(scenario),
            touches: scenario.touched().into(),
            again: VecDeque::new(),
            moves: 0,
            tags: (0..MOST_TASKS).collect(),
            open: BTreeMap::new(),
            stores: Stores::default(),
            ended: 0,
            last: sim.now(),
            wrong: None,
            outcome: Outcome {
                times: Times::new(transfers),
                lines: Content::new(world.agent.base(), first_seed(scenario.seed)),
                ..Outcome::default()
            },
            sim,
        })
    }

    /// The series begins.
    fn begin(&mut self) -> Result<(), RoadError> {
        let rate = self.scenario.arrivals()?.rate_per_s();
        let random = stream(self.scenario.seed);
        let (window, series) = (self.scenario.workload.window, self.scenario.series());
        self.pace = Pace::new(window, rate, series, random, self.sim.now());
        if self.scenario.counted().start == 0 {
            self.outcome.from = self.counts();
        }
        Ok(())
    }

    /// Nothing is open, or waits.
    fn is_done(&self) -> bool {
        let still = self.agent.translator.as_ref().is_none_or(|translator| translator.is_still());
        self.ended == self.pace.limit() && self.touches.is_empty() && self.open.is_empty() && still
    }

    fn begin_move(&mut self) {
        let Some(of) = &self.scenario.workload.translation else { return };
        let series = self.scenario.series();
        let due = (u64::from(self.moves) + 1) * series / (u64::from(of.moves) + 1);
        let begun = self.pace.begun();
        if self.moves == of.moves || begun < due || begun == series {
            return;
        }
        let line = self.visits.first_line(begun);
        match self.agent.translator.as_ref().map(|translator| translator.begin_move(line)) {
            Some(Ok(true)) => self.moves += 1,
            Some(Err(error)) => self.fail(error.to_string()),
            _ => {}
        }
    }

    fn task(&self, tag: u8, first: u64, bytes: usize, of: Open) -> Task {
        Task {
            write: self.scenario.writes() && of.transfer.is_some(),
            tag,
            address: (self.agent.base() + first) * LINE_BYTES as u64,
            bytes: bytes as u32,
            seed: of.seed,
        }
    }

    /// A page's first line, before the first transfer.
    fn touch(&mut self) -> Option<Task> {
        let first = self.touches.pop_front()?;
        let tag = self.tags.pop_front()?;
        let of = Open { transfer: None, seed: first_seed(self.scenario.seed) };
        self.open.insert(tag, of);
        Some(self.task(tag, first, LINE_BYTES, of))
    }

    /// A transfer that waited for a page that is mapped now.
    fn retry(&mut self) -> Option<Task> {
        let of = *self.again.front()?;
        let first = self.visits.first_line(of.transfer?);
        let ready = self.agent.translator.as_ref()?.mapped(first, self.scenario.lines());
        let tag = self.tags.front().copied().filter(|_| ready)?;
        self.tags.pop_front();
        self.again.pop_front();
        self.open.insert(tag, of);
        self.expect_stores(first, of);
        Some(self.task(tag, first, self.scenario.workload.bytes, of))
    }

    /// A write stores each of its lines.
    fn expect_stores(&mut self, first: u64, of: Open) {
        let Some(transfer) = of.transfer.filter(|_| self.scenario.stores_at_home()) else { return };
        self.stores.expect(transfer, first..first + self.scenario.lines(), true);
    }

    /// A task met a page without a translation.
    fn fault(&mut self, of: Open) {
        let Some(transfer) = of.transfer.filter(|_| self.agent.translator.as_ref().is_some())
        else {
            return self.fail("a fault, and every page is mapped".to_owned());
        };
        self.note_stored();
        let first = self.visits.first_line(transfer);
        self.stores.forget(transfer, first..first + self.scenario.lines());
        self.outcome.retries += 1;
        self.again.push_back(of);
    }

    /// Transfers that are no longer in flight.
    fn out_of_flight(&self) -> u64 {
        match self.scenario.workload.until_visible && self.scenario.stores_at_home() {
            true => self.stores.visible().min(self.ended),
            false => self.ended,
        }
    }

    fn counts(&self) -> Counts {
        Counts {
            at: self.sim.now(),
            up: self.agent.link.carried(Way::Up),
            down: self.agent.link.carried(Way::Down),
            requests: self.ended * self.scenario.lines(),
            walks: self.agent.translator.as_ref().map_or(0, |translator| translator.walks().walks),
            granted: self.agent.home.transfers().granted,
            direct: self.agent.translator.as_ref().map_or(0, |one| one.events().direct),
        }
    }

    /// Compares the writes that became visible since the last call.
    fn note_stored(&mut self) {
        for stored in self.agent.home.take_stored() {
            if !self.stores.seen(stored.index, stored.at, &mut self.outcome.times) {
                return self.fail(format!("line {} was written twice", stored.index));
            }
            if stored.line != self.outcome.lines.line(stored.index) {
                return self.fail(format!("line {} was written wrong", stored.index));
            }
        }
    }

    fn fail(&mut self, reason: String) {
        self.wrong.get_or_insert(reason);
    }
}

impl TaskUser for Logic {
    fn offer(&mut self, time: Picoseconds) -> Option<Task> {
        if self.tags.is_empty() {
            return None;
        }
        if let Some(task) = self.touch() {
            return Some(task);
        }
        self.begin_move();
        if let Some(task) = self.retry() {
            return Some(task);
        }
        if self.scenario.workload.until_visible {
            self.note_stored();
        }
        let ended = self.out_of_flight();
        let (transfer, due) = self.pace.begin(time, ended)?;
        let tag = self.tags.pop_front()?;
        self.outcome.times.due.push(due);
        let write = self.scenario.writes();
        let first = self.visits.first_line(transfer);
        let seed = if write { self.random.bits() as u32 } else { first_seed(self.scenario.seed) };
        let of = Open { transfer: Some(transfer), seed };
        self.open.insert(tag, of);
        if write {
            for line in 0..self.scenario.lines() {
                let (index, bytes) = (first + line, self.scenario.bytes_of(line));
                let data = pattern(self.agent.base() + index, seed);
                self.outcome.lines.line_mut(index)[..bytes].copy_from_slice(&data[..bytes]);
            }
            self.expect_stores(first, of);
        }
        Some(self.task(tag, first, self.scenario.workload.bytes, of))
    }

    fn done(&mut self, time: Picoseconds, tag: u8, fault: bool) {
        self.last = time;
        let Some(of) = self.open.remove(&tag) else {
            return self.fail(format!("task {tag}, which is not open, is done"));
        };
        self.tags.push_back(tag);
        if fault {
            return self.fault(of);
        }
        let Some(transfer) = of.transfer else { return };
        self.ended += 1;
        self.outcome.times.known[transfer as usize] = time;
        if !self.scenario.stores_at_home() {
            self.outcome.times.done[transfer as usize] = time;
        }
        self.outcome.checked += self.scenario.workload.bytes as u64;
        self.sim.count_transfers(1);
        let counted = self.scenario.counted();
        if self.ended == counted.start {
            self.outcome.from = self.counts();
        }
        if self.ended == counted.end {
            self.outcome.until = self.counts();
        }
        self.note_stored();
    }
}

/// Runs all transfers, and one more that is observed.
pub(super) fn run(world: &World, scenario: &CcixScenario) -> Result<Outcome, RoadError> {
    let logic = Rc::new(RefCell::new(Logic::new(world, scenario)?));
    TaskPins::attach(&world.fpga, &logic)?;
    if !logic.borrow().touches.is_empty() {
        complete(world, scenario, &logic)?;
    }
    logic.borrow_mut().begin()?;
    complete(world, scenario, &logic)?;
    world.agent.link.remember(true);
    world.simulation.probes().set_enabled(true);
    logic.borrow_mut().pace.observe();
    complete(world, scenario, &logic)?;
    let outcome = std::mem::take(&mut logic.borrow_mut().outcome);
    Ok(outcome)
}

/// Runs until all transfers that may begin have ended.
fn complete(
    world: &World,
    scenario: &CcixScenario,
    logic: &Rc<RefCell<Logic>>,
) -> Result<(), RoadError> {
    let seed = scenario.seed;
    world.complete(seed, STUCK, || {
        let mut logic = logic.borrow_mut();
        logic.note_stored();
        let waits = !logic.open.is_empty() || !logic.again.is_empty();
        match &logic.wrong {
            Some(wrong) => Progress::Wrong(wrong.clone()),
            None if logic.is_done() => Progress::Done,
            None => Progress::Going {
                last: if waits { logic.last } else { world.simulation.handle().now() },
                ended: format!("{} of {} transfers", logic.ended, logic.pace.limit()),
            },
        }
    })?;
    world.simulation.run_for(SETTLE)?;
    world.check(seed)?;
    let mut logic = logic.borrow_mut();
    logic.note_stored();
    let missing = logic.stores.missing();
    if missing > 0 {
        return Err(RoadError::Violation(format!(
            "ccix: {missing} acknowledged writes are not in memory; seed {seed}"
        )));
    }
    Ok(())
}
