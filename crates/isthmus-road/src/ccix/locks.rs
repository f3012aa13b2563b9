// SPDX-License-Identifier: Apache-2.0
//! Transactions of the host and of the FPGA on the same records, under locks that they share.
//!
//! The FPGA's side is gateware: `rtl/ccix/ccix_update.sv`, its agent, and `lock_table` where the table is there. The
//! host's requesters are programs here, without a time of their own: an order to a table of the host is an access to
//! its memory, one to the FPGA's a message over the link and back, an access to a record one of the home's.
//!
//! Every transaction must have read what it reads when all are made one after the other, in the order in which they
//! had their locks; so must memory be in the end.

mod pins;
mod recovery;
mod replay;
mod requests;
mod result;
mod state;
mod table;
mod waits;
mod words;

use std::cell::RefCell;
use std::rc::Rc;

use isthmus_sim::Picoseconds;
use isthmus_sim::world::ccix::Way;

use super::scenario::{CcixLocks, CcixScenario};
use super::world::{Progress, World};
use crate::dma::first_seed;
use crate::error::RoadError;
use crate::measurement::Measurement;
use pins::Pins;
use state::{Logic, Shared};
use table::LockMessage;

const STUCK: Picoseconds = Picoseconds::from_us(2_000);

/// All transactions.
pub(super) fn run(
    world: &World,
    scenario: &CcixScenario,
    of: &CcixLocks,
) -> Result<Measurement, RoadError> {
    let home = &world.agent.home;
    let seed = scenario.seed;
    let logic: Shared = Rc::new(RefCell::new(Logic::new(world, scenario, of)));
    let served = Rc::clone(&logic);
    home.on_lock(Box::new(move |message| {
        if !recovery::logged(&served, message) {
            requests::message_of_fpga(&served, LockMessage::of(message[0]));
        }
    }));
    replay::unlocked(of, |line, touch| home.begin_with(line, touch));
    Pins::attach(&world.fpga, &logic)?;
    let stale = world.fpga.output("status_stale_o", 32)?;
    // The FPGA's table clears its locks behind a reset.
    world.simulation.run_for(Picoseconds::from_us(10))?;
    let start = world.simulation.handle().now();
    logic.borrow_mut().last = start;
    let carried = [Way::Up, Way::Down].map(|way| world.agent.link.carried(way));
    requests::begin(&logic);
    world.complete(seed, STUCK, || {
        let logic = logic.borrow();
        match &logic.wrong {
            Some(wrong) => Progress::Wrong(wrong.clone()),
            None if logic.ended == of.transactions.len() => Progress::Done,
            None => {
                Progress::Going { last: logic.last, ended: format!("{} transactions", logic.ended) }
            }
        }
    })?;
    let now = [Way::Up, Way::Down].map(|way| world.agent.link.carried(way));
    let wire = [0, 1].map(|way| now[way].wire_bytes - carried[way].wire_bytes);
    // Releases on their way.
    world.simulation.run_for(Picoseconds::from_us(5))?;
    if !logic.borrow().table.is_free() {
        return Err(RoadError::Violation(format!("ccix: a lock stays held; seed {seed}")));
    }
    let expected = replay::replay(&logic.borrow(), first_seed(seed)).map_err(|number| {
        let behind = "read what no order of transactions gives";
        RoadError::Violation(format!("ccix: transaction {number} {behind}; seed {seed}"))
    })?;
    world.load_written(&expected)?;
    world.check(seed)?;
    world.check_memory(&expected, seed)?;
    let mut made = result::measurement(world, scenario, of, &logic.borrow(), start, wire)?;
    made.counters.insert("fpga.refused".to_owned(), stale.get());
    Ok(made)
}
