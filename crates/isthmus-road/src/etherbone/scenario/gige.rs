// SPDX-License-Identifier: Apache-2.0
//! The constants of UDP over Gigabit Ethernet.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::RoadError;
use crate::scenario::{latencies, ranges, two};

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

/// A Gigabit PHY at the FPGA's GMII.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GigePhy {
    /// Transmit pins to medium.
    #[schemars(range(min = 0.0, max = 1e9))]
    pub tx_ns: f64,
    /// Medium to receive pins.
    #[schemars(range(min = 0.0, max = 1e9))]
    pub rx_ns: f64,
}

/// Every cable of the path.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GigeLink {
    /// Line rate.
    #[schemars(range(min = 1000.0, max = 1000.0))]
    pub rate_mbit_s: f64,
    /// Length of one cable.
    #[schemars(range(min = 0.0, max = 1e9))]
    pub length_m: f64,
    /// Propagation delay.
    #[schemars(range(min = 0.0, max = 1e9))]
    pub delay_ns_per_m: f64,
}

/// The host's network interface.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GigeNic {
    /// PHY: MAC to medium.
    #[schemars(range(min = 0.0, max = 1e9))]
    pub phy_tx_ns: f64,
    /// PHY: medium to MAC.
    #[schemars(range(min = 0.0, max = 1e9))]
    pub phy_rx_ns: f64,
    /// Store to the tail register until it arrives.
    #[schemars(range(min = 0.0, max = 1e9))]
    pub doorbell_ns: f64,
    /// Doorbell to first byte on the wire.
    #[schemars(range(min = 0.0, max = 1e9))]
    pub tx_dma_ns: f64,
    /// Last byte received to visible in host memory.
    #[schemars(range(min = 0.0, max = 1e9))]
    pub rx_dma_ns: f64,
    /// Least time between two interrupts; 0: none.
    #[schemars(range(min = 0.0, max = 1e9))]
    pub interrupt_gap_us: f64,
}

/// Operating system and processor.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GigeHost {
    /// Send call: entry to doorbell store.
    #[schemars(range(min = 0.0, max = 1e9))]
    pub send_call_ns: f64,
    /// Receive call that finds a datagram.
    #[schemars(range(min = 0.0, max = 1e9))]
    pub receive_call_ns: f64,
    /// Driver and IP/UDP stack, one received frame.
    #[schemars(range(min = 0.0, max = 1e9))]
    pub frame_ns: f64,
    /// Interrupt to the blocked thread running again.
    #[schemars(range(min = 0.0, max = 1e9))]
    pub wakeup_ns: f64,
    /// Copy between user memory and kernel buffer.
    #[schemars(range(min = 0.0, max = 1e9))]
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
    #[schemars(range(min = 0.0, max = 1e9))]
    pub latency_ns: f64,
}

impl GigePlatform {
    pub(super) fn check(&self) -> Result<(), RoadError> {
        let Self { phy, link, nic, host, switch } = self;
        latencies(
            "bus.gige.",
            &[
                ("phy.tx_ns", phy.tx_ns),
                ("phy.rx_ns", phy.rx_ns),
                ("link.length_m", link.length_m),
                ("link.delay_ns_per_m", link.delay_ns_per_m),
                ("nic.phy_tx_ns", nic.phy_tx_ns),
                ("nic.phy_rx_ns", nic.phy_rx_ns),
                ("nic.doorbell_ns", nic.doorbell_ns),
                ("nic.tx_dma_ns", nic.tx_dma_ns),
                ("nic.rx_dma_ns", nic.rx_dma_ns),
                ("nic.interrupt_gap_us", nic.interrupt_gap_us),
                ("host.send_call_ns", host.send_call_ns),
                ("host.receive_call_ns", host.receive_call_ns),
                ("host.frame_ns", host.frame_ns),
                ("host.wakeup_ns", host.wakeup_ns),
                ("host.copy_ns_per_byte", host.copy_ns_per_byte),
                ("switch.latency_ns", switch.map_or(0.0, |s| s.latency_ns)),
            ],
        )?;
        ranges("bus.gige.", &[("link.rate_mbit_s", link.rate_mbit_s, 1_000.0, 1_000.0)])
    }
}
