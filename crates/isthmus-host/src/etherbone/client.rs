// SPDX-License-Identifier: Apache-2.0

use super::collect::Collector;
use super::encode::LITE_PART_BITS;
use super::flight::{Messages, Sent};
use super::flights::{Flight, Flights};
use super::guard::{self, Stamp};
use super::meter::{Meter, NoMeter, Work};
#[cfg(feature = "tokio")]
use super::pending::Completion;
use super::pending::{CycleResult, Ended, Owner, Pending};
use super::statistics::{Counters, Statistics};
use super::wire::{
    Codec, Dialect, Flags, Format, Header, LiteCodec, Message, PROBE_LENGTH, Record, RecordView,
    Widths, put_data_header,
};
use super::{Cycle, CycleReply, Error};
use crate::transport::{AnyTransport, Kind, Transport, TransportError};
use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::{BuildHasher, Hasher};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// Sequence numbers are the 14 bits between 0x8000 and the mark of the error register.
const MAX_IN_FLIGHT: u64 = 1 << 14;
/// Where a session's first reply goes: the last number that cycles come to.
const HELLO_TAG: u64 = 0x8000 | (MAX_IN_FLIGHT - 1) << 1;
/// Bytes of cycles that go into a stream at once: the next ones are built while these travel.
const STREAM_BATCH: usize = 16 << 10;
/// The widest UDP datagram.
const RECEIVE_BUFFER: usize = 65536;
/// How a client behaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientConfig {
    /// The dialect the device speaks.
    pub dialect: Dialect,
    /// Widths to offer. Address widths below 16 bit cannot carry the protocol's return addresses
    /// and are never chosen.
    pub widths: Widths,
    /// Probes sent before giving up.
    pub probe_attempts: u32,
    /// Wait after each probe.
    pub probe_timeout: Duration,
    /// Wait for a cycle's reply, from sending.
    pub reply_timeout: Duration,
    /// Datagrams in flight before sending waits for replies, at most: fewer where the receive buffer
    /// has no room for their replies, and for a while after a loss.
    pub window: usize,
    /// How often a datagram whose reply did not come is sent again; each time the reply has
    /// `reply_timeout`. With more than 0 the client asks the device for a session, in which nothing
    /// is executed twice ([`Client::has_session`]). Without one, only cycles that are
    /// [`repeatable`](Cycle::repeatable) are sent again. Streams lose nothing and repeat nothing.
    pub retries: u32,
    /// LiteEth's dialect: operations in one record. Its gateware stops for ever on more than
    /// its buffer holds.
    pub lite_depth: usize,
}

impl Default for ClientConfig {
    /// The standard dialect, libetherbone's times, all widths, 64 datagrams in flight, nothing sent
    /// again.
    fn default() -> Self {
        Self {
            dialect: Dialect::Ohwr,
            widths: Widths::ANY,
            probe_attempts: 3,
            probe_timeout: Duration::from_secs(3),
            reply_timeout: Duration::from_secs(5),
            window: 64,
            retries: 0,
            lite_depth: 16,
        }
    }
}

impl ClientConfig {
    /// LiteEth's dialect, for the buffer that LiteX builds by default (16 operations) and with one
    /// datagram in flight: its gateware can lose or hang on more.
    pub fn lite_eth() -> Self {
        Self { dialect: Dialect::LiteEth, widths: Widths::W32, window: 1, ..Self::default() }
    }
}

/// An Etherbone master over one transport, whose own work a [`Meter`] may follow.
///
/// | call | cycles in flight | bus operations in a cycle |
/// |---|---|---|
/// | [`read`](Self::read), [`write`](Self::write) | one | one |
/// | [`execute`](Self::execute) | one | any number |
/// | [`submit`](Self::submit), then [`flush`](Self::flush) and [`settle`](Self::settle) | many, several whole cycles in each datagram | any number |
pub struct Client<T, M = NoMeter> {
    transport: T,
    meter: M,
    config: ClientConfig,
    codec: &'static dyn Codec,
    format: Format,
    /// Records of the queued cycles, one after the other, from `taken` on.
    records: Vec<u8>,
    taken: usize,
    flights: Flights,
    messages: Messages,
    /// The nonce of the session, if there is one.
    session: Option<u32>,
    message: Vec<u8>,
    buffer: Vec<u8>,
    stream: Vec<u8>,
    counters: Arc<Counters>,
}

