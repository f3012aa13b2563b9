// SPDX-License-Identifier: Apache-2.0
//! Messages and writes with their data: the message queue of each destination.

use super::endpoint::{BEAT, Endpoint, LOCAL_MESSAGES, Posted};
use super::error::RdmaError;
use super::words::{
    HostId, InlineWrite, MESSAGE_BEATS, Message, MessageHeader, Options, WordError, offset,
};
use crate::pcie::{DmaMemory, Mmio};

impl<M: Mmio, D: DmaMemory> Endpoint<M, D> {
    /// Appends a message to a remote host's queue.
    ///
    /// # Errors
    /// When the body is not legal, or no queue space becomes free in time.
    pub async fn send(
        &mut self,
        host: HostId,
        queue: u8,
        body: &[u8],
        options: Options,
        immediate: u32,
    ) -> Result<(), RdmaError> {
        self.send_list(host, queue, &[Message { body, options, immediate }]).await
    }

    /// Appends messages to a remote host's queue, one behind the other: short ones share the bursts
    /// in which the processor writes them.
    ///
    /// # Errors
    /// When a body is not legal, and then none is sent; or when no queue space becomes free in
    /// time: those that had space are sent.
    pub async fn send_list<'a>(
        &mut self,
        host: HostId,
        queue: u8,
        messages: &[Message<'a>],
    ) -> Result<(), RdmaError> {
        let entry = |message: &Message<'a>| {
            let Message { body, options, immediate } = *message;
            let header = MessageHeader { bytes: body.len(), queue, options, immediate };
            Ok((vec![header.beat()?], body))
        };
        let entries: Result<Vec<_>, WordError> = messages.iter().map(entry).collect();
        self.append(host, entries?).await
    }

    /// Writes into a remote host's memory from the processor's registers, without a buffer that the
    /// interface would read: the shortest way for a few words. They leave in the order of messages;
    /// transfers posted otherwise may pass them, or be passed.
    ///
    /// # Errors
    /// When a body or a target is not legal, and then none is written; or when no queue space
    /// becomes free in time: those that had space are written.
    pub async fn put_inline(
        &mut self,
        host: HostId,
        writes: &[InlineWrite<'_>],
    ) -> Result<(), RdmaError> {
        let entries: Result<Vec<_>, WordError> =
            writes.iter().map(|write| Ok((write.head()?, write.body))).collect();
        self.append(host, entries?).await
    }

    /// Appends to a message queue: header and what follows it, then the body.
    async fn append(
        &mut self,
        host: HostId,
        entries: Vec<(Vec<u64>, &[u8])>,
    ) -> Result<(), RdmaError> {
        let at = self.host(host)?;
        let free = |posted: &Posted| MESSAGE_BEATS - posted.beats.wrapping_sub(posted.beats_back);
        // Encoded and not written yet: the queue's last beats.
        let mut bytes = Vec::new();
        for (mut head, body) in entries {
            let beats = (head.len() + body.len().div_ceil(BEAT)) as u16;
            // Room comes back with messages that say so: every one that fills the half of the queue.
            let half = MESSAGE_BEATS / 2;
            if self.posted[at].beats / half != self.posted[at].beats.wrapping_add(beats) / half {
                head[0] |= MessageHeader::LOCAL;
            }
            while free(&self.posted[at]) < beats {
                // What is waited for may be among what is not written yet.
                self.write_messages(at, &mut bytes).await?;
                let (word, seen) = (LOCAL_MESSAGES + BEAT * at, self.posted[at].beats_back);
                let back = self.changed(word, seen.into(), host, "message").await?;
                self.posted[at].beats_back = back;
            }
            self.posted[at].packets = self.posted[at].packets.wrapping_add(1);
            self.posted[at].beats = self.posted[at].beats.wrapping_add(beats);
            bytes.extend(head.iter().flat_map(|beat| beat.to_le_bytes()));
            bytes.extend_from_slice(body);
        }
        self.write_messages(at, &mut bytes).await
    }

    /// Writes the last beats of a message queue.
    async fn write_messages(&mut self, at: usize, bytes: &mut Vec<u8>) -> Result<(), RdmaError> {
        let ring = offset::MESSAGES + offset::QUEUE_BYTES * at as u64;
        let first = self.posted[at].beats.wrapping_sub((bytes.len() / BEAT) as u16);
        let first = BEAT * usize::from(first % MESSAGE_BEATS);
        let until_end = BEAT * usize::from(MESSAGE_BEATS) - first;
        let (head, tail) = bytes.split_at(until_end.min(bytes.len()));
        if !head.is_empty() {
            self.mmio.write_combined(ring + first as u64, head).await?;
        }
        if !tail.is_empty() {
            self.mmio.write_combined(ring, tail).await?;
        }
        bytes.clear();
        Ok(())
    }
}
