// SPDX-License-Identifier: Apache-2.0
//! What the scenarios of all roads have in common: profile, limits, and how a document is read and checked.

use isthmus_sim::SimConfig;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::RoadError;
use crate::schema;

/// A system's design: as its authors documented it, or ours under the same constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// As documented.
    AsPublished,
    /// Ours.
    Isthmus,
}

impl Profile {
    /// Its name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AsPublished => "as-published",
            Self::Isthmus => "isthmus",
        }
    }
}

/// What is between the routers of two nodes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NodeLinks {
    /// A delay of flits: transceivers and cable.
    #[default]
    Delay,
    /// The gateware of both ends, and lanes of 8b/10b words with the same delay between them.
    Lanes,
}

/// A device that says it is idle is believed after this many cycles.
const IDLE_CONFIRM_CYCLES: u32 = 16;
/// Registered copies of the time input are up to date after this many.
const WAKE_CYCLES: u32 = 8;

/// Bounds of a run.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Fails a run that needs more simulated time.
    pub simulated_ms: u64,
    /// Fails a run that needs more wall time.
    pub wall_s: u64,
}

impl Limits {
    /// A simulation within these limits, in which every clock is evaluated.
    pub(crate) fn simulation(&self, seed: u64) -> SimConfig {
        SimConfig {
            seed,
            skip_idle: false,
            check_idle: false,
            idle_confirm_cycles: IDLE_CONFIRM_CYCLES,
            wake_cycles: WAKE_CYCLES,
            simulated_limit_ps: self.simulated_ps(),
            wall_limit_ms: self.wall_ms(),
        }
    }

    /// Simulated picoseconds.
    pub(crate) fn simulated_ps(&self) -> Option<u64> {
        Some(self.simulated_ms.saturating_mul(1_000_000_000))
    }

    /// Wall-clock milliseconds.
    pub(crate) fn wall_ms(&self) -> Option<u64> {
        Some(self.wall_s.saturating_mul(1_000))
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { simulated_ms: 20_000, wall_s: 600 }
    }
}

pub(crate) const fn yes() -> bool {
    true
}

pub(crate) const fn sixteen() -> u32 {
    16
}

pub(crate) const fn two() -> usize {
    2
}

/// Reads a document of type `T`; an error names the key.
pub(crate) fn parse<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, RoadError> {
    let mut reader = serde_json::Deserializer::from_str(json);
    let value: T = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let key = match error.path().to_string().as_str() {
            "." => "document".to_owned(),
            path => path.to_owned(),
        };
        RoadError::scenario(key, error.into_inner().to_string())
    })?;
    reader.end().map_err(|error| RoadError::scenario("document", error.to_string()))?;
    Ok(value)
}

/// Reads a document and checks it: the ranges that its types state, then what `check` adds.
pub(crate) fn checked<'a, T: Deserialize<'a> + JsonSchema>(
    json: &'a str,
    check: impl FnOnce(&T) -> Result<(), RoadError>,
) -> Result<T, RoadError> {
    let value = parse(json)?;
    schema::check::<T>(&parse(json)?)?;
    check(&value)?;
    Ok(value)
}

/// Refuses a value outside a range, by its key.
pub(crate) fn within(key: &str, value: f64, low: f64, high: f64) -> Result<(), RoadError> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(RoadError::scenario(key, format!("{value} is outside {low} to {high}")))
}
