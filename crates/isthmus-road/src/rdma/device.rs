// SPDX-License-Identifier: Apache-2.0
//! An interface's own transfers with its host's memory, as they are on the bus.
//!
//! A put makes the interface of its source read memory, and that of its destination write memory. Puts go one
//! by one, and each of these is found in the records of the bus: a read from its request to its last byte in
//! the interface, a write from its request to its being visible to a program.

use isthmus_sim::Picoseconds;

use super::pair::Series;
use super::scenario::{RdmaBus, RdmaScenario, RdmaTest};
use super::work::{BusWork, WorkKind, memory_write, work};
use super::world::{Node, World};
use crate::error::RoadError;
use crate::host_bus::MEMORY_BASE;
use crate::measurement::Stage;
use crate::stages::Way;

/// What the bus showed.
pub(super) struct OnTheBus {
    pub(super) samples: Vec<Picoseconds>,
    /// Of the last counted transfer.
    pub(super) stages: Vec<Stage>,
}

/// The host whose interface starts the transfers of a test.
pub(super) fn node<'a>(world: &'a World, scenario: &RdmaScenario) -> &'a Node {
    let host = usize::from(scenario.workload.test == RdmaTest::DeviceWrite);
    &world.nodes[host]
}

/// Finds the transfers of a series on the bus.
pub(super) fn on_the_bus(
    world: &World,
    scenario: &RdmaScenario,
    series: &Series,
) -> Result<OnTheBus, RoadError> {
    let until = world.simulation.now();
    let begin = series.due.first().copied().unwrap_or_default();
    let all = work(node(world, scenario), scenario, begin, until);
    let target = MEMORY_BASE + world.layout.target as u64..MEMORY_BASE + world.layout.inbox as u64;
    let mine = |one: &&BusWork| match scenario.workload.test {
        RdmaTest::DeviceWrite => one.kind == WorkKind::Write && target.contains(&one.address),
        _ => matches!(one.kind, WorkKind::Read | WorkKind::Completion),
    };
    let counted = series.excluded.0 as usize..series.due.len() - series.excluded.1 as usize;
    let mut found = OnTheBus { samples: Vec::with_capacity(counted.len()), stages: Vec::new() };
    let mut rest = all.as_slice();
    for transfer in counted {
        let from = series.due[transfer];
        let next = series.due.get(transfer + 1).copied().unwrap_or(until);
        // Records are in the order of their requests.
        rest = &rest[rest.partition_point(|one| one.begin < from)..];
        let own = &rest[..rest.partition_point(|one| one.begin < next)];
        let own: Vec<BusWork> = own.iter().filter(mine).copied().collect();
        let (begin, end, stages) = one(scenario, &own, transfer)?;
        found.samples.push(end - begin);
        found.stages = stages;
    }
    Ok(found)
}

/// Begin, end and stages of one transfer.
fn one(
    scenario: &RdmaScenario,
    own: &[BusWork],
    transfer: usize,
) -> Result<(Picoseconds, Picoseconds, Vec<Stage>), RoadError> {
    let write = scenario.workload.test == RdmaTest::DeviceWrite;
    let data_kind = if write { WorkKind::Write } else { WorkKind::Completion };
    let data = || own.iter().filter(|one| one.kind == data_kind);
    let bytes: u64 = data().map(|one| one.bytes).sum();
    let first = own.iter().min_by_key(|one| one.begin);
    let last = data().map(|one| one.end).max();
    let (Some(first), Some(last)) = (first, last) else {
        return Err(RoadError::Inconsistent(format!(
            "rdma: transfer {transfer} is not on the bus of its interface"
        )));
    };
    if bytes != scenario.workload.size_bytes as u64 {
        return Err(RoadError::Inconsistent(format!(
            "rdma: {bytes} of {} bytes of transfer {transfer} are on the bus of its interface",
            scenario.workload.size_bytes
        )));
    }
    let mut way = Way::new(first.begin);
    let before = match scenario.platform.bus {
        RdmaBus::Pcix(_) => "arbitration",
        RdmaBus::Pcie(_) => "port to wire",
    };
    way.until("bus", before, first.start)?;
    let end = if write {
        way.until("bus", "write", last)?;
        let end = last + memory_write(scenario);
        way.until("host", "bridge to memory", end)?;
        end
    } else {
        let brought = data().map(|one| one.begin).min().unwrap_or(last);
        way.until("bus", "read request", first.end.min(brought))?;
        way.until("host", "memory read", brought)?;
        way.until("bus", "read data", last)?;
        last
    };
    Ok((first.begin, end, way.finish(end)?))
}
