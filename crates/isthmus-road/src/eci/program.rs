// SPDX-License-Identifier: Apache-2.0
//! The FPGA's own logic: it reads or writes ranges of host memory, line by line, and checks every byte.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::rc::Rc;

use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::{RandomStream, Sim};
use isthmus_sim::world::lines::{Line, LineMemory, LineRequest, LineUser, LineUserPins};

use super::scenario::{EciScenario, REGION_LINES};
use super::world::{Status, World, first_lines, random_line};
use crate::arrivals::Starts;
use crate::error::RoadError;

const CHUNK: Picoseconds = Picoseconds::from_us(1);
/// Without any response for this long the link has stopped.
const STUCK: Picoseconds = Picoseconds::from_us(500);
/// Longer than a store takes to be visible once it is acknowledged, and than blocks in flight.
const SETTLE: Picoseconds = Picoseconds::from_us(2);

/// The counters of the direction with the data, at a time.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) at: Picoseconds,
    pub(super) words: u32,
    pub(super) blocks: u32,
    pub(super) bad: u64,
    pub(super) again: u64,
}

/// What came of a run.
pub(super) struct Outcome {
    /// Intended starts of all transfers, the observed one last.
    pub(super) due: Vec<Picoseconds>,
    /// When each had its last line: read, or visible in host memory.
    pub(super) done: Vec<Picoseconds>,
    /// When the FPGA knew it.
    pub(super) known: Vec<Picoseconds>,
    pub(super) from: Counts,
    pub(super) until: Counts,
    /// Bytes compared.
    pub(super) checked: u64,
    /// What memory must have.
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

    /// From a transfer's start until the FPGA knew that it was done, on the mean.
    pub(super) fn acknowledged_ps(&self, of: &Range<u64>) -> f64 {
        let of = of.start as usize..of.end as usize;
        let spans = self.known[of.clone()].iter().zip(&self.due[of.clone()]);
        spans.map(|(known, due)| (*known - *due).0 as f64).sum::<f64>() / of.len().max(1) as f64
    }
}

/// A line that was asked for.
struct Open {
    transfer: u64,
    index: u64,
    bytes: usize,
}

struct Logic {
    sim: Sim,
    scenario: EciScenario,
    memory: Rc<RefCell<LineMemory>>,
    status: [Rc<Status>; 2],
    random: RandomStream,
    starts: Option<Starts>,
    next_start: Option<Picoseconds>,
    /// Transfers that may begin: up to here.
    limit: u64,
    /// Transfers begun, and lines of the last one that were asked for.
    begun: u64,
    asked: u64,
    /// Lines of each transfer that are open or not yet asked for.
    missing: BTreeMap<u64, u64>,
    tags: VecDeque<u8>,
    open: BTreeMap<u8, Open>,
    /// Transfers whose store to a line is not yet visible.
    storing: BTreeMap<u64, VecDeque<u64>>,
    ended: u64,
    last: Picoseconds,
    wrong: Option<String>,
    outcome: Outcome,
}

impl Logic {
    fn new(world: &World, scenario: &EciScenario) -> Result<Self, RoadError> {
        let sim = world.simulation.handle();
        let transfers = scenario.series() as usize + 1;
        let rate = scenario.arrivals()?.rate_per_s();
        let random = RandomStream::new(scenario.seed, "eci:arrivals");
        let mut starts = rate.map(|rate| Starts::new(rate, random, sim.now()));
        Ok(Self {
            next_start: starts.as_mut().and_then(Iterator::next),
            starts,
            scenario: scenario.clone(),
            memory: Rc::clone(&world.memory),
            status: world.status.clone(),
            random: RandomStream::new(scenario.seed, "eci:data"),
            limit: scenario.series(),
            begun: 0,
            asked: 0,
            missing: BTreeMap::new(),
            tags: (0..=u8::MAX).collect(),
            open: BTreeMap::new(),
            storing: BTreeMap::new(),
            ended: 0,
            last: sim.now(),
            wrong: None,
            outcome: Outcome {
                due: Vec::with_capacity(transfers),
                done: vec![Picoseconds::ZERO; transfers],
                known: vec![Picoseconds::ZERO; transfers],
                from: Counts::default(),
                until: Counts::default(),
                checked: 0,
                lines: first_lines(scenario.seed),
            },
            sim,
        })
    }

    /// Begins a transfer if one may begin at `time`.
    fn begin(&mut self, time: Picoseconds) -> bool {
        if self.begun == self.limit {
            return false;
        }
        let observed = self.begun == self.scenario.series();
        let due = match self.next_start.filter(|_| !observed) {
            Some(start) if start > time => return false,
            Some(start) => {
                self.next_start = self.starts.as_mut().and_then(Iterator::next);
                start
            }
            None => {
                let window = u64::from(self.scenario.workload.window.unwrap_or(1));
                if self.begun - self.ended >= window {
                    return false;
                }
                time
            }
        };
        self.outcome.due.push(due);
        self.missing.insert(self.begun, self.scenario.lines());
        (self.begun, self.asked) = (self.begun + 1, 0);
        true
    }

