// SPDX-License-Identifier: Apache-2.0
//! The scenario of coherent host memory over CCIX, as a JSON document.
//!
//! `docs/reference/ccix-scenario.md` explains every key. Unknown keys are errors; units are part of names.

use std::ops::Range;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use isthmus_host::svm::PageSize;
use isthmus_sim::kernel::RandomStream;
use isthmus_sim::world::ccix::CcixTransport;

use crate::arrivals::Arrivals;
pub(super) use crate::dma::LINE_BYTES;
use crate::dma::MOST_TASKS;
use crate::error::RoadError;
use crate::host_bus::byte_fs;
use crate::operation::Operation;
use crate::platform::PcieMemory;
use crate::scenario::{Limits, Profile, sixteen};

/// The road's name.
pub(super) const NAME: &str = "ccix";

/// What the FPGA's logic is connected to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CcixPort {
    /// The agent's own port: a line a request.
    #[default]
    Lines,
    /// An AXI port in front of the cache; the logic is an AXI master of 512 bits. Of `cached` and `cached-hit`.
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

/// The size of the host's pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum CcixPage {
    /// 4 KiB.
    #[serde(rename = "4K")]
    Base,
    /// 2 MiB.
    #[serde(rename = "2M")]
    Big,
    /// 1 GiB.
    #[serde(rename = "1G")]
    Huge,
}

impl CcixPage {
    /// Name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Base => "4K",
            Self::Big => "2M",
            Self::Huge => "1G",
        }
    }

    pub(super) const fn size(self) -> PageSize {
        match self {
            Self::Base => PageSize::Base,
            Self::Big => PageSize::Big,
            Self::Huge => PageSize::Huge,
        }
    }
}

/// The order in which transfers visit memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CcixOrder {
    /// From the first page to the last, again and again.
    Sequential,
    /// In one random order, again and again.
    Random,
}

impl CcixOrder {
    /// Name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sequential => "sequential",
            Self::Random => "random",
        }
    }
}

/// Lines of the smallest page: a transfer with a virtual address begins at a page.
pub(super) const PAGE_LINES: u64 = 64;
/// Maximum number of pages that transfers visit.
const MOST_PAGES: u64 = 65_536;
const MOST_BYTES: usize = 65_536;
/// Lines that the FPGA reads or writes, in ascending order, again and again.
pub(super) const REGION_LINES: u64 = 8_192;
/// Most lines that are read before as hits: half of the FPGA's cache.
const HIT_LINES: u64 = 2_048;
/// Lines of the FPGA's smallest cache: lines that both sides store to.
const CACHE_LINES: u32 = 4_096;
/// Stores that the host may have open: forwards that the FPGA has room for.
pub(super) const MOST_FORWARDS: u32 = 16;
/// Locks of the FPGA's table.
const MOST_RECORDS: u32 = 1_024;
/// Slots of the FPGA's unit, and places for waiters.
const MOST_REQUESTERS: u32 = 64;
/// Resets of the FPGA's unit in a run, and holds.
const MOST_FAULTS: u32 = 1_000;
/// Rounds of lines that both sides store to.
const MOST_ROUNDS: u32 = 1_000;
/// Steps of a transaction.
const MOST_STEPS: usize = 4;
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
    /// `device-read` or `device-write`.
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
    /// The virtual memory, for the driver `svm`.
    #[serde(default)]
    pub translation: Option<CcixTranslation>,
    /// The host's part, for the driver `contended`.
    #[serde(default)]
    pub contention: Option<CcixContention>,
    /// Transactions, for the driver `locks`.
    #[serde(default)]
    pub locks: Option<CcixLocks>,
}

/// Where the lock table is, and how the FPGA reaches records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CcixLockMode {
    /// In the host's program; the FPGA's orders are messages. Records by reads and posted writes.
    Host,
    /// In the FPGA; the host's orders are messages. Records through the FPGA's cache.
    Shared,
    /// In the FPGA. Records by reads and writes.
    Hybrid,
    /// No table: a lock is a word of its record's line, taken by compare-and-swap of who owns the line.
    Cas,
}

