// SPDX-License-Identifier: Apache-2.0
//! What a PCI-X bus and its two agents are: every constant an input with its unit.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::StrayWrite;
use crate::kernel::{Picoseconds, SimError};
use crate::world::config_error;

/// The least number of bytes between allowable disconnect boundaries: PCI-X knows no other.
const BOUNDARY: u32 = 128;

/// A bus with one bridge and one device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PcixConfig {
    /// Its name in this world.
    pub name: String,
    /// Its clock.
    #[schemars(range(min = 1.0, max = 1_000.0))]
    pub clock_mhz: f64,
    /// The bytes of a data phase: 4 or 8.
    #[schemars(range(min = 4, max = 8))]
    pub data_bytes: u32,
    /// Address phase: 1, or 2 where addresses need two.
    #[schemars(range(min = 1, max = 1000))]
    pub address_cycles: u32,
    /// Attribute phase: the requester, and the sequence's byte count.
    #[schemars(range(min = 1, max = 1000))]
    pub attribute_cycles: u32,
    /// From there to the first data phase: how fast targets decode.
    #[schemars(range(min = 1, max = 1000))]
    pub response_cycles: u32,
    /// Between the last data phase and the next transaction's address phase, at the least.
    #[schemars(range(min = 1, max = 1000))]
    pub turnaround_cycles: u32,
    /// A transaction of a single data phase lasts this much longer: its initiator lets go of the
    /// control signals a clock after the data.
    #[schemars(range(min = 0, max = 1000))]
    pub single_cycles: u32,
    /// From REQ# to the address phase, on an idle bus.
    #[schemars(range(min = 1, max = 1000))]
    pub arbitration_cycles: u32,
    /// How long an agent holds REQ# back after a transaction that was cut or refused.
    #[schemars(range(min = 0, max = 1000))]
    pub release_cycles: u32,
    /// From the address phase to a master abort where no target answers.
    #[schemars(range(min = 1, max = 1000))]
    pub master_abort_cycles: u32,
    /// Transactions are cut at multiples of it alone.
    #[schemars(range(min = 128, max = 4096))]
    pub boundary_bytes: u32,
    /// The longest sequence.
    #[schemars(range(min = 128, max = 4096))]
    pub sequence_bytes: u32,
    /// The host's end.
    pub bridge: BridgeConfig,
    /// The device's end.
    pub core: CoreConfig,
}

/// The bridge between bus, processors and memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BridgeConfig {
    /// The bus address of the host memory's first byte.
    #[schemars(range(min = 0, max = 1_099_511_627_776_u64))]
    pub memory_base: u64,
    /// The bytes of a data phase in which processors' stores go out: 4 or 8.
    #[schemars(range(min = 4, max = 8))]
    pub store_bytes: u32,
    /// Stores that wait for the bus before the core that sends them is held up.
    #[schemars(range(min = 1, max = 1024))]
    pub posted_stores: usize,
    /// It takes at most this many bytes of the device in one transaction.
    #[schemars(range(min = 128, max = 65_536))]
    pub accept_bytes: u32,
    /// Room for bytes of the device that are not in memory yet; where there is none it refuses.
    #[schemars(range(min = 128, max = 65_536))]
    pub write_buffer_bytes: u32,
    /// From a write's last data phase to its bytes visible to programs.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub memory_write_ns: f64,
    /// From the end of a read's request to the bridge's asking for the bus with the first data.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub memory_read_ns: f64,
    /// It sends at most this many bytes of a read in one transaction.
    #[schemars(range(min = 128, max = 65_536))]
    pub completion_bytes: u32,
    /// Reads of the device that it holds; it refuses others.
    #[schemars(range(min = 1, max = 1024))]
    pub split_reads: usize,
    /// Writes of the device to where no memory is.
    pub stray_writes: StrayWrite,
}

/// How the device notifies the host of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Interrupts {
    /// By a signal beside the bus, which waits for no write.
    Pin,
    /// By a write of four bytes, behind all writes before it.
    Message,
}

/// The device's PCI-X core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CoreConfig {
    /// The bus address of BAR 0.
    #[schemars(range(min = 0, max = 1_099_511_627_776_u64))]
    pub bar_base: u64,
    /// The size of BAR 0: a power of two.
    #[schemars(range(min = 16, max = 4_294_967_296_u64))]
    pub bar_bytes: u64,
    /// From the user side to REQ#.
    #[schemars(range(min = 0, max = 1000))]
    pub transmit_cycles: u32,
    /// REQ# may go up before there is anything to send, where the device says that it will come.
    pub ahead: bool,
    /// From the bus to the user side.
    #[schemars(range(min = 0, max = 1000))]
    pub receive_cycles: u32,
    /// Reads of the device that may be outstanding.
    #[schemars(range(min = 1, max = 1024))]
    pub reads: usize,
    /// Room for data of the device's writes that is not on the bus yet.
    #[schemars(range(min = 128, max = 65_536))]
    pub write_buffer_bytes: u32,
    /// Room for stores that the device has not taken yet; where there is none it refuses.
    #[schemars(range(min = 64, max = 65_536))]
    pub store_buffer_bytes: u32,
    /// It answers a load at once if the device has within this many clocks of the address phase; 0:
    /// never. Else it splits it.
    #[schemars(range(min = 0, max = 1000))]
    pub immediate_cycles: u32,
    /// How interrupts go.
    pub interrupts: Interrupts,
    /// An interrupt signal's way to the bridge.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub interrupt_pin_ns: f64,
}

