// SPDX-License-Identifier: Apache-2.0

use super::cycle::Collector;
use super::wire::{
    Codec, Dialect, Flags, Format, Header, Message, PROBE_LENGTH, RecordView, Widths,
    put_data_header,
};
use super::{Cycle, CycleReply, Error};
use crate::transport::{AnyTransport, Kind, Transport, TransportError, Work};
use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// Sequence numbers are the 14 bits between 0x8000 and the mark of the error register.
const MAX_IN_FLIGHT: u64 = 1 << 14;
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
    /// Datagrams in flight before sending waits for replies.
    pub window: usize,
}

impl Default for ClientConfig {
    /// libetherbone's times, all widths, 64 datagrams in flight.
    fn default() -> Self {
        Self {
            dialect: Dialect::Ohwr,
            widths: Widths::ANY,
            probe_attempts: 3,
            probe_timeout: Duration::from_secs(3),
            reply_timeout: Duration::from_secs(5),
            window: 64,
        }
    }
}

/// What a client counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Messages sent (probes included).
    pub messages_sent: u64,
    /// Bytes in them.
    pub bytes_sent: u64,
    /// Messages received.
    pub messages_received: u64,
    /// Bytes in them.
    pub bytes_received: u64,
    /// Cycles that ended with a reply, or needed none.
    pub cycles: u64,
    /// Cycles whose reply did not come.
    pub timed_out: u64,
    /// Messages that could not be read.
    pub malformed: u64,
    /// Reply records for cycles that are not in flight: doubled or too late.
    pub stale: u64,
}

type CycleResult = Result<CycleReply, Error>;

#[derive(Default)]
struct Slot {
    result: Option<CycleResult>,
    waker: Option<Waker>,
}

/// The result of a cycle in flight: a future, and a slot to look into. It does not drive the
/// client: somebody must call [`Client::flush`] and [`Client::settle`].
pub struct Pending {
    slot: Arc<Mutex<Slot>>,
}

