// SPDX-License-Identifier: Apache-2.0
//! The scenario: everything a run depends on, as one JSON document.
//!
//! `docs/reference/scenario.md` explains every key. Unknown keys are errors; every error names its
//! key. Units are part of the names.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use isthmus_sim::FaultSpec;
use isthmus_sim::kernel::{HoldSpec, ResetSpec};
use isthmus_sim::world::MacAddress;

use crate::error::RoadError;

/// One run, or a sweep of runs over one system.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Which road.
    pub road: RoadName,
    /// Which of the system's two designs this is.
    pub profile: Profile,
    /// The constants of everything that is not gateware.
    pub platform: Platform,
    /// The FPGA.
    pub device: Device,
    /// What to measure.
    pub workload: Workload,
    /// Seed of all random streams.
    pub seed: u64,
    /// Do not evaluate a device that reports idle.
    #[serde(default = "yes")]
    pub skip_idle: bool,
    /// Evaluate idle devices and fail if an output changes.
    #[serde(default)]
    pub check_idle: bool,
    /// Bounds of the run.
    #[serde(default)]
    pub limits: Limits,
    /// Files to write.
    #[serde(default)]
    pub trace: Trace,
    /// What goes wrong, by the name of the fault point.
    #[serde(default)]
    pub faults: BTreeMap<String, FaultSpec>,
}

/// A road.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RoadName {
    /// Etherbone over Gigabit Ethernet.
    Etherbone,
}

/// A system's design: as its authors documented it, or ours under the same constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// As documented.
    AsPublished,
    /// Ours.
    Isthmus,
}

impl Profile {
    /// Its name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AsPublished => "as-published",
            Self::Isthmus => "isthmus",
        }
    }
}

/// The constants of everything outside the FPGA's package.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Platform {
    /// Its name.
    pub name: String,
    /// The FPGA's clock.
    pub fpga: Fpga,
    /// What lies between the program and the FPGA's pins.
    pub bus: Bus,
    /// The protocol library's own work.
    pub library: Library,
}

/// A bus with its driver.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bus {
    /// UDP over Gigabit Ethernet.
    Gige(Gige),
    /// USB 2.0 at high speed.
    Usb(Usb),
    /// PCI Express.
    Pcie(Pcie),
    /// VMEbus.
    Vme(Vme),
}

/// VMEbus, A32 D32, behind a CPU board's bridge.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vme {
    /// The CPU board, up to the bus.
    pub board: VmeBoard,
    /// How the program uses it.
    pub driver: VmeDriver,
    /// Cores.
    #[serde(default = "two")]
    pub cores: usize,
}

/// A CPU board on a VME backplane.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VmeBoard {
    /// A load to the request at the bridge, and from the answer there back.
    pub cpu_read_ns: f64,
    /// A store to its being posted.
    pub cpu_write_ns: f64,
    /// Request to bus cycle.
    pub bridge_request_ns: f64,
    /// End of a read's bus cycle to its answer.
    pub bridge_answer_ns: f64,
    /// Stores that the bridge holds.
    pub posted_writes: usize,
    /// Bus request to grant, where the bridge does not own the bus.
    pub arbitration_ns: f64,
    /// 1: the bridge gives the bus away after each cycle.
    pub release_when_done: u8,
    /// One way through transceivers and backplane.
    pub signal_ns: f64,
    /// The bus timer.
    pub bus_timeout_ns: f64,
}

/// How a program uses VMEbus.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VmeDriver {
    /// Through the published kernel driver.
    Words(WordsDriver),
    /// The same loads and stores by the program itself, in a mapping of the window.
    Mapped(WordsDriver),
}

impl VmeDriver {
    pub(crate) fn costs(&self) -> &WordsDriver {
        let (Self::Words(costs) | Self::Mapped(costs)) = self;
        costs
    }
}