    fn counts(&self) -> Counts {
        let data = &self.status[usize::from(!self.scenario.writes())];
        let sum = |pin: fn(&Status) -> u64| self.status.iter().map(|end| pin(end)).sum();
        Counts {
            at: self.sim.now(),
            words: data.words.get() as u32,
            blocks: data.blocks.get() as u32,
            bad: sum(|end| end.bad.get()),
            again: sum(|end| end.again.get()),
        }
    }

    /// The stores that became visible since this was last asked.
    fn note_stored(&mut self) {
        let stored = self.memory.borrow_mut().take_stored();
        for (index, at) in stored {
            let transfer = self.storing.get_mut(&index).and_then(VecDeque::pop_front);
            if let Some(transfer) = transfer {
                let done = &mut self.outcome.done[transfer as usize];
                *done = (*done).max(at);
            }
        }
    }

    fn end(&mut self, time: Picoseconds, transfer: u64) {
        self.missing.remove(&transfer);
        self.ended += 1;
        self.outcome.known[transfer as usize] = time;
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

impl LineUser for Logic {
    fn offer(&mut self, time: Picoseconds) -> Option<LineRequest> {
        if (self.begun == 0 || self.asked == self.scenario.lines()) && !self.begin(time) {
            return None;
        }
        let tag = self.tags.pop_front()?;
        let (transfer, line) = (self.begun - 1, self.asked);
        let index = (transfer * self.scenario.lines() + line) % REGION_LINES;
        let bytes = self.scenario.bytes_of(line);
        let store = self.scenario.writes().then(|| {
            let data = random_line(&mut self.random);
            let mask = u128::MAX >> (128 - bytes);
            self.outcome.lines[index as usize][..bytes].copy_from_slice(&data[..bytes]);
            self.storing.entry(index).or_default().push_back(transfer);
            (mask, data)
        });
        self.asked += 1;
        self.open.insert(tag, Open { transfer, index, bytes });
        Some(LineRequest { index, tag, store })
    }

    fn response(&mut self, time: Picoseconds, tag: u8, line: &Line) {
        self.last = time;
        let Some(open) = self.open.remove(&tag) else {
            return self.fail(format!("a response to tag {tag}, which is not open"));
        };
        self.tags.push_back(tag);
        if !self.scenario.writes() {
            let must = &self.outcome.lines[open.index as usize][..open.bytes];
            if line[..open.bytes] != *must {
                return self.fail(format!(
                    "line {} of transfer {} has wrong bytes",
                    open.index, open.transfer
                ));
            }
            self.outcome.done[open.transfer as usize] = time;
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

/// Runs all transfers, and one more that is observed.
pub(super) fn run(world: &World, scenario: &EciScenario) -> Result<Outcome, RoadError> {
    let logic = Rc::new(RefCell::new(Logic::new(world, scenario)?));
    LineUserPins::attach(&world.fpga, &logic)?;
    if scenario.counted().start == 0 {
        let counts = logic.borrow().counts();
        logic.borrow_mut().outcome.from = counts;
    }
    complete(world, scenario, &logic)?;
    world.lanes.iter().for_each(|lanes| lanes.borrow_mut().remember(true));
    world.simulation.probes().set_enabled(true);
    logic.borrow_mut().limit += 1;
    complete(world, scenario, &logic)?;
    let mut logic = logic.borrow_mut();
    let empty = Outcome {
        due: Vec::new(),
        done: Vec::new(),
        known: Vec::new(),
        from: Counts::default(),
        until: Counts::default(),
        checked: 0,
        lines: Vec::new(),
    };
    Ok(std::mem::replace(&mut logic.outcome, empty))
}

/// Runs until all transfers that may begin have ended, and what they stored is visible.
fn complete(
    world: &World,
    scenario: &EciScenario,
    logic: &Rc<RefCell<Logic>>,
) -> Result<(), RoadError> {
    loop {
        world.simulation.run_for(CHUNK)?;
        let mut logic = logic.borrow_mut();
        logic.note_stored();
        let seed = scenario.seed;
        if let Some(wrong) = &logic.wrong {
            return Err(RoadError::Violation(format!("eci: {wrong}; seed {seed}")));
        }
        if logic.ended == logic.limit {
            break;
        }
        let waits = !logic.open.is_empty();
        if waits && world.simulation.handle().now() - logic.last > STUCK {
            return Err(RoadError::Violation(format!(
                "eci: stuck after {} of {} transfers: {} lines are open and none was answered for {STUCK}; \
                 seed {seed}",
                logic.ended,
                logic.limit,
                logic.open.len()
            )));
        }
    }
    world.simulation.run_for(SETTLE)?;
    let mut logic = logic.borrow_mut();
    logic.note_stored();
    let missing: usize = logic.storing.values().map(VecDeque::len).sum();
    if missing > 0 {
        let reason =
            format!("eci: {missing} acknowledged stores are not in memory; seed {}", scenario.seed);
        return Err(RoadError::Violation(reason));
    }
    Ok(())
}
