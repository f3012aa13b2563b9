// SPDX-License-Identifier: Apache-2.0
//! Constants that several roads have in common: a host on PCI Express.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::scenario::two;

/// A PCIe link.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PcieLink {
    /// Generation, 1 to 3.
    #[schemars(range(min = 1, max = 3))]
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
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DmaMemory {
    /// A request out of the root port to its data there.
    pub read_ns: f64,
    /// A write out of the root port to its being visible.
    pub write_ns: f64,
}

/// What a processor pays to use PCIe.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
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
    #[schemars(range(min = 1, max = 1024))]
    pub cores: usize,
}
