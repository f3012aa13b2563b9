// SPDX-License-Identifier: Apache-2.0
//! The configuration of a server, and its counters.

use std::net::SocketAddr;

use ipnet::IpNet;
use serde::{Deserialize, Serialize};

use super::super::scenario::{EtherboneDevice, EtherboneName};

/// Datagrams taken together, so that a client that keeps many in flight gets its pipeline.
pub(super) const BATCH: usize = 16;

/// The served device, and its addresses.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServeScenario {
    /// Which road.
    pub road: EtherboneName,
    /// The UDP address to bind; port 0 picks a free one.
    #[serde(default)]
    pub udp: Option<SocketAddr>,
    /// The TCP address to bind; port 0 picks a free one.
    #[serde(default)]
    pub tcp: Option<SocketAddr>,
    /// The TAP interface to connect to; created if it does not exist.
    #[serde(default)]
    pub tap: Option<String>,
    /// Whether to offer a pseudo-terminal.
    #[serde(default)]
    pub pty: bool,
    /// Networks whose hosts are served; none: every host that can reach the server.
    #[serde(default)]
    pub allow: Vec<IpNet>,
    /// Seed of all random streams.
    pub seed: u64,
    /// The FPGA.
    pub device: EtherboneDevice,
    /// Its clock.
    #[serde(default = "default_clock")]
    pub clock_mhz: f64,
    /// TAI seconds at the start; the machine's clock if absent.
    #[serde(default)]
    pub epoch_s: Option<u64>,
    /// Simulated time after which a batch of datagrams is abandoned.
    #[serde(default = "default_bound")]
    pub datagram_limit_us: u64,
    /// Senders of datagrams that are remembered; the one that was silent longest makes room.
    #[serde(default = "default_clients")]
    pub max_clients: usize,
    /// TCP connections at a time; more are closed at once.
    #[serde(default = "default_connections")]
    pub max_connections: usize,
    /// A connection whose probe has not arrived after this long is closed.
    #[serde(default = "default_probe")]
    pub probe_timeout_s: u64,
    /// A connection on which nothing moves for this long is closed.
    #[serde(default = "default_idle")]
    pub idle_timeout_s: u64,
}

const fn default_clock() -> f64 {
    125.0
}
const fn default_bound() -> u64 {
    20_000
}
const fn default_clients() -> usize {
    64
}
const fn default_connections() -> usize {
    16
}
const fn default_probe() -> u64 {
    3
}
const fn default_idle() -> u64 {
    600
}

/// Counters of a server so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ServeStatus {
    /// Its interface: a kind (`udp`, `tcp`, `pty`, `tap`), a blank, and an address or name.
    pub listening: Vec<String>,
    /// Senders of datagrams it remembers, connections, and the terminal's user.
    pub clients: usize,
    /// Datagrams and frames received, and datagrams that streams were cut into.
    pub requests: u64,
    /// Datagrams and frames sent back, and those that were answers to streams.
    pub replies: u64,
    /// Requests and replies that were refused, abandoned, malformed or not deliverable.
    pub errors: u64,
    /// Datagrams, frames and connections of hosts that are not allowed.
    pub not_allowed: u64,
    /// Device cycles evaluated.
    pub device_cycles: u64,
    /// Device cycles evaluated a second of wall time, while anything was simulated.
    pub cycles_per_s: f64,
    /// Simulated time.
    pub simulated_ps: u64,
}

impl ServeStatus {
    /// As a JSON object.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
