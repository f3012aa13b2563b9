// SPDX-License-Identifier: Apache-2.0

/// Work that a [`Client`](super::Client) does on the host's processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// One cycle was turned into protocol records.
    Build {
        /// Bus operations in the cycle.
        operations: usize,
    },
    /// The reply of one cycle was parsed and passed to its owner.
    Complete {
        /// Bus operations in the cycle.
        operations: usize,
    },
}

/// Follows the work of a client: where the host is simulated, its processor takes the time here.
#[allow(
    async_fn_in_trait,
    reason = "simulated processors are single-threaded: no Send bound is wanted"
)]
pub trait Meter {
    /// The client did this; it continues when the call returns.
    async fn work(&mut self, work: Work);
}

/// The meter of a real host: work takes the time that it takes.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoMeter;

impl Meter for NoMeter {
    async fn work(&mut self, _work: Work) {}
}
