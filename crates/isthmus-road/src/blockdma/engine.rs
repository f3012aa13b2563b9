// SPDX-License-Identifier: Apache-2.0
//! The FPGA's logic in front of its DMA engine: a doorbell, and three tasks of the engine for each block. It reads
//! the descriptor, moves the data, and writes a record of its end.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use isthmus_host::pcie::{
    DESCRIPTOR_BYTES, DOORBELL, Descriptor, RECORD_BYTES, RECORD_STRIDE, RingPlace,
};
use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::RandomStream;
use isthmus_sim::world::Memory;
use isthmus_sim::world::pcie::{BarTarget, ReadReply, Taken};
use isthmus_sim::world::tasks::{Task, TaskUser};

use crate::host_bus::MEMORY_BASE;

/// Tasks that the engine has open at most.
const MOST_TASKS: u8 = 128;

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

/// A task of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Descriptor,
    Data(Descriptor),
    Record,
}

/// What the engine did, for the program's check.
#[derive(Default)]
pub(super) struct Moved {
    /// Of blocks to the host, the seed of their data, until it is compared.
    pub(super) seeds: BTreeMap<u64, u32>,
    /// When the data of blocks to the FPGA was there.
    pub(super) arrived: BTreeMap<u64, Picoseconds>,
    /// Descriptors that were read.
    pub(super) descriptors: u64,
    pub(super) wrong: Option<String>,
}

/// The logic.
pub(super) struct Logic {
    doorbell: Rc<Doorbell>,
    memory: Memory,
    place: RingPlace,
    moved: Rc<RefCell<Moved>>,
    random: RandomStream,
    /// Of the lines that the host has for the FPGA.
    first_seed: u32,
    fetched: u32,
    tags: VecDeque<u8>,
    ready: VecDeque<(u64, Part)>,
    open: BTreeMap<u8, (u64, Part)>,
}

impl Logic {
    pub(super) fn new(
        doorbell: &Rc<Doorbell>,
        memory: &Memory,
        place: RingPlace,
        moved: &Rc<RefCell<Moved>>,
        random: RandomStream,
        first_seed: u32,
    ) -> Self {
        Self {
            doorbell: Rc::clone(doorbell),
            memory: memory.clone(),
            place,
            moved: Rc::clone(moved),
            random,
            first_seed,
            fetched: 0,
            tags: (0..MOST_TASKS).collect(),
            ready: VecDeque::new(),
            open: BTreeMap::new(),
        }
    }

    fn slot(&self, block: u64) -> usize {
        (block % self.place.slots) as usize
    }

    fn task(&mut self, tag: u8, block: u64, part: Part) -> Task {
        let (write, address, bytes) = match part {
            Part::Descriptor => {
                let at = self.place.descriptors + self.slot(block) * DESCRIPTOR_BYTES;
                (false, MEMORY_BASE + at as u64, DESCRIPTOR_BYTES as u32)
            }
            Part::Data(of) => (of.to_host, of.address, of.bytes),
            Part::Record => {
                let at = self.place.records + self.slot(block) * RECORD_STRIDE;
                (true, MEMORY_BASE + at as u64, RECORD_BYTES as u32)
            }
        };
        let seed = if write { self.random.bits() as u32 } else { self.first_seed };
        if let (true, Part::Data(_)) = (write, part) {
            self.moved.borrow_mut().seeds.insert(block, seed);
        }
        Task { write, tag, address, bytes, seed }
    }

    fn fail(&self, reason: String) {
        self.moved.borrow_mut().wrong.get_or_insert(reason);
    }

    /// What the engine has read as a block's descriptor.
    fn descriptor(&self, block: u64) -> Option<Descriptor> {
        let at = self.place.descriptors + self.slot(block) * DESCRIPTOR_BYTES;
        let line = self.memory.read(at, DESCRIPTOR_BYTES).ok()?;
        Descriptor::decode(&line)
    }
}

impl TaskUser for Logic {
    fn offer(&mut self, _time: Picoseconds) -> Option<Task> {
        let tag = self.tags.front().copied()?;
        if self.ready.is_empty() && self.fetched != self.doorbell.0.get() {
            self.ready.push_back((u64::from(self.fetched), Part::Descriptor));
            self.fetched = self.fetched.wrapping_add(1);
        }
        let (block, part) = self.ready.pop_front()?;
        self.tags.pop_front();
        self.open.insert(tag, (block, part));
        Some(self.task(tag, block, part))
    }

    fn done(&mut self, time: Picoseconds, tag: u8, fault: bool) {
        let Some((block, part)) = self.open.remove(&tag) else {
            return self.fail(format!("task {tag}, which is not open, is done"));
        };
        self.tags.push_back(tag);
        if fault {
            return self.fail("a fault, and addresses are physical".to_owned());
        }
        match part {
            Part::Descriptor => {
                self.moved.borrow_mut().descriptors += 1;
                let Some(of) = self.descriptor(block) else {
                    return self.fail(format!("slot of block {block} holds no valid descriptor"));
                };
                self.ready.push_back((block, Part::Data(of)));
                // Writes stay in order: the record is visible behind its data.
                if of.to_host {
                    self.ready.push_back((block, Part::Record));
                }
            }
            Part::Data(of) if !of.to_host => {
                self.moved.borrow_mut().arrived.insert(block, time);
                self.ready.push_back((block, Part::Record));
            }
            Part::Data(_) | Part::Record => {}
        }
    }
}
