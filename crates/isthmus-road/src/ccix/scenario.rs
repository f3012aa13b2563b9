// SPDX-License-Identifier: Apache-2.0
//! The scenario of coherent host memory over CCIX, as a JSON document.
//!
//! `docs/reference/ccix-scenario.md` explains every key. Unknown keys are errors; units are part of names.

mod check;
mod locks;
mod translation;
mod updates;

use std::ops::Range;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use isthmus_sim::world::ccix::CcixTransport;

use crate::arrivals::Arrivals;
pub(super) use crate::dma::LINE_BYTES;
use crate::error::RoadError;
use crate::host_bus::byte_fs;
use crate::operation::Operation;
use crate::platform::PcieMemory;
use crate::scenario::{Limits, Profile, sixteen};
use crate::series::Extent;

pub use locks::{CcixLockMode, CcixLocks, CcixStep, CcixTransaction};
pub use translation::{CcixOrder, CcixPage, CcixTranslation};
pub use updates::{CcixChange, CcixUpdates};

/// The road's name.
pub(super) const NAME: &str = "ccix";

/// What the FPGA's logic is connected to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CcixPort {
    /// The agent's own port: a line a request.
    #[default]
    Lines,
    /// An AXI port in front of the cache; the logic is an AXI master of 512 bits. Of `cached`, `cached-hit`, and
    /// of `svm` with `cache`: then its addresses are virtual.
    Axi,
}

impl CcixPort {
    /// Name in scenarios and results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lines => "lines",
            Self::Axi => "axi",
        }
    }
}

/// How the FPGA's logic reaches host memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CcixDriver {
    /// By a CCIX request agent, with physical addresses.
    #[default]
    RequestAgent,
    /// By the same agent, with the program's virtual addresses: shared virtual memory.
    Svm,
    /// Through the FPGA's cache: lines that it does not have.
    Cached,
    /// Through the FPGA's cache: lines that it has.
    CachedHit,
    /// Through the FPGA's cache, while the host stores to the same lines.
    Contended,
    /// Transactions of the host and of the FPGA's near-data unit, under locks.
    Locks,
    /// By DMA over PCIe, with physical addresses: the document's comparison.
    PcieDma,
}

impl CcixDriver {
    /// Name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RequestAgent => "request-agent",
            Self::Svm => "svm",
            Self::Cached => "cached",
            Self::CachedHit => "cached-hit",
            Self::Contended => "contended",
            Self::Locks => "locks",
            Self::PcieDma => "pcie-dma",
        }
    }
}

/// Lines of the smallest page: a transfer with a virtual address begins at a page.
pub(super) const PAGE_LINES: u64 = 64;
const MOST_BYTES: usize = 65_536;
/// Lines that the FPGA reads or writes, in ascending order, again and again.
pub(super) const REGION_LINES: u64 = 8_192;
/// Lines of the FPGA's smallest cache: lines that both sides store to.
const CACHE_LINES: u32 = 4_096;
/// Stores that the host may have open: forwards that the FPGA has room for.
pub(super) const MOST_FORWARDS: u32 = 16;
/// Rounds of lines that both sides store to.
const MOST_ROUNDS: u32 = 1_000;
/// What each side has of a line to which both store.
pub(super) const HALF_BYTES: usize = LINE_BYTES / 2;

/// One run.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CcixScenario {
    /// Always `ccix`.
    pub road: String,
    /// Profile: as published, or ours.
    pub profile: Profile,
    /// Constants of everything that is not gateware.
    pub platform: CcixPlatform,
    /// The FPGA.
    pub fpga: CcixDevice,
    /// What to measure.
    pub workload: CcixWorkload,
    /// Seed of the data and of arrivals.
    pub seed: u64,
    /// Limits of the run.
    #[serde(default)]
    pub limits: Limits,
    /// Waveform of the FPGA to write; needs a model built for it.
    #[serde(default)]
    pub waveform: Option<PathBuf>,
}

