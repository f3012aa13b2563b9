// SPDX-License-Identifier: Apache-2.0
//! The scenario of a coherent link, as a JSON document.
//!
//! `docs/reference/eci-scenario.md` explains every key. Unknown keys are errors; units are part of names.

mod check;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use isthmus_sim::world::blocks::LanesConfig;
use isthmus_sim::world::lines::LINE_BYTES;
use isthmus_sim::{FaultSpec, Picoseconds};

use crate::arrivals::Arrivals;
use crate::error::RoadError;
use crate::operation::Operation;
use crate::platform::{DmaMemory, PcieLink, PcieMemory, PciePort};
use crate::scenario::{Limits, Profile, sixteen};
use crate::series::Extent;

/// Bytes of a shared word.
pub(super) const WORD_BYTES: usize = 8;
const MOST_BYTES: usize = 65_536;
/// Lines that the FPGA reads or writes, in ascending order, again and again.
pub(super) const REGION_LINES: u64 = 4_096;

const fn one() -> u32 {
    1
}

/// One run.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EciScenario {
    /// Always `eci`.
    pub road: String,
    /// Profile: as published, or ours.
    pub profile: Profile,
    /// Constants of everything that is not gateware.
    pub platform: EciPlatform,
    /// The FPGA.
    pub fpga: EciDevice,
    /// The host's end of the link; absent where the FPGA is on PCIe.
    #[serde(default)]
    pub host: Option<EciDevice>,
    /// What to measure.
    pub workload: EciWorkload,
    /// Seed of the data.
    pub seed: u64,
    /// Limits of the run.
    #[serde(default)]
    pub limits: Limits,
    /// Injected faults: `to_host` and `to_fpga`, of the second link `to_host_1` and `to_fpga_1`, each with `.block_error` (a bit of a block is inverted) and
    /// `.block_lost` (a block is dropped); decided for each block.
    #[serde(default)]
    pub faults: BTreeMap<String, FaultSpec>,
    /// Waveform of the FPGA to write; needs a model built for it.
    #[serde(default)]
    pub waveform: Option<PathBuf>,
}

/// Constants of everything outside both ends.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EciPlatform {
    /// Name of the platform.
    pub name: String,
    /// Clock of both ends.
    #[schemars(range(min = 1.0, max = 2_000.0))]
    pub clock_mhz: f64,
    /// Lanes of one link, the same in both directions.
    pub lanes: LanesConfig,
    /// Read latency of host memory.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub memory_read_ns: f64,
    /// From a store at host memory to its data being visible to a program.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub memory_write_ns: f64,
    /// Read latency of the FPGA's memory.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub fpga_memory_read_ns: f64,
    /// From a store at the FPGA's memory to its data being visible there.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub fpga_memory_write_ns: f64,
    /// From a core of the host to the logic of its end of the link, and back the same: of I/O accesses,
    /// interrupts, and lines of the FPGA's memory.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub core_ns: f64,
    /// A host and a card on PCIe, for the drivers `pcie-dma` and `pcie-ring`.
    #[serde(default)]
    pub pcie: Option<EciPcie>,
}

/// A host and a card on PCIe.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EciPcie {
    /// Clock of the FPGA's logic and of its hard block's user side.
    #[schemars(range(min = 50.0, max = 1_000.0))]
    pub clock_mhz: f64,
    /// The link.
    pub link: PcieLink,
    /// The host's port.
    pub root: PciePort,
    /// The FPGA's hard block.
    pub endpoint: PciePort,
    /// Host memory behind the port.
    pub memory: DmaMemory,
}

impl EciPcie {
    /// Without the FPGA's clock.
    pub(super) fn memory_over_pcie(&self) -> PcieMemory {
        let Self { link, root, endpoint, memory, .. } = *self;
        PcieMemory { link, root, endpoint, memory }
    }
}

