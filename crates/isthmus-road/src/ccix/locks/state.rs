// SPDX-License-Identifier: Apache-2.0
//! Transactions and their requesters: which are under way, what each has, and what became of the FPGA.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use isthmus_host::records::RecordLog;
use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::{DeviceHandle, RandomStream, Sim};
use isthmus_sim::world::ccix::CcixLink;

use super::super::home::Home;
use super::super::scenario::{CcixLockMode, CcixLocks, CcixScenario, CcixTransaction};
use super::super::world::{Agent, World};
use super::table::{LockTable, Order};
use super::words::WRITER;

/// Slots of the FPGA's unit, and requesters of the host.
const SLOTS: u8 = 64;
/// Owners that are requesters of the host.
pub(super) const HOST: u8 = 128;
/// How long the FPGA's unit is reset.
const RESET: Picoseconds = Picoseconds::from_ns(400);

/// A transaction under way, or over.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct State {
    /// First begin.
    pub(super) begin: Picoseconds,
    /// Begin of the last attempt.
    pub(super) attempt: Picoseconds,
    /// All its locks, of the attempt that was not aborted.
    pub(super) locked: Option<Picoseconds>,
    pub(super) end: Option<Picoseconds>,
    pub(super) digest: u64,
    /// It was complete when the unit was lost: what it read is not known.
    pub(super) unread: bool,
    pub(super) aborts: u32,
    /// It waited at a table for a lock that was held.
    pub(super) met: bool,
    /// The host knows that it is complete, where the FPGA has it keep a log.
    pub(super) kept: bool,
    /// How often the FPGA was reset before its last attempt.
    pub(super) life: u32,
    pub(super) slot: u8,
    /// The host's: the step that it is at.
    pub(super) step: usize,
    pub(super) fences: [u16; 4],
}

/// What became of the FPGA's unit.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Faults {
    pub(super) resets: u32,
    pub(super) holds: u32,
    /// Transactions that were undone, and those that were complete.
    pub(super) undone: u32,
    pub(super) whole: u32,
    pub(super) is_reset: bool,
    /// Begin of the last one, and until when it lasts.
    pub(super) begin: Picoseconds,
    pub(super) until: Picoseconds,
    /// The longest time from a begin to the last lost transaction's free locks.
    pub(super) longest: Picoseconds,
}

/// What became of it when all of the FPGA was reset.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Losses {
    /// Resets.
    pub(super) count: u32,
    /// Transactions of the FPGA that were not complete, or that the host did not know to be, and begin again; of them
    /// those that the FPGA had ended.
    pub(super) redone: u32,
    pub(super) ended: u32,
    /// That were complete, with some of their locks.
    pub(super) whole: u32,
    /// The host's that waited for a lock in the lost table, and begin again.
    pub(super) waited: u32,
    /// Records that got another value from the log.
    pub(super) restored: u32,
    /// All times from a reset to the first transaction behind it.
    pub(super) outage: Picoseconds,
}

/// The FPGA in a run in which it is reset.
pub(super) struct Life {
    pub(super) device: DeviceHandle,
    pub(super) period: Picoseconds,
    pub(super) detect: Picoseconds,
    /// After how many transactions.
    pub(super) planned: VecDeque<usize>,
    pub(super) is_down: bool,
    pub(super) begin: Picoseconds,
    pub(super) log: RecordLog,
    /// Words of lines that are locks of the host: the readers, or `WRITER`.
    pub(super) host_locks: BTreeMap<u16, u64>,
    /// Transactions to begin again.
    pub(super) redo: VecDeque<usize>,
    pub(super) losses: Losses,
}