impl Pending {
    fn lock(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The result, once; `None` before the cycle ends and after the result was taken.
    pub fn take(&self) -> Option<CycleResult> {
        self.lock().result.take()
    }

    /// Whether a result is waiting.
    pub fn is_ready(&self) -> bool {
        self.lock().result.is_some()
    }
}

impl Future for Pending {
    type Output = CycleResult;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<CycleResult> {
        let mut slot = self.lock();
        match slot.result.take() {
            Some(result) => Poll::Ready(result),
            None => {
                slot.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl fmt::Debug for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").field("ready", &self.is_ready()).finish()
    }
}

/// Who is told that a cycle ended. Told exactly once, also when the client is dropped.
enum Owner {
    Slot(Arc<Mutex<Slot>>),
    Callback(Box<dyn FnOnce(CycleResult)>),
}

struct Completion(Option<Owner>);

impl Completion {
    fn tell(mut self, result: CycleResult) {
        self.deliver(result);
    }

    fn deliver(&mut self, result: CycleResult) {
        match self.0.take() {
            Some(Owner::Slot(slot)) => {
                let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
                slot.result = Some(result);
                let waker = slot.waker.take();
                drop(slot);
                if let Some(waker) = waker {
                    waker.wake();
                }
            }
            Some(Owner::Callback(callback)) => callback(result),
            None => {}
        }
    }
}

impl Drop for Completion {
    fn drop(&mut self) {
        self.deliver(Err(Error::Dropped));
    }
}

/// A cycle whose records wait in the client's buffer.
struct Queued {
    collector: Collector,
    completion: Completion,
    bytes: usize,
    expects_reply: bool,
}

struct Flight {
    collector: Collector,
    completion: Completion,
    message: u64,
    deadline: Duration,
}

/// Cycles in flight by their number, oldest first; ended ones leave a hole.
#[derive(Default)]
struct Flights {
    first: u64,
    slots: VecDeque<Option<Flight>>,
    live: usize,
}

impl Flights {
    fn index(&self, cycle: u64) -> Option<usize> {
        usize::try_from(cycle.checked_sub(self.first)?).ok()
    }

    fn get_mut(&mut self, cycle: u64) -> Option<&mut Flight> {
        let index = self.index(cycle)?;
        self.slots.get_mut(index)?.as_mut()
    }

    /// Cycles are put in in the order of their numbers; one that expects no reply leaves a hole.
    fn push(&mut self, flight: Option<Flight>) {
        self.live += usize::from(flight.is_some());
        self.slots.push_back(flight);
        self.trim();
    }

    fn remove(&mut self, cycle: u64) -> Option<Flight> {
        let index = self.index(cycle)?;
        let flight = self.slots.get_mut(index)?.take()?;
        self.live -= 1;
        self.trim();
        Some(flight)
    }

    fn trim(&mut self) {
        while let Some(None) = self.slots.front() {
            self.slots.pop_front();
            self.first += 1;
        }
    }

    /// The oldest cycle and its deadline.
    fn oldest(&self) -> Option<(u64, Duration)> {
        let flight = self.slots.front()?.as_ref()?;
        Some((self.first, flight.deadline))
    }

    fn is_empty(&self) -> bool {
        self.live == 0
    }
}

/// An Etherbone master over one transport.
///
/// | call | cycles in flight | bus operations in a cycle |
/// |---|---|---|
/// | [`read`](Self::read), [`write`](Self::write) | one | one |
/// | [`execute`](Self::execute) | one | any number |
/// | [`submit`](Self::submit), then [`flush`](Self::flush) and [`settle`](Self::settle) | many, several whole cycles in each datagram | any number |
pub struct Client<T> {
    transport: T,
    config: ClientConfig,
    codec: &'static dyn Codec,
    format: Format,
    /// Records of the queued cycles, one after the other.
    records: Vec<u8>,
    queue: VecDeque<Queued>,
    flights: Flights,
    /// Messages by number from `first_message` on: unanswered cycles of each.
    messages: VecDeque<usize>,
    first_message: u64,
    /// The number of the next cycle: those in `queue` have theirs already.
    next_cycle: u64,
    message: Vec<u8>,
    buffer: Vec<u8>,
    stream: Vec<u8>,
    statistics: Statistics,
}

impl<T> fmt::Debug for Client<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("format", &self.format)
            .field("queued", &self.queue.len())
            .field("in_flight", &self.flights.live)
            .field("statistics", &self.statistics)
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
        if config.dialect == Dialect::LiteEth {
            let text = "the client does not speak liteeth yet".to_owned();
            return Err(TransportError::Other(text).into());
        }
        let codec = config.dialect.codec();
        let mut client = Self {
            transport,
            codec,
            format: Format::W32,
            records: Vec::new(),
            queue: VecDeque::new(),
            flights: Flights::default(),
            messages: VecDeque::new(),
            first_message: 0,
            next_cycle: 0,
            message: Vec::new(),
            buffer: vec![0; RECEIVE_BUFFER],
            stream: Vec::new(),
            statistics: Statistics::default(),
            config,
        };
        client.probe().await?;
        Ok(client)
    }

