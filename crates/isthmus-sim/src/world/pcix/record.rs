// SPDX-License-Identifier: Apache-2.0
//! What was on the bus, transaction by transaction, and where bytes are cut.

use serde::Serialize;

use crate::kernel::{FrameId, Picoseconds};

/// The initiator of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PcixAgent {
    /// The host's bridge.
    Bridge,
    /// The device's core.
    Device,
}

impl PcixAgent {
    /// Both of them.
    pub const BOTH: [Self; 2] = [Self::Bridge, Self::Device];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Bridge => "bridge",
            Self::Device => "device",
        }
    }

    pub(super) fn index(self) -> usize {
        self as usize
    }
}

/// Purpose of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PcixKind {
    /// A processor's store.
    Store,
    /// A processor's load, answered at once or split.
    Load,
    /// Data of a split load.
    Answer,
    /// The device's write to host memory.
    Write,
    /// The device's request to read host memory.
    Read,
    /// Data of that read.
    Completion,
    /// The device's interrupt message.
    Interrupt,
}

/// How a transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PcixOutcome {
    /// All of its sequence is done.
    Whole,
    /// Some of it is left: it was cut at a boundary.
    Cut,
    /// The target accepted the request, and will answer as initiator.
    Split,
    /// The target had no room: the same again.
    Retry,
    /// No target answered.
    MasterAbort,
    /// The target aborted.
    TargetAbort,
}

/// A transaction on the bus. All times are clock edges of the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PcixRecord {
    /// The sequence it belongs to; a read's request and its completions share one.
    pub id: FrameId,
    /// Its initiator.
    pub initiator: PcixAgent,
    /// Its purpose.
    pub kind: PcixKind,
    /// How it ended.
    pub outcome: PcixOutcome,
    /// Address of its data.
    pub address: u64,
    /// Bytes of data moved.
    pub bytes: u64,
    /// REQ#; where that was up before there was anything to send, when there was.
    pub requested: Picoseconds,
    /// The address phase begins.
    pub start: Picoseconds,
    /// The first data phase begins, or would have.
    pub data: Picoseconds,
    /// The last data phase has ended.
    pub data_end: Picoseconds,
    /// Another transaction may begin.
    pub end: Picoseconds,
    /// Data phases.
    pub data_phases: u64,
    /// Clocks in which the target had no data yet.
    pub wait_cycles: u64,
}

/// Data phases of `width` bytes that `bytes` from `address` on take.
pub(super) fn phases(address: u64, bytes: usize, width: u32) -> u64 {
    let width = u64::from(width);
    (address % width + bytes as u64).div_ceil(width)
}

/// The end of a transaction of at most `most` bytes that begins `from` bytes into a sequence of
/// `total` bytes at `address`: the sequence's, or the last boundary before it is too long. At least
/// up to the next boundary.
pub(super) fn cut(address: u64, from: usize, total: usize, most: usize, boundary: u32) -> usize {
    if total - from <= most {
        return total;
    }
    let boundary = u64::from(boundary);
    let begin = address.wrapping_add(from as u64);
    let last = (begin + most as u64) / boundary * boundary;
    let next = (begin / boundary + 1) * boundary;
    (from + (last.max(next) - begin) as usize).min(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_is_cut_at_the_last_boundary_that_fits() {
        assert_eq!(cut(0x1000, 0, 4096, 1408, 128), 1408);
        assert_eq!(cut(0x1000, 2816, 4096, 1408, 128), 4096);
        assert_eq!(cut(0x1010, 0, 4096, 512, 128), 496);
        // Up to the next boundary for any request.
        assert_eq!(cut(0x107C, 0, 400, 3, 128), 4);
        assert_eq!(cut(0x1004, 0, 40, 4, 128), 40);
    }

    #[test]
    fn unaligned_data_touches_a_phase_more() {
        assert_eq!(phases(0, 64, 8), 8);
        assert_eq!(phases(4, 64, 8), 9);
        assert_eq!(phases(4, 4, 8), 1);
        assert_eq!(phases(0, 64, 4), 16);
    }
}