impl CcixLockMode {
    /// The FPGA reaches records through its cache.
    pub(super) const fn is_cached(self) -> bool {
        matches!(self, Self::Shared | Self::Cas)
    }

    /// Name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Shared => "shared",
            Self::Hybrid => "hybrid",
            Self::Cas => "cas",
        }
    }
}

/// Transactions on records of a line each.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CcixLocks {
    /// Name of the transactions, for results.
    pub trace: String,
    /// Where the lock table is.
    pub mode: CcixLockMode,
    /// How many records there are.
    #[schemars(range(min = 1, max = MOST_RECORDS))]
    pub rows: u32,
    /// Transactions under way at once.
    #[schemars(range(min = 1, max = MOST_REQUESTERS))]
    pub requesters: u32,
    /// They begin in this order; `workload.iterations` of them.
    pub transactions: Vec<CcixTransaction>,
    /// How often the FPGA's unit is reset in mid-run.
    #[serde(default)]
    #[schemars(range(max = MOST_FAULTS))]
    pub resets: u32,
    /// How often it stops for twice its lease, and then goes on.
    #[serde(default)]
    #[schemars(range(max = MOST_FAULTS))]
    pub holds: u32,
    /// How often all of the FPGA is reset in mid-run, with its table, its cache and the link.
    #[serde(default)]
    #[schemars(range(max = MOST_FAULTS))]
    pub fpga_resets: u32,
    /// The unit's lease, in clocks: that of the model.
    #[serde(default = "lease")]
    #[schemars(range(min = 4, max = 65536))]
    pub lease_cycles: u32,
}

const fn lease() -> u32 {
    1024
}

/// A transaction.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CcixTransaction {
    /// The FPGA makes it, not the host.
    pub fpga: bool,
    /// One to four records, none twice.
    pub steps: Vec<CcixStep>,
}

/// A record of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CcixStep {
    /// Its number, below `rows`.
    pub record: u16,
    /// It is updated, not only read.
    pub update: bool,
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

/// Virtual memory that transfers visit. Each begins at a page of 4 KiB, at another one than the transfer before.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CcixTranslation {
    /// The size of the host's pages.
    pub page: CcixPage,
    /// The order in which transfers visit it.
    pub order: CcixOrder,
    /// Its bytes.
    #[schemars(range(min = 131_072, max = 17_179_869_184_u64))]
    pub footprint_bytes: u64,
    /// Each page is read once before the first transfer.
    #[serde(default)]
    pub warm: bool,
    /// Pages that the host moves to other frames while transfers run.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1_000))]
    pub moves: u32,
}

impl CcixTranslation {
    /// Name in results.
    pub(super) fn name(&self) -> String {
        let (page, order) = (self.page.name(), self.order.name());
        let footprint = match self.footprint_bytes {
            bytes if bytes.is_multiple_of(1 << 30) => format!("{}G", bytes >> 30),
            bytes if bytes.is_multiple_of(1 << 20) => format!("{}M", bytes >> 20),
            bytes => format!("{}K", bytes >> 10),
        };
        let warm = if self.warm { "-warm" } else { "" };
        format!("{page}-{order}-{footprint}{warm}")
    }

    /// Pages of the host that it has.
    pub(super) fn pages(&self) -> u64 {
        self.footprint_bytes.div_ceil(self.page.size().bytes())
    }

    /// Lines of it.
    pub(super) fn lines(&self) -> u64 {
        self.footprint_bytes / LINE_BYTES as u64
    }
}

impl CcixScenario {
    /// Reads and checks a scenario.
    ///
    /// # Errors
    /// A wrong key, with its name and what is expected.
    pub fn parse(json: &str) -> Result<Self, RoadError> {
        crate::scenario::checked(json, Self::check)
    }

