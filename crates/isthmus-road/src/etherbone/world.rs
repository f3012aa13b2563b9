// SPDX-License-Identifier: Apache-2.0
//! The world of one run: host program, bus, device.

use std::collections::BTreeMap;
use std::path::PathBuf;

use isthmus_host::etherbone::Statistics;
use isthmus_sim::kernel::JoinHandle;
use isthmus_sim::trace::perfetto_trace;
use isthmus_sim::{DeviceHandle, Limit, Picoseconds, SimConfig, SimError, Simulation};

use super::bus::Bus;
use super::library::LibraryCosts;
use super::program::Program;
use super::scenario::EtherboneScenario;
use super::scene::Scene;
use super::task::{Finished, Task};
use crate::error::RoadError;
use crate::model::MakeModel;
use crate::noise::Noise;

/// A device comes to rest after a run: longer than the gateware's bus time-out of 12,500 clocks.
const SETTLE: Picoseconds = Picoseconds::from_us(200);

/// A built world.
pub(super) struct World {
    pub(super) simulation: Simulation,
    pub(super) device: DeviceHandle,
    pub(super) bus: Bus,
    epoch_ns: u64,
    costs: LibraryCosts,
    noise: Option<Noise>,
    timeline: Option<PathBuf>,
}

impl World {
    pub(super) fn build(
        scenario: &EtherboneScenario,
        make_model: MakeModel<'_>,
        traced: bool,
    ) -> Result<Self, RoadError> {
        let trace = if traced { scenario.trace.clone() } else { Default::default() };
        let simulation = Simulation::new(SimConfig {
            skip_idle: scenario.skip_idle,
            check_idle: scenario.check_idle,
            ..scenario.limits.simulation(scenario.seed)
        });
        let epoch_ns = scenario.platform.fpga.epoch_s.saturating_mul(1_000_000_000);
        if let Some(path) = &trace.pcap {
            simulation.capture_to(path, epoch_ns)?;
        }
        let (device, bus) = Bus::build(&simulation, scenario, trace.waveform, make_model)?;
        for (name, spec) in &scenario.faults {
            simulation.faults().inject(name, spec.clone())?;
        }
        let noise = scenario.noise.as_ref();
        let noise = noise.map(|noise| Noise::new(noise, simulation.random("host: noise")));
        Ok(Self {
            noise,
            simulation,
            device,
            bus,
            epoch_ns,
            costs: LibraryCosts::new(&scenario.platform.library),
            timeline: trace.timeline,
        })
    }

    /// Starts the host program.
    pub(super) fn start(&self, task: &Task) -> JoinHandle<Finished> {
        let sim = self.simulation.handle();
        let program = Program::new(sim.clone(), self.epoch_ns, self.costs, self.noise.clone());
        self.bus.start(&sim, program, task.clone())
    }

    /// Simulation and device, for later inspection.
    pub(super) fn scene(&self) -> Scene<'_> {
        Scene { simulation: &self.simulation, device: &self.device }
    }

    pub(super) fn settle(&self) -> Result<(), SimError> {
        let limit = Limit { simulated: Some(self.simulation.now() + SETTLE), wall: None };
        self.simulation.run_until_idle(&limit).map(drop)
    }

    pub(super) fn write_timeline(&self) -> Result<(), SimError> {
        let Some(path) = &self.timeline else { return Ok(()) };
        let bytes = perfetto_trace(&self.simulation.spans().since(0));
        std::fs::write(path, bytes).map_err(|source| SimError::Trace { path: path.clone(), source })
    }

    pub(super) fn counters(&self, client: &Statistics) -> BTreeMap<String, u64> {
        let mut counters = self.simulation.counters().values();
        for (name, value) in self.device.status() {
            counters.insert(format!("device.{name}"), value);
        }
        for (name, value) in self.simulation.faults().fired() {
            counters.insert(format!("fault.{name}"), value);
        }
        let Statistics {
            messages_sent,
            bytes_sent,
            messages_received,
            bytes_received,
            cycles,
            timed_out,
            malformed,
            stale,
            repeated,
        } = *client;
        for (name, value) in [
            ("messages_sent", messages_sent),
            ("bytes_sent", bytes_sent),
            ("messages_received", messages_received),
            ("bytes_received", bytes_received),
            ("cycles", cycles),
            ("timed_out", timed_out),
            ("malformed", malformed),
            ("stale", stale),
            ("repeated", repeated),
        ] {
            counters.insert(format!("client.{name}"), value);
        }
        counters
    }
}
