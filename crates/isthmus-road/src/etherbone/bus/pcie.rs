// SPDX-License-Identifier: Apache-2.0
//! PCIe: frames streamed by DMA, and the published driver's loads and stores.

use std::path::PathBuf;
use std::time::Duration;

use isthmus_host::pcie::{DmaMemory, EtherbonePcie, Mmio, PcieRings};
use isthmus_host::regs::pcie_mmio as regs;
use isthmus_host::transport::{Kind, Transport, TransportError};
use isthmus_sim::kernel::{FrameId, Sim};
use isthmus_sim::world::host::Cpu;
use isthmus_sim::world::pcie::{
    CreditConfig, Direction, Generation, Pcie as Link, PcieConfig, PcieEndpointConfig, PcieHost,
    PcieHostConfig, PciePins, PortConfig, RootConfig, StrayWrite, TlpRecord,
};
use isthmus_sim::world::{CpuConfig, Memory, MemoryConfig};
use isthmus_sim::{DeviceHandle, Picoseconds, Simulation};

use super::super::breakdown::{Breakdown, Marks};
use super::super::transport::{Carrier, CycleLog};
use super::super::world::World;
use super::words::{WordDriver, Words};
use crate::device::{self, MakeModel};
use crate::error::RoadError;
use crate::scenario::{Pcie as Platform, PcieDriver, PciePort, Scenario};

/// Bus addresses of the host memory and of BAR 0: any that do not overlap.
const MEMORY_BASE: u64 = 0x1000_0000;
const BAR_BASE: u64 = 0xE000_0000;
/// BAR 0 of `pcie_etherbone` and of `pcie_mmio`.
const DMA_BAR_BYTES: u64 = 0x2000;
const WORDS_BAR_BYTES: u64 = 0x2_0000;
/// Where the window onto the Wishbone begins in BAR 0 of `pcie_mmio`.
const WINDOW: u64 = 0x1_0000;
const WINDOW_MASK: u32 = 0xFFFF;
/// How long a processor waits for a load before it is given up.
const LOAD_TIMEOUT_NS: f64 = 50e6;
/// Pairs of probes that enclose what overlaps with other things.
const FPGA_BARS: &[(&str, &str, &str)] = &[("execute", "StreamFirstWord", "DmaWriteFirst")];

/// The path between a program and the device's AXI pins.
pub(in super::super) struct Pcie {
    link: Link,
    host: PcieHost,
    driver: PcieDriver,
}