    fn check(&self) -> Result<(), RoadError> {
        let carried: &[Operation] = match self.workload.driver {
            CcixDriver::Locks => &[Operation::Update],
            _ => &[Operation::DeviceRead, Operation::DeviceWrite],
        };
        self.workload.operation.check("workload.operation", "ccix", carried)?;
        if self.workload.driver == CcixDriver::PcieDma && self.platform.pcie.is_none() {
            let reason = "missing, for workload.driver pcie-dma";
            return Err(RoadError::scenario("platform.pcie", reason));
        }
        match (&self.workload.translation, self.workload.driver) {
            (Some(translation), CcixDriver::Svm) => self.check_translation(translation)?,
            (None, CcixDriver::Svm) => {
                let reason = "missing, for workload.driver svm";
                return Err(RoadError::scenario("workload.translation", reason));
            }
            (Some(_), driver) => {
                let reason = format!("expected none for workload.driver {}", driver.name());
                return Err(RoadError::scenario("workload.translation", reason));
            }
            (None, _) => {}
        }
        let (port, driver) = (self.workload.port, self.workload.driver);
        if port == CcixPort::Axi && !matches!(driver, CcixDriver::Cached | CcixDriver::CachedHit) {
            let reason = format!("expected lines for workload.driver {}", driver.name());
            return Err(RoadError::scenario("workload.port", reason));
        }
        self.check_contention()?;
        self.check_locks()?;
        let window = self.arrivals()?.window().unwrap_or(1);
        let places = self.region_lines() / self.stride();
        let most = match self.workload.driver {
            CcixDriver::CachedHit => u64::from(MOST_TASKS).min(HIT_LINES / 2 / self.lines()),
            _ => u64::from(MOST_TASKS).min(places / 2),
        };
        if u64::from(window) > most {
            let bytes = self.workload.bytes;
            let reason = format!("{window} transfers of {bytes} bytes: at most {most}");
            return Err(RoadError::scenario("workload.window", reason));
        }
        Ok(())
    }

    fn check_translation(&self, translation: &CcixTranslation) -> Result<(), RoadError> {
        if self.platform.iommu.is_none() {
            let reason = "missing, for workload.driver svm";
            return Err(RoadError::scenario("platform.iommu", reason));
        }
        let bytes = translation.footprint_bytes;
        let key = "workload.translation.footprint_bytes";
        if !bytes.is_multiple_of(PAGE_LINES * LINE_BYTES as u64) {
            return Err(RoadError::scenario(key, format!("{bytes} is no multiple of 4096")));
        }
        let pages = translation.pages();
        if pages > MOST_PAGES {
            let reason = format!("{bytes} bytes are {pages} pages: at most {MOST_PAGES}");
            return Err(RoadError::scenario(key, reason));
        }
        Ok(())
    }

    fn check_contention(&self) -> Result<(), RoadError> {
        let contended = self.workload.driver == CcixDriver::Contended;
        if contended != self.workload.contention.is_some() {
            let of = self.workload.driver.name();
            let wanted = if contended { "missing," } else { "expected none" };
            let reason = format!("{wanted} for workload.driver {of}");
            return Err(RoadError::scenario("workload.contention", reason));
        }
        if !contended {
            return Ok(());
        }
        let refused = |key, reason: &str| Err(RoadError::scenario(key, reason));
        if !self.writes() {
            return refused(
                "workload.operation",
                "expected device-write for workload.driver contended",
            );
        }
        if self.workload.bytes > HALF_BYTES {
            let reason = format!("{} bytes: at most half of a line", self.workload.bytes);
            return refused("workload.bytes", &reason);
        }
        if self.workload.warmup > 0 {
            return refused("workload.warmup", "expected 0 for workload.driver contended");
        }
        if self.workload.rate_per_s.is_some() {
            return refused("workload.rate_per_s", "expected none for workload.driver contended");
        }
        Ok(())
    }

