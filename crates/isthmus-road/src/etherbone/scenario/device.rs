// SPDX-License-Identifier: Apache-2.0
//! The FPGA of a scenario.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use isthmus_sim::kernel::{HoldSpec, ResetSpec};
use isthmus_sim::world::MacAddress;

use crate::error::RoadError;

/// The FPGA's side of the pins.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fpga {
    /// Clock of the gateware, on Ethernet also of its GMII transmit side.
    #[schemars(range(min = 1.0, max = 1_000.0))]
    pub clock_mhz: f64,
    /// TAI seconds since 1970 at simulated time zero.
    #[schemars(range(min = 0, max = 8_589_934_592_u64))]
    pub epoch_s: u64,
    /// Frequency error of the FPGA's oscillator. External clocks have none.
    #[serde(default)]
    #[schemars(range(min = -1000.0, max = 1000.0))]
    pub clock_offset_ppm: f64,
}

/// The FPGA.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EtherboneDevice {
    /// The shared object of its model.
    pub model_path: PathBuf,
    /// Its MAC address.
    #[serde(default = "default_mac")]
    pub mac: MacAddress,
    /// Its IPv4 address.
    #[serde(default = "default_ip")]
    pub ip: std::net::Ipv4Addr,
    /// Its subnet's mask: probes to the subnet's broadcast address are answered.
    #[serde(default = "default_netmask")]
    pub netmask: std::net::Ipv4Addr,
    /// The UDP port of its Etherbone service.
    #[serde(default = "default_port")]
    pub udp_port: u16,
    /// The dialect of that service.
    #[serde(default)]
    pub dialect: Dialect,
    /// The UDP port that its replies go to; 0: the one that the request came from.
    #[serde(default)]
    pub reply_port: u16,
    /// Cycles that a reset lasts.
    #[serde(default = "default_reset")]
    pub reset_cycles: u32,
    /// Resets injected during the run.
    #[serde(default)]
    pub resets: Vec<ResetSpec>,
    /// Inputs held at a value for a while.
    #[serde(default)]
    pub holds: Vec<HoldSpec>,
}

/// A dialect of Etherbone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// As published on the Open Hardware Repository.
    #[default]
    Ohwr,
    /// The dialect of LiteEth and LiteX.
    #[serde(alias = "liteeth")]
    Litex,
}

impl EtherboneDevice {
    pub(crate) fn check(&self) -> Result<(), RoadError> {
        if self.mac.is_group() {
            let reason = format!("{} is a group's address, not one station's", self.mac);
            return Err(RoadError::scenario("device.mac", reason));
        }
        Ok(())
    }
}

const fn default_port() -> u16 {
    isthmus_host::etherbone::DEFAULT_PORT
}

const fn default_ip() -> std::net::Ipv4Addr {
    std::net::Ipv4Addr::new(192, 168, 10, 2)
}

fn default_netmask() -> std::net::Ipv4Addr {
    std::net::Ipv4Addr::new(255, 255, 255, 0)
}

const fn default_reset() -> u32 {
    16
}

const fn default_mac() -> MacAddress {
    MacAddress([2, 0, 0, 0, 0, 2])
}
