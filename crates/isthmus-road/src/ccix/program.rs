// SPDX-License-Identifier: Apache-2.0
//! Commands to the traffic generator, transfer by transfer, and the check of what they wrote.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::rc::Rc;

use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::{RandomStream, Sim};
use isthmus_sim::world::ccix::{Carried, Way};
use isthmus_sim::world::tasks::{Task, TaskPins, TaskUser};

use super::home::{Line, pattern};
use super::scenario::{CcixScenario, LINE_BYTES};
use super::world::{Side, World, first_lines, first_seed};
use crate::arrivals::Starts;
use crate::error::RoadError;

const CHUNK: Picoseconds = Picoseconds::from_us(1);
/// A run in which no transfer ends for this long is an error: the link has stopped.
const STUCK: Picoseconds = Picoseconds::from_us(500);
/// Longer than the comparison of data takes after its response.
const SETTLE: Picoseconds = Picoseconds::from_us(1);
const MOST_TASKS: u8 = 128;

/// Traffic of the link up to one time, to the host and back.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) at: Picoseconds,
    pub(super) up: Carried,
    pub(super) down: Carried,
    /// Lines of completed transfers: one message each way.
    pub(super) requests: u64,
}

/// Result of a run.
#[derive(Default)]
pub(super) struct Outcome {
    /// Intended starts of all transfers, the observed one last.
    pub(super) due: Vec<Picoseconds>,
    /// When the last line of each transfer was read, or was visible in host memory.
    pub(super) done: Vec<Picoseconds>,
    /// When the FPGA knew that each transfer was done.
    pub(super) known: Vec<Picoseconds>,
    pub(super) from: Counts,
    pub(super) until: Counts,
    /// Number of bytes compared.
    pub(super) checked: u64,
    /// Expected content of memory.
    pub(super) lines: Vec<Line>,
}

impl Outcome {
    pub(super) fn samples(&self, of: &Range<u64>) -> impl Iterator<Item = Picoseconds> {
        let of = of.start as usize..of.end as usize;
        self.done[of.clone()].iter().zip(&self.due[of]).map(|(done, due)| *done - *due)
    }

    pub(super) fn ends_in_order(&self) -> Vec<Picoseconds> {
        let mut ends = self.done.clone();
        ends.sort_unstable();
        ends
    }

    /// Mean time from a transfer's start until the FPGA knew that it was done.
    pub(super) fn acknowledged_ps(&self, of: &Range<u64>) -> f64 {
        let of = of.start as usize..of.end as usize;
        let spans = self.known[of.clone()].iter().zip(&self.due[of.clone()]);
        spans.map(|(known, due)| (*known - *due).0 as f64).sum::<f64>() / of.len().max(1) as f64
    }
}

struct Logic {
    sim: Sim,
    scenario: CcixScenario,
    side: Rc<Side>,
    random: RandomStream,
    starts: Option<Starts>,
    next_start: Option<Picoseconds>,
    /// Transfers below this number may begin.
    limit: u64,
    begun: u64,
    tags: VecDeque<u8>,
    open: BTreeMap<u8, u64>,
    /// Transfers whose write to a line is not yet visible.
    storing: BTreeMap<u64, VecDeque<u64>>,
    ended: u64,
    last: Picoseconds,
    wrong: Option<String>,
    outcome: Outcome,
}

