// SPDX-License-Identifier: Apache-2.0
//! Transactions of the host and of the FPGA on the same records, under locks that they share.
//!
//! The FPGA's side is gateware: `rtl/ccix/ccix_update.sv`, its agent, and `lock_table` where the table is there. The
//! host's requesters are programs here, without a time of their own: an order to a table of the host is an access to
//! its memory, one to the FPGA's a message over the link and back, an access to a record one of the home's.
//!
//! Every transaction must have read what it reads when all are made one after the other, in the order in which they
//! had their locks; so must memory be in the end.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use serde_json::{Value, json};

use isthmus_host::records::RecordLog;
use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::ResetSpec;
use isthmus_sim::kernel::{DeviceHandle, InputPin, OutputPin, PinAgent, RandomStream, Sim};
use isthmus_sim::world::ccix::{CcixLink, Way};

use super::home::{Content, Home};
use super::lock_table::{LockMessage, LockTable, Logged, Order, Status};
use super::lock_waits;
use super::scenario::{CcixLockMode, CcixLocks, CcixScenario, CcixTransaction, NAME};
use super::world::{Agent, World};
use crate::dma::{Line, first_seed};
use crate::error::RoadError;
use crate::measurement::{
    Carried, Checked, Measurement, Origin, Samples, SimulationCost, Throughput,
};

const CHUNK: Picoseconds = Picoseconds::from_us(1);
const STUCK: Picoseconds = Picoseconds::from_us(2_000);
/// Slots of the FPGA's unit, and requesters of the host.
const SLOTS: u8 = 64;
/// Owners that are requesters of the host.
const HOST: u8 = 128;
/// An aborted transaction begins again after a random time below this, which doubles with every
/// `PATIENCE` attempts up to `DOUBLINGS` times: so few try at once that one gets all its locks.
const BACKOFF: Picoseconds = Picoseconds::from_us(2);
const PATIENCE: u32 = 8;
const DOUBLINGS: u32 = 6;
/// How long the FPGA's unit is reset.
const RESET: Picoseconds = Picoseconds::from_ns(400);
/// How long all of the FPGA is reset after the host has recovered. The time in which a link is trained and an FPGA is
/// configured, many milliseconds, would only be a pause.
const RESTART: Picoseconds = Picoseconds::from_us(2);
/// The probe of an order that waits at the FPGA's table: `ccix_locks_fpga_pkg::Queued`.
const QUEUED: u32 = 4;

fn word(line: &Line) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&line[..8]);
    u64::from_le_bytes(bytes)
}

/// The word of a record's line that is its lock, where there is no table: 0 is free, else the number of
/// readers, or `WRITER`. As `rtl/ccix/ccix_cas.sv` has it.
const LOCK: std::ops::Range<usize> = 56..64;
const WRITER: u64 = 1 << 63;
/// A lock that is not free is tried again after a random time below this, which doubles up to `DOUBLINGS` times.
const SPIN: Picoseconds = Picoseconds::from_ns(500);

/// Takes a lock, or releases it; `false`: it is not free.
fn swap(line: &mut Line, order: Order, exclusive: bool) -> bool {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&line[LOCK]);
    let held = u64::from_le_bytes(bytes);
    let next = match (order, exclusive) {
        (Order::Release, true) => 0,
        (Order::Release, false) => held.saturating_sub(1),
        (_, true) if held == 0 => WRITER,
        (_, false) if held < WRITER => held + 1,
        _ => return false,
    };
    line[LOCK].copy_from_slice(&next.to_le_bytes());
    true
}

/// The values of a transaction's records: what it made of those that it read.
fn chained(digest: u64, value: u64) -> u64 {
    digest.wrapping_mul(33).wrapping_add(value)
}

/// A transaction under way, or over.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// First begin.
    begin: Picoseconds,
    /// Begin of the last attempt.
    attempt: Picoseconds,
    /// All its locks, of the attempt that was not aborted.
    locked: Option<Picoseconds>,
    end: Option<Picoseconds>,
    digest: u64,
    /// It was complete when the unit was lost: what it read is not known.
    unread: bool,
    aborts: u32,
    /// It waited at a table for a lock that was held.
    met: bool,
    /// The host knows that it is complete, where the FPGA has it keep a log.
    kept: bool,
    /// How often the FPGA was reset before its last attempt.
    life: u32,
    slot: u8,
    /// The host's: the step that it is at.
    step: usize,
    fences: [u16; 4],
}

/// What became of the FPGA's unit.
#[derive(Clone, Copy, Debug, Default)]
struct Faults {
    resets: u32,
    holds: u32,
    /// Transactions that were undone, and those that were complete.
    undone: u32,
    whole: u32,
    is_reset: bool,
    /// Begin of the last one, and until when it lasts.
    begin: Picoseconds,
    until: Picoseconds,
    /// The longest time from a begin to the last lost transaction's free locks.
    longest: Picoseconds,
}

/// What became of it when all of the FPGA was reset.
#[derive(Clone, Copy, Debug, Default)]
struct Losses {
    /// Resets.
    count: u32,
    /// Transactions of the FPGA that were not complete, or that the host did not know to be, and begin again; of them
    /// those that the FPGA had ended.
    redone: u32,
    ended: u32,
    /// That were complete, with some of their locks.
    whole: u32,
    /// The host's that waited for a lock in the lost table, and begin again.
    waited: u32,
    /// Records that got another value from the log.
    restored: u32,
    /// All times from a reset to the first transaction behind it.
    outage: Picoseconds,
}

