// SPDX-License-Identifier: Apache-2.0
//! Constants that several roads have in common: a host on PCI Express, a Gigabit cable and its PHY.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::RoadError;

use crate::scenario::two;

/// A PCIe link.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PcieLink {
    /// Generation, 1 to 4.
    #[schemars(range(min = 1, max = 4))]
    pub generation: u32,
    /// Lanes.
    #[schemars(range(min = 1, max = 16))]
    pub lanes: u32,
    /// The largest payload of a TLP.
    #[schemars(range(min = 128, max = 4096))]
    pub max_payload_bytes: u32,
    /// The largest read request.
    #[schemars(range(min = 128, max = 4096))]
    pub max_read_request_bytes: u32,
    /// Read completions end at multiples of this.
    #[schemars(range(min = 64, max = 4096))]
    pub read_completion_bytes: u32,
    /// The share of symbols that TLPs cannot use.
    #[schemars(range(min = 0.0, max = 0.99))]
    pub reserved_share: f64,
    /// TLPs for each acknowledgement; 0: in `reserved_share`.
    #[schemars(range(min = 0, max = 1024))]
    pub ack_every_tlps: u32,
    /// TLPs for each flow-control update; 0: in `reserved_share`.
    #[schemars(range(min = 0, max = 1024))]
    pub update_every_tlps: u32,
    /// From pins to pins.
    #[schemars(range(min = 0.0, max = 10_000.0))]
    pub propagation_ns: f64,
    /// From a TLP received wrong to its second transmission.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub replay_ns: f64,
    /// Read requests of the device that may be outstanding.
    #[schemars(range(min = 1, max = 1024))]
    pub tags: u32,
}

/// One end of a PCIe link.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PciePort {
    /// From a submitted TLP to its first symbol.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub transmit_latency_ns: f64,
    /// A TLP's last symbol to the TLP at the user side.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub receive_latency_ns: f64,
    /// Posted TLPs that wait for the wire.
    #[schemars(range(min = 1, max = 1024))]
    pub transmit_queue_tlps: usize,
    /// Credits for writes and interrupts; 0 is without limit, here and below.
    #[schemars(range(min = 0, max = 4096))]
    pub posted_headers: u32,
    /// For their data.
    #[schemars(range(min = 0, max = 65_536))]
    pub posted_data: u32,
    /// For reads.
    #[schemars(range(min = 0, max = 4096))]
    pub nonposted_headers: u32,
    /// For completions.
    #[schemars(range(min = 0, max = 4096))]
    pub completion_headers: u32,
    /// For their data.
    #[schemars(range(min = 0, max = 65_536))]
    pub completion_data: u32,
    /// A TLP taken to its credits in the other end's transmitter.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub credit_update_ns: f64,
}

/// A GPU on the bus of a host. Its port costs what the root port does.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PcieGpu {
    /// Lanes of its link, of the generation of the device's; not fewer than that one has.
    #[schemars(range(min = 1, max = 16))]
    pub lanes: u32,
    /// A peer's read request out of its port to the data there.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub read_ns: f64,
    /// A peer's write out of its port to its being visible.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub write_ns: f64,
    /// A copy of no bytes between its memory and the host's: call, engine, return.
    #[schemars(range(min = 0.0, max = 1_000.0))]
    pub copy_us: f64,
}

impl PcieGpu {
    /// Refuses a link that is slower than the device's.
    pub(crate) fn check(&self, link: &PcieLink) -> Result<(), RoadError> {
        if self.lanes >= link.lanes {
            return Ok(());
        }
        let reason = format!("{}: fewer than platform.link.lanes", self.lanes);
        Err(RoadError::scenario("platform.gpu.lanes", reason))
    }
}

/// Host memory as a device's DMA sees it.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DmaMemory {
    /// A request out of the root port to its data there.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub read_ns: f64,
    /// A write out of the root port to its being visible.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub write_ns: f64,
}

/// Host memory on PCIe, for a device's DMA alone.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PcieMemory {
    /// The link.
    pub link: PcieLink,
    /// The host's port.
    pub root: PciePort,
    /// The FPGA's hard block.
    pub endpoint: PciePort,
    /// Host memory behind the port.
    pub memory: DmaMemory,
}

/// Processor costs of PCIe accesses.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PcieHost {
    /// An uncached load: core to root port.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub load_issue_ns: f64,
    /// Its data: root port to core.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub load_return_ns: f64,
    /// An uncached store keeps the core.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub store_ns: f64,
    /// A store out of the core to the root port.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub store_issue_ns: f64,
    /// A store of 8 bytes into a write-combining buffer.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub combine_ns: f64,
    /// A store fence.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub fence_ns: f64,
    /// Interrupt message to the handler's first instruction.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub interrupt_ns: f64,
    /// From there to the waiting program.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub wakeup_ns: f64,
    /// A load of memory that the device has written.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub memory_load_ns: f64,
    /// A store to memory.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub memory_store_ns: f64,
    /// Copying beyond the first word.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub copy_ns_per_byte: f64,
    /// Cores.
    #[serde(default = "two")]
    #[schemars(range(min = 1, max = 1024))]
    pub cores: usize,
}

/// Time that a soft processor's program in the FPGA needs for a packet.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Firmware {
    /// Minimum time from a request until the program reads it.
    #[schemars(range(min = 0.0, max = 300.0))]
    pub wake_min_us: f64,
    /// Maximum of that time; it is distributed uniformly.
    #[schemars(range(min = 0.0, max = 300.0))]
    pub wake_max_us: f64,
    /// From there to the answer.
    #[schemars(range(min = 0.0, max = 300.0))]
    pub work_us: f64,
}

impl Firmware {
    /// Refuses a range without a time in it, by its key in `group`.
    pub(crate) fn check(&self, group: &str) -> Result<(), RoadError> {
        if self.wake_max_us >= self.wake_min_us {
            return Ok(());
        }
        let reason = format!("{} is below wake_min_us", self.wake_max_us);
        Err(RoadError::scenario(format!("{group}.firmware.wake_max_us"), reason))
    }

    /// The inputs of a device that stands for it; without one all are 0.
    pub(crate) fn inputs(of: Option<&Self>, clock_mhz: f64) -> [(&'static str, u64); 3] {
        let cycles = |us: f64| (us * clock_mhz).round() as u64;
        let [wake, span, work] = of.map_or([0; 3], |of| {
            let wake = cycles(of.wake_min_us);
            [wake, cycles(of.wake_max_us) - wake, cycles(of.work_us)]
        });
        [("firmware_wake_min", wake), ("firmware_wake_span", span), ("firmware_work", work)]
    }
}

/// A Gigabit PHY at the FPGA's GMII.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GigePhy {
    /// Transmit pins to medium.
    #[schemars(range(min = 0.0, max = 10_000.0))]
    pub tx_ns: f64,
    /// Medium to receive pins.
    #[schemars(range(min = 0.0, max = 10_000.0))]
    pub rx_ns: f64,
}

/// Every cable of the path.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GigeLink {
    /// Line rate.
    #[schemars(range(min = 1_000.0, max = 1_000.0))]
    pub rate_mbit_s: f64,
    /// Length of one cable.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub length_m: f64,
    /// Propagation delay.
    #[schemars(range(min = 3.0, max = 10.0))]
    pub delay_ns_per_m: f64,
}
