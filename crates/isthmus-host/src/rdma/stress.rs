// SPDX-License-Identifier: Apache-2.0

use std::time::Duration;

use super::config::Posting;
use super::endpoint::Endpoint;
use super::error::RdmaError;
use super::words::{Descriptor, Options};
use crate::pcie::{DmaMemory, Mmio};

/// Transfers that are posted together: a line of 64 bytes.
const CLUSTER: usize = 4;

/// What [`Endpoint::stress`] has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stressed {
    /// Transfers.
    pub transfers: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets that were refused or lost.
    pub refused: u32,
    /// From the first post until all was in the remote host's memory.
    pub lasted: Duration,
}

impl<M: Mmio, D: DmaMemory> Endpoint<M, D> {
    /// Posts `transfer` again and again for `lasting`, so that the request queue is never empty and the bus
    /// has no pause: a test of a new board's bus, bridge and links. For a minute and more on hardware; two
    /// hosts that stress each other load both buses in both directions. It ends with a [`fence`](Self::fence).
    ///
    /// # Errors
    /// When the transfer is not legal, or nothing comes back in time.
    pub async fn stress(
        &mut self,
        transfer: &Descriptor,
        lasting: Duration,
    ) -> Result<Stressed, RdmaError> {
        // Each transfer is one descriptor: a cluster of keyed ones takes two lines.
        let plain = Descriptor { options: Options::default(), ..*transfer };
        let cluster = [plain; CLUSTER];
        let mut done = Stressed::default();
        let begin = self.memory.now();
        while self.memory.now().saturating_sub(begin) < lasting {
            self.post(transfer.host, &cluster, Posting::Circular).await?;
            done.transfers += CLUSTER as u64;
        }
        let options = Options { completion: true, ..transfer.options };
        self.put(&Descriptor { options, ..*transfer }).await?;
        done.transfers += 1;
        done.refused = self.fence(transfer.host).await?;
        done.bytes = done.transfers * transfer.bytes as u64;
        done.lasted = self.memory.now().saturating_sub(begin);
        Ok(done)
    }
}
