// SPDX-License-Identifier: Apache-2.0
//! The name of the road.

use schemars::JsonSchema;
use serde::Deserialize;

/// The road's name, in scenarios and in results.
pub(crate) const NAME: &str = "etherbone";

/// The name of this road.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EtherboneName {
    /// Etherbone over any of its buses.
    Etherbone,
}
