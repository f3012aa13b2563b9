// SPDX-License-Identifier: Apache-2.0
//! Hosts with interfaces, links and switches for a program of one's own.

use std::collections::BTreeMap;
use std::pin::Pin;

use isthmus_host::rdma::{EndpointConfig, HostId};
use isthmus_sim::kernel::{ResetSpec, Sim};
use isthmus_sim::{Picoseconds, Simulation};

use super::scenario::RdmaScenario;
use super::scenario::memory::Layout;
use super::world::{Node, World};
use crate::error::RoadError;
use crate::host_bus::{HostMemory, InterruptLine, MEMORY_BASE, Machine};
use crate::together::try_all;

/// The gateware of all hosts and switches, simulated, and the machines that host programs run on.
///
/// It is made from a scenario, of which the workload's `test`, `size_bytes` and `iterations` say nothing
/// here: `isthmus bench rdma write-lat --hosts 4 --print-scenario` prints one, with its models built.
pub struct Network {
    world: World,
    scenario: RdmaScenario,
}

impl Network {
    /// Loads the models that the scenario names, gives each host `memory_bytes` of memory, all zero, and runs
    /// until every link is up that is not cut from the begin.
    ///
    /// # Errors
    /// The scenario is invalid, a model cannot be loaded, or a link does not come up.
    pub fn build(scenario: &str, memory_bytes: usize) -> Result<Self, RoadError> {
        Self::of(RdmaScenario::parse(scenario)?, memory_bytes)
    }

    /// The same in benchmark mode: payload of writes is zero but for the time stamps of the sender's interface and
    /// of the switch, and [`config`](Self::config) opens endpoints so.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_benchmark(scenario: &str, memory_bytes: usize) -> Result<Self, RoadError> {
        let scenario = RdmaScenario { bench: true, ..RdmaScenario::parse(scenario)? };
        Self::of(scenario, memory_bytes)
    }

    fn of(scenario: RdmaScenario, memory_bytes: usize) -> Result<Self, RoadError> {
        let usual = scenario.layout();
        let bytes = memory_bytes.max(usual.bytes).next_multiple_of(4096);
        let world = World::with_layout(&scenario, &crate::load, Layout { bytes, ..usual })?;
        world.simulation.probes().set_enabled(false);
        world.simulation.spans().set_enabled(false);
        world.bring_up(&scenario)?;
        let made = Self { world, scenario };
        for host in 0..made.hosts() {
            made.machine(host).poke(0, &vec![0; bytes]);
        }
        Ok(made)
    }

    /// How many hosts there are.
    #[must_use]
    pub fn hosts(&self) -> HostId {
        self.world.nodes.len() as HostId
    }

    /// Links of each host.
    #[must_use]
    pub fn links(&self) -> usize {
        self.scenario.interface.links
    }

    /// The simulated time, sleeping and spawning.
    #[must_use]
    pub fn sim(&self) -> Sim {
        self.world.simulation.handle()
    }

    /// The simulation.
    #[must_use]
    pub fn simulation(&self) -> &Simulation {
        &self.world.simulation
    }

    /// The address on a host's bus of the first byte of its memory; all hosts have the same.
    #[must_use]
    pub const fn memory_base() -> u64 {
        MEMORY_BASE
    }

    /// A host's machine.
    ///
    /// # Panics
    /// When there is no such host.
    #[must_use]
    pub fn machine(&self, host: HostId) -> Machine {
        let node = &self.world.nodes[usize::from(host)];
        let mmio = Node::bar(&node.host, &self.scenario);
        let memory = HostMemory::new(&self.sim(), &node.host);
        Machine { mmio, memory, interrupt: InterruptLine(node.host.clone()) }
    }

    /// How its endpoint may be opened: with the platform's times, and a fence that waits for `timeout_us`.
    #[must_use]
    pub fn config(&self, host: HostId, session: u8, timeout_us: u64) -> EndpointConfig {
        Node::config(host, session, &self.scenario, Picoseconds::from_us(timeout_us))
    }

    /// Resets a host's interface in a while. Its program notices nothing; its links come up again.
    ///
    /// # Panics
    /// When there is no such host.
    pub fn reset(&self, host: HostId, after: Picoseconds) {
        let at = self.world.simulation.now() + after;
        let cycles = self.scenario.interface.reset_cycles;
        self.world.nodes[usize::from(host)].device.reset_at(ResetSpec { at_ps: at.0, cycles });
    }

    /// The counters of a host's interface.
    ///
    /// # Panics
    /// When there is no such host.
    #[must_use]
    pub fn counters(&self, host: HostId) -> BTreeMap<String, u64> {
        self.world.nodes[usize::from(host)].device.status()
    }

    /// How long each wire of a host's bus has been busy so far: PCI-X has one, PCI Express one each way,
    /// to the interface first.
    ///
    /// # Panics
    /// When there is no such host.
    #[must_use]
    pub fn bus_busy(&self, host: HostId) -> Vec<Picoseconds> {
        self.world.nodes[usize::from(host)].bus.busy()
    }

    /// Runs programs side by side until all have ended, or the first has failed.
    ///
    /// # Errors
    /// The first one's that failed, or what went wrong in the simulation.
    pub fn run<T: 'static, E: From<isthmus_sim::SimError> + 'static>(
        &self,
        programs: Vec<HostProgram<T, E>>,
    ) -> Result<Vec<T>, E> {
        let all = self.world.simulation.spawn(try_all(programs));
        self.world.simulation.run_until_complete(&all)?
    }
}

/// A program of a host.
pub type HostProgram<T, E> = Pin<Box<dyn Future<Output = Result<T, E>>>>;
