// SPDX-License-Identifier: Apache-2.0
//! A GPU as its host's bus sees it: memory behind a BAR, and a copy engine.
//!
//! What reaches its memory peer to peer crosses the GPU's own link, and costs what that link's ports and wire cost;
//! beyond them a read has one latency, and a write another one until it is visible. The GPU serves any number of
//! reads at a time. A copy blocks the program that asked for it: a time for the call, then bytes at the link's rate.
//! What a kernel stores into another device's BAR crosses the GPU's link, the root complex and that device's link.

use std::cell::Cell;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::host::{Cpu, Memory, MemoryConfig, OutOfRange};
use super::pcie::{BarTarget, Pcie, PcieConfig, ReadReply, Taken, TlpKind, wire_bytes};
use crate::kernel::{Picoseconds, Sim, SimError};

/// A GPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GpuConfig {
    /// Its name in this world.
    pub name: String,
    /// Its link. All of BAR 0 is memory.
    pub link: PcieConfig,
    /// A read request out of the GPU's port to its data there.
    pub read_ns: f64,
    /// A write out of the GPU's port to its being visible.
    pub write_ns: f64,
    /// A copy of no bytes: call, engine, return.
    pub copy_ns: f64,
}

/// Which way a copy goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyWay {
    /// From the GPU's memory to the host's.
    Out,
    /// From the host's memory to the GPU's.
    In,
}

/// A GPU. Clones are the same one.
#[derive(Clone)]
pub struct Gpu {
    memory: Memory,
    host_memory: Memory,
    link: Pcie,
    base: u64,
    copy: Picoseconds,
    /// Nanoseconds of a byte, out and in.
    byte_ns: [f64; 2],
}

impl Gpu {
    /// A GPU beside the memory of its host.
    ///
    /// # Errors
    /// When the configuration makes no sense.
    pub fn new(sim: &Sim, config: &GpuConfig, host_memory: &Memory) -> Result<Self, SimError> {
        let GpuConfig { name, link: wires, .. } = config;
        let ns = |field, value| super::time(name, field, value);
        let size_bytes = usize::try_from(wires.endpoint.bar_bytes)
            .map_err(|_| super::config_error(name, "its BAR is too long".to_owned()))?;
        let memory = Memory::new(&MemoryConfig {
            name: format!("{name}.memory"),
            size_bytes,
            // No program of the host loads or stores there.
            load_ns: 0.0,
            store_ns: 0.0,
            copy_ns_per_byte: 0.0,
        })?;
        let link = Pcie::new(sim, wires, host_memory)?;
        link.remember(false);
        link.endpoint().serve(Rc::new(Served {
            sim: sim.clone(),
            memory: memory.clone(),
            read: ns("read_ns", config.read_ns)?,
            write: ns("write_ns", config.write_ns)?,
            visible: Cell::default(),
        }));
        let byte_ns = [
            (TlpKind::Write, wires.max_payload_bytes),
            (TlpKind::Completion, wires.read_completion_bytes),
        ]
        .map(|(kind, payload)| {
            let whole = wire_bytes(kind, wires.root.memory_base, payload as usize, wires.ecrc);
            let rate = wires.generation.lane_bit_s()
                * f64::from(wires.lanes)
                * (1.0 - wires.reserved_share);
            8e9 / rate * whole as f64 / f64::from(payload)
        });
        Ok(Self {
            memory,
            host_memory: host_memory.clone(),
            link,
            base: wires.endpoint.bar_base,
            copy: ns("copy_ns", config.copy_ns)?,
            byte_ns,
        })
    }

    /// Lets a device behind the same root complex reach the memory.
    ///
    /// # Errors
    /// When the address ranges overlap, or the GPU's link is slower than the device's.
    pub fn reached_by(&self, device: &Pcie) -> Result<(), SimError> {
        device.reach(&self.link)
    }

    /// Lets its kernels store into the BAR of a device behind the same root complex. What is stored waits there without
    /// limit while that device's link, which may be slower, is busy: for stores that are few.
    ///
    /// # Errors
    /// When the address ranges overlap.
    pub fn reaches(&self, device: &Pcie) -> Result<(), SimError> {
        self.link.reach_slowly(device)
    }

    /// A kernel's store, from the GPU's port on: one write request for up to 4 KiB in one page. Stores arrive in their
    /// order.
    pub async fn store(&self, address: u64, data: &[u8]) {
        self.link.endpoint().write(address, data).await;
    }

    /// Address on the bus of the first byte.
    #[must_use]
    pub fn bus_address(&self) -> u64 {
        self.base
    }

    /// Its memory. Accesses through it cost nothing.
    #[must_use]
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Waits for the answer to a read of the host's root complex, which no write that was passed to the GPU before
    /// is behind: then all those are visible.
    pub async fn settled(&self) {
        self.link.probe_bar().await;
    }

    /// Time of a copy.
    #[must_use]
    pub fn copy_time(&self, way: CopyWay, bytes: usize) -> Picoseconds {
        self.copy + Picoseconds::from_ns_f64(self.byte_ns[way as usize] * bytes as f64)
    }

    /// A program of the host copies pieces that follow each other to it, at the same offsets of both memories, and waits.
    ///
    /// # Errors
    /// When a piece is not inside both memories.
    pub async fn copy(
        &self,
        cpu: &Cpu,
        way: CopyWay,
        pieces: &[(usize, usize)],
    ) -> Result<(), OutOfRange> {
        let (from, to) = match way {
            CopyWay::Out => (&self.memory, &self.host_memory),
            CopyWay::In => (&self.host_memory, &self.memory),
        };
        let bytes = pieces.iter().map(|(_, bytes)| bytes).sum();
        cpu.run(self.copy_time(way, bytes)).await;
        for (at, bytes) in pieces {
            to.write(*at, &from.read(*at, *bytes)?)?;
        }
        Ok(())
    }
}

/// The memory behind BAR 0.
struct Served {
    sim: Sim,
    memory: Memory,
    read: Picoseconds,
    write: Picoseconds,
    /// Time at which all writes so far are visible.
    visible: Cell<Picoseconds>,
}

impl BarTarget for Served {
    fn write(&self, offset: u64, data: Vec<u8>, taken: Taken) {
        drop(taken);
        let at = self.sim.now() + self.write;
        self.visible.set(self.visible.get().max(at));
        let memory = self.memory.clone();
        // All of BAR 0 is memory, so a write cannot be outside.
        self.sim.at(at, move || {
            let _ = memory.write(offset as usize, &data);
        });
    }

    fn read(&self, offset: u64, bytes: usize, mut reply: ReadReply) {
        reply.taken();
        let at = (self.sim.now() + self.read).max(self.visible.get());
        let memory = self.memory.clone();
        self.sim.at(at, move || {
            if let Ok(data) = memory.read(offset as usize, bytes) {
                reply.send(data);
            }
        });
    }
}