/// The FPGA in a run in which it is reset.
struct Life {
    device: DeviceHandle,
    period: Picoseconds,
    detect: Picoseconds,
    /// After how many transactions.
    planned: VecDeque<usize>,
    is_down: bool,
    begin: Picoseconds,
    log: RecordLog,
    /// Words of lines that are locks of the host: the readers, or `WRITER`.
    host_locks: BTreeMap<u16, u64>,
    /// Transactions to begin again.
    redo: VecDeque<usize>,
    losses: Losses,
}

struct Logic {
    sim: Sim,
    of: CcixLocks,
    link: CcixLink,
    home: Rc<Home>,
    gateway: Picoseconds,
    /// From an order of the FPGA at the home to the program that polls for it; from the program to its memory.
    poll: Picoseconds,
    access: Picoseconds,
    table: LockTable,
    random: RandomStream,
    states: Vec<State>,
    /// In the order of their last locks.
    serial: Vec<usize>,
    next: usize,
    open: u32,
    ended: usize,
    slots: [VecDeque<u8>; 2],
    /// By side and slot.
    at: [Vec<Option<usize>>; 2],
    /// Of the FPGA, that wait for the port.
    tasks: VecDeque<usize>,
    /// After how many transactions the unit stops, and whether it is reset.
    planned: VecDeque<(usize, bool)>,
    lease: Picoseconds,
    faults: Faults,
    /// How often the FPGA was reset.
    life: u32,
    fpga: Life,
    last: Picoseconds,
    wrong: Option<String>,
}

type Shared = Rc<RefCell<Logic>>;

impl Logic {
    fn fail(&mut self, reason: String) {
        self.wrong.get_or_insert(reason);
    }

    fn of(&self, number: usize) -> &CcixTransaction {
        &self.of.transactions[number]
    }

    /// A step that is behind a larger record may not wait: no circle of transactions that wait is possible.
    fn may_wait(&self, number: usize, step: usize) -> bool {
        let steps = &self.of(number).steps;
        steps[..step].iter().all(|before| before.record < steps[step].record)
    }

    fn locked(&mut self, number: usize) {
        self.states[number].locked = Some(self.sim.now());
        self.serial.push(number);
    }

    /// It has a slot: it is neither over nor between two attempts.
    fn is_open(&self, number: usize) -> bool {
        let side = usize::from(self.of(number).fpga);
        self.at[side][usize::from(self.states[number].slot)] == Some(number)
    }

    /// An order of this owner waits for a lock that is held.
    fn queued(&mut self, owner: u8) {
        let (side, slot) = if owner < HOST { (1, owner) } else { (0, owner - HOST) };
        match self.at[side].get(usize::from(slot)).copied().flatten() {
            Some(number) => self.states[number].met = true,
            // An order of the table that was lost.
            None if self.fpga.losses.count > 0 => {}
            None => self.fail(format!("owner {owner} waits for a lock, which asked for none")),
        }
    }

    /// Locks are lost with the FPGA.
    fn has_fpga_table(&self) -> bool {
        matches!(self.of.mode, CcixLockMode::Shared | CcixLockMode::Hybrid)
    }

    /// All of the FPGA is reset now.
    fn falls(&self) -> bool {
        !self.fpga.is_down && self.fpga.planned.front().is_some_and(|after| self.ended >= *after)
    }

    fn end(&mut self, number: usize) {
        let now = self.sim.now();
        self.last = now;
        self.ended += 1;
        self.open -= 1;
        self.free(number);
        self.states[number].end = Some(now);
        self.sim.count_transfers(1);
    }

    /// Whether the unit is reset, or stands still.
    fn stopped(&mut self, now: Picoseconds) -> [bool; 2] {
        if now >= self.faults.until {
            let Some((after, reset)) = self.planned.front().copied() else { return [false; 2] };
            // The unit begins anew between two of them.
            if self.ended < after || now < self.faults.until + self.lease {
                return [false; 2];
            }
            self.planned.pop_front();
            let long = if reset { RESET } else { Picoseconds(2 * self.lease.0) };
            let faults = &mut self.faults;
            (faults.begin, faults.until, faults.is_reset) = (now, now + long, reset);
            faults.resets += u32::from(reset);
            faults.holds += u32::from(!reset);
        }
        [self.faults.is_reset, !self.faults.is_reset]
    }

    fn free(&mut self, number: usize) {
        let (side, slot) = (usize::from(self.of(number).fpga), self.states[number].slot);
        self.at[side][usize::from(slot)] = None;
        self.slots[side].push_back(slot);
    }
}

/// Begins transactions in their order, as many at once as there are requesters.
fn begin(shared: &Shared) {
    loop {
        let mut logic = shared.borrow_mut();
        if logic.fpga.is_down || logic.open == logic.of.requesters {
            return;
        }
        let number = if let Some(number) = logic.fpga.redo.pop_front() {
            number
        } else {
            let number = logic.next;
            if number == logic.of.transactions.len() {
                return;
            }
            logic.next += 1;
            logic.states[number].begin = logic.sim.now();
            number
        };
        logic.open += 1;
        drop(logic);
        attempt(shared, number);
    }
}

