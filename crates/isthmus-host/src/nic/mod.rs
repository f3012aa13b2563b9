// SPDX-License-Identifier: Apache-2.0
//! Driver of a UDP-to-memory interface: buffers in, events out, buffers back.
//!
//! A list is a circle of buffers in memory that the interface fills with the datagrams of one port, in the order of
//! their numbers. When a buffer is full the interface writes an [`Event`] into a queue in the same memory. The
//! program reads the buffer in place and gives it back by [`Nic::recycle`]; so nothing is copied, and the
//! interface never waits for the program. What finds no free buffer is dropped, and counted in [`Statistics`].
//!
//! Layout of the memory, formats and rules: `docs/explanation/cores/nanet.md`.

mod error;
mod event;
mod merge;
mod paging;
mod put;
mod release;
mod send;
mod statistics;

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::time::Duration;

pub use error::NicError;
pub use event::{EVENT_BYTES, Event};
pub use merge::{Fragments, Merging};
pub use paging::{PageSize, Paging, Window};
use put::Putting;
pub use put::{
    Arrival, Done, Got, MAX_GETS, MAX_INLINE_BYTES, MAX_MESSAGE_BYTES, MAX_PUT_BYTES, MAX_PUTS,
    Message, Place, PutMemory, PutRefusal, PutStatistics, Target,
};
pub use release::Released;
use send::Sending;
pub use send::{MAX_POSTS, MAX_SEND_BYTES, Peer, Refusal, SendMemory, Sent};
pub use statistics::{Statistics, Translations};

use crate::pcie::{DmaMemory, Mmio};
use crate::regs::nanet as regs;
use crate::transport::TransportError;

/// Identity register: 'NANE'.
const IDENTITY: u32 = 0x4E41_4E45;
/// The version of the register map and of events that this driver knows.
const MAP_VERSION: u32 = 3;
const ENABLE: u32 = 1;
const INTERRUPTS: u32 = 1 << 1;
const READY: u32 = 1 << 8;
/// Buffers, and datagrams in them, begin at multiples of this.
pub const PLACE_BYTES: usize = 64;
const QUEUE_LOG2: std::ops::RangeInclusive<u32> = 1..=15;
/// The region of all buffers, and the key that it is registered with: any but 0, which a register has at first.
const REGION: u32 = 0;
const REGION_CHECK: u32 = 0x4E4;
const REGION_KEY: u32 = REGION_CHECK << 4 | REGION;
/// The key of registered pages, for the targets of other nodes.
pub const KEY: u16 = REGION_KEY as u16;
const REGION_VALID: u32 = 1 << 24;
const POLICY_SHIFT: u32 = 24;
const ECHO_SHIFT: u32 = 26;
/// The interface ends begun transfers long before.
const READY_POLLS: u32 = 10_000;

/// What becomes of datagrams while no buffer of their list is free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// The new datagram is dropped, and counted as [`Statistics::no_buffer`].
    #[default]
    Newest,
    /// The buffer that was filled first is filled anew; its datagrams count as [`Statistics::overwritten`]. A program
    /// that reads in place asks [`Nic::is_intact`] afterwards.
    Oldest,
    /// Datagrams wait; what finds no room behind its port meanwhile counts as [`Statistics::overflow`]. Messages of a
    /// torus wait too, and all that comes behind them: nothing is lost, the network stops.
    Hold,
}

/// A circle of buffers for the datagrams of one port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List {
    /// Where each buffer begins in the memory, or with [`NicConfig::paging`] in the pages: a multiple of
    /// [`PLACE_BYTES`].
    pub offsets: Vec<usize>,
    /// The length of each.
    pub bytes: usize,
    /// Datagrams that make a buffer full; 0: as many as fit, and then `flush_cycles` must not be 0.
    pub datagrams: u8,
    /// Cycles of the interface from a buffer's first datagram to its event at the latest; 0: never.
    pub flush_cycles: u32,
    /// Without a free buffer.
    pub policy: Policy,
    /// Datagrams are also sent back to their sender, by an interface that was built for it.
    pub echo: bool,
    /// Where the buffers are, when they are in another memory: a GPU's, which the interface writes peer to peer. Events
    /// are in the program's own memory all the same. With [`NicConfig::paging`] its window says it.
    pub window: Option<Window>,
}

