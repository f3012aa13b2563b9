// SPDX-License-Identifier: Apache-2.0
//! The logic in front of the DMA engine. With a ring of descriptors a block is three of the engine's tasks: it reads
//! the descriptor, moves the data, and writes a record of its end. Without one it is the second of them alone.

use std::collections::{BTreeMap, VecDeque};

use isthmus_host::pcie::{DESCRIPTOR_BYTES, Descriptor, RECORD_BYTES, RECORD_STRIDE, RingPlace};
use isthmus_sim::kernel::RandomStream;
use isthmus_sim::world::Memory;
use isthmus_sim::world::tasks::Task;

use super::line::LINE_BYTES;
use crate::host_bus::MEMORY_BASE;

/// Tasks that the engine has open at most.
pub(crate) const MOST_TASKS: u8 = 128;

/// Behind so many lines of data, the place of a ring with as many slots; and the lines of all of it.
pub(crate) const fn ring_lines(data: u64, slots: u64) -> (RingPlace, u64) {
    let descriptors = data as usize * LINE_BYTES;
    let records = descriptors + slots as usize * DESCRIPTOR_BYTES;
    let bytes = records + slots as usize * RECORD_STRIDE;
    (RingPlace { descriptors, records, slots }, (bytes / LINE_BYTES) as u64)
}

/// A task of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Its descriptor is read.
    Descriptor,
    /// Its data is moved.
    Data(Descriptor),
    /// Its record is written.
    Record,
}

/// The logic.
pub(crate) struct Engine {
    memory: Memory,
    ring: Option<RingPlace>,
    /// Of seeds of data that the FPGA makes.
    random: RandomStream,
    /// Of the lines that the host has for the FPGA.
    first_seed: u32,
    tags: VecDeque<u8>,
    /// Tasks that may be given to the engine, and those that it has.
    ready: VecDeque<(u64, Part)>,
    open: BTreeMap<u8, (u64, Part)>,
    descriptors: u64,
}

impl Engine {
    pub(crate) fn new(
        memory: &Memory,
        ring: Option<RingPlace>,
        random: RandomStream,
        first_seed: u32,
    ) -> Self {
        Self {
            memory: memory.clone(),
            ring,
            random,
            first_seed,
            tags: (0..MOST_TASKS).collect(),
            ready: VecDeque::new(),
            open: BTreeMap::new(),
            descriptors: 0,
        }
    }

    /// Nothing of a block that has begun waits for the engine, which can take a task: one more may begin.
    pub(crate) fn wants(&self) -> bool {
        self.ready.is_empty() && !self.tags.is_empty()
    }

    /// Begins a block whose descriptor is in its slot of the ring.
    pub(crate) fn fetch(&mut self, block: u64) {
        self.ready.push_back((block, Part::Descriptor));
    }

    /// Begins a block of which the FPGA's logic knows all.
    pub(crate) fn begin(&mut self, block: u64, of: Descriptor) {
        self.ready.push_back((block, Part::Data(of)));
    }

    /// The next task for the engine, of which block and part.
    pub(crate) fn next(&mut self) -> Option<(Task, u64, Part)> {
        let tag = self.tags.front().copied()?;
        let (block, part) = self.ready.pop_front()?;
        self.tags.pop_front();
        self.open.insert(tag, (block, part));
        self.descriptors += u64::from(part == Part::Descriptor);
        let (write, address, bytes) = match part {
            Part::Descriptor => (false, self.descriptor_at(block), DESCRIPTOR_BYTES as u32),
            Part::Data(of) => (of.to_host, of.address, of.bytes),
            Part::Record => (true, self.record_at(block), RECORD_BYTES as u32),
        };
        let seed = if write { self.random.bits() as u32 } else { self.first_seed };
        Some((Task { write, tag, address, bytes, seed }, block, part))
    }

    /// A task is done: of which block and part. What the block needs next is ready.
    pub(crate) fn done(&mut self, tag: u8, fault: bool) -> Result<(u64, Part), String> {
        let Some((block, part)) = self.open.remove(&tag) else {
            return Err(format!("task {tag}, which is not open, is done"));
        };
        self.tags.push_back(tag);
        if fault {
            return Err("a fault, and addresses are physical".to_owned());
        }
        match part {
            Part::Descriptor => {
                let of = self
                    .descriptor(block)
                    .ok_or_else(|| format!("slot of block {block} holds no valid descriptor"))?;
                self.ready.push_back((block, Part::Data(of)));
                // Writes stay in order: the record is visible behind its data.
                if of.to_host {
                    self.ready.push_back((block, Part::Record));
                }
            }
            Part::Data(of) if self.ring.is_some() && !of.to_host => {
                self.ready.push_back((block, Part::Record));
            }
            Part::Data(_) | Part::Record => {}
        }
        Ok((block, part))
    }

    /// The engine has tasks.
    pub(crate) fn is_busy(&self) -> bool {
        !self.open.is_empty()
    }

    /// Neither has the engine tasks, nor are any ready.
    pub(crate) fn is_idle(&self) -> bool {
        self.open.is_empty() && self.ready.is_empty()
    }

    /// Descriptors that the engine was given to read.
    pub(crate) fn descriptors(&self) -> u64 {
        self.descriptors
    }

    fn slot(&self, block: u64, first: fn(&RingPlace) -> usize, stride: usize) -> usize {
        self.ring.as_ref().map_or(0, |ring| first(ring) + (block % ring.slots) as usize * stride)
    }

    fn descriptor_at(&self, block: u64) -> u64 {
        MEMORY_BASE + self.slot(block, |ring| ring.descriptors, DESCRIPTOR_BYTES) as u64
    }

    fn record_at(&self, block: u64) -> u64 {
        MEMORY_BASE + self.slot(block, |ring| ring.records, RECORD_STRIDE) as u64
    }

    /// What the engine has read as a block's descriptor.
    fn descriptor(&self, block: u64) -> Option<Descriptor> {
        let at = self.slot(block, |ring| ring.descriptors, DESCRIPTOR_BYTES);
        Descriptor::decode(&self.memory.read(at, DESCRIPTOR_BYTES).ok()?)
    }
}
