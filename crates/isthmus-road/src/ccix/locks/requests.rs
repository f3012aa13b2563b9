// SPDX-License-Identifier: Apache-2.0
//! The host's requesters, which are programs, and the answers to all orders.

use std::rc::Rc;

use isthmus_sim::Picoseconds;

use super::super::home::Home;
use super::super::scenario::CcixLockMode;
use super::state::{HOST, Shared};
use super::table::{LockMessage, Order, Status};
use super::words::{chained, swap, word};
use crate::dma::Line;

/// An aborted transaction begins again after a random time below this, which doubles with every
/// `PATIENCE` attempts up to `DOUBLINGS` times: so few try at once that one gets all its locks.
const BACKOFF: Picoseconds = Picoseconds::from_us(2);
const PATIENCE: u32 = 8;
const DOUBLINGS: u32 = 6;
/// A lock that is not free is tried again after a random time below this, which doubles up to `DOUBLINGS` times.
const SPIN: Picoseconds = Picoseconds::from_ns(500);

/// Begins transactions in their order, as many at once as there are requesters.
pub(super) fn begin(shared: &Shared) {
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
pub(super) fn again(shared: &Shared, number: usize) {
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

/// As `begin`, when what happens now is over.
pub(super) fn begin_later(shared: &Shared) {
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
pub(super) fn answered(shared: &Shared, answers: Vec<LockMessage>) {
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

/// A lock message of the FPGA at the host's port.
pub(super) fn message_of_fpga(shared: &Shared, message: LockMessage) {
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
