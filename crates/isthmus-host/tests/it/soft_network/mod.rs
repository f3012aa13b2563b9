// SPDX-License-Identifier: Apache-2.0
//! Hosts whose RDMA interfaces are joined by a model in memory, for tests of what runs on them.
//!
//! It takes descriptors and messages from the BAR as `docs/explanation/cores/rdma.md` says them,
//! carries their packets over paths of random length, checks them at the other end and writes what
//! that page says to either memory. It knows no cycles: the gateware is what measures. One thread:
//! [`Network::run`] polls each host's program in turn and moves its clock when all wait.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use isthmus_host::pcie::{DmaMemory, Mmio};
use isthmus_host::regs::rdma as regs;
use isthmus_host::transport::TransportError;

const HOSTS: usize = 8;
const SLOTS: usize = 128;
const MESSAGE_BEATS: usize = 256;
const WINDOW: u16 = 64;
const PACKET: usize = 512;

const REQUESTS: u64 = 0x4000;
const MESSAGES: u64 = 0x8000;
const QUEUE_TABLE: u64 = 0xC000;
const TAILS: u64 = 0xD000;
const REGIONS: u64 = 0xE000;
const ADDRESSES: u64 = 0xF000;

pub const READ_FAILED: u8 = 2;
pub const KEY: u8 = 3;
pub const BOUNDS: u8 = 4;
pub const QUEUE: u8 = 5;
pub const FULL: u8 = 6;
pub const WRITE: u8 = 7;
pub const LOST: u8 = 8;
pub const SESSION: u8 = 9;

/// What a store or load costs; long or short is all that matters here.
const STORE: Duration = Duration::from_nanos(100);
const LOAD: Duration = Duration::from_nanos(400);
const LOOK: Duration = Duration::from_nanos(20);
const HOP: Duration = Duration::from_nanos(1250);

/// What may go wrong.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    /// Packets of 1000 that never come.
    pub lost: u64,
    /// A packet takes up to so much longer than another.
    pub spread: Duration,
    /// Memory of a host that refuses to be written.
    pub dead: Vec<(usize, std::ops::Range<u64>)>,
}

#[derive(Clone, Debug)]
struct Packet {
    from: usize,
    to: usize,
    number: u16,
    session: u8,
    /// A queue; else a write.
    queue: Option<u8>,
    address: u64,
    key: Option<u32>,
    immediate: u32,
    notify: bool,
    completion: bool,
    tag: u8,
    /// Of a message from the start; of a write when it leaves.
    data: Vec<u8>,
    /// Of a write: where its data are, and how long they are.
    source: Option<(u64, usize)>,
    /// It does not come.
    lost: bool,
    /// What is given back when it has left: slots or beats, and whether that is notified.
    back: Option<(u16, bool)>,
}

/// What a retired packet is to do.
#[derive(Clone, Debug)]
struct Act {
    notify: Option<Told>,
    completion: bool,
    code: u8,
    tag: u8,
    address: u64,
    /// Not before.
    due: Duration,
}

#[derive(Clone, Debug)]
enum Told {
    Word(u64),
    Queue(u8, u32),
}

#[derive(Debug, Default)]
struct Out {
    waiting: VecDeque<Packet>,
    next: u16,
    acked: u16,
    open: bool,
    session: u8,
    ended: u8,
    refusals: u32,
    /// Refusals that are in flight.
    pending: u32,
    slots_back: u16,
    beats_back: u16,
    probing: bool,
    failed: bool,
    /// When the last one that was granted has left.
    leaves: Duration,
    beats_left: usize,
}

#[derive(Debug, Default)]
struct In {
    session: Option<u8>,
    next: u16,
    done: BTreeMap<u16, Act>,
    failed: bool,
    unacked: u16,
    count: u16,
}

#[derive(Debug)]
struct Host {
    memory: Vec<u8>,
    registers: BTreeMap<u32, u32>,
    looks: u32,
    slots: Vec<[u64; 2]>,
    released: [usize; HOSTS],
    /// With whether it is still unread.
    messages: Vec<Option<(u64, bool)>>,
    taken: [usize; HOSTS],
    regions: [[u64; 4]; 64],
    queues: [[u64; 2]; 256],
    tails: [u64; 256],
    rounds: [(bool, u16); 256],
    addresses: [u64; 32],
    out: [Out; HOSTS],
    from: [In; HOSTS],
    records: u16,
    more: u16,
}