impl Logic {
    fn new(world: &World, scenario: &CcixScenario) -> Result<Self, RoadError> {
        let sim = world.simulation.handle();
        let transfers = scenario.series() as usize + 1;
        let rate = scenario.arrivals()?.rate_per_s();
        let random = RandomStream::new(scenario.seed, "ccix:arrivals");
        let mut starts = rate.map(|rate| Starts::new(rate, random, sim.now()));
        Ok(Self {
            next_start: starts.as_mut().and_then(Iterator::next),
            starts,
            scenario: scenario.clone(),
            side: Rc::clone(&world.side),
            random: RandomStream::new(scenario.seed, "ccix:data"),
            limit: scenario.series(),
            begun: 0,
            tags: (0..MOST_TASKS).collect(),
            open: BTreeMap::new(),
            storing: BTreeMap::new(),
            ended: 0,
            last: sim.now(),
            wrong: None,
            outcome: Outcome {
                done: vec![Picoseconds::ZERO; transfers],
                known: vec![Picoseconds::ZERO; transfers],
                lines: first_lines(scenario.seed, world.side.base()),
                ..Outcome::default()
            },
            sim,
        })
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
                (self.begun - self.ended < window).then_some(time)
            }
        }
    }

    fn counts(&self) -> Counts {
        Counts {
            at: self.sim.now(),
            up: self.side.carried(Way::Up),
            down: self.side.carried(Way::Down),
            requests: self.ended * self.scenario.lines(),
        }
    }

    /// Compares the writes that became visible since the last call.
    fn note_stored(&mut self) {
        for stored in self.side.take_stored() {
            let Some(transfer) = self.storing.get_mut(&stored.index).and_then(VecDeque::pop_front)
            else {
                return self.fail(format!("line {} was written twice", stored.index));
            };
            let done = &mut self.outcome.done[transfer as usize];
            *done = (*done).max(stored.at);
            if stored.line != self.outcome.lines[stored.index as usize] {
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
        let due = self.due(time)?;
        let tag = self.tags.pop_front()?;
        let transfer = self.begun;
        self.begun += 1;
        self.outcome.due.push(due);
        self.open.insert(tag, transfer);
        let write = self.scenario.writes();
        let first = self.scenario.first_line(transfer);
        let seed = if write { self.random.bits() as u32 } else { first_seed(self.scenario.seed) };
        if write {
            for line in 0..self.scenario.lines() {
                let (index, bytes) = (first + line, self.scenario.bytes_of(line));
                let data = pattern(self.side.base() + index, seed);
                self.outcome.lines[index as usize][..bytes].copy_from_slice(&data[..bytes]);
                self.storing.entry(index).or_default().push_back(transfer);
            }
        }
        Some(Task {
            write,
            tag,
            address: (self.side.base() + first) * LINE_BYTES as u64,
            bytes: self.scenario.workload.bytes as u32,
            seed,
        })
    }

    fn done(&mut self, time: Picoseconds, tag: u8) {
        self.last = time;
        let Some(transfer) = self.open.remove(&tag) else {
            return self.fail(format!("task {tag}, which is not open, is done"));
        };
        self.tags.push_back(tag);
        self.ended += 1;
        self.outcome.known[transfer as usize] = time;
        if !self.scenario.writes() {
            self.outcome.done[transfer as usize] = time;
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
    if scenario.counted().start == 0 {
        let counts = logic.borrow().counts();
        logic.borrow_mut().outcome.from = counts;
    }
    complete(world, scenario, &logic)?;
    if let Side::Agent { link, .. } = &*world.side {
        link.remember(true);
    }
    world.simulation.probes().set_enabled(true);
    logic.borrow_mut().limit += 1;
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
    loop {
        world.simulation.run_for(CHUNK)?;
        world.check(seed)?;
        let mut logic = logic.borrow_mut();
        logic.note_stored();
        if let Some(wrong) = &logic.wrong {
            return Err(RoadError::Violation(format!("ccix: {wrong}; seed {seed}")));
        }
        if logic.ended == logic.limit {
            break;
        }
        let waits = !logic.open.is_empty();
        if waits && world.simulation.handle().now() - logic.last > STUCK {
            return Err(RoadError::Violation(format!(
                "ccix: stuck after {} of {} transfers: none ended for {STUCK}; seed {seed}",
                logic.ended, logic.limit
            )));
        }
    }
    world.simulation.run_for(SETTLE)?;
    world.check(seed)?;
    let mut logic = logic.borrow_mut();
    logic.note_stored();
    let missing: usize = logic.storing.values().map(VecDeque::len).sum();
    if missing > 0 {
        return Err(RoadError::Violation(format!(
            "ccix: {missing} acknowledged writes are not in memory; seed {seed}"
        )));
    }
    Ok(())
}
