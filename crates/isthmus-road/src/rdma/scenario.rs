// SPDX-License-Identifier: Apache-2.0
//! The RDMA road's scenario: one program on hosts with a network interface each, as a JSON document.
//!
//! `docs/reference/rdma-scenario.md` explains every key. Unknown keys are errors; units are part of names.

use std::borrow::Cow;
use std::path::PathBuf;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error as _, IntoDeserializer};
use serde::{Deserialize, Deserializer};

use isthmus_host::rdma::{CONTROL_BYTES, MAX_INLINE, MAX_TRANSFER};
use isthmus_sim::Picoseconds;
use isthmus_sim::world::link::LineFaults;
use isthmus_sim::world::pcix::PcixConfig;

use super::sort::SortConfig;
use crate::arrivals::Arrivals;
use crate::error::RoadError;
use crate::noise::NoiseHistogram;
use crate::operation::Operation;
use crate::platform::{DmaMemory, PcieHost, PcieLink, PciePort};
use crate::scenario::{Limits, Profile, sixteen, two, within, yes};

/// How much of two link cycles stays free between a beat's write and its read.
const MARGIN: f64 = 1.1;

/// One run.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RdmaScenario {
    /// Always `rdma`.
    pub road: String,
    /// Which of the system's two designs this is.
    pub profile: Profile,
    /// The constants of everything that is not gateware.
    pub platform: RdmaPlatform,
    /// Each host's network interface.
    pub interface: RdmaInterface,
    /// The switch of each link.
    pub switch: RdmaSwitch,
    /// What to measure.
    pub workload: RdmaWorkload,
    /// Seed of the data and of all faults.
    pub seed: u64,
    /// Bounds of the run.
    #[serde(default)]
    pub limits: Limits,
    /// A waveform of host 0's interface.
    #[serde(default)]
    pub waveform: Option<PathBuf>,
    /// What goes wrong.
    #[serde(default)]
    pub faults: RdmaFaults,
    /// Operating-system noise of every host.
    #[serde(default)]
    pub noise: Option<NoiseHistogram>,
}

/// The constants of everything outside interfaces and switches.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RdmaPlatform {
    /// Its name.
    pub name: String,
    /// The word clock of links and switches.
    #[schemars(range(min = 1.0, max = 1_000.0))]
    pub link_mhz: f64,
    /// Both transceivers of a hop.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub serdes_ns: f64,
    /// The cable of a hop.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub cable_ns: f64,
    /// Between each host and its interface.
    pub bus: RdmaBus,
    /// What a processor pays.
    pub host: PcieHost,
}

/// A host's bus.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RdmaBus {
    /// PCI-X.
    Pcix(Box<PcixConfig>),
    /// PCI Express.
    Pcie(Box<RdmaPcie>),
}

/// PCI Express, with its hard block at the interface's pins.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RdmaPcie {
    /// The link.
    pub link: PcieLink,
    /// The host's port.
    pub root: PciePort,
    /// The interface's hard block.
    pub endpoint: PciePort,
    /// Host memory as the interface's DMA sees it.
    pub memory: DmaMemory,
}

/// A network interface: `rdma_ni`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RdmaInterface {
    /// The shared object of its model.
    pub model_path: PathBuf,
    /// Its host's side.
    #[schemars(range(min = 1.0, max = 1_000.0))]
    pub clock_mhz: f64,
    /// Clocks that a reset lasts.
    #[serde(default = "sixteen")]
    pub reset_cycles: u32,
    /// Its links.
    #[schemars(range(min = 1, max = LINKS))]
    pub links: usize,
    /// Hosts that it can address.
    #[schemars(range(min = 2, max = HOSTS))]
    pub hosts: usize,
    /// Timeout for an acknowledgement.
    #[schemars(range(min = 1.0, max = 1_000_000.0))]
    pub probe_us: f64,
    /// Timeout for a packet that was overtaken.
    #[schemars(range(min = 1.0, max = 1_000_000.0))]
    pub lost_us: f64,
}