#[derive(Debug)]
enum Event {
    Leave(Packet),
    Arrive(Packet),
    Retire { host: usize, from: usize },
    Probed { host: usize, from: usize },
    Probe { host: usize, to: usize },
    Ack { host: usize, of: usize, number: u16, session: u8 },
    Refused { host: usize, by: usize, code: u8, tag: u8, session: u8 },
}

/// Counts that tests look at.
#[derive(Clone, Copy, Debug, Default)]
pub struct Statistics {
    pub packets: u64,
    pub lost: u64,
    pub refused: u64,
    pub polls: u64,
    /// Starts that released more than there was room for.
    pub overruns: u64,
}

struct World {
    now: Duration,
    hosts: Vec<Host>,
    events: BTreeMap<(Duration, u64), Event>,
    serial: u64,
    random: u64,
    faults: Faults,
    /// When the programs that wait want to be asked again.
    wakes: BTreeSet<Duration>,
    statistics: Statistics,
}

/// Address of host `host`'s memory, each host's another one.
pub fn base(host: usize) -> u64 {
    0x1000_0000 * (host as u64 + 1)
}

/// All hosts.
#[derive(Clone)]
pub struct Network(Rc<RefCell<World>>);

/// One host's view: its BAR and its memory.
#[derive(Clone)]
pub struct Machine {
    world: Rc<RefCell<World>>,
    host: usize,
}

impl Network {
    pub fn new(hosts: usize, memory: usize, seed: u64, faults: Faults) -> Self {
        let hosts = (0..hosts).map(|_| Host::new(memory)).collect();
        Self(Rc::new(RefCell::new(World {
            now: Duration::ZERO,
            hosts,
            events: BTreeMap::new(),
            serial: 0,
            random: seed,
            faults,
            wakes: BTreeSet::new(),
            statistics: Statistics::default(),
        })))
    }

    pub fn machine(&self, host: usize) -> Machine {
        Machine { world: self.0.clone(), host }
    }

    pub fn statistics(&self) -> Statistics {
        self.0.borrow().statistics
    }

    /// Records that a full ring of this host had no room for and that no later record has told yet.
    pub fn untold(&self, host: usize) -> u32 {
        self.0.borrow().hosts[host].more.into()
    }

    /// From now on so many packets of 1000 are lost.
    pub fn set_lost(&self, lost: u64) {
        self.0.borrow_mut().faults.lost = lost;
    }

    /// The interface forgets its flows and tables.
    pub fn reset(&self, host: usize) {
        self.0.borrow_mut().hosts[host].reset();
    }

    /// Runs all programs to their end, in turn, and gives what each of them gives.
    pub fn run<'a, T>(&self, programs: Vec<Pin<Box<dyn Future<Output = T> + 'a>>>) -> Vec<T> {
        let mut programs: Vec<_> = programs.into_iter().map(Some).collect();
        let mut results: Vec<Option<T>> = programs.iter().map(|_| None).collect();
        let mut context = Context::from_waker(Waker::noop());
        loop {
            self.0.borrow_mut().wakes.clear();
            for (program, result) in programs.iter_mut().zip(&mut results) {
                let Some(future) = program else { continue };
                self.0.borrow_mut().statistics.polls += 1;
                if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
                    (*program, *result) = (None, Some(value));
                }
            }
            if programs.iter().all(Option::is_none) {
                return results.into_iter().flatten().collect();
            }
            assert!(self.0.borrow_mut().advance(), "every program waits, and nothing is to come");
        }
    }
}

/// Ready when `done` is, asked again at `until` and whenever something has happened.
async fn wait<T>(
    world: &Rc<RefCell<World>>,
    until: Duration,
    mut done: impl FnMut(&World) -> Option<T>,
) -> T {
    std::future::poll_fn(|_| {
        let mut world = world.borrow_mut();
        match done(&world) {
            Some(value) => Poll::Ready(value),
            None => {
                world.wakes.insert(until);
                Poll::Pending
            }
        }
    })
    .await
}

impl Machine {
    pub async fn sleep(&self, time: Duration) {
        let until = self.world.borrow().now.saturating_add(time);
        wait(&self.world, until, |world| (world.now >= until).then_some(())).await;
    }

    /// What lies in its memory, without time.
    pub fn peek(&self, at: usize, bytes: usize) -> Vec<u8> {
        self.world.borrow().hosts[self.host].memory[at..at + bytes].to_vec()
    }

    pub fn poke(&self, at: usize, data: &[u8]) {
        self.world.borrow_mut().hosts[self.host].memory[at..at + data.len()].copy_from_slice(data);
    }
}

