// SPDX-License-Identifier: Apache-2.0
//! PCIe: frames streamed by DMA, and the published driver's loads and stores.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use isthmus_host::pcie::{EtherbonePcie, PcieRings};
use isthmus_host::regs::pcie_mmio as regs;
use isthmus_host::transport::{Kind, Transport, TransportError};
use isthmus_sim::kernel::{FrameId, Sim};
use isthmus_sim::world::host::Cpu;
use isthmus_sim::world::pcie::{Direction, Pcie as Link, PcieConfig, PcieHost, TlpRecord};
use isthmus_sim::{DeviceHandle, Picoseconds, Simulation};

use super::super::breakdown::{Breakdown, Marks, Trip};
use super::super::device;
use super::super::scenario::{EtherboneScenario, PcieDma, PcieDriver, PciePlatform};
use super::super::scene::Scene;
use super::super::transport::{Carrier, Until};
use super::words::{WordDriver, Words};
use crate::error::RoadError;
use crate::host_bus::{self, Bar, HostMemory, failed, pcie_config};
use crate::model::MakeModel;

/// BAR 0 of `pcie_etherbone` and of `pcie_mmio`.
const DMA_BAR_BYTES: u64 = 0x2000;
const WORDS_BAR_BYTES: u64 = 0x2_0000;
/// Offset of the Wishbone window in BAR 0 of `pcie_mmio`.
const WINDOW: u64 = 0x1_0000;
const WINDOW_MASK: u32 = 0xFFFF;
/// Pairs of probes that enclose what overlaps with other things.
const FPGA_BARS: &[(&str, &str, &str)] = &[("execute", "StreamFirstWord", "DmaWriteFirst")];

/// The path between a program and the device's AXI pins.
pub(in super::super) struct PcieBus {
    link: Link,
    host: PcieHost,
    driver: PcieDriver,
}

impl PcieBus {
    pub(super) fn build(
        simulation: &Simulation,
        scenario: &EtherboneScenario,
        platform: &PciePlatform,
        waveform: Option<PathBuf>,
        make_model: MakeModel<'_>,
    ) -> Result<(DeviceHandle, Self), RoadError> {
        let device = device::attach(
            simulation,
            &scenario.device,
            &scenario.platform.fpga,
            &[],
            &[],
            waveform,
            make_model,
        )?;
        let rings = match &platform.driver {
            PcieDriver::Dma(dma) => rings(dma).bytes(),
            PcieDriver::Words(_) => 0,
        };
        let costs = platform.host;
        let (config, bytes) = (link_config(platform), rings.max(4096));
        let (link, host) = host_bus::machine(simulation, &device, "host", &config, &costs, bytes)?;
        Ok((device, Self { link, host, driver: platform.driver.clone() }))
    }

