// SPDX-License-Identifier: Apache-2.0
//! PCI Express between a host and a device: links of generation 1 to 3, transaction by transaction.
//!
//! [`Pcie`] is a link with a root port and an endpoint's hard block. [`PcieHost`] is what host
//! programs use, [`PciePins`] puts the hard block's user side at a device's pins, and [`Endpoint`]
//! serves devices that are modelled in Rust. `docs/explanation/pcie-model.md` says what is modelled,
//! with the formulas, and what is not.

mod axi;
mod config;
mod endpoint;
mod host;
mod lane;
mod link;
mod pins;
mod wire;

pub use config::{
    CreditConfig, EndpointConfig as PcieEndpointConfig, PcieConfig, PortConfig, RootConfig,
    StrayWrite,
};
pub use endpoint::{BarTarget, DmaError, Endpoint, ReadReply, Taken};
pub use host::{MmioError, PcieHost, PcieHostConfig};
pub use link::Pcie;
pub use pins::PciePins;
pub use wire::{
    DLLP_BYTES, Direction, ECRC_BYTES, FRAMING_BYTES, Generation, TlpKind, TlpRecord, wire_bytes,
};