/// Constants of everything outside the FPGA's gateware.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CcixPlatform {
    /// Name of the platform.
    pub name: String,
    /// Clock of the FPGA's logic and of its hard block's CCIX interface.
    #[schemars(range(min = 50.0, max = 1_000.0))]
    pub clock_mhz: f64,
    /// The link.
    pub transport: CcixTransport,
    /// The host.
    pub home: CcixHome,
    /// The host's translation agent, for the driver `svm`.
    #[serde(default)]
    pub iommu: Option<CcixIommu>,
    /// The same host and card on PCIe, for the driver `pcie-dma`.
    #[serde(default)]
    pub pcie: Option<PcieMemory>,
}

/// The home agent at the host, and the memory behind it.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CcixHome {
    /// Delay between the host's port and the home, each way.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub gateway_ns: f64,
    /// Read latency of host memory, from a request at the home.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub memory_read_ns: f64,
    /// From a write at the home to its data being visible to a program.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub memory_write_ns: f64,
    /// From the loss of the link to the host's program that recovers from it.
    #[schemars(range(min = 0.0, max = 10_000_000.0))]
    pub link_down_ns: f64,
    /// Buffers for requests of the FPGA.
    #[schemars(range(min = 1, max = 128))]
    pub requests: u32,
    /// Buffers for lines that the FPGA writes.
    #[schemars(range(min = 1, max = 128))]
    pub lines: u32,
}

/// The host's translation agent.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CcixIommu {
    /// A walker's access to memory, from its request to its line.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub access_ns: f64,
    /// Walks at once.
    #[schemars(range(min = 1, max = 1_024))]
    pub walkers: u32,
    /// Tables of each level but the root that the walk cache knows; 0: no walk cache.
    #[schemars(range(min = 0, max = 65_536))]
    pub cache_entries: u32,
}

/// The FPGA's gateware.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CcixDevice {
    /// Shared object of the model.
    pub model_path: PathBuf,
    /// Length of the reset in clocks.
    #[serde(default = "sixteen")]
    pub reset_cycles: u32,
}

/// What to measure.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CcixWorkload {
    /// `device-read` or `device-write`; `update` of `locks`, and of `cached` and `svm` by an AXI port.
    pub operation: Operation,
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
    /// How the FPGA's logic reaches host memory.
    #[serde(default)]
    pub driver: CcixDriver,
    /// What the FPGA's logic is connected to; the FPGA's model must have it.
    #[serde(default)]
    pub port: CcixPort,
    /// Transfers in flight.
    #[serde(default)]
    pub window: Option<u32>,
    /// Transfers per second, Poisson arrivals.
    #[serde(default)]
    pub rate_per_s: Option<f64>,
    /// With `window`, the next transfer begins when one is done: a write when its data is visible to the host,
    /// and not when the FPGA has handed it over.
    #[serde(default)]
    pub until_visible: bool,
    /// With the driver `svm`: lines come through the FPGA's cache; the FPGA's model must have it.
    #[serde(default)]
    pub cache: bool,
    /// The virtual memory, for the driver `svm`.
    #[serde(default)]
    pub translation: Option<CcixTranslation>,
    /// The host's part, for the driver `contended`.
    #[serde(default)]
    pub contention: Option<CcixContention>,
    /// Words that both sides change, for the operation `update` by an AXI port.
    #[serde(default)]
    pub updates: Option<CcixUpdates>,
    /// Transactions, for the driver `locks`.
    #[serde(default)]
    pub locks: Option<CcixLocks>,
}

/// Lines to which both sides store at random, each `iterations` times: the FPGA to their first half, the host to
/// their second.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CcixContention {
    /// How many lines.
    #[schemars(range(min = 1, max = CACHE_LINES))]
    pub lines: u32,
    /// Stores that the host has in flight.
    #[schemars(range(min = 1, max = MOST_FORWARDS))]
    pub host_window: u32,
    /// How often all of it is done, with other lines each time, and all lines at the host in the beginning.
    #[serde(default = "once")]
    #[schemars(range(min = 1, max = MOST_ROUNDS))]
    pub rounds: u32,
}

