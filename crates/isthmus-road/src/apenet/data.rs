// SPDX-License-Identifier: Apache-2.0
//! The data of a node's program: in its host's memory, in a GPU's, or in a GPU's by way of the host's.
//!
//! A GPU's memory has the layout of the host's, at the same offsets.

use isthmus_host::nic::{NicConfig, Paging};
use isthmus_sim::world::host::MmioHost;
use isthmus_sim::world::{CopyWay, Gpu, Memory};

use super::scenario::{ApenetMemory, NAME};
use crate::error::RoadError;

/// The data of one node's program.
pub(super) struct Data {
    kind: ApenetMemory,
    host: MmioHost,
    gpu: Option<Gpu>,
    paging: Option<Paging>,
    put: usize,
}

fn outside(what: impl std::fmt::Display) -> RoadError {
    RoadError::Inconsistent(format!("{NAME}: {what}"))
}

impl Data {
    pub(super) fn new(
        kind: ApenetMemory,
        host: &MmioHost,
        gpu: Option<Gpu>,
        config: &NicConfig,
    ) -> Self {
        let put = config.put.as_ref().map_or(0, |memory| memory.offset);
        Self { kind, host: host.clone(), gpu, paging: config.paging.clone(), put }
    }

    fn memory(&self) -> &Memory {
        self.gpu.as_ref().map_or(self.host.memory(), Gpu::memory)
    }

    /// Pieces of registered memory, each in one page.
    fn pieces(&self, offset: usize, bytes: usize) -> Result<Vec<(usize, usize)>, RoadError> {
        let pieces = self.paging.as_ref().and_then(|paging| paging.pieces(offset, bytes));
        pieces.ok_or_else(|| outside(format!("no page at {offset:#x}")))
    }

    /// What is to be put, at a place of the put memory; it takes no simulated time.
    pub(super) fn fill(&self, offset: usize, payload: &[u8]) -> Result<(), RoadError> {
        self.memory().write(self.put + offset, payload).map_err(outside)
    }

    /// Copies what is to be put into the host's memory, where it is staged.
    pub(super) async fn copy_out(&self, offset: usize, bytes: usize) -> Result<(), RoadError> {
        self.copy(CopyWay::Out, &[(self.put + offset, bytes)]).await
    }

    /// Copies what was put out of the host's memory, where it is staged.
    pub(super) async fn copy_in(&self, offset: usize, bytes: usize) -> Result<(), RoadError> {
        self.copy(CopyWay::In, &self.pieces(offset, bytes)?).await
    }

    async fn copy(&self, way: CopyWay, pieces: &[(usize, usize)]) -> Result<(), RoadError> {
        let (ApenetMemory::Staged, Some(gpu)) = (self.kind, &self.gpu) else { return Ok(()) };
        gpu.copy(self.host.cpu(), way, pieces).await.map_err(outside)
    }

    /// Waits until the last bytes of what is put from a place of the registered pages on are in the host's memory: those
    /// are written last. It costs nothing.
    pub(super) async fn landed(&self, offset: usize, payload: &[u8]) -> Result<(), RoadError> {
        let pieces = self.pieces(offset, payload.len())?;
        let Some((at, length)) = pieces.last().copied() else { return Ok(()) };
        let last = length.min(8);
        let tail = &payload[payload.len() - last..];
        let place = at + length - last;
        self.host.memory().watch(place, last, |found| found == tail).await.map_err(outside)
    }

    /// What was put, from a place of the registered pages on. A GPU's memory is read behind the writes that were passed
    /// to it: a program sees its event earlier. It costs no processor time.
    pub(super) async fn found(&self, offset: usize, bytes: usize) -> Result<Vec<u8>, RoadError> {
        if let (ApenetMemory::Gpu, Some(gpu)) = (self.kind, &self.gpu) {
            gpu.settled().await;
        }
        let mut found = Vec::with_capacity(bytes);
        for (at, length) in self.pieces(offset, bytes)? {
            found.extend(self.memory().read(at, length).map_err(outside)?);
        }
        Ok(found)
    }
}
