// SPDX-License-Identifier: Apache-2.0
//! The scenario of puts over APElink, as a JSON document. Unknown keys are errors; units are part of names.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use isthmus_host::nic::{MAX_INLINE_BYTES, MAX_MESSAGE_BYTES, MAX_PUT_BYTES, Policy};
use isthmus_sim::Picoseconds;
use isthmus_sim::world::pcie::{DLLP_BYTES, TlpKind, wire_bytes};

use crate::arrivals::Arrivals;
use crate::error::RoadError;
use crate::gpu::DataMemory;
use crate::host_bus;
use crate::noise::NoiseHistogram;
use crate::operation::Operation;
use crate::platform::{DmaMemory, Firmware, PcieGpu, PcieHost, PcieLink, PciePort};
use crate::scenario::{Limits, NodeLinks, Profile, sixteen, two};

/// The road's name.
pub(super) const NAME: &str = "apenet";

/// Bytes of a flit.
pub(super) const FLIT_BYTES: u64 = 16;
/// Payload of a packet at the most.
pub(super) const PACKET_BYTES: u64 = 4096;
/// Flits of a packet beside its payload: header and footer.
const FRAMING_FLITS: u64 = 2;
/// Minimum number of warm-up puts.
const WARM_UP: u64 = 4;
const OPEN_WARM_UP: u64 = 32;

/// One run.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApenetScenario {
    /// Always `apenet`.
    pub road: String,
    /// Profile: as published, or ours.
    pub profile: Profile,
    /// Constants of everything that is not gateware.
    pub platform: ApenetPlatform,
    /// The nodes.
    pub node: ApenetNode,
    /// What to measure.
    pub workload: ApenetWorkload,
    /// Seed of the data.
    pub seed: u64,
    /// Operating-system noise of the programs that take part: each time one was waiting, it continues later by a delay
    /// of this histogram. Of `put` and `get` the first program alone takes part. Not with test `burst`.
    #[serde(default)]
    pub noise: Option<NoiseHistogram>,
    /// Limits of the run.
    #[serde(default)]
    pub limits: Limits,
}

/// Constants of everything outside the nodes.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApenetPlatform {
    /// Its name.
    pub name: String,
    /// Both transceivers of a link between nodes.
    #[schemars(range(min = 0.0, max = 10_000.0))]
    pub serdes_ns: f64,
    /// The cable of such a link.
    #[schemars(range(min = 0.0, max = 10_000.0))]
    pub cable_ns: f64,
    /// The link of each node to its host.
    pub link: PcieLink,
    /// PCIe root port of each host.
    pub root: PciePort,
    /// PCIe hard block of each node.
    pub endpoint: PciePort,
    /// Host memory as a node's DMA sees it.
    pub memory: DmaMemory,
    /// Costs of a processor's accesses.
    pub host: PcieHost,
    /// A GPU beside each node.
    pub gpu: PcieGpu,
    /// A kernel of a GPU that answers: from data that is visible in the GPU's memory to the kernel's store at the GPU's
    /// port. A kernel is the program where payload comes with posts and memory is `gpu`.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub kernel_ns: f64,
}

/// The nodes: `apenet_node`, one for each host.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApenetNode {
    /// Shared object of the model.
    pub model_path: PathBuf,
    /// Clock of nodes and links: a flit a clock.
    #[schemars(range(min = 1.0, max = 1_000.0))]
    pub clock_mhz: f64,
    /// Length of the reset in clocks.
    #[serde(default = "sixteen")]
    pub reset_cycles: u32,
    /// Soft processor that looks at each packet, if the model has one.
    #[serde(default)]
    pub firmware: Option<Firmware>,
    /// What is between two nodes.
    #[serde(default)]
    pub links: NodeLinks,
}

/// Shape of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ApenetTest {
    /// One program puts, the other one sees: a sample is one way.
    OneWay,
    /// As one-way, but a sample ends when the last byte is in the far memory: no program takes part there.
    Put,
    /// The other one puts back at once: a sample is half of a round trip.
    PingPong,
    /// The first program gets from the far node's put memory: a sample is from its request to its event.
    Get,
    /// All other programs put into the list of the far node as fast as they can: a sample is one way of a message that
    /// was announced.
    Burst,
}

