// SPDX-License-Identifier: Apache-2.0

use std::time::Duration;

use super::words::HostId;

/// Proof that a program has asked for postings that may overrun their queue.
#[derive(Clone, Copy, Debug)]
pub struct LazyPosting(());

impl LazyPosting {
    /// A program that posts lazily must know that what it posts between two looks takes no more slots
    /// than as many of the transfer that it looked for, or that the queue empties faster than it is
    /// filled; else it overwrites descriptors that have not been sent.
    #[must_use]
    pub const fn i_know_that_the_queue_may_overrun() -> Self {
        Self(())
    }
}

/// When room in a request queue is looked for: the three programs of the published measurement.
#[derive(Clone, Copy, Debug, Default)]
pub enum Posting {
    /// v1: transfers of a batch start with its last one, and the next batch waits for the end of it.
    Batch,
    /// v2: each transfer starts at once, and is posted when there is room for it.
    #[default]
    Circular,
    /// v3: queue space is checked once per this many transfers, for as many like the next one.
    Lazy {
        /// Transfers between two looks.
        every: u16,
        /// That the program knows what it asks for.
        opt_in: LazyPosting,
    },
}

/// How an endpoint is opened.
#[derive(Clone, Copy, Debug)]
pub struct EndpointConfig {
    /// Its own number.
    pub host: HostId,
    /// Number of the first session of each flow. Any: one that a peer still has open from an earlier start
    /// is passed over.
    pub session: u8,
    /// Cycles of the host's clock that an acknowledgement may take.
    pub probe_cycles: u32,
    /// Cycles after which a packet that was overtaken is lost.
    pub lost_cycles: u32,
    /// Benchmark mode.
    pub bench: bool,
    /// How long a queue may give nothing back, and the board take to stop.
    pub timeout: Duration,
}

impl Default for EndpointConfig {
    fn default() -> Self {
        Self {
            host: 0,
            session: 0,
            probe_cycles: 100_000,
            lost_cycles: 100_000,
            bench: false,
            timeout: Duration::from_secs(1),
        }
    }
}
