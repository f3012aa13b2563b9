// SPDX-License-Identifier: Apache-2.0
//! Breakdown of the observed transfer's latency, from the lanes' records and the devices' probes.

use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::{DeviceHandle, ProbeRecord};
use isthmus_sim::world::blocks::BlockRecord;

use super::program::Outcome;
use super::scenario::{EciDriver, EciScenario};
use super::world::World;
use crate::error::RoadError;
use crate::measurement::Stage;
use crate::stages::Way;

/// Virtual circuits of loads and of stores from the FPGA, and of lines from the host.
const LOADS: [u32; 2] = [6, 7];
const STORES: [u32; 2] = [2, 3];
const LINES: [u32; 2] = [4, 5];
const NUMBERED: [u32; 2] = [0b100, 0b101];

/// Whether a block carries a word of one of two virtual circuits.
fn carries(record: &BlockRecord, circuits: [u32; 2]) -> bool {
    let [low, high] = [record.block[14], record.block[15]];
    if !NUMBERED.contains(&(high >> 29)) {
        return false;
    }
    // Seven circuits of 4 bits, above the 24 bits of the check.
    let fields = (u64::from(high) << 32 | u64::from(low)) >> 24;
    (0..7).any(|word| circuits.contains(&((fields >> (4 * word)) as u32 & 0xF)))
}

struct Seen<'a> {
    probes: &'a [ProbeRecord],
}

impl Seen<'_> {
    fn of(&self, device: &DeviceHandle, stage: &str) -> Vec<Picoseconds> {
        let number = device.stages().iter().position(|name| name == stage);
        let mine = |one: &&ProbeRecord| {
            one.device == device.index() && Some(usize::from(one.stage)) == number
        };
        self.probes.iter().filter(mine).map(|one| one.time).collect()
    }
}

/// Stages of the observed transfer, which ran alone.
pub(super) fn stages(
    world: &World,
    scenario: &EciScenario,
    outcome: &Outcome,
) -> Result<Vec<Stage>, RoadError> {
    if !scenario.faults.is_empty() || scenario.workload.driver != EciDriver::Uncached {
        // A block that is sent again has no one way; a line from a cache has another.
        return Ok(Vec::new());
    }
    let missing = || RoadError::Inconsistent("eci: the observed transfer left no trace".to_owned());
    let begin = *outcome.due.last().ok_or_else(missing)?;
    let end = *outcome.done.last().ok_or_else(missing)?;
    let probes = world.simulation.probes().since(0);
    let seen = Seen { probes: &probes };
    let [to_host, to_fpga] = world.lanes.each_ref().map(|lanes| lanes.borrow().records().to_vec());
    let accepted = seen.of(&world.fpga, "Accepted");
    let looked_up = seen.of(&world.host, "LookedUp");
    let answered = seen.of(&world.host, "Answered");
    let mut way = Way::new(begin);
    if scenario.writes() {
        way.until("fpga", "request taken", *accepted.first().ok_or_else(missing)?)?;
        lanes(&mut way, "fpga", &to_host, STORES).ok_or_else(missing)??;
        way.until("host", "check, collect, look up", *looked_up.last().ok_or_else(missing)?)?;
        way.until("host", "memory", end)?;
    } else {
        way.until("fpga", "request taken", *accepted.first().ok_or_else(missing)?)?;
        let first = to_host.iter().find(|one| carries(one, LOADS)).ok_or_else(missing)?;
        lanes(&mut way, "fpga", std::slice::from_ref(first), LOADS).ok_or_else(missing)??;
        way.until("host", "check, look up", *looked_up.first().ok_or_else(missing)?)?;
        way.until("host", "memory", *answered.first().ok_or_else(missing)?)?;
        lanes(&mut way, "host", &to_fpga, LINES).ok_or_else(missing)??;
        way.until("fpga", "check, collect", end)?;
    }
    way.finish(end)
}

/// Time on the lanes, from the first block with a word of these circuits to the last; `None`: no such block.
fn lanes(
    way: &mut Way,
    from: &str,
    records: &[BlockRecord],
    circuits: [u32; 2],
) -> Option<Result<(), RoadError>> {
    let mut blocks = records.iter().filter(|one| carries(one, circuits));
    let first = blocks.next()?;
    let last = blocks.next_back().unwrap_or(first);
    let marks = [
        (from, "pack", first.taken),
        ("wire", "bits", last.sent),
        ("wire", "transceivers and traces", last.arrived),
    ];
    Some(marks.into_iter().try_for_each(|(place, name, time)| way.until(place, name, time)))
}