/// Configuration of an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NicConfig {
    /// One for each port that is to be used, from port 0 on; of a node of a torus, the one for messages of others.
    pub lists: Vec<List>,
    /// Where the event queue begins in the memory: a multiple of [`PLACE_BYTES`].
    pub queue_offset: usize,
    /// Least cycles of the interface between two interrupts; none: no interrupts.
    pub interrupt_gap_cycles: Option<u32>,
    /// For an interface that translates addresses: the pages that the buffers are in.
    pub paging: Option<Paging>,
    /// For an interface that sends: what, and where to.
    pub send: Option<SendMemory>,
    /// For a node of a torus: what may be put, and where to.
    pub put: Option<PutMemory>,
}

impl NicConfig {
    /// Events that the queue has room for: twice the buffers and posts, so that it is never full.
    #[must_use]
    pub fn queue_events(&self) -> usize {
        let buffers: usize = self.lists.iter().map(|list| list.offsets.len()).sum();
        let posts = if self.send.is_some() { MAX_POSTS as usize } else { 0 };
        let puts = self.put.as_ref();
        let puts = puts.map_or(0, |put| MAX_PUTS as usize + put.arrivals + put.gets as usize);
        (2 * (buffers + posts + puts)).next_power_of_two().max(2)
    }

    /// Bytes of the event queue.
    #[must_use]
    pub fn queue_bytes(&self) -> usize {
        self.queue_events() * EVENT_BYTES
    }
}

struct Open {
    buffers: u32,
    /// Buffers that events announced, and that were given back, modulo 2^16.
    announced: u16,
    returned: u16,
}

/// An open interface.
pub struct Nic<M, D> {
    bar: M,
    memory: D,
    lists: Vec<Open>,
    queue: usize,
    events: u32,
    /// Events taken so far, and those of them that the interface knows of.
    taken: u32,
    reported: u32,
    interrupts: bool,
    sending: Option<Sending>,
    putting: Option<Putting>,
    /// Events that a caller waiting for the other kind has passed.
    arrived: VecDeque<Event>,
    sent: VecDeque<Sent>,
    done: VecDeque<Done>,
    came: VecDeque<Arrival>,
    got: VecDeque<Got>,
    /// Bytes of the registered pages.
    registered: usize,
    /// Whether it merges the events of its ports.
    merges: bool,
    /// Whether it releases answers in the experiment's clock.
    releases: bool,
}

