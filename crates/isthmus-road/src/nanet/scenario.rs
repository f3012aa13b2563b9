// SPDX-License-Identifier: Apache-2.0
//! The scenario of UDP into registered memory, as a JSON document. Unknown keys are errors; units are part of names.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use isthmus_host::nic::{MAX_POSTS, PLACE_BYTES, PageSize};

use isthmus_trigger::merge::{Format, LINKS, MERGED_EVENTS};

use crate::arrivals::Arrivals;
use crate::error::RoadError;
use crate::gpu::DataMemory;
use crate::noise::NoiseHistogram;
use crate::operation::Operation;
use crate::platform::{DmaMemory, Firmware, GigePhy, PcieGpu, PcieHost, PcieLink, PciePort};
use crate::scenario::{Limits, Profile, sixteen, yes};

/// The road's name.
pub(super) const NAME: &str = "nanet";

/// Largest UDP payload: that of an Ethernet frame of 1518 bytes.
pub const MAX_BYTES: usize = 1472;
const GIGABIT_MBIT_S: f64 = 1_000.0;
const TEN_GIGABIT_MBIT_S: f64 = 10_000.0;
/// Ports of an interface at 1 and at 10 Gbit/s.
pub(super) const MAX_GIGABIT: usize = 4;
pub(super) const MAX_TEN_GIGABIT: usize = 2;
/// Minimum number of warm-up datagrams of a closed loop.
const CLOSED_WARM_UP: u64 = 8;
const OPEN_WARM_UP: u64 = 32;

/// One run.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NanetScenario {
    /// Always `nanet`.
    pub road: String,
    /// Profile: as published, or ours.
    pub profile: Profile,
    /// Constants of everything that is not gateware.
    pub platform: NanetPlatform,
    /// The network interface.
    pub interface: NanetInterface,
    /// What to measure.
    pub workload: NanetWorkload,
    /// Seed of the data, of arrivals and of all faults.
    pub seed: u64,
    /// Limits of the run.
    #[serde(default)]
    pub limits: Limits,
    /// Waveform of the interface to write; needs a model built for it.
    #[serde(default)]
    pub waveform: Option<PathBuf>,
    /// Injected faults.
    #[serde(default)]
    pub faults: NanetFaults,
    /// Operating-system noise of the programs that take datagrams, and of those that send messages to another host:
    /// how late one runs that has waited.
    #[serde(default)]
    pub noise: Option<NoiseHistogram>,
    /// The path of `platform.commodity` instead of the interface.
    #[serde(default)]
    pub commodity: bool,
    /// A trigger instead of a stream of datagrams.
    #[serde(default)]
    pub chain: Option<NanetChain>,
    /// Whether to skip the evaluation of an idle interface; results are the same either way.
    #[serde(default = "yes")]
    pub skip_idle: bool,
}

/// How the program waits for an event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NanetDriver {
    /// It polls the next entry of the event queue.
    #[default]
    Poll,
    /// It sleeps until an interrupt.
    Interrupt,
}

/// What happens to datagrams while no buffer of their list is free.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NanetPolicy {
    /// The new datagram is dropped.
    #[default]
    Newest,
    /// The oldest filled buffer is overwritten.
    Oldest,
    /// Datagrams wait in the port's queue.
    Hold,
}

/// Constants of everything outside the interface.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NanetPlatform {
    /// Name of the platform.
    pub name: String,
    /// The cable of each port, from a source that sends at line rate.
    pub cable: NanetLink,
    /// The PHY of each port.
    pub phy: GigePhy,
    /// The link to the host.
    pub link: PcieLink,
    /// PCIe root port of the host.
    pub root: PciePort,
    /// PCIe hard block of the interface.
    pub endpoint: PciePort,
    /// Host memory as the interface's DMA sees it.
    pub memory: DmaMemory,
    /// Costs of the processor's accesses.
    pub host: PcieHost,
    /// A GPU beside the interface.
    #[serde(default)]
    pub gpu: Option<PcieGpu>,
    /// The path without the interface.
    #[serde(default)]
    pub commodity: Option<NanetCommodity>,
}

