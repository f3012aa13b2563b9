// SPDX-License-Identifier: Apache-2.0
//! The same host memory by DMA over PCIe: the document's comparison.

use super::program::{Counts, Outcome};
use super::scenario::{CcixScenario, NAME};
use crate::dma::Card;
use crate::dma::transfers::{self, Blocks, Measured};
use crate::error::RoadError;
use crate::platform::PcieMemory;
use crate::road::Context;

/// Runs all transfers, and one more that is observed. Of what it measured, `Outcome` has times and counts.
pub(super) fn run(
    scenario: &CcixScenario,
    pcie: &PcieMemory,
    context: &Context<'_>,
) -> Result<(Outcome, Measured), RoadError> {
    let workload = &scenario.workload;
    let card = Card {
        model_path: &scenario.fpga.model_path,
        reset_cycles: scenario.fpga.reset_cycles,
        waveform: scenario.waveform.as_deref(),
        clock_mhz: scenario.platform.clock_mhz,
        pcie: *pcie,
    };
    let blocks = Blocks {
        road: NAME,
        to_host: scenario.writes(),
        bytes: workload.bytes,
        ring: false,
        window: workload.window,
        rate_per_s: workload.rate_per_s,
        until_visible: workload.until_visible,
        extent: scenario.extent(),
        seed: scenario.seed,
        limits: scenario.limits,
    };
    let mut measured = transfers::run(&card, &blocks, context)?;
    let counts = |of: &transfers::Counts| Counts {
        at: of.at,
        up: of.up,
        down: of.down,
        requests: of.ended * scenario.lines(),
        walks: 0,
        granted: 0,
        direct: 0,
    };
    let outcome = Outcome {
        times: std::mem::take(&mut measured.times),
        from: counts(&measured.from),
        until: counts(&measured.until),
        checked: measured.checked,
        ..Outcome::default()
    };
    Ok((outcome, measured))
}