/// Gateware of one end.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EciDevice {
    /// Shared object of the model.
    pub model_path: PathBuf,
    /// Length of the reset in clocks.
    #[serde(default = "sixteen")]
    pub reset_cycles: u32,
}

/// How one end reaches lines of the other's memory, or what is not about lines. The FPGA's logic starts
/// `device-read` and `device-write` of host memory, a core of the host `host-read` and `host-write` of the FPGA's.
/// Those through a cache need one there, and a directory at the other end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EciDriver {
    /// Without a cache.
    #[default]
    Uncached,
    /// Through its cache, lines that no cache has.
    Cached,
    /// Through its cache, lines that the other end's program has just written.
    CachedDirty,
    /// Through its cache, lines that are in it.
    CachedHit,
    /// The home changes the word; only for `update`, which the other drivers through a cache do in it, over `axi`.
    Atomic,
    /// I/O accesses of a word with byte enables: `host-read` and `host-write`.
    Io,
    /// Interrupts between processors: `message` from the host, `device-write` from the FPGA.
    Ipi,
    /// Barriers of the FPGA, with no store open before them: `device-write`.
    Barrier,
    /// By DMA over PCIe, of addresses that the FPGA's logic has.
    PcieDma,
    /// By DMA over PCIe, of descriptors in a ring in host memory.
    PcieRing,
}

impl EciDriver {
    /// Name in scenarios and results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uncached => "uncached",
            Self::Cached => "cached",
            Self::CachedDirty => "cached-dirty",
            Self::CachedHit => "cached-hit",
            Self::Atomic => "atomic",
            Self::Io => "io",
            Self::Ipi => "ipi",
            Self::Barrier => "barrier",
            Self::PcieDma => "pcie-dma",
            Self::PcieRing => "pcie-ring",
        }
    }
}

/// What the FPGA's logic is connected to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EciPort {
    /// The agent's own port: a line a request.
    #[default]
    Lines,
    /// An AXI port in front of the cache; the logic is an AXI master of 512 bits. Only through the cache.
    Axi,
}

impl EciPort {
    /// Name in scenarios and results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lines => "lines",
            Self::Axi => "axi",
        }
    }
}

/// How messages take two links.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EciPolicy {
    /// By the room in the queues of the links.
    #[default]
    Balance,
    /// By a hash of the line's address.
    Partition,
}

impl EciPolicy {
    /// Name in scenarios and results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Balance => "balance",
            Self::Partition => "partition",
        }
    }
}

/// Which ends have memory, and which a cache of the other one's lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EciHomes {
    /// One has memory, the other one asks for its lines.
    #[default]
    One,
    /// Each has both.
    Both,
}

/// What to measure.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EciWorkload {
    /// `device-read`, `device-write`, `update` of host memory; `host-read`, `host-write` of the FPGA's memory, or of
    /// its registers; `message`.
    pub operation: Operation,
    /// How the memory is reached.
    #[serde(default)]
    pub driver: EciDriver,
    /// What the FPGA's logic is connected to; the FPGA's model must have it.
    #[serde(default)]
    pub port: EciPort,
    /// Which ends have memory and a cache of the other one's lines; the models must have them.
    #[serde(default)]
    pub homes: EciHomes,
    /// What the other end does at the same time with the other memory, by the same driver and as many at once;
    /// `host-read` or `host-write` beside `device-read` or `device-write`. It needs homes at both ends.
    #[serde(default)]
    pub beside: Option<Operation>,
    /// Links between the FPGA and the host; the models must have as many.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 2))]
    pub links: u32,
    /// How messages take two links.
    #[serde(default)]
    pub policy: EciPolicy,
    /// Bytes per transfer: whole lines, and perhaps a part of one more.
    #[schemars(range(min = 1, max = MOST_BYTES))]
    pub bytes: usize,
    /// Number of measured transfers.
    #[schemars(range(min = 1, max = 10_000_000))]
    pub iterations: u64,
    /// Warm-up transfers before them.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub warmup: u64,
    /// Transfers in flight.
    #[serde(default)]
    pub window: Option<u32>,
    /// Transfers per second, Poisson arrivals.
    #[serde(default)]
    pub rate_per_s: Option<f64>,
    /// With `window`, the next transfer begins when one is done: a write when its data is visible to the host,
    /// and not when the FPGA has handed it over to PCIe.
    #[serde(default)]
    pub until_visible: bool,
    /// Instead of transfers: both ends use one line in turn, and their tracers say after each step what was sent and
    /// what state the line has; `iterations` lines, one after the other. Through a cache, on port `lines`; the models
    /// must have tracers.
    #[serde(default)]
    pub life: bool,
}