    fn check_locks(&self) -> Result<(), RoadError> {
        let locks = match (&self.workload.locks, self.workload.driver) {
            (Some(locks), CcixDriver::Locks) => locks,
            (None, CcixDriver::Locks) => {
                let reason = "missing, for workload.driver locks";
                return Err(RoadError::scenario("workload.locks", reason));
            }
            (Some(_), driver) => {
                let reason = format!("expected none for workload.driver {}", driver.name());
                return Err(RoadError::scenario("workload.locks", reason));
            }
            (None, _) => return Ok(()),
        };
        let key = "workload.locks.transactions";
        let count = locks.transactions.len() as u64;
        if count != self.workload.iterations || self.workload.warmup > 0 {
            let reason = format!("{count}: expected workload.iterations, and no warmup");
            return Err(RoadError::scenario(key, reason));
        }
        for (number, one) in locks.transactions.iter().enumerate() {
            let steps = &one.steps;
            if steps.is_empty() || steps.len() > MOST_STEPS {
                let reason = format!("[{number}] has {} steps: 1 to {MOST_STEPS}", steps.len());
                return Err(RoadError::scenario(key, reason));
            }
            for (at, step) in steps.iter().enumerate() {
                let twice = steps[..at].iter().any(|before| before.record == step.record);
                if u32::from(step.record) >= locks.rows || twice {
                    let record = step.record;
                    let reason = format!("[{number}]: record {record} is twice in it, or outside");
                    return Err(RoadError::scenario(key, reason));
                }
            }
        }
        Ok(())
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
        matches!(self.workload.driver, Cached | CachedHit | Contended)
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
    fn stride(&self) -> u64 {
        match self.workload.translation {
            Some(_) => self.lines().next_multiple_of(PAGE_LINES),
            None => self.lines(),
        }
    }

    /// Places where transfers begin.
    fn places(&self) -> u64 {
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
        let page = of.page.size().bytes() / LINE_BYTES as u64;
        (0..of.pages()).map(|number| number * page).collect()
    }

    /// Excluded transfers at either end of the series: those in flight at once.
    fn edge(&self) -> u64 {
        match (self.workload.window, self.workload.rate_per_s) {
            (_, Some(_)) => 16,
            (Some(1) | None, None) => 0,
            (Some(window), None) => u64::from(window),
        }
    }

    /// Numbers of the measured transfers.
    pub(super) fn counted(&self) -> Range<u64> {
        let head = self.workload.warmup + self.edge();
        head..head + self.workload.iterations
    }

    /// All but the observed one, which follows alone.
    pub(super) fn series(&self) -> u64 {
        self.counted().end + self.edge()
    }
}

/// Where transfers begin.
pub(super) struct Visits {
    stride: u64,
    places: u64,
    /// In this order; empty: ascending.
    shuffled: Vec<u32>,
}

impl Visits {
    pub(super) fn new(scenario: &CcixScenario) -> Self {
        let (stride, places) = (scenario.stride(), scenario.places());
        let order = scenario.workload.translation.map(|one| one.order);
        let mut shuffled = Vec::new();
        if order == Some(CcixOrder::Random) {
            let mut random = RandomStream::new(scenario.seed, "ccix:order");
            shuffled = (0..places as u32).collect();
            for place in (1..shuffled.len()).rev() {
                shuffled.swap(place, random.below(place as u64 + 1) as usize);
            }
        }
        Self { stride, places, shuffled }
    }

    /// The first line of transfer number `transfer`: it does not wrap inside the region.
    pub(super) fn first_line(&self, transfer: u64) -> u64 {
        let place = transfer % self.places;
        let place = self.shuffled.get(place as usize).map_or(place, |place| u64::from(*place));
        place * self.stride
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCENARIO: &str = r#"{
        "road": "ccix", "profile": "isthmus",
        "platform": {
            "name": "ccix-au280", "clock_mhz": 250,
            "transport": {"generation": 4, "lanes": 8, "reserved_share": 0.0027, "header_bytes": 4,
                          "propagation_ns": 1, "device_transmit_ns": 95, "device_receive_ns": 95,
                          "host_transmit_ns": 95, "host_receive_ns": 95, "block_beats": 8,
                          "packet_bytes": 256, "packet_messages": 31},
            "home": {"gateway_ns": 20, "memory_read_ns": 81, "memory_write_ns": 20, "link_down_ns": 128000, "requests": 64,
                     "lines": 64}
        },
        "fpga": {"model_path": "fpga.so"},
        "workload": {"operation": "device-read", "bytes": 150, "iterations": 10, "warmup": 2, "window": 4},
        "seed": 1
    }"#;

    fn with(path: &[&str], value: serde_json::Value) -> String {
        let mut scenario: serde_json::Value = serde_json::from_str(SCENARIO).unwrap();
        let mut at = &mut scenario;
        for key in path {
            at = &mut at[*key];
        }
        *at = value;
        CcixScenario::parse(&scenario.to_string()).unwrap_err().to_string()
    }