impl Mmio for Machine {
    async fn read32(&mut self, at: u64) -> Result<u32, TransportError> {
        self.sleep(LOAD).await;
        let mut world = self.world.borrow_mut();
        let hosts = world.hosts.len() as u32;
        let host = &mut world.hosts[self.host];
        Ok(match at as u32 {
            regs::ID => 0x5244_4D41,
            regs::VERSION => 1,
            regs::LIMITS => hosts | 1 << 4,
            regs::STATE => {
                let enabled = host.registers.get(&regs::CONTROL).is_some_and(|word| word & 1 == 1);
                host.looks += 1;
                2 | u32::from(enabled && host.looks > 2)
            }
            other => host.registers.get(&other).copied().unwrap_or(0),
        })
    }

    async fn write32(&mut self, at: u64, value: u32) -> Result<(), TransportError> {
        self.sleep(STORE).await;
        let mut world = self.world.borrow_mut();
        let host = &mut world.hosts[self.host];
        host.registers.insert(at as u32, value);
        if at as u32 == regs::CONTROL {
            host.looks = 0;
            if value & 1 == 1 {
                host.enable();
            }
        }
        Ok(())
    }

    async fn write_combined(&mut self, at: u64, data: &[u8]) -> Result<(), TransportError> {
        assert!(at.is_multiple_of(8) && data.len().is_multiple_of(8) && !data.is_empty());
        // A burst is what lies in one line of 64 bytes.
        let mut at = at;
        let mut data = data;
        while !data.is_empty() {
            let bytes = (64 - at as usize % 64).min(data.len());
            let (line, rest) = data.split_at(bytes);
            self.sleep(STORE).await;
            self.world.borrow_mut().burst(self.host, at, line);
            (at, data) = (at + bytes as u64, rest);
        }
        Ok(())
    }
}

impl DmaMemory for Machine {
    fn bus_address(&self) -> u64 {
        base(self.host)
    }

    fn size(&self) -> usize {
        self.world.borrow().hosts[self.host].memory.len()
    }

    fn now(&self) -> Duration {
        self.world.borrow().now
    }

    async fn read(&mut self, at: usize, buffer: &mut [u8]) -> Result<(), TransportError> {
        buffer.copy_from_slice(&self.peek(at, buffer.len()));
        Ok(())
    }

    async fn write(&mut self, at: usize, data: &[u8]) -> Result<(), TransportError> {
        self.poke(at, data);
        Ok(())
    }

    async fn load64(&mut self, at: usize) -> Result<u64, TransportError> {
        // A program that asks repeatedly gets on, too.
        self.sleep(LOOK).await;
        Ok(self.world.borrow().hosts[self.host].word(at))
    }

    async fn poll64(
        &mut self,
        at: usize,
        seen: u64,
        until: Duration,
    ) -> Result<u64, TransportError> {
        let host = self.host;
        Ok(wait(&self.world, until, |world| {
            let word = world.hosts[host].word(at);
            (word != seen || world.now >= until).then_some(word)
        })
        .await)
    }
}

impl Host {
    fn new(memory: usize) -> Self {
        Self {
            memory: vec![0; memory],
            registers: BTreeMap::new(),
            looks: 0,
            slots: vec![[0; 2]; HOSTS * SLOTS],
            released: [0; HOSTS],
            messages: vec![None; HOSTS * MESSAGE_BEATS],
            taken: [0; HOSTS],
            regions: [[0; 4]; 64],
            queues: [[0; 2]; 256],
            tails: [0; 256],
            rounds: [(true, 0); 256],
            addresses: [0; 32],
            out: Default::default(),
            from: Default::default(),
            records: 0,
            more: 0,
        }
    }

    /// Queues, flows and counts are cleared; tables stay.
    fn enable(&mut self) {
        let session = (self.registers.get(&regs::HOST).copied().unwrap_or(0) >> 8) as u8;
        (self.out, self.from) = Default::default();
        for out in &mut self.out {
            out.session = session;
        }
        (self.released, self.taken) = ([0; HOSTS], [0; HOSTS]);
        self.messages.fill(None);
        (self.records, self.more) = (0, 0);
    }

    fn reset(&mut self) {
        let memory = std::mem::take(&mut self.memory);
        *self = Self { memory, ..Self::new(0) };
    }

    fn enabled(&self) -> bool {
        self.registers.get(&regs::CONTROL).is_some_and(|word| word & 1 == 1)
    }

