// SPDX-License-Identifier: Apache-2.0
//! The scenario of a PCI-X bus alone, as a JSON document.
//!
//! `docs/reference/pcix-scenario.md` explains every key. Unknown keys are errors; units are part of names.

use schemars::JsonSchema;
use serde::Deserialize;

use isthmus_sim::world::pcix::PcixConfig;

use crate::error::RoadError;
use crate::platform::PcieHost;
use crate::scenario::{Limits, Profile};

/// One run.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PcixScenario {
    /// Always `pcix`.
    pub road: String,
    /// The design of a system to which the bus belongs.
    pub profile: Profile,
    /// The bus and its host.
    pub platform: PcixPlatform,
    /// The measurement.
    pub workload: PcixWorkload,
    /// Seed of the data.
    pub seed: u64,
    /// Bounds of the run.
    #[serde(default)]
    pub limits: Limits,
}

/// The bus and its host.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PcixPlatform {
    /// Its name.
    pub name: String,
    /// The bus.
    pub bus: PcixConfig,
    /// Processor costs.
    pub host: PcieHost,
}

/// Initiator of the transfers, and their kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PcixTest {
    /// The host stores words of 4 bytes.
    Store,
    /// The host stores through a write-combining mapping.
    StoreCombined,
    /// The device reads host memory.
    Read,
    /// The device writes host memory.
    Write,
}

impl PcixTest {
    /// Its name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Store => "store",
            Self::StoreCombined => "store-combined",
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// The measurement.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PcixWorkload {
    /// Initiator of the transfers.
    pub test: PcixTest,
    /// Size of each access.
    #[schemars(range(min = 4, max = MOST_BYTES))]
    pub bytes: usize,
    /// Accesses, one right behind the other.
    #[schemars(range(min = 1, max = MOST_TIMES))]
    pub times: u64,
}

const MOST_BYTES: usize = 4096;
const MOST_TIMES: u64 = 10_000;

impl PcixScenario {
    /// Reads and checks a scenario.
    ///
    /// # Errors
    /// Names the key that is wrong, and says what would be right.
    pub fn parse(json: &str) -> Result<Self, RoadError> {
        crate::scenario::checked(json, Self::check)
    }

    fn check(&self) -> Result<(), RoadError> {
        let PcixWorkload { test, bytes, .. } = &self.workload;
        let device = matches!(test, PcixTest::Read | PcixTest::Write);
        let most = match device {
            true => MOST_BYTES.min(self.platform.bus.sequence_bytes as usize),
            false => MOST_BYTES.min(self.platform.bus.core.bar_bytes as usize),
        };
        let unit = if device { 8 } else { 4 };
        if !bytes.is_multiple_of(unit) || !(unit..=most).contains(bytes) {
            let reason = format!("{bytes}: a multiple of {unit} from {unit} to {most} expected");
            return Err(RoadError::scenario("workload.bytes", reason));
        }
        Ok(())
    }

    /// The end of the measurement's id.
    pub(super) fn name(&self) -> String {
        let PcixWorkload { bytes, times, .. } = &self.workload;
        match times {
            1 => bytes.to_string(),
            _ => format!("{bytes}x{times}"),
        }
    }
}
