// SPDX-License-Identifier: Apache-2.0
//! I/O accesses, interrupts and barriers over the link: one end issues them, and every word is checked.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::{RandomStream, Sim};
use isthmus_sim::world::words::{WordEvent, WordKind, WordPins, WordRequest, WordUser};

use super::program::{CHUNK, Counts, Outcome, STUCK};
use super::scenario::{EciDriver, EciScenario, WORD_BYTES};
use super::world::{Status, World};
use crate::arrivals::{Starts, stream};
use crate::error::RoadError;

/// Words of a device's register file.
const REGISTERS: u64 = 64;

/// Phases of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// All registers are written.
    Fill,
    /// Transfers.
    Measure,
    /// All registers are read.
    Read,
}

/// An open request: its number in its phase.
type Open = (Phase, u64);

struct Issuer {
    sim: Sim,
    scenario: EciScenario,
    status: [Rc<Status>; 2],
    random: RandomStream,
    /// The program's way to the link's logic, and back.
    core: Picoseconds,
    starts: Option<Starts>,
    next_start: Option<Picoseconds>,
    phase: Phase,
    /// Requests of the phase that may be issued, were, and are done.
    limit: u64,
    begun: u64,
    ended: u64,
    tags: VecDeque<u8>,
    open: BTreeMap<u8, Open>,
    /// Requests on the program's way to the link, and when they are there.
    leaving: VecDeque<(Picoseconds, WordRequest)>,
    /// Transfers that the far end has not seen: stores and interrupts.
    unseen: VecDeque<u64>,
    /// When transfers end, in order.
    ending: VecDeque<(Picoseconds, u64)>,
    registers: Vec<u64>,
    last: Picoseconds,
    wrong: Option<String>,
    outcome: Outcome,
}

/// The bytes of a word that transfer number `transfer` accesses: as many, elsewhere each time.
fn mask_of(transfer: u64, bytes: usize) -> u8 {
    let places = (WORD_BYTES - bytes + 1) as u64;
    (0xFF_u8 >> (WORD_BYTES - bytes)) << (transfer % places)
}

/// A mask of bytes as a mask of bits.
fn bits_of(mask: u8) -> u64 {
    (0..WORD_BYTES).filter(|byte| mask >> byte & 1 != 0).map(|byte| 0xFF << (8 * byte)).sum()
}

impl Issuer {
    fn new(world: &World, scenario: &EciScenario) -> Result<Self, RoadError> {
        let sim = world.simulation.handle();
        let transfers = scenario.series() as usize + 1;
        Ok(Self {
            scenario: scenario.clone(),
            status: world.status.clone(),
            random: RandomStream::new(scenario.seed, "eci:words"),
            core: Picoseconds::from_ns_f64(scenario.platform.core_ns),
            starts: None,
            next_start: None,
            phase: Phase::Fill,
            limit: if scenario.workload.driver == EciDriver::Io { REGISTERS } else { 0 },
            begun: 0,
            ended: 0,
            // As many as the gateware keeps open.
            tags: (0..32).collect(),
            open: BTreeMap::new(),
            leaving: VecDeque::new(),
            unseen: VecDeque::new(),
            ending: VecDeque::new(),
            registers: vec![0; REGISTERS as usize],
            last: sim.now(),
            wrong: None,
            outcome: Outcome::new(transfers, Vec::new()),
            sim,
        })
    }

    /// From the issuing program to the link's logic.
    fn out(&self) -> Picoseconds {
        if self.scenario.by_host() { self.core } else { Picoseconds::ZERO }
    }

    /// From the link's logic to the program that waits at this end.
    fn back(&self) -> Picoseconds {
        self.out()
    }

    /// From the link's logic at the far end to the program there.
    fn far(&self) -> Picoseconds {
        if self.scenario.by_host() { Picoseconds::ZERO } else { self.core }
    }

    fn enter(&mut self, phase: Phase, limit: u64) -> Result<(), RoadError> {
        (self.phase, self.limit, self.begun, self.ended) = (phase, limit, 0, 0);
        if phase == Phase::Measure {
            let rate = self.scenario.arrivals()?.rate_per_s();
            let random = stream(self.scenario.seed);
            self.starts = rate.map(|rate| Starts::new(rate, random, self.sim.now()));
            self.next_start = self.starts.as_mut().and_then(Iterator::next);
            self.note(self.sim.now());
        }
        Ok(())
    }

