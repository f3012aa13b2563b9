// SPDX-License-Identifier: Apache-2.0
//! Random programs of all hosts: writes, messages and reads to all others, and whole memories compared byte for byte.
//!
//! Each host writes into an area of its own in every other's memory, with and without a key, by descriptors one by
//! one, in clusters and long ones, and inline; places between them are guards. Between the writes are messages to a queue
//! that is sometimes full. After each round it waits at a fence to each host and compares its area there at once; in
//! some it reads parts of its areas back. A round that a restart has cut is written again.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use isthmus_host::rdma::{
    Descriptor, EndpointConfig, HostId, Inbox, InlineWrite, Key, Layout, MAX_INLINE, MAX_TRANSFER,
    Message, Options, Posting, QueueEntry, RdmaError, Readable, Reader, ReaderConfig, Remote,
    Ticket, serve_reads,
};
use isthmus_road::rdma::{Machine, Network};
use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::RandomStream;
use serde_json::{Value, json};

use crate::Settings;
use crate::common::{
    Failure, Interface, MEMORY, SOURCE, TARGET, TARGET_BYTES, Task, keyed, open, write,
};
use crate::mail::{Mail, Since};

const AREA: usize = TARGET_BYTES / 8;
const LONGEST: usize = 20_000;
/// Slots of a request queue: a keyed write takes two.
const CLUSTER: usize = 40;
const RESET_US: u64 = 60;
/// Tries of a round, or of a read, that is cut again and again.
const TRIES: usize = 20;
/// While its own program has ended, a host waits at fences this often.
const SETTLE_US: u64 = 500;

/// Requests of readers, the answers to this host's reads, and messages.
const REQUESTS: (u8, usize) = (3, 0x8000);
const ANSWERS: (u8, usize) = (4, 0xA000);
const INBOX: (u8, usize) = (5, 0x1_0000);
const RING: usize = 0x1000;
/// At most, and usually.
const INBOX_SLOTS: u64 = 40;
const READER_REGIONS: std::ops::Range<u8> = 16..32;
const READ_KEY: Key = Key::new(0, 0x5EED);
const READS: usize = 3;
/// Where reads go, with a guard on either side.
const PLACE: usize = 0x30_0000;
const PLACE_BYTES: usize = LONGEST + 16;
const GUARD: u8 = 0xEE;

/// What is sent in one call.
enum Call {
    Put(Descriptor),
    Cluster(Vec<Descriptor>),
    Long(Descriptor),
    Inline(Descriptor, Vec<u8>),
    Messages(Vec<Vec<u8>>),
}

impl Call {
    /// Whether it takes the message queue.
    fn written(&self) -> bool {
        matches!(self, Self::Inline(..) | Self::Messages(_))
    }
}

#[derive(Default)]
struct Counts {
    transfers: u64,
    keyed: u64,
    messages: u64,
    reads: u64,
    bytes: u64,
    fences: u64,
    wrong: usize,
    again: u64,
    restarts: u64,
    reopened: u64,
}

/// What a host is opened with, and opens again after a restart.
struct Open {
    endpoint: Interface,
    requests: Inbox,
    inbox: Inbox,
    reader: Reader,
}

/// What the hosts share: pictures of their targets, and their messages.
struct Known {
    images: Vec<Vec<u8>>,
    mail: Mail,
    /// Notifications of `[source][destination]`.
    notified: Vec<Vec<u16>>,
}

struct Host {
    network: Rc<Network>,
    number: HostId,
    config: EndpointConfig,
    own: Machine,
    all: Vec<Machine>,
    open: Open,
    known: Rc<RefCell<Known>>,
    random: RandomStream,
    keyed_only: bool,
    /// Of its message queue.
    slots: usize,
    /// A queue gave nothing back: only a new start helps.
    stuck: bool,
    counts: Counts,
}

fn slot_bytes(host: HostId) -> usize {
    64 << (host % 4)
}

async fn start(
    own: &Machine,
    config: EndpointConfig,
    slots: usize,
    nonce: u32,
) -> Result<Open, RdmaError> {
    let mut endpoint = open(own, config).await?;
    let queue = |(_, at): (u8, usize), bytes: usize, slot| QueueEntry {
        base: own.address(at),
        bytes: bytes as u64,
        layout: Layout::Slots(slot),
        sources: 0xFF,
    };
    let requests = endpoint.open_queue(REQUESTS.0, &queue(REQUESTS, RING, 64)).await?;
    let slot = slot_bytes(config.host);
    let inbox = endpoint.open_queue(INBOX.0, &queue(INBOX, slots * slot, slot)).await?;
    let reader = ReaderConfig {
        queue: ANSWERS.0,
        ring: ANSWERS.1..ANSWERS.1 + RING,
        regions: READER_REGIONS,
        nonce,
        timeout: config.timeout,
    };
    let reader = Reader::open(&mut endpoint, reader).await?;
    Ok(Open { endpoint, requests, inbox, reader })
}