    fn word(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.memory[at..at + 8].try_into().unwrap())
    }

    fn place(&self, base: u64, address: u64, bytes: usize) -> Option<usize> {
        let at = usize::try_from(address.checked_sub(base)?).ok()?;
        (at.checked_add(bytes)? <= self.memory.len()).then_some(at)
    }

    /// Whether a write is allowed, and which program its notification reaches.
    fn region(&self, packet: &Packet) -> Result<Option<u8>, u8> {
        let index = packet.key.map_or(packet.from, |key| (key & 0xFF) as usize);
        let Some([base, limit, rest, _]) = self.regions.get(index).copied() else {
            return Err(KEY);
        };
        let nonce = packet.key.is_none_or(|key| u64::from(key >> 8) == rest >> 32 & 0xFF_FFFF);
        if rest & 1 == 0 || rest >> (1 + packet.from) & 1 == 0 || !nonce {
            return Err(KEY);
        }
        let end = packet.address.checked_add(packet.data.len() as u64).ok_or(BOUNDS)?;
        if packet.address < base || end > limit {
            return Err(BOUNDS);
        }
        Ok((rest >> 9 & 1 == 1).then_some((rest >> 10) as u8))
    }

    /// A place in a queue: its address, the frame's, beats up to its end, phase and count.
    fn enqueue(
        &mut self,
        queue: u8,
        from: usize,
        bytes: usize,
        notification: bool,
    ) -> Result<(u64, Option<(bool, u16)>), u8> {
        let at = usize::from(queue);
        let [base, word] = self.queues[at];
        let (head, wrap) = (word & 0x1_FFFF, word >> 17 & 0x1_FFFF);
        let slot = [0, 8, 16, 32, 64][(word >> 34 & 7) as usize];
        if word >> 45 & 1 == 0 || word >> (37 + from) & 1 == 0 {
            return Err(QUEUE);
        }
        let beats = bytes as u64 / 8;
        if slot != 0 && !notification && beats >= slot {
            return Err(BOUNDS);
        }
        let need = if slot != 0 { slot } else { beats.max(1) };
        let used = (head + wrap - self.tails[at]) % wrap;
        if used + need >= wrap {
            return Err(FULL);
        }
        let address = base + 8 * head;
        let next = (head + need) % wrap;
        self.queues[at][1] = word & !0x1_FFFF | next;
        let (phase, count) = self.rounds[at];
        let count = count.wrapping_add(1);
        self.rounds[at] = (phase ^ (next <= head), count);
        Ok((address, (slot != 0).then_some((phase, count))))
    }
}

impl World {
    fn at(&mut self, time: Duration, event: Event) {
        self.serial += 1;
        self.events.insert((time, self.serial), event);
    }

    fn chance(&mut self, most: u64) -> u64 {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.random;
        x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (x ^ x >> 31) % most.max(1)
    }

    /// To the next time at which something happens or somebody wants to be asked; all that happens
    /// then. False when there is no such time.
    fn advance(&mut self) -> bool {
        let event = self.events.first_key_value().map(|((time, _), _)| *time);
        let wake = self.wakes.first().copied();
        let Some(next) = event.into_iter().chain(wake).min() else { return false };
        self.now = self.now.max(next);
        while let Some(entry) = self.events.first_entry()
            && entry.key().0 <= self.now
        {
            let event = entry.remove();
            self.happens(event);
        }
        true
    }

    fn burst(&mut self, host: usize, at: u64, line: &[u8]) {
        let mut started = None;
        for (index, bytes) in line.chunks(8).enumerate() {
            let at = at + 8 * index as u64;
            let beat = u64::from_le_bytes(bytes.try_into().unwrap());
            let here = &mut self.hosts[host];
            match at {
                REQUESTS..MESSAGES => {
                    let place = (at - REQUESTS) as usize / 16;
                    let half = at as usize / 8 % 2;
                    here.slots[place][half] = beat;
                    if half == 1 && beat >> 49 & 1 == 1 {
                        started = Some((place / SLOTS, place % SLOTS, beat >> 54 & 1 == 1));
                    }
                }
                MESSAGES..QUEUE_TABLE => {
                    let place = (at - MESSAGES) as usize / 8;
                    assert_eq!(here.messages[place], None, "a message over one that has not left");
                    here.messages[place] = Some((beat, true));
                }
                QUEUE_TABLE..TAILS => {
                    let place = (at - QUEUE_TABLE) as usize;
                    here.queues[place / 16][place / 8 % 2] = beat;
                    if !place.is_multiple_of(16) {
                        here.rounds[place / 16] = (true, 0);
                    }
                }
                TAILS..REGIONS => {
                    let place = (at - TAILS) as usize / 8;
                    if place < 256 {
                        here.tails[place] = beat;
                    }
                }
                REGIONS..ADDRESSES => {
                    let place = (at - REGIONS) as usize / 8;
                    here.regions[place / 4][place % 4] = beat;
                }
                _ => {
                    let place = (at - ADDRESSES) as usize / 8;
                    here.addresses[place] = beat;
                    if (16..24).contains(&place) {
                        here.from[place - 16].count = 0;
                    }
                }
            }
        }
        if !self.hosts[host].enabled() {
            return;
        }
        if let Some((to, slot, two)) = started {
            self.start(host, to, slot, two);
        }
        for to in 0..self.hosts.len() {
            self.messages(host, to);
        }
    }

