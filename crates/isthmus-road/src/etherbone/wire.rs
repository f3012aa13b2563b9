// SPDX-License-Identifier: Apache-2.0
//! A world without a host: the device, its PHY, a cable, and an end of it that this crate drives.

use isthmus_sim::world::{Cable, CableConfig, EndpointConfig, FrameEndpoint, GmiiPhy};
use isthmus_sim::{DeviceHandle, Limit, Picoseconds, SimConfig, Simulation, Stop};

use super::bus::gige::{FAULT_DELAY_NS, bit_rate};
use super::device;
use super::scenario::EtherboneScenario;
use crate::error::RoadError;
use crate::measurement::{Checked, Measurement, Samples, SimulationCost, Throughput};
use crate::model::MakeModel;
use crate::watch::{Step, Watch, follow};

/// More than any burst that is put onto the wire at once.
const QUEUE_BYTES: u64 = 1 << 28;

/// The bare wire to a device.
pub(super) struct Wire {
    pub(super) simulation: Simulation,
    pub(super) device: DeviceHandle,
    pub(super) phy: GmiiPhy,
    pub(super) endpoint: FrameEndpoint,
    pub(super) epoch_ns: u64,
}

impl Wire {
    pub(super) fn build(
        scenario: &EtherboneScenario,
        make_model: MakeModel<'_>,
        watch: &Watch,
        frames: u32,
    ) -> Result<Self, RoadError> {
        let platform = &scenario.platform;
        let gige = platform.gige()?;
        let simulation = Simulation::new(SimConfig {
            skip_idle: scenario.skip_idle,
            check_idle: scenario.check_idle,
            simulated_limit_ps: None,
            wall_limit_ms: None,
            ..scenario.limits.simulation(scenario.seed)
        });
        let epoch_ns = platform.fpga.epoch_s.saturating_mul(1_000_000_000);
        if let Some(path) = &scenario.trace.pcap {
            simulation.capture_to(path, epoch_ns)?;
        }
        let (device, phy) = device::attach_gige(
            &simulation,
            &scenario.device,
            &platform.fpga,
            &gige.phy,
            scenario.trace.waveform.clone(),
            make_model,
        )?;
        let endpoint = FrameEndpoint::new(
            &simulation,
            &EndpointConfig {
                name: "wire".to_owned(),
                bit_rate_bit_s: bit_rate(&gige.link),
                queue_bytes: QUEUE_BYTES,
            },
        )?;
        let cable = CableConfig {
            name: "cable".to_owned(),
            length_m: gige.link.length_m,
            delay_ns_per_m: gige.link.delay_ns_per_m,
            fault_delay_ns: FAULT_DELAY_NS,
        };
        Cable::connect(&simulation, &endpoint, &phy, &cable)?;
        for (name, spec) in &scenario.faults {
            simulation.faults().inject(name, spec.clone())?;
        }
        let of = Step { total: 1, transfers_total: frames.into(), ..Step::default() };
        follow(&simulation, watch, of);
        // Behind the reset.
        simulation.run_for(Picoseconds::from_us(10))?;
        Ok(Self { simulation, device, phy, endpoint, epoch_ns })
    }

    /// Time as the device sees it.
    pub(super) fn time_ns(&self) -> u64 {
        self.epoch_ns + self.simulation.now().0 / 1_000
    }

    /// Runs until nothing moves. False when something still does after `bound`.
    pub(super) fn rest(&self, bound: Picoseconds) -> Result<bool, RoadError> {
        let limit =
            Limit { simulated: Some(self.simulation.now().saturating_add(bound)), wall: None };
        let stop = self.simulation.run_until_idle(&limit)?;
        // These logs would grow for as long as the run lasts.
        drop((self.simulation.spans().take(), self.simulation.probes().take()));
        Ok(stop != Stop::TimeReached)
    }

    /// Common part of all measurements on the bare wire.
    pub(super) fn measurement(
        &self,
        scenario: &EtherboneScenario,
        end: &str,
        workload: serde_json::Value,
        samples: &Samples,
        throughput: Option<Throughput>,
        checked: Checked,
    ) -> Measurement {
        let statistics = self.simulation.statistics();
        let mut counters = self.simulation.counters().values();
        for (name, value) in self.device.status() {
            counters.insert(format!("device.{name}"), value);
        }
        let workload = match workload {
            serde_json::Value::Object(map) => map,
            _ => serde_json::Map::new(),
        };
        Measurement {
            workload,
            throughput,
            checked,
            counters,
            simulation: SimulationCost::of(&statistics),
            ..Measurement::of(&scenario.origin("pipelined"), end, samples)
        }
        .described("stage", "open-loop".to_owned())
    }
}