impl<M: Mmio, D: DmaMemory> Nic<M, D> {
    /// Sets an interface up and lets it run.
    ///
    /// # Errors
    /// When the board is another one, the configuration asks for what it lacks, or an access fails.
    pub async fn open(mut bar: M, mut memory: D, config: &NicConfig) -> Result<Self, NicError> {
        let identity = bar.read32(u64::from(regs::ID)).await?;
        let version = bar.read32(u64::from(regs::VERSION)).await?;
        if identity != IDENTITY || version & 0xff != MAP_VERSION {
            return Err(NicError::Board { identity, version: version & 0xff });
        }
        check(config, &memory, version)?;
        let events = config.queue_events() as u32;
        bar.write32(u64::from(regs::CONTROL), 0).await?;
        let mut polls = 0;
        while bar.read32(u64::from(regs::CONTROL)).await? & READY == 0 {
            polls += 1;
            if polls > READY_POLLS {
                return Err(NicError::Busy);
            }
        }
        memory.write(config.queue_offset, &vec![0; events as usize * EVENT_BYTES]).await?;
        let base = memory.bus_address();
        if let Some(paging) = &config.paging {
            memory.write(paging.table_offset, &paging.table(base)).await?;
            register(&mut bar, base, paging).await?;
        }
        let queue = base + config.queue_offset as u64;
        for (register, value) in [
            (regs::QUEUE_LO, queue as u32),
            (regs::QUEUE_HI, (queue >> 32) as u32),
            (regs::QUEUE_SIZE, events.trailing_zeros()),
            (regs::QUEUE_TAKEN, 0),
            (regs::IRQ_GAP, config.interrupt_gap_cycles.unwrap_or(0)),
        ] {
            bar.write32(u64::from(register), value).await?;
        }
        for (number, list) in config.lists.iter().enumerate() {
            // Places in the pages are the interface's own addresses.
            let base = match list.window {
                _ if config.paging.is_some() => 0,
                Some(window) => window.bus_address,
                None => base,
            };
            set_list(&mut bar, base, number as u32, list).await?;
        }
        let sending = match &config.send {
            Some(memory) => Some(Sending::open(&mut bar, base, memory).await?),
            None => None,
        };
        let putting = match &config.put {
            Some(memory) => Some(Putting::open(&mut bar, base, memory).await?),
            None => None,
        };
        let interrupts = config.interrupt_gap_cycles.is_some();
        let control = ENABLE | if interrupts { INTERRUPTS } else { 0 };
        bar.write32(u64::from(regs::CONTROL), control).await?;
        // The answer comes when all stores before it have arrived: it runs.
        bar.read32(u64::from(regs::CONTROL)).await?;
        let lists = config.lists.iter().map(|list| Open {
            buffers: list.offsets.len() as u32,
            announced: 0,
            returned: 0,
        });
        Ok(Self {
            bar,
            memory,
            lists: lists.collect(),
            queue: config.queue_offset,
            events,
            taken: 0,
            reported: 0,
            interrupts,
            sending,
            putting,
            arrived: VecDeque::new(),
            sent: VecDeque::new(),
            done: VecDeque::new(),
            came: VecDeque::new(),
            got: VecDeque::new(),
            registered: config.paging.as_ref().map_or(0, Paging::bytes),
            merges: version >> 31 == 1,
            releases: version >> 12 & 1 == 1,
        })
    }

    /// The next full buffer, by polling; none when `deadline` passes first.
    ///
    /// # Errors
    /// When an access fails, or an event contradicts the lists.
    pub async fn next(&mut self, deadline: Duration) -> Result<Option<Event>, NicError> {
        loop {
            if let Some(event) = self.arrived.pop_front() {
                return Ok(Some(event));
            }
            if !self.take(deadline).await? {
                return Ok(None);
            }
        }
    }

    /// The number of a destination, for [`send`](Self::send): one that is set, or set now. The MAC address of a station
    /// that has not answered yet is asked for, as [`resolve`](Self::resolve) does, and kept.
    ///
    /// 16 are set at a time; then this takes the place of the one that was used longest ago, whose number is valid no
    /// more.
    ///
    /// # Errors
    /// When the station does not answer, posts to all 16 are not announced yet, or an access fails.
    pub async fn peer(&mut self, to: SocketAddrV4) -> Result<usize, NicError> {
        if let Some(number) = self.open_sending()?.number(to) {
            return Ok(number);
        }
        let mac = match self.open_sending()?.neighbour(*to.ip()) {
            Some(mac) => mac,
            None => self.resolve(*to.ip()).await?,
        };
        let Some(sending) = &mut self.sending else { return Err(no_send_memory()) };
        sending.set(&mut self.bar, Peer { mac, address: to }).await
    }

    /// Asks for the MAC address of a station in the network of port 0, by ARP, and waits for the answer.
    ///
    /// # Errors
    /// When it does not answer within a few milliseconds, or an access fails.
    pub async fn resolve(&mut self, station: Ipv4Addr) -> Result<[u8; 6], NicError> {
        self.open_sending()?;
        for _ in 0..send::ASKS {
            send::ask(&mut self.bar, station).await?;
            let asked = self.memory.now();
            while self.memory.now().saturating_sub(asked) < send::ANSWER_WAIT {
                if let Some(mac) = send::answer(&mut self.bar).await? {
                    self.open_sending()?.learn(station, mac);
                    return Ok(mac);
                }
            }
        }
        Err(NicError::NoAnswer { station })
    }

    fn open_sending(&mut self) -> Result<&mut Sending, NicError> {
        self.sending.as_mut().ok_or_else(no_send_memory)
    }

