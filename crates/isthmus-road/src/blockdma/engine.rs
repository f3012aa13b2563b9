// SPDX-License-Identifier: Apache-2.0
//! The FPGA's logic that a host program talks to: a doorbell in front of the engine, which fetches what was posted.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use isthmus_host::pcie::{DOORBELL, Descriptor};
use isthmus_sim::Picoseconds;
use isthmus_sim::world::pcie::{BarTarget, ReadReply, Taken};
use isthmus_sim::world::tasks::{Task, TaskUser};

use crate::dma::{Engine, Part};

/// The register that the host stores to.
#[derive(Default)]
pub(super) struct Doorbell(Cell<u32>);

impl BarTarget for Doorbell {
    fn write(&self, offset: u64, data: Vec<u8>, _taken: Taken) {
        if let (DOORBELL, Some(word)) = (offset, data.first_chunk()) {
            self.0.set(u32::from_le_bytes(*word));
        }
    }

    fn read(&self, _offset: u64, bytes: usize, reply: ReadReply) {
        reply.send(vec![0; bytes]);
    }
}

/// What the engine did, for the program's check.
#[derive(Default)]
pub(super) struct Moved {
    /// Of blocks to the host, the seed of their data, until it is compared.
    pub(super) seeds: BTreeMap<u64, u32>,
    /// When the data of blocks to the FPGA was there.
    pub(super) arrived: BTreeMap<u64, Picoseconds>,
    /// Descriptors that the engine was given to read.
    pub(super) descriptors: u64,
    pub(super) wrong: Option<String>,
}

/// Descriptors that are fetched ahead of their data: as many as come while one is on its way.
const AHEAD: usize = 16;

/// The logic.
pub(super) struct Logic {
    pub(super) doorbell: Rc<Doorbell>,
    pub(super) engine: Engine,
    pub(super) moved: Rc<RefCell<Moved>>,
    /// Blocks whose descriptors were asked for.
    pub(super) fetched: u32,
}

impl TaskUser for Logic {
    fn offer(&mut self, _time: Picoseconds) -> Option<Task> {
        let room = self.engine.fetched_ahead().is_some_and(|ahead| ahead < AHEAD);
        if room && self.fetched != self.doorbell.0.get() {
            self.engine.fetch_first(u64::from(self.fetched));
            self.fetched = self.fetched.wrapping_add(1);
        }
        let (task, block, part) = self.engine.next()?;
        let mut moved = self.moved.borrow_mut();
        moved.descriptors = self.engine.descriptors();
        if let Part::Data(Descriptor { to_host: true, .. }) = part {
            moved.seeds.insert(block, task.seed);
        }
        Some(task)
    }

    fn done(&mut self, time: Picoseconds, tag: u8, fault: bool) {
        let mut moved = self.moved.borrow_mut();
        match self.engine.done(tag, fault) {
            Ok((block, Part::Data(of))) if !of.to_host => {
                moved.arrived.insert(block, time);
            }
            Ok(_) => {}
            Err(reason) => {
                moved.wrong.get_or_insert(reason);
            }
        }
    }
}
