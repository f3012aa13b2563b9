// SPDX-License-Identifier: Apache-2.0
//! How a client opens its session, builds cycles and sends them.

use super::super::encode::LITE_PART_BITS;
use super::super::flight::Sent;
use super::super::flights::Flight;
use super::super::guard::{self, Stamp};
use super::super::meter::{Meter, Work};
use super::super::wire::{Dialect, Flags, Message, PROBE_LENGTH, Record, Widths, put_data_header};
use super::super::{Cycle, Error};
use super::{Client, MAX_IN_FLIGHT};
use crate::transport::{Kind, Transport, TransportError};
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

/// Number of a session's first reply: the last number that cycles use.
const HELLO_TAG: u64 = 0x8000 | (MAX_IN_FLIGHT - 1) << 1;
/// Bytes of cycles that go into a stream at once: the next ones are built while these travel.
const STREAM_BATCH: usize = 16 << 10;

impl<T: Transport, M: Meter> Client<T, M> {
    pub(super) async fn probe(&mut self) -> Result<(), Error> {
        let offer = Widths { address: self.config.widths.address & 0xE, ..self.config.widths };
        // On a stream the slave executes a second probe as records, so there is only one.
        let attempts = match self.transport.kind() {
            Kind::Datagram => self.config.probe_attempts.max(1),
            Kind::Stream => 1,
        };
        let begun = self.transport.now();
        for id in 1..=attempts {
            let mut probe = Vec::new();
            self.encode(&Message::Probe { widths: offer, id }, &mut probe)?;
            self.send(&probe).await?;
            let deadline = self.transport.now() + self.config.probe_timeout;
            while let Some(length) = self.receive_until(deadline).await? {
                if self.transport.kind() == Kind::Stream {
                    self.stream.extend_from_slice(&self.buffer[..length]);
                }
                let reply = match self.transport.kind() {
                    Kind::Datagram => &self.buffer[..length],
                    Kind::Stream => match self.stream.get(..PROBE_LENGTH) {
                        Some(reply) => reply,
                        None => continue,
                    },
                };
                match self.codec.decode(reply) {
                    // A late reply to an earlier probe says the same.
                    Ok(Message::ProbeReply { widths, id: echoed }) if echoed <= id => {
                        self.format = offer
                            .negotiate(widths)
                            .ok_or(Error::Widths { device: widths, client: offer })?;
                        self.stream.clear();
                        return Ok(());
                    }
                    Ok(_) => self.counters.stale.add(1),
                    Err(_) => self.counters.malformed.add(1),
                }
                if self.transport.kind() == Kind::Stream {
                    break;
                }
            }
        }
        // An invalid answer ends the only probe of a stream early.
        let waited = self.transport.now().saturating_sub(begun) / attempts;
        Err(Error::NoDevice { attempts, each: waited.min(self.config.probe_timeout) })
    }

    /// Asks for a session. Devices that know none discard the stamp and read 0.
    pub(super) async fn open_session(&mut self) -> Result<(), Error> {
        let random = RandomState::new().build_hasher().finish();
        // 0 means no session.
        let nonce = (random as u32).max(1);
        let stamp = Stamp { nonce, number: 0, oldest: 0 };
        let mut hello = Vec::new();
        put_data_header(&mut hello, self.format, false);
        stamp.put_request(self.format, &mut hello);
        let read = Record {
            flags: Flags::BCA | Flags::RCA | Flags::RFF | Flags::CYC,
            byte_enable: self.format.data.mask_of_lanes(),
            return_base: HELLO_TAG,
            reads: guard::registers(self.format).to_vec(),
            ..Record::default()
        };
        let encoded = read.encode(self.format, &mut hello);
        encoded.map_err(|error| TransportError::Other(error.to_string()))?;
        for _ in 0..self.config.probe_attempts.max(1) {
            self.send(&hello).await?;
            let deadline = self.transport.now() + self.config.probe_timeout;
            while let Some(length) = self.receive_until(deadline).await? {
                let Ok(Message::Data { records, .. }) = self.codec.decode(&self.buffer[..length])
                else {
                    self.counters.stale.add(1);
                    continue;
                };
                let ours = |record: &&Record| record.write_base == HELLO_TAG;
                let Some(answer) = records.iter().find(ours) else {
                    self.counters.malformed.add(1);
                    continue;
                };
                if answer.writes == [guard::MAGIC, u64::from(nonce)] {
                    self.session = Some(nonce);
                }
                return Ok(());
            }
        }
        Ok(())
    }

