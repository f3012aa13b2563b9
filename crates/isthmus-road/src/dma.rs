// SPDX-License-Identifier: Apache-2.0
//! Host memory by DMA over PCIe: what roads over other links are compared with.
//!
//! The device is `ccix_dma_fpga`, whose traffic generator makes the data of each line from its number and a seed.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use isthmus_sim::kernel::{DeviceHandle, Sim};
use isthmus_sim::world::ccix::{Carried, Way};
use isthmus_sim::world::host::{Memory, MemoryConfig};
use isthmus_sim::world::pcie::{Direction, Pcie, PciePins, TlpKind, TlpRecord};
use isthmus_sim::{Picoseconds, Simulation};

use crate::error::RoadError;
use crate::host_bus::{MEMORY_BASE, pcie_config};
use crate::platform::PcieMemory;

/// Bytes of a line of the traffic generator.
pub(crate) const LINE_BYTES: usize = 64;

/// A line's bytes.
pub(crate) type Line = [u8; LINE_BYTES];

/// The data of a line, from its number and a seed: what `rtl/ccix/traffic_pattern.sv` makes.
pub(crate) fn pattern(index: u64, seed: u32) -> Line {
    let round = |value: u32| {
        let value = value ^ value << 13;
        let value = value ^ value >> 17;
        value ^ value << 5
    };
    let mut line = [0; LINE_BYTES];
    for (word, bytes) in line.chunks_exact_mut(8).enumerate() {
        let low = round(round((index as u32) << 3 ^ word as u32 ^ seed));
        bytes.copy_from_slice(&(u64::from(round(low)) << 32 | u64::from(low)).to_le_bytes());
    }
    line
}

/// A write that became visible.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stored {
    /// Number of the line, as the FPGA counts.
    pub(crate) index: u64,
    pub(crate) at: Picoseconds,
    /// Content of the line.
    pub(crate) line: Line,
}

/// The link's BAR, which is not used.
const BAR_BYTES: u64 = 0x1000;

/// The link and the memory behind it.
pub(crate) struct Dma {
    sim: Sim,
    pub(crate) link: Pcie,
    memory: Memory,
    write: Picoseconds,
    noted: Cell<usize>,
    /// Write TLPs whose data is not yet visible.
    flying: RefCell<VecDeque<TlpRecord>>,
}

impl Dma {
    /// A link to memory with these lines, at the device's pins.
    pub(crate) fn attach(
        simulation: &Simulation,
        device: &DeviceHandle,
        pcie: &PcieMemory,
        lines: &[Line],
    ) -> Result<Self, RoadError> {
        let memory = Memory::new(&MemoryConfig {
            name: "host.memory".to_owned(),
            size_bytes: lines.len() * LINE_BYTES,
            load_ns: 0.0,
            store_ns: 0.0,
            copy_ns_per_byte: 0.0,
        })?;
        for (number, line) in lines.iter().enumerate() {
            let written = memory.write(number * LINE_BYTES, line);
            written.map_err(|error| RoadError::Inconsistent(format!("dma: {error}")))?;
        }
        let ends = [&pcie.root, &pcie.endpoint];
        let config = pcie_config("pcie", &pcie.link, ends, &pcie.memory, BAR_BYTES);
        let link = Pcie::new(simulation, &config, &memory)?;
        PciePins::attach(simulation, device, &link)?;
        simulation.spans().set_enabled(false);
        Ok(Self {
            sim: simulation.handle(),
            link,
            memory,
            write: Picoseconds::from_ns_f64(pcie.memory.write_ns),
            noted: Cell::new(0),
            flying: RefCell::default(),
        })
    }

    /// The number of memory's first line, as addresses count.
    pub(crate) fn base() -> u64 {
        MEMORY_BASE / LINE_BYTES as u64
    }

    pub(crate) fn carried(&self, way: Way) -> Carried {
        let direction = match way {
            Way::Up => Direction::Up,
            Way::Down => Direction::Down,
        };
        let records = self.link.records_since(direction, 0);
        Carried {
            packets: records.len() as u64,
            wire_bytes: records.iter().map(|one| one.wire_bytes).sum(),
        }
    }

    pub(crate) fn lines(&self) -> Vec<Line> {
        (0..self.memory.size() / LINE_BYTES).map(|number| self.line(number)).collect()
    }

    fn line(&self, number: usize) -> Line {
        let mut line = [0; LINE_BYTES];
        if let Ok(bytes) = self.memory.read(number * LINE_BYTES, LINE_BYTES) {
            line.copy_from_slice(&bytes);
        }
        line
    }

    /// Writes that became visible since the last call.
    pub(crate) fn take_stored(&self) -> Vec<Stored> {
        let new = self.link.records_since(Direction::Up, self.noted.get());
        self.noted.set(self.noted.get() + new.len());
        let mut flying = self.flying.borrow_mut();
        flying.extend(new.into_iter().filter(|one| one.kind == TlpKind::Write));
        let mut stored = Vec::new();
        while let Some(first) = flying.front() {
            let at = first.delivered + self.write;
            // At that very moment memory may not have it yet.
            if at >= self.sim.now() {
                break;
            }
            let from = first.address / LINE_BYTES as u64 - Self::base();
            let lines = first.payload_bytes.div_ceil(LINE_BYTES as u64);
            let seen = |index: u64| Stored { index, at, line: self.line(index as usize) };
            stored.extend((from..from + lines).map(seen));
            flying.pop_front();
        }
        stored
    }
}
