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

    /// As `fetch`, but before all tasks that wait: a block moves only when its descriptor is here.
    pub(crate) fn fetch_first(&mut self, block: u64) {
        self.ready.push_front((block, Part::Descriptor));
    }

    /// Blocks that have begun and whose data is not yet with the engine; it can take a task.
    pub(crate) fn fetched_ahead(&self) -> Option<usize> {
        let waits = |part: &Part| *part != Part::Record;
        let ready = self.ready.iter().filter(|(_, part)| waits(part)).count();
        let open = self.open.values().filter(|(_, part)| *part == Part::Descriptor).count();
        (!self.tags.is_empty()).then_some(ready + open)
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

#[cfg(test)]
mod tests {
    use isthmus_sim::world::MemoryConfig;

    use super::*;

    const PLACE: (RingPlace, u64) = ring_lines(16, 4);

    fn engine(ring: bool) -> (Engine, Memory) {
        let memory = Memory::new(&MemoryConfig {
            name: "host.memory".to_owned(),
            size_bytes: PLACE.1 as usize * LINE_BYTES,
            load_ns: 0.0,
            store_ns: 0.0,
            copy_ns_per_byte: 0.0,
        })
        .unwrap();
        let random = RandomStream::new(1, "test");
        (Engine::new(&memory, ring.then_some(PLACE.0), random, 7), memory)
    }

    fn block(to_host: bool) -> Descriptor {
        Descriptor { address: MEMORY_BASE + 128, bytes: 100, to_host }
    }

    /// The tasks of block 5, each done at once: writes or not, their addresses and bytes.
    fn tasks(engine: &mut Engine) -> Vec<(bool, u64, u32)> {
        let mut found = Vec::new();
        while let Some((task, number, _)) = engine.next() {
            assert_eq!(number, 5);
            assert_eq!(engine.done(task.tag, false).unwrap().0, 5);
            found.push((task.write, task.address - MEMORY_BASE, task.bytes));
        }
        assert!(engine.is_idle());
        found
    }

    #[test]
    fn a_block_of_a_ring_is_three_tasks_of_its_slot() {
        for to_host in [false, true] {
            let (mut engine, memory) = engine(true);
            // Block 5 has slot 1 of 4.
            memory.write(PLACE.0.descriptors + 64, &block(to_host).encode()).unwrap();
            engine.fetch(5);
            let (descriptors, records) = (16 * 64, 20 * 64);
            let must =
                [(false, descriptors + 64, 64), (to_host, 128, 100), (true, records + 64, 16)];
            assert_eq!(tasks(&mut engine), must);
            assert_eq!(engine.descriptors(), 1);
        }
    }

    #[test]
    fn descriptors_are_fetched_in_front_of_data_and_counted_until_that_is_with_the_engine() {
        let (mut engine, memory) = engine(true);
        memory.write(PLACE.0.descriptors, &block(true).encode()).unwrap();
        engine.fetch_first(0);
        assert_eq!(engine.fetched_ahead(), Some(1));
        let tag = engine.next().unwrap().0.tag;
        assert_eq!(engine.fetched_ahead(), Some(1), "with the engine");
        engine.done(tag, false).unwrap();
        engine.fetch_first(1);
        assert_eq!(engine.fetched_ahead(), Some(2));
        assert_eq!(engine.next().map(|(_, number, _)| number), Some(1), "before the data of 0");
        assert!(matches!(engine.next(), Some((_, 0, Part::Data(_)))));
        assert_eq!(engine.fetched_ahead(), Some(1), "records wait for nothing");
    }

    #[test]
    fn the_record_of_what_came_to_the_fpga_waits_for_it() {
        let (mut engine, memory) = engine(true);
        memory.write(PLACE.0.descriptors + 64, &block(false).encode()).unwrap();
        engine.fetch(5);
        let descriptor = engine.next().unwrap().0.tag;
        assert!(engine.next().is_none());
        engine.done(descriptor, false).unwrap();
        let data = engine.next().unwrap().0.tag;
        assert!(engine.next().is_none() && engine.is_busy());
        engine.done(data, false).unwrap();
        assert_eq!(engine.next().map(|(_, _, part)| part), Some(Part::Record));
    }

    #[test]
    fn a_block_that_the_logic_knows_is_its_data_alone() {
        let (mut engine, _memory) = engine(false);
        engine.begin(5, block(true));
        assert!(!engine.wants());
        assert_eq!(tasks(&mut engine), [(true, 128, 100)]);
        assert!(engine.wants());
    }

    #[test]
    fn what_the_engine_cannot_do_is_said() {
        let (mut engine, memory) = engine(true);
        memory.write(PLACE.0.descriptors + 64, &[0xFF; 64]).unwrap();
        engine.fetch(5);
        let tag = engine.next().unwrap().0.tag;
        let refused = engine.done(tag, false).unwrap_err();
        assert_eq!(refused, "slot of block 5 holds no valid descriptor");
        assert_eq!(
            engine.done(tag, false).unwrap_err(),
            format!("task {tag}, which is not open, is done")
        );
        engine.begin(6, block(false));
        let tag = engine.next().unwrap().0.tag;
        assert_eq!(engine.done(tag, true).unwrap_err(), "a fault, and addresses are physical");
    }

    #[test]
    fn no_more_tasks_are_open_than_there_are_tags() {
        let (mut engine, _memory) = engine(false);
        for number in 0..=u64::from(MOST_TASKS) {
            engine.begin(number, block(false));
        }
        assert_eq!(std::iter::from_fn(|| engine.next()).count(), usize::from(MOST_TASKS));
        assert!(!engine.wants());
    }
}
