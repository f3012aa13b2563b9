// SPDX-License-Identifier: Apache-2.0
//! The simulated host's program: it takes datagrams out of their buffers, and reads the counters. One of two
//! interfaces back to back also sends frames, each as a datagram to the other.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::net::SocketAddrV4;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Duration;

use isthmus_host::nic::{
    Counters, Event, MAX_POSTS, MAX_SEND_BYTES, Nic, NicConfig, PLACE_BYTES, Policy,
};
use isthmus_host::pcie::DmaMemory;
use isthmus_host::transport::TransportError;
use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::Sim;
use isthmus_sim::world::host::MmioHost;

use super::super::world::World;
use crate::error::RoadError;
use crate::host_bus::{Bar, HostMemory};

/// Name of the count of datagrams that were not sent back for want of room.
const NOT_ECHOED: &str = "not_echoed";

/// Frames that a program has not posted yet. Others wait before it.
const OUTGOING: usize = 16;

/// What the program and the server share.
#[derive(Default)]
pub(super) struct Shared {
    /// Payloads.
    delivered: RefCell<Vec<Vec<u8>>>,
    failed: RefCell<Option<RoadError>>,
    counters: RefCell<Option<Counters<Bar>>>,
    /// A reading of the counters is under way.
    reading: Cell<bool>,
    last: RefCell<Vec<BTreeMap<&'static str, u64>>>,
    totals: RefCell<Vec<BTreeMap<&'static str, u64>>>,
    /// Frames to send.
    outgoing: RefCell<VecDeque<Vec<u8>>>,
    /// One has come that the program has not seen.
    rung: Cell<bool>,
    waiting: RefCell<Option<Waker>>,
}

impl Shared {
    /// Takes what was delivered.
    pub(super) fn take(&self) -> Result<Vec<Vec<u8>>, RoadError> {
        match self.failed.take() {
            Some(error) => Err(error),
            None => Ok(self.delivered.take()),
        }
    }

    /// Whether there is room for a frame to send.
    pub(super) fn has_room(&self) -> bool {
        self.outgoing.borrow().len() < OUTGOING
    }

    /// Gives the program a frame to send.
    pub(super) fn send(&self, frame: Vec<u8>) {
        self.outgoing.borrow_mut().push_back(frame);
        self.rung.set(true);
        if let Some(waker) = self.waiting.take() {
            waker.wake();
        }
    }

    /// The counters of each port, since the start, as they were read last.
    pub(super) fn totals(&self) -> Vec<BTreeMap<&'static str, u64>> {
        self.totals.borrow().clone()
    }

    /// Whether a reading of the counters has not ended yet.
    pub(super) fn is_reading(&self) -> bool {
        self.reading.get()
    }

    /// A reading of the counters is to begin: none may be under way.
    pub(super) fn begin_reading(&self) {
        self.reading.set(true);
    }

    /// Adds what a port counted since its counters were read last: those of 16 bits wrap.
    fn add(&self, port: usize, counts: impl Iterator<Item = (&'static str, u64)>) {
        let (mut last, mut totals) = (self.last.borrow_mut(), self.totals.borrow_mut());
        if last.len() <= port {
            last.resize_with(port + 1, BTreeMap::new);
            totals.resize_with(port + 1, BTreeMap::new);
        }
        for (name, now) in counts {
            let before = last[port].insert(name, now).unwrap_or_default();
            let more = match name {
                "delivered" => u64::from((now as u32).wrapping_sub(before as u32)),
                _ => u64::from((now as u16).wrapping_sub(before as u16)),
            };
            *totals[port].entry(name).or_default() += more;
        }
    }
}

/// Opens the interface and takes datagrams for as long as it is simulated. `work` is the time that the
/// program needs for each before it gives the buffer back.
pub(super) async fn program(
    (sim, host): (Sim, MmioHost),
    config: NicConfig,
    work: Picoseconds,
    shared: Rc<Shared>,
) {
    let ended = take_all(&sim, &host, &config, work, &shared).await;
    *shared.failed.borrow_mut() = ended.err();
}

async fn take_all(
    sim: &Sim,
    host: &MmioHost,
    config: &NicConfig,
    work: Picoseconds,
    shared: &Shared,
) -> Result<(), RoadError> {
    let failed = |error| RoadError::program("nanet", error);
    let memory = HostMemory::new(sim, host);
    let mut nic = World::open(host, memory, config).await.map_err(failed)?;
    *shared.counters.borrow_mut() = Some(nic.counters());
    let program = Taker { host, config, work, shared };
    loop {
        let Some(event) = nic.next(Duration::MAX).await.map_err(failed)? else { continue };
        program.take(&mut nic, &event).await?;
    }
}

/// What takes datagrams out of their buffers.
struct Taker<'a> {
    host: &'a MmioHost,
    config: &'a NicConfig,
    work: Picoseconds,
    shared: &'a Shared,
}

