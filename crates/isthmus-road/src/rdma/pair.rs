// SPDX-License-Identifier: Apache-2.0
//! What becomes of one pair's transfers, seen from beside its programs: it costs no simulated time.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;

use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::Sim;
use isthmus_sim::world::host::MmioHost;

use super::breakdown::Observer;
use super::program::ProgramOutcome;
use super::scenario::RdmaScenario;
use super::usage::{Meters, Usage};
use crate::arrivals::is_saturated;
use crate::error::RoadError;

const BEAT: usize = 8;
const PACKET: usize = 512;
const SETTLE_STEP: Picoseconds = Picoseconds::from_ns(100);

/// A series of transfers from one host to another, and one more behind it that is observed.
pub(super) struct Pair {
    sim: Sim,
    seed: u64,
    /// Transfers of the series that count.
    counted: Range<u64>,
    /// Transfers of the series.
    series: u64,
    meters: Rc<Meters>,
    observer: Option<Rc<Observer>>,
    due: RefCell<Vec<Picoseconds>>,
    /// When each transfer was done.
    done: RefCell<Vec<Option<Picoseconds>>>,
    /// When its sender knew.
    known: RefCell<Vec<Picoseconds>>,
    count: Cell<u64>,
    usage: RefCell<[Usage; 2]>,
    checked: Cell<u64>,
    wrong: RefCell<Option<RoadError>>,
}

/// What a series came to.
pub(super) struct Series {
    pub(super) outcome: ProgramOutcome,
    /// Intended starts of all transfers, the observed one last.
    pub(super) due: Vec<Picoseconds>,
    /// Transfers before and behind those that count.
    pub(super) excluded: (u64, u64),
    pub(super) saturated: bool,
    /// From a transfer's start until its sender knew that it was done, on the mean.
    pub(super) known_ps: f64,
    pub(super) usage: [Usage; 2],
}

impl Pair {
    /// Pairs without an observer have no observed transfer of their own.
    pub(super) fn new(
        sim: &Sim,
        scenario: &RdmaScenario,
        meters: &Rc<Meters>,
        observer: Option<&Rc<Observer>>,
    ) -> Result<Rc<Self>, RoadError> {
        let (head, tail) = scenario.excluded()?;
        let counted = head..head + scenario.workload.iterations;
        let series = counted.end + tail;
        Ok(Rc::new(Self {
            sim: sim.clone(),
            seed: scenario.seed,
            counted,
            series,
            meters: Rc::clone(meters),
            observer: observer.map(Rc::clone),
            due: RefCell::default(),
            done: RefCell::new(vec![None; series as usize + usize::from(observer.is_some())]),
            known: RefCell::default(),
            count: Cell::default(),
            usage: RefCell::default(),
            checked: Cell::default(),
            wrong: RefCell::default(),
        }))
    }

    /// Transfers of the series; the observed one has this number.
    pub(super) fn series(&self) -> u64 {
        self.series
    }

    /// All transfers, with the observed one where there is one.
    pub(super) fn all(&self) -> u64 {
        self.series + u64::from(self.observer.is_some())
    }

    /// The next transfer, due at `due`, begins.
    pub(super) fn begin(&self, due: Picoseconds) {
        let number = self.due.borrow().len() as u64;
        self.due.borrow_mut().push(due);
        if number == self.series
            && let Some(observer) = &self.observer
        {
            observer.observe(true);
        }
    }

    /// A transfer is done now.
    pub(super) fn end(&self, transfer: u64) {
        if let Some(done) = self.done.borrow_mut().get_mut(transfer as usize) {
            *done = Some(self.sim.now());
        }
        if transfer == self.series {
            if let Some(observer) = &self.observer {
                observer.observe(false);
            }
            return;
        }
        self.sim.count_transfers(1);
        self.count.set(self.count.get() + 1);
        let marks = [self.counted.start, self.counted.end];
        for (usage, _) in self
            .usage
            .borrow_mut()
            .iter_mut()
            .zip(marks)
            .filter(|(_, mark)| *mark == self.count.get())
        {
            *usage = self.meters.read();
        }
    }