/// PCI Express, with its hard block at the FPGA's pins.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pcie {
    /// The link.
    pub link: PcieLink,
    /// The host's port.
    pub root: PciePort,
    /// The FPGA's hard block.
    pub endpoint: PciePort,
    /// Host memory as the device's DMA sees it.
    pub memory: DmaMemory,
    /// What a processor pays.
    pub host: PcieHost,
    /// How the program uses it.
    pub driver: PcieDriver,
}

/// A PCIe link.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PcieLink {
    /// Generation, 1 to 3.
    pub generation: u32,
    /// Lanes.
    pub lanes: u32,
    /// The largest payload of a TLP.
    pub max_payload_bytes: u32,
    /// The largest read request.
    pub max_read_request_bytes: u32,
    /// Read completions end at multiples of this.
    pub read_completion_bytes: u32,
    /// The share of symbols that TLPs cannot use.
    pub reserved_share: f64,
    /// TLPs for each acknowledgement; 0: in `reserved_share`.
    pub ack_every_tlps: u32,
    /// TLPs for each flow-control update; 0: in `reserved_share`.
    pub update_every_tlps: u32,
    /// From pins to pins.
    pub propagation_ns: f64,
    /// From a TLP received wrong to its second transmission.
    pub replay_ns: f64,
    /// Read requests of the device that may be outstanding.
    pub tags: u32,
}

/// One end of a PCIe link.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PciePort {
    /// A TLP handed over to its first symbol.
    pub transmit_latency_ns: f64,
    /// A TLP's last symbol to the TLP at the user side.
    pub receive_latency_ns: f64,
    /// Posted TLPs that wait for the wire.
    pub transmit_queue_tlps: usize,
    /// Credits for writes and interrupts; 0 is without limit, here and below.
    pub posted_headers: u32,
    /// For their data.
    pub posted_data: u32,
    /// For reads.
    pub nonposted_headers: u32,
    /// For completions.
    pub completion_headers: u32,
    /// For their data.
    pub completion_data: u32,
    /// A TLP taken to its credits in the other end's transmitter.
    pub credit_update_ns: f64,
}

/// Host memory as a device's DMA sees it.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DmaMemory {
    /// A request out of the root port to its data there.
    pub read_ns: f64,
    /// A write out of the root port to its being visible.
    pub write_ns: f64,
}

/// What a processor pays to use PCIe.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PcieHost {
    /// An uncached load: core to root port.
    pub load_issue_ns: f64,
    /// Its data: root port to core.
    pub load_return_ns: f64,
    /// An uncached store keeps the core.
    pub store_ns: f64,
    /// A store out of the core to the root port.
    pub store_issue_ns: f64,
    /// A store of 8 bytes into a write-combining buffer.
    pub combine_ns: f64,
    /// A store fence.
    pub fence_ns: f64,
    /// Interrupt message to the handler's first instruction.
    pub interrupt_ns: f64,
    /// From there to the waiting program.
    pub wakeup_ns: f64,
    /// A load of memory that the device has written.
    pub memory_load_ns: f64,
    /// A store to memory.
    pub memory_store_ns: f64,
    /// Copying beyond the first word.
    pub copy_ns_per_byte: f64,
    /// Cores.
    #[serde(default = "two")]
    pub cores: usize,
}

/// How a program uses PCIe.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PcieDriver {
    /// Through the published kernel driver, word by word.
    Words(WordsDriver),
    /// Streams by DMA, without the kernel.
    Dma(PcieDma),
}

/// The published kernel driver: one load or store a bus operation.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WordsDriver {
    /// Entry and exit of a write or read call, with the character device's part.
    pub syscall_ns: f64,
    /// Copy between program and kernel.
    pub copy_ns_per_byte: f64,
    /// Taking one record apart.
    pub parse_record_ns: f64,
    /// One operation of a record, beside its load or store.
    pub parse_operation_ns: f64,
}

