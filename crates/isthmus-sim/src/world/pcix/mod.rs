// SPDX-License-Identifier: Apache-2.0
//! PCI-X between a host and a device: one multiplexed bus that both share, transaction by
//! transaction.
//!
//! [`Pcix`] is the bus with the host's bridge and the device's core. [`PcixHost`] is the interface
//! for host programs, [`PcixPins`] connects the core's user side to a device's pins, and
//! [`PcixEndpoint`] serves devices that are modelled in Rust. `docs/explanation/pcix-model.md`
//! describes the model and its limits, with the formulas.

mod bridge;
mod bus;
mod config;
mod core;
mod record;
mod user;

pub use self::bus::Pcix;
pub use self::config::{BridgeConfig, CoreConfig, Interrupts, PcixConfig};
pub use self::record::{PcixAgent, PcixKind, PcixOutcome, PcixRecord};
pub use self::user::{PcixEndpoint, PcixPins};
pub use super::axi::{BarTarget, DmaError, ReadReply, Taken};
pub use super::host::{MmioError, MmioHost as PcixHost, MmioHostConfig as PcixHostConfig};
pub use super::pcie::StrayWrite;