    /// All slots up to this one go.
    fn start(&mut self, host: usize, to: usize, slot: usize, two: bool) {
        let first = self.hosts[host].released[to];
        let count = (slot + SLOTS - first % SLOTS) % SLOTS + 1 + usize::from(two);
        let back = usize::from(self.hosts[host].out[to].slots_back);
        let held = (first & 0xFFFF).wrapping_sub(back) & 0xFFFF;
        if count + held > SLOTS {
            self.statistics.overruns += 1;
            return;
        }
        let mut at = first;
        while at < first + count {
            let [source, second] = self.hosts[host].slots[to * SLOTS + at % SLOTS];
            let extended = second >> 54 & 1 == 1;
            let extra = extended.then(|| self.hosts[host].slots[to * SLOTS + (at + 1) % SLOTS]);
            self.descriptor(host, to, at % SLOTS, source, second, extra);
            at += if extended { 2 } else { 1 };
        }
        self.hosts[host].released[to] = at;
        self.pump(host, to);
    }

    fn descriptor(
        &mut self,
        host: usize,
        to: usize,
        slot: usize,
        source: u64,
        second: u64,
        extra: Option<[u64; 2]>,
    ) {
        let bytes = (second >> 32 & 0x3FF) as usize * 8;
        assert!((8..=4096).contains(&bytes) && source.is_multiple_of(8) && second >> 55 == 0);
        assert_eq!((second >> 42 & 0x7F) as usize, to, "the queue's host");
        let low = second & 0xFFFF_FFFF;
        let address = extra.map_or(low, |[first, _]| first << 32 | low);
        let place = self.hosts[host].place(base(host), source, bytes);
        let parts = bytes.div_ceil(PACKET);
        for part in 0..parts {
            let at = part * PACKET;
            let length = (bytes - at).min(PACKET);
            let last = part + 1 == parts;
            if place.is_none() && part == 0 {
                self.record(host, READ_FAILED, slot as u8, to, false, source);
            }
            let back = last.then_some((1 + u16::from(extra.is_some()), second >> 50 & 1 == 1));
            let packet = Packet {
                from: host,
                to,
                number: 0,
                session: 0,
                queue: None,
                address: address.wrapping_add(at as u64),
                key: extra.map(|[first, _]| (first >> 32) as u32),
                immediate: extra.map_or(0, |[_, second]| second as u32),
                notify: last && second >> 51 & 1 == 1,
                completion: last && second >> 53 & 1 == 1,
                tag: slot as u8,
                data: vec![],
                source: Some((source.wrapping_add(at as u64), length)),
                lost: place.is_none(),
                back,
            };
            self.hosts[host].out[to].waiting.push_back(packet);
        }
    }

    /// Messages whose last beat is there.
    fn messages(&mut self, host: usize, to: usize) {
        loop {
            let here = &mut self.hosts[host];
            let first = here.taken[to];
            let beat = |at: usize| to * MESSAGE_BEATS + at % MESSAGE_BEATS;
            let fresh = |at: usize| here.messages[beat(at)].filter(|(_, fresh)| *fresh);
            let Some((header, _)) = fresh(first) else { break };
            let beats = (header & 0x7F) as usize;
            assert!((1..=64).contains(&beats) && header >> 20 & 0xFFF == 0, "{header:#x}");
            let body: Option<Vec<u64>> =
                (1..=beats).map(|index| fresh(first + index).map(|(beat, _)| beat)).collect();
            let Some(body) = body else { break };
            for index in 0..=beats {
                here.messages[beat(first + index)] = Some((0, false));
            }
            here.taken[to] = first + 1 + beats;
            let packet = Packet {
                from: host,
                to,
                number: 0,
                session: 0,
                queue: Some((header >> 8) as u8),
                address: 0,
                key: None,
                immediate: (header >> 32) as u32,
                notify: header >> 17 & 1 == 1,
                completion: header >> 19 & 1 == 1,
                tag: 0x80,
                data: body.iter().flat_map(|beat| beat.to_le_bytes()).collect(),
                source: None,
                lost: false,
                back: Some((1 + beats as u16, header >> 16 & 1 == 1)),
            };
            here.out[to].waiting.push_back(packet);
        }
        self.pump(host, to);
    }

