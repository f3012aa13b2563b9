// SPDX-License-Identifier: Apache-2.0
//! The FPGA's logic as an AXI master behind a coherent port: a traffic generator of the device, which makes what
//! it writes and compares what it reads.

use isthmus_sim::Picoseconds;
use isthmus_sim::world::atomics::{ATOMIC_LOAD_ADD, Atomic, AtomicUser};
use isthmus_sim::world::lines::LINE_BYTES;
use isthmus_sim::world::tasks::{Task, TaskUser};

use super::pattern::{Writer, line, seed};
use super::program::{Logic, Open};
use super::scenario::{EciDriver, EciScenario, WORD_BYTES};
use super::world::World;
use crate::error::RoadError;

/// Fails when the generator has read a wrong byte, or its port has refused an access.
pub(super) fn check(world: &World, scenario: &EciScenario) -> Result<(), RoadError> {
    let wrong = world.fpga.output("status_wrong_o", 32)?.get();
    let refused = world.fpga.output("status_refused_o", 1)?.get() != 0;
    let reason = match (wrong, refused) {
        (0, false) => return Ok(()),
        (_, true) => "the port has answered with an error".to_owned(),
        (beats, _) => format!("{beats} beats that the FPGA read have wrong bytes"),
    };
    Err(RoadError::Violation(format!("eci: {reason}; seed {}", scenario.seed)))
}

impl TaskUser for Logic {
    fn offer(&mut self, time: Picoseconds) -> Option<Task> {
        let tag = self.tags.front().copied()?;
        if !self.begin(time) {
            return None;
        }
        self.tags.pop_front();
        let scenario = &self.scenario;
        let (transfer, lines, bytes) = (self.begun - 1, scenario.lines(), scenario.workload.bytes);
        let index = |number| (transfer * lines + number) % scenario.region();
        let write = scenario.writes();
        let seed = match (write, scenario.workload.driver) {
            (true, _) => seed(scenario, transfer, Writer::Fpga),
            (false, EciDriver::CachedDirty) => seed(scenario, transfer, Writer::Host),
            (false, _) => scenario.seed as u32,
        };
        for number in (0..lines).filter(|_| write) {
            let (index, bytes) = (index(number), scenario.bytes_of(number));
            let data = line(index, seed);
            self.outcome.lines[index as usize][..bytes].copy_from_slice(&data[..bytes]);
        }
        let address = index(0) * LINE_BYTES as u64;
        self.open.insert(tag, Open { transfer, index: index(0), bytes });
        Some(Task { write, tag, address, bytes: bytes as u32, seed })
    }

    fn done(&mut self, time: Picoseconds, tag: u8, fault: bool) {
        self.last = time;
        let Some(open) = self.open.remove(&tag) else {
            return self.fail(format!("task {tag}, which is not open, is done"));
        };
        self.tags.push_back(tag);
        if fault {
            return self.fail("a fault, and addresses are physical".to_owned());
        }
        // Of a write: from now on a load of its lines gets them from the FPGA's cache.
        self.outcome.times.done[open.transfer as usize] = time;
        self.outcome.checked += open.bytes as u64;
        self.end(time, open.transfer);
    }
}

/// Atomics of the first word of lines: each adds another number, and its old value is what all before it made.
impl AtomicUser for Logic {
    fn change(&mut self, time: Picoseconds) -> Option<Atomic> {
        if !self.begin(time) {
            return None;
        }
        let transfer = self.begun - 1;
        let index = transfer % self.scenario.region();
        self.operand = self.random.bits();
        self.open.insert(0, Open { transfer, index, bytes: WORD_BYTES });
        let address = index * LINE_BYTES as u64;
        Some(Atomic { code: ATOMIC_LOAD_ADD, address, operand: self.operand })
    }

    fn changed(&mut self, time: Picoseconds, old: u64) {
        self.last = time;
        let Some(open) = self.open.remove(&0) else {
            return self.fail("an atomic, and none is open, is done".to_owned());
        };
        let word = &mut self.outcome.lines[open.index as usize][..WORD_BYTES];
        if *word != old.to_le_bytes() {
            return self.fail(format!("update {} has a wrong old value", open.transfer));
        }
        word.copy_from_slice(&old.wrapping_add(self.operand).to_le_bytes());
        self.outcome.times.done[open.transfer as usize] = time;
        self.outcome.checked += open.bytes as u64;
        self.end(time, open.transfer);
    }
}