impl Host {
    fn below(&mut self, bound: usize) -> usize {
        self.random.below(bound as u64) as usize
    }

    fn bytes(&mut self, bytes: usize) -> Vec<u8> {
        (0..bytes / 8).flat_map(|_| self.random.bits().to_le_bytes()).collect()
    }

    /// New bytes in this host's memory at `from`, and in the picture of `peer`'s at `to`.
    fn transfer(
        &mut self,
        peer: HostId,
        from: usize,
        to: usize,
        bytes: usize,
    ) -> (Descriptor, Vec<u8>) {
        let data = self.bytes(bytes);
        self.own.poke(from, &data);
        let image = &mut self.known.borrow_mut().images[usize::from(peer)];
        image[to - TARGET..][..bytes].copy_from_slice(&data);
        let notify = self.random.below(4) == 0;
        let options = Options { notify, ..Options::default() };
        let plain = Descriptor { options, ..write(&self.own, peer, from, to, bytes) };
        self.counts.transfers += 1;
        self.counts.bytes += bytes as u64;
        if self.keyed_only || self.random.below(2) == 0 {
            self.counts.keyed += 1;
            return (keyed(plain), data);
        }
        (plain, data)
    }

    fn messages(&mut self, peer: HostId) -> Vec<Vec<u8>> {
        let most = slot_bytes(peer) / 8 - 1;
        let mut list = Vec::new();
        for _ in 0..1 + self.below(4) {
            let bytes = 8 * (1 + self.below(most));
            list.push(self.bytes(bytes));
        }
        self.counts.transfers += list.len() as u64;
        self.counts.messages += list.len() as u64;
        list
    }

    /// What it sends to a host in this round: places do not overlap.
    fn calls(&mut self, peer: HostId, from: &mut usize) -> Vec<Call> {
        let end = TARGET + AREA * (usize::from(self.number) + 1);
        let mut to = end - AREA + 8 * self.below(64);
        let mut calls = Vec::new();
        for _ in 0..1 + self.below(6) {
            let kind = self.below(if self.keyed_only { 5 } else { 7 });
            // A key takes the place of 8 bytes of an inline write.
            let most = [MAX_TRANSFER, 512, LONGEST, MAX_INLINE - 8, 64, 0, 0][kind];
            let mut one = |host: &mut Self| {
                let bytes = 8 * (1 + host.below(most / 8));
                if to + bytes > end {
                    return None;
                }
                let made = host.transfer(peer, *from, to, bytes);
                *from += bytes;
                to += bytes + 8 * host.below(4);
                Some(made)
            };
            calls.extend(match kind {
                1 => {
                    let count = 1 + self.below(CLUSTER);
                    let cluster: Vec<_> =
                        (0..count).map_while(|_| one(self)).map(|made| made.0).collect();
                    (!cluster.is_empty()).then_some(Call::Cluster(cluster))
                }
                2 => one(self).map(|made| Call::Long(made.0)),
                3 | 4 => one(self).map(|(put, data)| Call::Inline(put, data)),
                5 | 6 => Some(Call::Messages(self.messages(peer))),
                _ => one(self).map(|made| Call::Put(made.0)),
            });
        }
        calls
    }