/// A switch: `link_switch`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RdmaSwitch {
    /// The shared object of its model.
    pub model_path: PathBuf,
    /// Its ports.
    #[schemars(range(min = 2, max = 16))]
    pub ports: usize,
    /// Packets must name the host of the port that they came in at; others are poisoned and counted.
    #[serde(default)]
    pub bind_sources: bool,
    /// Clocks that a reset lasts.
    #[serde(default = "sixteen")]
    pub reset_cycles: u32,
}

/// What the programs do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RdmaTest {
    /// Writes there and back.
    WriteLat,
    /// Writes one after the other.
    WriteBw,
    /// Messages there and back.
    SendLat,
    /// Messages one after the other.
    SendBw,
    /// The document's own program: writes, by the way of its three versions.
    OneWay,
    /// Everybody to everybody, and an account of every transfer.
    Soak,
    /// Every host gives every other a block, behind a barrier.
    Exchange,
    /// A sort over all hosts.
    Sort,
    /// Transfers that the workload lists.
    Trace,
    /// Writes into the remote host's memory, in a closed loop or at a rate.
    Put,
    /// Messages to the remote program, in a closed loop or at a rate.
    Message,
    /// The interface's reads of its host's memory, one at a time.
    DeviceRead,
    /// The interface's writes to its host's memory, one at a time.
    DeviceWrite,
}

/// How a transfer of a trace is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TransferKind {
    /// By a descriptor.
    Write,
    /// With its data.
    Inline,
    /// Into the far host's queue.
    Message,
}

/// A transfer of a trace: nanosecond from the programs' begin, from whom, to whom, how, bytes.
pub type TraceLine = (u64, usize, usize, TransferKind, usize);

impl<'de> Deserialize<'de> for RdmaTest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        if let Some(test) = Self::ALL.into_iter().find(|test| test.name() == name) {
            return Ok(test);
        }
        let operation: Result<Operation, D::Error> =
            Operation::deserialize(name.as_str().into_deserializer());
        let carried: Vec<Operation> = Self::ALL.into_iter().filter_map(Self::operation).collect();
        if let Ok(operation) = operation
            && let Err(RoadError::Scenario { reason, .. }) = operation.check("", "rdma", &carried)
        {
            return Err(D::Error::custom(reason));
        }
        let names: Vec<&str> = Self::ALL.iter().map(|test| test.name()).collect();
        Err(D::Error::custom(format!(
            "unknown test `{name}`: expected one of {}",
            names.join(", ")
        )))
    }
}

impl JsonSchema for RdmaTest {
    fn schema_name() -> Cow<'static, str> {
        "RdmaTest".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names = Self::ALL.map(Self::name);
        json_schema!({"description": "What the programs do.", "type": "string", "enum": names})
    }
}

impl RdmaTest {
    /// All of them.
    const ALL: [Self; 13] = [
        Self::WriteLat,
        Self::WriteBw,
        Self::SendLat,
        Self::SendBw,
        Self::OneWay,
        Self::Soak,
        Self::Exchange,
        Self::Sort,
        Self::Trace,
        Self::Put,
        Self::Message,
        Self::DeviceRead,
        Self::DeviceWrite,
    ];

