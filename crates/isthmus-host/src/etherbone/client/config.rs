// SPDX-License-Identifier: Apache-2.0
//! How a client behaves.

use std::time::Duration;

use super::super::wire::{Dialect, Widths};

/// How a client behaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientConfig {
    /// The device's dialect.
    pub dialect: Dialect,
    /// Widths to offer. Address widths below 16 bit cannot carry the protocol's return addresses
    /// and are never chosen.
    pub widths: Widths,
    /// Probes sent before giving up.
    pub probe_attempts: u32,
    /// Wait after each probe.
    pub probe_timeout: Duration,
    /// Wait for a cycle's reply, from sending.
    pub reply_timeout: Duration,
    /// Datagrams in flight before sending waits for replies, at most: fewer where the receive buffer
    /// has no room for their replies, and for a while after a loss.
    pub window: usize,
    /// Number of retries of a datagram without a reply; each time the timeout is `reply_timeout`.
    /// With more than 0 the client requests a session from the device, in which nothing is executed
    /// twice ([`Client::has_session`]). Without one, only cycles that are
    /// [`repeatable`](Cycle::repeatable) are retried. Streams lose nothing and retry nothing.
    pub retries: u32,
    /// LiteEth's dialect: operations in one record, at most as many as the device's buffer holds. With
    /// more, LiteEth's gateware stops answering.
    pub lite_depth: usize,
}

impl Default for ClientConfig {
    /// The standard dialect, libetherbone's times, all widths, 64 datagrams in flight, nothing sent
    /// again.
    fn default() -> Self {
        Self {
            dialect: Dialect::Ohwr,
            widths: Widths::ANY,
            probe_attempts: 3,
            probe_timeout: Duration::from_secs(3),
            reply_timeout: Duration::from_secs(5),
            window: 64,
            retries: 0,
            lite_depth: 16,
        }
    }
}

impl ClientConfig {
    /// LiteEth's dialect, for the buffer that LiteX builds by default (16 operations) and with one
    /// datagram in flight: its gateware can lose or hang on more.
    pub fn lite_eth() -> Self {
        Self { dialect: Dialect::LiteEth, widths: Widths::W32, window: 1, ..Self::default() }
    }
}
