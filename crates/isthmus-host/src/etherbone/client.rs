// SPDX-License-Identifier: Apache-2.0

use super::cycle::Plan;
use super::wire::{
    Codec, Dialect, Flags, Format, Message, PROBE_LENGTH, Record, Widths, put_data_header,
};
use super::{Cycle, CycleReply, Error};
use crate::transport::{Kind, Transport, TransportError, Work};
use std::collections::{BTreeMap, VecDeque};
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

struct Queued {
    plan: Plan,
    completion: Completion,
}

struct Flight {
    plan: Plan,
    completion: Completion,
    words: Vec<(bool, u64)>,
    message: u64,
    deadline: Duration,
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
    queue: VecDeque<Queued>,
    flights: BTreeMap<u64, Flight>,
    /// Unanswered cycles of each message that has any.
    messages: BTreeMap<u64, usize>,
    next_cycle: u64,
    next_message: u64,
    buffer: Vec<u8>,
    stream: Vec<u8>,
    statistics: Statistics,
}

impl<T> fmt::Debug for Client<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("format", &self.format)
            .field("queued", &self.queue.len())
            .field("in_flight", &self.flights.len())
            .field("statistics", &self.statistics)
            .finish_non_exhaustive()
    }
}

impl<T: Transport> Client<T> {
    /// Probes the device and agrees on widths: the largest address and the largest data width that
    /// both sides have.
    pub async fn connect(transport: T, config: ClientConfig) -> Result<Self, Error> {
        let codec = config.dialect.codec()?;
        let mut client = Self {
            transport,
            codec,
            format: Format::W32,
            queue: VecDeque::new(),
            flights: BTreeMap::new(),
            messages: BTreeMap::new(),
            next_cycle: 0,
            next_message: 0,
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
        self.queue.len() + self.flights.len()
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
        let plan = cycle.plan(self.format)?;
        let bytes = self.format.header() + plan.bytes;
        if self.transport.kind() == Kind::Datagram && bytes > self.transport.mtu() {
            return Err(Error::Overflow {
                operations: plan.operations.len(),
                bytes,
                mtu: self.transport.mtu(),
            });
        }
        self.queue.push_back(Queued { plan, completion: Completion(Some(owner)) });
        Ok(())
    }

    /// Sends all queued cycles, as many whole ones in each datagram as fit. While the window is
    /// full it receives.
    pub async fn flush(&mut self) -> Result<(), Error> {
        while !self.queue.is_empty() {
            let full = self.messages.len() >= self.config.window.max(1);
            if full || self.next_tag().is_none() {
                self.receive().await?;
            } else {
                self.send_batch().await?;
            }
        }
        Ok(())
    }

    /// Waits until no cycle is in flight: each has its reply or has timed out.
    pub async fn settle(&mut self) -> Result<(), Error> {
        while !self.flights.is_empty() {
            self.receive().await?;
        }
        Ok(())
    }

    /// The next cycle's sequence number as a return address; `None` while its last use is in flight.
    fn next_tag(&self) -> Option<u64> {
        let reused = self.next_cycle.checked_sub(MAX_IN_FLIGHT);
        let free = self.flights.first_key_value().is_none_or(|(oldest, _)| Some(*oldest) > reused);
        free.then_some(0x8000 | (self.next_cycle % MAX_IN_FLIGHT) << 1)
    }

    /// The cycle in flight that a return address belongs to.
    fn cycle_of(&self, tag: u64) -> Option<u64> {
        let number = tag >> 1 & (MAX_IN_FLIGHT - 1);
        let last = self.next_cycle.checked_sub(1)?;
        let back = last.wrapping_sub(number) % MAX_IN_FLIGHT;
        last.checked_sub(back).filter(|cycle| self.flights.contains_key(cycle))
    }

    async fn send_batch(&mut self) -> Result<(), Error> {
        let datagram = self.transport.kind() == Kind::Datagram;
        let mut records = Vec::new();
        let mut batch: Vec<(u64, Queued)> = Vec::new();
        let mut replies = false;
        let room = self.transport.mtu().saturating_sub(self.format.header());
        while let (Some(next), Some(tag)) = (self.queue.front(), self.next_tag()) {
            if datagram && !batch.is_empty() && records.len() + next.plan.bytes > room {
                break;
            }
            let Some(queued) = self.queue.pop_front() else { break };
            let operations = queued.plan.operations.len();
            self.transport.charge(Work::Build { operations }).await;
            for record in &queued.plan.records {
                let tagged = Record { return_base: tag | record.return_base, ..record.clone() };
                tagged.encode(self.format, &mut records).map_err(|error| Error::Operation {
                    operation: queued.plan.first(),
                    reason: error.to_string(),
                })?;
                replies |= !record.reads.is_empty();
            }
            batch.push((self.next_cycle, queued));
            self.next_cycle += 1;
        }
        let mut message = Vec::with_capacity(self.format.header() + records.len());
        if datagram {
            put_data_header(&mut message, self.format, !replies);
        }
        message.extend_from_slice(&records);
        if let Err(error) = self.send(&message).await {
            for (_, queued) in batch {
                queued.completion.tell(Err(error.clone()));
            }
            return Err(error);
        }
        let deadline = self.transport.now() + self.config.reply_timeout;
        let number = self.next_message;
        self.next_message += 1;
        for (cycle, queued) in batch {
            let Queued { plan, completion } = queued;
            if plan.expects_reply() {
                *self.messages.entry(number).or_insert(0) += 1;
                let words = Vec::with_capacity(plan.words_expected());
                let flight = Flight { plan, completion, words, message: number, deadline };
                self.flights.insert(cycle, flight);
            } else {
                self.statistics.cycles += 1;
                completion.tell(Ok(CycleReply { reads: Vec::new() }));
            }
        }
        Ok(())
    }

    /// Receives one message, or lets the oldest cycle time out.
    async fn receive(&mut self) -> Result<(), Error> {
        let Some(deadline) = self.flights.first_key_value().map(|(_, f)| f.deadline) else {
            return Ok(());
        };
        match self.receive_until(deadline).await {
            Ok(Some(length)) => self.take_message(length).await,
            Ok(None) => {}
            Err(error) => {
                while let Some((cycle, _)) = self.flights.first_key_value() {
                    self.end(*cycle, |_| Err(error.clone()));
                }
                return Err(error);
            }
        }
        self.expire();
        Ok(())
    }

    fn expire(&mut self) {
        let now = self.transport.now();
        let waited = self.config.reply_timeout;
        while let Some((cycle, flight)) = self.flights.first_key_value()
            && flight.deadline <= now
        {
            self.statistics.timed_out += 1;
            self.end(*cycle, |flight| {
                let first = flight.plan.first();
                Err(Error::TimedOut { first, operations: flight.plan.operations.len(), waited })
            });
        }
    }

    /// Takes a cycle out of flight and tells its owner.
    fn end(&mut self, cycle: u64, result: impl FnOnce(&Flight) -> CycleResult) {
        let Some(flight) = self.flights.remove(&cycle) else { return };
        if let Some(count) = self.messages.get_mut(&flight.message) {
            *count -= 1;
            if *count == 0 {
                self.messages.remove(&flight.message);
            }
        }
        let result = result(&flight);
        flight.completion.tell(result);
    }

    async fn take_message(&mut self, length: usize) {
        let datagram = self.transport.kind() == Kind::Datagram;
        let records = if datagram {
            match self.codec.decode(&self.buffer[..length]) {
                Ok(Message::Data { format, records, .. }) if format == self.format => records,
                Ok(Message::ProbeReply { .. }) => {
                    self.statistics.stale += 1;
                    return;
                }
                _ => {
                    self.statistics.malformed += 1;
                    return;
                }
            }
        } else {
            self.stream.extend_from_slice(&self.buffer[..length]);
            let mut records = Vec::new();
            let mut used = 0;
            while let Some((record, length)) = Record::decode(self.format, &self.stream[used..]) {
                records.push(record);
                used += length;
            }
            self.stream.drain(..used);
            records
        };
        let mut touched: Vec<u64> = Vec::new();
        for record in records.iter().filter(|record| !record.is_empty()) {
            let ours = record.flags.has(Flags::WCA) && record.reads.is_empty();
            let Some(cycle) = ours.then(|| self.cycle_of(record.write_base)).flatten() else {
                self.statistics.stale += 1;
                continue;
            };
            if let Some(flight) = self.flights.get_mut(&cycle) {
                let status = record.write_base & 1 == 1;
                flight.words.extend(record.writes.iter().map(|word| (status, *word)));
            }
            if !touched.contains(&cycle) {
                touched.push(cycle);
            }
        }
        for cycle in touched {
            let Some(flight) = self.flights.get(&cycle) else { continue };
            // In a datagram the reply is whole or wrong; a stream may bring the rest later.
            if datagram || flight.words.len() >= flight.plan.words_expected() {
                let operations = flight.plan.operations.len();
                self.transport.charge(Work::Complete { operations }).await;
                self.statistics.cycles += 1;
                self.end(cycle, |flight| flight.plan.finish(&flight.words));
            }
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
