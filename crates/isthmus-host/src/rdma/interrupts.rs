// SPDX-License-Identifier: Apache-2.0

use super::endpoint::Endpoint;
use super::error::RdmaError;
use crate::pcie::{DmaMemory, Interrupt, Mmio};
use crate::regs::rdma as regs;

/// Interrupts: what others asked for with [`Options::interrupt`](super::Options), a bit for each host.
///
/// A host's bit is set when what it sent is in memory, and stays set until it is cleared. One that is set
/// while it is unmasked raises the board's interrupt.
impl<M: Mmio, D: DmaMemory> Endpoint<M, D> {
    /// Lets these hosts raise the interrupt, a bit each, and no others. After opening none may.
    ///
    /// # Errors
    /// When the machine refuses.
    pub async fn unmask_interrupts(&mut self, sources: u8) -> Result<(), RdmaError> {
        self.unmasked = sources;
        Ok(self.mmio.write32(regs::IRQ_MASK.into(), sources.into()).await?)
    }

    /// The hosts whose interrupt is pending, masked or not. All that they sent before it is in memory.
    ///
    /// # Errors
    /// When the machine refuses.
    pub async fn pending_interrupts(&mut self) -> Result<u8, RdmaError> {
        Ok(self.mmio.read32(regs::IRQ.into()).await? as u8)
    }

    /// Clears the interrupts of these hosts: before their data is looked at, so that what comes
    /// meanwhile is not missed.
    ///
    /// # Errors
    /// When the machine refuses.
    pub async fn clear_interrupts(&mut self, sources: u8) -> Result<(), RdmaError> {
        Ok(self.mmio.write32(regs::IRQ.into(), sources.into()).await?)
    }

    /// Waits for an interrupt of an unmasked host on `line`, the board's, clears it, and says whose
    /// it was. It has no timeout: a program that needs one waits for both.
    ///
    /// # Errors
    /// When the machine refuses.
    pub async fn wait_interrupt(&mut self, line: &mut impl Interrupt) -> Result<u8, RdmaError> {
        loop {
            let pending = self.pending_interrupts().await? & self.unmasked;
            if pending != 0 {
                self.clear_interrupts(pending).await?;
                return Ok(pending);
            }
            line.raised().await?;
        }
    }
}