/// Streams by DMA.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PcieDma {
    /// The ring of requests.
    pub request_ring_bytes: usize,
    /// The ring of replies.
    pub reply_ring_bytes: usize,
    /// Longer requests go through the ring, shorter ones are pushed.
    pub push_most_bytes: usize,
}

/// USB 2.0 at high speed, to an FX2LP beside the FPGA.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usb {
    /// The FX2LP's slave FIFO.
    pub fx2: Fx2,
    /// The host controller.
    pub controller: UsbController,
    /// Operating system and processor.
    pub host: UsbHost,
    /// How the program uses it.
    pub driver: UsbDriver,
}

/// The FX2LP's slave FIFO.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fx2 {
    /// IFCLK.
    pub clock_mhz: f64,
    /// Width of FD.
    pub width_bits: u32,
}

/// A host controller.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UsbController {
    /// Enhanced host controller interface.
    Ehci(Ehci),
    /// Extensible host controller interface.
    Xhci(Xhci),
}

/// Enhanced host controller interface.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ehci {
    /// Interrupts come at multiples of so many microframes.
    pub interrupt_threshold_microframes: u64,
    /// Refusals in a row after which the controller rests.
    pub nak_reload: u64,
    /// How long it rests before it looks at the list again.
    pub async_sleep_ns: f64,
    /// The driver's last write to descriptor and data in the controller.
    pub fetch_latency_ns: f64,
    /// Last handshake to status and data in host memory.
    pub completion_latency_ns: f64,
}

/// Extensible host controller interface.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Xhci {
    /// Least time between two interrupts.
    pub interrupt_moderation_ns: f64,
    /// From a refusal to the next try.
    pub nak_retry_ns: f64,
    /// The driver's last write to descriptor and data in the controller.
    pub fetch_latency_ns: f64,
    /// Last handshake to status and data in host memory.
    pub completion_latency_ns: f64,
}

/// What USB's software costs.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UsbHost {
    /// Entry and exit of a system call.
    pub syscall_ns: f64,
    /// Copy between program and kernel.
    pub copy_ns_per_byte: f64,
    /// Handing a transfer to the controller's driver.
    pub submit_ns: f64,
    /// Interrupt until its handler looks for finished transfers.
    pub interrupt_ns: f64,
    /// Giving one finished transfer back.
    pub giveback_ns: f64,
    /// From a task's being woken to its running.
    pub wakeup_ns: f64,
    /// Cores.
    #[serde(default = "two")]
    pub cores: usize,
}

/// How a program uses USB.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UsbDriver {
    /// As a serial port of the kernel's driver.
    Serial(UsbSerial),
    /// With transfers of its own, several under way.
    Bulk(UsbBulk),
}

/// The kernel's serial driver.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UsbSerial {
    /// The port's transmit FIFO.
    pub write_fifo_bytes: usize,
    /// The size of each transfer to the device.
    pub out_transfer_bytes: usize,
    /// How many of these there are.
    pub out_transfers: usize,
    /// The size of each transfer from the device.
    pub in_transfer_bytes: usize,
    /// How many of these are always under way.
    pub in_transfers: usize,
    /// The terminal layer's part of a write.
    pub write_path_ns: f64,
    /// From received bytes to their being readable.
    pub receive_work_ns: f64,
    /// What opening takes.
    pub open_us: f64,
}

/// Transfers of a program's own.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UsbBulk {
    /// The most bytes of each transfer to the device.
    pub out_transfer_bytes: usize,
    /// How many of these may be under way.
    pub out_transfers: usize,
    /// The most bytes of each transfer from the device.
    pub in_transfer_bytes: usize,
    /// How many of these are always under way.
    pub in_transfers: usize,
}

/// UDP over Gigabit Ethernet.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gige {
    /// The FPGA's PHY.
    pub phy: Phy,
    /// Every cable.
    pub link: Link,
    /// The host's network interface.
    pub nic: Nic,
    /// Operating system and processor.
    pub host: Host,
    /// The switch between host and FPGA; without it they are connected directly.
    #[serde(default)]
    pub switch: Option<Switch>,
}