pub(super) struct Logic {
    pub(super) sim: Sim,
    pub(super) of: CcixLocks,
    pub(super) link: CcixLink,
    pub(super) home: Rc<Home>,
    pub(super) gateway: Picoseconds,
    /// From an order of the FPGA at the home to the program that polls for it; from the program to its memory.
    pub(super) poll: Picoseconds,
    pub(super) access: Picoseconds,
    pub(super) table: LockTable,
    pub(super) random: RandomStream,
    pub(super) states: Vec<State>,
    /// In the order of their last locks.
    pub(super) serial: Vec<usize>,
    pub(super) next: usize,
    pub(super) open: u32,
    pub(super) ended: usize,
    pub(super) slots: [VecDeque<u8>; 2],
    /// By side and slot.
    pub(super) at: [Vec<Option<usize>>; 2],
    /// Of the FPGA, that wait for the port.
    pub(super) tasks: VecDeque<usize>,
    /// After how many transactions the unit stops, and whether it is reset.
    pub(super) planned: VecDeque<(usize, bool)>,
    pub(super) lease: Picoseconds,
    pub(super) faults: Faults,
    /// How often the FPGA was reset.
    pub(super) life: u32,
    pub(super) fpga: Life,
    pub(super) last: Picoseconds,
    pub(super) wrong: Option<String>,
}

pub(super) type Shared = Rc<RefCell<Logic>>;

impl Logic {
    /// Nothing has begun.
    pub(super) fn new(world: &World, scenario: &CcixScenario, of: &CcixLocks) -> Self {
        let Agent { home, link, .. } = &*world.agent;
        let constants = &scenario.platform.home;
        let access = Picoseconds::from_ns_f64(constants.memory_write_ns);
        let seed = scenario.seed;
        Self {
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
        }
    }

    pub(super) fn fail(&mut self, reason: String) {
        self.wrong.get_or_insert(reason);
    }

    pub(super) fn of(&self, number: usize) -> &CcixTransaction {
        &self.of.transactions[number]
    }

    /// A step that is behind a larger record may not wait: no circle of transactions that wait is possible.
    pub(super) fn may_wait(&self, number: usize, step: usize) -> bool {
        let steps = &self.of(number).steps;
        steps[..step].iter().all(|before| before.record < steps[step].record)
    }

    pub(super) fn locked(&mut self, number: usize) {
        self.states[number].locked = Some(self.sim.now());
        self.serial.push(number);
    }

    /// It has a slot: it is neither over nor between two attempts.
    pub(super) fn is_open(&self, number: usize) -> bool {
        let side = usize::from(self.of(number).fpga);
        self.at[side][usize::from(self.states[number].slot)] == Some(number)
    }

    /// An order of this owner waits for a lock that is held.
    pub(super) fn queued(&mut self, owner: u8) {
        let (side, slot) = if owner < HOST { (1, owner) } else { (0, owner - HOST) };
        match self.at[side].get(usize::from(slot)).copied().flatten() {
            Some(number) => self.states[number].met = true,
            // An order of the table that was lost.
            None if self.fpga.losses.count > 0 => {}
            None => self.fail(format!("owner {owner} waits for a lock, which asked for none")),
        }
    }

    /// Locks are lost with the FPGA.
    pub(super) fn has_fpga_table(&self) -> bool {
        matches!(self.of.mode, CcixLockMode::Shared | CcixLockMode::Hybrid)
    }

    /// All of the FPGA is reset now.
    pub(super) fn falls(&self) -> bool {
        !self.fpga.is_down && self.fpga.planned.front().is_some_and(|after| self.ended >= *after)
    }

    pub(super) fn end(&mut self, number: usize) {
        let now = self.sim.now();
        self.last = now;
        self.ended += 1;
        self.open -= 1;
        self.free(number);
        self.states[number].end = Some(now);
        self.sim.count_transfers(1);
    }

    /// Whether the unit is reset, or stands still.
    pub(super) fn stopped(&mut self, now: Picoseconds) -> [bool; 2] {
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

    pub(super) fn free(&mut self, number: usize) {
        let (side, slot) = (usize::from(self.of(number).fpga), self.states[number].slot);
        self.at[side][usize::from(slot)] = None;
        self.slots[side].push_back(slot);
    }
}

impl Life {
    /// The host's compare-and-swap took a lock, or released it.
    pub(super) fn swapped(&mut self, order: Order, exclusive: bool, record: u16) {
        let held = self.host_locks.entry(record).or_default();
        *held = match (order, exclusive) {
            (Order::Release, true) => 0,
            (Order::Release, false) => held.saturating_sub(1),
            (_, true) => WRITER,
            (_, false) => *held + 1,
        };
    }
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
