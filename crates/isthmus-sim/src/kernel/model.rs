// SPDX-License-Identifier: Apache-2.0
//! What the kernel needs of a device model, Verilated or written in Rust.

use super::pin::PinStorage;
use super::units::Picoseconds;

/// Which way a port points, seen from the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Into the device.
    Input,
    /// Out of the device.
    Output,
}

/// A port of a device's top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortInfo {
    /// Its name in the source, suffix included.
    pub name: String,
    /// Its width in bits.
    pub width: u32,
    /// Its direction.
    pub direction: Direction,
}

/// A model's description of itself.
#[derive(Clone, Debug, Default)]
pub struct Description {
    /// The name of its top module.
    pub top: String,
    /// The hash of sources, parameters and tool versions it was built from.
    pub source_hash: String,
    /// Its stage names, in the order of the bits of `probe_o`.
    pub probes: Vec<String>,
    /// True if it can write an FST trace.
    pub can_trace: bool,
    /// The parameters it was built with, as the builder wrote them.
    pub parameters: serde_json::Value,
    /// Its ports, in the order of their indices.
    pub ports: Vec<PortInfo>,
}

/// A device model: ports with storage, and a function that settles it.
///
/// [`load_model`](super::load_model) gives one for a Verilated shared object. A test double in Rust
/// implements the same trait over [`PinStorage::words`].
pub trait Model {
    /// Its kind.
    fn description(&self) -> &Description;
    /// The storage of port `index` of [`Description::ports`].
    fn pin(&self, index: usize) -> PinStorage;
    /// Reacts to all inputs that changed since the last call.
    ///
    /// # Errors
    /// One line, when the model itself fails, for example because its logic does not settle. It is not
    /// evaluated again.
    fn eval(&mut self, time: Picoseconds) -> Result<(), String>;
    /// As [`eval`](Self::eval), where only clocks have changed since the last call.
    ///
    /// # Errors
    /// As [`eval`](Self::eval).
    fn eval_edge(&mut self, time: Picoseconds) -> Result<(), String> {
        self.eval(time)
    }
}