    /// Fills the place of the next cycle, all but its owner, and appends its records to those that
    /// wait.
    pub(super) fn encode_cycle(
        &mut self,
        fill: impl FnOnce(&mut Cycle),
    ) -> Result<&mut Flight, Error> {
        if !self.has_room() {
            return Err(Error::Busy(MAX_IN_FLIGHT as usize));
        }
        let head = self.head();
        let start = self.records.len();
        let number = self.flights.next % MAX_IN_FLIGHT;
        let flight = self.flights.vacant();
        let cycle = flight.collector.cycle_mut();
        fill(cycle);
        let mut plain = false;
        let (words, frames) = match self.config.dialect {
            Dialect::Ohwr => {
                let tag = 0x8000 | number << 1;
                let reads = cycle.encode_reads(self.format, tag, &mut self.records);
                plain = reads.is_some();
                let words = match reads {
                    Some(words) => words,
                    None => cycle.encode_any(self.format, tag, &mut self.records)?,
                };
                (words, Vec::new())
            }
            Dialect::LiteEth => {
                let tag = number << LITE_PART_BITS;
                cycle.encode_lite(tag, self.config.lite_depth, &mut self.records)?
            }
        };
        let bytes = self.records.len() - start;
        let whole = match frames.iter().map(|frame| frame.bytes).max() {
            Some(longest) => longest,
            None => head + bytes,
        };
        if self.transport.kind() == Kind::Datagram && whole > self.transport.mtu() {
            self.records.truncate(start);
            let (operations, mtu) = (cycle.len(), self.transport.mtu());
            return Err(Error::Overflow { operations, bytes: whole, mtu });
        }
        flight.collector.begin(self.format, words, plain, frames);
        flight.bytes = bytes;
        flight.expects_reply = words > 0 || self.session.is_some();
        flight.open = true;
        Ok(flight)
    }

    /// Appends the first records that wait to `out`. What was taken leaves when it is the larger part,
    /// so that the rest is moved rarely.
    pub(super) fn take_records(&mut self, bytes: usize, out: &mut Vec<u8>) {
        let end = self.taken + bytes;
        out.extend_from_slice(self.records.get(self.taken..end).unwrap_or_default());
        self.taken = end;
        if self.taken >= self.records.len() / 2 {
            self.records.drain(..self.taken.min(self.records.len()));
            self.taken = 0;
        }
    }