    /// Its name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::WriteLat => "write-lat",
            Self::WriteBw => "write-bw",
            Self::SendLat => "send-lat",
            Self::SendBw => "send-bw",
            Self::OneWay => "one-way",
            Self::Soak => "soak",
            Self::Exchange => "exchange",
            Self::Sort => "sort",
            Self::Trace => "trace",
            Self::Put => "put",
            Self::Message => "message",
            Self::DeviceRead => "device-read",
            Self::DeviceWrite => "device-write",
        }
    }

    /// The operation that it carries, where it is one and not a program.
    #[must_use]
    pub const fn operation(self) -> Option<Operation> {
        match self {
            Self::Put => Some(Operation::Put),
            Self::Message => Some(Operation::Message),
            Self::DeviceRead => Some(Operation::DeviceRead),
            Self::DeviceWrite => Some(Operation::DeviceWrite),
            _ => None,
        }
    }

    /// Whether the interface starts it.
    #[must_use]
    pub const fn is_devices(self) -> bool {
        matches!(self, Self::DeviceRead | Self::DeviceWrite)
    }

    /// Whether an account of every transfer is kept, each with a place of its own in memory.
    #[must_use]
    pub const fn is_accounted(self) -> bool {
        matches!(self, Self::Soak | Self::Trace)
    }

    /// Whether it sends messages.
    #[must_use]
    pub const fn is_send(self) -> bool {
        matches!(self, Self::SendLat | Self::SendBw | Self::Message)
    }

    /// Whether all hosts take part, not pairs.
    #[must_use]
    pub const fn is_for_all(self) -> bool {
        matches!(self, Self::Soak | Self::Exchange | Self::Sort | Self::Trace)
    }

    /// Whether it goes there and back.
    #[must_use]
    pub const fn is_latency(self) -> bool {
        matches!(self, Self::WriteLat | Self::SendLat)
    }
}

/// When room for descriptors is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PostingName {
    /// A batch after the other.
    V1,
    /// Before each.
    #[default]
    V2,
    /// Before every so manieth.
    V3(u16),
}

/// What to measure.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RdmaWorkload {
    /// Which program.
    pub test: RdmaTest,
    /// Hosts that take part.
    #[serde(default = "two")]
    #[schemars(range(min = 2, max = HOSTS))]
    pub hosts: usize,
    /// Bytes of a transfer.
    #[schemars(range(min = 8, max = WRITE_BYTES))]
    #[schemars(extend(
        "x-message-bytes" = MESSAGE_BYTES, "x-descriptor-bytes" = MAX_TRANSFER,
        "x-packet-bytes" = PACKET, "x-block-bytes" = BLOCK_BYTES, "x-batch-descriptors" = BATCH
    ))]
    pub size_bytes: usize,
    /// Transfers of each sender that are measured.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub iterations: u64,
    /// Transfers before that. Of an operation there are at least as many as fill the road.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub warmup: u64,
    /// Operations: transfers in flight, in a closed loop.
    #[serde(default)]
    #[schemars(range(min = 1, max = 4096))]
    #[schemars(extend("x-descriptors-in-flight" = IN_FLIGHT))]
    pub window: Option<u32>,
    /// Operations: transfers a second of each sender, as a Poisson process.
    #[serde(default)]
    #[schemars(range(min = 1.0, max = 1e9))]
    pub rate_per_s: Option<f64>,
    /// When room is looked for.
    #[serde(default)]
    pub posting: PostingName,
    /// Descriptors and messages go through a write-combining mapping.
    #[serde(default = "yes")]
    pub combined: bool,
    /// `send-lat`: messages go to a queue without frame words; their last word says that they came.
    #[serde(default)]
    pub packed: bool,
    /// Writes of at most so many bytes bring their data with them.
    #[serde(default)]
    #[schemars(range(min = 0, max = MAX_INLINE))]
    pub inline_bytes: usize,
    /// Bandwidth tests: in both directions.
    #[serde(default)]
    pub both_ways: bool,
    /// Bandwidth tests: transfers that are handed over at a time.
    #[serde(default = "one")]
    pub post_list: u64,
    /// The far program is told, and does not look at its memory.
    #[serde(default = "yes")]
    pub notify: bool,
    /// The measurement has each sample.
    #[serde(default)]
    pub keep_samples: bool,
    /// `trace`: its transfers, in any order.
    #[serde(default)]
    pub trace: Vec<TraceLine>,
    /// `sort`: what a comparison of two keys costs.
    #[serde(default = "compare")]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub compare_ns: f64,
    /// `sort`: what a copy of a key costs.
    #[serde(default = "copy")]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub move_ns: f64,
}

