// SPDX-License-Identifier: Apache-2.0
//! Configuration of a PCIe link and its two ends. Every constant is an input and has its unit.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::wire::Generation;
use crate::kernel::{Picoseconds, SimError};
use crate::world::config_error;

/// A link between a root port and one endpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PcieConfig {
    /// Name of the link in this world.
    pub name: String,
    /// PCIe generation (transfer rate and coding).
    pub generation: Generation,
    /// Number of lanes: 1, 2, 4, 8 or 16.
    pub lanes: u32,
    /// Max_Payload_Size: a power of two, 128 to 4096.
    pub max_payload_bytes: u32,
    /// Max_Read_Request_Size: a power of two, 128 to 4096.
    pub max_read_request_bytes: u32,
    /// Read completions end at multiples of this: the read completion boundary (64 or 128) if the
    /// root complex answers with single cache lines, up to `max_payload_bytes` if it merges them.
    pub read_completion_bytes: u32,
    /// Whether TLPs carry an end-to-end CRC of 4 bytes.
    #[serde(default)]
    pub ecrc: bool,
    /// Fraction of each direction's symbols that TLPs cannot use: SKP ordered sets, and DLLPs if
    /// they are not modelled one by one.
    pub reserved_share: f64,
    /// TLPs per ACK DLLP; 0: ACKs are part of `reserved_share`.
    pub ack_every_tlps: u32,
    /// TLPs taken out of the receive buffer per UpdateFC DLLP; 0: part of `reserved_share`.
    pub update_every_tlps: u32,
    /// Propagation delay from the pins of one end to those of the other: traces, connector, cable.
    pub propagation_ns: f64,
    /// From the last symbol of a TLP with a wrong LCRC to the first symbol of its replay.
    pub replay_ns: f64,
    /// The host's end.
    pub root: RootConfig,
    /// The device's end.
    pub endpoint: EndpointConfig,
}

/// The PCIe hard block of one end: transaction, data link and physical layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortConfig {
    /// From a TLP at the user side to its first symbol on the pins, with the link idle.
    pub transmit_latency_ns: f64,
    /// From a TLP's last symbol on the pins to the TLP at the user side.
    pub receive_latency_ns: f64,
    /// Posted TLPs that the block queues before it stalls its user side.
    pub transmit_queue_tlps: usize,
    /// Receive buffers that it advertises.
    pub credits: CreditConfig,
    /// From a TLP leaving the receive buffer to its credits at the other end's transmitter.
    pub credit_update_ns: f64,
}

/// Receive buffers in flow-control credits: a header, or 16 bytes of data. 0 means infinite, as in
/// the protocol. There are no non-posted data credits: memory reads carry no data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CreditConfig {
    /// Headers of writes and interrupts.
    pub posted_headers: u32,
    /// Data of writes and interrupts.
    pub posted_data: u32,
    /// Headers of reads.
    pub nonposted_headers: u32,
    /// Headers of completions.
    pub completion_headers: u32,
    /// Data of completions.
    pub completion_data: u32,
}

/// What happens to a write to an address without host memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StrayWrite {
    /// The run fails with an error that names the address.
    Fail,
    /// The write is dropped and counted, as in hardware.
    Drop,
}

/// The root complex: one root port and the memory behind it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RootConfig {
    /// PCIe hard block of this end.
    pub port: PortConfig,
    /// Bus address of the first byte of host memory. TLP headers have 3 DW below 4 GiB, else 4 DW.
    pub memory_base: u64,
    /// Read latency of memory, port to port: last-level cache or DRAM.
    pub memory_read_ns: f64,
    /// From a write at the port to its data being visible to programs.
    pub memory_write_ns: f64,
    /// What happens to a device's write to an address without memory.
    pub stray_writes: StrayWrite,
}

/// The endpoint: the device's hard block, its BAR and its tags.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndpointConfig {
    /// PCIe hard block of this end.
    pub port: PortConfig,
    /// Bus address of BAR 0.
    pub bar_base: u64,
    /// Size of BAR 0 in bytes: a power of two.
    pub bar_bytes: u64,
    /// Maximum number of outstanding read requests.
    pub tags: u32,
    /// Completion timeout of a read request.
    pub completion_timeout_ns: f64,
}

