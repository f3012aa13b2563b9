// SPDX-License-Identifier: Apache-2.0
//! What TLPs are on the wire: sizes, credits, and the time they take.

use serde::{Deserialize, Serialize};

use crate::kernel::{FrameId, Picoseconds};

/// A generation of PCIe. 4 differs from 3 in its rate alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Generation {
    /// 2.5 GT/s, 8b/10b.
    Gen1,
    /// 5 GT/s, 8b/10b.
    Gen2,
    /// 8 GT/s, 128b/130b.
    Gen3,
    /// 16 GT/s, 128b/130b.
    Gen4,
}

impl Generation {
    /// Bits a second of one lane, after the line code.
    #[must_use]
    pub fn lane_bit_s(self) -> f64 {
        match self {
            Self::Gen1 => 2.5e9 * 8.0 / 10.0,
            Self::Gen2 => 5.0e9 * 8.0 / 10.0,
            Self::Gen3 => 8.0e9 * 128.0 / 130.0,
            Self::Gen4 => 16.0e9 * 128.0 / 130.0,
        }
    }
}

/// Framing, sequence number and LCRC. Gen1 and Gen2: STP 1, sequence 2, LCRC 4, END 1. Gen3 on: STP
/// token with the sequence number 4, LCRC 4.
pub const FRAMING_BYTES: u64 = 8;
/// A DLLP. Gen1 and Gen2: SDP 1, content 4, CRC 2, END 1. Gen3 on: SDP token 2, content 4, CRC 2.
pub const DLLP_BYTES: u64 = 8;
/// The end-to-end CRC.
pub const ECRC_BYTES: u64 = 4;

/// Kind of a TLP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TlpKind {
    /// A posted memory write.
    Write,
    /// A posted write that is an interrupt message.
    Interrupt,
    /// A memory read request.
    Read,
    /// A completion, with data or without.
    Completion,
}

/// Which way a TLP goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the root complex to the device.
    Down,
    /// From the device to the root complex.
    Up,
}

impl Direction {
    /// Its name in counters, spans and fault points.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Down => "down",
            Self::Up => "up",
        }
    }

    pub(super) fn index(self) -> usize {
        self as usize
    }

    pub(super) fn opposite(self) -> Self {
        match self {
            Self::Down => Self::Up,
            Self::Up => Self::Down,
        }
    }
}

/// A TLP that was on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TlpRecord {
    /// Its number: the tag of its spans.
    pub id: FrameId,
    /// Its direction.
    pub direction: Direction,
    /// Its kind.
    pub kind: TlpKind,
    /// Completion only: the request's number.
    pub request: Option<FrameId>,
    /// The address: of a completion, of its first byte.
    pub address: u64,
    /// Bytes it transfers; of a read request, none.
    pub payload_bytes: u64,
    /// Bytes on the wire, framing and padding included.
    pub wire_bytes: u64,
    /// Handed to the sending block.
    pub handed: Picoseconds,
    /// First symbol on the wire.
    pub start: Picoseconds,
    /// Last symbol on the wire.
    pub end: Picoseconds,
    /// Time at the user side of the receiving block.
    pub delivered: Picoseconds,
}

/// Payload octets on the wire: whole double words.
pub(super) fn padded(address: u64, bytes: usize) -> u64 {
    if bytes == 0 { 0 } else { ((address & 3) + bytes as u64).next_multiple_of(4) }
}

/// Credits for this many octets of payload.
pub(super) fn data_credits(padded_bytes: usize) -> u32 {
    padded_bytes.div_ceil(16) as u32
}

/// Octets on the wire of a TLP: framing, header, payload in double words, ECRC.
#[must_use]
pub fn wire_bytes(kind: TlpKind, address: u64, payload_bytes: usize, ecrc: bool) -> u64 {
    // A completion's header is 3 DW; a request's too, unless its address needs 64 bits.
    let long = kind != TlpKind::Completion && address > u64::from(u32::MAX);
    let header = if long { 16 } else { 12 };
    let digest = if ecrc { ECRC_BYTES } else { 0 };
    FRAMING_BYTES + header + padded(address, payload_bytes) + digest
}

/// Picoseconds with 32 fractional bits: the wire's own time does not drift by rounding.
pub(super) type FineTime = u128;

const FINE_BITS: u32 = 32;

pub(super) fn fine(time: Picoseconds) -> FineTime {
    u128::from(time.0) << FINE_BITS
}

/// Rounded up.
pub(super) fn coarse(time: FineTime) -> Picoseconds {
    Picoseconds(((time + (1 << FINE_BITS) - 1) >> FINE_BITS) as u64)
}

/// The time one octet takes on a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct OctetTime(FineTime);

impl OctetTime {
    pub(super) fn new(generation: Generation, lanes: u32, reserved_share: f64) -> Self {
        let bit_s = generation.lane_bit_s() * f64::from(lanes) * (1.0 - reserved_share);
        Self((8e12 / bit_s * (1_u64 << FINE_BITS) as f64).round() as FineTime)
    }

    pub(super) fn of(self, bytes: u64) -> FineTime {
        self.0 * u128::from(bytes)
    }
}

/// Cuts `bytes` from `address` on into pieces of at most `most`, none across a multiple of `page`.
/// Gives offset and length of each.
pub(super) fn pieces(address: u64, bytes: usize, most: usize, page: u64) -> Vec<(usize, usize)> {
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < bytes {
        let start = address.wrapping_add(at as u64);
        let to_page = (page - start % page) as usize;
        let length = (bytes - at).min(most).min(to_page);
        pieces.push((at, length));
        at += length;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tlp_is_framing_header_payload_and_digest() {
        let above = 1 << 32;
        assert_eq!(wire_bytes(TlpKind::Write, above, 256, false), 8 + 16 + 256);
        assert_eq!(wire_bytes(TlpKind::Write, above - 1, 1, false), 8 + 12 + 4);
        assert_eq!(wire_bytes(TlpKind::Read, above, 0, false), 24);
        assert_eq!(wire_bytes(TlpKind::Completion, above, 64, false), 8 + 12 + 64);
        assert_eq!(wire_bytes(TlpKind::Completion, 2, 64, true), 8 + 12 + 68 + 4);
    }

    #[test]
    fn a_gen3_x16_octet_takes_63_and_a_half_picoseconds() {
        let octet = OctetTime::new(Generation::Gen3, 16, 0.0);
        // 8 GT/s * 16 * 128/130 / 8 = 15.754 GB/s.
        assert_eq!(coarse(octet.of(15_753_846_154)), Picoseconds(1_000_000_000_010));
        assert_eq!(coarse(OctetTime::new(Generation::Gen1, 1, 0.0).of(1)), Picoseconds(4_000));
        assert_eq!(coarse(OctetTime::new(Generation::Gen2, 4, 0.5).of(1)), Picoseconds(1_000));
    }

    #[test]
    fn pieces_end_at_pages_and_never_exceed_the_most() {
        assert_eq!(pieces(0x10, 200, 64, 64), [(0, 48), (48, 64), (112, 64), (176, 24)]);
        assert_eq!(pieces(0xF80, 600, 512, 4096), [(0, 128), (128, 472)]);
        assert_eq!(pieces(0, 0, 512, 4096), []);
    }
}