    /// Posts a datagram of `bytes` from `offset` of the send memory on to a peer, by its number: one posted store.
    /// Its place may be changed when [`sent`](Self::sent) has its number, which this gives.
    ///
    /// # Errors
    /// When it leaves the send memory, is too long, its peer is not set, [`MAX_POSTS`] are not announced yet, or
    /// the store fails.
    pub async fn send(
        &mut self,
        offset: usize,
        bytes: usize,
        peer: usize,
    ) -> Result<u32, NicError> {
        let Some(sending) = &mut self.sending else { return Err(no_send_memory()) };
        sending.post(&mut self.bar, offset, bytes, peer).await
    }

    /// The outcome of the oldest post that is not announced, by polling; none when `deadline` passes first.
    ///
    /// # Errors
    /// When an access fails, or an event contradicts the posts.
    pub async fn sent(&mut self, deadline: Duration) -> Result<Option<Sent>, NicError> {
        loop {
            if let Some(sent) = self.sent.pop_front() {
                return Ok(Some(sent));
            }
            if !self.take(deadline).await? {
                return Ok(None);
            }
        }
    }

    /// Puts `bytes` from `offset` of the put memory on into a target, by its number, from `remote` of it on: two
    /// posted stores. Its place may be changed when [`put_done`](Self::put_done) has its number, which this gives;
    /// the far node's program learns of it by [`came`](Self::came).
    ///
    /// # Errors
    /// When it leaves the put memory, its target is not set, [`MAX_PUTS`] are not announced yet, or a store fails.
    pub async fn put(
        &mut self,
        offset: usize,
        bytes: usize,
        target: usize,
        remote: usize,
    ) -> Result<u32, NicError> {
        let Some(putting) = &mut self.putting else {
            return Err(NicError::Send { what: "opened without a put memory".to_owned() });
        };
        putting.post(&mut self.bar, offset, bytes, (target, remote)).await
    }

    /// Puts these bytes, at most [`MAX_INLINE_BYTES`], into a target, by its number, from `remote` of it on. They are
    /// stored into the node together with the post, so it reads nothing: about the time of a read of the put memory is
    /// saved, and the bytes may be anywhere. Puts leave in the order of the calls of this and of [`put`](Self::put),
    /// with one count; [`put_done`](Self::put_done) has it with place 0, the far node's program as any other.
    ///
    /// # Errors
    /// When there are no bytes or too many, the node has no window for them, its target is not set, [`MAX_PUTS`] are
    /// not announced yet, or a store fails.
    pub async fn put_inline(
        &mut self,
        payload: &[u8],
        target: usize,
        remote: usize,
    ) -> Result<u32, NicError> {
        let Some(putting) = &mut self.putting else {
            return Err(NicError::Send { what: "opened without a put memory".to_owned() });
        };
        putting.post_inline(&mut self.bar, payload, (target, remote)).await
    }

    /// Gets `bytes` of another node's put memory, from `remote` of a target on, into the registered pages from `offset`
    /// on: one posted store. [`get_done`](Self::get_done) has its number, which this gives, when it is there.
    ///
    /// # Errors
    /// When it leaves the pages, its target is not set, [`PutMemory::gets`] are unanswered, or the get 16 before it is,
    /// or a store fails.
    pub async fn get(
        &mut self,
        offset: usize,
        bytes: usize,
        target: usize,
        remote: usize,
    ) -> Result<u32, NicError> {
        let Some(putting) = &mut self.putting else {
            return Err(NicError::Send { what: "opened without a put memory".to_owned() });
        };
        let place = (offset, self.registered);
        putting.ask(&mut self.bar, place, bytes, (target, remote)).await
    }

    /// The next get that is in memory or was refused, by polling; none when `deadline` passes first. Gets of one node are
    /// answered in their order.
    ///
    /// # Errors
    /// When an access fails, or an event contradicts the gets.
    pub async fn get_done(&mut self, deadline: Duration) -> Result<Option<Got>, NicError> {
        loop {
            if let Some(got) = self.got.pop_front() {
                return Ok(Some(got));
            }
            if !self.take(deadline).await? {
                return Ok(None);
            }
        }
    }