/// The spans of time out of a configuration, checked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub(super) cycle: Picoseconds,
    pub(super) memory_read: Picoseconds,
    pub(super) memory_write: Picoseconds,
    pub(super) interrupt_pin: Picoseconds,
}

impl PcixConfig {
    /// Checks all that can be checked without a device.
    pub(super) fn check(&self) -> Result<Times, SimError> {
        let name = crate::world::ethernet::named(&self.name)?;
        let refuse = |reason: String| Err(config_error(name, reason));
        if !(self.clock_mhz.is_finite() && (1.0..=1000.0).contains(&self.clock_mhz)) {
            return refuse(format!("clock_mhz = {}: 1 to 1000 expected", self.clock_mhz));
        }
        for (field, value) in
            [("data_bytes", self.data_bytes), ("bridge.store_bytes", self.bridge.store_bytes)]
        {
            if !matches!(value, 4 | 8) || value > self.data_bytes {
                return refuse(format!("{field} = {value}: 4 or 8 expected, at most data_bytes"));
            }
        }
        let phases = [
            ("address_cycles", self.address_cycles, 1),
            ("attribute_cycles", self.attribute_cycles, 1),
            ("response_cycles", self.response_cycles, 1),
            ("turnaround_cycles", self.turnaround_cycles, 1),
            ("single_cycles", self.single_cycles, 0),
            ("arbitration_cycles", self.arbitration_cycles, 1),
            ("release_cycles", self.release_cycles, 0),
            ("master_abort_cycles", self.master_abort_cycles, 1),
            ("core.transmit_cycles", self.core.transmit_cycles, 0),
            ("core.receive_cycles", self.core.receive_cycles, 0),
            ("core.immediate_cycles", self.core.immediate_cycles, 0),
        ];
        for (field, value, least) in phases {
            if !(least..=1000).contains(&value) {
                return refuse(format!("{field} = {value}: {least} to 1000 expected"));
            }
        }
        let boundary = self.boundary_bytes;
        if !boundary.is_power_of_two() || !(BOUNDARY..=4096).contains(&boundary) {
            return refuse(format!(
                "boundary_bytes = {boundary}: a power of two, {BOUNDARY} to 4096, expected"
            ));
        }
        for (field, value) in [
            ("sequence_bytes", self.sequence_bytes),
            ("bridge.accept_bytes", self.bridge.accept_bytes),
            ("bridge.completion_bytes", self.bridge.completion_bytes),
            ("bridge.write_buffer_bytes", self.bridge.write_buffer_bytes),
            ("core.write_buffer_bytes", self.core.write_buffer_bytes),
        ] {
            if value < boundary || value % boundary != 0 {
                return refuse(format!(
                    "{field} = {value}: a multiple of boundary_bytes = {boundary} expected"
                ));
            }
        }
        if self.sequence_bytes > 4096 {
            return refuse(format!("sequence_bytes = {}: at most 4096", self.sequence_bytes));
        }
        for (field, value) in [
            ("bridge.posted_stores", self.bridge.posted_stores),
            ("bridge.split_reads", self.bridge.split_reads),
            ("core.reads", self.core.reads),
        ] {
            if !(1..=1024).contains(&value) {
                return refuse(format!("{field} = {value}: 1 to 1024 expected"));
            }
        }
        if self.core.store_buffer_bytes < crate::world::host::LINE_BYTES as u32 {
            return refuse(format!(
                "core.store_buffer_bytes = {}: at least a combined line of 64 expected",
                self.core.store_buffer_bytes
            ));
        }
        let CoreConfig { bar_base, bar_bytes, .. } = self.core;
        if !bar_bytes.is_power_of_two() || bar_bytes < 16 || bar_base % bar_bytes != 0 {
            return refuse(format!(
                "core.bar_bytes = {bar_bytes:#x}, core.bar_base = {bar_base:#x}: a power of two \
                 from 16 on, and a multiple of it, expected"
            ));
        }
        let ns = |field, value| crate::world::time(name, field, value);
        Ok(Times {
            cycle: Picoseconds((1e6 / self.clock_mhz).round() as u64),
            memory_read: ns("bridge.memory_read_ns", self.bridge.memory_read_ns)?,
            memory_write: ns("bridge.memory_write_ns", self.bridge.memory_write_ns)?,
            interrupt_pin: ns("core.interrupt_pin_ns", self.core.interrupt_pin_ns)?,
        })
    }
}