/// The cable of each port.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NanetLink {
    /// Line rate: 1000, or 10000 of an interface with XGMII.
    #[schemars(range(min = 1_000.0, max = 10_000.0))]
    pub rate_mbit_s: f64,
    /// Length of one cable.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub length_m: f64,
    /// Propagation delay.
    #[schemars(range(min = 3.0, max = 10.0))]
    pub delay_ns_per_m: f64,
}

/// A network card, the kernel, a program, a GPU: percentiles of a datagram's way to the program, and constants.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NanetCommodity {
    /// Minimum.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub min_us: f64,
    /// 25 %.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub p25_us: f64,
    /// Median.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub p50_us: f64,
    /// 75 %.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub p75_us: f64,
    /// 90 %.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub p90_us: f64,
    /// 95 %.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub p95_us: f64,
    /// 99 %.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub p99_us: f64,
    /// 99.5 %.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub p99_5_us: f64,
    /// 99.9 %.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub p99_9_us: f64,
    /// 99.99 %.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub p99_99_us: f64,
    /// Maximum.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub max_us: f64,
    /// Both copies between program and GPU.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub copies_us: f64,
    /// On the GPU.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub processing_us: f64,
}

/// A network interface: `nanet_nic`, or `nanet_nic_10g` where the cable has 10 Gbit/s.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NanetInterface {
    /// Shared object of the model.
    pub model_path: PathBuf,
    /// Clock of everything behind the MAC.
    #[schemars(range(min = 50.0, max = 1_000.0))]
    pub clock_mhz: f64,
    /// Length of the reset in clocks.
    #[serde(default = "sixteen")]
    pub reset_cycles: u32,
    /// Number of ports.
    #[schemars(range(min = 1, max = 4))]
    pub ports: usize,
    /// Page size of the buffers, for a model with address translation: 4096, 65536 or 2097152; 0: none.
    #[serde(default)]
    #[schemars(range(min = 0, max = 2_097_152))]
    pub page_bytes: usize,
    /// Soft processor that finds the buffer of each datagram, if the model has one.
    #[serde(default)]
    pub firmware: Option<Firmware>,
}

/// What to measure.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NanetWorkload {
    /// `nic-to-memory`; `message`: a program sends, by port 0 of an interface that was built for it, and
    /// `window` counts datagrams that have not reached the other end of the cable.
    pub operation: Operation,
    /// With `message`: it goes to the program of another host, by an interface of its own, and `window` counts
    /// datagrams that this program has not taken.
    #[serde(default)]
    pub remote: bool,
    /// UDP payload in bytes.
    #[schemars(range(min = 4, max = 1472))]
    pub bytes: usize,
    /// Number of measured datagrams per port.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub iterations: u64,
    /// Datagrams in flight per port, closed loop.
    #[serde(default)]
    #[schemars(range(min = 1, max = 4096))]
    pub window: Option<u32>,
    /// Datagrams per second and port, Poisson arrivals.
    #[serde(default)]
    pub rate_per_s: Option<f64>,
    /// Buffers per list: a power of two.
    #[serde(default = "sixty_four")]
    #[schemars(range(min = 1, max = 64))]
    pub buffers: usize,
    /// Datagrams per buffer.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 255))]
    pub datagrams: u8,
    /// Maximum time from a buffer's first datagram to its event; 0: no limit.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub flush_us: f64,
    /// Time that the program works on each event before it gives the buffer back.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub work_ns: f64,
    /// Where the buffers are, or with `staged` where the program copies each to. A sample ends when the data is there
    /// and the program has its event.
    #[serde(default)]
    pub memory: DataMemory,
    /// How the program waits for events.
    #[serde(default)]
    pub driver: NanetDriver,
    /// What happens to datagrams while no buffer of their list is free.
    #[serde(default)]
    pub policy: NanetPolicy,
    /// Whether losses are allowed; they are counted where they happen.
    #[serde(default)]
    pub may_lose: bool,
}