    /// The outcome of the oldest put that is not announced, by polling; none when `deadline` passes first.
    ///
    /// # Errors
    /// When an access fails, or an event contradicts the puts.
    pub async fn put_done(&mut self, deadline: Duration) -> Result<Option<Done>, NicError> {
        loop {
            if let Some(done) = self.done.pop_front() {
                return Ok(Some(done));
            }
            if !self.take(deadline).await? {
                return Ok(None);
            }
        }
    }

    /// The next put from another node that is in memory, by polling; none when `deadline` passes first.
    ///
    /// # Errors
    /// When an access fails, or an event contradicts the puts.
    pub async fn came(&mut self, deadline: Duration) -> Result<Option<Arrival>, NicError> {
        loop {
            if let Some(arrival) = self.came.pop_front() {
                return Ok(Some(arrival));
            }
            if !self.take(deadline).await? {
                return Ok(None);
            }
        }
    }

    /// Outcome of the packets and puts that came to a node of a torus.
    ///
    /// # Errors
    /// When a load fails.
    pub async fn put_statistics(&mut self) -> Result<PutStatistics, NicError> {
        Ok(put::statistics(&mut self.bar).await?)
    }

    /// Frames of posts that left with a wrong frame check sequence, because memory answered with an error or too
    /// late, modulo 2^16.
    ///
    /// # Errors
    /// When the load fails.
    pub async fn spoiled(&mut self) -> Result<u16, NicError> {
        Ok(send::spoiled(&mut self.bar).await?)
    }

    /// Takes the next event, of either kind, out of the queue; false when `deadline` passes first.
    async fn take(&mut self, deadline: Duration) -> Result<bool, NicError> {
        let place = self.taken & (self.events - 1);
        let at = self.queue + place as usize * EVENT_BYTES;
        let phase = (self.taken / self.events) & 1 == 0;
        let mut bytes = [0; EVENT_BYTES];
        self.memory.load_line(at, &mut bytes).await?;
        while (bytes[EVENT_BYTES - 1] >> 7 == 1) != phase {
            if !self.memory.poll_line(at, &mut bytes, deadline).await? {
                return Ok(false);
            }
        }
        let event = Event::decode(&bytes);
        self.taken = self.taken.wrapping_add(1);
        match &mut self.sending {
            Some(sending) if event.list == send::LIST => {
                let sent = Sent::decode(&bytes);
                sending.announce(&sent)?;
                self.sent.push_back(sent);
            }
            _ if event.list == put::ARRIVED => self.came.push_back(Arrival::of(&event)),
            _ if event.list == put::DONE => {
                let done = Done::decode(&bytes);
                let Some(putting) = &mut self.putting else {
                    return Err(NicError::Event {
                        reason: "a put without a put memory".to_owned(),
                    });
                };
                putting.announce(&done)?;
                self.done.push_back(done);
            }
            _ if event.list == put::ANSWERED => {
                let Some(putting) = &mut self.putting else {
                    return Err(NicError::Event {
                        reason: "a get without a put memory".to_owned(),
                    });
                };
                self.got.extend(putting.answer(&bytes)?);
            }
            _ => self.arrive(event)?,
        }
        // A store for every half of the queue: it has room for all buffers and posts beside.
        if self.taken.wrapping_sub(self.reported) >= self.events / 2 {
            self.reported = self.taken;
            self.bar.write32(u64::from(regs::QUEUE_TAKEN), self.taken & 0xffff).await?;
        }
        Ok(true)
    }

    fn arrive(&mut self, event: Event) -> Result<(), NicError> {
        let Some(list) = self.lists.get_mut(usize::from(event.list)) else {
            return Err(NicError::Event { reason: format!("list {}", event.list) });
        };
        let expected = event.sequence % list.buffers;
        if u32::from(event.index) != expected {
            let reason = format!("buffer {}, {expected} expected", event.index);
            return Err(NicError::Event { reason });
        }
        list.announced = list.announced.wrapping_add(1);
        self.arrived.push_back(event);
        Ok(())
    }

