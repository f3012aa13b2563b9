// SPDX-License-Identifier: Apache-2.0
//! The same host memory by DMA over PCIe: of addresses that the FPGA's logic has, or of descriptors in a ring.

use super::NAME;
use super::program::{Counts, Outcome};
use super::scenario::{EciDriver, EciPcie, EciScenario};
use crate::dma::Card;
use crate::dma::transfers::{self, Blocks, Measured};
use crate::error::RoadError;
use crate::road::Context;

/// Runs all transfers, and one more that is observed. Of what it measured, `Outcome` has times and counts.
pub(super) fn run(
    scenario: &EciScenario,
    pcie: &EciPcie,
    context: &Context<'_>,
) -> Result<(Outcome, Measured), RoadError> {
    let workload = &scenario.workload;
    let card = Card {
        model_path: &scenario.fpga.model_path,
        reset_cycles: scenario.fpga.reset_cycles,
        waveform: scenario.waveform.as_deref(),
        clock_mhz: pcie.clock_mhz,
        pcie: pcie.memory_over_pcie(),
    };
    let blocks = Blocks {
        road: NAME,
        to_host: scenario.writes(),
        bytes: workload.bytes,
        ring: workload.driver == EciDriver::PcieRing,
        window: workload.window,
        rate_per_s: workload.rate_per_s,
        until_visible: workload.until_visible,
        extent: scenario.extent(),
        seed: scenario.seed,
        limits: scenario.limits,
    };
    let mut measured = transfers::run(&card, &blocks, context)?;
    let counts = |of: &transfers::Counts| {
        let carried = if blocks.to_host { of.up } else { of.down };
        Counts { at: of.at, wire_bytes: carried.wire_bytes, ..Counts::default() }
    };
    let outcome = Outcome {
        times: std::mem::take(&mut measured.times),
        from: counts(&measured.from),
        until: counts(&measured.until),
        checked: measured.checked,
        lines: Vec::new(),
    };
    Ok((outcome, measured))
}