/// The FPGA's side of the pins.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fpga {
    /// Clock of the gateware, on Ethernet also of its GMII transmit side.
    pub clock_mhz: f64,
    /// TAI seconds since 1970 at simulated time zero.
    pub epoch_s: u64,
    /// How far the FPGA's oscillator is off. Clocks that come from outside are not.
    #[serde(default)]
    pub clock_offset_ppm: f64,
}

/// A Gigabit PHY at the FPGA's GMII.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phy {
    /// Transmit pins to medium.
    pub tx_ns: f64,
    /// Medium to receive pins.
    pub rx_ns: f64,
}

/// Every cable of the path.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Line rate.
    pub rate_mbit_s: f64,
    /// Length of one cable.
    pub length_m: f64,
    /// Propagation delay.
    pub delay_ns_per_m: f64,
}

/// The host's network interface.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nic {
    /// PHY: MAC to medium.
    pub phy_tx_ns: f64,
    /// PHY: medium to MAC.
    pub phy_rx_ns: f64,
    /// Store to the tail register until it arrives.
    pub doorbell_ns: f64,
    /// Doorbell to first byte on the wire.
    pub tx_dma_ns: f64,
    /// Last byte received to visible in host memory.
    pub rx_dma_ns: f64,
    /// Least time between two interrupts; 0: none.
    pub interrupt_gap_us: f64,
}

/// Operating system and processor.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// Send call: entry to doorbell store.
    pub send_call_ns: f64,
    /// Receive call that finds a datagram.
    pub receive_call_ns: f64,
    /// Driver and IP/UDP stack, one received frame.
    pub frame_ns: f64,
    /// Interrupt to the blocked thread running again.
    pub wakeup_ns: f64,
    /// Copy between user memory and kernel buffer.
    pub copy_ns_per_byte: f64,
    /// Cores; the program has one, and the network stack another where there is one.
    #[serde(default = "two")]
    pub cores: usize,
}

/// One store-and-forward switch.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Switch {
    /// Last bit in to first bit out with the port idle.
    pub latency_ns: f64,
}

/// What the protocol library costs, and how it waits.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Library {
    /// Open, close and frame one cycle.
    pub build_cycle_ns: f64,
    /// Add one operation to a cycle.
    pub build_operation_ns: f64,
    /// Match one reply and run its callback.
    pub parse_cycle_ns: f64,
    /// Take one value out of a reply.
    pub parse_operation_ns: f64,
    /// Calls around each wait beside send and receive.
    pub event_loop_ns: f64,
    /// 1: the host polls for the reply; 0: it waits for an interrupt.
    pub poll: u8,
}

/// The FPGA.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// The shared object of its model.
    pub model_path: PathBuf,
    /// Its MAC address.
    #[serde(default = "default_mac")]
    pub mac: MacAddress,
    /// Its IPv4 address.
    #[serde(default = "default_ip")]
    pub ip: std::net::Ipv4Addr,
    /// Its subnet's mask: probes to the subnet's broadcast address are answered.
    #[serde(default = "default_netmask")]
    pub netmask: std::net::Ipv4Addr,
    /// The UDP port of its Etherbone service.
    #[serde(default = "default_port")]
    pub udp_port: u16,
    /// The dialect of that service.
    #[serde(default)]
    pub dialect: Dialect,
    /// The UDP port that its replies go to; 0: the one that the request came from.
    #[serde(default)]
    pub reply_port: u16,
    /// Cycles that a reset lasts.
    #[serde(default = "default_reset")]
    pub reset_cycles: u32,
    /// Resets injected during the run.
    #[serde(default)]
    pub resets: Vec<ResetSpec>,
    /// Inputs held at a value for a while.
    #[serde(default)]
    pub holds: Vec<HoldSpec>,
}

