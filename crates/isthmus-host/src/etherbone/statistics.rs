// SPDX-License-Identifier: Apache-2.0

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Messages sent (probes included).
    pub messages_sent: u64,
    /// Bytes in them.
    pub bytes_sent: u64,
    /// Messages received.
    pub messages_received: u64,
    /// Bytes in them.
    pub bytes_received: u64,
    /// Cycles that ended with a reply, or needed none.
    pub cycles: u64,
    /// Cycles whose reply did not come.
    pub timed_out: u64,
    /// Messages that could not be read.
    pub malformed: u64,
    /// Reply records for cycles that are not in flight: doubled or too late.
    pub stale: u64,
    /// Datagrams sent again because no reply came.
    pub repeated: u64,
}

/// [`Statistics`] that other threads read while one client counts.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) messages_sent: Counter,
    pub(super) bytes_sent: Counter,
    pub(super) messages_received: Counter,
    pub(super) bytes_received: Counter,
    pub(super) cycles: Counter,
    pub(super) timed_out: Counter,
    pub(super) malformed: Counter,
    pub(super) stale: Counter,
    pub(super) repeated: Counter,
}

impl Counters {
    /// The counters so far. A cycle whose end was reported is counted.
    pub(super) fn read(&self) -> Statistics {
        Statistics {
            messages_sent: self.messages_sent.read(),
            bytes_sent: self.bytes_sent.read(),
            messages_received: self.messages_received.read(),
            bytes_received: self.bytes_received.read(),
            cycles: self.cycles.read(),
            timed_out: self.timed_out.read(),
            malformed: self.malformed.read(),
            stale: self.stale.read(),
            repeated: self.repeated.read(),
        }
    }
}

/// A count of one client.
#[derive(Debug, Default)]
pub(super) struct Counter(AtomicU64);

impl Counter {
    fn read(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// One client counts: no other write can come between.
    pub(super) fn add(&self, count: u64) {
        self.0.store(self.read() + count, Ordering::Relaxed);
    }
}
