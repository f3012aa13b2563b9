// SPDX-License-Identifier: Apache-2.0
//! The RDMA road's scenario: one program on hosts with a network interface each, as a JSON document.
//!
//! `docs/reference/rdma-scenario.md` explains every key. Unknown keys are errors; units are part of names.

mod faults;
pub(super) mod memory;
mod name;
mod test;
mod workload;

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use isthmus_host::rdma::MAX_TRANSFER;
use isthmus_sim::Picoseconds;
use isthmus_sim::world::pcix::PcixConfig;

use crate::arrivals::Arrivals;
use crate::error::RoadError;
use crate::noise::NoiseHistogram;
use crate::platform::{DmaMemory, PcieHost, PcieLink, PciePort};
use crate::scenario::{Limits, Profile, sixteen, within};
pub use faults::RdmaFaults;
pub use test::{PostingName, RdmaTest, TraceLine, TransferKind};
pub use workload::RdmaWorkload;
use workload::{
    BATCH, BLOCK_BYTES, CLOSED_WARM_UP, DEVICE_ITERATIONS, HOSTS, IN_FLIGHT, LINKS, OPEN_WARM_UP,
    PACKET, SORT_CHUNKS, TRACE_NS, WRITE_BYTES,
};
pub(super) use workload::{INBOX_SLOTS, MESSAGE_BYTES};

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
    /// Faults to inject.
    #[serde(default)]
    pub faults: RdmaFaults,
    /// Operating-system noise of every host.
    #[serde(default)]
    pub noise: Option<NoiseHistogram>,
    /// Interfaces and switches are in benchmark mode: for programs of one's own, not to be asked for here.
    #[serde(skip)]
    pub bench: bool,
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

    /// Descriptors of a transfer.
    pub(super) fn descriptors(&self) -> usize {
        self.workload.size_bytes.div_ceil(MAX_TRANSFER)
    }

    /// Whether the writes bring their data with them.
    pub(super) fn is_inline(&self) -> bool {
        self.workload.size_bytes <= self.workload.inline_bytes
    }
}
