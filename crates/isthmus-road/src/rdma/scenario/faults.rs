// SPDX-License-Identifier: Apache-2.0
//! Faults that a run injects.

use schemars::JsonSchema;
use serde::Deserialize;

use isthmus_sim::world::link::LineFaults;

use crate::error::RoadError;

/// Faults to inject.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RdmaFaults {
    /// The probability that a bit is wrong.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub bit_error_rate: f64,
    /// The probability that a credit word is lost.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub credit_loss_rate: f64,
    /// The probability that a credit word arrives with a wrong bit.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub credit_corrupt_rate: f64,
    /// Links that go down: host, link, clock, clocks.
    pub resets: Vec<(usize, usize, u64, u64)>,
    /// Interfaces that are reset: host, time in nanoseconds, clocks of its bus. Their programs reopen them.
    pub node_resets: Vec<(usize, u64, u32)>,
    /// Programs that pause: host, start in nanoseconds, length in nanoseconds.
    pub stalls: Vec<(usize, u64, u64)>,
    /// The share of forged transfers: a wrong key, or an address that the key does not open.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub forged_rate: f64,
}

impl RdmaFaults {
    /// Whether there is any.
    #[must_use]
    pub fn any(&self) -> bool {
        self.line() != LineFaults::default()
            || !self.resets.is_empty()
            || !self.node_resets.is_empty()
            || !self.stalls.is_empty()
            || self.forged_rate > 0.0
    }

    /// Refuses faults of hosts and links that take no part.
    pub(super) fn check(&self, hosts: usize, links: usize) -> Result<(), RoadError> {
        let named = self.resets.iter().map(|&(host, link, ..)| ("resets", host, link));
        let named =
            named.chain(self.node_resets.iter().map(|&(host, ..)| ("node_resets", host, 0)));
        let named = named.chain(self.stalls.iter().map(|&(host, ..)| ("stalls", host, 0)));
        for (key, host, link) in named {
            for (what, number, count) in [("host", host, hosts), ("link", link, links)] {
                if number >= count {
                    let reason = format!("{what} {number} is outside 0 to {}", count - 1);
                    return Err(RoadError::scenario(format!("faults.{key}"), reason));
                }
            }
        }
        Ok(())
    }

    pub(in crate::rdma) fn line(&self) -> LineFaults {
        LineFaults {
            bit_error_rate: self.bit_error_rate,
            credit_loss_rate: self.credit_loss_rate,
            credit_corrupt_rate: self.credit_corrupt_rate,
        }
    }
}