    async fn post(&mut self, peer: HostId, calls: &[Call], since: Since) -> Result<(), RdmaError> {
        // The last of each queue asks for an answer at once.
        let last = |written: bool| calls.iter().rposition(|call| call.written() == written);
        let asks = [last(false), last(true)];
        let known = Rc::clone(&self.known);
        let notified = |count: u16| {
            let of = &mut known.borrow_mut().notified[usize::from(self.number)];
            of[usize::from(peer)] = of[usize::from(peer)].wrapping_add(count);
        };
        for (at, call) in calls.iter().enumerate() {
            let completion = asks.contains(&Some(at));
            let ask = |put: &Descriptor| Options { completion, ..put.options };
            let endpoint = &mut self.open.endpoint;
            match call {
                Call::Put(put) => {
                    notified(put.options.notify.into());
                    endpoint.put(&Descriptor { options: ask(put), ..*put }).await?;
                }
                Call::Long(put) => {
                    notified(put.options.notify.into());
                    endpoint.put_long(&Descriptor { options: ask(put), ..*put }).await?;
                }
                Call::Cluster(cluster) => {
                    notified(cluster.iter().filter(|put| put.options.notify).count() as u16);
                    let mut cluster = cluster.clone();
                    if let Some(put) = cluster.last_mut() {
                        put.options = ask(put);
                    }
                    endpoint.post(peer, &cluster, Posting::default()).await?;
                }
                Call::Inline(put, body) => {
                    notified(put.options.notify.into());
                    let (target, options, key) = (put.target, ask(put), put.key);
                    endpoint
                        .put_inline(peer, &[InlineWrite { body, target, options, key }])
                        .await?;
                }
                Call::Messages(bodies) => {
                    let number = |body: &Vec<u8>| {
                        known.borrow_mut().mail.send(since, self.number, peer, body)
                    };
                    let numbers: Vec<u32> = bodies.iter().map(number).collect();
                    let message = |(index, body): (usize, _)| Message {
                        body,
                        options: Options {
                            completion: completion && index + 1 == bodies.len(),
                            ..Options::default()
                        },
                        immediate: numbers[index],
                    };
                    let list: Vec<_> =
                        bodies.iter().map(Vec::as_slice).enumerate().map(message).collect();
                    endpoint.send_list(peer, INBOX.0, &list).await?;
                }
            }
        }
        Ok(())
    }

    /// Answers readers and takes messages.
    async fn attend(&mut self) -> Result<(), Failure> {
        let base = self.own.address(TARGET);
        let (bytes, nonce) = (TARGET_BYTES as u64, READ_KEY.bits() >> 8);
        let readable = [Readable { base, bytes, sources: 0xFF, nonce }];
        let Open { endpoint, requests, inbox, .. } = &mut self.open;
        match serve_reads(endpoint, requests, &readable, Duration::ZERO).await {
            Ok(served) => self.counts.wrong += (served.refused + served.strange) as usize,
            Err(RdmaError::Stuck { .. }) => self.stuck = true,
            Err(other) => return Err(other.into()),
        }
        while let Some((frame, body)) = inbox.receive(endpoint).await? {
            self.known.borrow_mut().mail.take(self.number, &frame, &body);
        }
        Ok(())
    }

    /// Sends until a fence says that all is there.
    async fn round(&mut self) -> Result<(), Failure> {
        let own = self.number;
        let mut from = SOURCE;
        let mut due = Vec::new();
        for peer in (0..self.all.len() as HostId).filter(|peer| *peer != own) {
            if self.below(3) < 2 {
                due.push((peer, self.calls(peer, &mut from)));
            }
        }
        self.open.inbox.give_back_every(1 + self.random.below(8) as usize);
        for _ in 0..TRIES {
            let mut sent = Vec::new();
            for (peer, calls) in due {
                let since = self.known.borrow_mut().mail.begin(peer);
                match self.post(peer, &calls, since).await {
                    Err(RdmaError::Stuck { .. }) => self.stuck = true,
                    other => other?,
                }
                sent.push((peer, calls, since));
                self.attend().await?;
            }
            due = Vec::new();
            for (peer, calls, since) in sent {
                if !self.fence(peer, since).await? {
                    due.push((peer, calls));
                }
                self.attend().await?;
            }
            self.counts.again += due.len() as u64;
            let stuck = self.stuck;
            self.restart_if_stuck().await?;
            if due.is_empty() && !stuck {
                return Ok(());
            }
        }
        Err(format!("host {own}: a round is not done after {TRIES} tries").into())
    }

    /// Whether everything sent to a host is there, or was refused by its full queue.
    async fn fence(&mut self, peer: HostId, since: Since) -> Result<bool, Failure> {
        self.counts.fences += 1;
        match self.open.endpoint.fence(peer).await {
            Ok(refused) => {
                let quiet = self.known.borrow().mail.quiet(peer, since);
                if refused > 0 && !quiet {
                    return Ok(false);
                }
                self.known.borrow_mut().mail.end(peer, since, refused);
                self.compare(peer);
                Ok(true)
            }
            Err(RdmaError::Session { .. }) => Ok(false),
            Err(RdmaError::Fence { .. }) => {
                self.stuck = true;
                Ok(false)
            }
            Err(other) => Err(other.into()),
        }
    }

