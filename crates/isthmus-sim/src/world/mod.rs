// SPDX-License-Identifier: Apache-2.0
//! Models of the parts that a designer buys rather than designs.
//!
//! Each has latencies and rates, and nothing else; every constant comes from its configuration, and
//! there are no defaults. Frames are real bytes: preamble, headers, checksums and FCS included.

pub mod atomics;
mod axi;
pub mod blocks;
pub mod cable;
pub mod ccix;
pub mod endpoint;
pub mod ethernet;
pub mod flits;
pub mod gpu;
pub mod host;
pub mod iommu;
pub mod lanes;
pub mod lines;
pub mod link;
pub mod nic;
pub mod packet;
pub mod pcie;
pub mod pcix;
pub mod phy;
pub mod switch;
pub mod tasks;
pub mod usb;
pub mod vme;
pub mod words;
pub mod xgmii;

pub use cable::{Cable, CableConfig};
pub use endpoint::{EndpointConfig, FrameEndpoint, ReceivedFrame};
pub use ethernet::{EthernetPort, MacAddress, Port};
pub use gpu::{CopyWay, Gpu, GpuConfig};
pub use host::{
    Cpu, CpuConfig, Datagram, Host, HostConfig, Memory, MemoryConfig, NetConfig, NetError,
    UdpSocket,
};
pub use iommu::{Iommu, IommuConfig, IommuCounters, Leaf, Walk};
pub use nic::{Nic, NicConfig};
pub use phy::{GmiiPhy, PhyConfig, PhyFrame};
pub use switch::{Switch, SwitchConfig};
pub use usb::{Fx2, Fx2Config, SerialPort, UsbHost, UsbHostConfig};
pub use vme::{VmeConfig, VmeError, VmeHost};
pub use xgmii::XgmiiPhy;

use crate::kernel::{Picoseconds, SimError};

/// A span of time out of a configuration: finite and not negative, or an error that names it.
fn time(model: &str, field: &str, ns: f64) -> Result<Picoseconds, SimError> {
    if ns.is_finite() && (0.0..=1e12).contains(&ns) {
        return Ok(Picoseconds::from_ns_f64(ns));
    }
    Err(config_error(model, format!("{field} = {ns}: 0 to 10^12 expected")))
}

/// A rate out of a configuration: positive, or an error that names it.
fn bit_rate(model: &str, bit_s: u64) -> Result<crate::kernel::Hertz, SimError> {
    if (1_000..=1_000_000_000_000).contains(&bit_s) {
        return Ok(crate::kernel::Hertz(bit_s));
    }
    Err(config_error(model, format!("bit_rate_bit_s = {bit_s}: 10^3 to 10^12 expected")))
}

fn config_error(model: &str, reason: String) -> SimError {
    SimError::Config { model: model.to_owned(), reason }
}