impl<T, M> fmt::Debug for Client<T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("format", &self.format)
            .field("queued", &self.flights.queued())
            .field("in_flight", &self.flights.live)
            .field("statistics", &self.counters.read())
            .finish_non_exhaustive()
    }
}

impl Client<AnyTransport> {
    /// Opens a device by its name ([`DeviceName`](crate::transport::DeviceName)) and probes it.
    pub async fn open(name: &str, config: ClientConfig) -> Result<Self, Error> {
        Self::connect(crate::transport::open(name)?, config).await
    }
}

impl<T: Transport> Client<T> {
    /// Probes the device and agrees on widths: the largest address and the largest data width that
    /// both sides have.
    pub async fn connect(transport: T, config: ClientConfig) -> Result<Self, Error> {
        Self::connect_metered(transport, config, NoMeter).await
    }
}

impl<T: Transport, M: Meter> Client<T, M> {
    /// As [`connect`](Client::connect), with a meter of the client's own work.
    pub async fn connect_metered(
        transport: T,
        config: ClientConfig,
        meter: M,
    ) -> Result<Self, Error> {
        let codec = config.dialect.codec();
        let mut client = Self {
            transport,
            meter,
            codec,
            format: Format::W32,
            records: Vec::new(),
            taken: 0,
            flights: Flights::default(),
            messages: Messages::new(config.window),
            session: None,
            message: Vec::new(),
            buffer: vec![0; RECEIVE_BUFFER],
            stream: Vec::new(),
            counters: Arc::default(),
            config,
        };
        let lite_stream =
            client.config.dialect == Dialect::LiteEth && client.transport.kind() == Kind::Stream;
        if lite_stream {
            return Err(TransportError::Other("liteeth's dialect has no streams".into()).into());
        }
        client.probe().await?;
        if client.config.retries > 0
            && client.config.dialect == Dialect::Ohwr
            && client.transport.kind() == Kind::Datagram
            && Stamp::fits(client.format)
        {
            client.open_session().await?;
        }
        Ok(client)
    }

    /// Asks for a session. Devices that know none discard the stamp and read 0.
    async fn open_session(&mut self) -> Result<(), Error> {
        let random = RandomState::new().build_hasher().finish();
        // 0 stands for no session.
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

    /// Whether the device gave a session: whatever is sent again is executed once.
    pub fn has_session(&self) -> bool {
        self.session.is_some()
    }

    async fn probe(&mut self) -> Result<(), Error> {
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
        // What was no answer ends the only probe of a stream early.
        let waited = self.transport.now().saturating_sub(begun) / attempts;
        Err(Error::NoDevice { attempts, each: waited.min(self.config.probe_timeout) })
    }

    /// The widths agreed on.
    pub fn format(&self) -> Format {
        self.format
    }

    /// What was counted so far.
    pub fn statistics(&self) -> Statistics {
        self.counters.read()
    }

    /// The counters themselves, for code that outlives the client.
    #[cfg(feature = "tokio")]
    pub(super) fn counters(&self) -> Arc<Counters> {
        Arc::clone(&self.counters)
    }

    /// The transport below.
    pub fn transport(&mut self) -> &mut T {
        &mut self.transport
    }

    /// Cycles submitted and not yet ended.
    pub fn outstanding(&self) -> usize {
        self.flights.queued() + self.flights.live
    }

    /// Reads one word in a checked cycle of its own.
    pub async fn read(&mut self, address: u64) -> Result<u64, Error> {
        let reply = self.execute(Cycle::new().read(address)).await?;
        // A checked plan with one read ends with exactly one value.
        Ok(reply.reads.first().copied().unwrap_or_default())
    }

    /// Writes one word in a checked cycle of its own.
    pub async fn write(&mut self, address: u64, data: u64) -> Result<(), Error> {
        self.execute(Cycle::new().write(address, data)).await.map(drop)
    }

    /// Executes one cycle and waits for its end. A silent cycle without reads ends when it is sent.
    pub async fn execute(&mut self, cycle: Cycle) -> CycleResult {
        let pending = self.submit(&cycle)?;
        self.flush().await?;
        loop {
            if let Some(result) = pending.take() {
                return result;
            }
            self.receive().await?;
        }
    }

    /// Queues a cycle. Nothing is sent before [`flush`](Self::flush).
    pub fn submit(&mut self, cycle: &Cycle) -> Result<Pending, Error> {
        let flight = self.encode_cycle(|place| place.assign(cycle))?;
        let pending = flight.completion.pend();
        self.flights.push();
        Ok(pending)
    }

    /// Queues a cycle whose result goes to a callback, called exactly once.
    pub fn submit_with(
        &mut self,
        cycle: &Cycle,
        callback: impl FnOnce(CycleResult) + Send + 'static,
    ) -> Result<(), Error> {
        let flight = self.encode_cycle(|place| place.assign(cycle))?;
        flight.completion.owner = Some(Owner::Callback(Box::new(callback)));
        self.flights.push();
        Ok(())
    }

    /// Queues a cycle whose end [`next_ended`](Self::next_ended) hands out: the way that costs least,
    /// for a program that has the client to itself. `describe` gets a cycle without operations and
    /// adds them ([`Cycle::add`]). The tag is the caller's. A cycle whose end was not handed out yet
    /// counts among those that can be in flight.
    pub fn submit_tagged(
        &mut self,
        tag: u64,
        describe: impl FnOnce(&mut Cycle),
    ) -> Result<(), Error> {
        let flight = self.encode_cycle(|place| {
            place.clear();
            describe(place);
        })?;
        flight.completion.owner = Some(Owner::Tag(tag));
        self.flights.push();
        Ok(())
    }

    /// The end of a cycle that was submitted with a tag, in the order in which they ended.
    pub fn next_ended(&mut self) -> Option<Ended<'_>> {
        self.flights.next_ended()
    }