    /// Its whole area in a host's memory, guards and all.
    fn compare(&mut self, peer: HostId) {
        let at = AREA * usize::from(self.number);
        let found = self.all[usize::from(peer)].peek(TARGET + at, AREA).unwrap_or_default();
        let known = self.known.borrow();
        let expected = &known.images[usize::from(peer)][at..][..AREA];
        self.counts.wrong += found.iter().zip(expected).filter(|(a, b)| a != b).count();
    }

    /// Reads parts of its areas in others' memories, several at a time.
    async fn reads(&mut self) -> Result<(), Failure> {
        let own = self.number;
        let area = AREA * usize::from(own);
        let mut due: Vec<(HostId, usize, usize)> = (0..1 + self.below(READS))
            .map(|_| {
                let peer = self.below(self.all.len() - 1) as HostId;
                let bytes = 8 * (1 + self.below(LONGEST / 8));
                let at = area + 8 * self.below((AREA - bytes) / 8);
                (peer + HostId::from(peer >= own), at, bytes)
            })
            .collect();
        self.counts.transfers += due.len() as u64;
        self.counts.reads += due.len() as u64;
        for _ in 0..TRIES {
            let mut begun: Vec<(Ticket, usize, usize)> = Vec::new();
            for (index, &(host, at, bytes)) in due.iter().enumerate() {
                let place = PLACE + PLACE_BYTES * index;
                self.own.poke(place, &[GUARD; PLACE_BYTES]);
                let address = self.own.address(TARGET + at);
                let remote = Remote { host, queue: REQUESTS.0, address, bytes, key: READ_KEY };
                let Open { endpoint, reader, .. } = &mut self.open;
                match reader.begin(endpoint, &remote, place + 8).await {
                    Ok(ticket) => begun.push((ticket, index, place)),
                    Err(RdmaError::Stuck { .. }) => self.stuck = true,
                    Err(other) => return Err(other.into()),
                }
            }
            let mut right = vec![false; due.len()];
            while self.open.reader.in_flight() > 0 {
                self.attend().await?;
                let Open { endpoint, reader, .. } = &mut self.open;
                let Some(ended) = reader.ended(endpoint, Duration::from_micros(5)).await? else {
                    continue;
                };
                let Some(&(_, index, place)) = begun.iter().find(|one| one.0 == ended.ticket)
                else {
                    continue;
                };
                right[index] = ended.result.is_ok();
                if right[index] {
                    self.compare_read(due[index], place);
                }
            }
            let mut which = right.into_iter();
            due.retain(|_| !which.next().unwrap_or_default());
            self.counts.again += due.len() as u64;
            self.restart_if_stuck().await?;
            if due.is_empty() {
                return Ok(());
            }
        }
        Err(format!("host {own}: a read is not answered after {TRIES} tries").into())
    }

    /// A read's bytes, and the guards around them.
    fn compare_read(&mut self, (host, at, bytes): (HostId, usize, usize), place: usize) {
        let mut expected = vec![GUARD; PLACE_BYTES];
        let image = &self.known.borrow().images[usize::from(host)];
        expected[8..8 + bytes].copy_from_slice(&image[at..at + bytes]);
        let found = self.own.peek(place, PLACE_BYTES).unwrap_or_default();
        self.counts.wrong += found.iter().zip(&expected).filter(|(a, b)| a != b).count();
    }

    /// Its program starts again, with the same session number; or its interface is reset first.
    async fn restart(&mut self, reset: bool) -> Result<(), Failure> {
        // What a fence has called there until now is in memory.
        self.known.borrow_mut().mail.turn(self.number);
        self.attend().await?;
        if reset {
            self.network.reset(self.number, Picoseconds::from_ns(100));
            self.network.sim().sleep(Picoseconds::from_us(RESET_US)).await;
        }
        self.open = start(&self.own, self.config, self.slots, self.random.bits() as u32).await?;
        self.stuck = false;
        self.known.borrow_mut().mail.turn(self.number);
        Ok(())
    }

    /// A transfer that a reset cut in two: only a new start helps.
    async fn restart_if_stuck(&mut self) -> Result<(), Failure> {
        if self.stuck {
            self.counts.reopened += 1;
            self.restart(false).await?;
        }
        Ok(())
    }

    /// Its own program has ended; others may still send here, and read.
    async fn serve(&mut self, over: &dyn Fn() -> bool) -> Result<(), Failure> {
        let sim = self.network.sim();
        let mut due = sim.now();
        while !over() {
            self.attend().await?;
            if sim.now() >= due {
                due = sim.now() + Picoseconds::from_us(SETTLE_US);
                let own = self.number;
                for peer in (0..self.all.len() as HostId).filter(|peer| *peer != own) {
                    let since = self.known.borrow_mut().mail.begin(peer);
                    self.fence(peer, since).await?;
                }
                self.restart_if_stuck().await?;
            }
            sim.sleep(Picoseconds::from_us(2)).await;
        }
        self.attend().await
    }
}