const fn once() -> u32 {
    1
}

impl CcixScenario {
    /// Reads and checks a scenario.
    ///
    /// # Errors
    /// A wrong key, with its name and what is expected.
    pub fn parse(json: &str) -> Result<Self, RoadError> {
        crate::scenario::checked(json, Self::check)
    }

    pub(super) fn arrivals(&self) -> Result<Arrivals, RoadError> {
        Arrivals::of("workload", self.workload.window, self.workload.rate_per_s)
    }

    pub(super) fn writes(&self) -> bool {
        self.workload.operation == Operation::DeviceWrite
    }

    /// The link of the comparison, where it is used, and not CCIX.
    pub(super) fn over_pcie(&self) -> Option<&PcieMemory> {
        self.platform.pcie.as_ref().filter(|_| self.workload.driver == CcixDriver::PcieDma)
    }

    /// Lines are in the FPGA's cache, or come into it.
    pub(super) fn is_cached(&self) -> bool {
        use CcixDriver::{Cached, CachedHit, Contended};
        self.workload.cache
            || matches!(self.workload.driver, Cached | CachedHit | Contended)
            || self.workload.locks.as_ref().is_some_and(|one| one.mode.is_cached())
    }

    /// Each line of a write arrives at the home.
    pub(super) fn stores_at_home(&self) -> bool {
        self.writes() && !self.is_cached()
    }

    /// Femtoseconds of a byte on the link.
    pub(super) fn byte_fs(&self) -> f64 {
        let transport = &self.platform.transport;
        self.over_pcie().map_or_else(|| transport.byte_fs(), |pcie| byte_fs(&pcie.link))
    }

    /// Lines per transfer.
    pub(super) fn lines(&self) -> u64 {
        self.workload.bytes.div_ceil(LINE_BYTES) as u64
    }

    /// Bytes of a transfer in its line number `line`.
    pub(super) fn bytes_of(&self, line: u64) -> usize {
        (self.workload.bytes - line as usize * LINE_BYTES).min(LINE_BYTES)
    }

    /// Lines from one place where transfers begin to the next.
    pub(super) fn stride(&self) -> u64 {
        match self.workload.translation {
            Some(one) if one.order == CcixOrder::Skewed => self.lines(),
            Some(_) => self.lines().next_multiple_of(PAGE_LINES),
            None => self.lines(),
        }
    }

    /// Places where transfers begin.
    pub(super) fn places(&self) -> u64 {
        match self.workload.driver {
            // As many as are in flight: all of them in the cache.
            CcixDriver::CachedHit => 2 * u64::from(self.workload.window.unwrap_or(1)),
            _ => self.region_lines() / self.stride(),
        }
    }

    /// Lines of the memory that transfers visit.
    pub(super) fn region_lines(&self) -> u64 {
        self.workload.translation.map_or(REGION_LINES, |one| one.lines())
    }

    /// Lines that are read before the first transfer.
    pub(super) fn touched(&self) -> Vec<u64> {
        if self.workload.driver == CcixDriver::CachedHit {
            return (0..self.places() * self.stride()).collect();
        }
        let Some(of) = self.workload.translation.filter(|one| one.warm) else { return Vec::new() };
        // In memory that the cache can have, all of it.
        if of.order == CcixOrder::Skewed && of.lines() <= u64::from(CACHE_LINES) {
            return (0..of.lines()).collect();
        }
        let page = of.page.size().bytes() / LINE_BYTES as u64;
        (0..of.pages()).map(|number| number * page).collect()
    }

    pub(super) fn extent(&self) -> Extent {
        let of = &self.workload;
        Extent::new(of.iterations, of.warmup, of.window, of.rate_per_s)
    }

    /// Numbers of the measured transfers.
    pub(super) fn counted(&self) -> Range<u64> {
        self.extent().counted
    }

    /// All but the observed one, which follows alone.
    pub(super) fn series(&self) -> u64 {
        self.extent().series
    }
}

#[cfg(test)]
mod tests;