    /// Opens the flow, and sends what its window lets go.
    fn pump(&mut self, host: usize, to: usize) {
        let out = &mut self.hosts[host].out[to];
        // A flow that failed is opened anew at once.
        if out.waiting.is_empty() && !out.failed {
            return;
        }
        if !out.open {
            let (next, session) = (out.next, out.session);
            if !self.hosts[to].enabled() {
                if !std::mem::replace(&mut self.hosts[host].out[to].probing, true) {
                    self.at(self.now + 10 * HOP, Event::Probe { host, to });
                }
                return;
            }
            let out = &mut self.hosts[host].out[to];
            (out.open, out.failed, out.acked) = (true, false, next);
            let from = &mut self.hosts[to].from[host];
            let count = from.count;
            *from = In { session: Some(session), next, count, ..In::default() };
            self.told_done(host, to);
        }
        loop {
            let out = &mut self.hosts[host].out[to];
            if out.next.wrapping_sub(out.acked) >= WINDOW {
                break;
            }
            let Some(mut packet) = out.waiting.pop_front() else { break };
            (packet.number, packet.session) = (out.next, out.session);
            out.next = out.next.wrapping_add(1);
            let bytes = packet.source.map_or(packet.data.len(), |(_, bytes)| bytes);
            out.leaves = out.leaves.max(self.now) + Duration::from_nanos(20 + 2 * bytes as u64);
            let leaves = out.leaves;
            self.at(leaves, Event::Leave(packet));
        }
        let out = &mut self.hosts[host].out[to];
        if out.next != out.acked && !std::mem::replace(&mut out.probing, true) {
            self.at(self.now + 20 * HOP, Event::Probe { host, to });
        }
    }

    /// Its data are read, and its slots or beats are free.
    fn leaves(&mut self, mut packet: Packet) {
        let (host, to) = (packet.from, packet.to);
        let here = &mut self.hosts[host];
        if let Some((source, bytes)) = packet.source {
            packet.data = match here.place(base(host), source, bytes) {
                Some(place) => here.memory[place..place + bytes].to_vec(),
                None => vec![0; bytes],
            };
        }
        if let Some((count, told)) = packet.back.take() {
            let message = packet.queue.is_some();
            let out = &mut here.out[to];
            let whole = if message { &mut out.beats_back } else { &mut out.slots_back };
            *whole = whole.wrapping_add(count);
            let word = u64::from(*whole);
            if message {
                for index in out.beats_left..out.beats_left + usize::from(count) {
                    here.messages[to * MESSAGE_BEATS + index % MESSAGE_BEATS] = None;
                }
                out.beats_left += usize::from(count);
            }
            if told {
                let at = here.addresses[if message { 8 + to } else { to }];
                self.store(host, at, &word.to_le_bytes());
            }
        }
        self.statistics.packets += 1;
        if self.chance(1000) < self.faults.lost {
            packet.lost = true;
        }
        let path = self.path();
        self.at(self.now + path, Event::Arrive(packet));
    }

    fn path(&mut self) -> Duration {
        let spread = self.faults.spread.as_nanos() as u64;
        HOP + Duration::from_nanos(self.chance(spread + 1))
    }

    fn told_done(&mut self, host: usize, to: usize) {
        let out = &self.hosts[host].out[to];
        let word = u64::from(out.refusals) << 32
            | u64::from(out.session) << 24
            | u64::from(out.ended % 64) << 18
            | u64::from(out.pending != 0) << 17
            | u64::from(out.open) << 16
            | u64::from(out.acked);
        let at = self.hosts[host].addresses[24 + to];
        self.store(host, at, &word.to_le_bytes());
    }

    /// False when the memory refuses.
    fn store(&mut self, host: usize, address: u64, data: &[u8]) -> bool {
        if address == 0 {
            return true;
        }
        let end = address + data.len() as u64;
        if self
            .faults
            .dead
            .iter()
            .any(|(of, dead)| *of == host && address < dead.end && end > dead.start)
        {
            return false;
        }
        let Some(place) = self.hosts[host].place(base(host), address, data.len()) else {
            return false;
        };
        self.hosts[host].memory[place..place + data.len()].copy_from_slice(data);
        true
    }