/// A transaction's first attempt, or one more.
fn attempt(shared: &Shared, number: usize) {
    let mut logic = shared.borrow_mut();
    let now = logic.sim.now();
    if logic.fpga.is_down {
        logic.open -= 1;
        logic.fpga.redo.push_back(number);
        return;
    }
    let life = logic.life;
    let side = usize::from(logic.of(number).fpga);
    let Some(slot) = logic.slots[side].pop_front() else {
        return logic.fail("more transactions than slots".to_owned());
    };
    logic.at[side][usize::from(slot)] = Some(number);
    let state = &mut logic.states[number];
    (state.slot, state.step, state.digest) = (slot, 0, 0);
    (state.attempt, state.life) = (now, life);
    if side == 1 {
        return logic.tasks.push_back(number);
    }
    drop(logic);
    acquire(shared, number);
}

/// One that was aborted begins again later.
fn again(shared: &Shared, number: usize) {
    let (sim, wait) = {
        let mut logic = shared.borrow_mut();
        logic.free(number);
        logic.states[number].aborts += 1;
        let doublings = (logic.states[number].aborts / PATIENCE).min(DOUBLINGS);
        let wait = Picoseconds(logic.random.below(BACKOFF.0 << doublings));
        (logic.sim.clone(), wait)
    };
    let shared = Rc::clone(shared);
    sim.after(wait, move || attempt(&shared, number));
}

/// The unit lost a transaction: it is undone, or was complete.
fn lost(shared: &Shared, number: usize, whole: bool) {
    let mut logic = shared.borrow_mut();
    let since = logic.sim.now() - logic.faults.begin;
    logic.faults.longest = logic.faults.longest.max(since);
    if whole {
        logic.faults.whole += 1;
        logic.states[number].unread = true;
        logic.end(number);
        drop(logic);
        return begin_later(shared);
    }
    logic.faults.undone += 1;
    if logic.states[number].locked.take().is_some() {
        logic.serial.retain(|one| *one != number);
    }
    drop(logic);
    again(shared, number);
}

fn begin_later(shared: &Shared) {
    let sim = shared.borrow().sim.clone();
    let shared = Rc::clone(shared);
    sim.after(Picoseconds::ZERO, move || begin(&shared));
}

/// An order of the host's requester.
fn order(shared: &Shared, number: usize, order: Order, step: usize) {
    let logic = shared.borrow();
    let (state, step_of) = (logic.states[number], logic.of(number).steps[step]);
    let owner = HOST + state.slot;
    let (exclusive, lock) = (step_of.update, step_of.record);
    let sim = logic.sim.clone();
    if logic.of.mode == CcixLockMode::Cas {
        let home = Rc::clone(&logic.home);
        drop(logic);
        return compare_and_swap(shared, &home, number, order, step, 0);
    }
    if logic.of.mode == CcixLockMode::Host {
        let (access, shared) = (logic.access, Rc::clone(shared));
        drop(logic);
        sim.after(access, move || {
            let answers = shared.borrow_mut().table.order(order, owner, exclusive, lock);
            answered(&shared, answers);
        });
    } else {
        // A lock of a table that is lost is not released in the next one.
        if state.life != logic.life {
            return;
        }
        let message = LockMessage::order(order, owner, exclusive, lock, state.fences[step]);
        let (gateway, link) = (logic.gateway, logic.link.clone());
        sim.after(gateway, move || link.send(vec![message.word()]));
    }
}

/// An order of the host's requester to a lock that is a word of a line.
fn compare_and_swap(
    shared: &Shared,
    home: &Rc<Home>,
    number: usize,
    order: Order,
    step: usize,
    tries: u32,
) {
    let (owner, of) = {
        let logic = shared.borrow();
        (HOST + logic.states[number].slot, logic.of(number).steps[step])
    };
    let shared = Rc::clone(shared);
    let again = Rc::clone(home);
    let touch = move |line: &mut Line| {
        let done = swap(line, order, of.update);
        if tries > 0 {
            shared.borrow_mut().states[number].met = true;
        }
        if done {
            shared.borrow_mut().fpga.swapped(order, of.update, of.record);
        }
        let sim = shared.borrow().sim.clone();
        let status = match (order, done) {
            (Order::Release, _) => return,
            (_, true) => Status::Granted,
            (Order::Try, false) => Status::Busy,
            (Order::Acquire, false) => {
                let below = SPIN.0 << tries.min(DOUBLINGS);
                let wait = Picoseconds(shared.borrow_mut().random.below(below));
                sim.after(wait, move || {
                    compare_and_swap(&shared, &again, number, order, step, tries + 1);
                });
                return;
            }
        };
        let message = LockMessage::answer(status, owner, of.update, of.record);
        sim.after(Picoseconds::ZERO, move || answer(&shared, &message));
    };
    home.access(u64::from(of.record), true, Box::new(touch));
}

/// The host's requester asks for its next lock.
fn acquire(shared: &Shared, number: usize) {
    let (step, waits) = {
        let logic = shared.borrow();
        let step = logic.states[number].step;
        (step, logic.may_wait(number, step))
    };
    order(shared, number, if waits { Order::Acquire } else { Order::Try }, step);
}