    /// Ends transfers that are due, and notes the counters where the measured ones begin and end.
    fn note(&mut self, time: Picoseconds) {
        let counted = self.scenario.counted();
        if self.phase == Phase::Measure && self.begun == 0 && counted.start == 0 {
            self.outcome.from = Counts::at(&self.sim, &self.scenario, &self.status);
        }
        while self.ending.front().is_some_and(|(at, _)| *at <= time) {
            self.ending.pop_front();
            self.ended += 1;
            if self.phase != Phase::Measure {
                continue;
            }
            self.sim.count_transfers(1);
            if self.ended == counted.start {
                self.outcome.from = Counts::at(&self.sim, &self.scenario, &self.status);
            }
            if self.ended == counted.end {
                self.outcome.until = Counts::at(&self.sim, &self.scenario, &self.status);
            }
        }
    }

    /// When the next request of the phase is due, if it may begin at `time`.
    fn due(&mut self, time: Picoseconds) -> Option<Picoseconds> {
        if self.begun == self.limit {
            return None;
        }
        let alone = self.phase != Phase::Measure || self.begun == self.scenario.series();
        match self.next_start.filter(|_| !alone) {
            Some(start) if start > time => None,
            Some(start) => {
                self.next_start = self.starts.as_mut().and_then(Iterator::next);
                Some(start)
            }
            None => {
                let window = self.scenario.workload.window.filter(|_| !alone).unwrap_or(1);
                (self.begun - self.ended < u64::from(window)).then_some(time)
            }
        }
    }

    fn request(&mut self, number: u64, tag: u8) -> WordRequest {
        let measured = self.phase == Phase::Measure;
        let bytes = if measured { self.scenario.workload.bytes } else { WORD_BYTES };
        let (register, mask) = (number % REGISTERS, mask_of(number, bytes));
        let kind = match (self.scenario.workload.driver, self.phase) {
            (EciDriver::Ipi, _) => WordKind::Interrupt,
            (EciDriver::Barrier, _) => WordKind::Barrier,
            (_, Phase::Fill) => WordKind::Store,
            (_, Phase::Measure) if !self.scenario.reads_words() => WordKind::Store,
            _ => WordKind::Load,
        };
        let data = self.random.bits();
        if kind == WordKind::Store {
            let word = &mut self.registers[register as usize];
            *word = *word & !bits_of(mask) | data & bits_of(mask);
        }
        let address = if kind == WordKind::Interrupt { number } else { 8 * register };
        WordRequest { kind, address, mask, tag, data }
    }

    fn fail(&mut self, reason: String) {
        self.wrong.get_or_insert(reason);
    }
}

impl WordUser for Issuer {
    fn offer(&mut self, time: Picoseconds) -> Option<WordRequest> {
        self.note(time);
        if !self.tags.is_empty()
            && let Some(due) = self.due(time)
            && let Some(tag) = self.tags.pop_front()
        {
            let request = self.request(self.begun, tag);
            if self.phase == Phase::Measure {
                self.outcome.times.due.push(due);
                if matches!(request.kind, WordKind::Store | WordKind::Interrupt) {
                    self.unseen.push_back(self.begun);
                }
            }
            if request.kind == WordKind::Interrupt {
                self.tags.push_back(tag);
            } else {
                self.open.insert(tag, (self.phase, self.begun));
            }
            self.begun += 1;
            self.leaving.push_back((time + self.out(), request));
        }
        let leaves = self.leaving.front().is_some_and(|(at, _)| *at <= time);
        if leaves { self.leaving.pop_front().map(|(_, request)| request) } else { None }
    }

