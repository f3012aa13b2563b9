// SPDX-License-Identifier: Apache-2.0
//! The data of a host's program: in its host's memory, in a GPU's, or in a GPU's by way of the host's.
//!
//! A GPU's memory has the layout of the host's, at the same offsets.

use schemars::JsonSchema;
use serde::Deserialize;

use isthmus_host::nic::{NicConfig, Paging, Window};
use isthmus_sim::Simulation;
use isthmus_sim::world::host::MmioHost;
use isthmus_sim::world::pcie::Pcie;
use isthmus_sim::world::{CopyWay, Gpu, GpuConfig, Memory};

use crate::error::RoadError;
use crate::host_bus::pcie_config;
use crate::platform::{DmaMemory, PcieGpu, PcieLink, PciePort};

/// Bus address of a GPU's memory: above the host's, below the BAR of its device.
const GPU_BASE: u64 = 0x8000_0000;
/// The smallest BAR: a page of 64 KiB.
const LEAST_BYTES: usize = 1 << 16;

/// Where the data of a program is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DataMemory {
    /// In its host's memory.
    #[default]
    Host,
    /// In a GPU's memory, which the device reads and writes peer to peer.
    Gpu,
    /// In a GPU's memory; the program copies it to or from the host's, which the device reads and writes.
    Staged,
}

impl DataMemory {
    /// Its name in scenarios and results.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Gpu => "gpu",
            Self::Staged => "staged",
        }
    }
}

/// The bus that a GPU is on: the device's link, the root port and the host's memory.
pub(crate) struct Bus<'a> {
    pub(crate) link: &'a PcieLink,
    pub(crate) root: &'a PciePort,
    pub(crate) memory: &'a DmaMemory,
}

/// The data of one program.
pub(crate) struct Data {
    road: &'static str,
    kind: DataMemory,
    host: MmioHost,
    gpu: Option<Gpu>,
    paging: Option<Paging>,
    put: usize,
}

impl Data {
    /// Data in the host's memory.
    pub(crate) fn new(road: &'static str, host: &MmioHost, config: &NicConfig) -> Self {
        let put = config.put.as_ref().map_or(0, |memory| memory.offset);
        let paging = config.paging.clone();
        Self { road, kind: DataMemory::Host, host: host.clone(), gpu: None, paging, put }
    }

