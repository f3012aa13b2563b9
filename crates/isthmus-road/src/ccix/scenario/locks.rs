// SPDX-License-Identifier: Apache-2.0
//! Transactions of the host and of the FPGA, under locks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Locks of the FPGA's table.
const MOST_RECORDS: u32 = 1_024;
/// Slots of the FPGA's unit, and places for waiters.
const MOST_REQUESTERS: u32 = 64;
/// Resets of the FPGA's unit in a run, and holds.
const MOST_FAULTS: u32 = 1_000;

/// Where the lock table is, and how the FPGA reaches records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CcixLockMode {
    /// In the host's program; the FPGA's orders are messages. Records by reads and posted writes.
    Host,
    /// In the FPGA; the host's orders are messages. Records through the FPGA's cache.
    Shared,
    /// In the FPGA. Records by reads and writes.
    Hybrid,
    /// No table: a lock is a word of its record's line, taken by compare-and-swap of who owns the line.
    Cas,
}

impl CcixLockMode {
    /// The FPGA reaches records through its cache.
    pub(in super::super) const fn is_cached(self) -> bool {
        matches!(self, Self::Shared | Self::Cas)
    }

    /// Name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Shared => "shared",
            Self::Hybrid => "hybrid",
            Self::Cas => "cas",
        }
    }
}

/// Transactions on records of a line each.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CcixLocks {
    /// Name of the transactions, for results.
    pub trace: String,
    /// Where the lock table is.
    pub mode: CcixLockMode,
    /// How many records there are.
    #[schemars(range(min = 1, max = MOST_RECORDS))]
    pub rows: u32,
    /// Transactions under way at once.
    #[schemars(range(min = 1, max = MOST_REQUESTERS))]
    pub requesters: u32,
    /// They begin in this order; `workload.iterations` of them.
    pub transactions: Vec<CcixTransaction>,
    /// How often the FPGA's unit is reset in mid-run.
    #[serde(default)]
    #[schemars(range(max = MOST_FAULTS))]
    pub resets: u32,
    /// How often it stops for twice its lease, and then goes on.
    #[serde(default)]
    #[schemars(range(max = MOST_FAULTS))]
    pub holds: u32,
    /// How often all of the FPGA is reset in mid-run, with its table, its cache and the link.
    #[serde(default)]
    #[schemars(range(max = MOST_FAULTS))]
    pub fpga_resets: u32,
    /// The unit's lease, in clocks: that of the model.
    #[serde(default = "lease")]
    #[schemars(range(min = 4, max = 65536))]
    pub lease_cycles: u32,
}

const fn lease() -> u32 {
    1024
}

/// A transaction.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CcixTransaction {
    /// The FPGA makes it, not the host.
    pub fpga: bool,
    /// One to four records, none twice.
    pub steps: Vec<CcixStep>,
}

/// A record of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CcixStep {
    /// Its number, below `rows`.
    pub record: u16,
    /// It is updated, not only read.
    pub update: bool,
}
