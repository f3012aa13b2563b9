// SPDX-License-Identifier: Apache-2.0
//! What lies between a host program and the device's pins: one way for each bus.

pub(super) mod gige;
mod pcie;
mod usb;
mod vme;
mod words;

use std::path::PathBuf;

use isthmus_host::transport::TransportError;
use isthmus_sim::kernel::{JoinHandle, Sim};
use isthmus_sim::{DeviceHandle, Picoseconds, Simulation};

use super::breakdown::{Breakdown, Trip};
use super::program::Program;
use super::scenario::{EtherboneBus, EtherboneScenario};
use super::scene::Scene;
use super::task::{Finished, Task};
use super::transport::CycleLog;
use crate::error::RoadError;
use crate::model::MakeModel;
use gige::{GigeBus, PathClocks};
use pcie::PcieBus;
use usb::UsbBus;
use vme::VmeBus;

/// The bus of a world, with its driver.
pub(super) enum Bus {
    Gige(GigeBus),
    Usb(UsbBus),
    Pcie(PcieBus),
    Vme(VmeBus),
}

impl Bus {
    /// The bus that a scenario's platform describes, with the scenario's device on it.
    pub(super) fn build(
        simulation: &Simulation,
        scenario: &EtherboneScenario,
        waveform: Option<PathBuf>,
        make_model: MakeModel<'_>,
    ) -> Result<(DeviceHandle, Self), RoadError> {
        match &scenario.platform.bus {
            EtherboneBus::Gige(platform) => {
                let (device, gige) =
                    GigeBus::build(simulation, scenario, platform, waveform, make_model)?;
                Ok((device, Self::Gige(gige)))
            }
            EtherboneBus::Usb(platform) => {
                let (device, usb) =
                    UsbBus::build(simulation, scenario, platform, waveform, make_model)?;
                Ok((device, Self::Usb(usb)))
            }
            EtherboneBus::Pcie(platform) => {
                let (device, pcie) =
                    PcieBus::build(simulation, scenario, platform, waveform, make_model)?;
                Ok((device, Self::Pcie(pcie)))
            }
            EtherboneBus::Vme(platform) => {
                let (device, vme) =
                    VmeBus::build(simulation, scenario, platform, waveform, make_model)?;
                Ok((device, Self::Vme(vme)))
            }
        }
    }

    /// Starts a host program.
    pub(super) fn start(&self, sim: &Sim, program: Program, task: Task) -> JoinHandle<Finished> {
        const NAME: &str = "host program";
        match self {
            Self::Gige(gige) => {
                let socket = gige.open(sim);
                sim.spawn_named(NAME, async move {
                    let socket = socket.map_err(|e| TransportError::Other(e.to_string()).into());
                    program.run(socket.map_err(|e| ("open socket", e))?, task).await
                })
            }
            Self::Usb(usb) => {
                let port = usb.open(sim);
                sim.spawn_named(NAME, async move {
                    let port = port.await.map_err(|e| TransportError::Other(e.to_string()).into());
                    program.run(port.map_err(|e| ("open port", e))?, task).await
                })
            }
            Self::Pcie(pcie) => {
                let board = pcie.open(sim);
                sim.spawn_named(NAME, async move {
                    let board = board.await.map_err(|e| ("open board", e.into()))?;
                    program.run(board, task).await
                })
            }
            Self::Vme(vme) => {
                let window = vme.open(sim);
                sim.spawn_named(NAME, async move { program.run(window, task).await })
            }
        }
    }

    /// Bytes towards the host of what left the device in this span of time, with all framing.
    pub(super) fn wire_bytes(
        &self,
        scene: Scene<'_>,
        from: Picoseconds,
        until: Picoseconds,
    ) -> u64 {
        match self {
            Self::Gige(gige) => gige.wire_bytes(from, until),
            Self::Usb(usb) => usb.wire_bytes(from, until),
            Self::Pcie(pcie) => pcie.wire_bytes(from, until),
            Self::Vme(vme) => vme.wire_bytes(scene, from, until),
        }
    }

    /// Clocks inside the gateware for one cycle.
    pub(super) fn path_clocks(
        &self,
        device: &DeviceHandle,
        cycle: &CycleLog,
    ) -> Result<PathClocks, RoadError> {
        match self {
            Self::Gige(gige) => gige.path_clocks(device, cycle),
            Self::Usb(_) | Self::Pcie(_) | Self::Vme(_) => {
                let reason = "clocks on the pins are measured over Gigabit Ethernet only";
                Err(RoadError::scenario("workload.kind", reason))
            }
        }
    }

    /// The share of a span of time for which the medium between host and device was busy: of the busier way,
    /// where it has one for each direction.
    pub(super) fn wire_busy(&self, from: Picoseconds, until: Picoseconds) -> f64 {
        let busy = match self {
            Self::Gige(gige) => gige.wire_busy(from, until),
            Self::Usb(usb) => usb.wire_busy(from, until),
            Self::Pcie(pcie) => pcie.wire_busy(from, until),
            Self::Vme(vme) => vme.wire_busy(from, until),
        };
        busy.0 as f64 / (until.saturating_sub(from)).0.max(1) as f64
    }

    /// The time of one transfer by stages.
    pub(super) fn breakdown(&self, scene: Scene<'_>, trip: &Trip) -> Result<Breakdown, RoadError> {
        match self {
            Self::Gige(gige) => gige.breakdown(scene, trip),
            Self::Usb(usb) => usb.breakdown(scene, trip),
            Self::Pcie(pcie) => pcie.breakdown(scene, trip),
            Self::Vme(vme) => vme.breakdown(scene, trip),
        }
    }

    /// True if it carries bytes without boundaries.
    pub(super) fn is_stream(&self) -> bool {
        !matches!(self, Self::Gige(_))
    }
}
