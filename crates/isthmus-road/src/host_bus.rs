// SPDX-License-Identifier: Apache-2.0
//! A simulated host's bus as used by the drivers of the host library, and the parts of such a host.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use isthmus_host::pcie::{DmaMemory, Interrupt, Mmio};
use isthmus_host::transport::TransportError;
use isthmus_sim::kernel::Sim;
use isthmus_sim::world::host::{Cpu, MmioHost, MmioHostConfig};
use isthmus_sim::world::pcie::{
    CreditConfig, Generation, Pcie, PcieConfig, PcieEndpointConfig, PciePins, PortConfig,
    RootConfig, StrayWrite,
};
use isthmus_sim::world::{CpuConfig, Memory, MemoryConfig};
use isthmus_sim::{DeviceHandle, Picoseconds, Simulation};

use crate::error::RoadError;
use crate::platform::{DmaMemory as MemoryCosts, PcieHost, PcieLink, PciePort};

/// Bus addresses of the host memory and of BAR 0: any that do not overlap.
pub(crate) const MEMORY_BASE: u64 = 0x1000_0000;
pub(crate) const BAR_BASE: u64 = 0xE000_0000;
/// Timeout of a processor's load.
pub(crate) const LOAD_TIMEOUT_NS: f64 = 50e6;

/// Costs of a host's programs.
pub(crate) fn host_config(name: &str, costs: &PcieHost) -> MmioHostConfig {
    MmioHostConfig {
        name: name.to_owned(),
        load_issue_ns: costs.load_issue_ns,
        load_return_ns: costs.load_return_ns,
        store_ns: costs.store_ns,
        store_issue_ns: costs.store_issue_ns,
        combine_ns: costs.combine_ns,
        fence_ns: costs.fence_ns,
        interrupt_ns: costs.interrupt_ns,
        wakeup_ns: costs.wakeup_ns,
        load_timeout_ns: LOAD_TIMEOUT_NS,
    }
}

/// Its memory.
pub(crate) fn memory(host: &str, size_bytes: usize, costs: &PcieHost) -> Result<Memory, RoadError> {
    Ok(Memory::new(&MemoryConfig {
        name: format!("{host}.memory"),
        size_bytes,
        load_ns: costs.memory_load_ns,
        store_ns: costs.memory_store_ns,
        copy_ns_per_byte: costs.copy_ns_per_byte,
    })?)
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

fn generation(link: &PcieLink) -> Generation {
    match link.generation {
        1 => Generation::Gen1,
        2 => Generation::Gen2,
        3 => Generation::Gen3,
        _ => Generation::Gen4,
    }
}

/// Femtoseconds of a byte on a link.
pub(crate) fn byte_fs(link: &PcieLink) -> f64 {
    8e15 / (generation(link).lane_bit_s() * f64::from(link.lanes) * (1.0 - link.reserved_share))
}

/// A PCIe link named `name` whose device has a BAR of `bar_bytes`.
pub(crate) fn pcie_config(
    name: &str,
    link: &PcieLink,
    [root, endpoint]: [&PciePort; 2],
    memory: &MemoryCosts,
    bar_bytes: u64,
) -> PcieConfig {
    PcieConfig {
        name: name.to_owned(),
        generation: generation(link),
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
            port: port(root),
            memory_base: MEMORY_BASE,
            memory_read_ns: memory.read_ns,
            memory_write_ns: memory.write_ns,
            stray_writes: StrayWrite::Fail,
        },
        endpoint: PcieEndpointConfig {
            port: port(endpoint),
            bar_base: BAR_BASE,
            bar_bytes,
            tags: link.tags,
            completion_timeout_ns: LOAD_TIMEOUT_NS,
        },
    }
}

/// A host with memory and a processor, and its PCIe link at the device's pins.
pub(crate) fn machine(
    simulation: &Simulation,
    device: &DeviceHandle,
    name: &str,
    link: &PcieConfig,
    costs: &PcieHost,
    bytes: usize,
) -> Result<(Pcie, MmioHost), RoadError> {
    let memory = memory(name, bytes, costs)?;
    let cpu = Cpu::new(simulation, name, &CpuConfig { cores: costs.cores })?;
    let link = Pcie::new(simulation, link, &memory)?;
    PciePins::attach(simulation, device, &link)?;
    let host = link.host(&host_config(name, costs), &cpu, &memory)?;
    Ok((link, host))
}

pub(crate) fn failed(error: impl std::fmt::Display) -> TransportError {
    TransportError::Other(error.to_string())
}

/// BAR 0 of a simulated host's device, as a board's driver sees it.
#[derive(Clone)]
pub struct Bar {
    host: MmioHost,
    /// Offsets whose stores go word by word for all that they are called combined.
    single: std::ops::Range<u64>,
}

impl Bar {
    pub(crate) fn new(host: &MmioHost) -> Self {
        Self { host: host.clone(), single: 0..0 }
    }

    /// One whose stores to these offsets are not combined, but go as words of 4 bytes.
    pub(crate) fn uncombined(host: &MmioHost, single: std::ops::Range<u64>) -> Self {
        Self { host: host.clone(), single }
    }
}

/// Vector 0 of a simulated device: its `irq_o`, bit 0.
#[derive(Clone)]
pub struct InterruptLine(pub(crate) MmioHost);

impl Interrupt for InterruptLine {
    async fn raised(&mut self) -> Result<(), TransportError> {
        self.0.interrupt(0).await;
        Ok(())
    }
}

impl Mmio for Bar {
    async fn read32(&mut self, offset: u64) -> Result<u32, TransportError> {
        self.host.mmio_read32(offset).await.map_err(failed)
    }

    async fn write32(&mut self, offset: u64, value: u32) -> Result<(), TransportError> {
        self.host.mmio_write32(offset, value).await.map_err(failed)
    }