impl ApenetTest {
    /// Its name in scenarios and results.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::OneWay => "one-way",
            Self::Put => "put",
            Self::PingPong => "ping-pong",
            Self::Get => "get",
            Self::Burst => "burst",
        }
    }
}

/// Where puts go.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ApenetTarget {
    /// To a place of the far node's registered pages.
    #[default]
    Address,
    /// Into the far node's circular list of buffers, a message each.
    List,
}

impl ApenetTarget {
    /// Its name in scenarios and results.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Address => "address",
            Self::List => "list",
        }
    }
}

/// What a list does while no buffer is free.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ApenetPolicy {
    /// Drops the new message.
    Newest,
    /// Fills the buffer anew that was filled first.
    Oldest,
    /// Waits, and the senders with it.
    Hold,
}

impl ApenetPolicy {
    /// Its name in scenarios and results.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Newest => "newest",
            Self::Oldest => "oldest",
            Self::Hold => "hold",
        }
    }

    /// As the driver has it.
    pub(super) const fn policy(self) -> Policy {
        match self {
            Self::Newest => Policy::Newest,
            Self::Oldest => Policy::Oldest,
            Self::Hold => Policy::Hold,
        }
    }
}

/// The list of test `burst`, and what its program does with it.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApenetList {
    /// Its buffers: a power of two.
    #[schemars(range(min = 1, max = 64))]
    pub buffers: usize,
    /// Without a free buffer.
    pub policy: ApenetPolicy,
    /// The program gives each buffer back when it has compared it; else it gives none back.
    pub recycles: bool,
    /// The senders have another key than the list's.
    #[serde(default)]
    pub wrong_key: bool,
}

/// What to measure.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApenetWorkload {
    /// `get` with test `get`, else `put`.
    pub operation: Operation,
    /// Shape.
    pub test: ApenetTest,
    /// Bytes of a put.
    #[schemars(range(min = 1, max = 4_194_304))]
    pub bytes: usize,
    /// Puts measured; with `ping-pong` round trips.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub iterations: u64,
    /// Puts that the far program has not seen, at the most.
    #[schemars(range(min = 1, max = 16))]
    pub window: u32,
    /// With tests `one-way`, `put` and `get`: so many per second, Poisson arrivals; each begins when it is due. `window`
    /// is then the most in flight.
    #[serde(default)]
    #[schemars(range(min = 1.0, max = 1_000_000_000.0))]
    pub rate_per_s: Option<f64>,
    /// Nodes of the ring; puts go from the first one to the one halfway round.
    #[serde(default = "two")]
    #[schemars(range(min = 2, max = 16))]
    pub nodes: usize,
    /// Memory of the first node: what is put, or with `ping-pong` also what is put into.
    #[serde(default)]
    pub near: DataMemory,
    /// Memory of the far node.
    #[serde(default)]
    pub far: DataMemory,
    /// Where puts go.
    #[serde(default)]
    pub target: ApenetTarget,
    /// With test `burst`.
    #[serde(default)]
    pub list: Option<ApenetList>,
    /// Payload, at most 64 bytes, is stored together with the post, so that nothing is read. The program of a node whose
    /// memory is `gpu` is then a kernel of that GPU, with its events there. Not with tests `get` and `burst`, or memory
    /// `staged`.
    #[serde(default)]
    pub inline: bool,
}

impl ApenetScenario {
    /// Reads a scenario and checks it.
    ///
    /// # Errors
    /// When a key is unknown, missing or outside its range.
    pub fn parse(json: &str) -> Result<Self, RoadError> {
        crate::scenario::checked(json, Self::check)
    }