/// A dialect of Etherbone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// As published on the Open Hardware Repository.
    #[default]
    Ohwr,
    /// As LiteEth and LiteX speak it.
    #[serde(alias = "liteeth")]
    Litex,
}

/// An access method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// A cycle of its own for every operation, one after the other.
    Convenience,
    /// One cycle after the other.
    Blocking,
    /// Many cycles in flight.
    Pipelined,
}

impl Method {
    /// Its name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Convenience => "convenience",
            Self::Blocking => "blocking",
            Self::Pipelined => "pipelined",
        }
    }
}

/// Which part of a series counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Procedure {
    /// A window in which the rate is steady: warm-up and drain are left out.
    #[default]
    Steady,
    /// As in the Etherbone document: all of it, from the first call to the last reply, with all
    /// pipelined cycles handed over at once.
    Published,
}

impl Procedure {
    /// Its name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Steady => "steady",
            Self::Published => "published",
        }
    }
}

/// What to measure.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Workload {
    /// A series of cycles of timestamps between two single ones.
    Timestamps {
        /// The access method.
        method: Method,
        /// Timestamps in each cycle, 1 to 8: two reads each.
        timestamps_per_cycle: u32,
        /// Cycles that count, at least.
        #[serde(default = "ninety")]
        iterations: u32,
        /// Which part of the series counts.
        #[serde(default)]
        procedure: Procedure,
        /// Cycles in flight, where the method is pipelined and the procedure steady.
        #[serde(default = "series_window")]
        window: u32,
    },
    /// How long it takes to read so many words: one measurement for each number.
    Words {
        /// The access method.
        method: Method,
        /// Numbers of 32-bit words.
        words: Vec<u32>,
        /// Repetitions of each.
        #[serde(default = "ten")]
        iterations: u32,
    },
    /// The latch unit's cycle: three reads and one write.
    Tlu {
        /// The access method.
        method: Method,
        /// Cycles.
        #[serde(default = "ninety")]
        iterations: u32,
    },
    /// As many timestamps a second as the wire carries: cycles in flight all the time.
    Throughput {
        /// Timestamps in each cycle, 1 to 8.
        timestamps_per_cycle: u32,
        /// Cycles that count, at least.
        #[serde(default = "thousands")]
        iterations: u32,
        /// Which part of the series counts.
        #[serde(default)]
        procedure: Procedure,
        /// Cycles in flight, where the procedure is steady.
        #[serde(default = "throughput_window")]
        window: u32,
    },
    /// The gateware alone: clocks from the last byte of a request to the first of its reply, for
    /// each number of reads.
    Path {
        /// Numbers of reads in a cycle, 1 to 255.
        reads: Vec<u32>,
    },
    /// Requests back to back, straight onto the wire: none may be lost.
    LineRate {
        /// Frames.
        #[serde(default = "thousand")]
        frames: u32,
        /// 0: the shortest frames, one read each. 1 to 8: the longest, full of checked cycles with so
        /// many timestamps.
        #[serde(default)]
        timestamps_per_cycle: u32,
    },
    /// Random, broken and hostile frames straight onto the wire, against a reference model.
    Fuzz {
        /// Frames.
        #[serde(default = "ten_thousand")]
        frames: u32,
    },
}

/// Bounds of a run.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Fails a run that needs more simulated time.
    pub simulated_ms: u64,
    /// Fails a run that needs more wall time.
    pub wall_s: u64,
}

impl Limits {
    /// Simulated picoseconds.
    pub(crate) fn simulated_ps(&self) -> Option<u64> {
        Some(self.simulated_ms.saturating_mul(1_000_000_000))
    }

    /// Wall-clock milliseconds.
    pub(crate) fn wall_ms(&self) -> Option<u64> {
        Some(self.wall_s.saturating_mul(1_000))
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { simulated_ms: 20_000, wall_s: 600 }
    }
}