    fn response(&mut self, time: Picoseconds, tag: u8, data: u64) {
        self.last = time;
        let Some((phase, number)) = self.open.remove(&tag) else {
            return self.fail(format!("a response to tag {tag}, which is not open"));
        };
        self.tags.push_back(tag);
        let (measured, at) = (phase == Phase::Measure, time + self.back());
        self.ending.push_back((at, number));
        let reads = phase == Phase::Read || measured && self.scenario.reads_words();
        if reads {
            let bytes = if measured { self.scenario.workload.bytes } else { WORD_BYTES };
            let bits = bits_of(mask_of(number, bytes));
            let word = self.registers[(number % REGISTERS) as usize];
            if data & bits != word & bits {
                return self.fail(format!("load {number} has wrong bytes"));
            }
            self.outcome.checked += bytes as u64;
        }
        if measured {
            self.outcome.times.known[number as usize] = at;
            if self.scenario.workload.driver != EciDriver::Io || self.scenario.reads_words() {
                self.outcome.times.done[number as usize] = at;
            }
        }
    }

    fn event(&mut self, _: Picoseconds, event: WordEvent) {
        self.fail(format!("the end that issues has {event:?}"));
    }
}

/// The far end.
struct Far(Rc<RefCell<Issuer>>);

impl WordUser for Far {
    fn offer(&mut self, _: Picoseconds) -> Option<WordRequest> {
        None
    }

    fn response(&mut self, _: Picoseconds, tag: u8, _: u64) {
        self.0.borrow_mut().fail(format!("the far end has a response to tag {tag}"));
    }

    fn event(&mut self, time: Picoseconds, event: WordEvent) {
        let mut issuer = self.0.borrow_mut();
        issuer.last = time;
        if issuer.phase != Phase::Measure {
            return;
        }
        let Some(transfer) = issuer.unseen.pop_front() else {
            return issuer.fail(format!("{event:?} is of no request"));
        };
        let wanted = match event {
            WordEvent::Stored(address) => address == 8 * (transfer % REGISTERS),
            WordEvent::Interrupt(number) => number == transfer,
        };
        if !wanted {
            return issuer.fail(format!("{event:?} instead of number {transfer}"));
        }
        let at = time + issuer.far();
        issuer.outcome.times.done[transfer as usize] = at;
        if matches!(event, WordEvent::Interrupt(_)) {
            issuer.outcome.times.known[transfer as usize] = at;
            issuer.outcome.checked += WORD_BYTES as u64;
            issuer.ending.push_back((at, transfer));
        }
    }
}

/// Runs all transfers, and one more that is observed.
pub(super) fn run(world: &World, scenario: &EciScenario) -> Result<Outcome, RoadError> {
    let issuer = Rc::new(RefCell::new(Issuer::new(world, scenario)?));
    let far = Rc::new(RefCell::new(Far(Rc::clone(&issuer))));
    let (near_device, far_device) = match scenario.by_host() {
        true => (&world.host, &world.fpga),
        false => (&world.fpga, &world.host),
    };
    WordPins::attach(near_device, &issuer)?;
    WordPins::attach(far_device, &far)?;
    complete(world, &issuer)?;
    issuer.borrow_mut().enter(Phase::Measure, scenario.series())?;
    complete(world, &issuer)?;
    world.observe();
    issuer.borrow_mut().limit += 1;
    complete(world, &issuer)?;
    if scenario.workload.driver == EciDriver::Io {
        issuer.borrow_mut().enter(Phase::Read, REGISTERS)?;
        complete(world, &issuer)?;
    }
    Ok(std::mem::take(&mut issuer.borrow_mut().outcome))
}

/// Runs until all requests that may be issued are done.
fn complete(world: &World, issuer: &Rc<RefCell<Issuer>>) -> Result<(), RoadError> {
    loop {
        world.simulation.run_for(CHUNK)?;
        let issuer = issuer.borrow();
        let (ended, limit) = (issuer.ended, issuer.limit);
        let waits = issuer.begun > ended || !issuer.unseen.is_empty();
        let wrong = match &issuer.wrong {
            Some(wrong) => wrong.clone(),
            None if ended == limit && issuer.unseen.is_empty() => return Ok(()),
            None if waits && world.simulation.handle().now() - issuer.last > STUCK => {
                format!("stuck after {ended} of {limit} requests")
            }
            None => continue,
        };
        return Err(RoadError::Violation(format!("eci: {wrong}; seed {}", issuer.scenario.seed)));
    }
}