    /// Copies a buffer's bytes out, from `offset` of the memory on. A program that works in place needs it not.
    ///
    /// # Errors
    /// When the memory refuses it.
    pub async fn read(&mut self, offset: usize, buffer: &mut [u8]) -> Result<(), NicError> {
        Ok(self.memory.read(offset, buffer).await?)
    }

    /// Gives back the oldest buffer that an event of this list announced: one posted store.
    ///
    /// # Errors
    /// No buffer is waiting to be returned, or the store fails.
    pub async fn recycle(&mut self, list: u8) -> Result<(), NicError> {
        let number = u32::from(list);
        let nothing = NicError::NothingToRecycle { list };
        let Some(open) = self.lists.get_mut(usize::from(list)) else { return Err(nothing) };
        if open.returned == open.announced {
            return Err(nothing);
        }
        open.returned = open.returned.wrapping_add(1);
        let value = u32::from(open.returned);
        Ok(self.bar.write32(u64::from(regs::LIST_RETURNED0 + 4 * number), value).await?)
    }

    /// True if the buffer still holds what `event` announced: with [`Policy::Oldest`] it may have been filled anew.
    ///
    /// To be asked after the buffer was read.
    ///
    /// # Errors
    /// When the load fails.
    pub async fn is_intact(&mut self, event: &Event) -> Result<bool, NicError> {
        let number = u32::from(event.list);
        let Some(list) = self.lists.get(usize::from(event.list)) else {
            return Err(NicError::Event { reason: format!("list {number}") });
        };
        let filled = self.bar.read32(u64::from(regs::LIST_FILLED0 + 4 * number)).await?;
        // Buffer number `filled` is being filled.
        let since = (filled as u16).wrapping_sub(event.sequence as u16);
        Ok(u32::from(since) < list.buffers)
    }

    /// Outcome of the datagrams of a port.
    ///
    /// # Errors
    /// When a load fails.
    pub async fn statistics(&mut self, port: u8) -> Result<Statistics, NicError> {
        Ok(Statistics::read(&mut self.bar, port).await?)
    }

    /// What its translation of addresses did; all 0 for an interface without one.
    ///
    /// # Errors
    /// When a load fails.
    pub async fn translations(&mut self) -> Result<Translations, NicError> {
        Ok(Translations::read(&mut self.bar).await?)
    }

    /// What became of the events that it merged; none from an interface that does not.
    ///
    /// # Errors
    /// When a load fails.
    pub async fn merging(&mut self) -> Result<Option<Merging>, NicError> {
        Ok(if self.merges { Some(Merging::read(&mut self.bar).await?) } else { None })
    }

    /// What became of the answers that it was to release; none from an interface that does not.
    ///
    /// # Errors
    /// When a load fails.
    pub async fn released(&mut self) -> Result<Option<Released>, NicError> {
        Ok(if self.releases { Some(Released::read(&mut self.bar).await?) } else { None })
    }

    /// Sets how many cycles an event waits for a board's fragment, in an interface that merges. The others ignore it.
    ///
    /// # Errors
    /// When a store fails.
    pub async fn set_merge_wait(&mut self, cycles: u32) -> Result<(), NicError> {
        if self.merges {
            merge::set_wait(&mut self.bar, cycles).await?;
        }
        Ok(())
    }

    /// A way to send results, also while another part of the program waits for events.
    #[must_use]
    pub fn results(&self) -> Results<M>
    where
        M: Clone,
    {
        Results { bar: self.bar.clone() }
    }

    /// A way to read the counters, also while another part of the program waits for events.
    #[must_use]
    pub fn counters(&self) -> Counters<M>
    where
        M: Clone,
    {
        Counters { bar: self.bar.clone() }
    }

    /// True if it was opened with interrupts.
    #[must_use]
    pub fn has_interrupts(&self) -> bool {
        self.interrupts
    }

    /// The memory it was opened with.
    #[must_use]
    pub fn memory(&self) -> &D {
        &self.memory
    }

    /// Stops it: datagrams that come later are dropped and counted.
    ///
    /// # Errors
    /// When a store fails.
    pub async fn close(mut self) -> Result<(), NicError> {
        Ok(self.bar.write32(u64::from(regs::CONTROL), 0).await?)
    }
}

