// SPDX-License-Identifier: Apache-2.0

use std::time::Duration;

use super::endpoint::{BEAT, CONTROL_BYTES, Endpoint};
use super::error::RdmaError;
use super::words::{Frame, Layout, QueueEntry, offset};
use crate::pcie::{DmaMemory, Mmio};

impl<M: Mmio, D: DmaMemory> Endpoint<M, D> {
    /// Opens remote queue `index`, empty, over `entry`'s part of the memory. A queue of slots has an
    /// [`Inbox`].
    ///
    /// # Errors
    /// When the entry cannot be, or is not inside the endpoint's memory.
    pub async fn open_queue(&mut self, index: u8, entry: &QueueEntry) -> Result<Inbox, RdmaError> {
        let beats = entry.beats()?;
        let (size, address) = (self.memory.size(), self.memory.bus_address());
        let place = entry.base.checked_sub(address).and_then(|at| usize::try_from(at).ok());
        let bytes = entry.bytes as usize;
        let fits = place.filter(|at| *at >= CONTROL_BYTES && at.saturating_add(bytes) <= size);
        let Some(place) = fits else {
            return Err(RdmaError::Memory { size, address, needed: CONTROL_BYTES + bytes });
        };
        // Closed before its memory is cleared.
        self.table(offset::QUEUE_TABLE + 16 * u64::from(index), &[0, 0]).await?;
        self.memory.write(place, &vec![0; bytes]).await?;
        self.table(offset::TAILS + 8 * u64::from(index), &[0]).await?;
        self.table(offset::QUEUE_TABLE + 16 * u64::from(index), &beats).await?;
        let slot = match entry.layout {
            Layout::Slots(bytes) => bytes,
            Layout::Packed => 0,
        };
        Ok(Inbox { index, place, bytes, slot, at: 0, phase: true, every: 1, kept: 0 })
    }
}

/// The reader of a remote queue: of slots by their frame words, of a packed one by its messages' last word.
#[derive(Debug)]
pub struct Inbox {
    pub(super) index: u8,
    pub(super) place: usize,
    pub(super) bytes: usize,
    pub(super) slot: usize,
    pub(super) at: usize,
    pub(super) phase: bool,
    /// Slots given back at a time; slots taken and not given back yet.
    pub(super) every: usize,
    pub(super) kept: usize,
}

impl Inbox {
    /// Gives slots back with every `messages`th message, and when the queue is found empty: a store to the
    /// interface each time that is saved. 1, as it is at first, to half the slots; what is outside is taken
    /// as the nearest. Senders then have [`room`](Self::room) for as many less.
    pub fn give_back_every(&mut self, messages: usize) {
        let half = self.bytes.checked_div(self.slot).unwrap_or(0) / 2;
        self.every = messages.clamp(1, half.max(1));
    }

    /// Waits for the next message or notification, and receives it; none when `timeout` passes
    /// first. It watches the frame word, which is written when the body is there.
    ///
    /// # Errors
    /// As [`receive`](Self::receive).
    pub async fn wait<M: Mmio, D: DmaMemory>(
        &mut self,
        endpoint: &mut Endpoint<M, D>,
        timeout: Duration,
    ) -> Result<Option<(Frame, Vec<u8>)>, RdmaError> {
        if self.slot == 0 {
            return Ok(None);
        }
        let place = self.place + self.at;
        let seen = endpoint.memory.load64(place).await?;
        if Frame::from(seen).phase != self.phase {
            // The sender may be waiting for these.
            self.give_back_kept(endpoint).await?;
            if endpoint.watch_word(place, seen, timeout).await?.is_none() {
                return Ok(None);
            }
        }
        self.receive(endpoint).await
    }

    /// Messages and notifications that can always wait in it: one fewer than it has slots, without those that
    /// were taken and not given back.
    #[must_use]
    pub fn room(&self) -> usize {
        self.bytes.checked_div(self.slot).map_or(0, |slots| slots - self.every)
    }

