// SPDX-License-Identifier: Apache-2.0
//! What a PCIe link and its two ends are: every constant an input with its unit.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::wire::Generation;
use crate::kernel::{Picoseconds, SimError};
use crate::world::config_error;

/// A link between a root port and one endpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PcieConfig {
    /// Its name in this world.
    pub name: String,
    /// The generation it runs at.
    pub generation: Generation,
    /// Lanes: 1, 2, 4, 8 or 16.
    pub lanes: u32,
    /// The largest payload of a TLP: 128 to 4096, a power of two.
    pub max_payload_bytes: u32,
    /// The largest read request: 128 to 4096, a power of two.
    pub max_read_request_bytes: u32,
    /// Read completions end at multiples of this: the read completion boundary (64 or 128) where
    /// the root complex answers by the cache line, up to `max_payload_bytes` where it merges lines.
    pub read_completion_bytes: u32,
    /// Whether TLPs carry an end-to-end CRC of 4 bytes.
    #[serde(default)]
    pub ecrc: bool,
    /// The share of each direction's symbols that TLPs cannot use: SKP ordered sets, and DLLPs where
    /// they are not counted one by one.
    pub reserved_share: f64,
    /// An acknowledgement DLLP goes back once per this many TLPs; 0: in `reserved_share`.
    pub ack_every_tlps: u32,
    /// A flow-control DLLP goes back once per this many TLPs that left a receive buffer; 0: in
    /// `reserved_share`.
    pub update_every_tlps: u32,
    /// From a symbol on one end's pins to the same symbol on the other's: traces, connector, cable.
    pub propagation_ns: f64,
    /// After a TLP with a wrong LCRC: from its last symbol to the first of its second transmission.
    pub replay_ns: f64,
    /// The host's end.
    pub root: RootConfig,
    /// The device's end.
    pub endpoint: EndpointConfig,
}

/// One end's hard block: transaction, data link and physical layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortConfig {
    /// From a TLP handed to the block to its first symbol on the pins, on a free link.
    pub transmit_latency_ns: f64,
    /// From a TLP's last symbol on the pins to the TLP at the block's user side.
    pub receive_latency_ns: f64,
    /// Posted TLPs that wait inside for the wire before their sender is held up.
    pub transmit_queue_tlps: usize,
    /// The room it advertises for TLPs it receives.
    pub credits: CreditConfig,
    /// From a TLP taken out of the receive buffer to its credits in the other end's transmitter.
    pub credit_update_ns: f64,
}

/// Receive buffers in flow-control units: a header, or 16 bytes of data. 0 is without limit, as on
/// the wire. Memory reads carry no data: there are no non-posted data credits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CreditConfig {
    /// Writes and interrupts.
    pub posted_headers: u32,
    /// Their data.
    pub posted_data: u32,
    /// Reads.
    pub nonposted_headers: u32,
    /// Completions.
    pub completion_headers: u32,
    /// Their data.
    pub completion_data: u32,
}

/// What happens to a write to where no host memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StrayWrite {
    /// The run fails, and names the address.
    Fail,
    /// It is dropped and counted, as hardware does.
    Drop,
}

/// The root complex, as far as one of its ports needs it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RootConfig {
    /// Its port.
    pub port: PortConfig,
    /// The bus address of the host memory's first byte. Below 4 GiB headers are 3 DW, else 4 DW.
    pub memory_base: u64,
    /// From a read request out of the port to its data at the port: last-level cache or DRAM.
    pub memory_read_ns: f64,
    /// From a write out of the port to its bytes visible to programs.
    pub memory_write_ns: f64,
    /// Writes of the device to where no memory is.
    pub stray_writes: StrayWrite,
}

/// The device's hard block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndpointConfig {
    /// Its port.
    pub port: PortConfig,
    /// The bus address of BAR 0.
    pub bar_base: u64,
    /// The size of BAR 0: a power of two.
    pub bar_bytes: u64,
    /// Read requests that may be outstanding.
    pub tags: u32,
    /// How long a request waits for its completions.
    pub completion_timeout_ns: f64,
}

/// The latencies of one port, checked.
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
            // Unaligned data touches one more word than its length says.
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
    /// Checks all that can be checked without a device; gives the times of root and endpoint.
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
