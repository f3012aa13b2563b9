// SPDX-License-Identifier: Apache-2.0
//! Configuration of a PCI-X bus and its two agents. Every constant is an input and has its unit.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::StrayWrite;
use crate::kernel::{Picoseconds, SimError};
use crate::world::config_error;

/// Bytes between two allowable disconnect boundaries (ADB) of PCI-X.
const BOUNDARY: u32 = 128;

/// A bus with one bridge and one device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PcixConfig {
    /// Name of the bus in this world.
    pub name: String,
    /// Bus clock.
    #[schemars(range(min = 1.0, max = 1_000.0))]
    pub clock_mhz: f64,
    /// Bytes per data phase: 4 or 8.
    #[schemars(range(min = 4, max = 8))]
    pub data_bytes: u32,
    /// Length of the address phase: 1, or 2 for dual address cycles.
    #[schemars(range(min = 1, max = 1000))]
    pub address_cycles: u32,
    /// Length of the attribute phase, which carries the requester and the byte count.
    #[schemars(range(min = 1, max = 1000))]
    pub attribute_cycles: u32,
    /// From the attribute phase to the first data phase: the decode speed of targets.
    #[schemars(range(min = 1, max = 1000))]
    pub response_cycles: u32,
    /// Minimum from the last data phase to the address phase of the next transaction.
    #[schemars(range(min = 1, max = 1000))]
    pub turnaround_cycles: u32,
    /// Extra length of a transaction with a single data phase: its initiator releases the control
    /// signals one clock after the data.
    #[schemars(range(min = 0, max = 1000))]
    pub single_cycles: u32,
    /// From REQ# to the address phase, with the bus idle.
    #[schemars(range(min = 1, max = 1000))]
    pub arbitration_cycles: u32,
    /// How long an agent keeps REQ# deasserted after a disconnect or retry.
    #[schemars(range(min = 0, max = 1000))]
    pub release_cycles: u32,
    /// From the address phase to a master abort, if no target claims the transaction.
    #[schemars(range(min = 1, max = 1000))]
    pub master_abort_cycles: u32,
    /// Transactions are disconnected only at multiples of this.
    #[schemars(range(min = 128, max = 4096))]
    pub boundary_bytes: u32,
    /// Maximum byte count of a sequence.
    #[schemars(range(min = 128, max = 4096))]
    pub sequence_bytes: u32,
    /// The host's bridge.
    pub bridge: BridgeConfig,
    /// The device's PCI-X core.
    pub core: CoreConfig,
}

/// The bridge between bus, processors and memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BridgeConfig {
    /// Bus address of the first byte of host memory.
    #[schemars(range(min = 0, max = 1_099_511_627_776_u64))]
    pub memory_base: u64,
    /// Bytes per data phase of a processor's store: 4 or 8.
    #[schemars(range(min = 4, max = 8))]
    pub store_bytes: u32,
    /// Posted stores that the bridge queues before it stalls the processor.
    #[schemars(range(min = 1, max = 1024))]
    pub posted_stores: usize,
    /// Maximum bytes of a device's write that it accepts in one transaction.
    #[schemars(range(min = 128, max = 65_536))]
    pub accept_bytes: u32,
    /// Buffer for the device's writes on their way to memory; when full, the bridge answers Retry.
    #[schemars(range(min = 128, max = 65_536))]
    pub write_buffer_bytes: u32,
    /// From a write's last data phase to its data being visible to programs.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub memory_write_ns: f64,
    /// From the end of a read request to the bridge's REQ# for the first data.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub memory_read_ns: f64,
    /// Maximum bytes of a read that it returns in one transaction.
    #[schemars(range(min = 128, max = 65_536))]
    pub completion_bytes: u32,
    /// Split reads that the bridge holds; it answers further ones with Retry.
    #[schemars(range(min = 1, max = 1024))]
    pub split_reads: usize,
    /// What happens to a device's write to an address without memory.
    pub stray_writes: StrayWrite,
}

/// How the device notifies the host of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Interrupts {
    /// By an interrupt pin, which is not ordered behind writes.
    Pin,
    /// By a write of four bytes, ordered behind all earlier writes.
    Message,
}

/// The device's PCI-X core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CoreConfig {
    /// Bus address of BAR 0.
    #[schemars(range(min = 0, max = 1_099_511_627_776_u64))]
    pub bar_base: u64,
    /// Size of BAR 0 in bytes: a power of two.
    #[schemars(range(min = 16, max = 4_294_967_296_u64))]
    pub bar_bytes: u64,
    /// From the user side to REQ#.
    #[schemars(range(min = 0, max = 1000))]
    pub transmit_cycles: u32,
    /// Whether the core asserts REQ# early, when the device announces data that is not there yet.
    pub ahead: bool,
    /// From the bus to the user side.
    #[schemars(range(min = 0, max = 1000))]
    pub receive_cycles: u32,
    /// Maximum number of outstanding reads of the device.
    #[schemars(range(min = 1, max = 1024))]
    pub reads: usize,
    /// Buffer for the device's writes that wait for the bus.
    #[schemars(range(min = 128, max = 65_536))]
    pub write_buffer_bytes: u32,
    /// Buffer for stores that the device has not taken yet; when it is full the core answers Retry.
    #[schemars(range(min = 64, max = 65_536))]
    pub store_buffer_bytes: u32,
    /// A load is answered in the same transaction if the device answers within this many clocks of
    /// the address phase, else with a Split Response; 0: always split.
    #[schemars(range(min = 0, max = 1000))]
    pub immediate_cycles: u32,
    /// How interrupts are signalled.
    pub interrupts: Interrupts,
    /// Delay of the interrupt pin to the bridge.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub interrupt_pin_ns: f64,
}

/// Times of a configuration, after the check.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub(super) cycle: Picoseconds,
    pub(super) memory_read: Picoseconds,
    pub(super) memory_write: Picoseconds,
    pub(super) interrupt_pin: Picoseconds,
}

impl PcixConfig {
    /// Checks everything that does not depend on the device.
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