/// A trigger on rings: detector events in, an answer to each out by the result pins. `workload` says how many groups
/// count, and has the buffers.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NanetChain {
    /// Sample of the events.
    pub sample: String,
    /// What a fragment holds: `packed` or `tel62`.
    pub format: String,
    /// Events of a group: what a link sends in one datagram.
    #[schemars(range(min = 1, max = 255))]
    pub events: usize,
    /// Of them, those that a core takes: a group is shared among as many cores as it has such parts. Absent: one core
    /// takes all.
    #[serde(default)]
    #[schemars(range(min = 1, max = 255))]
    pub share: Option<usize>,
    /// Mean events a second; they come at random.
    #[schemars(range(min = 1_000.0, max = 100_000_000.0))]
    pub rate_per_s: f64,
    /// Finder of the rings: `isthmus` or `almagest`.
    pub finder: String,
    /// Cores that find rings; one more takes the events of the interface and merges.
    #[schemars(range(min = 1, max = 256))]
    pub cores: usize,
    /// From an event to the output of its answer. What is later counts as late.
    #[schemars(range(min = 0.0, max = 10_000.0))]
    pub release_us: f64,
    /// The interface's own release changes the trigger lines; they are compared. Needs a model built for it, and
    /// `release_us` of 1 to 100.
    #[serde(default)]
    pub release: bool,
    /// Measured times of the program's steps.
    pub times: NanetTimes,
    /// The interface searches for candidates; the cores fit them. Needs a model built for it.
    #[serde(default)]
    pub search: Option<NanetSearch>,
    /// The interface merges the boards' fragments into records; the program reads these. Needs a model built for it,
    /// and the format `tel62`.
    #[serde(default)]
    pub merge: bool,
}

impl NanetChain {
    /// Events that a core takes.
    pub(super) fn share(&self) -> usize {
        self.share.unwrap_or(self.events)
    }
}

/// The interface's search for rings.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NanetSearch {
    /// Its clock.
    #[schemars(range(min = 50.0, max = 1_000.0))]
    pub clock_mhz: f64,
}

/// Distributions: the highest time of a bucket in ns, and samples in it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NanetTimes {
    /// The machine that they were measured on, for the result.
    pub machine: String,
    /// Taking a datagram apart and joining it with those of the other links.
    pub merge: Vec<(u64, u64)>,
    /// A group from core to core, or all its shares.
    pub handover: Vec<(u64, u64)>,
    /// Finding the rings of a core's events; with `search` fitting their candidates.
    pub find: Vec<(u64, u64)>,
    /// Whether they have in them what else the machine did meanwhile: operating system, other programs.
    #[serde(default = "yes")]
    pub noise: bool,
}

/// Injected faults.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NanetFaults {
    /// One datagram in this many has a wrong UDP checksum; 0: none.
    pub bad_checksum_every: u64,
    /// One datagram in this many has a wrong frame check sequence; 0: none.
    pub bad_fcs_every: u64,
    /// Of a chain that merges: the second board's datagram of one group in this many is lost on the wire; 0: none.
    pub lost_every: u64,
}

const fn one() -> u8 {
    1
}

const fn sixty_four() -> usize {
    64
}

impl NanetScenario {
    /// Reads a scenario and checks it.
    ///
    /// # Errors
    /// When a key is unknown, missing or outside its range.
    pub fn parse(json: &str) -> Result<Self, RoadError> {
        crate::scenario::checked(json, Self::check)
    }

    fn check(&self) -> Result<(), RoadError> {
        let workload = &self.workload;
        let carried = [Operation::NicToMemory, Operation::Message];
        workload.operation.check("workload.operation", "nanet", &carried)?;
        if self.sends() {
            self.check_send()?;
        } else if workload.remote {
            let reason = "only a message goes to another host";
            return Err(RoadError::scenario("workload.remote", reason));
        }
        if !workload.buffers.is_power_of_two() {
            let reason = format!("{}: expected a power of two, 1 to 64", workload.buffers);
            return Err(RoadError::scenario("workload.buffers", reason));
        }
        let window = u64::from(self.arrivals()?.window().unwrap_or(1));
        let room = workload.buffers as u64 * u64::from(workload.datagrams);
        if window > room {
            let reason = format!("{window}: the buffers hold {room} datagrams");
            return Err(RoadError::scenario("workload.window", reason));
        }
        if self.arrivals()?.window().is_some_and(|window| window < u32::from(workload.datagrams))
            && workload.flush_us == 0.0
        {
            let reason = "fewer datagrams than fill a buffer: expected flush_us above 0";
            return Err(RoadError::scenario("workload.window", reason));
        }
        if self.page().is_none() && self.interface.page_bytes != 0 {
            let reason =
                format!("{}: expected 0, 4096, 65536 or 2097152", self.interface.page_bytes);
            return Err(RoadError::scenario("interface.page_bytes", reason));
        }
        let rate = self.platform.cable.rate_mbit_s;
        if rate != GIGABIT_MBIT_S && rate != TEN_GIGABIT_MBIT_S {
            let reason = format!("{rate}: expected {GIGABIT_MBIT_S} or {TEN_GIGABIT_MBIT_S}");
            return Err(RoadError::scenario("platform.cable.rate_mbit_s", reason));
        }
        if self.ten_gigabit() && self.interface.ports > MAX_TEN_GIGABIT {
            let reason = format!("{}: at 10 Gbit/s 1 or 2", self.interface.ports);
            return Err(RoadError::scenario("interface.ports", reason));
        }
        self.check_memory()?;
        self.check_noise()?;
        if let Some(chain) = &self.chain {
            self.check_chain(chain)?;
        }
        if let Some(commodity) = &self.platform.commodity {
            commodity.check()?;
        } else if self.commodity {
            let reason = "this platform has no such path: expected platform.commodity";
            return Err(RoadError::scenario("commodity", reason));
        }
        self.interface.firmware.map_or(Ok(()), |firmware| firmware.check("interface"))
    }