    fn record(&mut self, host: usize, code: u8, tag: u8, other: usize, ours: bool, address: u64) {
        let here = &mut self.hosts[host];
        let register = |register| here.registers.get(&register).copied().unwrap_or(0);
        let ring =
            u64::from(register(regs::ERR_BASE_LO)) | u64::from(register(regs::ERR_BASE_HI)) << 32;
        let (size, tail) = (register(regs::ERR_SIZE), register(regs::ERR_TAIL) as u16);
        if ring == 0 || here.records.wrapping_sub(tail) >> size != 0 {
            here.more = here.more.saturating_add(1).min(4095);
            return;
        }
        let at = ring + 16 * (u64::from(here.records) & ((1 << size) - 1));
        let phase = here.records >> size & 1 == 0;
        let first = u64::from(code)
            | u64::from(tag) << 8
            | (other as u64) << 16
            | u64::from(ours) << 23
            | u64::from(here.more) << 24
            | u64::from(phase) << 63;
        here.records = here.records.wrapping_add(1);
        here.more = 0;
        let bytes: Vec<u8> = [first, address].iter().flat_map(|beat| beat.to_le_bytes()).collect();
        self.store(host, at, &bytes);
    }

    fn happens(&mut self, event: Event) {
        match event {
            Event::Leave(packet) => {
                // What a reset has forgotten leaves no more.
                let (host, to) = (packet.from, packet.to);
                if self.hosts[host].enabled() && self.hosts[host].out[to].next != 0 {
                    self.leaves(packet);
                }
            }
            Event::Arrive(packet) => self.arrives(packet),
            Event::Retire { host, from } => self.retire(host, from),
            Event::Probed { host, from } => {
                self.retire(host, from);
                self.acknowledge(host, from);
            }
            Event::Probe { host, to } => {
                let out = &mut self.hosts[host].out[to];
                out.probing = false;
                let (open, next, acked, session) = (out.open, out.next, out.acked, out.session);
                if !open {
                    self.pump(host, to);
                } else if next != acked {
                    if self.hosts[to].from[host].session == Some(session) {
                        self.at(self.now + HOP, Event::Probed { host: to, from: host });
                    } else {
                        self.refuse(to, host, SESSION, 0, session);
                    }
                    self.hosts[host].out[to].probing = true;
                    self.at(self.now + 20 * HOP, Event::Probe { host, to });
                }
            }
            Event::Ack { host, of, number, session } => {
                let out = &mut self.hosts[host].out[of];
                let step = number.wrapping_sub(out.acked);
                if out.session == session && out.open && step <= out.next.wrapping_sub(out.acked) {
                    out.acked = number;
                    self.told_done(host, of);
                    self.pump(host, of);
                }
            }
            Event::Refused { host, by, code, tag, session } => {
                let out = &mut self.hosts[host].out[by];
                if code != SESSION {
                    out.pending = out.pending.saturating_sub(1);
                }
                if out.session != session || !out.open {
                    return;
                }
                if code == SESSION {
                    (out.open, out.failed) = (false, true);
                    out.session = session.wrapping_add(1);
                    out.ended = out.ended.wrapping_add(1);
                    self.told_done(host, by);
                } else {
                    out.refusals += 1;
                    self.told_done(host, by);
                }
                self.record(host, code, tag, by, false, 0);
                self.pump(host, by);
            }
        }
    }

    fn refuse(&mut self, host: usize, to: usize, code: u8, tag: u8, session: u8) {
        let path = self.path();
        if code != SESSION {
            self.hosts[to].out[host].pending += 1;
        }
        self.at(self.now + path, Event::Refused { host: to, by: host, code, tag, session });
    }