impl Pcie {
    pub(super) fn build(
        simulation: &Simulation,
        scenario: &Scenario,
        platform: &Platform,
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
        let memory = Memory::new(&MemoryConfig {
            name: "host.memory".to_owned(),
            size_bytes: rings.max(4096),
            load_ns: costs.memory_load_ns,
            store_ns: costs.memory_store_ns,
            copy_ns_per_byte: costs.copy_ns_per_byte,
        })?;
        let link = Link::new(simulation, &link_config(platform), &memory)?;
        PciePins::attach(simulation, &device, &link)?;
        let cpu = Cpu::new(simulation, "host", &CpuConfig { cores: costs.cores })?;
        let host = PcieHostConfig {
            name: "host".to_owned(),
            load_issue_ns: costs.load_issue_ns,
            load_return_ns: costs.load_return_ns,
            store_ns: costs.store_ns,
            store_issue_ns: costs.store_issue_ns,
            combine_ns: costs.combine_ns,
            fence_ns: costs.fence_ns,
            interrupt_ns: costs.interrupt_ns,
            wakeup_ns: costs.wakeup_ns,
            load_timeout_ns: LOAD_TIMEOUT_NS,
        };
        let host = link.host(&host, &cpu, &memory)?;
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
                    let (mmio, memory) =
                        (Bar(host.clone()), Rings { sim: sim.clone(), host: host.clone() });
                    let board = EtherbonePcie::open(mmio, memory, rings(&dma)).await?;
                    PcieCarrier::Dma(Box::new(DmaPort { sim, cpu: host.cpu().clone(), board }))
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
    pub(super) fn breakdown(
        &self,
        world: &World,
        cycle: &CycleLog,
    ) -> Result<Breakdown, RoadError> {
        let mut marks = Marks::new(world, cycle)?;
        match self.driver {
            PcieDriver::Words(_) => self.words_way(&mut marks)?,
            PcieDriver::Dma(_) => self.dma_way(&mut marks)?,
        }
        marks.finish(FPGA_BARS)
    }

    /// TLPs of one direction on the way of a cycle.
    fn tlps(&self, marks: &Marks<'_>, direction: Direction) -> Vec<TlpRecord> {
        let mut tlps = self.link.records_since(direction, 0);
        tlps.retain(|tlp| tlp.handed >= marks.sent() && tlp.delivered <= marks.received());
        tlps
    }

    /// The write of the request, and the write that shows the reply.
    fn dma_way(&self, marks: &mut Marks<'_>) -> Result<(), RoadError> {
        let (down, up) = (self.tlps(marks, Direction::Down), self.tlps(marks, Direction::Up));
        if let Some(request) = down.first() {
            marks.until("host", "store request", Some(request.handed))?;
            marks.until("pcie", "root port sends", Some(request.start))?;
            marks.until("wire", "request TLP", Some(request.end))?;
            marks.until("pcie", "hard block receives", Some(request.delivered))?;
        }
        marks.until("fpga", "take request", marks.first("BarWrite"))?;
        marks.until("fpga", "to the engine", marks.first("StreamFirstWord"))?;
        marks.until("fpga", "bus operations", marks.last("WbIssue"))?;
        marks.until("fpga", "begin reply", marks.last("DmaWriteFirst"))?;
        if let Some(status) = up.last() {
            marks.until("fpga", "write reply, then status", Some(status.handed))?;
            marks.until("pcie", "hard block sends", Some(status.start))?;
            marks.until("wire", "reply and status TLP", Some(status.end))?;
            marks.until("pcie", "root port receives", Some(status.delivered))?;
        }
        marks.until("host", "memory to program", Some(marks.received()))
    }

    /// Loads and stores one after the other: what each of their parts takes together.
    fn words_way(&self, marks: &mut Marks<'_>) -> Result<(), RoadError> {
        let (mut down, up) = (self.tlps(marks, Direction::Down), self.tlps(marks, Direction::Up));
        down.sort_by_key(|tlp| tlp.handed);
        for request in &down {
            let Some(reply) = up.iter().find(|tlp| tlp.request == Some(request.id)) else {
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

fn rings(dma: &crate::scenario::PcieDma) -> PcieRings {
    PcieRings {
        request: dma.request_ring_bytes,
        reply: dma.reply_ring_bytes,
        push_most: dma.push_most_bytes,
    }
}

fn port(port: &PciePort) -> PortConfig {
    PortConfig {
        transmit_latency_ns: port.transmit_latency_ns,
        receive_latency_ns: port.receive_latency_ns,
        transmit_queue_tlps: port.transmit_queue_tlps,
        credits: CreditConfig {
            posted_headers: port.posted_headers,
            posted_data: port.posted_data,
            nonposted_headers: port.nonposted_headers,
            completion_headers: port.completion_headers,
            completion_data: port.completion_data,
        },
        credit_update_ns: port.credit_update_ns,
    }
}

fn link_config(platform: &Platform) -> PcieConfig {
    let link = &platform.link;
    PcieConfig {
        name: "pcie".to_owned(),
        generation: match link.generation {
            1 => Generation::Gen1,
            2 => Generation::Gen2,
            _ => Generation::Gen3,
        },
        lanes: link.lanes,
        max_payload_bytes: link.max_payload_bytes,
        max_read_request_bytes: link.max_read_request_bytes,
        read_completion_bytes: link.read_completion_bytes,
        ecrc: false,
        reserved_share: link.reserved_share,
        ack_every_tlps: link.ack_every_tlps,
        update_every_tlps: link.update_every_tlps,
        propagation_ns: link.propagation_ns,
        replay_ns: link.replay_ns,
        root: RootConfig {
            port: port(&platform.root),
            memory_base: MEMORY_BASE,
            memory_read_ns: platform.memory.read_ns,
            memory_write_ns: platform.memory.write_ns,
            stray_writes: StrayWrite::Fail,
        },
        endpoint: PcieEndpointConfig {
            port: port(&platform.endpoint),
            bar_base: BAR_BASE,
            bar_bytes: match platform.driver {
                PcieDriver::Words(_) => WORDS_BAR_BYTES,
                PcieDriver::Dma(_) => DMA_BAR_BYTES,
            },
            tags: link.tags,
            completion_timeout_ns: LOAD_TIMEOUT_NS,
        },
    }
}

fn failed(error: impl std::fmt::Display) -> TransportError {
    TransportError::Other(error.to_string())
}

/// The window of `pcie_mmio`, through the kernel's mapping of the BAR.
pub(in super::super) struct MmioWindow {
    host: PcieHost,
    /// The upper address half that the window stands at.
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

/// BAR 0 as the DMA board's driver sees it.
struct Bar(PcieHost);

impl Mmio for Bar {
    async fn read32(&mut self, offset: u64) -> Result<u32, TransportError> {
        self.0.mmio_read32(offset).await.map_err(failed)
    }

    async fn write32(&mut self, offset: u64, value: u32) -> Result<(), TransportError> {
        self.0.mmio_write32(offset, value).await.map_err(failed)
    }

    async fn write_combined(&mut self, offset: u64, data: &[u8]) -> Result<(), TransportError> {
        self.0.write_combined(offset, data).await.map_err(failed)?;
        self.0.fence().await;
        Ok(())
    }
}

/// The host memory that holds the rings.
struct Rings {
    sim: Sim,
    host: PcieHost,
}

impl DmaMemory for Rings {
    fn bus_address(&self) -> u64 {
        self.host.bus_address(0)
    }

    fn size(&self) -> usize {
        self.host.memory().size()
    }

    fn now(&self) -> Duration {
        Duration::from_nanos(self.sim.now().0 / 1_000)
    }

    async fn read(&mut self, offset: usize, buffer: &mut [u8]) -> Result<(), TransportError> {
        let (cpu, length) = (self.host.cpu(), buffer.len());
        let bytes = self.host.memory().load(cpu, offset, length).await.map_err(failed)?;
        buffer.copy_from_slice(&bytes);
        Ok(())
    }

    async fn write(&mut self, offset: usize, data: &[u8]) -> Result<(), TransportError> {
        self.host.memory().store(self.host.cpu(), offset, data).await.map_err(failed)
    }

    async fn load64(&mut self, offset: usize) -> Result<u64, TransportError> {
        let bytes = self.host.memory().load(self.host.cpu(), offset, 8).await.map_err(failed)?;
        Ok(word(&bytes))
    }

    async fn poll64(
        &mut self,
        offset: usize,
        seen: u64,
        deadline: Duration,
    ) -> Result<u64, TransportError> {
        let deadline = Picoseconds(deadline.as_nanos() as u64 * 1_000);
        let left = deadline.saturating_sub(self.sim.now());
        let changed = self.host.memory().watch(offset, 8, |bytes| word(bytes) != seen);
        match self.sim.timeout(left, changed).await {
            Err(_) => Ok(seen),
            Ok(watched) => {
                watched.map_err(failed)?;
                self.load64(offset).await
            }
        }
    }
}

/// Eight bytes, least significant first.
fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// The DMA board, open.
pub(in super::super) struct DmaPort {
    sim: Sim,
    cpu: Cpu,
    board: EtherbonePcie<Bar, Rings>,
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
        deadline: Picoseconds,
    ) -> Result<(usize, FrameId), TransportError> {
        match self {
            Self::Words(driver) => driver.recv(buffer, deadline).await,
            Self::Dma(port) => {
                let deadline = Duration::from_nanos(deadline.0 / 1_000);
                let length = port.board.recv(buffer, deadline).await?;
                Ok((length, port.sim.new_frame_id()))
            }
        }
    }
}