/// What goes wrong.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RdmaFaults {
    /// The probability that a bit is wrong.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub bit_error_rate: f64,
    /// The probability that a credit word never comes.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub credit_loss_rate: f64,
    /// The probability that one comes with a wrong bit.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub credit_corrupt_rate: f64,
    /// Links that go down: host, link, clock, clocks.
    pub resets: Vec<(usize, usize, u64, u64)>,
    /// Interfaces that are reset: host, nanosecond, clocks of its bus. Their programs open them anew.
    pub node_resets: Vec<(usize, u64, u32)>,
    /// Programs that take nothing for a while: host, nanosecond, nanoseconds.
    pub stalls: Vec<(usize, u64, u64)>,
    /// The share of transfers that may not be: a wrong key, or a place that it does not open.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub forged_rate: f64,
}

impl RdmaFaults {
    /// Whether anything does.
    #[must_use]
    pub fn any(&self) -> bool {
        self.line() != LineFaults::default()
            || !self.resets.is_empty()
            || !self.node_resets.is_empty()
            || !self.stalls.is_empty()
            || self.forged_rate > 0.0
    }

    /// Whether the hosts and links that they name take part.
    fn check(&self, hosts: usize, links: usize) -> Result<(), RoadError> {
        let named = self.resets.iter().map(|&(host, link, ..)| ("resets", host, link));
        let named =
            named.chain(self.node_resets.iter().map(|&(host, ..)| ("node_resets", host, 0)));
        let named = named.chain(self.stalls.iter().map(|&(host, ..)| ("stalls", host, 0)));
        for (key, host, link) in named {
            for (what, number, count) in [("host", host, hosts), ("link", link, links)] {
                if number >= count {
                    let reason = format!("{what} {number} is outside 0 to {}", count - 1);
                    return Err(RoadError::scenario(format!("faults.{key}"), reason));
                }
            }
        }
        Ok(())
    }

    pub(super) fn line(&self) -> LineFaults {
        LineFaults {
            bit_error_rate: self.bit_error_rate,
            credit_loss_rate: self.credit_loss_rate,
            credit_corrupt_rate: self.credit_corrupt_rate,
        }
    }
}

const fn one() -> u64 {
    1
}

const fn compare() -> f64 {
    5.0
}

const fn copy() -> f64 {
    2.0
}

/// Addressed by three bits of the formats.
const HOSTS: usize = 8;
const LINKS: usize = 4;
/// A slot of a remote queue has 512 bytes, and 8 of them are its frame word.
pub(super) const MESSAGE_BYTES: usize = 504;
const WRITE_BYTES: usize = 1 << 20;
/// What a host gives to each other one in an exchange, and sorts at a time.
const BLOCK_BYTES: usize = 1 << 16;
const SORT_CHUNKS: u64 = 4096;
/// A trace ends within ten seconds.
const TRACE_NS: u64 = 10_000_000_000;
/// Slots of a request queue.
const BATCH: usize = 128;
/// Transfers in flight at most: half of a queue's slots, and packets that a flow may have unacknowledged.
const IN_FLIGHT: usize = 64;
/// Bytes of a packet.
const PACKET: usize = 512;
/// The bus keeps a record of each transaction of an interface's own transfers.
const DEVICE_ITERATIONS: f64 = 1e5;
/// Before a steady window of a closed loop, at least; before and behind one of an open process.
const CLOSED_WARM_UP: u64 = 8;
const OPEN_WARM_UP: u64 = 20;

impl RdmaScenario {
    /// Reads and checks a scenario.
    ///
    /// # Errors
    /// Names the key that is wrong, and says what would be right.
    pub fn parse(json: &str) -> Result<Self, RoadError> {
        crate::scenario::checked(json, Self::check)
    }

