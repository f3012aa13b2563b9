// SPDX-License-Identifier: Apache-2.0
//! Serial links at the user side of their transceivers, and what hangs on a switch's ports.
//!
//! Everything here runs word by word and allocates nothing for one: interfaces with virtual output
//! queues ([`station`]), cables with their faults ([`line`]), the account of every packet ([`ledger`]).
//! [`Network`] holds it all and knows no simulator; [`SwitchPins`] ties it to a device. [`SerialPorts`] joins
//! the pins of devices.

pub mod end;
pub mod lanes;
pub mod ledger;
pub mod line;
pub mod network;
pub mod pins;
pub mod station;
pub mod traffic;
pub mod wires;
pub mod word;

pub use end::{End, EndConfig, Ended, Feed, Next, Received, Rooms};
pub use lanes::LanesConfig;
pub use ledger::{FaultCounters, Key, Ledger, Tally};
pub use line::{Line, LineFaults};
pub use network::{LaneSlip, LinkReset, Network, NetworkConfig, SinkStall};
pub use pins::SwitchPins;
pub use station::{Delivery, Station, StationConfig};
pub use traffic::{Arrivals, Packet, Pattern, Source, TrafficConfig};
pub use wires::{PacketMark, SerialPorts, WireConfig, WireCut};
pub use word::{Crc24, Token, Word};