    /// Bytes of a body, at most: a slot without its frame.
    #[must_use]
    pub fn body(&self) -> usize {
        self.slot.saturating_sub(BEAT)
    }

    /// Its number in the queue table.
    #[must_use]
    pub fn index(&self) -> u8 {
        self.index
    }

    /// The next message or notification, if it is there. Its slot is given back. A message of no
    /// bytes is one whose body could not be written.
    ///
    /// # Errors
    /// When the machine refuses. A packed queue has no frames: it never has anything here, but in
    /// [`receive_packed`](Self::receive_packed).
    pub async fn receive<M: Mmio, D: DmaMemory>(
        &mut self,
        endpoint: &mut Endpoint<M, D>,
    ) -> Result<Option<(Frame, Vec<u8>)>, RdmaError> {
        if self.slot == 0 {
            return Ok(None);
        }
        let place = self.place + self.at;
        let frame = Frame::from(endpoint.memory.load64(place).await?);
        // Counts begin at 1: a slot that was never written has none.
        if frame.phase != self.phase {
            self.give_back_kept(endpoint).await?;
            return Ok(None);
        }
        let bytes = if frame.notification { 0 } else { frame.bytes.min(self.slot - BEAT) };
        let mut body = vec![0; bytes];
        endpoint.memory.read(place + BEAT, &mut body).await?;
        self.at += self.slot;
        if self.at == self.bytes {
            (self.at, self.phase) = (0, !self.phase);
        }
        self.kept += 1;
        if self.kept >= self.every {
            self.give_back(endpoint).await?;
        }
        Ok(Some((frame, body)))
    }

    /// The next `bytes` of a packed queue, when their last word is not zero; none when `timeout`
    /// passes first. They are made zero and given back.
    ///
    /// A packed queue says neither where a message ends nor its sender, and costs the bus one write
    /// instead of two. So its programs agree on the length, or send it, and end each message in a word that
    /// is not zero. Over several links messages may overtake each other, and a longer one be watched
    /// at a place where a shorter one ended.
    ///
    /// # Errors
    /// When `bytes` is not a multiple of 8 from 8 to the queue's length, or the queue has slots, or
    /// the machine refuses.
    pub async fn receive_packed<M: Mmio, D: DmaMemory>(
        &mut self,
        endpoint: &mut Endpoint<M, D>,
        bytes: usize,
        timeout: Duration,
    ) -> Result<Option<Vec<u8>>, RdmaError> {
        if self.slot != 0 || bytes == 0 || bytes > self.bytes || !bytes.is_multiple_of(BEAT) {
            return Err(RdmaError::Packed { bytes, ring: self.bytes, slots: self.slot != 0 });
        }
        let last = self.place + (self.at + bytes - BEAT) % self.bytes;
        if endpoint.watch_word(last, 0, timeout).await?.is_none() {
            return Ok(None);
        }
        let mut body = vec![0; bytes];
        let first = bytes.min(self.bytes - self.at);
        for (place, part) in [(self.place + self.at, 0..first), (self.place, first..bytes)] {
            if !part.is_empty() {
                let zeros = vec![0; part.len()];
                endpoint.memory.read(place, &mut body[part]).await?;
                endpoint.memory.write(place, &zeros).await?;
            }
        }
        self.at = (self.at + bytes) % self.bytes;
        self.give_back(endpoint).await?;
        Ok(Some(body))
    }

    async fn give_back_kept<M: Mmio, D: DmaMemory>(
        &mut self,
        endpoint: &mut Endpoint<M, D>,
    ) -> Result<(), RdmaError> {
        if self.kept > 0 { self.give_back(endpoint).await } else { Ok(()) }
    }

    async fn give_back<M: Mmio, D: DmaMemory>(
        &mut self,
        endpoint: &mut Endpoint<M, D>,
    ) -> Result<(), RdmaError> {
        self.kept = 0;
        let tail = (self.at / BEAT) as u64;
        endpoint.table(offset::TAILS + 8 * u64::from(self.index), &[tail]).await
    }
}