impl EciScenario {
    /// Reads and checks a scenario.
    ///
    /// # Errors
    /// A wrong key, with its name and what is expected.
    pub fn parse(json: &str) -> Result<Self, RoadError> {
        crate::scenario::checked(json, Self::check)
    }

    /// Whether each end has memory and a cache of the other one's lines.
    pub(super) fn both_homes(&self) -> bool {
        self.workload.homes == EciHomes::Both
    }

    /// What happens at the same time with the other memory.
    pub(super) fn other(&self) -> Option<Operation> {
        self.workload.beside
    }

    /// The same with what happens beside it instead.
    pub(super) fn beside(&self) -> Option<Self> {
        let operation = self.workload.beside?;
        let beside = Some(self.workload.operation);
        let workload = EciWorkload { operation, beside, ..self.workload.clone() };
        // Other data, and other times where they are random.
        Some(Self { workload, seed: self.seed.wrapping_add(1), ..self.clone() })
    }

    /// Whether the end that asks has a cache, and the home a cache and a directory.
    pub(super) fn has_caches(&self) -> bool {
        let without = self.workload.driver == EciDriver::Uncached || self.over_pcie();
        self.both_homes() || !without && !self.words()
    }

    /// Whether the FPGA's logic is an AXI master.
    pub(super) fn over_axi(&self) -> bool {
        self.workload.port == EciPort::Axi
    }

    /// Whether words are changed, by the home or in the FPGA's cache.
    pub(super) fn updates(&self) -> bool {
        self.workload.operation == Operation::Update
    }

    /// Whether lines are accessed through the cache of the end that asks.
    pub(super) fn through_cache(&self) -> bool {
        let drivers = [EciDriver::Cached, EciDriver::CachedDirty, EciDriver::CachedHit];
        drivers.contains(&self.workload.driver)
    }

    /// Whether it is over PCIe, and not over the coherent link.
    pub(super) fn over_pcie(&self) -> bool {
        matches!(self.workload.driver, EciDriver::PcieDma | EciDriver::PcieRing)
    }

    /// The largest share of blocks of a direction that arrive with a wrong check; `None`: no rate is given.
    pub(super) fn errors(&self) -> Option<f64> {
        let errors = self.faults.iter().filter(|(name, _)| name.ends_with(".block_error"));
        errors.map(|(_, spec)| spec.rate).filter(|rate| *rate > 0.0).reduce(f64::max)
    }

    /// Clock of the FPGA's logic.
    pub(super) fn clock_mhz(&self) -> f64 {
        let pcie = self.platform.pcie.filter(|_| self.over_pcie());
        pcie.map_or(self.platform.clock_mhz, |pcie| pcie.clock_mhz)
    }

    /// Lines of the home's memory.
    pub(super) fn memory_lines(&self) -> u64 {
        self.region().max(REGION_LINES)
    }

    /// Whether it is about words, not about lines.
    pub(super) fn words(&self) -> bool {
        matches!(self.workload.driver, EciDriver::Io | EciDriver::Ipi | EciDriver::Barrier)
    }

    /// Whether words are loaded, and not stored.
    pub(super) fn reads_words(&self) -> bool {
        self.workload.operation == Operation::HostRead
    }

