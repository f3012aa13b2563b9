// SPDX-License-Identifier: Apache-2.0
//! What is at a node's local port: a source of packets, and a sink that takes every flit at once and
//! compares it.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use isthmus_sim::Picoseconds;
use isthmus_sim::world::flits::{FLIT_WORDS, Flit, LocalPort};

use super::scenario::{FLIT_BYTES, FRAMING_FLITS, TorusScenario};
use super::traffic::{Packets, coordinates, hops, number, place};
use crate::error::RoadError;
use crate::measurement::Samples;

/// In `kind` of a header: the packet belongs to the measurement.
const COUNTED: u32 = 1;
const PLACE_BITS: u32 = 15;

/// The tail of a packet of which a link has lost something (docs/explanation/cores/torus.md).
const POISON: [u32; FLIT_WORDS] = [u32::MAX; FLIT_WORDS];

/// A packet that links have lost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lost {
    pub(super) source: usize,
    pub(super) dest: usize,
    pub(super) sequence: u32,
}

/// What all stations of a run share.
pub(super) struct Ledger {
    period: Picoseconds,
    /// Sources make no packet before this clock.
    start: u64,
    /// Links may lose packets.
    pub(super) lossy: bool,
    /// By source and destination: which of its packets without an end are of the measurement.
    flying: Vec<VecDeque<bool>>,
    /// Packets that were found lost, and were not taken yet.
    pub(super) missed: Vec<Lost>,
    pub(super) lost: u64,
    pub(super) counted_lost: u64,
    /// Packets that arrived with a poisoned tail.
    pub(super) poisoned: u64,
    /// Flits that entered the network while the window was open.
    pub(super) entered_in_window: u64,
    /// Packets of the measurement, and the clocks between which they are made.
    wanted: u64,
    pub(super) window: (Option<u64>, Option<u64>),
    pub(super) counted: u64,
    pub(super) samples: Samples,
    pub(super) made: u64,
    pub(super) delivered: u64,
    /// Links that they passed.
    pub(super) hops: u64,
    /// Flits that arrived and flits that were made while the window was open.
    pub(super) flits_in_window: u64,
    pub(super) made_in_window: u64,
    pub(super) arrived_in_window: u64,
    /// All flits that arrived: what stands still if nothing moves.
    pub(super) flits: u64,
    /// Largest number of packets that waited at one source.
    pub(super) longest_queue: usize,
    pub(super) wrong: Option<String>,
    stopped: bool,
}

impl Ledger {
    pub(super) fn new(
        scenario: &TorusScenario,
        period: Picoseconds,
    ) -> Result<Rc<RefCell<Self>>, RoadError> {
        Ok(Rc::new(RefCell::new(Self {
            period,
            start: if scenario.over_lanes() {
                u64::MAX
            } else {
                u64::from(scenario.device.reset_cycles) + 4
            },
            lossy: scenario.lossy(),
            flying: match scenario.lossy() {
                true => vec![VecDeque::new(); scenario.nodes() * scenario.nodes()],
                false => Vec::new(),
            },
            missed: Vec::new(),
            lost: 0,
            counted_lost: 0,
            poisoned: 0,
            entered_in_window: 0,
            wanted: scenario.workload.packets,
            window: (None, None),
            counted: 0,
            samples: Samples::new()?,
            made: 0,
            delivered: 0,
            hops: 0,
            flits_in_window: 0,
            made_in_window: 0,
            arrived_in_window: 0,
            flits: 0,
            longest_queue: 0,
            wrong: None,
            stopped: false,
        })))
    }

    /// Sources begin at this clock.
    pub(super) fn begin(&mut self, clock: u64) {
        self.start = clock;
    }

    pub(super) fn stop(&mut self) {
        self.stopped = true;
    }

    pub(super) fn outstanding(&self) -> u64 {
        self.made - self.delivered - self.lost
    }

    fn lose(&mut self, lost: Lost, counted: bool) {
        self.lost += 1;
        self.counted_lost += u64::from(counted);
        self.missed.push(lost);
    }

    /// Nothing moves any more: what has no end by now is lost. `next`: of a source and a destination, the
    /// number of the first of these packets.
    pub(super) fn give_up(&mut self, nodes: usize, next: impl Fn(usize, usize) -> u32) {
        for (pair, flying) in std::mem::take(&mut self.flying).into_iter().enumerate() {
            let (source, dest) = (pair / nodes, pair % nodes);
            for (sequence, counted) in (next(source, dest)..).zip(flying) {
                self.lose(Lost { source, dest, sequence }, counted);
            }
        }
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(self.window, (Some(_), None))
    }

    fn fail(&mut self, what: String) {
        self.wrong.get_or_insert(what);
    }
}

struct Packet {
    created: u64,
    dest: usize,
    sequence: u32,
    counted: bool,
}