/// The counters of an interface.
#[derive(Clone, Debug)]
pub struct Counters<M> {
    bar: M,
}

impl<M: Mmio> Counters<M> {
    /// Datagrams of a port that were not sent back for want of room, modulo 2^16, with [`List::echo`].
    ///
    /// # Errors
    /// When the load fails.
    pub async fn not_echoed(&mut self, port: u8) -> Result<u16, NicError> {
        let filled = self.bar.read32(u64::from(regs::LIST_FILLED0 + 4 * u32::from(port))).await?;
        Ok((filled >> 16) as u16)
    }

    /// Outcome of the datagrams of a port.
    ///
    /// # Errors
    /// When a load fails.
    pub async fn statistics(&mut self, port: u8) -> Result<Statistics, NicError> {
        Ok(Statistics::read(&mut self.bar, port).await?)
    }
}

/// A program's answers, out by the interface's result pins.
#[derive(Clone, Debug)]
pub struct Results<M> {
    bar: M,
}

impl<M: Mmio> Results<M> {
    /// Sends a word: one posted store. Words of one core come out in their order.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn send(&mut self, word: u32) -> Result<(), NicError> {
        Ok(self.bar.write32(u64::from(regs::RESULT), word).await?)
    }
}

fn no_send_memory() -> NicError {
    NicError::Send { what: "opened without a send memory".to_owned() }
}

async fn set_list<M: Mmio>(
    bar: &mut M,
    base: u64,
    number: u32,
    list: &List,
) -> Result<(), TransportError> {
    for (index, offset) in list.offsets.iter().enumerate() {
        let address = base + *offset as u64;
        for (register, value) in [
            (regs::BUFFER_LO, address as u32),
            (regs::BUFFER_HI, (address >> 32) as u32),
            (regs::BUFFER_BYTES, list.bytes as u32),
            (regs::BUFFER_KEY, REGION_KEY),
            (regs::BUFFER_SET, number << 8 | index as u32),
        ] {
            bar.write32(u64::from(register), value).await?;
        }
    }
    let control = ENABLE
        | (list.offsets.len() as u32) << 8
        | u32::from(list.datagrams) << 16
        | (list.policy as u32) << POLICY_SHIFT
        | u32::from(list.echo) << ECHO_SHIFT;
    for (register, value) in
        [(regs::LIST_FLUSH0, list.flush_cycles), (regs::LIST_RETURNED0, 0), (regs::LIST0, control)]
    {
        bar.write32(u64::from(register + 4 * number), value).await?;
    }
    Ok(())
}

/// Registers the pages of all buffers.
async fn register<M: Mmio>(bar: &mut M, base: u64, paging: &Paging) -> Result<(), TransportError> {
    let table = base + paging.table_offset as u64;
    for (register, value) in [
        (regs::REGION_LO, table as u32),
        (regs::REGION_HI, (table >> 32) as u32),
        (regs::REGION_PAGES, paging.pages.len() as u32),
        (regs::REGION_SET, REGION_VALID | paging.size.code() << 16 | REGION_KEY),
    ] {
        bar.write32(u64::from(register), value).await?;
    }
    Ok(())
}