    /// The sender now knows how many are done.
    pub(super) fn know(&self, count: u64) {
        self.known.borrow_mut().resize(count as usize, self.sim.now());
    }

    /// Ends a write into `memory` at `place` once all of `expected` is there, and compares it.
    pub(super) fn watch(
        self: &Rc<Self>,
        transfer: u64,
        remote: &MmioHost,
        place: usize,
        expected: Vec<u8>,
    ) {
        let (pair, memory) = (Rc::clone(self), remote.memory().clone());
        drop(self.sim.spawn(async move {
            // A packet is written in ascending order, but not one behind the other.
            let ends = (PACKET..expected.len()).step_by(PACKET).chain([expected.len()]);
            let ends: Vec<Range<usize>> = ends.map(|end| end - BEAT..end).collect();
            let all =
                |bytes: &[u8]| ends.iter().all(|end| bytes[end.clone()] == expected[end.clone()]);
            if let Err(error) = memory.watch(place, expected.len(), all).await {
                return pair.fail(RoadError::Inconsistent(format!("rdma: {error}")));
            }
            pair.end(transfer);
            let found = memory.read(place, expected.len()).unwrap_or_default();
            let wrong = found.iter().zip(&expected).position(|(is, must)| is != must);
            match wrong {
                None => pair.checked.set(pair.checked.get() + expected.len() as u64),
                Some(at) => pair.fail(RoadError::Violation(format!(
                    "rdma: byte {at} of transfer {transfer} is {:#04x}, must be {:#04x}; seed {}",
                    found[at], expected[at], pair.seed
                ))),
            }
        }));
    }

    /// Waits until what was acknowledged is at its destination: the way into its memory may be longer than
    /// that of the acknowledgement.
    pub(super) async fn settle(&self, limit: Picoseconds) {
        let end = self.sim.now() + limit;
        let missing = || self.done.borrow().iter().any(Option::is_none);
        while missing() && self.sim.now() < end {
            self.sim.sleep(SETTLE_STEP).await;
        }
    }

    fn fail(&self, error: RoadError) {
        self.wrong.borrow_mut().get_or_insert(error);
    }

    /// What came of it, once its programs have ended.
    pub(super) fn finish(&self) -> Result<Series, RoadError> {
        if let Some(wrong) = self.wrong.take() {
            return Err(wrong);
        }
        let due = self.due.borrow().clone();
        let done: Option<Vec<Picoseconds>> = self.done.borrow().iter().copied().collect();
        let Some(done) = done else {
            let missing = self.done.borrow().iter().position(Option::is_none).unwrap_or_default();
            return Err(RoadError::Violation(format!(
                "rdma: transfer {missing} of {} was acknowledged and is not at its destination; seed {}",
                done_count(&self.done.borrow()),
                self.seed
            )));
        };
        let counted = self.counted.start as usize..self.counted.end as usize;
        let samples = counted.clone().map(|transfer| done[transfer] - due[transfer]).collect();
        let mut order = done[..self.series as usize].to_vec();
        order.sort_unstable();
        let from = match counted.start {
            0 => due.first().copied().unwrap_or_default(),
            start => order[start - 1],
        };
        let known = self.known.borrow();
        let held = counted.clone().map(|transfer| (known[transfer] - due[transfer]).0 as f64);
        let known_ps = held.sum::<f64>() / counted.len().max(1) as f64;
        let observed = (due.last().copied()).zip(done.last().copied());
        Ok(Series {
            outcome: ProgramOutcome {
                samples,
                interval: Some((from, order[counted.end - 1])),
                arrived: counted.len() as u64,
                skipped: self.counted.start,
                checked: self.checked.get(),
                observed: observed.filter(|_| self.observer.is_some()),
            },
            saturated: is_saturated(&due, &order, counted.clone()),
            excluded: (self.counted.start, self.series - self.counted.end),
            known_ps,
            usage: self.usage.borrow().clone(),
            due,
        })
    }
}

fn done_count(done: &[Option<Picoseconds>]) -> usize {
    done.iter().filter(|done| done.is_some()).count()
}