    fn check(&self) -> Result<(), RoadError> {
        let workload = &self.workload;
        let get = workload.test == ApenetTest::Get;
        let carried = if get { Operation::Get } else { Operation::Put };
        workload.operation.check("workload.operation", NAME, &[carried])?;
        if get && (workload.near != DataMemory::Host || workload.far == DataMemory::Staged) {
            let reason = "expected a get into the host's memory, from a host's or a GPU's";
            return Err(RoadError::scenario("workload.near", reason.to_owned()));
        }
        if workload.test == ApenetTest::Put && workload.far != DataMemory::Host {
            let reason =
                "expected host with test put: when a byte is in a GPU's memory is not seen";
            return Err(RoadError::scenario("workload.far", reason.to_owned()));
        }
        if workload.test == ApenetTest::PingPong && workload.window != 1 {
            let reason = format!("{}: expected 1 with ping-pong", workload.window);
            return Err(RoadError::scenario("workload.window", reason));
        }
        if workload.rate_per_s.is_some()
            && matches!(workload.test, ApenetTest::PingPong | ApenetTest::Burst)
        {
            let reason = format!("not with test {}", workload.test.name());
            return Err(RoadError::scenario("workload.rate_per_s", reason));
        }
        if let Some(noise) = &self.noise {
            if workload.test == ApenetTest::Burst {
                let reason = "not with test burst".to_owned();
                return Err(RoadError::scenario("noise", reason));
            }
            noise.check()?;
        }
        self.check_list()?;
        self.check_inline()?;
        let room = MAX_PUT_BYTES / self.place_bytes();
        if workload.window as usize > room {
            let reason = format!("{}: a put memory holds {room} such puts", workload.window);
            return Err(RoadError::scenario("workload.window", reason));
        }
        self.platform.gpu.check(&self.platform.link)?;
        self.node.firmware.map_or(Ok(()), |firmware| firmware.check("node"))
    }

    fn check_inline(&self) -> Result<(), RoadError> {
        let workload = &self.workload;
        if !workload.inline {
            return Ok(());
        }
        let refuse = |what: String| Err(RoadError::scenario("workload.inline", what));
        if workload.bytes > MAX_INLINE_BYTES {
            let bytes = workload.bytes;
            return refuse(format!("{bytes} bytes: a post brings at most {MAX_INLINE_BYTES}"));
        }
        if matches!(workload.test, ApenetTest::Get | ApenetTest::Burst) {
            return refuse(format!("not with test {}", workload.test.name()));
        }
        let memories = [workload.near, workload.far];
        if memories.contains(&DataMemory::Staged) {
            return refuse("not with memory staged".to_owned());
        }
        if self.noise.is_some() && memories.contains(&DataMemory::Gpu) {
            return refuse("no operating system delays a GPU's kernel: not with noise".to_owned());
        }
        Ok(())
    }

    fn check_list(&self) -> Result<(), RoadError> {
        let workload = &self.workload;
        let burst = workload.test == ApenetTest::Burst;
        if burst != workload.list.is_some() {
            let reason = "expected with test burst, and with no other".to_owned();
            return Err(RoadError::scenario("workload.list", reason));
        }
        if workload.target == ApenetTarget::Address {
            if burst {
                let reason = "expected list with test burst".to_owned();
                return Err(RoadError::scenario("workload.target", reason));
            }
            return Ok(());
        }
        if matches!(workload.test, ApenetTest::Put | ApenetTest::Get) {
            let reason = "expected address with tests put and get".to_owned();
            return Err(RoadError::scenario("workload.target", reason));
        }
        if workload.bytes > MAX_MESSAGE_BYTES {
            let reason = format!("{}: a message has at most {MAX_MESSAGE_BYTES}", workload.bytes);
            return Err(RoadError::scenario("workload.bytes", reason));
        }
        if (workload.near, workload.far) != (DataMemory::Host, DataMemory::Host) {
            let reason = "expected host with a list".to_owned();
            return Err(RoadError::scenario("workload.far", reason));
        }
        if let Some(list) = &workload.list {
            if !list.buffers.is_power_of_two() {
                let reason = format!("{}: expected a power of two", list.buffers);
                return Err(RoadError::scenario("workload.list.buffers", reason));
            }
            if workload.iterations * (workload.nodes as u64 - 1) >= 1 << 16 {
                let reason = "expected fewer than 65536 messages of all nodes".to_owned();
                return Err(RoadError::scenario("workload.iterations", reason));
            }
        }
        Ok(())
    }

