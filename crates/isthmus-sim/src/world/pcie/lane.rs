// SPDX-License-Identifier: Apache-2.0
//! One direction of a link: queues by class, ordering, credits, the wire.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::task::Waker;

use super::config::{CreditConfig, PcieConfig, PortTimes};
use super::wire::{
    DLLP_BYTES, Direction, FineTime, OctetTime, TlpKind, TlpRecord, coarse, data_credits, fine,
    padded, wire_bytes,
};
use crate::kernel::{Counter, FaultPoint, FrameId, Picoseconds, Sim};

/// A transaction-layer packet.
#[derive(Clone, Debug)]
pub(super) struct Tlp {
    pub(super) id: FrameId,
    pub(super) address: u64,
    pub(super) body: Body,
}

#[derive(Clone, Debug)]
pub(super) enum Body {
    Write(Vec<u8>),
    Interrupt(u32),
    Read {
        bytes: usize,
        tag: u32,
    },
    /// Data of a request from `offset` on; `None`: the request is not supported.
    Completion {
        request: FrameId,
        tag: u32,
        offset: usize,
        data: Option<Vec<u8>>,
        poisoned: bool,
    },
}

/// The bytes of an interrupt message's data.
const INTERRUPT_BYTES: usize = 4;

/// Traffic classes of flow control and ordering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Posted,
    NonPosted,
    Completion,
}

const CLASSES: [Class; 3] = [Class::Posted, Class::NonPosted, Class::Completion];

/// The credits one TLP needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost {
    pub(super) class: Class,
    data: u32,
}

impl Tlp {
    pub(super) fn kind(&self) -> TlpKind {
        match self.body {
            Body::Write(_) => TlpKind::Write,
            Body::Interrupt(_) => TlpKind::Interrupt,
            Body::Read { .. } => TlpKind::Read,
            Body::Completion { .. } => TlpKind::Completion,
        }
    }

    fn payload(&self) -> usize {
        match &self.body {
            Body::Write(data) => data.len(),
            Body::Interrupt(_) => INTERRUPT_BYTES,
            Body::Read { .. } => 0,
            Body::Completion { data, .. } => data.as_ref().map_or(0, Vec::len),
        }
    }

    pub(super) fn cost(&self) -> Cost {
        let class = match self.kind() {
            TlpKind::Write | TlpKind::Interrupt => Class::Posted,
            TlpKind::Read => Class::NonPosted,
            TlpKind::Completion => Class::Completion,
        };
        let data = data_credits(padded(self.address, self.payload()) as usize);
        Cost { class, data }
    }
}

/// The rest of an advertised limit; `None` means no limit.
#[derive(Clone, Copy, Debug)]
struct Account {
    headers: Option<u32>,
    data: Option<u32>,
}

impl Account {
    fn new(headers: u32, data: u32) -> Self {
        let limit = |value: u32| (value != 0).then_some(value);
        Self { headers: limit(headers), data: limit(data) }
    }

    fn covers(&self, cost: Cost) -> bool {
        self.headers.is_none_or(|left| left >= 1) && self.data.is_none_or(|left| left >= cost.data)
    }

    fn take(&mut self, cost: Cost) {
        self.headers = self.headers.map(|left| left - 1);
        self.data = self.data.map(|left| left - cost.data);
    }

    fn give(&mut self, cost: Cost) {
        self.headers = self.headers.map(|left| left + 1);
        self.data = self.data.map(|left| left + cost.data);
    }
}

struct Queued {
    /// Increases in the order in which TLPs were submitted.
    order: u64,
    tlp: Tlp,
    handed: Picoseconds,
    /// When it could be on a free wire.
    ready: Picoseconds,
    starved: bool,
}

struct Names {
    sender: Rc<str>,
    receiver: Rc<str>,
    wire: Rc<str>,
    transmit: Rc<str>,
    wait_wire: Rc<str>,
    wait_credits: Rc<str>,
    serialise: Rc<str>,
    propagate: Rc<str>,
    receive: Rc<str>,
}

/// One direction of a link. Events come from outside, and times go there: it schedules nothing.
pub(super) struct Lane {
    sim: Sim,
    direction: Direction,
    octet: OctetTime,
    ecrc: bool,
    transmit: Picoseconds,
    propagation: Picoseconds,
    receive: Picoseconds,
    replay: Picoseconds,
    queue_limit: usize,
    queues: RefCell<[VecDeque<Queued>; 3]>,
    credits: RefCell<[Account; 3]>,
    order: Cell<u64>,
    /// When the wire is free.
    free: Cell<FineTime>,
    /// An event for the wire's end is in flight.
    pub(super) awaiting_wire: Cell<bool>,
    records: RefCell<Vec<TlpRecord>>,
    remembers: Cell<bool>,
    blocked: RefCell<Vec<Waker>>,
    names: Names,
    lcrc_error: FaultPoint,
    tlps: Counter,
    bytes_wire: Counter,
    bytes_payload: Counter,
    bytes_dllp: Counter,
    replays: Counter,
}

