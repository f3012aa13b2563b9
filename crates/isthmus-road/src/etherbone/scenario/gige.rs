// SPDX-License-Identifier: Apache-2.0
//! The constants of UDP over Gigabit Ethernet.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::platform::{GigeLink, GigePhy};
use crate::scenario::two;

/// UDP over Gigabit Ethernet.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GigePlatform {
    /// The FPGA's PHY.
    pub phy: GigePhy,
    /// Every cable.
    pub link: GigeLink,
    /// The host's network interface.
    pub nic: GigeNic,
    /// Operating system and processor.
    pub host: GigeHost,
    /// The switch between host and FPGA; without it they are connected directly.
    #[serde(default)]
    pub switch: Option<GigeSwitch>,
}

/// The host's network interface.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GigeNic {
    /// PHY: MAC to medium.
    #[schemars(range(min = 0.0, max = 10_000.0))]
    pub phy_tx_ns: f64,
    /// PHY: medium to MAC.
    #[schemars(range(min = 0.0, max = 10_000.0))]
    pub phy_rx_ns: f64,
    /// Store to the tail register until it arrives.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub doorbell_ns: f64,
    /// Doorbell to first byte on the wire.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub tx_dma_ns: f64,
    /// Last byte received to visible in host memory.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub rx_dma_ns: f64,
    /// Least time between two interrupts; 0: none.
    #[schemars(range(min = 0.0, max = 10_000.0))]
    pub interrupt_gap_us: f64,
}

/// Operating system and processor.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GigeHost {
    /// Send call: entry to doorbell store.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub send_call_ns: f64,
    /// Receive call that finds a datagram.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub receive_call_ns: f64,
    /// Driver and IP/UDP stack, one received frame.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub frame_ns: f64,
    /// Interrupt to the blocked thread running again.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub wakeup_ns: f64,
    /// Copy between user memory and kernel buffer.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub copy_ns_per_byte: f64,
    /// Cores; the program has one, and the network stack another where there is one.
    #[serde(default = "two")]
    pub cores: usize,
}

/// One store-and-forward switch.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GigeSwitch {
    /// Last bit in to first bit out with the port idle.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub latency_ns: f64,
}