    fn arrives(&mut self, packet: Packet) {
        let (host, from) = (packet.to, packet.from);
        if self.hosts[host].from[from].session != Some(packet.session) {
            self.refuse(host, from, SESSION, packet.tag, packet.session);
            return;
        }
        if packet.lost {
            // Its number is missed when its time has passed.
            self.statistics.lost += 1;
            let due = self.now + 10 * HOP;
            let act = Act { notify: None, completion: false, code: LOST, tag: 0, address: 0, due };
            self.hosts[host].from[from].done.insert(packet.number, act);
            self.at(due, Event::Retire { host, from });
            return;
        }
        let mut act = Act {
            notify: None,
            completion: packet.completion,
            code: 0,
            tag: packet.tag,
            address: packet.address,
            due: self.now,
        };
        let bytes = packet.data.len();
        let beat = packet.address.wrapping_add(bytes as u64 - 8);
        let told = match packet.queue {
            None => self.hosts[host].region(&packet).and_then(|queue| {
                if self.store(host, packet.address, &packet.data) { Ok(queue) } else { Err(WRITE) }
            }),
            Some(queue) => self.enqueue(host, &packet, queue).map(|()| None),
        };
        match told {
            Ok(queue) if packet.notify => {
                act.notify = Some(
                    queue.map_or(Told::Word(beat), |queue| Told::Queue(queue, packet.immediate)),
                );
            }
            Ok(_) => {}
            Err(code) => {
                act.code = code;
                // A refused transfer still tells that it has failed.
                act.notify = packet.notify.then_some(Told::Word(beat));
            }
        }
        self.hosts[host].from[from].done.insert(packet.number, act);
        self.retire(host, from);
    }

    fn enqueue(&mut self, host: usize, packet: &Packet, queue: u8) -> Result<(), u8> {
        let bytes = packet.data.len();
        let (address, slotted) = self.hosts[host].enqueue(queue, packet.from, bytes, false)?;
        let Some((phase, count)) = slotted else {
            let [base, word] = self.hosts[host].queues[usize::from(queue)];
            let end = base + 8 * (word >> 17 & 0x1_FFFF);
            let first = ((end - address) as usize).min(bytes);
            let (head, tail) = packet.data.split_at(first);
            let written = self.store(host, address, head) && self.store(host, base, tail);
            return if written { Ok(()) } else { Err(WRITE) };
        };
        let written = self.store(host, address + 8, &packet.data);
        let beats = if written { bytes as u64 / 8 } else { 0 };
        let frame = u64::from(phase)
            | beats << 1
            | (packet.from as u64) << 8
            | u64::from(count) << 16
            | u64::from(packet.immediate) << 32;
        self.store(host, address, &frame.to_le_bytes());
        if written { Ok(()) } else { Err(WRITE) }
    }

    /// In the order of the numbers, as far as they are known.
    fn retire(&mut self, host: usize, from: usize) {
        let now = self.now;
        let mut acknowledge = false;
        loop {
            let flow = &mut self.hosts[host].from[from];
            let Some(session) = flow.session else { return };
            let number = flow.next;
            if flow.done.get(&number).is_none_or(|act| act.due > now) {
                break;
            }
            let Some(act) = flow.done.remove(&number) else { break };
            flow.next = number.wrapping_add(1);
            flow.unacked += 1;
            flow.failed |= act.code != 0;
            acknowledge |= act.completion || flow.unacked >= WINDOW / 4;
            if act.code != 0 {
                self.statistics.refused += 1;
                self.record(host, act.code, act.tag, from, true, act.address);
                self.refuse(host, from, act.code, act.tag, session);
            }
            if let Some(told) = act.notify {
                self.notify(host, from, told, act.tag, session);
            }
        }
        if acknowledge {
            self.acknowledge(host, from);
        }
    }

    fn acknowledge(&mut self, host: usize, from: usize) {
        let flow = &mut self.hosts[host].from[from];
        let Some(session) = flow.session else { return };
        let number = flow.next;
        flow.unacked = 0;
        let path = self.path();
        self.at(self.now + path, Event::Ack { host: from, of: host, number, session });
    }

    fn notify(&mut self, host: usize, from: usize, told: Told, tag: u8, session: u8) {
        let failed = std::mem::take(&mut self.hosts[host].from[from].failed);
        match told {
            Told::Word(address) => {
                let at = self.hosts[host].addresses[16 + from];
                let flow = &mut self.hosts[host].from[from];
                flow.count = flow.count.wrapping_add(1) & 0x7FFF;
                let word = u64::from(failed) << 63
                    | u64::from(flow.count) << 48
                    | address & 0xFFFF_FFFF_FFFF;
                self.store(host, at, &word.to_le_bytes());
            }
            Told::Queue(queue, immediate) => match self.hosts[host].enqueue(queue, from, 0, true) {
                Err(code) => {
                    self.record(host, code, tag, from, true, 0);
                    self.refuse(host, from, code, tag, session);
                }
                Ok((address, slotted)) => {
                    let (phase, count) = slotted.unwrap_or((false, 0));
                    let frame = u64::from(phase)
                        | u64::from(failed) << 1
                        | (from as u64) << 8
                        | 1 << 15
                        | u64::from(count) << 16
                        | u64::from(immediate) << 32;
                    self.store(host, address, &frame.to_le_bytes());
                }
            },
        }
    }
}