/// The next action of the wire.
pub(super) enum Next {
    /// This TLP arrives at the receiver's user side then.
    Deliver(Tlp, Picoseconds),
    /// The wire is busy until then.
    Wait(Picoseconds),
    /// Nothing can be sent before a TLP is submitted or credits arrive.
    Nothing,
}

impl Lane {
    pub(super) fn new(
        sim: &Sim,
        config: &PcieConfig,
        direction: Direction,
        sender: PortTimes,
        receiver: PortTimes,
        (propagation, replay): (Picoseconds, Picoseconds),
    ) -> Self {
        let PcieConfig { name, root, endpoint, .. } = config;
        let (from, to) = match direction {
            Direction::Down => (&root.port, &endpoint.port),
            Direction::Up => (&endpoint.port, &root.port),
        };
        let ends: [Rc<str>; 2] = [format!("{name}.root").into(), format!("{name}.endpoint").into()];
        let [sender_name, receiver_name] = match direction {
            Direction::Down => ends,
            Direction::Up => {
                let [root, endpoint] = ends;
                [endpoint, root]
            }
        };
        let wire = format!("{name}.{}", direction.name());
        let counter = |what: &str| sim.counters().counter(format!("{wire}.{what}"));
        let CreditConfig {
            posted_headers,
            posted_data,
            nonposted_headers,
            completion_headers,
            completion_data,
        } = to.credits;
        Self {
            sim: sim.clone(),
            direction,
            octet: OctetTime::new(config.generation, config.lanes, config.reserved_share),
            ecrc: config.ecrc,
            transmit: sender.transmit,
            propagation,
            receive: receiver.receive,
            replay,
            queue_limit: from.transmit_queue_tlps,
            queues: RefCell::default(),
            credits: RefCell::new([
                Account::new(posted_headers, posted_data),
                Account::new(nonposted_headers, 0),
                Account::new(completion_headers, completion_data),
            ]),
            order: Cell::default(),
            free: Cell::default(),
            awaiting_wire: Cell::default(),
            records: RefCell::default(),
            remembers: Cell::new(true),
            blocked: RefCell::default(),
            lcrc_error: sim.faults().point(&format!("{wire}.lcrc_error")),
            tlps: counter("tlps"),
            bytes_wire: counter("wire_bytes"),
            bytes_payload: counter("payload_bytes"),
            bytes_dllp: counter("dllp_bytes"),
            replays: counter("replays"),
            names: Names {
                sender: sender_name,
                receiver: receiver_name,
                wire: wire.into(),
                transmit: "transmit".into(),
                wait_wire: "wait for the wire".into(),
                wait_credits: "wait for credits".into(),
                serialise: "serialise".into(),
                propagate: "propagate".into(),
                receive: "receive".into(),
            },
        }
    }

    /// Takes a TLP from the user side; gives the time at which it may be on the wire.
    pub(super) fn hand(&self, tlp: Tlp) -> Picoseconds {
        let now = self.sim.now();
        let order = self.order.get();
        self.order.set(order + 1);
        let ready = now + self.transmit;
        let class = tlp.cost().class as usize;
        let queued = Queued { order, tlp, handed: now, ready, starved: false };
        self.queues.borrow_mut()[class].push_back(queued);
        ready
    }

    /// Sends at most one TLP.
    ///
    /// Reads and completions never pass a posted write that was submitted before them. A TLP
    /// without credits lets other classes pass, as far as this rule allows.
    pub(super) fn step(&self) -> Next {
        let now = self.sim.now();
        let free = coarse(self.free.get());
        if free > now {
            let waiting = self.queues.borrow().iter().any(|queue| !queue.is_empty());
            return if waiting { Next::Wait(free) } else { Next::Nothing };
        }
        let Some(class) = self.choose(now) else { return Next::Nothing };
        let Some(queued) = self.queues.borrow_mut()[class as usize].pop_front() else {
            return Next::Nothing;
        };
        self.credits.borrow_mut()[class as usize].take(queued.tlp.cost());
        if class == Class::Posted && self.posted() + 1 == self.queue_limit {
            for waker in self.blocked.take() {
                waker.wake();
            }
        }
        let delivered = self.put(&queued);
        Next::Deliver(queued.tlp, delivered)
    }

