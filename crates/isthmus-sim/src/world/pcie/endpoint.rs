// SPDX-License-Identifier: Apache-2.0
//! The device's end of a link: DMA, interrupts, and the way of the host's accesses to BAR 0.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use super::config::PcieConfig;
use super::lane::{Body, Tlp};
use super::link::{Pcie, Shared};
use super::wire::{Direction, pieces};
use crate::kernel::{Counter, FrameId, Picoseconds, Sim, SimError, oneshot};
use crate::world::axi::{BarTarget, Collect, DmaError, ReadReply, ReadSink, Taken};

/// No page is larger where a request must not cross one.
pub(super) const PAGE_BYTES: u64 = 4096;

struct Outstanding {
    id: FrameId,
    sent: Picoseconds,
    bytes: usize,
    received: usize,
    /// Position of its bytes in the complete read.
    at: usize,
    sink: Rc<dyn ReadSink>,
}

struct WaitingRead {
    address: u64,
    bytes: usize,
    at: usize,
    sink: Rc<dyn ReadSink>,
}

pub(super) struct EndpointState {
    timeout: Picoseconds,
    free_tags: RefCell<VecDeque<u32>>,
    outstanding: RefCell<BTreeMap<u32, Outstanding>>,
    waiting: RefCell<VecDeque<WaitingRead>>,
    target: RefCell<Option<Rc<dyn BarTarget>>>,
    stage_device: Rc<str>,
    timeouts: Counter,
    poisoned: Counter,
    unsupported: Counter,
    unexpected: Counter,
    interrupts: Counter,
}

impl EndpointState {
    pub(super) fn new(sim: &Sim, config: &PcieConfig) -> Result<Self, SimError> {
        let name = &config.name;
        let counter = |what: &str| sim.counters().counter(format!("{name}.endpoint.{what}"));
        let endpoint = &config.endpoint;
        Ok(Self {
            timeout: crate::world::time(
                name,
                "endpoint.completion_timeout_ns",
                endpoint.completion_timeout_ns,
            )?,
            free_tags: RefCell::new((0..endpoint.tags).collect()),
            outstanding: RefCell::default(),
            waiting: RefCell::default(),
            target: RefCell::default(),
            stage_device: "device".into(),
            timeouts: counter("completion_timeouts"),
            poisoned: counter("poisoned_completions"),
            unsupported: counter("unsupported_completions"),
            unexpected: counter("unexpected_completions"),
            interrupts: counter("interrupts"),
        })
    }
}

impl EndpointState {
    pub(super) fn disconnect(&self) {
        drop(self.target.take());
    }
}

impl Shared {
    /// Splits a read into requests; each is sent once a tag is free.
    pub(super) fn read(self: &Rc<Self>, address: u64, bytes: usize, sink: &Rc<dyn ReadSink>) {
        let most = self.config.max_read_request_bytes as usize;
        let mut waiting = self.endpoint.waiting.borrow_mut();
        for (at, length) in pieces(address, bytes, most, PAGE_BYTES) {
            let (address, sink) = (address.wrapping_add(at as u64), Rc::clone(sink));
            waiting.push_back(WaitingRead { address, bytes: length, at, sink });
        }
        drop(waiting);
        self.request();
    }

    fn request(self: &Rc<Self>) {
        let endpoint = &self.endpoint;
        loop {
            let Some(tag) = endpoint.free_tags.borrow().front().copied() else { return };
            let Some(read) = endpoint.waiting.borrow_mut().pop_front() else { return };
            endpoint.free_tags.borrow_mut().pop_front();
            let WaitingRead { address, bytes, at, sink } = read;
            let id = self.sim.new_frame_id();
            let sent = self.sim.now();
            let outstanding = Outstanding { id, sent, bytes, received: 0, at, sink };
            endpoint.outstanding.borrow_mut().insert(tag, outstanding);
            self.send(Direction::Up, Tlp { id, address, body: Body::Read { bytes, tag } });
        }
    }

    /// True if no request waits for a tag.
    pub(super) fn reads_flow(&self) -> bool {
        self.endpoint.waiting.borrow().is_empty()
    }