/// Answers of the host's table go to its requesters, or over the link.
fn answered(shared: &Shared, answers: Vec<LockMessage>) {
    for message in answers {
        if message.as_status() == Some(Status::Queued) {
            shared.borrow_mut().queued(message.owner);
        }
        if message.owner >= HOST {
            answer(shared, &message);
        } else {
            let logic = shared.borrow();
            let (sim, gateway, link) = (logic.sim.clone(), logic.gateway, logic.link.clone());
            sim.after(gateway, move || link.send(vec![message.word()]));
        }
    }
}

/// An answer for a requester of the host.
fn answer(shared: &Shared, message: &LockMessage) {
    let mut logic = shared.borrow_mut();
    let slot = usize::from(message.owner - HOST);
    let number = logic.at[0].get(slot).copied().flatten();
    let (Some(status), Some(number)) = (message.as_status(), number) else {
        if message.as_status() != Some(Status::Released) {
            logic.fail(format!("an answer for slot {slot} of the host, which asked for nothing"));
        }
        return;
    };
    let step = logic.states[number].step;
    match status {
        Status::Released | Status::Queued => {}
        Status::Stale => logic.fail(format!("a stale lock of transaction {number}")),
        Status::Granted => {
            let steps = logic.of(number).steps.len();
            logic.states[number].fences[step] = message.fence;
            logic.states[number].step += 1;
            if step + 1 < steps {
                drop(logic);
                return acquire(shared, number);
            }
            logic.locked(number);
            logic.states[number].step = 0;
            drop(logic);
            access(shared, number);
        }
        Status::Busy => {
            drop(logic);
            (0..step).rev().for_each(|held| order(shared, number, Order::Release, held));
            again(shared, number);
        }
    }
}

/// The host's requester reads or updates its next record.
fn access(shared: &Shared, number: usize) {
    let (home, step) = {
        let logic = shared.borrow();
        (Rc::clone(&logic.home), logic.of(number).steps[logic.states[number].step])
    };
    let shared = Rc::clone(shared);
    let touch = move |content: &mut Line| {
        let mut logic = shared.borrow_mut();
        let value = word(content);
        if step.update {
            logic.fpga.log.host_updates(step.record.into());
            content[..8].copy_from_slice(&chained(value, number as u64 + 1).to_le_bytes());
        }
        let state = &mut logic.states[number];
        state.digest = chained(state.digest, value);
        state.step += 1;
        let (sim, next) = (logic.sim.clone(), Rc::clone(&shared));
        drop(logic);
        sim.after(Picoseconds::ZERO, move || accessed(&next, number));
    };
    home.access(u64::from(step.record), step.update, Box::new(touch));
}

fn accessed(shared: &Shared, number: usize) {
    let steps = {
        let logic = shared.borrow();
        let steps = logic.of(number).steps.len();
        if logic.states[number].step < steps { None } else { Some(steps) }
    };
    let Some(steps) = steps else { return access(shared, number) };
    (0..steps).rev().for_each(|held| order(shared, number, Order::Release, held));
    shared.borrow_mut().end(number);
    begin(shared);
}

/// A message of the FPGA for the host's log.
fn logged(shared: &Shared, message: &[u64]) -> bool {
    let Some(entry) = Logged::of(message) else { return false };
    let (sim, gateway) = {
        let logic = shared.borrow();
        (logic.sim.clone(), logic.gateway)
    };
    let shared = Rc::clone(shared);
    sim.after(gateway, move || {
        let mut logic = shared.borrow_mut();
        match entry {
            Ok(Logged::Update { slot, record, old, new }) => {
                logic.fpga.log.update(slot, record, old, new);
            }
            Ok(Logged::Complete { slot, id }) => {
                logic.fpga.log.complete(slot);
                let number = (id as usize).wrapping_sub(1);
                let is_fpga = logic.of.transactions.get(number).is_some_and(|one| one.fpga);
                if !is_fpga || std::mem::replace(&mut logic.states[number].kept, true) {
                    logic.fail(format!(
                        "transaction {number} is complete, which the FPGA does not make"
                    ));
                }
            }
            Ok(Logged::Undone { slot }) => logic.fpga.log.undone(slot),
            Err(()) => logic.fail("a message for the log that does not exist".to_owned()),
        }
    });
    true
}

impl Life {
    /// The host's compare-and-swap took a lock, or released it.
    fn swapped(&mut self, order: Order, exclusive: bool, record: u16) {
        let held = self.host_locks.entry(record).or_default();
        *held = match (order, exclusive) {
            (Order::Release, true) => 0,
            (Order::Release, false) => held.saturating_sub(1),
            (_, true) => WRITER,
            (_, false) => *held + 1,
        };
    }
}

/// All of the FPGA is reset: its table, its cache, and what is on the link. The host notices later.
fn fall(shared: &Shared, now: Picoseconds) {
    let (sim, detect) = {
        let mut logic = shared.borrow_mut();
        let fpga = &mut logic.fpga;
        fpga.planned.pop_front();
        (fpga.is_down, fpga.begin) = (true, now);
        fpga.losses.count += 1;
        let long = fpga.detect + RESTART;
        let cycles = (long.0 / fpga.period.0) as u32;
        fpga.device.reset_at(ResetSpec { at_ps: now.0, cycles });
        let detect = fpga.detect;
        logic.link.fall();
        logic.tasks.clear();
        (logic.sim.clone(), detect)
    };
    let noticed = Rc::clone(shared);
    sim.after(detect, move || recover(&noticed));
    let over = Rc::clone(shared);
    // A clock behind the end of the reset at the earliest.
    sim.after(detect + RESTART + Picoseconds::from_ns(100), move || restart(&over));
}