    /// Where the buffers are.
    fn check_memory(&self) -> Result<(), RoadError> {
        let (platform, memory) = (&self.platform, self.workload.memory);
        platform.gpu.map_or(Ok(()), |gpu| gpu.check(&platform.link))?;
        let reason = if memory == DataMemory::Host {
            return Ok(());
        } else if platform.gpu.is_none() {
            "this platform has no GPU: expected platform.gpu"
        } else if self.sends() {
            "a program sends from its host's memory"
        } else if self.chain.is_some() || self.commodity {
            "expected host with chain or commodity"
        } else {
            return Ok(());
        };
        let reason = format!("{}: {reason}", memory.name());
        Err(RoadError::scenario("workload.memory", reason))
    }

    fn check_noise(&self) -> Result<(), RoadError> {
        let Some(noise) = &self.noise else { return Ok(()) };
        let reason = if self.sends() && !self.workload.remote {
            "a program that sends to the cable's end is measured without"
        } else if self.chain.is_some() || self.commodity {
            "not with chain or commodity, which have their own times"
        } else {
            return noise.check();
        };
        Err(RoadError::scenario("noise", reason))
    }

    fn check_send(&self) -> Result<(), RoadError> {
        let arrivals = self.arrivals()?;
        let reason = if arrivals.window().is_some_and(|window| window > MAX_POSTS) {
            Some(("workload.window", format!("1 to {MAX_POSTS} expected where a program sends")))
        } else if arrivals.rate_per_s().is_some() && !self.workload.remote {
            let reason = "only messages to another host come at a rate: expected a window";
            Some(("workload.rate_per_s", reason.to_owned()))
        } else if self.interface.ports != 1 {
            Some(("interface.ports", "a program sends by one port".to_owned()))
        } else if self.chain.is_some() || self.commodity {
            Some(("workload.operation", "message: not with chain or commodity".to_owned()))
        } else {
            None
        };
        reason.map_or(Ok(()), |(key, reason)| Err(RoadError::scenario(key, reason)))
    }

