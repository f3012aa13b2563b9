// SPDX-License-Identifier: Apache-2.0
//! For which share of a span each resource was busy: host programs, buses, links.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::future::Future;
use std::rc::Rc;

use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::Sim;
use isthmus_sim::world::link::SerialPorts;

use super::world::{NodeBus, World};
use crate::host_bus::HostMemory;

/// How long a program has waited: the rest of the time it occupied its processor.
#[derive(Debug, Default)]
pub(super) struct Waits {
    total: Cell<Picoseconds>,
    since: Cell<Option<Picoseconds>>,
}

impl Waits {
    /// Waits for `event`.
    pub(super) async fn during<F: Future>(&self, sim: &Sim, event: F) -> F::Output {
        self.since.set(Some(sim.now()));
        let output = event.await;
        self.total.set(self.at(sim.now()));
        self.since.set(None);
        output
    }

    /// The time waited until `now`.
    fn at(&self, now: Picoseconds) -> Picoseconds {
        self.total.get() + self.since.get().map_or(Picoseconds::ZERO, |since| now - since)
    }
}

/// How long each resource has been busy up to a time; of programs, how long they waited.
#[derive(Debug, Clone, Default)]
pub(super) struct Usage {
    at: Picoseconds,
    waited: Vec<Picoseconds>,
    buses: Vec<Picoseconds>,
    wires: Vec<Picoseconds>,
}

impl Usage {
    /// The busiest of each kind over the span since `before`.
    pub(super) fn shares_since(&self, before: &Self) -> BTreeMap<&'static str, f64> {
        let span = self.at.saturating_sub(before.at).0 as f64;
        let mut shares = BTreeMap::new();
        if span <= 0.0 {
            return shares;
        }
        let parts = |after: &[Picoseconds], before: &[Picoseconds]| {
            let pairs = after.iter().zip(before);
            let shares = pairs.map(|(after, before)| after.saturating_sub(*before).0 as f64 / span);
            shares.collect::<Vec<f64>>()
        };
        let mut put = |name, parts: Vec<f64>| {
            if let Some(most) = parts.into_iter().reduce(f64::max) {
                shares.insert(name, most.clamp(0.0, 1.0));
            }
        };
        let waited = parts(&self.waited, &before.waited);
        put("host", waited.into_iter().map(|share| 1.0 - share).collect());
        put("bus", parts(&self.buses, &before.buses));
        put("wire", parts(&self.wires, &before.wires));
        shares
    }
}

/// Where usage is read.
pub(super) struct Meters {
    sim: Sim,
    programs: Vec<(Rc<Waits>, HostMemory)>,
    buses: Vec<NodeBus>,
    wires: Vec<SerialPorts>,
}

impl Meters {
    /// Those of a world and of the programs that run in it, each with the memory that it shares with its
    /// interface: the host library waits there.
    pub(super) fn new(world: &World, programs: Vec<(Rc<Waits>, HostMemory)>) -> Self {
        let hosts = world.nodes.iter().map(|node| &node.ports);
        let switches = world.switches.iter().map(|(_, ports)| ports);
        Self {
            sim: world.simulation.handle(),
            programs,
            buses: world.nodes.iter().map(|node| node.bus.clone()).collect(),
            wires: hosts.chain(switches).cloned().collect(),
        }
    }

    /// Usage up to now.
    pub(super) fn read(&self) -> Usage {
        let at = self.sim.now();
        let programs = self.programs.iter();
        Usage {
            at,
            waited: programs.map(|(waits, memory)| waits.at(at) + memory.blocked()).collect(),
            buses: self.buses.iter().flat_map(NodeBus::busy).collect(),
            wires: self.wires.iter().flat_map(SerialPorts::busy).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_those_of_the_busiest_of_each_kind() {
        let ns = |all: &[u64]| all.iter().map(|ns| Picoseconds::from_ns(*ns)).collect::<Vec<_>>();
        let usage = |at, waited: &[u64], buses: &[u64], wires: &[u64]| Usage {
            at: Picoseconds::from_ns(at),
            waited: ns(waited),
            buses: ns(buses),
            wires: ns(wires),
        };
        let before = usage(1_000, &[900, 100], &[10, 500], &[0]);
        let after = usage(2_000, &[1_800, 900], &[210, 900], &[250]);
        let shares = after.shares_since(&before);
        let rounded = |name| shares.get(name).map(|share: &f64| (share * 1e3).round());
        // The second program waited 800 of 1000 ns; the second bus was busy for 400.
        assert_eq!(
            ["host", "bus", "wire", "fpga"].map(rounded),
            [Some(200.0), Some(400.0), Some(250.0), None]
        );
        assert!(before.shares_since(&before).is_empty());
        assert_eq!(usage(2_000, &[], &[], &[]).shares_since(&Usage::default()).len(), 0);
    }
}
