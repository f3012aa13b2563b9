// SPDX-License-Identifier: Apache-2.0
//! What a server is given, and its counters.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use isthmus_sim::world::MacAddress;
use serde::{Deserialize, Serialize};

use super::super::pair::ENDS;
use super::super::scenario::{MAX_BYTES, NanetScenario};
use super::super::world::Station;
use crate::error::RoadError;
use crate::tap::MAX_TAGGED;

/// Frames on the simulated line at a time. Others wait before it, so that a port is never idle while
/// some do.
const ON_LINE: usize = 16;
/// Preamble, frame check sequence and gap.
const AROUND: usize = 24;

/// An interface between real programs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NanetServe {
    /// Always `nanet`.
    #[allow(dead_code, reason = "read by the table of roads")]
    pub(super) road: String,
    /// The interface, its platform and its lists: a scenario of the road.
    pub(super) scenario: serde_json::Value,
    /// A TAP interface a port.
    #[serde(default)]
    pub(super) taps: Vec<String>,
    /// Or a file of captured frames a port.
    #[serde(default)]
    pub(super) captures: Vec<PathBuf>,
    /// Of port 0, as `ip`; each further port has the next one.
    #[serde(default = "default_mac")]
    pub(super) mac: MacAddress,
    #[serde(default = "default_ip")]
    pub(super) ip: Ipv4Addr,
    #[serde(default = "default_port")]
    pub(super) udp_port: u16,
    /// Whether datagrams are sent back too: by a model with this.
    #[serde(default)]
    pub(super) echo: bool,
    /// Two interfaces back to back, each with a TAP interface: frames of one come out of the other.
    #[serde(default)]
    pub(super) pair: bool,
    /// Payloads of all datagrams, one behind the other.
    #[serde(default)]
    pub(super) out: Option<PathBuf>,
    /// A program on this machine that gets each payload as a datagram.
    #[serde(default)]
    pub(super) to: Option<SocketAddr>,
    /// Frames that may wait for each port.
    #[serde(default = "default_queue")]
    pub(super) queue_frames: usize,
}

fn default_mac() -> MacAddress {
    Station::default().mac
}

fn default_ip() -> Ipv4Addr {
    Station::default().ip
}

fn default_port() -> u16 {
    Station::default().udp_port
}

const fn default_queue() -> usize {
    1_024
}

impl NanetServe {
    /// The checked scenario of the interface.
    pub(super) fn check(&self) -> Result<NanetScenario, RoadError> {
        let scenario = NanetScenario::parse(&self.scenario.to_string())?;
        let ports = scenario.interface.ports;
        let sources = self.taps.len() + self.captures.len();
        let wrong = if self.taps.is_empty() == self.captures.is_empty() {
            Some(("taps", "expected either taps or captures".to_owned()))
        } else if self.pair && (self.taps.len() != ENDS || ports != 1) {
            Some(("taps", format!("a pair has {ENDS}, and a port each")))
        } else if self.pair && (self.echo || self.out.is_some() || self.to.is_some()) {
            Some(("pair", "expected no echo, out or to".to_owned()))
        } else if !self.pair && sources != ports {
            Some(("interface.ports", format!("{ports}: there are {sources} taps or captures")))
        } else if scenario.page().is_some() {
            Some(("interface.page_bytes", "expected 0: a server has no pages".to_owned()))
        } else if scenario.workload.datagrams != 1 || scenario.workload.bytes != MAX_BYTES {
            let reason = format!("a server's buffer holds one datagram of {MAX_BYTES} bytes");
            Some(("workload.datagrams", reason))
        } else if self.mac.is_group() {
            Some(("mac", format!("{} is an address of a group", self.mac)))
        } else if self.to.is_some_and(|to| !to.ip().is_loopback()) {
            Some(("to", "expected an address of this machine, such as 127.0.0.1:7000".to_owned()))
        } else if !(1..=1 << 16).contains(&self.queue_frames) {
            Some(("queue_frames", format!("{} is outside 1 to 65536", self.queue_frames)))
        } else {
            None
        };
        wrong.map_or(Ok(scenario), |(key, reason)| Err(RoadError::scenario(key, reason)))
    }

    /// Its addresses.
    pub(super) fn station(&self) -> Station {
        Station {
            mac: self.mac,
            ip: self.ip,
            udp_port: self.udp_port,
            queue_bytes: (ON_LINE * (MAX_TAGGED + AROUND)) as u64,
            echo: self.echo,
            memory_bytes: 0,
        }
    }
}

/// Counters of a server so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(super) struct NanetServeStatus {
    /// A line a port: `tap NAME IP MAC` or `capture FILE IP MAC`.
    pub(super) listening: Vec<String>,
    /// Frames that arrived from outside.
    pub(super) frames: u64,
    /// Of those: not a frame of 14 to 1514 bytes, with a tag 1518, or cut short in its capture.
    pub(super) unusable: u64,
    /// Of those: longer than a datagram of a pair carries.
    pub(super) oversized: u64,
    /// Of those: found the queue before their port full. The simulator was slower than the sender.
    pub(super) not_kept_up: u64,
    /// Beside those: dropped by the system, for the server did not take them in time.
    pub(super) dropped_by_system: u64,
    /// Of those: came in a capture faster than the line is, beyond a few that wait.
    pub(super) line_full: u64,
    /// Of those: not on the simulated line yet, or not counted by a port yet.
    pub(super) waiting: u64,
    /// Frames that the interface sent, and those that the system did not take.
    pub(super) sent: u64,
    pub(super) unsent: u64,
    /// Datagrams that the program took out of its buffers, and their payload.
    pub(super) delivered: u64,
    pub(super) delivered_bytes: u64,
    /// Of those: not taken by the receiving program.
    pub(super) not_forwarded: u64,
    /// Counters of each port, hop by hop, as of `isthmus_host::nic::Statistics`.
    pub(super) ports: Vec<BTreeMap<&'static str, u64>>,
    /// Whether a capture has been replayed to its end.
    pub(super) ended: bool,
    /// Cycles evaluated a second of wall time, while anything was simulated.
    pub(super) cycles_per_s: f64,
    pub(super) simulated_ps: u64,
}

impl NanetServeStatus {
    /// As a JSON object.
    pub(super) fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