pub fn run(scenario: &str, settings: &Settings) -> Result<Value, Failure> {
    let network = Rc::new(Network::build(scenario, MEMORY)?);
    let hosts = network.hosts();
    let (wanted, seed) = (settings.get("transfers", 1_000), settings.get("seed", 1));
    let (restarts, resets) = (settings.get("restarts", 0), settings.get("resets", 0));
    let timeout_us = settings.get("timeout_us", 20_000);
    let keyed_only = settings.get("keyed", 0) != 0;
    let slots = settings.get("slots", INBOX_SLOTS).clamp(2, INBOX_SLOTS) as usize;
    let all: Vec<Machine> = (0..hosts).map(|host| network.machine(host)).collect();
    let many = usize::from(hosts);
    let known = Rc::new(RefCell::new(Known {
        images: vec![vec![0; TARGET_BYTES]; many],
        mail: Mail::new(many),
        notified: vec![vec![0; many]; many],
    }));
    let opened = Rc::new(std::cell::Cell::new(0));
    let over = Rc::new(std::cell::Cell::new(0));
    let programs = (0..hosts).map(|number| {
        let (network, known, all) = (Rc::clone(&network), Rc::clone(&known), all.clone());
        let (opened, over) = (Rc::clone(&opened), Rc::clone(&over));
        let config = network.config(number, seed as u8, timeout_us);
        Box::pin(async move {
            let own = all[usize::from(number)].clone();
            let mut random = RandomStream::new(seed, &format!("programs:{number}"));
            let open = start(&own, config, slots, random.bits() as u32).await?;
            let counts = Counts::default();
            let mut host = Host {
                network,
                number,
                config,
                own,
                all,
                open,
                known,
                random,
                keyed_only,
                slots,
                stuck: false,
                counts,
            };
            let sim = host.network.sim();
            opened.set(opened.get() + 1);
            while opened.get() < hosts {
                sim.sleep(Picoseconds::from_us(1)).await;
            }
            let share = wanted / u64::from(hosts) + 1;
            let events = restarts + resets;
            while host.counts.transfers < share {
                let due = events * host.counts.transfers / share;
                if due > host.counts.restarts {
                    host.counts.restarts += 1;
                    host.restart(host.counts.restarts % events < resets).await?;
                }
                host.round().await?;
                if !keyed_only && host.below(3) == 0 {
                    host.reads().await?;
                }
            }
            over.set(over.get() + 1);
            host.serve(&|| over.get() == hosts).await?;
            // The last fences have ended: all is in memory.
            let places = if events == 0 { many } else { 0 };
            for source in 0..places {
                let word = host.open.endpoint.notification(source as HostId).await?;
                let sent = host.known.borrow().notified[source][usize::from(number)] % (1 << 15);
                // A message that a full queue has refused marks its flow's next notification.
                let failed = word.failed && host.known.borrow().mail.counts()[2] == 0;
                host.counts.wrong += usize::from(word.count != sent || failed);
            }
            Ok(host.counts)
        }) as Task<Counts>
    });
    let counts = network.run(programs.collect())?;
    let sum = |of: fn(&Counts) -> u64| counts.iter().map(of).sum::<u64>();
    let mut wrong: usize = counts.iter().map(|one| one.wrong).sum();
    let known = known.borrow();
    for (machine, image) in all.iter().zip(&known.images) {
        let found = machine.peek(TARGET, TARGET_BYTES).unwrap_or_default();
        wrong += found.iter().zip(image).filter(|(a, b)| a != b).count();
    }
    let [sent, taken, refused] = known.mail.counts();
    Ok(json!({
        "transfers": sum(|one| one.transfers),
        "keyed": sum(|one| one.keyed),
        "messages": sum(|one| one.messages),
        "reads": sum(|one| one.reads),
        "bytes": sum(|one| one.bytes),
        "fences": sum(|one| one.fences),
        "wrong": wrong,
        "wrong_messages": known.mail.wrong(),
        "messages_sent": sent,
        "messages_taken": taken,
        "messages_refused": refused,
        "again": sum(|one| one.again),
        "restarts": sum(|one| one.restarts),
        "reopened": sum(|one| one.reopened),
        "simulated_us": network.sim().now().0 / 1_000_000,
    }))
}