/// Files a run writes.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Trace {
    /// A waveform; needs a model built for it.
    pub waveform: Option<PathBuf>,
    /// Every frame on every cable.
    pub pcap: Option<PathBuf>,
    /// A timeline for Perfetto.
    pub timeline: Option<PathBuf>,
}

pub(crate) const fn yes() -> bool {
    true
}
pub(crate) const fn sixteen() -> u32 {
    16
}
const fn two() -> usize {
    2
}
const fn ninety() -> u32 {
    90
}
const fn ten() -> u32 {
    10
}
const fn thousands() -> u32 {
    2_000
}
const fn series_window() -> u32 {
    256
}
const fn throughput_window() -> u32 {
    1_024
}
const fn thousand() -> u32 {
    1_000
}
const fn ten_thousand() -> u32 {
    10_000
}
const fn default_port() -> u16 {
    isthmus_host::etherbone::DEFAULT_PORT
}
const fn default_ip() -> std::net::Ipv4Addr {
    std::net::Ipv4Addr::new(192, 168, 10, 2)
}

fn default_netmask() -> std::net::Ipv4Addr {
    std::net::Ipv4Addr::new(255, 255, 255, 0)
}
const fn default_reset() -> u32 {
    16
}
const fn default_mac() -> MacAddress {
    MacAddress([2, 0, 0, 0, 0, 2])
}

/// Reads a document of type `T`; an error names the key.
pub(crate) fn parse<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, RoadError> {
    let mut reader = serde_json::Deserializer::from_str(json);
    let value: T = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let key = match error.path().to_string().as_str() {
            "." => "document".to_owned(),
            path => path.to_owned(),
        };
        RoadError::scenario(key, error.into_inner().to_string())
    })?;
    reader.end().map_err(|error| RoadError::scenario("document", error.to_string()))?;
    Ok(value)
}

/// Reads a document and checks it.
pub(crate) fn checked<'a, T: Deserialize<'a>>(
    json: &'a str,
    check: impl FnOnce(&T) -> Result<(), RoadError>,
) -> Result<T, RoadError> {
    let value = parse(json)?;
    check(&value)?;
    Ok(value)
}

/// Refuses a value outside a range, by its key.
pub(crate) fn within(key: &str, value: f64, low: f64, high: f64) -> Result<(), RoadError> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(RoadError::scenario(key, format!("{value} is outside {low} to {high}")))
}

/// Which road a scenario is of: each has its own keys.
pub(crate) fn road_of(json: &str) -> Result<String, RoadError> {
    #[derive(Deserialize)]
    struct Which {
        road: String,
    }
    parse::<Which>(json).map(|which| which.road)
}

impl Scenario {
    /// Reads and checks a scenario.
    ///
    /// # Errors
    /// Names the key that is wrong, and says what would be right.
    pub fn parse(json: &str) -> Result<Self, RoadError> {
        checked(json, Self::check)
    }