    /// Buffers of each node's list; 0 where puts go to addresses.
    pub(super) fn buffers(&self) -> usize {
        match (self.workload.target, &self.workload.list) {
            (ApenetTarget::Address, _) => 0,
            (ApenetTarget::List, Some(list)) => list.buffers,
            (ApenetTarget::List, None) => (2 * self.workload.window as usize).next_power_of_two(),
        }
    }

    /// Puts before and after the measured ones.
    pub(super) fn excluded(&self) -> (u64, u64) {
        if self.workload.rate_per_s.is_some() {
            return (OPEN_WARM_UP.max(self.workload.iterations / 10), OPEN_WARM_UP);
        }
        let window = u64::from(self.workload.window);
        (WARM_UP.max(2 * window), if window > 1 { window } else { 0 })
    }

    /// How puts come.
    pub(super) fn arrivals(&self) -> Arrivals {
        let window = Arrivals::Window(self.workload.window);
        self.workload.rate_per_s.map_or(window, Arrivals::Rate)
    }

    /// What noise may add to a transfer: a delay of either program.
    pub(super) fn longest_noise(&self) -> Picoseconds {
        let delays = self.noise.iter().flat_map(|noise| &noise.buckets);
        let longest = delays.map(|(delay, _)| *delay).fold(0.0, f64::max);
        Picoseconds::from_ns_f64(2.0 * longest)
    }

    /// Distance of two puts in memory: each begins at a page, and is cut into packets there.
    pub(super) fn place_bytes(&self) -> usize {
        self.workload.bytes.next_multiple_of(PACKET_BYTES as usize)
    }

    /// Links have the gateware of their ends.
    pub(super) fn over_lanes(&self) -> bool {
        self.node.links == NodeLinks::Lanes
    }

    /// Clocks of a link that is a delay, or of the line of one that has ends; at least one.
    pub(super) fn hop_clocks(&self) -> u64 {
        let ns = self.platform.serdes_ns + self.platform.cable_ns;
        ((ns * self.node.clock_mhz * 1e-3).round() as u64).max(1)
    }

    /// The node that is put into.
    pub(super) fn far(&self) -> usize {
        self.workload.nodes / 2
    }

    /// Where the data of a node's program is.
    pub(super) fn memory(&self, node: usize) -> DataMemory {
        match node {
            0 => self.workload.near,
            node if node == self.far() => self.workload.far,
            _ => DataMemory::Host,
        }
    }

    /// Flits of a put that begins at a page, header and footer of each packet included.
    pub(super) fn flits(&self) -> u64 {
        let bytes = self.workload.bytes as u64;
        bytes.div_ceil(FLIT_BYTES) + FRAMING_FLITS * bytes.div_ceil(PACKET_BYTES)
    }

    /// What the link between two nodes carries of such puts if it never rests, in bytes of payload a second.
    pub(super) fn link_limit(&self) -> f64 {
        let bytes = self.workload.bytes as f64;
        bytes / self.flits() as f64 * self.node.clock_mhz * 1e6
    }

    /// What the bus of a node carries of such puts if it never rests: the longest reads that it allows at one end, whose
    /// answers come as the root complex cuts them, beside the acknowledgement and the credit of each request; the longest
    /// writes at the other.
    pub(super) fn bus_limit(&self) -> f64 {
        let link = &self.platform.link;
        let most =
            |bytes: u32| (bytes as usize).min(self.workload.bytes).min(PACKET_BYTES as usize);
        let read = most(link.max_read_request_bytes);
        let part = read.min(link.read_completion_bytes as usize);
        let answers = read.div_ceil(part) as u64 * wire_bytes(TlpKind::Completion, 0, part, false);
        let dllps = [link.ack_every_tlps, link.update_every_tlps]
            .iter()
            .filter(|every| **every > 0)
            .map(|every| DLLP_BYTES as f64 / f64::from(*every))
            .sum::<f64>();
        let write = most(link.max_payload_bytes);
        let written = wire_bytes(TlpKind::Write, host_bus::MEMORY_BASE, write, false);
        let shares = [read as f64 / (answers as f64 + dllps), write as f64 / written as f64];
        shares[0].min(shares[1]) * 1e15 / host_bus::byte_fs(link)
    }
}