impl Taker<'_> {
    async fn take<D: DmaMemory>(
        &self,
        nic: &mut Nic<Bar, D>,
        event: &Event,
    ) -> Result<(), RoadError> {
        let failed = |error| RoadError::program("nanet", error);
        if event.error {
            return Err(RoadError::Violation("nanet: memory refused a write".to_owned()));
        }
        let list = &self.config.lists[usize::from(event.list)];
        let offset = list.offsets[usize::from(event.index)];
        // The program works in place: this copy is the server's.
        let payload = self.host.memory().read(offset, event.bytes as usize);
        let payload = payload.map_err(|error| RoadError::Violation(format!("nanet: {error}")))?;
        let intact = list.policy != Policy::Oldest || nic.is_intact(event).await.map_err(failed)?;
        if intact {
            self.shared.delivered.borrow_mut().push(payload);
            if self.work > Picoseconds::ZERO {
                self.host.cpu().run(self.work).await;
            }
        }
        nic.recycle(event.list).await.map_err(failed)
    }
}

/// As [`program`], and sends the frames that the server gives it to `peer`.
pub(super) async fn exchange(
    (sim, host): (Sim, MmioHost),
    config: NicConfig,
    peer: SocketAddrV4,
    work: Picoseconds,
    shared: Rc<Shared>,
) {
    let memory = Interruptible { memory: HostMemory::new(&sim, &host), shared: Rc::clone(&shared) };
    let program = Taker { host: &host, config: &config, work, shared: &shared };
    let ended = exchange_all(&program, memory, peer).await;
    *shared.failed.borrow_mut() = ended.err();
}

async fn exchange_all(
    program: &Taker<'_>,
    memory: Interruptible,
    peer: SocketAddrV4,
) -> Result<(), RoadError> {
    let failed = |error| RoadError::program("nanet", error);
    let shared = program.shared;
    let mut nic =
        Nic::open(Bar::new(program.host), memory.clone(), program.config).await.map_err(failed)?;
    *shared.counters.borrow_mut() = Some(nic.counters());
    let peer = nic.peer(peer).await.map_err(failed)?;
    let base = program.config.send.as_ref().map_or(0, |memory| memory.offset);
    let place = MAX_SEND_BYTES.next_multiple_of(PLACE_BYTES);
    let (mut memory, mut posted, mut sent) = (memory, 0_usize, 0_usize);
    loop {
        let full = posted - sent == MAX_POSTS as usize;
        let patience = if full { Duration::MAX } else { Duration::ZERO };
        while posted > sent
            && let Some(one) = nic.sent(patience).await.map_err(failed)?
        {
            if one.error || one.refused.is_some() {
                return Err(RoadError::Violation(format!("nanet: a frame was not sent: {one:?}")));
            }
            sent += 1;
            if full {
                break;
            }
        }
        if posted - sent < MAX_POSTS as usize {
            let frame = shared.outgoing.borrow_mut().pop_front();
            if let Some(frame) = frame {
                let at = posted % MAX_POSTS as usize * place;
                let written = memory.write(base + at, &frame).await;
                written.map_err(|error| RoadError::Violation(format!("nanet: {error}")))?;
                nic.send(at, frame.len(), peer).await.map_err(failed)?;
                posted += 1;
            }
        }
        let idle = shared.outgoing.borrow().is_empty();
        let patience = if idle { Duration::MAX } else { Duration::ZERO };
        if let Some(event) = nic.next(patience).await.map_err(failed)? {
            program.take(&mut nic, &event).await?;
        }
    }
}

/// Memory of a host whose wait for an event ends when there is a frame to send.
#[derive(Clone)]
struct Interruptible {
    memory: HostMemory,
    shared: Rc<Shared>,
}

impl DmaMemory for Interruptible {
    fn bus_address(&self) -> u64 {
        self.memory.bus_address()
    }

    fn size(&self) -> usize {
        self.memory.size()
    }

    fn now(&self) -> Duration {
        self.memory.now()
    }

    async fn read(&mut self, offset: usize, buffer: &mut [u8]) -> Result<(), TransportError> {
        self.memory.read(offset, buffer).await
    }

    async fn write(&mut self, offset: usize, data: &[u8]) -> Result<(), TransportError> {
        self.memory.write(offset, data).await
    }

    async fn load64(&mut self, offset: usize) -> Result<u64, TransportError> {
        self.memory.load64(offset).await
    }

    async fn load_line(&mut self, offset: usize, line: &mut [u8]) -> Result<(), TransportError> {
        self.memory.load_line(offset, line).await
    }

    async fn poll64(
        &mut self,
        offset: usize,
        seen: u64,
        deadline: Duration,
    ) -> Result<u64, TransportError> {
        let mut changed = pin!(self.memory.poll64(offset, seen, deadline));
        poll_fn(|context| {
            if let Poll::Ready(word) = changed.as_mut().poll(context) {
                return Poll::Ready(word);
            }
            if self.shared.rung.take() {
                return Poll::Ready(Ok(seen));
            }
            *self.shared.waiting.borrow_mut() = Some(context.waker().clone());
            Poll::Pending
        })
        .await
    }
}

/// Reads the counters of all ports.
pub(super) async fn read_counters(shared: Rc<Shared>, ports: usize) {
    let counters = shared.counters.borrow().clone();
    if let Some(mut counters) = counters {
        for port in 0..ports {
            match counters.statistics(port as u8).await {
                Ok(statistics) => {
                    shared.add(port, statistics.named());
                    if let Ok(count) = counters.not_echoed(port as u8).await {
                        shared.add(port, [(NOT_ECHOED, u64::from(count))].into_iter());
                    }
                }
                Err(error) => {
                    *shared.failed.borrow_mut() = Some(RoadError::program("nanet", error));
                }
            }
        }
    }
    shared.reading.set(false);
}