/// The packet that is received.
struct Incoming {
    created: u64,
    source: usize,
    counted: bool,
    flits: u64,
}

/// One node's end.
pub(super) struct Station {
    own: usize,
    nodes: [usize; 3],
    flits: u64,
    clock: u64,
    packets: Packets,
    queue: VecDeque<Packet>,
    /// Flits of the first waiting packet that are sent.
    sent: u64,
    credits: u32,
    incoming: Option<Incoming>,
    /// The flits of the packet that is received, where links may lose some.
    held: Vec<[u32; FLIT_WORDS]>,
    most_credits: u32,
    /// Packets so far to, and from, each node.
    pub(super) to: Vec<u32>,
    pub(super) from: Vec<u32>,
    ledger: Rc<RefCell<Ledger>>,
}

/// The payload of a packet, made of its name.
fn payload(source: usize, dest: usize, sequence: u32, flit: u64) -> [u32; FLIT_WORDS] {
    let name = (source as u64) << 48 | (dest as u64) << 32 | u64::from(sequence);
    let low = (name ^ flit << 40).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let low = low ^ low >> 29;
    let high = low.wrapping_mul(0xBF58_476D_1CE4_E5B9) ^ low >> 32;
    [low as u32, (low >> 32) as u32, high as u32, (high >> 32) as u32]
}

impl Station {
    pub(super) fn new(
        scenario: &TorusScenario,
        own: usize,
        ledger: &Rc<RefCell<Ledger>>,
    ) -> Rc<RefCell<Self>> {
        let nodes = scenario.nodes();
        Rc::new(RefCell::new(Self {
            own,
            nodes: scenario.workload.nodes,
            flits: scenario.flits(),
            clock: 0,
            packets: Packets::new(scenario, own),
            queue: VecDeque::new(),
            sent: 0,
            credits: scenario.device.buffer_flits,
            incoming: None,
            held: Vec::new(),
            most_credits: scenario.device.buffer_flits,
            to: vec![0; nodes],
            from: vec![0; nodes],
            ledger: Rc::clone(ledger),
        }))
    }

    fn make(&mut self) {
        let mut ledger = self.ledger.borrow_mut();
        if ledger.stopped || self.clock < ledger.start {
            return;
        }
        let now = self.clock - ledger.start;
        while let Some((created, dest)) = self.packets.due(now, !self.queue.is_empty()) {
            let counted = ledger.is_open();
            if counted {
                ledger.made_in_window += self.flits;
            }
            ledger.made += 1;
            let packet = Packet {
                created: created + ledger.start,
                dest,
                sequence: self.to[dest],
                counted: counted && ledger.counted < ledger.wanted,
            };
            ledger.counted += u64::from(packet.counted);
            if ledger.lossy {
                ledger.flying[self.own * self.from.len() + dest].push_back(packet.counted);
            }
            self.to[dest] += 1;
            self.queue.push_back(packet);
        }
        ledger.longest_queue = ledger.longest_queue.max(self.queue.len());
    }

    fn send(&mut self) -> Option<Flit> {
        let packet = self.queue.front().filter(|_| self.credits > 0)?;
        let (number, last) = (self.sent, self.flits - 1);
        let spot = |node: usize| coordinates(place(self.nodes, node)) as u32;
        let data = if number == 0 {
            let bytes = (self.flits - FRAMING_FLITS) as u32 * FLIT_BYTES;
            [
                spot(packet.dest) | spot(self.own) << PLACE_BITS,
                bytes << 16 | if packet.counted { COUNTED } else { 0 },
                (packet.created as u32) << 16,
                (packet.created >> 16) as u32,
            ]
        } else if number == last {
            [0, 0, packet.sequence, 0]
        } else {
            payload(self.own, packet.dest, packet.sequence, number)
        };
        self.credits -= 1;
        self.sent += 1;
        {
            let ledger = &mut *self.ledger.borrow_mut();
            ledger.entered_in_window += u64::from(ledger.is_open());
        }
        if number == last {
            self.sent = 0;
            self.queue.pop_front();
        }
        Some(Flit { head: number == 0, tail: number == last, channel: 0, data })
    }

    fn receive(&mut self, flit: &Flit) {
        let shared = Rc::clone(&self.ledger);
        let ledger = &mut *shared.borrow_mut();
        ledger.flits += 1;
        let taken = if ledger.lossy {
            self.take_lossy(flit, ledger)
        } else {
            ledger.arrived_in_window += u64::from(ledger.is_open());
            self.take(flit, ledger)
        };
        if let Err(what) = taken {
            ledger.fail(format!("node {}, clock {}: {what}", self.own, self.clock));
        }
    }

