// SPDX-License-Identifier: Apache-2.0
//! The link protocol and the network around a switch: interfaces with virtual output queues ([`station`]),
//! the protocol at an interface's end of a link ([`end`]), lanes ([`lanes`]), traffic ([`traffic`]) and the
//! account of every packet ([`ledger`]).
//!
//! [`Network`] runs word by word and allocates nothing for a word. `isthmus_sim::world::link` has the words,
//! the lines and the pins.

pub(crate) mod end;
pub(crate) mod lanes;
pub(crate) mod ledger;
pub(crate) mod network;
pub(crate) mod station;
pub(crate) mod traffic;

pub(crate) use end::{End, EndConfig, Feed, Next, Rooms};
pub(crate) use lanes::LanesConfig;
pub(crate) use network::{LaneSlip, LinkReset, Network, NetworkConfig, SinkStall};
pub(crate) use station::{Delivery, StationConfig};
pub(crate) use traffic::{Arrivals, Packet, Pattern, Source, TrafficConfig};