    #[test]
    fn a_transfer_is_lines_and_a_part_of_one() {
        let scenario = CcixScenario::parse(SCENARIO).unwrap();
        assert_eq!(scenario.lines(), 3);
        assert_eq!([0, 1, 2].map(|line| scenario.bytes_of(line)), [64, 64, 22]);
        assert_eq!((scenario.counted(), scenario.series()), (6..16, 20));
        let visits = Visits::new(&scenario);
        assert_eq!([0, 2729, 2730].map(|transfer| visits.first_line(transfer)), [0, 8187, 0]);
    }

    fn translated(order: &str) -> serde_json::Value {
        let mut scenario: serde_json::Value = serde_json::from_str(SCENARIO).unwrap();
        scenario["platform"]["iommu"] =
            serde_json::json!({"access_ns": 81, "walkers": 8, "cache_entries": 64});
        scenario["workload"]["translation"] =
            serde_json::json!({"page": "4K", "order": order, "footprint_bytes": 1 << 20});
        scenario["workload"]["driver"] = "svm".into();
        scenario
    }

    #[test]
    fn an_axi_port_is_in_front_of_a_cache() {
        let without = with(&["workload", "port"], "axi".into());
        let says = "workload.port: expected lines for workload.driver request-agent";
        assert!(without.contains(says), "{without}");
        let mut scenario: serde_json::Value = serde_json::from_str(SCENARIO).unwrap();
        scenario["workload"]["port"] = "axi".into();
        for driver in ["cached", "cached-hit"] {
            scenario["workload"]["driver"] = driver.into();
            let parsed = CcixScenario::parse(&scenario.to_string()).unwrap();
            assert_eq!(parsed.workload.port, CcixPort::Axi);
        }
    }

    #[test]
    fn with_virtual_addresses_each_transfer_begins_at_another_page() {
        let scenario = CcixScenario::parse(&translated("random").to_string()).unwrap();
        let visits = Visits::new(&scenario);
        let mut first: Vec<u64> = (0..256).map(|transfer| visits.first_line(transfer)).collect();
        assert_eq!(visits.first_line(256), first[0]);
        assert_ne!(first[1], first[0] + 64);
        first.sort_unstable();
        assert_eq!(first, (0..256).map(|page| page * 64).collect::<Vec<_>>());
        assert_eq!(scenario.workload.translation.unwrap().name(), "4K-random-1M");
        let mut large = translated("sequential");
        large["workload"]["bytes"] = 4_097.into();
        let visits = Visits::new(&CcixScenario::parse(&large.to_string()).unwrap());
        assert_eq!([0, 1, 127, 128].map(|one| visits.first_line(one)), [0, 128, 127 * 128, 0]);
    }

    #[test]
    fn translation_that_cannot_be_is_refused_by_its_key() {
        let refused = |path: &str, value: serde_json::Value| {
            let mut scenario = translated("random");
            *scenario.pointer_mut(path).unwrap() = value;
            CcixScenario::parse(&scenario.to_string()).unwrap_err().to_string()
        };
        let pages = refused("/workload/translation/footprint_bytes", (1_u64 << 34).into());
        assert!(pages.contains("footprint_bytes: 17179869184 bytes are 4194304 pages"), "{pages}");
        let part = refused("/workload/translation/footprint_bytes", 200_000.into());
        assert!(part.contains("footprint_bytes: 200000 is no multiple of 4096"), "{part}");
        let page = refused("/workload/translation/page", "8K".into());
        assert!(page.contains("unknown variant `8K`"), "{page}");
        let iommu = refused("/platform/iommu", serde_json::Value::Null);
        assert!(iommu.contains("platform.iommu: missing, for workload.driver svm"), "{iommu}");
        let none = refused("/workload/translation", serde_json::Value::Null);
        assert!(none.contains("workload.translation: missing, for workload.driver svm"), "{none}");
        let agent = refused("/workload/driver", "request-agent".into());
        let says = "workload.translation: expected none for workload.driver request-agent";
        assert!(agent.contains(says), "{agent}");
    }