    pub(super) async fn send_batch(&mut self) -> Result<(), Error> {
        let datagram = self.transport.kind() == Kind::Datagram;
        let room = match self.transport.kind() {
            Kind::Datagram => self.transport.mtu().saturating_sub(self.head()),
            Kind::Stream => STREAM_BATCH,
        };
        let number = self.next_message();
        let (mut cycles, mut bytes, mut expected) = (0, 0, 0);
        let mut repeatable = self.session.is_some();
        let first = self.flights.sent;
        let separate = datagram && self.config.retries > 0 && self.session.is_none();
        while let Some(next) = self.flights.waiting(first + cycles) {
            let cycle = next.collector.cycle();
            // Repeatable cycles share no datagram with others.
            let mixes = separate && cycle.is_repeatable() != repeatable;
            if cycles > 0 && (bytes + next.bytes > room || mixes) {
                break;
            }
            repeatable |= cycle.is_repeatable();
            cycles += 1;
            bytes += next.bytes;
            expected += u64::from(next.expects_reply);
            let operations = cycle.len();
            next.message = number;
            self.meter.work(Work::Build { operations }).await;
        }
        let replies = expected > 0;
        let mut message = std::mem::take(&mut self.message);
        message.clear();
        if datagram {
            put_data_header(&mut message, self.format, !replies);
            if let Some(nonce) = self.session {
                self.stamp(nonce, number).put_request(self.format, &mut message);
            }
        }
        self.take_records(bytes, &mut message);
        let sent = self.send(&message).await;
        let again = datagram && repeatable && replies && self.config.retries > 0;
        let repeat = again.then(|| (message.clone(), self.config.retries));
        self.message = message;
        let deadline = self.transport.now() + self.config.reply_timeout;
        let mut unanswered = 0;
        if sent.is_ok() && expected == cycles {
            self.flights.depart(cycles);
            unanswered = cycles as usize;
        } else {
            for cycle in first..first + cycles {
                let expects_reply = self.flights.send(number).is_some_and(|f| f.expects_reply);
                match &sent {
                    Err(error) => self.end(cycle, |_| Some(error.clone())),
                    Ok(()) if expects_reply => unanswered += 1,
                    Ok(()) => {
                        self.counters.cycles.add(1);
                        self.end(cycle, |_| None);
                    }
                }
            }
        }
        let cycles = first..first + cycles;
        let bytes = self.message.len();
        let sent_now = Sent { unanswered, deadline, cycles, part: 0, repeat, bytes, passed: 0 };
        self.messages.push(sent_now);
        sent
    }

    /// LiteEth: sends the datagrams of one cycle.
    pub(super) async fn send_frames(&mut self) -> Result<(), Error> {
        let cycle = self.flights.sent;
        let message = self.next_message();
        let Some(flight) = self.flights.waiting(cycle) else { return Ok(()) };
        let (bytes, frames) = (flight.bytes, flight.collector.take_frames());
        let expects_reply = flight.expects_reply;
        let operations = flight.collector.cycle().len();
        let repeatable = flight.collector.cycle().is_repeatable() && self.config.retries > 0;
        let mut records = Vec::new();
        self.take_records(bytes, &mut records);
        self.meter.work(Work::Build { operations }).await;
        self.flights.send(message);
        let mut rest = &records[..];
        for frame in frames {
            while self.window_is_full() {
                self.receive().await?;
            }
            let in_flight = self.flights.get_mut(cycle).is_some();
            if expects_reply && !in_flight {
                // A part timed out: the cycle is over.
                break;
            }
            let (frame_bytes, others) = rest.split_at(frame.bytes.min(rest.len()));
            rest = others;
            if let Err(error) = self.send(frame_bytes).await {
                return Err(self.fail_all(error));
            }
            let unanswered = usize::from(frame.reads > 0);
            self.messages.push(Sent {
                unanswered,
                bytes: frame_bytes.len(),
                passed: 0,
                deadline: self.transport.now() + self.config.reply_timeout,
                cycles: cycle..cycle + 1,
                part: frame.part,
                repeat: (repeatable && unanswered > 0)
                    .then(|| (frame_bytes.to_vec(), self.config.retries)),
            });
        }
        if !expects_reply {
            self.counters.cycles.add(1);
            self.end(cycle, |_| None);
        }
        Ok(())
    }

    /// The stamp of a message: numbers begin at 1, 0 opened the session.
    pub(super) fn stamp(&self, nonce: u32, message: u64) -> Stamp {
        let number = |message: u64| message.wrapping_add(1) as u32;
        Stamp { nonce, number: number(message), oldest: number(self.messages.first) }
    }

    pub(super) fn encode(&self, message: &Message, out: &mut Vec<u8>) -> Result<(), Error> {
        self.codec
            .encode(message, out)
            .map_err(|error| TransportError::Other(error.to_string()).into())
    }

    pub(super) async fn send(&mut self, message: &[u8]) -> Result<(), Error> {
        self.transport.send(message).await?;
        self.counters.messages_sent.add(1);
        self.counters.bytes_sent.add(message.len() as u64);
        Ok(())
    }
}