    fn check(&self) -> Result<(), RoadError> {
        let Self { platform, interface, switch, workload, .. } = self;
        let most = interface.hosts.min(switch.ports);
        within("workload.hosts", workload.hosts as f64, 2.0, most as f64)?;
        if let RdmaBus::Pcix(bus) = &platform.bus
            && (bus.clock_mhz - interface.clock_mhz).abs() > 1e-9
        {
            let (own, bus) = (interface.clock_mhz, bus.clock_mhz);
            let reason = format!("{own} MHz on a bus of {bus} MHz: they are one clock");
            return Err(RoadError::scenario("interface.clock_mhz", reason));
        }
        // The gateware announces a beat a cycle before it writes it, and a link reads it two of its own later.
        let (own, link) = (interface.clock_mhz, platform.link_mhz);
        if own < MARGIN * link / 2.0 {
            let reason = format!(
                "{own} MHz beside links of {link} MHz: {:.1} or more expected",
                MARGIN * link / 2.0
            );
            return Err(RoadError::scenario("interface.clock_mhz", reason));
        }
        if !workload.hosts.is_multiple_of(2) && !workload.test.is_for_all() {
            let reason = format!("{}: pairs send to each other", workload.hosts);
            return Err(RoadError::scenario("workload.hosts", reason));
        }
        let (size, most) = match workload.test {
            test if test.is_send() => (workload.size_bytes, MESSAGE_BYTES),
            _ => (workload.size_bytes, WRITE_BYTES),
        };
        if !size.is_multiple_of(8) || !(8..=most).contains(&size) {
            let reason = format!("{size}: a multiple of 8 from 8 to {most} expected");
            return Err(RoadError::scenario("workload.size_bytes", reason));
        }
        if workload.posting == PostingName::V1 && size > BATCH * MAX_TRANSFER {
            let most = BATCH * MAX_TRANSFER;
            let reason = format!("{size} in one batch of v1: at most {most} bytes expected");
            return Err(RoadError::scenario("workload.size_bytes", reason));
        }
        let most = match workload.test {
            RdmaTest::Soak | RdmaTest::Trace => MAX_TRANSFER,
            RdmaTest::Exchange | RdmaTest::Sort => BLOCK_BYTES,
            _ => WRITE_BYTES,
        };
        if size > most {
            let reason = format!("{size}: at most {most} in {}", workload.test.name());
            return Err(RoadError::scenario("workload.size_bytes", reason));
        }
        if workload.test == RdmaTest::Sort && workload.iterations > SORT_CHUNKS {
            let reason = format!("{}: at most {SORT_CHUNKS} chunks", workload.iterations);
            return Err(RoadError::scenario("workload.iterations", reason));
        }
        let resets = !self.faults.node_resets.is_empty() || self.faults.forged_rate > 0.0;
        if resets && workload.test != RdmaTest::Soak {
            let reason = "only a soak knows resets and forgeries";
            return Err(RoadError::scenario("faults.node_resets", reason));
        }
        if !self.faults.stalls.is_empty() && !workload.test.is_accounted() {
            let reason = "only a soak and a trace know programs that stop";
            return Err(RoadError::scenario("faults.stalls", reason));
        }
        self.faults.check(workload.hosts, interface.links)?;
        if workload.packed && workload.test != RdmaTest::SendLat {
            let reason = format!("{} knows messages by their frame words", workload.test.name());
            return Err(RoadError::scenario("workload.packed", reason));
        }
        let RdmaWorkload { inline_bytes, test, .. } = workload;
        if *inline_bytes > 0
            && !matches!(test, RdmaTest::WriteLat | RdmaTest::WriteBw | RdmaTest::Put)
        {
            let reason =
                format!("{}: only put, write-lat and write-bw bring data with them", test.name());
            return Err(RoadError::scenario("workload.inline_bytes", reason));
        }
        if workload.test.is_latency() && workload.both_ways {
            let reason = "a latency test goes there and back already";
            return Err(RoadError::scenario("workload.both_ways", reason));
        }
        self.check_trace()?;
        self.check_operation()?;
        self.check_list()
    }

