// SPDX-License-Identifier: Apache-2.0
//! What a client does with what arrives.

use super::super::Error;
use super::super::collect::Collector;
use super::super::encode::LITE_PART_BITS;
use super::super::flight::Sent;
use super::super::guard::{self};
use super::super::meter::{Meter, Work};
use super::super::wire::{Dialect, Flags, Format, Header, LiteCodec, Message, RecordView};
use super::{Client, MAX_IN_FLIGHT};
use crate::transport::{Kind, Transport, TransportError};
use std::ops::Range;
use std::time::Duration;

/// The complete reply of a cycle that only reads.
struct ReadReply {
    cycle: u64,
    operations: usize,
    length: usize,
}

/// The widest UDP datagram.
pub(super) const RECEIVE_BUFFER: usize = 65536;

impl<T: Transport, M: Meter> Client<T, M> {
    /// Receives one message, or lets the oldest one time out.
    pub(super) async fn receive(&mut self) -> Result<(), Error> {
        if self.messages.is_empty() {
            return Ok(());
        }
        let arrival = self.arrival().await;
        self.take_arrival(arrival).await
    }

    /// Waits for one message; `None`: the next deadline has passed. Dropping the future loses
    /// nothing. Without a deadline it waits forever.
    pub(in crate::etherbone) async fn arrival(&mut self) -> Result<Option<usize>, Error> {
        match self.next_deadline() {
            Some(deadline) => self.receive_until(deadline).await,
            None => std::future::pending().await,
        }
    }

    /// Does what follows from an arrival.
    pub(in crate::etherbone) async fn take_arrival(
        &mut self,
        arrival: Result<Option<usize>, Error>,
    ) -> Result<(), Error> {
        match arrival {
            Ok(Some(length)) => self.take_message(length).await,
            Ok(None) => {}
            Err(error) => return Err(self.fail_all(error)),
        }
        let sent = self.expire().await;
        sent.map_err(|error| self.fail_all(error))
    }

