// SPDX-License-Identifier: Apache-2.0
//! The FPGA's logic as an AXI master behind a coherent port: a traffic generator of the device, which makes what
//! it writes and compares what it reads.

use isthmus_sim::Picoseconds;
use isthmus_sim::world::lines::{LINE_BYTES, Line};
use isthmus_sim::world::tasks::{Task, TaskUser};

use super::program::{Logic, Open};
use super::scenario::{EciDriver, EciScenario};
use super::world::World;
use crate::dma::{LINE_BYTES as PART_BYTES, pattern};
use crate::error::RoadError;

/// Which side has written a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writer {
    Host,
    Fpga,
}

/// The pattern of a line, from its number and a seed: a line of the link is two of the generator's.
pub(super) fn line(index: u64, seed: u32) -> Line {
    let mut line = [0; LINE_BYTES];
    let parts = LINE_BYTES / PART_BYTES;
    for (part, bytes) in line.chunks_exact_mut(PART_BYTES).enumerate() {
        bytes.copy_from_slice(&pattern(index * parts as u64 + part as u64, seed));
    }
    line
}

/// The seed of what a side writes for a transfer. Both sides have others, each transfer another, and none is near
/// another: the pattern takes its difference from a line's number.
pub(super) fn seed(scenario: &EciScenario, transfer: u64, by: Writer) -> u32 {
    let number = 2 * transfer as u32 + u32::from(by == Writer::Fpga) + 1;
    number.wrapping_mul(0x9E37_79B9) ^ scenario.seed as u32
}

/// Content of memory at the start.
pub(super) fn first_lines(scenario: &EciScenario) -> Vec<Line> {
    (0..scenario.memory_lines()).map(|index| line(index, scenario.seed as u32)).collect()
}

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
        self.outcome.done[open.transfer as usize] = time;
        self.outcome.checked += open.bytes as u64;
        self.end(time, open.transfer);
    }
}
