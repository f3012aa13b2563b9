// SPDX-License-Identifier: Apache-2.0
//! Lost transactions: of a unit that was reset or stood still, and of an FPGA that was reset with its table, its cache
//! and what was on the link.

use std::rc::Rc;

use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::ResetSpec;

use super::super::scenario::CcixLockMode;
use super::requests::{again, answered, begin, begin_later};
use super::state::{HOST, Shared};
use super::table::Logged;
use super::words::{LOCK, word};

/// How long all of the FPGA is reset after the host has recovered. The time in which a link is trained and an FPGA is
/// configured, many milliseconds, would only be a pause.
const RESTART: Picoseconds = Picoseconds::from_us(2);

/// The unit lost a transaction: it is undone, or was complete.
pub(super) fn lost(shared: &Shared, number: usize, whole: bool) {
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

/// A message of the FPGA for the host's log.
pub(super) fn logged(shared: &Shared, message: &[u64]) -> bool {
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

/// All of the FPGA is reset: its table, its cache, and what is on the link. The host notices later.
pub(super) fn fall(shared: &Shared, now: Picoseconds) {
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