/// Latencies of one port, after the check.
#[derive(Clone, Copy, Debug)]
pub(super) struct PortTimes {
    pub(super) transmit: Picoseconds,
    pub(super) receive: Picoseconds,
    pub(super) credit_update: Picoseconds,
}

impl PortConfig {
    fn check(
        &self,
        model: &str,
        end: &str,
        max_payload: u32,
        max_completion: u32,
    ) -> Result<PortTimes, SimError> {
        let ns =
            |field: &str, value| crate::world::time(model, &format!("{end}.port.{field}"), value);
        let refuse = |field: &str, value: u32, least: u32| {
            Err(config_error(
                model,
                format!("{end}.port.{field} = {value}: 0 (no limit) or at least {least} expected"),
            ))
        };
        let credits = self.credits;
        for (field, value, bytes) in [
            ("credits.posted_data", credits.posted_data, max_payload),
            ("credits.completion_data", credits.completion_data, max_completion),
        ] {
            // Unaligned data occupies one more word than its length suggests.
            let least = super::wire::data_credits(bytes as usize + 4);
            if value != 0 && value < least {
                return refuse(field, value, least);
            }
        }
        if self.transmit_queue_tlps == 0 {
            let reason = format!("{end}.port.transmit_queue_tlps = 0: at least 1 expected");
            return Err(config_error(model, reason));
        }
        Ok(PortTimes {
            transmit: ns("transmit_latency_ns", self.transmit_latency_ns)?,
            receive: ns("receive_latency_ns", self.receive_latency_ns)?,
            credit_update: ns("credit_update_ns", self.credit_update_ns)?,
        })
    }
}

impl PcieConfig {
    /// Checks all that does not depend on the device; returns the times of root and endpoint.
    pub(super) fn check(&self) -> Result<(PortTimes, PortTimes), SimError> {
        let name = crate::world::ethernet::named(&self.name)?;
        let refuse = |reason: String| Err(config_error(name, reason));
        if !matches!(self.lanes, 1 | 2 | 4 | 8 | 16) {
            return refuse(format!("lanes = {}: 1, 2, 4, 8 or 16 expected", self.lanes));
        }
        for (field, value) in [
            ("max_payload_bytes", self.max_payload_bytes),
            ("max_read_request_bytes", self.max_read_request_bytes),
        ] {
            if !value.is_power_of_two() || !(128..=4096).contains(&value) {
                return refuse(format!("{field} = {value}: a power of two, 128 to 4096, expected"));
            }
        }
        let completion = self.read_completion_bytes;
        if !completion.is_power_of_two() || !(64..=self.max_payload_bytes).contains(&completion) {
            return refuse(format!(
                "read_completion_bytes = {completion}: a power of two, 64 to max_payload_bytes \
                 = {}, expected",
                self.max_payload_bytes
            ));
        }
        if !(0.0..1.0).contains(&self.reserved_share) {
            let share = self.reserved_share;
            return refuse(format!("reserved_share = {share}: at least 0 and below 1 expected"));
        }
        let EndpointConfig { bar_base, bar_bytes, tags, .. } = self.endpoint;
        if !bar_bytes.is_power_of_two() || bar_bytes < 16 || bar_base % bar_bytes != 0 {
            return refuse(format!(
                "endpoint.bar_bytes = {bar_bytes:#x}, endpoint.bar_base = {bar_base:#x}: a power of \
                 two from 16 on, and a multiple of it, expected"
            ));
        }
        if !(1..=1024).contains(&tags) {
            return refuse(format!("endpoint.tags = {tags}: 1 to 1024 expected"));
        }
        let port = |end, port: &PortConfig| {
            port.check(name, end, self.max_payload_bytes, self.read_completion_bytes)
        };
        Ok((port("root", &self.root.port)?, port("endpoint", &self.endpoint.port)?))
    }
}