    /// Opens the device in the way of the platform's driver.
    pub(super) fn open(
        &self,
        sim: &Sim,
    ) -> impl Future<Output = Result<PcieCarrier, TransportError>> + 'static {
        let (sim, host, driver) = (sim.clone(), self.host.clone(), self.driver.clone());
        async move {
            Ok(match driver {
                PcieDriver::Words(costs) => {
                    let window = MmioWindow { host: host.clone(), upper: None };
                    PcieCarrier::Words(WordDriver::new(&sim, host.cpu(), window, costs))
                }
                PcieDriver::Dma(dma) => {
                    let (mmio, memory) = (Bar::new(&host), HostMemory::new(&sim, &host));
                    let board = EtherbonePcie::open(mmio, memory.clone(), rings(&dma)).await?;
                    let cpu = host.cpu().clone();
                    PcieCarrier::Dma(Box::new(DmaPort { sim, cpu, memory, board }))
                }
            })
        }
    }

    /// Bytes of TLPs towards the host, with framing.
    pub(super) fn wire_bytes(&self, from: Picoseconds, until: Picoseconds) -> u64 {
        let sent = self.link.records_since(Direction::Up, 0);
        let inside = |tlp: &&TlpRecord| tlp.start >= from && tlp.end <= until;
        sent.iter().filter(inside).map(|tlp| tlp.wire_bytes).sum()
    }

    /// One transfer of a program that waits for each.
    pub(super) fn breakdown(&self, scene: Scene<'_>, trip: &Trip) -> Result<Breakdown, RoadError> {
        let mut marks = Marks::new(scene, trip)?;
        match (&self.driver, trip.taken) {
            (PcieDriver::Words(_), None) => self.words_way(&mut marks)?,
            (PcieDriver::Words(_), Some(_)) => self.stores_way(&mut marks)?,
            (PcieDriver::Dma(_), _) => self.dma_way(&mut marks, trip)?,
        }
        marks.finish(FPGA_BARS)
    }

    /// TLPs of one direction that belong to a cycle.
    fn tlps(&self, marks: &Marks<'_>, direction: Direction) -> Vec<TlpRecord> {
        let mut tlps = self.link.records_since(direction, 0);
        tlps.retain(|tlp| tlp.handed >= marks.sent() && tlp.delivered <= marks.received());
        tlps
    }

    /// The time for which TLPs had the link, of the busier direction.
    pub(super) fn wire_busy(&self, from: Picoseconds, until: Picoseconds) -> Picoseconds {
        let busy = |direction| -> Picoseconds {
            let sent = self.link.records_since(direction, 0);
            let inside = |tlp: &&TlpRecord| tlp.start >= from && tlp.end <= until;
            sent.iter().filter(inside).map(|tlp| tlp.end - tlp.start).sum()
        };
        busy(Direction::Down).max(busy(Direction::Up))
    }

    /// The write of the request, and the write that shows the reply. A write ends in the device.
    fn dma_way(&self, marks: &mut Marks<'_>, trip: &Trip) -> Result<(), RoadError> {
        let (down, up) = (self.tlps(marks, Direction::Down), self.tlps(marks, Direction::Up));
        if let Some(request) = down.first() {
            marks.until("host", "store request", Some(request.handed))?;
            marks.until("pcie", "root port sends", Some(request.start))?;
            marks.until("wire", "request TLP", Some(request.end))?;
            marks.until("pcie", "hard block receives", Some(request.delivered))?;
        }
        marks.until("fpga", "take request", marks.first("BarWrite"))?;
        marks.until("fpga", "to the engine", marks.first("StreamFirstWord"))?;
        let (place, name) = trip.parts("fpga", "bus operations");
        marks.until(place, name, marks.last("WbIssue"))?;
        if trip.taken.is_some() {
            return Ok(());
        }
        marks.until("fpga", "begin reply", marks.last("DmaWriteFirst"))?;
        if let Some(status) = up.last() {
            marks.until("fpga", "write reply, then status", Some(status.handed))?;
            marks.until("pcie", "hard block sends", Some(status.start))?;
            marks.until("wire", "reply and status TLP", Some(status.end))?;
            marks.until("pcie", "root port receives", Some(status.delivered))?;
        }
        marks.until("host", "memory to program", Some(marks.received()))
    }

    /// Stores one behind the other, up to the last one's: it goes through what those before it left.
    fn stores_way(&self, marks: &mut Marks<'_>) -> Result<(), RoadError> {
        let stores = self.tlps(marks, Direction::Down);
        if let Some(store) = stores.iter().max_by_key(|tlp| tlp.handed) {
            marks.until("host", "driver and library", Some(store.handed))?;
            marks.until("pcie", "stores: root port sends", Some(store.start))?;
            marks.until("wire", "stores: last one", Some(store.end))?;
            marks.until("pcie", "stores: hard block receives", Some(store.delivered))?;
        }
        Ok(())
    }

    /// Loads and stores one after the other: what each of their parts takes together.
    fn words_way(&self, marks: &mut Marks<'_>) -> Result<(), RoadError> {
        let (mut down, up) = (self.tlps(marks, Direction::Down), self.tlps(marks, Direction::Up));
        down.sort_by_key(|tlp| tlp.handed);
        // The first answer to each.
        let mut answers = HashMap::new();
        for reply in &up {
            if let Some(id) = reply.request {
                answers.entry(id).or_insert(reply);
            }
        }
        for request in &down {
            let Some(reply) = answers.get(&request.id) else {
                continue;
            };
            marks.until("host", "driver and library", Some(request.handed))?;
            marks.until("pcie", "loads: root port sends", Some(request.start))?;
            marks.until("wire", "loads: requests", Some(request.end))?;
            marks.until("pcie", "loads: hard block receives", Some(request.delivered))?;
            marks.until("fpga", "loads: bus", Some(reply.handed))?;
            marks.until("pcie", "loads: hard block sends", Some(reply.start))?;
            marks.until("wire", "loads: data", Some(reply.end))?;
            marks.until("pcie", "loads: root port receives", Some(reply.delivered))?;
        }
        marks.until("host", "driver and library", Some(marks.received()))
    }
}