/// The host knows that the FPGA is gone. Memory gets what is complete, and loses what is not; the FPGA's transactions
/// that are not complete, and the host's that wait for locks, begin again. What the host has all locks for goes on.
fn recover(shared: &Shared) {
    let home = {
        let mut logic = shared.borrow_mut();
        let home = Rc::clone(&logic.home);
        logic.life += 1;
        for (record, value) in logic.fpga.log.recover() {
            let mut changed = false;
            home.begin_with(u64::from(record), |line| {
                changed = word(line) != value;
                line[..8].copy_from_slice(&value.to_le_bytes());
            });
            logic.fpga.losses.restored += u32::from(changed);
        }
        if logic.of.mode == CcixLockMode::Cas {
            for record in 0..logic.of.rows as u16 {
                let held = logic.fpga.host_locks.get(&record).copied().unwrap_or_default();
                home.begin_with(u64::from(record), |line| {
                    line[LOCK].copy_from_slice(&held.to_le_bytes());
                });
            }
        }
        let mut again = Vec::new();
        for number in 0..logic.states.len() {
            let state = logic.states[number];
            let (fpga, open) = (logic.of(number).fpga, logic.is_open(number));
            if fpga && state.kept && open {
                logic.fpga.losses.whole += 1;
                logic.states[number].unread = true;
                logic.end(number);
            } else if fpga && !state.kept && (open || state.end.is_some()) {
                logic.fpga.losses.redone += 1;
                if state.end.is_some() {
                    logic.fpga.losses.ended += 1;
                    logic.ended -= 1;
                    logic.states[number].end = None;
                }
                again.push((number, open));
            } else if !fpga && open && state.locked.is_none() && logic.has_fpga_table() {
                logic.fpga.losses.waited += 1;
                again.push((number, true));
            }
        }
        for (number, open) in again {
            if open {
                logic.free(number);
                logic.open -= 1;
            }
            if logic.states[number].locked.take().is_some() {
                logic.serial.retain(|one| *one != number);
            }
            logic.fpga.redo.push_back(number);
        }
        home
    };
    home.lose_fpga();
    // The host's table is as it was, but for what the FPGA had of it.
    let granted = shared.borrow_mut().table.lose(|owner| owner < HOST);
    answered(shared, granted);
}

/// The link is up. New locks are given when the host's transactions with old ones are over.
fn restart(shared: &Shared) {
    let mut logic = shared.borrow_mut();
    let life = logic.life;
    let old = |number: &usize| logic.has_fpga_table() && logic.states[*number].life != life;
    let drains = logic.at[0].iter().flatten().any(old);
    let sim = logic.sim.clone();
    let next = Rc::clone(shared);
    if drains {
        return sim.after(Picoseconds::from_ns(100), move || restart(&next));
    }
    logic.link.raise();
    logic.home.meet_fpga();
    logic.fpga.is_down = false;
    let outage = sim.now() - logic.fpga.begin;
    logic.fpga.losses.outage += outage;
    logic.last = sim.now();
    drop(logic);
    begin(shared);
}

/// A lock message of the FPGA at the host's port.
fn message_of_fpga(shared: &Shared, message: LockMessage) {
    let (sim, gateway, poll) = {
        let logic = shared.borrow();
        (logic.sim.clone(), logic.gateway, logic.poll)
    };
    let shared = Rc::clone(shared);
    if message.answer {
        sim.after(gateway, move || answer(&shared, &message));
        return;
    }
    sim.after(gateway + poll, move || {
        let answers = {
            let mut logic = shared.borrow_mut();
            let Some(order) = message.as_order() else {
                return logic.fail(format!("an order of the FPGA with the code {}", message.code));
            };
            logic.table.order(order, message.owner, message.exclusive, message.lock)
        };
        answered(&shared, answers);
    });
}

/// Transactions at the FPGA's pins.
struct Pins {
    shared: Shared,
    valid: InputPin,
    slot: InputPin,
    id: InputPin,
    last: InputPin,
    steps: InputPin,
    locked: [OutputPin; 2],
    refused: [OutputPin; 2],
    done: [OutputPin; 2],
    lost: [OutputPin; 2],
    whole: OutputPin,
    ready: OutputPin,
    aborted: OutputPin,
    digest: OutputPin,
    reset: InputPin,
    hold: InputPin,
    probes: [OutputPin; 2],
    /// At the port now.
    offered: Option<usize>,
}

impl Pins {
    fn attach(device: &DeviceHandle, shared: &Shared) -> Result<(), RoadError> {
        let strobe = |name: &str| -> Result<[OutputPin; 2], RoadError> {
            let slot = device.output(&format!("update_{name}_slot_o"), 6)?;
            Ok([device.output(&format!("update_{name}_o"), 1)?, slot])
        };
        let agent = Self {
            shared: Rc::clone(shared),
            valid: device.input("update_valid_i", 1)?,
            slot: device.input("update_slot_i", 6)?,
            id: device.input("update_id_i", 32)?,
            last: device.input("update_last_i", 2)?,
            steps: device.input("update_steps_i", 72)?,
            locked: strobe("locked")?,
            refused: strobe("refused")?,
            done: strobe("done")?,
            lost: strobe("lost")?,
            whole: device.output("update_lost_whole_o", 1)?,
            ready: device.output("update_ready_o", 1)?,
            reset: device.input("update_reset_i", 1)?,
            hold: device.input("update_hold_i", 1)?,
            probes: [
                device.output("probe_o", QUEUED + 1)?,
                device.output("probe_tag_o", 8 * (QUEUED + 1))?,
            ],
            offered: None,
            aborted: device.output("update_done_aborted_o", 1)?,
            digest: device.output("update_done_digest_o", 64)?,
        };
        Ok(device.attach("clk_i", Box::new(agent))?)
    }