    fn take(&mut self, flit: &Flit, ledger: &mut Ledger) -> Result<(), String> {
        let word = flit.data;
        let Some(packet) = &mut self.incoming else {
            let mask = (1 << PLACE_BITS) - 1;
            let source = self.node(word[0] >> PLACE_BITS & mask);
            let Some(source) = source.filter(|_| flit.head && !flit.tail) else {
                return Err("a packet does not begin with its header".to_owned());
            };
            if self.node(word[0] & mask) != Some(self.own) {
                return Err(format!("a packet from node {source} is for another node"));
            }
            self.incoming = Some(Incoming {
                created: u64::from(word[2] >> 16) | u64::from(word[3]) << 16,
                source,
                counted: word[1] & COUNTED != 0,
                flits: 1,
            });
            return Ok(());
        };
        let (source, expected) = (packet.source, self.from[packet.source]);
        if flit.head || flit.tail != (packet.flits == self.flits - 1) {
            return Err(format!("a packet from node {source} has another length"));
        }
        if !flit.tail {
            if word != payload(source, self.own, expected, packet.flits) {
                return Err(format!(
                    "data of packet {expected} from node {source} is wrong, or the packet is lost, doubled \
                     or out of order"
                ));
            }
            packet.flits += 1;
            return Ok(());
        }
        if word[2] != expected {
            return Err(format!("packet {} from node {source} instead of {expected}", word[2]));
        }
        if packet.counted {
            ledger.samples.add(ledger.period * (self.clock - packet.created));
        }
        ledger.delivered += 1;
        ledger.hops += hops(self.nodes, place(self.nodes, source), place(self.nodes, self.own));
        if ledger.is_open() {
            ledger.flits_in_window += self.flits;
        }
        self.from[source] += 1;
        self.incoming = None;
        Ok(())
    }

    /// A flit over links that may lose packets: one that is whole is right, and behind the last one of its pair
    /// that was; those between are lost.
    fn take_lossy(&mut self, flit: &Flit, ledger: &mut Ledger) -> Result<(), String> {
        if flit.head != self.held.is_empty() {
            return Err("a packet is in another, or has no header".to_owned());
        }
        self.held.push(flit.data);
        if !flit.tail {
            return Ok(());
        }
        let words = std::mem::take(&mut self.held);
        if flit.data == POISON {
            ledger.poisoned += 1;
            return Ok(());
        }
        let (header, mask) = (words[0], (1 << PLACE_BITS) - 1);
        let source = self.node(header[0] >> PLACE_BITS & mask);
        let Some(source) = source.filter(|_| self.node(header[0] & mask) == Some(self.own)) else {
            return Err("a packet without a poisoned tail has a wrong header".to_owned());
        };
        let (sequence, expected) = (flit.data[2], self.from[source]);
        if words.len() as u64 != self.flits || sequence < expected {
            return Err(format!(
                "packet {sequence} from node {source}, doubled or of another length"
            ));
        }
        let inner = words.iter().enumerate().skip(1).take(words.len() - 2);
        if inner.clone().any(|(at, word)| *word != payload(source, self.own, sequence, at as u64)) {
            return Err(format!("data of packet {sequence} from node {source} is wrong"));
        }
        for lost in expected..sequence {
            let counted = ledger.flying[source * self.from.len() + self.own].pop_front();
            let lost = Lost { source, dest: self.own, sequence: lost };
            ledger.lose(lost, counted == Some(true));
        }
        if ledger.flying[source * self.from.len() + self.own].pop_front().is_none() {
            return Err(format!("packet {sequence} from node {source} was never sent"));
        }
        let created = u64::from(header[2] >> 16) | u64::from(header[3]) << 16;
        if header[1] & COUNTED != 0 {
            ledger.samples.add(ledger.period * self.clock.saturating_sub(created));
        }
        ledger.delivered += 1;
        ledger.hops += hops(self.nodes, place(self.nodes, source), place(self.nodes, self.own));
        if ledger.is_open() {
            ledger.flits_in_window += self.flits;
            ledger.arrived_in_window += self.flits;
        }
        self.from[source] = sequence + 1;
        Ok(())
    }

    /// Nothing waits here, and all that was sent has left the router's buffer.
    pub(super) fn at_rest(&self) -> bool {
        self.queue.is_empty() && self.credits == self.most_credits && self.held.is_empty()
    }

    /// The node at coordinates, if there is one.
    fn node(&self, coordinates: u32) -> Option<usize> {
        let at: [usize; 3] = std::array::from_fn(|d| (coordinates >> (5 * d) & 31) as usize);
        (0..3).all(|d| at[d] < self.nodes[d]).then(|| number(self.nodes, at))
    }
}

impl LocalPort for Station {
    fn step(&mut self, flit: Option<&Flit>, freed: bool) -> (Option<Flit>, bool) {
        self.credits += u32::from(freed);
        if let Some(flit) = flit {
            self.receive(flit);
        }
        self.make();
        let sent = self.send();
        self.clock += 1;
        (sent, flit.is_some())
    }
}