    pub(super) async fn receive_until(
        &mut self,
        deadline: Duration,
    ) -> Result<Option<usize>, Error> {
        // A call that is dropped half-way takes the buffer with it.
        self.buffer.resize(RECEIVE_BUFFER, 0);
        match self.transport.recv(&mut self.buffer, deadline).await {
            Ok(length) => {
                let length = length.min(self.buffer.len());
                self.counters.messages_received.add(1);
                self.counters.bytes_received.add(length as u64);
                Ok(Some(length))
            }
            Err(TransportError::TimedOut) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) async fn take_message(&mut self, length: usize) {
        if self.config.dialect == Dialect::LiteEth {
            return self.take_frame(length).await;
        }
        let datagram = self.transport.kind() == Kind::Datagram;
        let bytes = if datagram {
            std::mem::take(&mut self.buffer)
        } else {
            self.stream.extend_from_slice(&self.buffer[..length]);
            std::mem::take(&mut self.stream)
        };
        let (mut at, end) = if datagram {
            match self.data_of(&bytes[..length]) {
                Some(first) => (first, length),
                None => {
                    // A late answer to a probe is whole, and of no use any more.
                    match self.codec.decode(&bytes[..length]) {
                        Ok(Message::ProbeReply { .. }) => self.counters.stale.add(1),
                        _ => self.counters.malformed.add(1),
                    }
                    (length, length)
                }
            }
        } else {
            (0, bytes.len())
        };
        // In a session the reply says which message it is for.
        let mut of_message = None;
        if let Some(nonce) = self.session.filter(|_| at < end) {
            let stamp = RecordView::decode(self.format, &bytes[at..end]);
            of_message = stamp.and_then(|(stamp, length)| {
                at += length;
                self.message_of(nonce, guard::reply(&stamp)?)
            });
            if of_message.is_none() {
                self.counters.stale.add(1);
                at = end;
            }
        }
        // Records of one cycle are adjacent, so that it is complete when another one begins.
        let mut current: Option<u64> = None;
        loop {
            if current.is_none() {
                at += self.take_all_reads(&bytes[at..end], &of_message).await;
            }
            let before = self.take_records_of(&bytes[..end], &mut at, &mut current, &of_message);
            match before {
                Some(cycle) => self.complete(cycle, datagram).await,
                None => break,
            }
        }
        if let Some(last) = current {
            self.complete(last, datagram).await;
        }
        // The reply was all there is: cycles without reads end here.
        for cycle in of_message.into_iter().flatten() {
            self.complete(cycle, datagram).await;
        }
        if datagram {
            self.buffer = bytes;
        } else {
            self.stream = bytes;
            self.stream.drain(..at);
        }
    }

    /// Begin of the records of a received datagram, if the complete datagram is well formed.
    pub(super) fn data_of(&self, bytes: &[u8]) -> Option<usize> {
        let header = Header::decode(bytes).ok()?;
        if header.is_probe() || header.format().ok()? != self.format {
            return None;
        }
        let mut offset = self.format.header();
        while offset < bytes.len() {
            offset += RecordView::length(self.format, &bytes[offset..])?;
        }
        (offset == bytes.len()).then_some(self.format.header())
    }

    /// Ends the cycles whose complete replies are in front, if they only read. Returns the length of
    /// these replies.
    async fn take_all_reads(&mut self, bytes: &[u8], of_message: &Option<Range<u64>>) -> usize {
        let mut rest = bytes;
        // A message counts its answers: consecutive ones to the same message are counted in one step.
        let (mut message, mut answers) = (0, 0);
        while let Some(reply) = self.take_reads(rest, of_message) {
            rest = rest.get(reply.length..).unwrap_or_default();
            self.meter.work(Work::Complete { operations: reply.operations }).await;
            self.counters.cycles.add(1);
            let Some(flight) = self.flights.end(reply.cycle) else { continue };
            if flight.message != message {
                self.messages.all_answered(message, answers);
                (message, answers) = (flight.message, 0);
            }
            answers += 1;
            if !flight.held {
                flight.collector.forget_cycle();
                flight.completion.tell_reads(flight.collector.reads_mut());
            }
        }
        self.messages.all_answered(message, answers);
        bytes.len() - rest.len()
    }

    /// Fast path for the most frequent reply: the complete reply of a cycle that only reads.
    /// `None`: it is of another kind, and nothing was consumed.
    #[inline]
    fn take_reads(&mut self, bytes: &[u8], of_message: &Option<Range<u64>>) -> Option<ReadReply> {
        if self.format != Format::W32 {
            return None;
        }
        let (&[flags, _, count, 0, 0, 0, high, low], rest) = bytes.split_first_chunk()? else {
            return None;
        };
        let address = u64::from(u16::from_be_bytes([high, low]));
        let cycle = self.cycle_of(address >> 1);
        let ours = address & 0x8001 == 0x8000
            && Flags(flags).has(Flags::WCA)
            && of_message.as_ref().is_none_or(|cycles| cycles.contains(&cycle));
        let flight = self.flights.get_mut(cycle).filter(|_| ours)?;
        let operations = usize::from(count);
        let rest = flight.collector.take_whole(operations, [high, low], rest)?;
        Some(ReadReply { cycle, operations, length: bytes.len() - rest.len() })
    }

    /// Hands the records from `at` on to their cycles, up to the first one that belongs to another
    /// cycle than `current`, and returns that `current`; `None` at the end of the bytes.
    pub(super) fn take_records_of(
        &mut self,
        bytes: &[u8],
        at: &mut usize,
        current: &mut Option<u64>,
        of_message: &Option<Range<u64>>,
    ) -> Option<u64> {
        let mut rest = bytes.get(*at..)?;
        while let Some((record, length)) = RecordView::decode(self.format, rest) {
            *at += length;
            rest = rest.get(length..)?;
            if !record.has_writes() && !record.has_reads() {
                continue;
            }
            let cycle = self.cycle_of(record.write_base >> 1);
            // Only numbers of cycles are ever requested.
            let ours = record.write_base >> 15 == 1
                && record.flags.has(Flags::WCA)
                && !record.has_reads()
                && of_message.as_ref().is_none_or(|cycles| cycles.contains(&cycle));
            let Some(flight) = ours.then(|| self.flights.get_mut(cycle)).flatten() else {
                self.counters.stale.add(1);
                continue;
            };
            flight.collector.take(record.write_base & 1 == 1, record.writes());
            if let Some(before) = current.replace(cycle).filter(|before| *before != cycle) {
                return Some(before);
            }
        }
        None
    }

    /// The cycles of the message that a reply's stamp names, if it is still waited for.
    pub(super) fn message_of(
        &self,
        nonce: u32,
        (echoed, number): (u32, u32),
    ) -> Option<Range<u64>> {
        let first = self.stamp(nonce, self.messages.first).number;
        let index = number.wrapping_sub(first) as usize;
        let message = self.messages.get(index).filter(|_| echoed == nonce)?;
        (message.unanswered > 0).then(|| message.cycles.clone())
    }

    /// LiteEth: one record answers one datagram of a cycle.
    pub(super) async fn take_frame(&mut self, length: usize) {
        let bytes = std::mem::take(&mut self.buffer);
        match LiteCodec::record(&bytes[..length]) {
            Ok(record) if record.has_writes() && !record.has_reads() => {
                let part = (record.write_base & ((1 << LITE_PART_BITS) - 1)) as usize;
                let number = record.write_base >> LITE_PART_BITS;
                let cycle = self.cycle_of(number);
                let flight = self.flights.get_mut(cycle).filter(|_| number < MAX_IN_FLIGHT);
                if flight.is_some_and(|f| f.collector.take_part(part, record.writes())) {
                    let answered =
                        |m: &Sent| m.unanswered > 0 && m.part == part && m.cycles.contains(&cycle);
                    let index = self.messages.iter().position(answered);
                    if let Some(index) = index {
                        self.messages.replied(index);
                        self.messages.ended(index, 1);
                    }
                    self.messages.trim();
                    self.complete(cycle, false).await;
                } else {
                    self.counters.stale.add(1);
                }
            }
            Ok(_) => self.counters.malformed.add(1),
            // A late answer to a probe is whole, and of no use any more.
            Err(_) if LiteCodec::probe(&bytes[..length]).is_some() => self.counters.stale.add(1),
            Err(_) => self.counters.malformed.add(1),
        }
        self.buffer = bytes;
    }

    /// Ends a cycle whose reply has arrived. In a datagram the reply is complete or wrong; a stream
    /// may deliver the rest later.
    pub(super) async fn complete(&mut self, cycle: u64, datagram: bool) {
        let Some(flight) = self.flights.get_mut(cycle) else { return };
        if !datagram && !flight.collector.is_complete() {
            return;
        }
        let operations = flight.collector.cycle().len();
        // LiteEth's datagrams have been counted one by one.
        if self.config.dialect == Dialect::Ohwr {
            self.messages.answered(flight.message);
        }
        self.meter.work(Work::Complete { operations }).await;
        self.counters.cycles.add(1);
        self.end(cycle, Collector::fault);
    }
}
