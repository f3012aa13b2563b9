// SPDX-License-Identifier: Apache-2.0
//! Drivers for boards behind PCIe.
//!
//! A driver needs two things of the machine it runs on: [`Mmio`], loads and stores to the board's
//! BAR, and [`DmaMemory`], memory that both sides see. A simulated host implements them and charges
//! simulated time; on a board they are mappings of a user-space driver framework.
//!
//! [`EtherbonePcie`] is the [`Transport`](crate::transport::Transport) of the Etherbone board
//! (`docs/explanation/cores/pcie.md`, "Driver sequence"). [`DescriptorRing`] is plain DMA: blocks between the two
//! memories, without a protocol.

mod etherbone;
mod ring;

pub use etherbone::{EtherbonePcie, PcieRings};
pub use ring::{
    DESCRIPTOR_BYTES, DOORBELL, Descriptor, DescriptorRing, RECORD_BYTES, RECORD_STRIDE, RingPlace,
};

use std::time::Duration;

use crate::transport::TransportError;

/// Loads and stores to BAR 0, little-endian, ordered among themselves: no load and no store passes
/// an earlier store.
#[allow(async_fn_in_trait, reason = "simulated hosts are single-threaded: no Send bound is wanted")]
pub trait Mmio {
    /// Loads 4 bytes.
    async fn read32(&mut self, offset: u64) -> Result<u32, TransportError>;

    /// Stores 4 bytes. Earlier stores to the [`DmaMemory`] are visible to the device before it.
    async fn write32(&mut self, offset: u64, value: u32) -> Result<(), TransportError>;

    /// Stores 8 bytes at a multiple of 8, as one write where the processor can; the lower half is first at the device.
    /// Ordered as [`write32`](Self::write32).
    async fn write64(&mut self, offset: u64, value: u64) -> Result<(), TransportError> {
        self.write32(offset, value as u32).await?;
        self.write32(offset + 4, (value >> 32) as u32).await
    }

    /// Stores bytes in ascending order through a write-combining mapping, and sends them off. What
    /// lies in one aligned line of 64 bytes should leave as one write.
    async fn write_combined(&mut self, offset: u64, data: &[u8]) -> Result<(), TransportError>;
}

/// An interrupt line of the board, one vector: what a VFIO eventfd or a UIO file is.
#[allow(async_fn_in_trait, reason = "simulated hosts are single-threaded: no Send bound is wanted")]
pub trait Interrupt {
    /// Waits until the board has raised it; one that came since the last call counts, several are one.
    async fn raised(&mut self) -> Result<(), TransportError>;
}

/// One contiguous piece of memory that the device reaches by DMA.
#[allow(async_fn_in_trait, reason = "simulated hosts are single-threaded: no Send bound is wanted")]
pub trait DmaMemory {
    /// Its address as the device sees it.
    fn bus_address(&self) -> u64;

    /// Its size in bytes.
    fn size(&self) -> usize;

    /// The time now, since an arbitrary origin.
    fn now(&self) -> Duration;

    /// Copies out of it; the range is inside.
    async fn read(&mut self, offset: usize, buffer: &mut [u8]) -> Result<(), TransportError>;

    /// Copies into it; the range is inside.
    async fn write(&mut self, offset: usize, data: &[u8]) -> Result<(), TransportError>;

    /// Loads 8 little-endian bytes at a multiple of 8, atomically and ordered after the device's
    /// earlier writes (an acquire load).
    async fn load64(&mut self, offset: usize) -> Result<u64, TransportError>;

    /// Loads bytes that lie in one line of 64 bytes, at least 8, a multiple of 8: the last 8 of them first, as
    /// [`load64`](Self::load64), the others behind it, when the processor has the line already.
    async fn load_line(&mut self, offset: usize, line: &mut [u8]) -> Result<(), TransportError> {
        let last = line.len() - 8;
        let word = self.load64(offset + last).await?;
        self.read(offset, &mut line[..last]).await?;
        line[last..].copy_from_slice(&word.to_le_bytes());
        Ok(())
    }

    /// Polls until the last 8 bytes of `line` are no longer what they are in it, then loads all as
    /// [`load_line`](Self::load_line); false when `deadline` passes first, as [`poll64`](Self::poll64).
    async fn poll_line(
        &mut self,
        offset: usize,
        line: &mut [u8],
        deadline: Duration,
    ) -> Result<bool, TransportError> {
        let last = line.len() - 8;
        let seen = line.last_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        let changed = self.poll64(offset + last, seen, deadline).await? != seen;
        if changed {
            self.load_line(offset, line).await?;
        }
        Ok(changed)
    }

    /// Polls until these 8 bytes are no longer `seen`, and gives what they are then; `seen` when
    /// `deadline` passes first, which `Duration::MAX` never does.
    async fn poll64(
        &mut self,
        offset: usize,
        seen: u64,
        deadline: Duration,
    ) -> Result<u64, TransportError>;
}