    fn of(&self, [valid, slot]: &[OutputPin; 2]) -> Option<usize> {
        if valid.get() == 0 {
            return None;
        }
        let slot = slot.get() as usize;
        let mut logic = self.shared.borrow_mut();
        let found = logic.at[1].get(slot).copied().flatten();
        if found.is_none() {
            logic.fail(format!("slot {slot} of the FPGA, which is free, says something"));
        }
        found
    }
}

impl PinAgent for Pins {
    fn sample(&mut self, _time: Picoseconds) {
        if self.shared.borrow().fpga.is_down {
            return;
        }
        if self.ready.get() != 0 {
            self.offered = None;
        }
        if self.probes[0].get() >> QUEUED & 1 != 0 {
            let owner = self.probes[1].word(1) as u8;
            self.shared.borrow_mut().queued(owner);
        }
        if let Some(number) = self.of(&self.lost) {
            lost(&self.shared, number, self.whole.get() != 0);
        }
        if let Some(number) = self.of(&self.locked) {
            self.shared.borrow_mut().locked(number);
        }
        if let Some(number) = self.of(&self.refused) {
            again(&self.shared, number);
        }
        if let Some(number) = self.of(&self.done) {
            if self.aborted.get() != 0 {
                again(&self.shared, number);
            } else {
                let digest = u64::from(self.digest.word(1)) << 32 | u64::from(self.digest.word(0));
                let mut logic = self.shared.borrow_mut();
                logic.states[number].digest = digest;
                logic.end(number);
                drop(logic);
                begin_later(&self.shared);
            }
        }
    }

    fn drive(&mut self, time: Picoseconds) {
        if self.shared.borrow().falls() {
            fall(&self.shared, time);
        }
        let mut logic = self.shared.borrow_mut();
        if logic.fpga.is_down {
            self.offered = None;
            self.valid.set(0);
            return;
        }
        let [reset, hold] = logic.stopped(time);
        self.reset.set(u64::from(reset));
        self.hold.set(u64::from(hold));
        if self.offered.is_none() {
            self.offered = logic.tasks.pop_front();
        }
        self.valid.set(u64::from(self.offered.is_some()));
        let Some(number) = self.offered else { return };
        self.slot.set(u64::from(logic.states[number].slot));
        self.id.set(number as u64 + 1);
        let steps = &logic.of(number).steps;
        self.last.set(steps.len() as u64 - 1);
        let packed = steps.iter().enumerate().fold(0_u128, |all, (at, step)| {
            let no_wait = u128::from(!logic.may_wait(number, at));
            all | (no_wait << 17 | u128::from(step.update) << 16 | u128::from(step.record))
                << (18 * at)
        });
        for at in 0..3 {
            self.steps.set_word(at, (packed >> (32 * at)) as u32);
        }
    }

    fn quiet(&self) -> bool {
        false
    }
}

/// Where locks are words of lines, they are free in the beginning, and in the end.
fn unlocked(of: &CcixLocks, mut each: impl FnMut(u64, fn(&mut Line))) {
    if of.mode == CcixLockMode::Cas {
        (0..u64::from(of.rows)).for_each(|line| each(line, |line| line[LOCK].fill(0)));
    }
}

/// Makes all transactions one after the other; the content of memory behind them. `Err`: one that read something else.
fn replay(logic: &Logic, first: u32) -> Result<Content, usize> {
    let mut content = Content::new(0, first);
    unlocked(&logic.of, |line, touch| touch(content.line_mut(line)));
    for number in &logic.serial {
        let mut digest = 0;
        for step in &logic.of(*number).steps {
            let line = content.line_mut(u64::from(step.record));
            let value = word(line);
            digest = chained(digest, value);
            if step.update {
                line[..8].copy_from_slice(&chained(value, *number as u64 + 1).to_le_bytes());
            }
        }
        let state = &logic.states[*number];
        if digest != state.digest && !state.unread {
            return Err(*number);
        }
    }
    Ok(content)
}

/// When all of the FPGA is reset: at random, in mid-run.
fn planned_resets(of: &CcixLocks, seed: u64) -> VecDeque<usize> {
    let mut random = RandomStream::new(seed, "ccix:locks:resets");
    let count = of.transactions.len() as u64;
    let after = |_| (count / 10 + random.below(count * 7 / 10 + 1)) as usize;
    let mut made: Vec<_> = (0..of.fpga_resets).map(after).collect();
    made.sort_unstable();
    made.into()
}

/// When the unit stops: at random, in mid-run.
fn planned(of: &CcixLocks, seed: u64) -> VecDeque<(usize, bool)> {
    let mut random = RandomStream::new(seed, "ccix:locks:faults");
    let count = of.transactions.len() as u64;
    let mut made: Vec<_> = (0..of.resets + of.holds)
        .map(|at| ((count / 10 + random.below(count * 7 / 10 + 1)) as usize, at < of.resets))
        .collect();
    made.sort_unstable();
    made.into()
}

