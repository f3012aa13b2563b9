// SPDX-License-Identifier: Apache-2.0
//! Serial links at the user side of their transceivers: words ([`word`]), cables with their faults
//! ([`line`]), the pins of a switch ([`SwitchPins`]) and links between devices ([`SerialPorts`]).
//!
//! Nothing here allocates for a word.

pub mod faults;
pub mod line;
pub mod pins;
pub mod wires;
pub mod word;

pub use faults::{FaultCounters, FaultLog, Key};
pub use line::{Line, LineFaults};
pub use pins::{PortWords, SwitchPins};
pub use wires::{PacketMark, SerialPorts, WireConfig, WireCut};
pub use word::{Crc24, Token, Word};
