// SPDX-License-Identifier: Apache-2.0
//! The constants of the published word-by-word kernel driver, of PCIe and of VME.

use schemars::JsonSchema;
use serde::Deserialize;

/// The published kernel driver: one load or store a bus operation.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WordsDriver {
    /// Entry and exit of a write or read call, with the character device's part.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub syscall_ns: f64,
    /// Copy between program and kernel.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub copy_ns_per_byte: f64,
    /// Taking one record apart.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub parse_record_ns: f64,
    /// One operation of a record, in addition to its load or store.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub parse_operation_ns: f64,
}