    /// Whether another cycle has a number to go by.
    pub(super) fn has_room(&self) -> bool {
        // A hole in front of the queue counts as in flight: its number is not free yet.
        self.flights.next - self.flights.first < MAX_IN_FLIGHT
    }

    /// Queues a cycle, or returns the completion to which to report that it cannot be queued.
    #[cfg(feature = "tokio")]
    pub(super) fn enqueue_with(
        &mut self,
        cycle: Cycle,
        completion: Completion,
    ) -> Result<(), (Error, Completion)> {
        match self.encode_cycle(|place| *place = cycle) {
            Ok(flight) => {
                flight.completion = completion;
                self.flights.push();
                Ok(())
            }
            Err(error) => Err((error, completion)),
        }
    }

    /// Fills the place of the next cycle, all but its owner, and appends its records to those that
    /// wait.
    fn encode_cycle(&mut self, fill: impl FnOnce(&mut Cycle)) -> Result<&mut Flight, Error> {
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

    /// Bytes of a datagram in front of the first cycle.
    fn head(&self) -> usize {
        let stamp = if self.session.is_some() { Stamp::length(self.format) } else { 0 };
        self.format.header() + stamp
    }

    /// Sends all queued cycles, as many whole ones in each datagram as fit. While the window is
    /// full it receives.
    pub async fn flush(&mut self) -> Result<(), Error> {
        while self.flights.queued() > 0 {
            if self.window_is_full() {
                self.receive().await?;
            } else if self.config.dialect == Dialect::LiteEth {
                self.send_frames().await?;
            } else {
                self.send_batch().await?;
            }
        }
        let sent = self.transport.flush().await;
        sent.map_err(|error| self.fail_all(error.into()))
    }

    fn window_is_full(&self) -> bool {
        // A session has room for so many from its oldest unanswered one on.
        let session = self.session.is_some() && self.messages.len() >= guard::WINDOW;
        session || self.messages.is_full(self.transport.room())
    }

    /// The transport is gone: ends every cycle in flight.
    fn fail_all(&mut self, error: Error) -> Error {
        for cycle in self.flights.first..self.flights.sent {
            self.end(cycle, |_| Some(error.clone()));
        }
        error
    }

    /// Waits for one message and ends the cycles that it answers, or lets the oldest message time
    /// out. Returns at once when no cycle is in flight. Queued cycles are not sent.
    pub async fn step(&mut self) -> Result<(), Error> {
        self.receive().await
    }

    /// Waits until no cycle is in flight: each has its reply or has timed out.
    pub async fn settle(&mut self) -> Result<(), Error> {
        while !self.flights.is_empty() {
            self.receive().await?;
        }
        Ok(())
    }

    /// The cycle in flight that the number in a return address belongs to.
    fn cycle_of(&self, number: u64) -> u64 {
        // At most so many cycles are between the oldest in flight and the newest in the queue.
        let ahead = number.wrapping_sub(self.flights.first) % MAX_IN_FLIGHT;
        self.flights.first + ahead
    }

    fn next_message(&self) -> u64 {
        self.messages.next()
    }

    /// Appends the first records that wait to `out`. What was taken leaves when it is the larger part,
    /// so that the rest is moved rarely.
    fn take_records(&mut self, bytes: usize, out: &mut Vec<u8>) {
        let end = self.taken + bytes;
        out.extend_from_slice(self.records.get(self.taken..end).unwrap_or_default());
        self.taken = end;
        if self.taken >= self.records.len() / 2 {
            self.records.drain(..self.taken.min(self.records.len()));
            self.taken = 0;
        }
    }

    async fn send_batch(&mut self) -> Result<(), Error> {
        let datagram = self.transport.kind() == Kind::Datagram;
        let room = match self.transport.kind() {
            Kind::Datagram => self.transport.mtu().saturating_sub(self.head()),
            Kind::Stream => STREAM_BATCH,
        };
        let (mut cycles, mut bytes, mut replies) = (0, 0, false);
        let mut repeatable = self.session.is_some();
        let first = self.flights.sent;
        let separate = datagram && self.config.retries > 0 && self.session.is_none();
        while let Some(next) = self.flights.waiting(first + cycles) {
            let cycle = next.collector.cycle();
            // What may be sent again shares no datagram with what may not.
            let mixes = separate && cycle.is_repeatable() != repeatable;
            if cycles > 0 && (bytes + next.bytes > room || mixes) {
                break;
            }
            repeatable |= cycle.is_repeatable();
            cycles += 1;
            bytes += next.bytes;
            replies |= next.expects_reply;
            let operations = cycle.len();
            self.meter.work(Work::Build { operations }).await;
        }
        let number = self.next_message();
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
        let cycles = first..first + cycles;
        let bytes = self.message.len();
        let sent_now = Sent { unanswered, deadline, cycles, part: 0, repeat, bytes, passed: 0 };
        self.messages.push(sent_now);
        sent
    }

    /// LiteEth: sends the datagrams of one cycle.
    async fn send_frames(&mut self) -> Result<(), Error> {
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
    fn stamp(&self, nonce: u32, message: u64) -> Stamp {
        let number = |message: u64| message.wrapping_add(1) as u32;
        Stamp { nonce, number: number(message), oldest: number(self.messages.first) }
    }

    /// When the next message has waited long enough.
    fn next_deadline(&self) -> Option<Duration> {
        if self.config.retries == 0 {
            // Those sent first expire first.
            return self.messages.front().map(|message| message.deadline);
        }
        let waiting = self.messages.iter().filter(|message| message.unanswered > 0);
        waiting.map(|message| message.deadline).min()
    }

    /// Receives one message, or lets the oldest one time out.
    async fn receive(&mut self) -> Result<(), Error> {
        if self.messages.is_empty() {
            return Ok(());
        }
        let arrival = self.arrival().await;
        self.take_arrival(arrival).await
    }

    /// Waits for one message; `None`: the next deadline has passed. Nothing is lost where the future
    /// is dropped. Without a deadline it waits for ever.
    pub(super) async fn arrival(&mut self) -> Result<Option<usize>, Error> {
        match self.next_deadline() {
            Some(deadline) => self.receive_until(deadline).await,
            None => std::future::pending().await,
        }
    }

    /// Does what follows from an arrival.
    pub(super) async fn take_arrival(
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

    /// Ends what is queued, too.
    #[cfg(feature = "tokio")]
    pub(super) fn fail_queue(&mut self, error: &Error) {
        self.records.clear();
        self.taken = 0;
        while let Some(_flight) = self.flights.send(self.messages.next()) {
            self.end(self.flights.sent - 1, |_| Some(error.clone()));
        }
    }

    async fn expire(&mut self) -> Result<(), Error> {
        let now = self.transport.now();
        let waited = self.config.reply_timeout * (self.config.retries + 1);
        let mut index = 0;
        while let Some(message) = self.messages.get_mut(index) {
            if message.deadline > now && self.config.retries == 0 {
                return Ok(());
            }
            index += 1;
            if message.deadline > now || message.unanswered == 0 {
                continue;
            }
            let repeat = message.repeat.take();
            let number = self.messages.first + index as u64 - 1;
            self.messages.lost(number);
            let Some(message) = self.messages.get_mut(index - 1) else { return Ok(()) };
            match repeat {
                Some((bytes, left)) if left > 0 => {
                    message.deadline = now + self.config.reply_timeout;
                    let sent = self.send(&bytes).await;
                    self.counters.repeated.add(1);
                    if let Some(message) = self.messages.get_mut(index - 1) {
                        message.repeat = Some((bytes, left - 1));
                    }
                    sent?;
                }
                repeated => {
                    let cycles = message.cycles.clone();
                    let waited =
                        if repeated.is_some() { waited } else { self.config.reply_timeout };
                    let before = self.messages.first;
                    for cycle in cycles {
                        self.time_out(cycle, waited);
                    }
                    let trimmed = (self.messages.first - before) as usize;
                    index = index.saturating_sub(trimmed);
                }
            }
        }
        Ok(())
    }

    fn time_out(&mut self, cycle: u64, waited: Duration) {
        if self.flights.get_mut(cycle).is_none() {
            return;
        }
        self.counters.timed_out.add(1);
        self.end(cycle, |collector| {
            let cycle = collector.cycle();
            let (first, operations) = (cycle.operation(0), cycle.len());
            Some(Error::TimedOut { first, operations, waited })
        });
    }

    /// Takes a cycle out of flight and notifies its owner.
    fn end(&mut self, cycle: u64, fault: impl FnOnce(&mut Collector) -> Option<Error>) {
        let Some(flight) = self.flights.end(cycle) else { return };
        if self.config.dialect == Dialect::LiteEth {
            // None of its datagrams is waited for any more.
            for index in 0..self.messages.len() {
                if self.messages.get(index).is_some_and(|m| m.cycles.contains(&cycle)) {
                    self.messages.ended(index, usize::MAX);
                }
            }
        } else if let Some(index) = self.messages.index(flight.message) {
            self.messages.ended(index, 1);
        }
        self.messages.trim();
        let fault = fault(&mut flight.collector);
        if flight.held {
            flight.error = fault.map(Box::new);
            return;
        }
        let result = match fault {
            Some(error) => Err(error),
            None => Ok(CycleReply { reads: flight.collector.take_values() }),
        };
        flight.collector.forget_cycle();
        flight.completion.tell(result);
    }

    /// Where the records of a received datagram begin, if the whole datagram is well formed.
    fn data_of(&self, bytes: &[u8]) -> Option<usize> {
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

    async fn take_message(&mut self, length: usize) {
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
            while current.is_none()
                && let Some((cycle, length)) = self.take_reads(&bytes[at..end], &of_message)
            {
                at += length;
                self.complete(cycle, datagram).await;
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

    /// What comes most, in one go: the whole reply of a cycle that only reads. Returns the cycle and
    /// the reply's length; `None`: it is something else, and nothing was taken.
    #[inline]
    fn take_reads(
        &mut self,
        bytes: &[u8],
        of_message: &Option<Range<u64>>,
    ) -> Option<(u64, usize)> {
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
        let rest = flight.collector.take_whole(usize::from(count), [high, low], rest)?;
        Some((cycle, bytes.len() - rest.len()))
    }

    /// Hands the records from `at` on to their cycles, up to the first one that belongs to another
    /// cycle than `current`, and returns that `current`; `None` at the end of the bytes.
    fn take_records_of(
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
            // Nothing else than numbers of cycles is ever asked for.
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
    fn message_of(&self, nonce: u32, (echoed, number): (u32, u32)) -> Option<Range<u64>> {
        let first = self.stamp(nonce, self.messages.first).number;
        let index = number.wrapping_sub(first) as usize;
        let message = self.messages.get(index).filter(|_| echoed == nonce)?;
        (message.unanswered > 0).then(|| message.cycles.clone())
    }

    /// LiteEth: one record answers one datagram of a cycle.
    async fn take_frame(&mut self, length: usize) {
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

    /// Ends a cycle whose reply has come. In a datagram it is whole or wrong; a stream may bring the
    /// rest later.
    async fn complete(&mut self, cycle: u64, datagram: bool) {
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

    fn encode(&self, message: &Message, out: &mut Vec<u8>) -> Result<(), Error> {
        self.codec
            .encode(message, out)
            .map_err(|error| TransportError::Other(error.to_string()).into())
    }

    async fn send(&mut self, message: &[u8]) -> Result<(), Error> {
        self.transport.send(message).await?;
        self.counters.messages_sent.add(1);
        self.counters.bytes_sent.add(message.len() as u64);
        Ok(())
    }

    async fn receive_until(&mut self, deadline: Duration) -> Result<Option<usize>, Error> {
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
}
