// SPDX-License-Identifier: Apache-2.0
//! Lines of the pattern that the FPGA's traffic generator makes and expects.

use isthmus_sim::world::lines::{LINE_BYTES, Line};

use super::scenario::EciScenario;
use crate::dma::{LINE_BYTES as PART_BYTES, pattern};

/// Which side has written a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writer {
    Host,
    Fpga,
}

/// The pattern of a line, from its number and a seed: a line of the link is two of the generator's.
pub(super) fn line(index: u64, seed: u32) -> Line {
    let mut line = [0; LINE_BYTES];
    let parts = LINE_BYTES / PART_BYTES;
    for (part, bytes) in line.chunks_exact_mut(PART_BYTES).enumerate() {
        bytes.copy_from_slice(&pattern(index * parts as u64 + part as u64, seed));
    }
    line
}

/// The seed of what a side writes for a transfer. Both sides have others, each transfer another, and none is near
/// another: the pattern takes its difference from a line's number.
pub(super) fn seed(scenario: &EciScenario, transfer: u64, by: Writer) -> u32 {
    let number = 2 * transfer as u32 + u32::from(by == Writer::Fpga) + 1;
    number.wrapping_mul(0x9E37_79B9) ^ scenario.seed as u32
}

/// Content of memory at the start.
pub(super) fn first_lines(scenario: &EciScenario) -> Vec<Line> {
    (0..scenario.memory_lines()).map(|index| line(index, scenario.seed as u32)).collect()
}
