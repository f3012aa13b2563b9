// SPDX-License-Identifier: Apache-2.0
//! The constants of VMEbus.

use schemars::JsonSchema;
use serde::Deserialize;

use super::words::WordsDriver;
use crate::scenario::two;

/// VMEbus, A32 D32, behind a CPU board's bridge.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VmePlatform {
    /// The CPU board, up to the bus.
    pub board: VmeBoard,
    /// How the program uses it.
    pub driver: VmeDriver,
    /// Cores.
    #[serde(default = "two")]
    #[schemars(range(min = 1, max = 1024))]
    pub cores: usize,
}

/// A CPU board on a VME backplane.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VmeBoard {
    /// A load to the request at the bridge, and from the answer there back.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub cpu_read_ns: f64,
    /// A store to its being posted.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub cpu_write_ns: f64,
    /// Request to bus cycle.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub bridge_request_ns: f64,
    /// End of a read's bus cycle to its answer.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub bridge_answer_ns: f64,
    /// Stores that the bridge holds.
    #[schemars(range(min = 1, max = 1024))]
    pub posted_writes: usize,
    /// Bus request to grant, where the bridge does not own the bus.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub arbitration_ns: f64,
    /// 1: the bridge gives the bus away after each cycle.
    #[schemars(range(min = 0, max = 1))]
    pub release_when_done: u8,
    /// One way through transceivers and backplane.
    #[schemars(range(min = 0.0, max = 1_000.0))]
    pub signal_ns: f64,
    /// The bus timer.
    #[schemars(range(min = 100.0, max = 10_000_000.0))]
    pub bus_timeout_ns: f64,
}

/// How a program uses VMEbus.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VmeDriver {
    /// Through the published kernel driver.
    Words(WordsDriver),
    /// The same loads and stores by the program itself, in a mapping of the window.
    Mapped(WordsDriver),
}

impl VmeDriver {
    pub(crate) fn costs(&self) -> &WordsDriver {
        let (Self::Words(costs) | Self::Mapped(costs)) = self;
        costs
    }
}
