// SPDX-License-Identifier: Apache-2.0
//! The PCIe link of an FPGA, and the host memory behind it.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};

use isthmus_sim::kernel::{DeviceHandle, Sim};
use isthmus_sim::world::Memory;
use isthmus_sim::world::ccix::Carried;
use isthmus_sim::world::pcie::{Direction, Pcie, PciePins, TlpKind, TlpRecord};
use isthmus_sim::{Picoseconds, Simulation};

use super::line::{LINE_BYTES, Line, Stored};
use crate::error::RoadError;
use crate::host_bus::{MEMORY_BASE, pcie_config};
use crate::platform::PcieMemory;

/// The number of memory's first line, as addresses count.
pub(crate) const BASE_LINE: u64 = MEMORY_BASE / LINE_BYTES as u64;

/// The link's BAR: a doorbell at the most.
const BAR_BYTES: u64 = 0x1000;

/// The link and the memory behind it.
pub(crate) struct Dma {
    sim: Sim,
    pub(crate) link: Pcie,
    pub(crate) memory: Memory,
    write: Picoseconds,
    noted: Cell<usize>,
    /// Write TLPs whose data is not yet visible.
    flying: RefCell<VecDeque<TlpRecord>>,
}

impl Dma {
    /// A link to this memory, at the device's pins.
    pub(crate) fn attach(
        simulation: &Simulation,
        device: &DeviceHandle,
        pcie: &PcieMemory,
        memory: Memory,
    ) -> Result<Self, RoadError> {
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

    pub(crate) fn carried(&self, direction: Direction) -> Carried {
        let records = self.link.records_since(direction, 0);
        Carried {
            packets: records.len() as u64,
            wire_bytes: records.iter().map(|one| one.wire_bytes).sum(),
        }
    }

    /// What both directions carried, as results count it.
    pub(crate) fn counters(&self) -> BTreeMap<String, u64> {
        let mut found = BTreeMap::new();
        for (name, way) in [("to_host", Direction::Up), ("to_fpga", Direction::Down)] {
            let carried = self.carried(way);
            found.insert(format!("{name}.packets"), carried.packets);
            found.insert(format!("{name}.wire_bytes"), carried.wire_bytes);
        }
        found
    }

    /// Stores a line into memory at once: what the host's program did before.
    pub(crate) fn set(&self, number: u64, line: &[u8]) -> Result<(), RoadError> {
        let written = self.memory.write(number as usize * LINE_BYTES, line);
        written.map_err(|error| RoadError::Inconsistent(format!("dma: {error}")))
    }

    pub(crate) fn line(&self, number: u64) -> Line {
        let mut line = [0; LINE_BYTES];
        if let Ok(bytes) = self.memory.read(number as usize * LINE_BYTES, LINE_BYTES) {
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
            let from = first.address / LINE_BYTES as u64 - BASE_LINE;
            let lines = first.payload_bytes.div_ceil(LINE_BYTES as u64);
            let seen = |index: u64| Stored { index, at, line: self.line(index) };
            stored.extend((from..from + lines).map(seen));
            flying.pop_front();
        }
        stored
    }
}