fn rings(dma: &PcieDma) -> PcieRings {
    PcieRings {
        request: dma.request_ring_bytes,
        reply: dma.reply_ring_bytes,
        push_most: dma.push_most_bytes,
    }
}

fn link_config(platform: &PciePlatform) -> PcieConfig {
    let bar_bytes = match platform.driver {
        PcieDriver::Words(_) => WORDS_BAR_BYTES,
        PcieDriver::Dma(_) => DMA_BAR_BYTES,
    };
    let ports = [&platform.root, &platform.endpoint];
    pcie_config("pcie", &platform.link, ports, &platform.memory, bar_bytes)
}

/// The window of `pcie_mmio`, through the kernel's mapping of the BAR.
pub(in super::super) struct MmioWindow {
    host: PcieHost,
    /// The upper address half that the window is set to.
    upper: Option<u32>,
}

impl MmioWindow {
    async fn offset(&mut self, address: u32) -> Result<u64, TransportError> {
        let upper = address & !WINDOW_MASK;
        if self.upper != Some(upper) {
            self.host.mmio_write32(regs::WINDOW.into(), upper).await.map_err(failed)?;
            self.upper = Some(upper);
        }
        Ok(WINDOW + u64::from(address & WINDOW_MASK))
    }
}

impl Words for MmioWindow {
    async fn cycle(&mut self, open: bool) -> Result<(), TransportError> {
        self.host.mmio_write32(regs::CYCLE.into(), open.into()).await.map_err(failed)
    }

    async fn read(&mut self, address: u32) -> Result<u32, TransportError> {
        let offset = self.offset(address).await?;
        self.host.mmio_read32(offset).await.map_err(failed)
    }

    async fn write(&mut self, address: u32, value: u32) -> Result<(), TransportError> {
        let offset = self.offset(address).await?;
        self.host.mmio_write32(offset, value).await.map_err(failed)
    }

    async fn config(&mut self, address: u32) -> Result<u32, TransportError> {
        let register = match address {
            0x00 => regs::ERROR_HI,
            0x04 => regs::ERROR_LO,
            0x0C => regs::SDB,
            _ => return Ok(0),
        };
        self.host.mmio_read32(register.into()).await.map_err(failed)
    }
}

/// The DMA board, open.
pub(in super::super) struct DmaPort {
    sim: Sim,
    cpu: Cpu,
    memory: HostMemory,
    board: EtherbonePcie<Bar, HostMemory>,
}

/// An open device, in one of the two ways.
pub(in super::super) enum PcieCarrier {
    Words(WordDriver<MmioWindow>),
    Dma(Box<DmaPort>),
}

impl Carrier for PcieCarrier {
    fn kind(&self) -> Kind {
        Kind::Stream
    }

    fn cpu(&self) -> &Cpu {
        match self {
            Self::Words(driver) => driver.cpu(),
            Self::Dma(port) => &port.cpu,
        }
    }

    async fn send(&mut self, message: &[u8]) -> Result<FrameId, TransportError> {
        match self {
            Self::Words(driver) => driver.send(message).await,
            Self::Dma(port) => {
                port.board.send(message).await?;
                Ok(port.sim.new_frame_id())
            }
        }
    }

    async fn recv(
        &mut self,
        buffer: &mut [u8],
        until: Until,
    ) -> Result<(usize, FrameId), TransportError> {
        match self {
            Self::Words(driver) => driver.recv(buffer, until).await,
            Self::Dma(port) => {
                let deadline = Duration::from_nanos(until.time.0 / 1_000);
                if until.busy && !port.board.wait(deadline).await? {
                    return Err(TransportError::TimedOut);
                }
                let length = port.board.recv(buffer, deadline).await?;
                Ok((length, port.sim.new_frame_id()))
            }
        }
    }
    fn blocked(&self) -> Picoseconds {
        match self {
            Self::Words(driver) => driver.blocked(),
            Self::Dma(port) => port.memory.blocked(),
        }
    }
}