/// All transactions.
pub(super) fn run(
    world: &World,
    scenario: &CcixScenario,
    of: &CcixLocks,
) -> Result<Measurement, RoadError> {
    let Agent { home, link, .. } = &*world.agent;
    let constants = &scenario.platform.home;
    let access = Picoseconds::from_ns_f64(constants.memory_write_ns);
    let seed = scenario.seed;
    let logic = Rc::new(RefCell::new(Logic {
        sim: world.simulation.handle(),
        of: of.clone(),
        link: link.clone(),
        home: Rc::clone(home),
        gateway: Picoseconds::from_ns_f64(constants.gateway_ns),
        poll: access + Picoseconds::from_ns_f64(constants.memory_read_ns),
        access,
        table: LockTable::default(),
        random: RandomStream::new(seed, "ccix:locks:backoff"),
        states: vec![State::default(); of.transactions.len()],
        serial: Vec::new(),
        next: 0,
        open: 0,
        ended: 0,
        slots: [(0..SLOTS).collect(), (0..SLOTS).collect()],
        at: [vec![None; SLOTS.into()], vec![None; SLOTS.into()]],
        tasks: VecDeque::new(),
        planned: planned(of, seed),
        lease: Picoseconds::from_ns_f64(
            f64::from(of.lease_cycles) * 1e3 / scenario.platform.clock_mhz,
        ),
        faults: Faults::default(),
        life: 0,
        fpga: Life {
            device: world.fpga.clone(),
            period: Picoseconds::from_ns_f64(1e3 / scenario.platform.clock_mhz),
            detect: Picoseconds::from_ns_f64(constants.link_down_ns),
            planned: planned_resets(of, seed),
            is_down: false,
            begin: Picoseconds::ZERO,
            log: RecordLog::default(),
            host_locks: BTreeMap::new(),
            redo: VecDeque::new(),
            losses: Losses::default(),
        },
        last: world.simulation.handle().now(),
        wrong: None,
    }));
    let served = Rc::clone(&logic);
    home.on_lock(Box::new(move |message| {
        if !logged(&served, message) {
            message_of_fpga(&served, LockMessage::of(message[0]));
        }
    }));
    unlocked(of, |line, touch| home.begin_with(line, touch));
    Pins::attach(&world.fpga, &logic)?;
    let stale = world.fpga.output("status_stale_o", 32)?;
    // The FPGA's table clears its locks behind a reset.
    world.simulation.run_for(Picoseconds::from_us(10))?;
    let start = world.simulation.handle().now();
    logic.borrow_mut().last = start;
    let carried = [Way::Up, Way::Down].map(|way| world.agent.link.carried(way));
    begin(&logic);
    loop {
        world.simulation.run_for(CHUNK)?;
        world.check(seed)?;
        let logic = logic.borrow();
        if let Some(wrong) = &logic.wrong {
            return Err(RoadError::Violation(format!("ccix: {wrong}; seed {seed}")));
        }
        if logic.ended == of.transactions.len() {
            break;
        }
        if world.simulation.handle().now() - logic.last > STUCK {
            let ended = logic.ended;
            return Err(RoadError::Violation(format!(
                "ccix: stuck after {ended} transactions: nothing ended for {STUCK}; seed {seed}"
            )));
        }
    }
    let now = [Way::Up, Way::Down].map(|way| world.agent.link.carried(way));
    let wire = [0, 1].map(|way| now[way].wire_bytes - carried[way].wire_bytes);
    // Releases on their way.
    world.simulation.run_for(Picoseconds::from_us(5))?;
    if !logic.borrow().table.is_free() {
        return Err(RoadError::Violation(format!("ccix: a lock stays held; seed {seed}")));
    }
    let expected = replay(&logic.borrow(), first_seed(seed)).map_err(|number| {
        let behind = "read what no order of transactions gives";
        RoadError::Violation(format!("ccix: transaction {number} {behind}; seed {seed}"))
    })?;
    world.load_written(&expected)?;
    world.check(seed)?;
    world.check_memory(&expected, seed)?;
    let mut made = measurement(world, scenario, of, &logic.borrow(), start, wire)?;
    made.counters.insert("fpga.refused".to_owned(), stale.get());
    Ok(made)
}

/// What became of the unit; null where nothing was planned.
fn faults(logic: &Logic) -> Value {
    let of = &logic.faults;
    if of.resets + of.holds == 0 {
        return Value::Null;
    }
    json!({
        "resets": of.resets,
        "holds": of.holds,
        "lease_ps": logic.lease.0,
        "undone": of.undone,
        "whole": of.whole,
        "longest_ps": of.longest.0,
    })
}

/// What became of it where all of the FPGA was reset; null where nothing was planned.
fn losses(logic: &Logic) -> Value {
    let of = &logic.fpga.losses;
    if logic.of.fpga_resets == 0 {
        return Value::Null;
    }
    json!({
        "resets": of.count,
        "redone": of.redone,
        "ended": of.ended,
        "whole": of.whole,
        "waited": of.waited,
        "restored": of.restored,
        "detect_ps": logic.fpga.detect.0,
        "outage_ps": of.outage.0 / u64::from(of.count.max(1)),
    })
}