    async fn probe(&mut self) -> Result<(), Error> {
        let offer = Widths { address: self.config.widths.address & 0xE, ..self.config.widths };
        // On a stream the slave executes a second probe as records, so there is only one.
        let attempts = match self.transport.kind() {
            Kind::Datagram => self.config.probe_attempts.max(1),
            Kind::Stream => 1,
        };
        for id in 1..=attempts {
            let mut probe = Vec::with_capacity(PROBE_LENGTH);
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
                    Ok(_) => self.statistics.stale += 1,
                    Err(_) => self.statistics.malformed += 1,
                }
                if self.transport.kind() == Kind::Stream {
                    break;
                }
            }
        }
        Err(Error::NoDevice { attempts, each: self.config.probe_timeout })
    }

    /// The widths agreed on.
    pub fn format(&self) -> Format {
        self.format
    }

    /// What was counted so far.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// The transport below.
    pub fn transport(&mut self) -> &mut T {
        &mut self.transport
    }

    /// Cycles submitted and not yet ended.
    pub fn outstanding(&self) -> usize {
        self.queue.len() + self.flights.live
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
        let slot = Arc::new(Mutex::new(Slot::default()));
        self.enqueue(cycle, Owner::Slot(Arc::clone(&slot)))?;
        Ok(Pending { slot })
    }

    /// Queues a cycle whose result goes to a callback, called exactly once.
    pub fn submit_with(
        &mut self,
        cycle: &Cycle,
        callback: impl FnOnce(CycleResult) + 'static,
    ) -> Result<(), Error> {
        self.enqueue(cycle, Owner::Callback(Box::new(callback)))
    }

    fn enqueue(&mut self, cycle: &Cycle, owner: Owner) -> Result<(), Error> {
        // A hole in front of the queue counts as in flight: its number is not free yet.
        let oldest = self.flights.first.min(self.next_cycle);
        if self.next_cycle - oldest >= MAX_IN_FLIGHT {
            return Err(Error::Busy(MAX_IN_FLIGHT as usize));
        }
        let start = self.records.len();
        let tag = 0x8000 | (self.next_cycle % MAX_IN_FLIGHT) << 1;
        let words = cycle.encode(self.format, tag, &mut self.records)?;
        let bytes = self.records.len() - start;
        let whole = self.format.header() + bytes;
        if self.transport.kind() == Kind::Datagram && whole > self.transport.mtu() {
            self.records.truncate(start);
            let (operations, mtu) = (cycle.len(), self.transport.mtu());
            return Err(Error::Overflow { operations, bytes: whole, mtu });
        }
        self.next_cycle += 1;
        self.queue.push_back(Queued {
            collector: Collector::new(cycle.clone(), self.format, words),
            completion: Completion(Some(owner)),
            bytes,
            expects_reply: words > 0,
        });
        Ok(())
    }

    /// Sends all queued cycles, as many whole ones in each datagram as fit. While the window is
    /// full it receives.
    pub async fn flush(&mut self) -> Result<(), Error> {
        while !self.queue.is_empty() {
            let open = self.messages.iter().filter(|left| **left > 0).count();
            if open >= self.config.window.max(1) {
                self.receive().await?;
            } else {
                self.send_batch().await?;
            }
        }
        let sent = self.transport.flush().await;
        sent.map_err(|error| self.fail_all(error.into()))
    }

    /// The transport is gone: ends every cycle in flight.
    fn fail_all(&mut self, error: Error) -> Error {
        while let Some((cycle, _)) = self.flights.oldest() {
            self.end(cycle, |_| Err(error.clone()));
        }
        error
    }

    /// Waits until no cycle is in flight: each has its reply or has timed out.
    pub async fn settle(&mut self) -> Result<(), Error> {
        while !self.flights.is_empty() {
            self.receive().await?;
        }
        Ok(())
    }

    /// The cycle in flight that a return address belongs to.
    fn cycle_of(&self, tag: u64) -> u64 {
        let number = tag >> 1 & (MAX_IN_FLIGHT - 1);
        // At most so many cycles are between the oldest in flight and the newest in the queue.
        let ahead = number.wrapping_sub(self.flights.first) % MAX_IN_FLIGHT;
        self.flights.first + ahead
    }

    async fn send_batch(&mut self) -> Result<(), Error> {
        let datagram = self.transport.kind() == Kind::Datagram;
        let room = self.transport.mtu().saturating_sub(self.format.header());
        let (mut cycles, mut bytes, mut replies) = (0, 0, false);
        for index in 0..self.queue.len() {
            let next = &self.queue[index];
            if datagram && cycles > 0 && bytes + next.bytes > room {
                break;
            }
            cycles += 1;
            bytes += next.bytes;
            replies |= next.expects_reply;
            let operations = next.collector.cycle().len();
            self.transport.charge(Work::Build { operations }).await;
        }
        let mut message = std::mem::take(&mut self.message);
        message.clear();
        if datagram {
            put_data_header(&mut message, self.format, !replies);
        }
        message.extend(self.records.drain(..bytes));
        let sent = self.send(&message).await;
        self.message = message;
        let deadline = self.transport.now() + self.config.reply_timeout;
        let number = self.first_message + self.messages.len() as u64;
        let mut unanswered = 0;
        for queued in self.queue.drain(..cycles) {
            let Queued { collector, completion, expects_reply, .. } = queued;
            match &sent {
                Err(error) => {
                    self.flights.push(None);
                    completion.tell(Err(error.clone()));
                }
                Ok(()) if expects_reply => {
                    unanswered += 1;
                    let message = number;
                    let flight = Flight { collector, completion, message, deadline };
                    self.flights.push(Some(flight));
                }
                Ok(()) => {
                    self.flights.push(None);
                    self.statistics.cycles += 1;
                    completion.tell(Ok(CycleReply { reads: Vec::new() }));
                }
            }
        }
        self.messages.push_back(unanswered);
        self.trim_messages();
        sent
    }

    fn trim_messages(&mut self) {
        while let Some(0) = self.messages.front() {
            self.messages.pop_front();
            self.first_message += 1;
        }
    }

    /// Receives one message, or lets the oldest cycle time out.
    async fn receive(&mut self) -> Result<(), Error> {
        let Some((_, deadline)) = self.flights.oldest() else {
            return Ok(());
        };
        match self.receive_until(deadline).await {
            Ok(Some(length)) => self.take_message(length).await,
            Ok(None) => {}
            Err(error) => return Err(self.fail_all(error)),
        }
        self.expire();
        Ok(())
    }

    fn expire(&mut self) {
        let Some((_, deadline)) = self.flights.oldest() else { return };
        let now = self.transport.now();
        if deadline > now {
            return;
        }
        let waited = self.config.reply_timeout;
        while let Some((cycle, deadline)) = self.flights.oldest()
            && deadline <= now
        {
            self.statistics.timed_out += 1;
            self.end(cycle, |collector| {
                let cycle = collector.cycle();
                let (first, operations) = (cycle.operation(0), cycle.len());
                Err(Error::TimedOut { first, operations, waited })
            });
        }
    }

    /// Takes a cycle out of flight and tells its owner.
    fn end(&mut self, cycle: u64, result: impl FnOnce(Collector) -> CycleResult) {
        let Some(flight) = self.flights.remove(cycle) else { return };
        let message = flight.message.checked_sub(self.first_message);
        let message = message.and_then(|index| usize::try_from(index).ok());
        if let Some(left) = message.and_then(|index| self.messages.get_mut(index)) {
            *left = left.saturating_sub(1);
        }
        self.trim_messages();
        flight.completion.tell(result(flight.collector));
    }

    /// Where the records of a received datagram begin, if the whole datagram is well formed.
    fn data_of(&self, bytes: &[u8]) -> Option<usize> {
        let header = Header::decode(bytes).ok()?;
        if header.is_probe() || header.format().ok()? != self.format {
            return None;
        }
        let mut offset = self.format.header();
        while offset < bytes.len() {
            offset += RecordView::decode(self.format, &bytes[offset..])?.1;
        }
        (offset == bytes.len()).then_some(self.format.header())
    }

    async fn take_message(&mut self, length: usize) {
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
                        Ok(Message::ProbeReply { .. }) => self.statistics.stale += 1,
                        _ => self.statistics.malformed += 1,
                    }
                    (length, length)
                }
            }
        } else {
            (0, bytes.len())
        };
        // Records of one cycle stand together, so that it is whole when another one begins.
        let mut current: Option<u64> = None;
        while let Some((record, length)) = RecordView::decode(self.format, &bytes[at..end]) {
            at += length;
            if !record.has_writes() && !record.has_reads() {
                continue;
            }
            let ours = record.flags.has(Flags::WCA) && !record.has_reads();
            let cycle = self.cycle_of(record.write_base);
            let Some(flight) = ours.then(|| self.flights.get_mut(cycle)).flatten() else {
                self.statistics.stale += 1;
                continue;
            };
            flight.collector.take(record.write_base & 1 == 1, record.writes());
            if let Some(before) = current.replace(cycle).filter(|before| *before != cycle) {
                self.complete(before, datagram).await;
            }
        }
        if let Some(last) = current {
            self.complete(last, datagram).await;
        }
        if datagram {
            self.buffer = bytes;
        } else {
            self.stream = bytes;
            self.stream.drain(..at);
        }
    }

    /// Ends a cycle whose reply has come. In a datagram it is whole or wrong; a stream may bring the
    /// rest later.
    async fn complete(&mut self, cycle: u64, datagram: bool) {
        let Some(flight) = self.flights.get_mut(cycle) else { return };
        if datagram || flight.collector.is_complete() {
            let operations = flight.collector.cycle().len();
            self.transport.charge(Work::Complete { operations }).await;
            self.statistics.cycles += 1;
            self.end(cycle, Collector::finish);
        }
    }

    fn encode(&self, message: &Message, out: &mut Vec<u8>) -> Result<(), Error> {
        self.codec
            .encode(message, out)
            .map_err(|error| TransportError::Other(error.to_string()).into())
    }

    async fn send(&mut self, message: &[u8]) -> Result<(), Error> {
        self.transport.send(message).await?;
        self.statistics.messages_sent += 1;
        self.statistics.bytes_sent += message.len() as u64;
        Ok(())
    }

    async fn receive_until(&mut self, deadline: Duration) -> Result<Option<usize>, Error> {
        // Whoever drops a call half-way takes the buffer with it.
        self.buffer.resize(RECEIVE_BUFFER, 0);
        match self.transport.recv(&mut self.buffer, deadline).await {
            Ok(length) => {
                let length = length.min(self.buffer.len());
                self.statistics.messages_received += 1;
                self.statistics.bytes_received += length as u64;
                Ok(Some(length))
            }
            Err(TransportError::TimedOut) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}
