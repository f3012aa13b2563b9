// SPDX-License-Identifier: Apache-2.0
//! A ring of descriptors, by which a program has a device move blocks between its memory and theirs.
//!
//! The program stores a descriptor into host memory and rings a doorbell. The device fetches the descriptor, moves
//! the data, and writes a record behind it, for which the program polls.

use std::time::Duration;

use super::{DmaMemory, Mmio};
use crate::transport::TransportError;

/// Bytes of a descriptor: a line, so that the device fetches it by one read.
pub const DESCRIPTOR_BYTES: usize = 64;
/// Bytes of a record.
pub const RECORD_BYTES: usize = 16;
/// From one record to the next: a line each, so that the device's write of one leaves the others in the cache.
pub const RECORD_STRIDE: usize = 64;
/// Where the doorbell is in BAR 0: the number of descriptors posted so far is stored there.
pub const DOORBELL: u64 = 0;

/// A block to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Bus address of the host's side.
    pub address: u64,
    /// Its bytes.
    pub bytes: u32,
    /// To the host's memory, and not from it.
    pub to_host: bool,
}

impl Descriptor {
    /// As it is in memory: what is used of its line, little-endian.
    #[must_use]
    pub fn encode(self) -> [u8; 16] {
        let mut line = [0; 16];
        line[..8].copy_from_slice(&self.address.to_le_bytes());
        line[8..12].copy_from_slice(&self.bytes.to_le_bytes());
        line[12] = u8::from(self.to_host);
        line
    }

    /// Of a line; none where a byte that must be zero is not, or the line is too short.
    #[must_use]
    pub fn decode(line: &[u8]) -> Option<Self> {
        let (address, rest) = line.split_first_chunk()?;
        let (bytes, rest) = rest.split_first_chunk()?;
        let (direction, rest) = rest.split_first()?;
        (*direction <= 1 && rest.iter().all(|byte| *byte == 0)).then(|| Self {
            address: u64::from_le_bytes(*address),
            bytes: u32::from_le_bytes(*bytes),
            to_host: *direction == 1,
        })
    }
}

/// Where descriptors and records are in the memory that the device reaches.
#[derive(Clone, Copy, Debug)]
pub struct RingPlace {
    /// Offset of the first descriptor.
    pub descriptors: usize,
    /// Offset of the first record.
    pub records: usize,
    /// How many of each.
    pub slots: u64,
}

/// The program's side of a ring.
pub struct DescriptorRing<M, D> {
    mmio: M,
    memory: D,
    place: RingPlace,
    posted: u64,
    ended: u64,
}

impl<M: Mmio, D: DmaMemory> DescriptorRing<M, D> {
    /// A ring whose descriptors and records are at these places, none posted yet.
    pub fn new(mmio: M, memory: D, place: RingPlace) -> Self {
        Self { mmio, memory, place, posted: 0, ended: 0 }
    }

    /// Blocks that are posted and have not ended.
    pub fn in_flight(&self) -> u64 {
        self.posted - self.ended
    }

    /// Posts a block; its number. The ring must have room: see [`in_flight`](Self::in_flight).
    ///
    /// # Errors
    /// When the ring is full, or an access fails.
    pub async fn post(&mut self, block: Descriptor) -> Result<u64, TransportError> {
        if self.in_flight() == self.place.slots {
            return Err(TransportError::Other("descriptor ring: full".to_owned()));
        }
        let slot = (self.posted % self.place.slots) as usize;
        let at = self.place.descriptors + slot * DESCRIPTOR_BYTES;
        self.memory.write(at, &block.encode()).await?;
        self.posted += 1;
        self.mmio.write32(DOORBELL, self.posted as u32).await?;
        Ok(self.posted - 1)
    }

    /// The number of the next block that has ended, in the order of posting; none when `deadline` passes first.
    ///
    /// # Errors
    /// When an access fails.
    pub async fn next(&mut self, deadline: Duration) -> Result<Option<u64>, TransportError> {
        let slot = (self.ended % self.place.slots) as usize;
        let at = self.place.records + slot * RECORD_STRIDE + RECORD_BYTES - 8;
        if self.memory.poll64(at, 0, deadline).await? == 0 {
            return Ok(None);
        }
        // The slot is used again only when this one has ended.
        self.memory.write(at, &0u64.to_le_bytes()).await?;
        self.ended += 1;
        Ok(Some(self.ended - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_is_what_was_encoded_and_nothing_else() {
        let block = Descriptor { address: 0x1_2345_6789, bytes: 4096, to_host: true };
        let mut line = block.encode().to_vec();
        line.resize(DESCRIPTOR_BYTES, 0);
        assert_eq!(Descriptor::decode(&line), Some(block));
        for (at, wrong) in [(12, 2), (13, 1), (63, 1)] {
            let mut other = line.clone();
            other[at] = wrong;
            assert_eq!(Descriptor::decode(&other), None, "byte {at}");
        }
        assert_eq!(Descriptor::decode(&line[..12]), None);
    }
}