    async fn write64(&mut self, offset: u64, value: u64) -> Result<(), TransportError> {
        self.host.mmio_write64(offset, value).await.map_err(failed)
    }

    async fn write_combined(&mut self, offset: u64, data: &[u8]) -> Result<(), TransportError> {
        if self.single.contains(&offset) {
            for (index, word) in data.as_chunks::<4>().0.iter().enumerate() {
                let at = offset + 4 * index as u64;
                let value = u32::from_le_bytes(*word);
                self.host.mmio_write32(at, value).await.map_err(failed)?;
            }
            return Ok(());
        }
        self.host.write_combined(offset, data).await.map_err(failed)?;
        self.host.fence().await;
        Ok(())
    }
}

/// The waits of a program for what a device writes into its memory.
#[derive(Clone)]
pub(crate) struct Waits {
    sim: Sim,
    blocked: Rc<Cell<Picoseconds>>,
}

impl Waits {
    pub(crate) fn new(sim: &Sim) -> Self {
        Self { sim: sim.clone(), blocked: Rc::default() }
    }

    /// Until these 8 bytes of `memory` are no longer `seen`; false when `deadline` passes first.
    pub(crate) async fn changed(
        &self,
        memory: &Memory,
        offset: usize,
        seen: u64,
        deadline: Duration,
    ) -> Result<bool, TransportError> {
        let asleep = self.sim.now();
        let changed = memory.watch(offset, 8, |bytes| word(bytes) != seen);
        let watched = if deadline == Duration::MAX {
            // No timer, so that a simulation in which nothing else is pending is idle.
            Ok(changed.await)
        } else {
            let deadline = Picoseconds(deadline.as_nanos() as u64 * 1_000);
            self.sim.timeout(deadline.saturating_sub(asleep), changed).await
        };
        self.blocked.set(self.blocked.get() + (self.sim.now() - asleep));
        watched.ok().transpose().map_err(failed).map(|in_time| in_time.is_some())
    }

    /// How long all of them were.
    pub(crate) fn blocked(&self) -> Picoseconds {
        self.blocked.get()
    }
}

/// Memory of which the simulation says when it changes: a poll is one wait and then one load.
pub(crate) trait Watched: DmaMemory {
    /// As [`Waits::changed`].
    async fn changed(
        &self,
        offset: usize,
        seen: u64,
        deadline: Duration,
    ) -> Result<bool, TransportError>;
}

/// [`DmaMemory::poll64`] of such memory.
pub(crate) async fn poll64<M: Watched>(
    memory: &mut M,
    offset: usize,
    seen: u64,
    deadline: Duration,
) -> Result<u64, TransportError> {
    if memory.changed(offset, seen, deadline).await? {
        memory.load64(offset).await
    } else {
        Ok(seen)
    }
}

/// [`DmaMemory::poll_line`] of such memory.
pub(crate) async fn poll_line<M: Watched>(
    memory: &mut M,
    offset: usize,
    line: &mut [u8],
    deadline: Duration,
) -> Result<bool, TransportError> {
    let last = line.len() - 8;
    let changed = memory.changed(offset + last, word(&line[last..]), deadline).await?;
    if changed {
        memory.load_line(offset, line).await?;
    }
    Ok(changed)
}

/// The memory of a simulated host that its device reaches, as its driver sees it.
#[derive(Clone)]
pub struct HostMemory {
    sim: Sim,
    host: MmioHost,
    waits: Waits,
}

impl HostMemory {
    pub(crate) fn new(sim: &Sim, host: &MmioHost) -> Self {
        Self { sim: sim.clone(), host: host.clone(), waits: Waits::new(sim) }
    }

    /// The host whose memory it is.
    pub(crate) fn host(&self) -> &MmioHost {
        &self.host
    }

    /// The time that the program waited for the device to change its memory.
    pub(crate) fn blocked(&self) -> Picoseconds {
        self.waits.blocked()
    }
}

impl Watched for HostMemory {
    async fn changed(
        &self,
        offset: usize,
        seen: u64,
        deadline: Duration,
    ) -> Result<bool, TransportError> {
        self.waits.changed(self.host.memory(), offset, seen, deadline).await
    }
}

impl DmaMemory for HostMemory {
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
        poll64(self, offset, seen, deadline).await
    }

    // A line comes into the core's cache once.
    async fn load_line(&mut self, offset: usize, line: &mut [u8]) -> Result<(), TransportError> {
        self.read(offset, line).await
    }

    async fn poll_line(
        &mut self,
        offset: usize,
        line: &mut [u8],
        deadline: Duration,
    ) -> Result<bool, TransportError> {
        poll_line(self, offset, line, deadline).await
    }
}

/// What a program of one host needs: loads and stores to the interface, and memory that it reaches.
#[derive(Clone)]
pub struct Machine {
    /// BAR 0 of its interface.
    pub mmio: Bar,
    /// Its memory.
    pub memory: HostMemory,
    /// The interface's interrupt.
    pub interrupt: InterruptLine,
}

impl Machine {
    /// Bytes of its memory as they are now; takes no simulated time. None behind its end.
    #[must_use]
    pub fn peek(&self, at: usize, bytes: usize) -> Option<Vec<u8>> {
        self.memory.host().memory().read(at, bytes).ok()
    }

    /// Writes its memory; takes no simulated time. False behind its end.
    pub fn poke(&self, at: usize, data: &[u8]) -> bool {
        self.memory.host().memory().write(at, data).is_ok()
    }

    /// The address on this host's bus of a byte of its memory.
    #[must_use]
    pub fn address(&self, at: usize) -> u64 {
        self.memory.bus_address() + at as u64
    }
}

/// Eight bytes, least significant first.
pub(crate) fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}
