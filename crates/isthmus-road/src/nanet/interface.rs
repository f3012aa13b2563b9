// SPDX-License-Identifier: Apache-2.0
//! An interface with sources on its cables, for a program of one's own.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::rc::Rc;

use isthmus_sim::kernel::Sim;
use isthmus_sim::{SimError, Simulation};

use super::scenario::{MAX_BYTES, NAME, NanetScenario};
use super::world::{IP, NanetPort, SOURCE_IP, SOURCE_PORT, Spoil, Station, UDP_PORT, World};
use crate::error::RoadError;
use crate::gpu::DataMemory;
use crate::host_bus::{Bar, HostMemory, InterruptLine, Machine};

/// The gateware of a UDP-to-memory interface, simulated, with a source on each of its cables and the machine that the
/// program runs on.
///
/// It is made from a scenario, of which the workload says nothing here: `isthmus bench nanet -s 1024 --window 1
/// --profile isthmus --print-scenario` prints one, with its model built.
pub struct Interface {
    world: World,
    ports: Rc<Vec<NanetPort>>,
    cycle_ns: f64,
}

impl Interface {
    /// Loads the model that the scenario names, and gives its host `memory_bytes` of memory at least.
    ///
    /// # Errors
    /// The scenario is invalid, or of another program than one that receives into its host's memory; or the model
    /// cannot be loaded.
    pub fn build(scenario: &str, memory_bytes: usize) -> Result<Self, RoadError> {
        let scenario = NanetScenario::parse(scenario)?;
        let host = scenario.workload.memory == DataMemory::Host;
        let wrong = [
            ("workload.memory", !host, "a program of your own has its host's: expected host"),
            ("workload.operation", scenario.sends(), "expected nic-to-memory"),
            ("chain", scenario.chain.is_some(), "a trigger has a program already: expected none"),
            ("commodity", scenario.commodity, "that path has no interface: expected false"),
        ];
        if let Some((key, _, reason)) = wrong.into_iter().find(|(_, wrong, _)| *wrong) {
            return Err(RoadError::scenario(key, reason));
        }
        let station = Station { memory_bytes, ..Station::default() };
        let mut world = World::build_as(&scenario, &station, &crate::load)?;
        world.simulation.probes().set_enabled(false);
        let ports = Rc::new(std::mem::take(&mut world.ports));
        Ok(Self { world, ports, cycle_ns: 1e3 / scenario.interface.clock_mhz })
    }

    /// How many ports there are.
    #[must_use]
    pub fn ports(&self) -> usize {
        self.ports.len()
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

    /// The machine of the program.
    #[must_use]
    pub fn machine(&self) -> Machine {
        let host = &self.world.host;
        Machine {
            mmio: Bar::new(host),
            memory: HostMemory::new(&self.sim(), host),
            interrupt: InterruptLine(host.clone()),
        }
    }

    /// Nanoseconds of a cycle of the interface, which event times and flush times are in.
    #[must_use]
    pub fn cycle_ns(&self) -> f64 {
        self.cycle_ns
    }

    /// What sends to a port; none if there is no such port.
    #[must_use]
    pub fn source(&self, port: usize) -> Option<Source> {
        (port < self.ports.len()).then(|| Source { ports: Rc::clone(&self.ports), port })
    }

    /// The counters of the interface's pins.
    #[must_use]
    pub fn counters(&self) -> BTreeMap<String, u64> {
        self.world.device.status()
    }

    /// Runs a program to its end.
    ///
    /// # Errors
    /// The program's, or what went wrong in the simulation.
    pub fn run<T: 'static, E: From<SimError> + 'static>(
        &self,
        program: impl Future<Output = Result<T, E>> + 'static,
    ) -> Result<T, E> {
        let task = self.world.simulation.spawn(program);
        self.world.simulation.run_until_complete(&task)?
    }
}

/// A sender of datagrams on a port's cable.
#[derive(Clone)]
pub struct Source {
    ports: Rc<Vec<NanetPort>>,
    port: usize,
}

impl Source {
    /// Sends a datagram as soon as the cable is free. False if it is longer than a frame carries, or too many wait.
    #[must_use]
    pub fn send(&self, payload: &[u8]) -> bool {
        let port = &self.ports[self.port];
        // Frames on the pins are kept for measurements: not of a program that may run for long.
        port.forget();
        payload.len() <= MAX_BYTES && port.send(payload, Spoil::Nothing).is_some()
    }

    /// Where its datagrams come from.
    #[must_use]
    pub fn address(&self) -> SocketAddrV4 {
        SocketAddrV4::new(SOURCE_IP, SOURCE_PORT)
    }

    /// Where they go to: the port's.
    #[must_use]
    pub fn destination(&self) -> SocketAddrV4 {
        let ip = Ipv4Addr::from(u32::from(IP) + self.port as u32);
        SocketAddrV4::new(ip, UDP_PORT)
    }
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{NAME} source {}", self.port)
    }
}