    fn check_chain(&self, chain: &NanetChain) -> Result<(), RoadError> {
        let ports = self.interface.ports;
        // With a search the events' candidates are a datagram of their own behind them.
        let datagrams = if chain.search.is_some() { 2 } else { 1 };
        let whole = chain.format == Format::Packed.name() && chain.search.is_none();
        let reason = if ports != LINKS && !whole {
            let reason =
                format!("{ports}: without whole events, and to search, a chain has {LINKS} links");
            Some(("interface.ports", reason))
        } else if self.workload.datagrams != datagrams || self.workload.bytes != MAX_BYTES {
            let reason = format!(
                "a chain's buffer holds {datagrams} of {MAX_BYTES} bytes: the events' datagram, and with \
                 chain.search that of their candidates"
            );
            Some(("workload.datagrams", reason))
        } else if chain.search.is_some() && chain.format != Format::Packed.name() {
            let reason = format!("{}: a search needs whole events, packed ones", chain.format);
            Some(("chain.format", reason))
        } else if chain.search.is_some() && chain.finder != "isthmus" {
            let reason = format!("{}: the candidates are those of isthmus", chain.finder);
            Some(("chain.finder", reason))
        } else if chain.search.is_some() && self.workload.policy != NanetPolicy::Hold {
            let reason = "expected hold: else a datagram could be dropped without its candidates";
            Some(("workload.policy", reason.to_owned()))
        } else if chain.merge && (chain.format != Format::Tel62.name() || chain.search.is_some()) {
            let reason = format!("{}: merging needs tel62, without a search", chain.format);
            Some(("chain.merge", reason))
        } else if self.faults.lost_every > 0 && !chain.merge {
            let reason = "a lost datagram needs an interface that merges".to_owned();
            Some(("faults.lost_every", reason))
        } else if chain.merge && chain.events > MERGED_EVENTS {
            let reason =
                format!("{}: the interface merges {MERGED_EVENTS} into a datagram", chain.events);
            Some(("chain.events", reason))
        } else if let Some(share) = chain.share.filter(|share| {
            // A share without events would never end.
            !chain.events.is_multiple_of((*share).max(1)) || *share == 0
        }) {
            Some((
                "chain.share",
                format!("{share}: a group of {} has no equal parts of it", chain.events),
            ))
        } else if chain.release && !(1.0..=100.0).contains(&chain.release_us) {
            let reason = format!("{}: the interface releases after 1 to 100 us", chain.release_us);
            Some(("chain.release_us", reason))
        } else if self.workload.work_ns != 0.0 {
            let reason = format!("{}: a chain has chain.times instead", self.workload.work_ns);
            Some(("workload.work_ns", reason))
        } else {
            let times = &chain.times;
            [("merge", &times.merge), ("handover", &times.handover), ("find", &times.find)]
                .into_iter()
                .find(|(_, of)| of.iter().all(|one| one.1 == 0))
                .map(|(name, _)| ("chain.times", format!("{name}: no samples")))
        };
        reason.map_or(Ok(()), |(key, reason)| Err(RoadError::scenario(key, reason)))
    }

    /// Whether a program sends.
    pub(super) fn sends(&self) -> bool {
        self.workload.operation == Operation::Message
    }

    pub(super) fn arrivals(&self) -> Result<Arrivals, RoadError> {
        Arrivals::of("workload", self.workload.window, self.workload.rate_per_s)
    }

    /// Datagrams per port before and after the measured ones.
    pub(super) fn excluded(&self) -> Result<(u64, u64), RoadError> {
        Ok(match self.arrivals()? {
            Arrivals::Window(window) => {
                (CLOSED_WARM_UP.max(2 * u64::from(window)), u64::from(window))
            }
            Arrivals::Rate(_) => (OPEN_WARM_UP.max(self.workload.iterations / 10), OPEN_WARM_UP),
        })
    }

    /// Whether the ports have XGMII.
    pub(super) fn ten_gigabit(&self) -> bool {
        self.platform.cable.rate_mbit_s > GIGABIT_MBIT_S
    }

    /// Bytes of a buffer: each datagram begins at a multiple of [`PLACE_BYTES`].
    pub(super) fn buffer_bytes(&self) -> usize {
        // A datagram of candidates is larger than that of their events, but not twice as large.
        let searches = self.chain.as_ref().is_some_and(|chain| chain.search.is_some());
        self.place_bytes() * (usize::from(self.workload.datagrams) + usize::from(searches))
    }

    /// Distance of two datagrams in a buffer, in bytes.
    pub(super) fn place_bytes(&self) -> usize {
        self.workload.bytes.next_multiple_of(PLACE_BYTES)
    }

    /// The pages that the buffers are in.
    pub(super) fn page(&self) -> Option<PageSize> {
        [PageSize::K4, PageSize::K64, PageSize::M2]
            .into_iter()
            .find(|size| size.bytes() == self.interface.page_bytes)
    }

    /// Clocks of the interface.
    pub(super) fn cycles(&self, us: f64) -> u64 {
        (us * self.interface.clock_mhz).round() as u64
    }

    /// The driver's name in results.
    pub(super) fn driver(&self) -> &'static str {
        match self.workload.driver {
            NanetDriver::Poll => "poll",
            NanetDriver::Interrupt => "interrupt",
        }
    }
}