    fn check(&self) -> Result<(), RoadError> {
        self.device.check()?;
        if self.device.dialect != Dialect::Ohwr && !matches!(self.workload, Workload::Fuzz { .. }) {
            let reason = "the host programs speak ohwr; only fuzz and serve know litex";
            return Err(RoadError::scenario("device.dialect", reason));
        }
        self.platform.check()?;
        let range = |key: &str, value: u32, low: u32, high: u32| {
            if (low..=high).contains(&value) {
                return Ok(());
            }
            let key = format!("workload.{key}");
            Err(RoadError::scenario(key, format!("{value} is outside {low} to {high}")))
        };
        const MOST: u32 = 1_000_000;
        const MOST_IN_FLIGHT: u32 = 4_096;
        match &self.workload {
            Workload::Timestamps { timestamps_per_cycle, iterations, window, .. }
            | Workload::Throughput { timestamps_per_cycle, iterations, window, .. } => {
                range("timestamps_per_cycle", *timestamps_per_cycle, 1, 8)?;
                range("window", *window, 1, MOST_IN_FLIGHT)?;
                range("iterations", *iterations, 1, MOST)
            }
            Workload::Words { words, iterations, .. } => {
                words.iter().try_for_each(|n| range("words", *n, 1, 16_384))?;
                range("words (how many)", words.len() as u32, 1, 1_024)?;
                range("iterations", *iterations, 1, MOST)
            }
            Workload::Tlu { iterations, .. } => range("iterations", *iterations, 1, MOST),
            Workload::LineRate { frames, .. } | Workload::Fuzz { frames } => {
                if let Workload::LineRate { timestamps_per_cycle, .. } = &self.workload {
                    range("timestamps_per_cycle", *timestamps_per_cycle, 0, 8)?;
                }
                if self.platform.gige()?.switch.is_some() {
                    let reason = "frames straight onto the wire need a platform without a switch";
                    return Err(RoadError::scenario("platform.bus.gige.switch", reason));
                }
                range("frames", *frames, 1, MOST)
            }
            Workload::Path { reads } => {
                reads.iter().try_for_each(|n| range("reads", *n, 1, 255))?;
                range("reads (how many)", reads.len() as u32, 1, 255)
            }
        }
    }
}

impl Device {
    pub(crate) fn check(&self) -> Result<(), RoadError> {
        if self.mac.is_group() {
            let reason = format!("{} is a group's address, not one station's", self.mac);
            return Err(RoadError::scenario("device.mac", reason));
        }
        Ok(())
    }
}

/// A second is far beyond any latency of a platform; the bound keeps sums inside the time type.
fn latencies(group: &str, all: &[(&str, f64)]) -> Result<(), RoadError> {
    ranges(group, &all.iter().map(|(key, value)| (*key, *value, 0.0, 1e9)).collect::<Vec<_>>())
}

fn ranges(group: &str, all: &[(&str, f64, f64, f64)]) -> Result<(), RoadError> {
    for (key, value, low, high) in all {
        if !(low..=high).contains(&value) {
            let reason = if *high == 1e9 {
                format!("{value} is outside 0 to 1e9")
            } else {
                format!("{value} is outside {low} to {high}")
            };
            return Err(RoadError::scenario(format!("platform.{group}{key}"), reason));
        }
    }
    Ok(())
}

impl Platform {
    pub(crate) fn check(&self) -> Result<(), RoadError> {
        let Self { fpga, library, bus, .. } = self;
        latencies(
            "library.",
            &[
                ("build_cycle_ns", library.build_cycle_ns),
                ("build_operation_ns", library.build_operation_ns),
                ("parse_cycle_ns", library.parse_cycle_ns),
                ("parse_operation_ns", library.parse_operation_ns),
                ("event_loop_ns", library.event_loop_ns),
            ],
        )?;
        ranges(
            "",
            &[
                ("fpga.clock_mhz", fpga.clock_mhz, 1.0, 1_000.0),
                ("fpga.clock_offset_ppm", fpga.clock_offset_ppm, -1_000.0, 1_000.0),
                ("fpga.epoch_s", fpga.epoch_s as f64, 0.0, 8_589_934_592.0),
                ("library.poll", f64::from(library.poll), 0.0, 1.0),
            ],
        )?;
        match bus {
            Bus::Gige(gige) => gige.check(),
            Bus::Usb(usb) => usb.check(),
            Bus::Pcie(pcie) => pcie.check(),
            Bus::Vme(vme) => {
                let (cores, release) = (vme.cores as f64, f64::from(vme.board.release_when_done));
                let counts = [
                    ("cores", cores, 1.0, 1_024.0),
                    ("board.release_when_done", release, 0.0, 1.0),
                ];
                ranges("bus.vme.", &counts)?;
                vme.driver.costs().check("bus.vme.driver.")
            }
        }
    }