    /// The same in a GPU's memory, of which there is as much as of the host's; `kind` says who brings it there. With
    /// [`DataMemory::Gpu`] all that `config` registers is in that memory.
    pub(crate) fn in_gpu(
        mut self,
        simulation: &Simulation,
        (name, kind): (String, DataMemory),
        (costs, bus): (&PcieGpu, &Bus<'_>),
        (device, config): (&Pcie, &mut NicConfig),
    ) -> Result<Self, RoadError> {
        let wires = PcieLink { lanes: costs.lanes, ..*bus.link };
        let bytes = self.host.memory().size().next_power_of_two().max(LEAST_BYTES);
        let mut link = pcie_config(&name, &wires, [bus.root; 2], bus.memory, bytes as u64);
        link.endpoint.bar_base = GPU_BASE;
        let (read_ns, write_ns, copy_ns) = (costs.read_ns, costs.write_ns, costs.copy_us * 1e3);
        let costs = GpuConfig { name, link, read_ns, write_ns, copy_ns };
        let gpu = Gpu::new(simulation, &costs, self.host.memory())?;
        if kind == DataMemory::Gpu {
            gpu.reached_by(device)?;
            gpu.reaches(device)?;
            let window =
                Some(Window { bus_address: gpu.bus_address(), bytes: gpu.memory().size() });
            match &mut config.paging {
                Some(paging) => paging.window = window,
                None => config.lists.iter_mut().for_each(|list| list.window = window),
            }
            config.put.iter_mut().for_each(|put| put.window = window);
        }
        (self.kind, self.gpu) = (kind, Some(gpu));
        Ok(self)
    }

    fn outside(&self, what: impl std::fmt::Display) -> RoadError {
        RoadError::Inconsistent(format!("{}: {what}", self.road))
    }

    fn memory(&self) -> &Memory {
        self.gpu.as_ref().map_or(self.host.memory(), Gpu::memory)
    }

    /// The GPU whose memory the device reads and writes, and whose kernels may store into it.
    pub(crate) fn peer(&self) -> Option<&Gpu> {
        self.gpu.as_ref().filter(|_| self.kind == DataMemory::Gpu)
    }

    /// Pieces of registered memory, each in one page.
    fn pieces(&self, offset: usize, bytes: usize) -> Result<Vec<(usize, usize)>, RoadError> {
        let Some(paging) = &self.paging else { return Ok(vec![(offset, bytes)]) };
        let pieces = paging.pieces(offset, bytes);
        pieces.ok_or_else(|| self.outside(format!("no page at {offset:#x}")))
    }

    /// What is to be put, at a place of the put memory; it takes no simulated time.
    pub(crate) fn fill(&self, offset: usize, payload: &[u8]) -> Result<(), RoadError> {
        let filled = self.memory().write(self.put + offset, payload);
        filled.map_err(|error| self.outside(error))
    }

    /// Copies what is to be put into the host's memory, where it is staged.
    pub(crate) async fn copy_out(&self, offset: usize, bytes: usize) -> Result<(), RoadError> {
        self.copy(CopyWay::Out, &[(self.put + offset, bytes)]).await
    }

    /// Copies what came out of the host's memory, where it is staged.
    pub(crate) async fn copy_in(&self, offset: usize, bytes: usize) -> Result<(), RoadError> {
        self.copy(CopyWay::In, &self.pieces(offset, bytes)?).await
    }

    async fn copy(&self, way: CopyWay, pieces: &[(usize, usize)]) -> Result<(), RoadError> {
        let (DataMemory::Staged, Some(gpu)) = (self.kind, &self.gpu) else { return Ok(()) };
        gpu.copy(self.host.cpu(), way, pieces).await.map_err(|error| self.outside(error))
    }

    /// Waits until the last bytes of what comes to a place of the registered memory are in the host's memory: those are
    /// written last. It costs nothing.
    pub(crate) async fn landed(&self, offset: usize, payload: &[u8]) -> Result<(), RoadError> {
        let pieces = self.pieces(offset, payload.len())?;
        let Some((at, length)) = pieces.last().copied() else { return Ok(()) };
        let last = length.min(8);
        let tail = &payload[payload.len() - last..];
        let landed = self.host.memory().watch(at + length - last, last, |found| found == tail);
        landed.await.map_err(|error| self.outside(error))
    }

    /// Waits until what comes to a place of the registered memory is `whole` where the program has it. It costs nothing.
    pub(crate) async fn whole(
        &self,
        (offset, bytes): (usize, usize),
        whole: impl Fn(&[u8]) -> bool,
    ) -> Result<(), RoadError> {
        // The last piece is written last.
        let pieces = self.pieces(offset, bytes)?;
        let Some((at, length)) = pieces.last().copied() else { return Ok(()) };
        let all = || self.gathered(&pieces).is_ok_and(|found| whole(&found));
        let watched = self.memory().watch(at, length, |_| all());
        watched.await.map_err(|error| self.outside(error))
    }

    /// What came to a place of the registered memory, now.
    pub(crate) fn now(&self, offset: usize, bytes: usize) -> Result<Vec<u8>, RoadError> {
        self.gathered(&self.pieces(offset, bytes)?)
    }

    /// What came to a place of the registered memory. A GPU's memory is read behind the writes that were passed to it: a
    /// program sees its event earlier. It costs no processor time.
    pub(crate) async fn found(&self, offset: usize, bytes: usize) -> Result<Vec<u8>, RoadError> {
        if let (DataMemory::Gpu, Some(gpu)) = (self.kind, &self.gpu) {
            gpu.settled().await;
        }
        self.now(offset, bytes)
    }

    fn gathered(&self, pieces: &[(usize, usize)]) -> Result<Vec<u8>, RoadError> {
        let mut found = Vec::with_capacity(pieces.iter().map(|(_, length)| length).sum());
        for (at, length) in pieces {
            let piece = self.memory().read(*at, *length);
            found.extend(piece.map_err(|error| self.outside(error))?);
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use isthmus_host::nic::{List, PageSize, Policy};
    use isthmus_sim::world::{Cpu, CpuConfig};
    use serde_json::json;

    use super::*;
    use crate::host_bus::{MEMORY_BASE, host_config, memory};
    use crate::platform::PcieHost;
    use crate::scenario::Limits;

    const BYTES: usize = 1472;
    /// Where a list's second buffer is, and what a device writes behind its data.
    const BUFFER: usize = BYTES;
    const EVENT: usize = 0x4000;
    const SIZE: usize = 0x5000;
    const COPY_US: f64 = 10.0;

    fn of<T: serde::de::DeserializeOwned>(value: serde_json::Value) -> T {
        serde_json::from_value(value).expect("all keys")
    }

    fn port() -> PciePort {
        of(json!({
            "transmit_latency_ns": 108.0, "receive_latency_ns": 108.0, "transmit_queue_tlps": 8,
            "posted_headers": 0, "posted_data": 0, "nonposted_headers": 0, "completion_headers": 0,
            "completion_data": 0, "credit_update_ns": 216.0,
        }))
    }

    fn link() -> PcieLink {
        of(json!({
            "generation": 2, "lanes": 8, "max_payload_bytes": 128, "max_read_request_bytes": 512,
            "read_completion_bytes": 64, "reserved_share": 0.0, "ack_every_tlps": 0,
            "update_every_tlps": 0, "propagation_ns": 6.0, "replay_ns": 400.0, "tags": 32,
        }))
    }

    fn host() -> PcieHost {
        of(json!({
            "load_issue_ns": 50.0, "load_return_ns": 50.0, "store_ns": 10.0, "store_issue_ns": 50.0,
            "combine_ns": 1.0, "fence_ns": 10.0, "interrupt_ns": 1000.0, "wakeup_ns": 1000.0,
            "memory_load_ns": 80.0, "memory_store_ns": 10.0, "copy_ns_per_byte": 0.1, "cores": 1,
        }))
    }

    struct Bench {
        simulation: Simulation,
        device: Pcie,
        data: Data,
        config: NicConfig,
    }

    /// A device that the test plays, and a program whose data is in a memory of this kind.
    fn bench(kind: DataMemory, paging: Option<Paging>) -> Bench {
        let simulation = Simulation::new(Limits::default().simulation(1));
        let (costs, writes) = (host(), DmaMemory { read_ns: 100.0, write_ns: 50.0 });
        let host_memory = memory("host", SIZE, &costs).expect("a memory");
        let wires = pcie_config("pcie", &link(), [&port(); 2], &writes, 0x1000);
        let device = Pcie::new(&simulation, &wires, &host_memory).expect("a link");
        let cpu = Cpu::new(&simulation, "host", &CpuConfig { cores: 1 }).expect("a processor");
        let host = device.host(&host_config("host", &costs), &cpu, &host_memory).expect("a host");
        let list = List {
            offsets: vec![0, BUFFER],
            bytes: BYTES,
            datagrams: 1,
            flush_cycles: 0,
            policy: Policy::Newest,
            echo: false,
            window: None,
        };
        let mut config = NicConfig {
            lists: vec![list],
            queue_offset: EVENT,
            interrupt_gap_cycles: None,
            paging,
            send: None,
            put: None,
        };
        let gpu = PcieGpu { lanes: 16, read_ns: 344.0, write_ns: 50.0, copy_us: COPY_US };
        let (link, root) = (link(), port());
        let bus = Bus { link: &link, root: &root, memory: &writes };
        let named = ("gpu".to_owned(), kind);
        let data = Data::new("test", &host, &config)
            .in_gpu(&simulation, named, (&gpu, &bus), (&device, &mut config))
            .expect("a GPU");
        Bench { simulation, device, data, config }
    }

    fn pattern() -> Vec<u8> {
        (0..BYTES).map(|at| (at * 7 + at / 256 + 1) as u8).collect()
    }

    /// Plays a device that writes the pattern to `address`, and an event behind it; the program waits for the event.
    async fn announced(device: &Pcie, data: &Data, address: u64) {
        device.endpoint().write(address, &pattern()).await;
        device.endpoint().write(MEMORY_BASE + EVENT as u64, &[1]).await;
        let event = data.host.memory().watch(EVENT, 1, |found| found == [1]);
        event.await.expect("inside");
    }

    #[test]
    fn peer_to_peer_the_bytes_are_whole_in_the_gpu_after_the_event_and_never_in_the_host() {
        let Bench { simulation, device, data, config } = bench(DataMemory::Gpu, None);
        let window = config.lists[0].window.expect("the list is in the GPU");
        assert_eq!((window.bus_address, window.bytes), (GPU_BASE, LEAST_BYTES));
        let (sim, at) = (simulation.handle(), window.bus_address + BUFFER as u64);
        let task = simulation.spawn(async move {
            announced(&device, &data, at).await;
            // The event has one link and 50 ns of memory, the last bytes two links and 50 ns.
            assert_ne!(data.now(BUFFER, BYTES).unwrap(), pattern());
            let came = sim.now();
            data.copy_in(BUFFER, BYTES).await.unwrap();
            data.whole((BUFFER, BYTES), |found| found == pattern()).await.unwrap();
            assert_eq!(data.now(BUFFER, BYTES).unwrap(), pattern());
            assert_eq!(data.host.memory().read(BUFFER, BYTES).unwrap(), vec![0; BYTES]);
            sim.now() - came
        });
        let waited = simulation.run_until_complete(&task).expect("an end");
        // A second link: its ports and wires, and less than two TLPs.
        assert!((108..400).contains(&(waited.0 / 1_000)), "{waited}");
    }

    #[test]
    fn staged_the_program_copies_the_bytes_out_of_the_host() {
        let Bench { simulation, device, data, config } = bench(DataMemory::Staged, None);
        assert_eq!(config.lists[0].window, None);
        let sim = simulation.handle();
        let task = simulation.spawn(async move {
            announced(&device, &data, MEMORY_BASE + BUFFER as u64).await;
            assert_eq!(data.host.memory().read(BUFFER, BYTES).unwrap(), pattern());
            assert_eq!(data.now(BUFFER, BYTES).unwrap(), vec![0; BYTES]);
            let came = sim.now();
            data.copy_in(BUFFER, BYTES).await.unwrap();
            assert_eq!(data.now(BUFFER, BYTES).unwrap(), pattern());
            sim.now() - came
        });
        let copied = simulation.run_until_complete(&task).expect("an end").0 as f64 / 1e6;
        // And the bytes at the rate of 16 lanes of 5 GT/s, 8 GB/s before headers.
        let bytes_us = BYTES as f64 / 8e3;
        assert!((COPY_US + bytes_us..COPY_US + 1.5 * bytes_us).contains(&copied), "{copied}");
    }

    #[test]
    fn pages_in_a_gpu_are_gathered_in_their_order() {
        let pages = vec![0x2000, 0x1000];
        let paging = Paging { size: PageSize::K4, pages, window: None, table_offset: 0x3000 };
        let Bench { simulation, device, data, config } = bench(DataMemory::Gpu, Some(paging));
        assert_eq!(config.lists[0].window, None, "the pages say it");
        let window = config.paging.and_then(|paging| paging.window).expect("the pages are there");
        let task = simulation.spawn(async move {
            // 64 bytes at the end of the first page, the rest at the begin of the second one.
            let (head, tail) = (pattern()[..64].to_vec(), pattern()[64..].to_vec());
            let endpoint = device.endpoint();
            endpoint.write(window.bus_address + 0x2FC0, &head).await;
            endpoint.write(window.bus_address + 0x1000, &tail).await;
            data.whole((0xFC0, BYTES), |found| found == pattern()).await.unwrap();
            assert_eq!(data.now(0xFC0, BYTES).unwrap(), pattern());
            data.now(0x1FC0, BYTES).is_err()
        });
        assert!(simulation.run_until_complete(&task).expect("an end"), "outside of the pages");
    }
}