    /// Cuts a write into TLPs, and gives their numbers. There is no limit here: a
    /// sender that can be held up checks for free space before.
    pub(super) fn write(
        self: &Rc<Self>,
        direction: Direction,
        address: u64,
        data: &[u8],
    ) -> Vec<FrameId> {
        let most = self.config.max_payload_bytes as usize;
        let send = |(at, length): (usize, usize)| {
            let id = self.sim.new_frame_id();
            let body = Body::Write(data[at..at + length].to_vec());
            self.send(direction, Tlp { id, address: address.wrapping_add(at as u64), body });
            id
        };
        pieces(address, data.len(), most, PAGE_BYTES).into_iter().map(send).collect()
    }

    pub(super) fn interrupt(self: &Rc<Self>, vector: u32) {
        self.endpoint.interrupts.increment();
        // The address of x86 interrupt messages: below 4 GiB, so the header has 3 DW.
        const LOCAL_APIC: u64 = 0xFEE0_0000;
        let (id, body) = (self.sim.new_frame_id(), Body::Interrupt(vector));
        self.send(Direction::Up, Tlp { id, address: LOCAL_APIC, body });
    }

    pub(super) fn at_endpoint(self: &Rc<Self>, tlp: Tlp) {
        let cost = tlp.cost();
        let offset = tlp.address.wrapping_sub(self.config.endpoint.bar_base);
        let shared = Rc::clone(self);
        let taken = Taken::new(move || shared.release(Direction::Down, cost));
        let target = self.endpoint.target.borrow().clone();
        match tlp.body {
            Body::Write(data) => {
                if let Some(target) = target {
                    target.write(offset, data, taken);
                }
            }
            Body::Interrupt(_) => {}
            Body::Read { bytes, .. } => {
                let (shared, delivered) = (Rc::clone(self), self.sim.now());
                let reply = ReadReply::new(bytes, Some(taken), move |answer| {
                    shared.answer(tlp.id, tlp.address, delivered, answer);
                });
                if let Some(target) = target {
                    target.read(offset, bytes, reply);
                }
            }
            // The requester has reserved space for all requested data: this one leaves the buffer
            // at once.
            Body::Completion { request, tag, offset, data, poisoned } => {
                drop(taken);
                self.completion(request, tag, offset, data.as_deref(), poisoned);
            }
        }
    }

    /// The device's side has done with a read of the host, which came at `delivered`.
    fn answer(
        self: &Rc<Self>,
        request: FrameId,
        address: u64,
        delivered: Picoseconds,
        data: Option<Vec<u8>>,
    ) {
        let now = self.sim.now();
        let track = self.lane(Direction::Down).names().1;
        let stage = &self.endpoint.stage_device;
        self.sim.spans().record(track, stage, delivered, now, request.0);
        let send = |offset: usize, data: Option<Vec<u8>>| {
            let body = Body::Completion { request, tag: 0, offset, data, poisoned: false };
            let (id, address) = (self.sim.new_frame_id(), address + offset as u64);
            self.send(Direction::Up, Tlp { id, address, body });
        };
        let boundary = self.config.read_completion_bytes;
        match data {
            // A program's load is never longer; a read that was passed on may be.
            Some(data) if data.len() > boundary as usize => {
                for (at, length) in pieces(address, data.len(), boundary as usize, boundary.into())
                {
                    send(at, Some(data[at..at + length].to_vec()));
                }
            }
            other => send(0, other),
        }
    }

