// SPDX-License-Identifier: Apache-2.0
//! VMEbus: the published driver's loads and stores, in the kernel or by the program itself.

use std::path::PathBuf;

use isthmus_host::transport::TransportError;
use isthmus_sim::kernel::Sim;
use isthmus_sim::world::CpuConfig;
use isthmus_sim::world::host::Cpu;
use isthmus_sim::world::vme::{VmeConfig, VmeHost};
use isthmus_sim::{DeviceHandle, Picoseconds, Simulation};

use super::super::breakdown::{Breakdown, Marks, Trip};
use super::super::device;
use super::super::scenario::{EtherboneScenario, VmePlatform, WordsDriver};
use super::super::scene::Scene;
use super::words::{WordDriver, Words};
use crate::error::RoadError;
use crate::model::MakeModel;

/// The device's address in A32: it compares bits 31:25.
const BASE: u32 = 0x4000_0000;
const BASE_BITS: u64 = (BASE >> 25) as u64;
/// Behind the window: the registers of `vme_wb`.
const WINDOW_BYTES: u32 = 0x0100_0000;
const CYCLE: u32 = BASE + 0x0100_0000;
const UPPER: u32 = BASE + 0x0100_0004;
const ERROR_HI: u32 = BASE + 0x0100_0008;
const ERROR_LO: u32 = BASE + 0x0100_000C;
const SDB: u32 = BASE + 0x0100_0010;
/// Bytes of a word's data on the bus.
const WORD_BYTES: u64 = 4;
const FPGA_BARS: &[(&str, &str, &str)] = &[("accesses", "VmeStrobe", "VmeAnswer")];

/// The path between a program and the device's VME pins.
pub(in super::super) struct VmeBus {
    host: VmeHost,
    cpu: Cpu,
    driver: WordsDriver,
}

impl VmeBus {
    pub(super) fn build(
        simulation: &Simulation,
        scenario: &EtherboneScenario,
        platform: &VmePlatform,
        waveform: Option<PathBuf>,
        make_model: MakeModel<'_>,
    ) -> Result<(DeviceHandle, Self), RoadError> {
        let device = device::attach(
            simulation,
            &scenario.device,
            &scenario.platform.fpga,
            &[],
            &[("vme_base", BASE_BITS)],
            waveform,
            make_model,
        )?;
        let cpu = Cpu::new(simulation, "host", &CpuConfig { cores: platform.cores })?;
        let board = &platform.board;
        let config = VmeConfig {
            name: "vme".to_owned(),
            cpu_read_ns: board.cpu_read_ns,
            cpu_write_ns: board.cpu_write_ns,
            bridge_request_ns: board.bridge_request_ns,
            bridge_answer_ns: board.bridge_answer_ns,
            posted_writes: board.posted_writes,
            arbitration_ns: board.arbitration_ns,
            release_when_done: board.release_when_done == 1,
            signal_ns: board.signal_ns,
            bus_timeout_ns: board.bus_timeout_ns,
        };
        let host = VmeHost::attach(simulation, &cpu, &device, "vme", &config)?;
        Ok((device, Self { host, cpu, driver: *platform.driver.costs() }))
    }

    pub(super) fn open(&self, sim: &Sim) -> WordDriver<VmeWindow> {
        let window = VmeWindow { host: self.host.clone(), upper: None };
        WordDriver::new(sim, &self.cpu, window, self.driver)
    }

    /// Bytes of data towards the host: a parallel bus has no framing.
    pub(super) fn wire_bytes(
        &self,
        scene: Scene<'_>,
        from: Picoseconds,
        until: Picoseconds,
    ) -> u64 {
        let probes = scene.simulation.probes().since(0);
        let accesses = probes.iter().filter(|probe| {
            scene.stage(probe.stage) == Some("VmeAnswer") && (from..=until).contains(&probe.time)
        });
        accesses.count() as u64 * WORD_BYTES
    }

    /// The time for which cycles had the bus.
    pub(super) fn wire_busy(&self, from: Picoseconds, until: Picoseconds) -> Picoseconds {
        self.host.bus_busy(from, until)
    }

    /// Accesses one after the other: what each of their parts takes together.
    pub(super) fn breakdown(&self, scene: Scene<'_>, trip: &Trip) -> Result<Breakdown, RoadError> {
        let mut marks = Marks::new(scene, trip)?;
        let strobes = marks.all("VmeStrobe");
        let mut answers = marks.all("VmeAnswer").into_iter();
        for strobe in strobes {
            marks.until("bridge", "CPU, bridge and driver to the bus", Some(strobe))?;
            // A write ends before its last access has its answer.
            marks.until("fpga", "accesses", answers.next().or(trip.taken))?;
        }
        if trip.taken.is_some() {
            return marks.finish(FPGA_BARS);
        }
        marks.until("host", "bridge to driver, read call", Some(marks.received()))?;
        marks.finish(FPGA_BARS)
    }
}

/// The device's window, through the bridge.
pub(in super::super) struct VmeWindow {
    host: VmeHost,
    /// The upper address part that the window is set to.
    upper: Option<u32>,
}

fn failed(error: impl std::fmt::Display) -> TransportError {
    TransportError::Other(error.to_string())
}

impl VmeWindow {
    async fn place(&mut self, address: u32) -> Result<u32, TransportError> {
        let upper = address / WINDOW_BYTES;
        if self.upper != Some(upper) {
            self.host.write32(UPPER, upper << 24).await.map_err(failed)?;
            self.upper = Some(upper);
        }
        Ok(BASE + address % WINDOW_BYTES)
    }
}

impl Words for VmeWindow {
    async fn cycle(&mut self, open: bool) -> Result<(), TransportError> {
        self.host.write32(CYCLE, open.into()).await.map_err(failed)
    }

    async fn read(&mut self, address: u32) -> Result<u32, TransportError> {
        let place = self.place(address).await?;
        self.host.read32(place).await.map_err(failed)
    }

    async fn write(&mut self, address: u32, value: u32) -> Result<(), TransportError> {
        let place = self.place(address).await?;
        self.host.write32(place, value).await.map_err(failed)
    }

    async fn config(&mut self, address: u32) -> Result<u32, TransportError> {
        let register = match address {
            0x00 => ERROR_HI,
            0x04 => ERROR_LO,
            0x0C => SDB,
            _ => return Ok(0),
        };
        self.host.read32(register).await.map_err(failed)
    }
}
