// SPDX-License-Identifier: Apache-2.0

mod config;
mod end;
mod receive;
mod send;

pub use config::ClientConfig;

use super::flight::Messages;
use super::flights::Flights;
use super::guard::{self, Stamp};
use super::meter::{Meter, NoMeter};
#[cfg(feature = "tokio")]
use super::pending::Completion;
use super::pending::{CycleResult, Ended, Owner, Pending};
use super::statistics::{Counters, Statistics};
use super::wire::{Codec, Dialect, Format};
use super::{Cycle, Error};
use crate::transport::{AnyTransport, Kind, Transport, TransportError};
use std::fmt;
use std::sync::Arc;

/// Sequence numbers are the 14 bits between 0x8000 and the mark of the error register.
const MAX_IN_FLIGHT: u64 = 1 << 14;
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
            buffer: vec![0; receive::RECEIVE_BUFFER],
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

    /// True if the device opened a session: every retried request is executed once.
    pub fn has_session(&self) -> bool {
        self.session.is_some()
    }

    /// The widths agreed on.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The counters so far.
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

    /// Reads one word in a separate checked cycle.
    pub async fn read(&mut self, address: u64) -> Result<u64, Error> {
        let reply = self.execute(Cycle::new().read(address)).await?;
        // A checked plan with one read ends with exactly one value.
        Ok(reply.reads.first().copied().unwrap_or_default())
    }

    /// Writes one word in a separate checked cycle.
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

    /// Queues a cycle whose result [`next_ended`](Self::next_ended) returns: the cheapest call, for
    /// a program that is the only user of the client. `describe` gets a cycle without operations
    /// and adds them ([`Cycle::add`]). The tag is chosen by the caller. A cycle whose result was
    /// not collected yet counts among those that can be in flight.
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

    /// True if a number is free for another cycle.
    #[inline]
    pub(super) fn has_room(&mut self) -> bool {
        if self.flights.next - self.flights.first < MAX_IN_FLIGHT {
            return true;
        }
        // A hole in front of the queue counts as in flight: its number is not free yet.
        self.flights.trim();
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
        // A session allows this many from its oldest unanswered one on.
        let session = self.session.is_some() && self.messages.len() >= guard::WINDOW;
        session || self.messages.is_full(self.transport.room())
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
        // At most this many cycles are between the first and the newest in the queue.
        let ahead = number.wrapping_sub(self.flights.first) % MAX_IN_FLIGHT;
        self.flights.first + ahead
    }

    fn next_message(&self) -> u64 {
        self.messages.next()
    }
}