    fn check_operation(&self) -> Result<(), RoadError> {
        let RdmaWorkload { test, window, rate_per_s, both_ways, size_bytes, .. } = &self.workload;
        let Some(operation) = test.operation() else {
            let name = test.name();
            let wrong = |key: &str, what: &str| {
                let reason = format!(
                    "{name} has no {what}: only put, message, device-read and device-write have"
                );
                Err(RoadError::scenario(key, reason))
            };
            return match (window, rate_per_s, &self.noise) {
                (Some(_), ..) => wrong("workload.window", "window"),
                (_, Some(_), _) => wrong("workload.rate_per_s", "rate"),
                (.., Some(_)) => wrong("noise", "operating-system noise"),
                _ => Ok(()),
            };
        };
        if test.is_devices() {
            within("workload.iterations", self.workload.iterations as f64, 1.0, DEVICE_ITERATIONS)?;
        }
        if let Some(noise) = &self.noise {
            noise.check()?;
        }
        let arrivals = self.arrivals()?;
        if *both_ways {
            let reason = format!("{operation} goes from even hosts to odd ones");
            return Err(RoadError::scenario("workload.both_ways", reason));
        }
        if self.faults.any() {
            let reason =
                format!("{operation} needs links without faults: a lost byte ends the run");
            return Err(RoadError::scenario("faults", reason));
        }
        let most = self.most_in_flight();
        if let Some(window) = arrivals.window().filter(|window| *window as usize > most) {
            let reason = format!("{window} of {size_bytes} bytes: 1 to {most} expected");
            return Err(RoadError::scenario("workload.window", reason));
        }
        if !test.is_devices() {
            return Ok(());
        }
        if arrivals != Arrivals::Window(1) {
            let key = if window.is_some() { "window" } else { "rate_per_s" };
            let reason = format!("{operation} goes one by one: a window of 1 expected");
            return Err(RoadError::scenario(format!("workload.{key}"), reason));
        }
        if self.noise.is_some() {
            let reason = format!("no program takes part in {operation}");
            return Err(RoadError::scenario("noise", reason));
        }
        let (most, what) = match test {
            RdmaTest::DeviceWrite => (PACKET, "a packet"),
            _ => (MAX_TRANSFER, "a descriptor"),
        };
        if *size_bytes > most {
            let reason = format!("{size_bytes}: at most {most}, {what}, in {operation}");
            return Err(RoadError::scenario("workload.size_bytes", reason));
        }
        Ok(())
    }

    /// How an operation's transfers come.
    pub(super) fn arrivals(&self) -> Result<Arrivals, RoadError> {
        let RdmaWorkload { window, rate_per_s, .. } = self.workload;
        Arrivals::of("workload", window, rate_per_s)
    }

    /// Transfers of an operation that can be in flight: more would wait for room inside the host library.
    pub(super) fn most_in_flight(&self) -> usize {
        match self.workload.test {
            RdmaTest::Message => IN_FLIGHT,
            _ => (IN_FLIGHT / self.descriptors().max(1)).max(1),
        }
    }

    /// Transfers of an operation before and behind those that count.
    pub(super) fn excluded(&self) -> Result<(u64, u64), RoadError> {
        let (least, tail) = match self.arrivals()? {
            Arrivals::Window(window) => {
                let window = u64::from(window);
                (CLOSED_WARM_UP.max(2 * window), window)
            }
            Arrivals::Rate(_) => (OPEN_WARM_UP.max(self.workload.iterations / 10), OPEN_WARM_UP),
        };
        Ok((self.workload.warmup.max(least), tail))
    }

    /// Packets of a transfer.
    pub(super) fn packets(&self) -> usize {
        self.workload.size_bytes.div_ceil(PACKET)
    }

