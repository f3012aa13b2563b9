// SPDX-License-Identifier: Apache-2.0
//! Transfers by descriptors: the request queue of each destination.

use super::config::Posting;
use super::endpoint::{BEAT, Endpoint, LOCAL};
use super::error::RdmaError;
use super::words::{Descriptor, HostId, MAX_TRANSFER, Options, SLOTS, WordError, offset};
use crate::pcie::{DmaMemory, Mmio};

/// Bytes of a packet, at most.
const PACKET: usize = 512;
/// Descriptors of a long transfer that are posted together: a line of 64 bytes.
const CLUSTER: usize = 4;

impl<M: Mmio, D: DmaMemory> Endpoint<M, D> {
    /// Posts transfers to one host as one cluster: none goes before all are there. Each call takes the
    /// slots behind the last one's.
    ///
    /// # Errors
    /// When a word cannot be, the cluster is longer than the queue, or no room comes back.
    pub async fn post(
        &mut self,
        host: HostId,
        transfers: &[Descriptor],
        posting: Posting,
    ) -> Result<(), RdmaError> {
        let at = self.host(host)?;
        let slots: usize = transfers.iter().map(|transfer| usize::from(transfer.slots())).sum();
        if slots > usize::from(SLOTS) {
            return Err(RdmaError::Cluster { slots });
        }
        let room = match posting {
            Posting::Batch => Some(SLOTS),
            Posting::Circular => Some(slots as u16),
            // For all until the next look, if they are as this one.
            Posting::Lazy { every, .. } => (self.posted[at].unseen >= every.max(1))
                .then(|| every.max(1).saturating_mul(slots as u16).min(SLOTS)),
        };
        if let Some(room) = room {
            self.wait_slots(host, SLOTS - room).await?;
            self.posted[at].unseen = 0;
        }
        self.posted[at].unseen += transfers.len() as u16;
        let mut beats = Vec::with_capacity(2 * slots);
        for (index, transfer) in transfers.iter().enumerate() {
            let last = index + 1 == transfers.len();
            // Without a local notification of the last one nothing of the cluster comes back.
            let local = transfer.options.local || last;
            let options = Options { local, ..transfer.options };
            beats.extend(Descriptor { host, start: last, options, ..*transfer }.beats()?);
        }
        let first = usize::from(self.posted[at].slots % SLOTS);
        self.posted[at].slots = self.posted[at].slots.wrapping_add(slots as u16);
        for transfer in transfers {
            let packets = transfer.bytes.div_ceil(PACKET) as u16;
            self.posted[at].packets = self.posted[at].packets.wrapping_add(packets);
        }
        let queue = offset::REQUESTS + offset::QUEUE_BYTES * at as u64;
        // What starts takes effect with its line of 64 bytes: a second slot in the next line goes first.
        if transfers.last().is_some_and(|last| last.key.is_some()) {
            let slot = (first + slots - 1) % usize::from(SLOTS);
            if slot.is_multiple_of(4) {
                let second = beats.split_off(beats.len() - 2);
                self.table(queue + 16 * slot as u64, &second).await?;
            }
        }
        let until_end = 2 * (usize::from(SLOTS) - first);
        let (head, tail) = beats.split_at(until_end.min(beats.len()));
        self.table(queue + 16 * first as u64, head).await?;
        if !tail.is_empty() {
            self.table(queue, tail).await?;
        }
        Ok(())
    }

    /// Posts one transfer; see [`post`](Self::post).
    ///
    /// # Errors
    /// As [`post`](Self::post).
    pub async fn put(&mut self, transfer: &Descriptor) -> Result<(), RdmaError> {
        self.post(transfer.host, std::slice::from_ref(transfer), Posting::default()).await
    }

    /// Posts a transfer of any length as several, one behind the other; `transfer`'s options and its
    /// immediate are the last one's. Other transfers to this host come before or after all of it.
    ///
    /// # Errors
    /// As [`post`](Self::post). What was posted before the error goes.
    pub async fn put_long(&mut self, transfer: &Descriptor) -> Result<(), RdmaError> {
        if !transfer.bytes.is_multiple_of(BEAT) {
            let value = transfer.bytes as u64;
            return Err(WordError::Alignment { what: "size", value }.into());
        }
        let parts = transfer.bytes.div_ceil(MAX_TRANSFER).max(1);
        let part = |part: usize| {
            let at = part * MAX_TRANSFER;
            let bytes = (transfer.bytes - at).min(MAX_TRANSFER);
            let options = if part + 1 == parts { transfer.options } else { Options::default() };
            let source = transfer.source.saturating_add(at as u64);
            let target = transfer.target.saturating_add(at as u64);
            Descriptor { source, target, bytes, options, ..*transfer }
        };
        // Nothing goes where a part of it cannot be said.
        part(0).beats()?;
        part(parts - 1).beats()?;
        for first in (0..parts).step_by(CLUSTER) {
            let cluster: Vec<_> = (first..parts.min(first + CLUSTER)).map(part).collect();
            self.post(transfer.host, &cluster, Posting::Circular).await?;
        }
        Ok(())
    }

    /// Posts a transfer of any length and notifies the remote host when all of it is in its
    /// memory; with `completion` also this one, at once: see [`fence`](Self::fence).
    ///
    /// # Errors
    /// As [`put_long`](Self::put_long).
    pub async fn put_notify(
        &mut self,
        transfer: &Descriptor,
        completion: bool,
    ) -> Result<(), RdmaError> {
        let options = Options { notify: true, completion, ..transfer.options };
        self.put_long(&Descriptor { options, ..*transfer }).await
    }

    /// Waits until at most `most` slots of a host's request queue are not given back.
    async fn wait_slots(&mut self, host: HostId, most: u16) -> Result<(), RdmaError> {
        let at = self.host(host)?;
        let word = LOCAL + BEAT * at;
        loop {
            let posted = self.posted[at];
            if posted.slots.wrapping_sub(posted.slots_back) <= most {
                return Ok(());
            }
            let back = self.changed(word, posted.slots_back.into(), host, "request").await?;
            self.posted[at].slots_back = back;
        }
    }

    /// Waits until all transfers posted to a host have left.
    ///
    /// # Errors
    /// When they do not.
    pub async fn departed(&mut self, host: HostId) -> Result<(), RdmaError> {
        self.wait_slots(host, 0).await
    }
}