    fn completion(
        self: &Rc<Self>,
        request: FrameId,
        tag: u32,
        offset: usize,
        data: Option<&[u8]>,
        poisoned: bool,
    ) {
        let endpoint = &self.endpoint;
        let mut outstanding = endpoint.outstanding.borrow_mut();
        let Some(read) = outstanding.get_mut(&tag).filter(|read| read.id == request) else {
            endpoint.unexpected.increment();
            return;
        };
        let (at, sink) = (read.at + offset, Rc::clone(&read.sink));
        let length = data.map_or(read.bytes, <[u8]>::len);
        read.received += length;
        let ended = read.received >= read.bytes;
        if ended {
            outstanding.remove(&tag);
        }
        drop(outstanding);
        match data {
            None => {
                endpoint.unsupported.increment();
                sink.failed(at, length, DmaError::Unsupported);
            }
            Some(_) if poisoned => {
                endpoint.poisoned.increment();
                sink.failed(at, length, DmaError::Poisoned);
            }
            Some(data) => sink.data(at, data),
        }
        if ended {
            sink.ended();
            self.free_tag(tag);
        }
    }

    fn free_tag(self: &Rc<Self>, tag: u32) {
        self.endpoint.free_tags.borrow_mut().push_back(tag);
        self.request();
    }

    /// A completion of this request will never come: it times out.
    pub(super) fn expire(self: &Rc<Self>, tag: u32, request: FrameId) {
        let sent = match self.endpoint.outstanding.borrow().get(&tag) {
            Some(read) if read.id == request => read.sent,
            _ => return,
        };
        let this = Rc::clone(self);
        self.sim.at(sent + self.endpoint.timeout, move || {
            let endpoint = &this.endpoint;
            let mut outstanding = endpoint.outstanding.borrow_mut();
            // More than one lost completion of a request is still one time-out.
            if outstanding.get(&tag).is_none_or(|read| read.id != request) {
                return;
            }
            let Some(read) = outstanding.remove(&tag) else { return };
            drop(outstanding);
            endpoint.timeouts.increment();
            read.sink.failed(read.at, read.bytes, DmaError::Timeout);
            read.sink.ended();
            this.free_tag(tag);
        });
    }
}

/// The device's end of a link, for devices that are modelled in Rust. Gateware is attached to its
/// pins by [`PciePins`](super::PciePins).
#[derive(Clone)]
pub struct Endpoint(Rc<Shared>);

impl Pcie {
    /// The device's end.
    #[must_use]
    pub fn endpoint(&self) -> Endpoint {
        Endpoint(Rc::clone(&self.0))
    }
}

impl Endpoint {
    /// Sets the target of the host's accesses to BAR 0.
    pub fn serve(&self, target: Rc<dyn BarTarget>) {
        self.0.serve(target);
    }

    /// Reads host memory. The range may have any length.
    ///
    /// # Errors
    /// When a request was not supported, was answered with bad data, or timed out.
    pub async fn read(&self, address: u64, bytes: usize) -> Result<Vec<u8>, DmaError> {
        let (sender, receiver) = oneshot();
        let most = self.0.config.max_read_request_bytes as usize;
        let requests = pieces(address, bytes, most, PAGE_BYTES).len();
        let sink = Rc::new(Collect::new(bytes, requests, sender));
        if bytes > 0 {
            let whole: Rc<dyn ReadSink> = Rc::<Collect>::clone(&sink);
            self.0.read(address, bytes, &whole);
            receiver.recv().await;
        }
        sink.take()
    }

    /// Writes host memory: ends when the last TLP is in the posted queue.
    pub async fn write(&self, address: u64, data: &[u8]) {
        let most = self.0.config.max_payload_bytes as usize;
        for (at, length) in pieces(address, data.len(), most, PAGE_BYTES) {
            self.0.room(Direction::Up).await;
            self.0.write(Direction::Up, address + at as u64, &data[at..at + length]);
        }
    }

    /// Sends an interrupt message, behind all writes before it.
    pub fn interrupt(&self, vector: u32) {
        self.0.interrupt(vector);
    }
}

impl Shared {
    pub(super) fn serve(&self, target: Rc<dyn BarTarget>) {
        *self.endpoint.target.borrow_mut() = Some(target);
    }

    /// Waits until the posted queue has room.
    pub(super) async fn room(&self, direction: Direction) {
        poll_fn(|context| {
            let lane = self.lane(direction);
            if lane.has_room() {
                return Poll::Ready(());
            }
            lane.block(context.waker());
            Poll::Pending
        })
        .await;
    }
}