    /// The access method, as results name it.
    pub(super) fn driver(&self) -> &'static str {
        match self.workload.test {
            RdmaTest::Message => "message",
            _ if self.is_inline() => "inline",
            _ => "dma",
        }
    }

    fn check_trace(&self) -> Result<(), RoadError> {
        let RdmaWorkload { trace, test, hosts, iterations, size_bytes, .. } = &self.workload;
        if (*test == RdmaTest::Trace) == trace.is_empty() {
            let reason = "transfers one by one belong to the test trace, and it needs them";
            return Err(RoadError::scenario("workload.trace", reason));
        }
        for (row, (at, source, destination, kind, bytes)) in trace.iter().enumerate() {
            let wrong = |reason| Err(RoadError::scenario(format!("workload.trace[{row}]"), reason));
            if source == destination || source.max(destination) >= hosts {
                return wrong(format!(
                    "from {source} to {destination}: two of {hosts} hosts expected"
                ));
            }
            let most = if *kind == TransferKind::Write { MAX_TRANSFER } else { MESSAGE_BYTES };
            let most = most.min(*size_bytes);
            if !bytes.is_multiple_of(8) || !(8..=most).contains(bytes) {
                return wrong(format!("{bytes}: a multiple of 8 from 8 to {most} expected"));
            }
            if *at > TRACE_NS {
                return wrong(format!("{at} ns: at most {TRACE_NS} expected"));
            }
        }
        if *test == RdmaTest::Trace && *iterations != trace.len() as u64 {
            let reason = format!("{iterations}: the trace has {} transfers", trace.len());
            return Err(RoadError::scenario("workload.iterations", reason));
        }
        Ok(())
    }

    fn check_list(&self) -> Result<(), RoadError> {
        let RdmaWorkload { post_list, posting, test, .. } = &self.workload;
        let most = match test {
            RdmaTest::SendBw => INBOX_SLOTS / 4,
            RdmaTest::WriteBw if *posting == PostingName::V2 => {
                BATCH / 2 / self.descriptors().max(1)
            }
            _ => 1,
        };
        if !(1..=most.max(1) as u64).contains(post_list) {
            let reason = match most {
                0 | 1 => format!("{post_list}: {} hands over one at a time", test.name()),
                _ => format!("{post_list}: 1 to {most} expected"),
            };
            return Err(RoadError::scenario("workload.post_list", reason));
        }
        Ok(())
    }

    /// How long a program waits for another's before the run fails. A transfer takes microseconds, and one
    /// that a link's fault hit as long as the interface waits for what is lost; where all hosts work
    /// together, one may wait until another has computed.
    pub(super) fn timeout(&self) -> Picoseconds {
        let test = self.workload.test;
        if test.is_for_all() || test.is_accounted() {
            return Picoseconds::from_ms(50);
        }
        let recovery_us = 4.0 * (self.interface.lost_us + self.interface.probe_us);
        Picoseconds::from_ms(10).max(Picoseconds::from_ns_f64(1e3 * recovery_us))
    }

    /// One hop in whole clocks.
    pub(super) fn hop_clocks(&self) -> u64 {
        let clock_ns = 1e3 / self.platform.link_mhz;
        (((self.platform.serdes_ns + self.platform.cable_ns) / clock_ns).round() as u64).max(2)
    }

    /// Bytes of a transfer's place in memory.
    pub(super) fn place_bytes(&self) -> usize {
        if self.workload.test.is_accounted() {
            return MAX_TRANSFER;
        }
        self.workload.size_bytes.next_multiple_of(64)
    }

    /// Descriptors of a transfer.
    pub(super) fn descriptors(&self) -> usize {
        self.workload.size_bytes.div_ceil(MAX_TRANSFER)
    }

    /// Whether the writes bring their data with them.
    pub(super) fn is_inline(&self) -> bool {
        self.workload.size_bytes <= self.workload.inline_bytes
    }

    /// What a host's memory is made of.
    pub(super) fn layout(&self) -> Layout {
        // So many that a place is written again only long after its data was looked at. A soak has places
        // of its own of the longest transfer for each source.
        let places = (PLACES_BYTES / self.place_bytes()).clamp(2, PLACES);
        let source = CONTROL_BYTES.next_multiple_of(4096);
        let words = source + self.source_bytes().next_multiple_of(4096);
        let target = words + WORDS_BYTES;
        let region = match self.workload.test {
            RdmaTest::Exchange => 2 * self.workload.hosts * self.workload.size_bytes,
            RdmaTest::Sort => self.sort_config(source).window_bytes(self.workload.hosts),
            _ => places * self.place_bytes(),
        };
        let inbox = target + region.next_multiple_of(4096);
        let group = inbox + INBOX_BYTES;
        Layout { places, source, words, target, inbox, group, bytes: group + INBOX_BYTES }
    }

    /// What a host sends from.
    pub(super) fn source_bytes(&self) -> usize {
        let RdmaWorkload { hosts, size_bytes, test, .. } = &self.workload;
        match test {
            RdmaTest::Exchange => hosts * size_bytes + SOURCE_SPARE,
            RdmaTest::Sort => self.sort_config(CONTROL_BYTES).send_bytes(*hosts),
            _ => self.place_bytes() + SOURCE_SPARE,
        }
    }

    /// The send buffers and windows of a sort.
    pub(super) fn sort_config(&self, from: usize) -> SortConfig {
        let workload = &self.workload;
        SortConfig {
            from,
            chunk: workload.size_bytes / 8,
            samples: 32,
            compare_ps: (1e3 * workload.compare_ns).round() as u64,
            move_ps: (1e3 * workload.move_ns).round() as u64,
        }
    }

    /// How transfers are made.
    pub(super) fn method(&self) -> String {
        let inline = if self.is_inline() { "-inline" } else { "" };
        format!("{}{inline}", self.workload.test.name())
    }

    /// The end of the measurement's id.
    pub(super) fn name(&self) -> String {
        let RdmaWorkload {
            hosts, size_bytes, posting, combined, both_ways, post_list, test, ..
        } = &self.workload;
        let mut name = match test.operation() {
            Some(operation) => {
                let arrivals = match self.arrivals() {
                    Ok(arrivals) if !test.is_devices() => arrivals.suffix(),
                    _ => String::new(),
                };
                let links = self.interface.links;
                let layout = match (hosts, links) {
                    (2, 1) => String::new(),
                    _ => format!("-{hosts}x{links}"),
                };
                format!("{operation}{size_bytes}{arrivals}{layout}")
            }
            None => format!("{hosts}x{}-{size_bytes}", self.interface.links),
        };
        if !self.is_inline() && matches!(test, RdmaTest::WriteBw | RdmaTest::OneWay) {
            name += match posting {
                PostingName::V1 => "-v1",
                PostingName::V2 => "-v2",
                PostingName::V3(_) => "-v3",
            };
        }
        if !combined {
            name += "-uncombined";
        }
        if *both_ways {
            name += "-both-ways";
        }
        if *post_list > 1 {
            name += &format!("-list-{post_list}");
        }
        name
    }
}

const PLACES: usize = 512;
const PLACES_BYTES: usize = 4 << 20;
/// Transfers read from places that shift by 8 bytes each time: so no two are alike.
pub(super) const SOURCE_SPARE: usize = 8 * 1021;
pub(super) const INBOX_SLOTS: usize = 256;
const SLOT_BYTES: usize = 512;
const WORDS_BYTES: usize = 4096;
const INBOX_BYTES: usize = INBOX_SLOTS * SLOT_BYTES;

/// Offsets into a host's memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    pub(super) places: usize,
    pub(super) source: usize,
    /// Words that programs write into each other's memory: how many messages were taken.
    pub(super) words: usize,
    pub(super) target: usize,
    pub(super) inbox: usize,
    /// The queue of a group of hosts.
    pub(super) group: usize,
    pub(super) bytes: usize,
}