    fn refused(scenario: &serde_json::Value) -> String {
        CcixScenario::parse(&scenario.to_string()).unwrap_err().to_string()
    }

    #[test]
    fn both_sides_store_to_half_of_each_line() {
        let mut scenario: serde_json::Value = serde_json::from_str(SCENARIO).unwrap();
        scenario["workload"] = serde_json::json!({
            "operation": "device-write", "bytes": 32, "iterations": 10, "window": 4,
            "driver": "contended", "contention": {"lines": 64, "host_window": 16},
        });
        let parsed = CcixScenario::parse(&scenario.to_string()).unwrap();
        assert!(parsed.is_cached() && !parsed.stores_at_home());
        for (key, value, says) in [
            ("bytes", 33.into(), "workload.bytes: 33 bytes: at most half of a line"),
            ("warmup", 1.into(), "workload.warmup: expected 0"),
            ("operation", "device-read".into(), "workload.operation: expected device-write"),
            ("contention", serde_json::Value::Null, "workload.contention: missing,"),
            (
                "driver",
                "cached".into(),
                "workload.contention: expected none for workload.driver cached",
            ),
        ] {
            let mut scenario = scenario.clone();
            scenario["workload"][key] = value;
            let found = refused(&scenario);
            assert!(found.contains(says), "{found}");
        }
        scenario["workload"]["contention"]["host_window"] = 17.into();
        assert!(refused(&scenario).contains("host_window: 17 is outside 1 to 16"));
    }

    #[test]
    fn transactions_that_cannot_be_are_refused() {
        let step = |record: u32| serde_json::json!({"record": record, "update": true});
        let mut scenario: serde_json::Value = serde_json::from_str(SCENARIO).unwrap();
        scenario["workload"] = serde_json::json!({
            "operation": "update", "bytes": 8, "iterations": 1, "window": 2, "driver": "locks",
            "locks": {
                "trace": "one", "mode": "shared", "rows": 9, "requesters": 2,
                "transactions": [{"fpga": true, "steps": [step(3), step(8)]}],
            },
        });
        assert!(CcixScenario::parse(&scenario.to_string()).unwrap().is_cached());
        for (steps, says) in [
            (vec![], "[0] has 0 steps: 1 to 4"),
            ((0..5).map(step).collect(), "[0] has 5 steps: 1 to 4"),
            (vec![step(9)], "[0]: record 9 is twice in it, or outside"),
            (vec![step(2), step(2)], "[0]: record 2 is twice in it, or outside"),
        ] {
            let mut scenario = scenario.clone();
            scenario["workload"]["locks"]["transactions"][0]["steps"] = steps.into();
            let found = refused(&scenario);
            assert!(found.contains(says), "{found}");
        }
        scenario["workload"]["iterations"] = 2.into();
        assert!(refused(&scenario).contains("1: expected workload.iterations"));
        scenario["workload"]["locks"] = serde_json::Value::Null;
        assert!(refused(&scenario).contains("workload.locks: missing, for workload.driver locks"));
        scenario["workload"]["operation"] = "put".into();
        assert!(refused(&scenario).contains("workload.operation: ccix does not carry put"));
    }

    #[test]
    fn what_cannot_be_is_refused_by_its_key() {
        let put = with(&["workload", "operation"], "put".into());
        assert!(put.contains("workload.operation: ccix does not carry put"), "{put}");
        let window = with(&["workload", "window"], 129.into());
        assert!(
            window.contains("workload.window: 129 transfers of 150 bytes: at most 128"),
            "{window}"
        );
        let bytes = with(&["workload", "bytes"], 0.into());
        assert!(bytes.contains("workload.bytes: 0 is outside 1 to 65536"), "{bytes}");
        assert!(with(&["workload", "size"], 1.into()).contains("unknown field"));
        let dma = with(&["workload", "driver"], "pcie-dma".into());
        assert!(dma.contains("platform.pcie: missing, for workload.driver pcie-dma"), "{dma}");
        let lanes = with(&["platform", "transport", "lanes"], 32.into());
        assert!(lanes.contains("platform.transport.lanes: 32 is outside 1 to 16"), "{lanes}");
    }
}