    /// The platform's Ethernet, for workloads that drive the wire themselves.
    ///
    /// # Errors
    /// When its bus is another.
    pub(crate) fn gige(&self) -> Result<&Gige, RoadError> {
        match &self.bus {
            Bus::Gige(gige) => Ok(gige),
            Bus::Usb(_) | Bus::Pcie(_) | Bus::Vme(_) => {
                let reason = "this workload drives the wire: a platform with gige expected";
                Err(RoadError::scenario("platform.bus", reason))
            }
        }
    }
}

impl Pcie {
    /// Link and latencies are checked by the models that take them.
    fn check(&self) -> Result<(), RoadError> {
        let Self { link, host, driver, .. } = self;
        let (generation, cores) = (f64::from(link.generation), host.cores as f64);
        ranges(
            "bus.pcie.",
            &[("link.generation", generation, 1.0, 3.0), ("host.cores", cores, 1.0, 1_024.0)],
        )?;
        match driver {
            PcieDriver::Words(words) => words.check("bus.pcie.driver.words."),
            PcieDriver::Dma(dma) => {
                let rings = [
                    ("request_ring_bytes", dma.request_ring_bytes as f64, 64.0, 16_777_216.0),
                    ("reply_ring_bytes", dma.reply_ring_bytes as f64, 64.0, 16_777_216.0),
                ];
                ranges("bus.pcie.driver.dma.", &rings)
            }
        }
    }
}

impl WordsDriver {
    fn check(&self, group: &str) -> Result<(), RoadError> {
        latencies(
            group,
            &[
                ("syscall_ns", self.syscall_ns),
                ("copy_ns_per_byte", self.copy_ns_per_byte),
                ("parse_record_ns", self.parse_record_ns),
                ("parse_operation_ns", self.parse_operation_ns),
            ],
        )
    }
}

impl Usb {
    /// Latencies are checked by the models that take them.
    fn check(&self) -> Result<(), RoadError> {
        let Self { fx2, host, driver, .. } = self;
        ranges("bus.usb.", &[("fx2.clock_mhz", fx2.clock_mhz, 5.0, 48.0)])?;
        let transfers = match driver {
            UsbDriver::Serial(serial) => [serial.out_transfers, serial.in_transfers],
            UsbDriver::Bulk(bulk) => [bulk.out_transfers, bulk.in_transfers],
        };
        let counts = [
            ("driver.out_transfers", transfers[0]),
            ("driver.in_transfers", transfers[1]),
            ("host.cores", host.cores),
        ];
        let counts = counts.map(|(key, value)| (key, value as f64, 1.0, 1_024.0));
        ranges("bus.usb.", &counts)
    }
}

impl Gige {
    fn check(&self) -> Result<(), RoadError> {
        let Self { phy, link, nic, host, switch } = self;
        latencies(
            "bus.gige.",
            &[
                ("phy.tx_ns", phy.tx_ns),
                ("phy.rx_ns", phy.rx_ns),
                ("link.length_m", link.length_m),
                ("link.delay_ns_per_m", link.delay_ns_per_m),
                ("nic.phy_tx_ns", nic.phy_tx_ns),
                ("nic.phy_rx_ns", nic.phy_rx_ns),
                ("nic.doorbell_ns", nic.doorbell_ns),
                ("nic.tx_dma_ns", nic.tx_dma_ns),
                ("nic.rx_dma_ns", nic.rx_dma_ns),
                ("nic.interrupt_gap_us", nic.interrupt_gap_us),
                ("host.send_call_ns", host.send_call_ns),
                ("host.receive_call_ns", host.receive_call_ns),
                ("host.frame_ns", host.frame_ns),
                ("host.wakeup_ns", host.wakeup_ns),
                ("host.copy_ns_per_byte", host.copy_ns_per_byte),
                ("switch.latency_ns", switch.map_or(0.0, |s| s.latency_ns)),
            ],
        )?;
        ranges("bus.gige.", &[("link.rate_mbit_s", link.rate_mbit_s, 1_000.0, 1_000.0)])
    }
}