    fn choose(&self, now: Picoseconds) -> Option<Class> {
        let mut queues = self.queues.borrow_mut();
        let credits = self.credits.borrow();
        let oldest_posted = queues[Class::Posted as usize].front().map(|queued| queued.order);
        let mut chosen: Option<(u64, Class)> = None;
        for class in CLASSES {
            let Some(head) = queues[class as usize].front_mut() else { continue };
            if head.ready > now {
                continue;
            }
            if class != Class::Posted && oldest_posted.is_some_and(|order| order < head.order) {
                continue;
            }
            if !credits[class as usize].covers(head.tlp.cost()) {
                head.starved = true;
                continue;
            }
            if chosen.is_none_or(|(order, _)| head.order < order) {
                chosen = Some((head.order, class));
            }
        }
        chosen.map(|(_, class)| class)
    }

    fn put(&self, queued: &Queued) -> Picoseconds {
        let now = self.sim.now();
        let Queued { tlp, handed, ready, .. } = queued;
        let payload = tlp.payload();
        let bytes = wire_bytes(tlp.kind(), tlp.address, payload, self.ecrc);
        let time = self.octet.of(bytes);
        // Back to back the wire's own, finer time counts.
        let begin = self.free.get().max(fine(*ready));
        let begin = if coarse(begin) < now { fine(now) } else { begin };
        let mut start = begin;
        while self.lcrc_error.fires(now) {
            self.replays.increment();
            self.bytes_wire.add(bytes);
            start += time + fine(self.replay);
        }
        self.free.set(start + time);
        let (begin, end) = (coarse(begin), coarse(start + time));
        let arrived = end + self.propagation;
        let delivered = arrived + self.receive;
        let Names { sender, receiver, wire, .. } = &self.names;
        let spans = self.sim.spans();
        let id = tlp.id.0;
        spans.record(sender, &self.names.transmit, *handed, *ready, id);
        if begin > *ready {
            let wait =
                if queued.starved { &self.names.wait_credits } else { &self.names.wait_wire };
            spans.record(sender, wait, *ready, begin, id);
        }
        spans.record(wire, &self.names.serialise, begin, end, id);
        spans.record(wire, &self.names.propagate, end, arrived, id);
        spans.record(receiver, &self.names.receive, arrived, delivered, id);
        self.tlps.increment();
        self.bytes_wire.add(bytes);
        self.bytes_payload.add(payload as u64);
        let request = match tlp.body {
            Body::Completion { request, .. } => Some(request),
            _ => None,
        };
        if self.remembers.get() {
            self.records.borrow_mut().push(TlpRecord {
                id: tlp.id,
                direction: self.direction,
                kind: tlp.kind(),
                request,
                address: tlp.address,
                payload_bytes: payload as u64,
                wire_bytes: bytes,
                handed: *handed,
                start: begin,
                end,
                delivered,
            });
        }
        delivered
    }

    /// How long the wire has been busy so far.
    pub(super) fn busy(&self) -> Picoseconds {
        coarse(self.octet.of(self.bytes_wire.get() + self.bytes_dllp.get()))
    }

    /// A DLLP takes its time on the wire, ahead of what waits.
    pub(super) fn put_dllp(&self) {
        let begin = self.free.get().max(fine(self.sim.now()));
        self.free.set(begin + self.octet.of(DLLP_BYTES));
        self.bytes_dllp.add(DLLP_BYTES);
    }

    /// Credits have returned.
    pub(super) fn give(&self, cost: Cost) {
        self.credits.borrow_mut()[cost.class as usize].give(cost);
    }

    /// True if there is space for another posted TLP.
    pub(super) fn has_room(&self) -> bool {
        self.posted() < self.queue_limit
    }

    fn posted(&self) -> usize {
        self.queues.borrow()[Class::Posted as usize].len()
    }

    /// Wakes once a posted TLP has left.
    pub(super) fn block(&self, waker: &Waker) {
        let mut blocked = self.blocked.borrow_mut();
        if !blocked.iter().any(|known| known.will_wake(waker)) {
            blocked.push(waker.clone());
        }
    }

    pub(super) fn remember(&self, on: bool) {
        self.remembers.set(on);
    }

    pub(super) fn records_since(&self, first: usize) -> Vec<TlpRecord> {
        self.records.borrow().get(first..).map_or_else(Vec::new, <[_]>::to_vec)
    }

    pub(super) fn names(&self) -> (&Rc<str>, &Rc<str>) {
        (&self.names.sender, &self.names.receiver)
    }
}
