// SPDX-License-Identifier: Apache-2.0
//! The lines of the traffic generators, and what they have in them.

use isthmus_sim::Picoseconds;

/// Bytes of a line of the traffic generator.
pub(crate) const LINE_BYTES: usize = 64;

/// A line's bytes.
pub(crate) type Line = [u8; LINE_BYTES];

/// The data of a line, from its number and a seed: what `rtl/ccix/traffic_pattern.sv` makes.
pub(crate) fn pattern(index: u64, seed: u32) -> Line {
    let round = |value: u32| {
        let value = value ^ value << 13;
        let value = value ^ value >> 17;
        value ^ value << 5
    };
    let mut line = [0; LINE_BYTES];
    for (word, bytes) in line.chunks_exact_mut(8).enumerate() {
        let low = round(round((index as u32) << 3 ^ word as u32 ^ seed));
        bytes.copy_from_slice(&(u64::from(round(low)) << 32 | u64::from(low)).to_le_bytes());
    }
    line
}

/// The seed of what memory has at the start.
pub(crate) fn first_seed(seed: u64) -> u32 {
    (seed ^ seed >> 32) as u32
}

/// A write that became visible.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stored {
    /// Number of the line, as the FPGA counts.
    pub(crate) index: u64,
    pub(crate) at: Picoseconds,
    /// Content of the line.
    pub(crate) line: Line,
}
