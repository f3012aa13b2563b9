// SPDX-License-Identifier: Apache-2.0
//! The scenario of blocks by DMA over PCIe, as a JSON document.
//!
//! `docs/reference/blockdma-scenario.md` explains every key. Unknown keys are errors; units are part of names.

use std::ops::Range;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::arrivals::Arrivals;
use crate::dma::LINE_BYTES;
use crate::error::RoadError;
use crate::operation::Operation;
use crate::platform::{DmaMemory, PcieHost, PcieLink, PcieMemory, PciePort};
use crate::scenario::{Limits, Profile, sixteen};

const MOST_BYTES: usize = 65_536;
/// Lines of host memory that blocks use, one after the other, again and again.
pub(super) const DATA_LINES: u64 = 8_192;
/// Descriptors of the ring.
pub(super) const SLOTS: u64 = 64;
/// Blocks before the measured ones.
const WARMUP: u64 = 2;

/// One run.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BlockDmaScenario {
    /// Always `blockdma`.
    pub road: String,
    /// Profile: as published, or ours.
    pub profile: Profile,
    /// Constants of everything that is not gateware.
    pub platform: BlockDmaPlatform,
    /// The FPGA.
    pub fpga: BlockDmaDevice,
    /// What to measure.
    pub workload: BlockDmaWorkload,
    /// Seed of data and arrivals.
    pub seed: u64,
    /// Limits of the run.
    #[serde(default)]
    pub limits: Limits,
}

/// Constants of everything outside the FPGA.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BlockDmaPlatform {
    /// Name of the platform.
    pub name: String,
    /// Clock of the FPGA's logic and of its hard block's user side.
    #[schemars(range(min = 50.0, max = 1_000.0))]
    pub clock_mhz: f64,
    /// The link.
    pub link: PcieLink,
    /// The host's port.
    pub root: PciePort,
    /// The FPGA's hard block.
    pub endpoint: PciePort,
    /// Host memory behind the port.
    pub memory: DmaMemory,
    /// The host's processor.
    pub host: PcieHost,
}

impl BlockDmaPlatform {
    /// Its link and memory.
    pub(super) fn memory_over_pcie(&self) -> PcieMemory {
        let Self { link, root, endpoint, memory, .. } = *self;
        PcieMemory { link, root, endpoint, memory }
    }
}

/// The FPGA's gateware.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BlockDmaDevice {
    /// Shared object of the model.
    pub model_path: PathBuf,
    /// Length of the reset in clocks.
    #[serde(default = "sixteen")]
    pub reset_cycles: u32,
}

/// What to measure.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BlockDmaWorkload {
    /// `host-read` or `host-write`.
    pub operation: Operation,
    /// Bytes of a block.
    #[schemars(range(min = 1, max = MOST_BYTES))]
    pub bytes: usize,
    /// Number of measured blocks.
    #[schemars(range(min = 1, max = 10_000_000))]
    pub iterations: u64,
    /// Blocks in flight.
    #[serde(default)]
    pub window: Option<u32>,
    /// Blocks per second, Poisson arrivals.
    #[serde(default)]
    pub rate_per_s: Option<f64>,
}

impl BlockDmaScenario {
    /// Reads and checks a scenario.
    ///
    /// # Errors
    /// A wrong key, with its name and what is expected.
    pub fn parse(json: &str) -> Result<Self, RoadError> {
        crate::scenario::checked(json, Self::check)
    }

    fn check(&self) -> Result<(), RoadError> {
        let carried = [Operation::HostRead, Operation::HostWrite];
        self.workload.operation.check("workload.operation", "blockdma", &carried)?;
        let window = u64::from(self.arrivals()?.window().unwrap_or(1));
        let most = SLOTS.min(DATA_LINES / self.lines());
        if window > most {
            let bytes = self.workload.bytes;
            let reason = format!("{window} blocks of {bytes} bytes: at most {most}");
            return Err(RoadError::scenario("workload.window", reason));
        }
        Ok(())
    }

    pub(super) fn arrivals(&self) -> Result<Arrivals, RoadError> {
        Arrivals::of("workload", self.workload.window, self.workload.rate_per_s)
    }

    /// The host reads: blocks come into its memory.
    pub(super) fn to_host(&self) -> bool {
        self.workload.operation == Operation::HostRead
    }

    /// Lines of host memory that a block touches.
    pub(super) fn lines(&self) -> u64 {
        self.workload.bytes.div_ceil(LINE_BYTES) as u64
    }

    /// Blocks that may be in flight at all.
    pub(super) fn most(&self) -> u64 {
        let window = u64::from(self.workload.window.unwrap_or(1));
        match self.workload.rate_per_s {
            Some(_) => SLOTS.min(DATA_LINES / self.lines()),
            None => window,
        }
    }

    /// Blocks that are measured, of all before the last one, which is observed alone.
    pub(super) fn counted(&self) -> Range<u64> {
        let head = WARMUP + u64::from(self.workload.window.unwrap_or(0));
        head..head + self.workload.iterations
    }

    /// Blocks before the last one.
    pub(super) fn series(&self) -> u64 {
        self.counted().end + u64::from(self.workload.window.unwrap_or(0))
    }
}