/// Waits of both sides: of all, of those that met no lock that was held, and what the load itself makes of them.
fn waits_of_all(logic: &Logic, of: &CcixLocks, elapsed: Picoseconds) -> Result<Value, RoadError> {
    if of.mode == CcixLockMode::Cas || of.resets + of.holds + of.fpga_resets > 0 {
        return Ok(Value::Null);
    }
    let mut samples = [Samples::new()?, Samples::new()?];
    let mut alone = [Picoseconds(u64::MAX); 2];
    for (state, transaction) in logic.states.iter().zip(&of.transactions) {
        let wait = state.locked.unwrap_or_default() - state.begin;
        samples[0].add(wait);
        if !state.met && state.aborts == 0 {
            samples[1].add(wait);
        }
        let side = usize::from(transaction.fpga);
        alone[side] = alone[side].min(wait);
    }
    // To the table at the other side and back; to that of the own side nothing.
    let is_far = |side: usize| (of.mode == CcixLockMode::Host) == (side == 1);
    let single = of.transactions.iter().all(|one| one.steps.len() == 1 && one.steps[0].update);
    let holds: Vec<_> = logic
        .states
        .iter()
        .zip(&of.transactions)
        .map(|(state, one)| {
            let side = usize::from(one.fpga);
            let own = state.end.unwrap_or_default() - state.locked.unwrap_or_default();
            let way = if is_far(side) { alone[side] } else { Picoseconds::ZERO };
            lock_waits::Hold { record: one.steps[0].record, held: own + way, alone: alone[side] }
        })
        .collect();
    let load = single.then(|| lock_waits::Load::of(&holds, of.requesters, elapsed));
    Ok(json!({
        "all_ps": samples[0].latency(),
        "free_ps": samples[1].latency(),
        "met": samples[0].count() - samples[1].count(),
        "load": load,
    }))
}

fn measurement(
    world: &World,
    scenario: &CcixScenario,
    of: &CcixLocks,
    logic: &Logic,
    start: Picoseconds,
    wire: [u64; 2],
) -> Result<Measurement, RoadError> {
    let mut samples = Samples::new()?;
    let mut waits = [Samples::new()?, Samples::new()?];
    let mut aborts = [0_u64; 2];
    // Aborted attempts and the times between them; the locks of the last attempt; records.
    let mut stages = [[0_u64; 3]; 2];
    for (state, transaction) in logic.states.iter().zip(&of.transactions) {
        let side = usize::from(transaction.fpga);
        let end = state.end.unwrap_or_default();
        samples.add(end - state.begin);
        let locked = state.locked.unwrap_or_default();
        waits[side].add(locked - state.begin);
        let edges = [state.begin, state.attempt, locked, end];
        for (stage, edge) in stages[side].iter_mut().zip(edges.windows(2)) {
            *stage += (edge[1] - edge[0]).0;
        }
        aborts[side] += u64::from(state.aborts);
    }
    let elapsed = logic.last - start;
    let origin = Origin {
        road: NAME,
        platform: &scenario.platform.name,
        profile: scenario.profile.name(),
        method: scenario.workload.operation.name(),
        seed: scenario.seed,
    };
    let carried = Carried {
        operation: scenario.workload.operation,
        bytes: 8,
        driver: scenario.workload.driver.name(),
        window: Some(of.requesters),
        rate_per_s: None,
        noise: false,
        busy: BTreeMap::new(),
        saturated: false,
    };
    let side = |number: usize| -> Value {
        let count = waits[number].count();
        json!({
            "transactions": count,
            "aborts": aborts[number],
            "wait_ps": waits[number].latency(),
            "stages_ps": {
                "attempts": stages[number][0] / count.max(1),
                "locks": stages[number][1] / count.max(1),
                "records": stages[number][2] / count.max(1),
            },
        })
    };
    let steps = of.transactions.iter().map(|one| one.steps.len() as u64).sum::<u64>();
    let mut workload = carried.to_workload();
    workload.insert(
        "locks".to_owned(),
        json!({
            "trace": of.trace,
            "mode": of.mode.name(),
            "rows": of.rows,
            "requesters": of.requesters,
            "steps": steps,
            "elapsed_ps": elapsed.0,
            "host": side(0),
            "fpga": side(1),
            "to_host_bytes": wire[0],
            "to_fpga_bytes": wire[1],
            "faults": faults(logic),
            "losses": losses(logic),
            "waits": waits_of_all(logic, of, elapsed)?,
        }),
    );
    let count = samples.count();
    let mut name = format!("locks-{}-{}-q{}", of.trace, of.mode.name(), of.requesters);
    if of.resets + of.holds > 0 {
        name += &format!("-resets{}-holds{}", of.resets, of.holds);
    }
    if of.fpga_resets > 0 {
        name += &format!("-fpga-resets{}", of.fpga_resets);
    }
    Ok(Measurement {
        workload,
        throughput: Some(Throughput::new(8 * steps, None, count, None, elapsed)),
        checked: Checked { bytes: 8 * steps, ..Checked::default() },
        counters: world.counters(),
        simulation: SimulationCost::of(&world.simulation.statistics()),
        ..Measurement::of(&origin, &name, &samples)
    }
    .described("whole_call", "closed-loop".to_owned()))
}
