// SPDX-License-Identifier: Apache-2.0
//! The progress of a run, for code that shows it or may end it.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::time::Duration;

use isthmus_sim::{Picoseconds, Simulation};

/// Wall time between two calls of a [`Watch`]: short enough that Ctrl-C seems to act at once.
pub(crate) const WATCH_PERIOD: Duration = Duration::from_millis(100);

/// Progress of a run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Step {
    /// Measurements done.
    pub done: usize,
    /// Measurements in all.
    pub total: usize,
    /// Transfers of the present measurement that are done: cycles, packets, writes, messages, frames.
    pub transfers: u64,
    /// Those that it is to make, warm-up included; 0 where that is not known.
    pub transfers_total: u64,
    /// Simulated time of the present measurement.
    pub now: Picoseconds,
    /// Device cycles of the present measurement.
    pub device_cycles: u64,
}

/// Called a few times a second; `Break` ends the run.
pub type Watch = Rc<RefCell<dyn FnMut(Step) -> ControlFlow<()>>>;

/// Lets `watch` follow a simulation. `of` says which measurement of how many it is and how many transfers
/// it makes; the rest of it is filled in.
pub(crate) fn follow(simulation: &Simulation, watch: &Watch, of: Step) {
    let watch = Rc::clone(watch);
    simulation.on_progress(WATCH_PERIOD, move |progress| {
        let (now, device_cycles) = (progress.now, progress.device_cycles);
        watch.borrow_mut()(Step { transfers: progress.transfers, now, device_cycles, ..of })
    });
}
