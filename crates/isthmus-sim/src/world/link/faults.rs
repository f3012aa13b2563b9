// SPDX-License-Identifier: Apache-2.0
//! Faults that a line makes, and which packets they hit.

/// A packet: its flow and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// The port of its source.
    pub source: u8,
    /// The port of its destination.
    pub destination: u8,
    /// Its sequence number within the flow.
    pub sequence: u32,
}

impl Key {
    /// From a packet's first two words.
    #[inline]
    #[must_use]
    pub const fn new(header: u32, sequence: u32) -> Self {
        Self { source: (header >> 8) as u8, destination: (header >> 16) as u8, sequence }
    }
}

/// Faults that were injected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultCounters {
    /// Inverted bits.
    pub bit_errors: u64,
    /// CREDIT and CHECK words that were dropped.
    pub credits_lost: u64,
    /// CREDIT and CHECK words with an inverted bit.
    pub credits_corrupted: u64,
    /// Links taken down.
    pub resets: u64,
    /// Lanes that slipped.
    pub slips: u64,
    /// Sinks that stopped taking words.
    pub stalls: u64,
}

/// Receives the faults of a line.
pub trait FaultLog {
    /// The counters of injected faults.
    fn counters(&mut self) -> &mut FaultCounters;

    /// A fault hit this packet.
    fn hit(&mut self, _packet: Key) {}
}

impl FaultLog for FaultCounters {
    fn counters(&mut self) -> &mut FaultCounters {
        self
    }
}