/// Unsupported settings are refused before the interface is accessed.
fn check<D: DmaMemory>(config: &NicConfig, memory: &D, version: u32) -> Result<(), NicError> {
    let refuse = |what: String| Err(NicError::Config { what });
    let (ports, most) = ((version >> 8 & 0xf) as usize, (version >> 16 & 0xff) as usize);
    if (config.lists.is_empty() && config.put.is_none()) || config.lists.len() > ports {
        return refuse(format!("{} lists: this interface has 1 to {ports}", config.lists.len()));
    }
    let regions = version >> 24 & 0x1f;
    match &config.paging {
        None if regions > 0 => {
            return refuse("this interface translates addresses: pages expected".to_owned());
        }
        Some(_) if regions == 0 => {
            return refuse("this interface translates no addresses: no pages expected".to_owned());
        }
        Some(paging) => check_pages(paging, memory)?,
        None => (),
    }
    let within = |size: usize, offset: usize, bytes: usize| {
        offset.is_multiple_of(PLACE_BYTES)
            && offset.checked_add(bytes).is_some_and(|end| end <= size)
    };
    for (number, list) in config.lists.iter().enumerate() {
        let size = match (&config.paging, list.window) {
            (Some(_), Some(_)) => {
                return refuse(format!("list {number}: a window, but its buffers are in pages"));
            }
            (Some(paging), None) => paging.bytes(),
            (None, Some(window)) if !window.bus_address.is_multiple_of(PLACE_BYTES as u64) => {
                return refuse(format!(
                    "list {number}: a window at {:#x}: a multiple of {PLACE_BYTES} expected",
                    window.bus_address
                ));
            }
            (None, Some(window)) => window.bytes,
            (None, None) => memory.size(),
        };
        let inside = |offset: usize, bytes: usize| within(size, offset, bytes);
        let buffers = list.offsets.len();
        if buffers == 0 || buffers > most || !buffers.is_power_of_two() {
            return refuse(format!(
                "list {number}: {buffers} buffers: a power of two, 1 to {most}, expected"
            ));
        }
        if list.bytes == 0 || list.bytes >= 1 << 24 {
            return refuse(format!("list {number}: buffers of {} bytes: below 16 MiB", list.bytes));
        }
        if list.datagrams == 0 && list.flush_cycles == 0 {
            return refuse(format!("list {number}: neither datagrams nor time would end a buffer"));
        }
        if let Some(offset) = list.offsets.iter().find(|at| !inside(**at, list.bytes)) {
            return refuse(format!(
                "list {number}: a buffer of {} bytes at {offset:#x}: inside the memory of {size} bytes, at a \
                 multiple of {PLACE_BYTES}, expected",
                list.bytes
            ));
        }
    }
    if let Some(what) =
        config.send.as_ref().and_then(|send| send::fault(send, memory.size(), version))
    {
        return refuse(what);
    }
    if let Some(what) = config.put.as_ref().and_then(|put| put::fault(put, memory.size(), version))
    {
        return refuse(what);
    }
    let messages = config.put.as_ref().is_some_and(|put| put.messages.is_some());
    if messages && config.lists.is_empty() {
        return refuse("messages of other nodes, but no list for them".to_owned());
    }
    let events = config.queue_events();
    if !within(memory.size(), config.queue_offset, events * EVENT_BYTES)
        || !QUEUE_LOG2.contains(&events.trailing_zeros())
    {
        return refuse(format!("no room for {events} events at {:#x}", config.queue_offset));
    }
    Ok(())
}

fn check_pages<D: DmaMemory>(paging: &Paging, memory: &D) -> Result<(), NicError> {
    let refuse = |what: String| Err(NicError::Config { what });
    let bytes = paging.size.bytes();
    let Window { bus_address: base, bytes: size } =
        paging.window.unwrap_or(Window { bus_address: memory.bus_address(), bytes: memory.size() });
    let outside = |size: usize, offset: usize, bytes: usize| {
        offset.checked_add(bytes).is_none_or(|end| end > size)
    };
    if paging.pages.is_empty() || paging.pages.len() >= 1 << 28 {
        return refuse(format!("{} pages: 1 to 2^28 - 1 expected", paging.pages.len()));
    }
    let wrong =
        |at: usize| outside(size, at, bytes) || !(base + at as u64).is_multiple_of(bytes as u64);
    if let Some(at) = paging.pages.iter().find(|at| wrong(**at)) {
        return refuse(format!(
            "a page of {bytes} bytes at {at:#x}: inside the memory, at a multiple of its bytes on the bus, expected"
        ));
    }
    let at = paging.table_offset;
    if outside(memory.size(), at, paging.table_bytes()) || !at.is_multiple_of(PLACE_BYTES) {
        return refuse(format!(
            "no room for a page table of {} bytes at {at:#x}",
            paging.table_bytes()
        ));
    }
    Ok(())
}

/// Compiles the programs of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../../../../docs/how-to/receive-a-stream.md")]
mod how_to {}
