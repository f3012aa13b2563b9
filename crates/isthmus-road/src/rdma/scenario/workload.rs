// SPDX-License-Identifier: Apache-2.0
//! What is measured, and within which limits.

use schemars::JsonSchema;
use serde::Deserialize;

use isthmus_host::rdma::{MAX_INLINE, MAX_TRANSFER};

use super::test::{PostingName, RdmaTest, TraceLine};
use crate::scenario::{two, yes};

/// Addressed by three bits of the formats.
pub(super) const HOSTS: usize = 8;
pub(super) const LINKS: usize = 4;
/// A slot of a remote queue has 512 bytes, and 8 of them are its frame word.
pub(in crate::rdma) const MESSAGE_BYTES: usize = 504;
pub(super) const WRITE_BYTES: usize = 1 << 20;
/// What a host gives to each other one in an exchange, and sorts at a time.
pub(super) const BLOCK_BYTES: usize = 1 << 16;
pub(super) const SORT_CHUNKS: u64 = 4096;
/// A trace ends within ten seconds.
pub(super) const TRACE_NS: u64 = 10_000_000_000;
/// Slots of a program's message queue.
pub(in crate::rdma) const INBOX_SLOTS: usize = 256;
/// Slots of a request queue.
pub(super) const BATCH: usize = 128;
/// Transfers in flight at most: half of a queue's slots, and packets that a flow may have unacknowledged.
pub(super) const IN_FLIGHT: usize = 64;
/// Bytes of a packet.
pub(super) const PACKET: usize = 512;
/// The bus keeps a record of each transaction of an interface's own transfers.
pub(super) const DEVICE_ITERATIONS: f64 = 1e5;
/// Before a steady window of a closed loop, at least; before and behind one of an open process.
pub(super) const CLOSED_WARM_UP: u64 = 8;
pub(super) const OPEN_WARM_UP: u64 = 20;

/// What to measure.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RdmaWorkload {
    /// Which program.
    pub test: RdmaTest,
    /// Hosts that take part.
    #[serde(default = "two")]
    #[schemars(range(min = 2, max = HOSTS))]
    pub hosts: usize,
    /// Bytes of a transfer.
    #[schemars(range(min = 8, max = WRITE_BYTES))]
    #[schemars(extend(
        "x-message-bytes" = MESSAGE_BYTES, "x-descriptor-bytes" = MAX_TRANSFER,
        "x-packet-bytes" = PACKET, "x-block-bytes" = BLOCK_BYTES, "x-batch-descriptors" = BATCH
    ))]
    pub size_bytes: usize,
    /// Transfers of each sender that are measured.
    #[schemars(range(min = 1, max = 1_000_000_000), extend("x-sort-chunks" = SORT_CHUNKS))]
    pub iterations: u64,
    /// Transfers before that. Of an operation there are at least as many as fill the road.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub warmup: u64,
    /// Operations: transfers in flight, in a closed loop.
    #[serde(default)]
    #[schemars(range(min = 1, max = 4096))]
    #[schemars(extend("x-descriptors-in-flight" = IN_FLIGHT))]
    pub window: Option<u32>,
    /// Operations: transfers a second of each sender, as a Poisson process.
    #[serde(default)]
    #[schemars(range(min = 1.0, max = 1e9))]
    pub rate_per_s: Option<f64>,
    /// When room is looked for.
    #[serde(default)]
    pub posting: PostingName,
    /// Descriptors and messages go through a write-combining mapping.
    #[serde(default = "yes")]
    pub combined: bool,
    /// `send-lat`: messages go to a queue without frame words; their last word says that they came.
    #[serde(default)]
    pub packed: bool,
    /// Writes of at most so many bytes bring their data with them.
    #[serde(default)]
    #[schemars(range(min = 0, max = MAX_INLINE))]
    pub inline_bytes: usize,
    /// Bandwidth tests: in both directions.
    #[serde(default)]
    pub both_ways: bool,
    /// Bandwidth tests: transfers that are handed over at a time.
    #[serde(default = "one")]
    pub post_list: u64,
    /// The remote program is notified and does not poll its memory.
    #[serde(default = "yes")]
    pub notify: bool,
    /// The measurement has each sample.
    #[serde(default)]
    pub keep_samples: bool,
    /// `trace`: its transfers, in any order.
    #[serde(default)]
    pub trace: Vec<TraceLine>,
    /// `sort`: what a comparison of two keys costs.
    #[serde(default = "compare")]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub compare_ns: f64,
    /// `sort`: what a copy of a key costs.
    #[serde(default = "copy")]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub move_ns: f64,
}

const fn one() -> u64 {
    1
}

const fn compare() -> f64 {
    5.0
}

const fn copy() -> f64 {
    2.0
}
