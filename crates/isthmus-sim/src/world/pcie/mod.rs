// SPDX-License-Identifier: Apache-2.0
//! PCI Express between a host and a device: links of generation 1 to 4, transaction by transaction.
//!
//! [`Pcie`] is a link with a root port and an endpoint's hard block. [`PcieHost`] is the interface
//! for host programs, [`PciePins`] connects the hard block's user side to a device's pins, and
//! [`Endpoint`] serves devices that are modelled in Rust. `docs/explanation/pcie-model.md`
//! describes the model and its limits, with the formulas.

mod config;
mod endpoint;
mod lane;
mod link;
mod peer;
mod user;
mod wire;

pub use config::{
    CreditConfig, EndpointConfig as PcieEndpointConfig, PcieConfig, PortConfig, RootConfig,
    StrayWrite,
};
pub use endpoint::Endpoint;
pub use link::Pcie;
pub use user::PciePins;
pub use wire::{
    DLLP_BYTES, Direction, ECRC_BYTES, FRAMING_BYTES, Generation, TlpKind, TlpRecord, wire_bytes,
};

pub use super::axi::{BarTarget, DmaError, ReadReply, Taken};
pub use super::host::{MmioError, MmioHost as PcieHost, MmioHostConfig as PcieHostConfig};
