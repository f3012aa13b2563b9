// SPDX-License-Identifier: Apache-2.0
//! Words of host memory that both sides change atomically.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Words that an FPGA may change, one a line: fewer than its smallest cache has lines.
const MOST_WORDS: u32 = 1_024;
/// Changes that the host may have open: forwards that the FPGA has room for.
const MOST_CHANGES: u32 = 16;

/// What the FPGA does to a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CcixChange {
    /// Adds a number.
    Add,
    /// Stores another word, and reads the old one.
    Swap,
    /// Stores another word if the old one is as the FPGA left it.
    CompareAndSwap,
    /// One of them at random.
    Mixed,
}

impl CcixChange {
    /// Name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Swap => "swap",
            Self::CompareAndSwap => "compare-and-swap",
            Self::Mixed => "mixed",
        }
    }
}

/// Words of 8 bytes at the begin of lines, which both sides change, each so often as the series is long: the FPGA by
/// atomics of its AXI port, the host by additions at random.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CcixUpdates {
    /// What the FPGA does.
    pub change: CcixChange,
    /// How many words.
    #[schemars(range(min = 1, max = MOST_WORDS))]
    pub words: u32,
    /// The FPGA changes them in turn, not at random: as long as the series has no more, a line that its cache does not
    /// have each time.
    #[serde(default)]
    pub in_turn: bool,
    /// Additions that the host has in flight; 0: it makes none.
    #[serde(default)]
    #[schemars(range(min = 0, max = MOST_CHANGES))]
    pub host_window: u32,
}