    /// Whether a host program starts its transfers.
    pub(super) fn by_host(&self) -> bool {
        matches!(
            self.workload.operation,
            Operation::HostRead | Operation::HostWrite | Operation::Message
        )
    }

    /// Whether the lines are the FPGA's memory, which the host's end reads and writes, through a cache or not.
    pub(super) fn home_at_fpga(&self) -> bool {
        self.by_host() && !self.words()
    }

    /// Places of the end that asks for lines, and of their home.
    pub(super) fn places(&self) -> [&'static str; 2] {
        if self.home_at_fpga() { ["host", "fpga"] } else { ["fpga", "host"] }
    }

    /// The way between a core and its end of the link, where a core asks for lines.
    pub(super) fn core(&self) -> Picoseconds {
        let ns = if self.home_at_fpga() { self.platform.core_ns } else { 0.0 };
        Picoseconds::from_ns_f64(ns)
    }

    /// Latencies of the FPGA's memory or of the host's: a read, a store.
    pub(super) fn memory_latencies(&self, of_fpga: bool) -> [Picoseconds; 2] {
        let of = &self.platform;
        let ns = match of_fpga {
            true => [of.fpga_memory_read_ns, of.fpga_memory_write_ns],
            false => [of.memory_read_ns, of.memory_write_ns],
        };
        ns.map(Picoseconds::from_ns_f64)
    }

    /// Whether its data go to the host.
    pub(super) fn to_host(&self) -> bool {
        matches!(self.workload.operation, Operation::DeviceWrite | Operation::HostRead)
    }

    /// Whether a transfer is done at the other end than where it begins.
    pub(super) fn one_way(&self) -> bool {
        let there = [Operation::DeviceWrite, Operation::HostWrite, Operation::Message];
        there.contains(&self.workload.operation) && self.workload.driver != EciDriver::Barrier
    }

    /// Lines that the transfers use, in ascending order, again and again.
    pub(super) fn region(&self) -> u64 {
        let window = u64::from(self.workload.window.unwrap_or(1));
        match self.workload.driver {
            EciDriver::Atomic => 1,
            EciDriver::CachedHit => window * self.lines(),
            // Each is accessed once: a line that was in the cache may still be in it.
            EciDriver::Cached => self.most() * self.lines(),
            _ => REGION_LINES,
        }
    }

    pub(crate) fn arrivals(&self) -> Result<Arrivals, RoadError> {
        Arrivals::of("workload", self.workload.window, self.workload.rate_per_s)
    }

    /// Whether lines are stored.
    pub(super) fn writes(&self) -> bool {
        let operation = self.workload.operation;
        operation == Operation::DeviceWrite
            || operation == Operation::HostWrite && self.home_at_fpga()
    }

    /// Lines per transfer.
    pub(super) fn lines(&self) -> u64 {
        self.workload.bytes.div_ceil(LINE_BYTES) as u64
    }

    /// Bytes of a transfer in its line number `line`.
    pub(super) fn bytes_of(&self, line: u64) -> usize {
        (self.workload.bytes - line as usize * LINE_BYTES).min(LINE_BYTES)
    }

    pub(super) fn extent(&self) -> Extent {
        let of = &self.workload;
        Extent::new(of.iterations, of.warmup, of.window, of.rate_per_s)
    }

    /// Numbers of the measured transfers.
    pub(super) fn counted(&self) -> Range<u64> {
        self.extent().counted
    }

    /// Transfers at most: beside others it goes on until those that count of both have ended.
    pub(super) fn most(&self) -> u64 {
        let series = self.series() + 1;
        if self.workload.beside.is_some() { 2 * series } else { series }
    }

    /// Number of transfers without the observed one, which follows alone.
    pub(super) fn series(&self) -> u64 {
        self.extent().series
    }
}

#[cfg(test)]
mod tests;
