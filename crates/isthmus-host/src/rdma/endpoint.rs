// SPDX-License-Identifier: Apache-2.0

use std::time::Duration;

use super::words::{
    Completion, Descriptor, ErrorRecord, Frame, HostId, InlineWrite, Layout, MAX_TRANSFER,
    MESSAGE_BEATS, Message, MessageHeader, Notification, Options, QueueEntry, Region, SLOTS,
    WordError, offset,
};
use crate::pcie::{DmaMemory, Mmio};
use crate::regs::rdma as regs;
use crate::transport::TransportError;

const IDENTITY: u32 = 0x5244_4D41;
const VERSION: u32 = 1;
const RUNNING: u32 = 1;
const READY: u32 = 2;
const ENABLE: u32 = 1;
const ALL_LINKS: u32 = 0xF0;
const BEAT: usize = 8;
const HOSTS: usize = 8;
/// Bytes of a packet, at most.
const PACKET: usize = 512;
/// Descriptors of a long transfer that are posted together: a line of 64 bytes.
const CLUSTER: usize = 4;

/// Where the control words lie in the endpoint's memory, and the error ring behind them.
const LOCAL: usize = 0x000;
const LOCAL_MESSAGES: usize = 0x040;
const NOTIFIED: usize = 0x080;
const COMPLETED: usize = 0x0C0;
const ERRORS: usize = 0x100;
const ERROR_RECORDS_LOG2: u32 = 6;
const ERROR_RECORDS: u16 = 1 << ERROR_RECORDS_LOG2;

/// Offset in the endpoint's memory of the word that tells of `source`'s writes: for who watches the memory
/// from beside the program.
#[must_use]
pub const fn notified_offset(source: HostId) -> usize {
    NOTIFIED + BEAT * source as usize
}

/// Offset in the endpoint's memory of the completion word of a destination: for who watches the memory from
/// beside the program.
#[must_use]
pub const fn completed_offset(destination: HostId) -> usize {
    COMPLETED + BEAT * destination as usize
}

/// Bytes at the begin of the endpoint's memory that are its own; what follows is the program's.
pub const CONTROL_BYTES: usize = ERRORS + 16 * ERROR_RECORDS as usize;

/// What goes wrong in a call; what goes wrong later is an [`ErrorRecord`].
#[derive(Debug, thiserror::Error)]
pub enum RdmaError {
    /// The machine refused a load or a store, or a deadline passed.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// What the formats cannot say.
    #[error(transparent)]
    Word(#[from] WordError),
    /// The board is not what is expected.
    #[error(
        "no RDMA network interface: register {register:#x} is {found:#010x}, {expected:#010x} expected"
    )]
    Board {
        /// Its offset.
        register: u32,
        /// What it holds.
        found: u32,
        /// What it should.
        expected: u32,
    },
    /// The memory given is too small or not aligned.
    #[error("memory of {size} bytes at {address:#x}: {needed} bytes at a multiple of 64 needed")]
    Memory {
        /// Its bytes.
        size: usize,
        /// Its address on the bus.
        address: u64,
        /// What is needed.
        needed: usize,
    },
    /// A host that this interface cannot address.
    #[error("host {host}: this interface addresses 0..{most}")]
    Host {
        /// It.
        host: HostId,
        /// The highest.
        most: HostId,
    },
    /// A word that is not in the memory.
    #[error("no word of 8 bytes at {at:#x} in a memory of {size} bytes")]
    Place {
        /// Its offset.
        at: usize,
        /// Bytes of the memory.
        size: usize,
    },
    /// A table entry that does not exist.
    #[error("{table} table has no entry {index}")]
    Entry {
        /// Which table.
        table: &'static str,
        /// Which entry.
        index: usize,
    },
    /// A message of a packed queue that cannot be asked for.
    #[error(
        "{bytes} bytes of a {} queue of {ring}: a packed one gives multiples of 8, from 8 to its \
         length", if *.slots { "slotted" } else { "packed" }
    )]
    Packed {
        /// Asked for.
        bytes: usize,
        /// The queue's.
        ring: usize,
        /// Whether it has slots.
        slots: bool,
    },
    /// A cluster of more slots than a queue has.
    #[error("a cluster of {slots} slots: a queue has {SLOTS}")]
    Cluster {
        /// Its slots.
        slots: usize,
    },
    /// Nothing was given back in time.
    #[error("host {host}: its {queue} queue gave no room back in {waited:?}")]
    Stuck {
        /// The destination.
        host: HostId,
        /// Request or message.
        queue: &'static str,
        /// How long was waited.
        waited: Duration,
    },
    /// What was posted before a fence is not in the far host's memory in time.
    #[error("host {host}: {missing} packets before the fence were not acknowledged in {waited:?}")]
    Fence {
        /// The destination.
        host: HostId,
        /// Packets of which nothing is known.
        missing: u16,
        /// How long was waited.
        waited: Duration,
    },
    /// A member of a group did not do its part in time.
    #[error("host {host}: {what} did not come in {waited:?}")]
    Silent {
        /// What is missed.
        what: &'static str,
        /// Of whom.
        host: HostId,
        /// How long was waited.
        waited: Duration,
    },
    /// Something of what a host sent was refused or lost, or could not be written here: this, or
    /// something before it that was not notified.
    #[error("host {host}: what it sent, or something before that, is not whole")]
    Spoilt {
        /// Of whom.
        host: HostId,
    },
    /// Too little of something.
    #[error("{what}: {needed} needed, {has} there")]
    Room {
        /// For what.
        what: &'static str,
        /// How much.
        needed: usize,
        /// How much there is.
        has: usize,
    },
    /// The far host's interface was reset.
    #[error("host {host} was reset: what was posted to it since the last fence may be lost")]
    Session {
        /// The destination.
        host: HostId,
    },
}

/// Proof that a program has asked for postings that may overrun their queue.
#[derive(Clone, Copy, Debug)]
pub struct LazyPosting(());

impl LazyPosting {
    /// A program that posts lazily must know that what it posts between two looks takes no more slots
    /// than as many of the transfer that it looked for, or that the queue empties faster than it is
    /// filled; else it overwrites descriptors that have not been sent.
    #[must_use]
    pub const fn i_know_that_the_queue_may_overrun() -> Self {
        Self(())
    }
}

/// When room in a request queue is looked for: the three programs of the published measurement.
#[derive(Clone, Copy, Debug, Default)]
pub enum Posting {
    /// v1: transfers of a batch start with its last one, and the next batch waits for the end of it.
    Batch,
    /// v2: each transfer starts at once, and is posted when there is room for it.
    #[default]
    Circular,
    /// v3: room is looked for every so many transfers alone, for as many like the next one.
    Lazy {
        /// Transfers between two looks.
        every: u16,
        /// That the program knows what it asks for.
        opt_in: LazyPosting,
    },
}

/// How an endpoint is opened.
#[derive(Clone, Copy, Debug)]
pub struct EndpointConfig {
    /// Its own number.
    pub host: HostId,
    /// Number of the first session of each flow; another one at each opening.
    pub session: u8,
    /// Cycles of the host's clock that an acknowledgement may take.
    pub probe_cycles: u32,
    /// Cycles after which a packet that was overtaken is lost.
    pub lost_cycles: u32,
    /// Benchmark mode.
    pub bench: bool,
    /// How long a queue may give nothing back, and the board take to stop.
    pub patience: Duration,
}

impl Default for EndpointConfig {
    fn default() -> Self {
        Self {
            host: 0,
            session: 0,
            probe_cycles: 100_000,
            lost_cycles: 100_000,
            bench: false,
            patience: Duration::from_secs(1),
        }
    }
}

/// What was posted to a destination, modulo 2^16: slots, and beats of messages.
#[derive(Clone, Copy, Debug, Default)]
struct Posted {
    slots: u16,
    slots_back: u16,
    unseen: u16,
    beats: u16,
    beats_back: u16,
    /// Packets, which the flow numbers in one row.
    packets: u16,
    /// At the last fence.
    session: u8,
    refusals: u32,
}

/// One host's network interface.
#[derive(Debug)]
pub struct Endpoint<M, D> {
    mmio: M,
    memory: D,
    config: EndpointConfig,
    hosts: HostId,
    posted: [Posted; HOSTS],
    errors: u16,
}

impl<M: Mmio, D: DmaMemory> Endpoint<M, D> {
    /// Stops whatever runs, clears the tables' notify addresses and the error ring, and enables the
    /// interface. The first [`CONTROL_BYTES`] of `memory` are the endpoint's.
    ///
    /// # Errors
    /// When the board or the memory is not fit, or the board does not stop.
    pub async fn open(mmio: M, memory: D, config: EndpointConfig) -> Result<Self, RdmaError> {
        let (size, address) = (memory.size(), memory.bus_address());
        if size < CONTROL_BYTES || !address.is_multiple_of(64) {
            return Err(RdmaError::Memory { size, address, needed: CONTROL_BYTES });
        }
        let fresh = Posted { session: config.session, ..Posted::default() };
        let posted = [fresh; HOSTS];
        let mut endpoint = Self { mmio, memory, config, hosts: 0, posted, errors: 0 };
        endpoint.start().await?;
        Ok(endpoint)
    }

    async fn start(&mut self) -> Result<(), RdmaError> {
        for (register, expected) in [(regs::ID, IDENTITY), (regs::VERSION, VERSION)] {
            let found = self.mmio.read32(register.into()).await?;
            if found != expected {
                return Err(RdmaError::Board { register, found, expected });
            }
        }
        self.hosts = (self.mmio.read32(regs::LIMITS.into()).await? & 0xF) as HostId;
        self.host(self.config.host)?;
        self.stop().await?;
        self.memory.write(0, &[0; CONTROL_BYTES]).await?;
        let base = self.memory.bus_address();
        for host in 0..u64::from(self.hosts) {
            for (table, place) in [
                (offset::LOCAL, LOCAL),
                (offset::LOCAL_MESSAGES, LOCAL_MESSAGES),
                (offset::NOTIFIED, NOTIFIED),
                (offset::COMPLETED, COMPLETED),
            ] {
                let address = base + place as u64 + 8 * host;
                self.table(table + 8 * host, &[address]).await?;
            }
        }
        let ring = base + ERRORS as u64;
        for (register, value) in [
            (regs::HOST, u32::from(self.config.host) | u32::from(self.config.session) << 8),
            (regs::PROBE_CYCLES, self.config.probe_cycles),
            (regs::LOST_CYCLES, self.config.lost_cycles),
            (regs::ERR_BASE_LO, ring as u32),
            (regs::ERR_BASE_HI, (ring >> 32) as u32),
            (regs::ERR_SIZE, ERROR_RECORDS_LOG2),
            (regs::ERR_TAIL, 0),
            (regs::CONTROL, ENABLE | u32::from(self.config.bench) << 1 | ALL_LINKS),
        ] {
            self.mmio.write32(register.into(), value).await?;
        }
        // Queues are cleared first: what is posted before is not taken.
        self.reaches(READY | RUNNING).await
    }

    async fn stop(&mut self) -> Result<(), RdmaError> {
        self.mmio.write32(regs::CONTROL.into(), 0).await?;
        self.reaches(READY).await
    }

    async fn reaches(&mut self, state: u32) -> Result<(), RdmaError> {
        let deadline = self.memory.now() + self.config.patience;
        while self.mmio.read32(regs::STATE.into()).await? & (RUNNING | READY) != state {
            if self.memory.now() > deadline {
                return Err(TransportError::TimedOut.into());
            }
        }
        Ok(())
    }

    fn host(&self, host: HostId) -> Result<usize, RdmaError> {
        if host < self.hosts {
            Ok(host.into())
        } else {
            Err(RdmaError::Host { host, most: self.hosts.saturating_sub(1) })
        }
    }

    /// Writes table words, each whole.
    async fn table(&mut self, at: u64, beats: &[u64]) -> Result<(), RdmaError> {
        let bytes: Vec<u8> = beats.iter().flat_map(|beat| beat.to_le_bytes()).collect();
        Ok(self.mmio.write_combined(at, &bytes).await?)
    }

    /// Its memory: [`CONTROL_BYTES`] of it are its own.
    pub fn memory(&mut self) -> &mut D {
        &mut self.memory
    }

    /// Gives `region` the number `index`. The first entries, one for each host, are also what that
    /// host's descriptors without a key may write.
    ///
    /// # Errors
    /// When there is no such entry, or the region cannot be.
    pub async fn register(&mut self, index: u8, region: &Region) -> Result<(), RdmaError> {
        if index >= 64 {
            return Err(RdmaError::Entry { table: "region", index: index.into() });
        }
        let [base, limit, rest] = region.beats()?;
        let at = offset::REGIONS + 32 * u64::from(index);
        // Invalid before its bounds change.
        self.table(at + 16, &[0]).await?;
        self.table(at, &[base, limit]).await?;
        self.table(at + 16, &[rest]).await
    }

    /// Takes number `index` from its region: what comes for it from now on is refused. A write that
    /// was allowed before may still be on its way over this host's bus.
    ///
    /// # Errors
    /// When there is no such entry.
    pub async fn unregister(&mut self, index: u8) -> Result<(), RdmaError> {
        if index >= 64 {
            return Err(RdmaError::Entry { table: "region", index: index.into() });
        }
        self.table(offset::REGIONS + 32 * u64::from(index) + 16, &[0]).await
    }

    /// Opens remote queue `index`, empty, over `entry`'s part of the memory. A queue of slots has an
    /// [`Inbox`].
    ///
    /// # Errors
    /// When the entry cannot be, or is not inside the endpoint's memory.
    pub async fn open_queue(&mut self, index: u8, entry: &QueueEntry) -> Result<Inbox, RdmaError> {
        let beats = entry.beats()?;
        let (size, address) = (self.memory.size(), self.memory.bus_address());
        let place = entry.base.checked_sub(address).and_then(|at| usize::try_from(at).ok());
        let bytes = entry.bytes as usize;
        let fits = place.filter(|at| *at >= CONTROL_BYTES && at.saturating_add(bytes) <= size);
        let Some(place) = fits else {
            return Err(RdmaError::Memory { size, address, needed: CONTROL_BYTES + bytes });
        };
        self.memory.write(place, &vec![0; bytes]).await?;
        self.table(offset::TAILS + 8 * u64::from(index), &[0]).await?;
        self.table(offset::QUEUE_TABLE + 16 * u64::from(index), &beats).await?;
        let slot = match entry.layout {
            Layout::Slots(bytes) => bytes,
            Layout::Packed => 0,
        };
        Ok(Inbox { index, place, bytes, slot, at: 0, phase: true, every: 1, kept: 0 })
    }

    /// Posts transfers to one host as one cluster: none goes before all are there. Each call takes the
    /// slots behind the last one's.
    ///
    /// # Errors
    /// When a word cannot be, the cluster is longer than the queue, or no room comes back.
    pub async fn post(
        &mut self,
        host: HostId,
        transfers: &[Descriptor],
        posting: Posting,
    ) -> Result<(), RdmaError> {
        let at = self.host(host)?;
        let slots: usize = transfers.iter().map(|transfer| usize::from(transfer.slots())).sum();
        if slots > usize::from(SLOTS) {
            return Err(RdmaError::Cluster { slots });
        }
        let room = match posting {
            Posting::Batch => Some(SLOTS),
            Posting::Circular => Some(slots as u16),
            // For all until the next look, if they are as this one.
            Posting::Lazy { every, .. } => (self.posted[at].unseen >= every.max(1))
                .then(|| every.max(1).saturating_mul(slots as u16).min(SLOTS)),
        };
        if let Some(room) = room {
            self.wait_slots(host, SLOTS - room).await?;
            self.posted[at].unseen = 0;
        }
        self.posted[at].unseen += transfers.len() as u16;
        let mut beats = Vec::with_capacity(2 * slots);
        for (index, transfer) in transfers.iter().enumerate() {
            let last = index + 1 == transfers.len();
            // Without a local notification of the last one nothing of the cluster comes back.
            let local = transfer.options.local || last;
            let options = Options { local, ..transfer.options };
            beats.extend(Descriptor { host, start: last, options, ..*transfer }.beats()?);
        }
        let first = usize::from(self.posted[at].slots % SLOTS);
        self.posted[at].slots = self.posted[at].slots.wrapping_add(slots as u16);
        for transfer in transfers {
            let packets = transfer.bytes.div_ceil(PACKET) as u16;
            self.posted[at].packets = self.posted[at].packets.wrapping_add(packets);
        }
        let queue = offset::REQUESTS + offset::QUEUE_BYTES * at as u64;
        // What starts takes effect with its line of 64 bytes: a second slot in the next line goes first.
        if transfers.last().is_some_and(|last| last.key.is_some()) {
            let slot = (first + slots - 1) % usize::from(SLOTS);
            if slot.is_multiple_of(4) {
                let second = beats.split_off(beats.len() - 2);
                self.table(queue + 16 * slot as u64, &second).await?;
            }
        }
        let until_end = 2 * (usize::from(SLOTS) - first);
        let (head, tail) = beats.split_at(until_end.min(beats.len()));
        self.table(queue + 16 * first as u64, head).await?;
        if !tail.is_empty() {
            self.table(queue, tail).await?;
        }
        Ok(())
    }

    /// Posts one transfer; see [`post`](Self::post).
    ///
    /// # Errors
    /// As [`post`](Self::post).
    pub async fn put(&mut self, transfer: &Descriptor) -> Result<(), RdmaError> {
        self.post(transfer.host, std::slice::from_ref(transfer), Posting::default()).await
    }

    /// Posts a transfer of any length as several, one behind the other; `transfer`'s options and its
    /// immediate are the last one's. Other transfers to this host come before or after all of it.
    ///
    /// # Errors
    /// As [`post`](Self::post). What was posted before the error goes.
    pub async fn put_long(&mut self, transfer: &Descriptor) -> Result<(), RdmaError> {
        if !transfer.bytes.is_multiple_of(BEAT) {
            let value = transfer.bytes as u64;
            return Err(WordError::Alignment { what: "size", value }.into());
        }
        let parts = transfer.bytes.div_ceil(MAX_TRANSFER).max(1);
        let part = |part: usize| {
            let at = part * MAX_TRANSFER;
            let bytes = (transfer.bytes - at).min(MAX_TRANSFER);
            let options = if part + 1 == parts { transfer.options } else { Options::default() };
            let source = transfer.source.saturating_add(at as u64);
            let target = transfer.target.saturating_add(at as u64);
            Descriptor { source, target, bytes, options, ..*transfer }
        };
        // Nothing goes where a part of it cannot be said.
        part(0).beats()?;
        part(parts - 1).beats()?;
        for first in (0..parts).step_by(CLUSTER) {
            let cluster: Vec<_> = (first..parts.min(first + CLUSTER)).map(part).collect();
            self.post(transfer.host, &cluster, Posting::Circular).await?;
        }
        Ok(())
    }

    /// Posts a transfer of any length and tells the far host when all of it is in its memory; with
    /// `completion` also this one, at once: see [`fence`](Self::fence).
    ///
    /// # Errors
    /// As [`put_long`](Self::put_long).
    pub async fn put_notify(
        &mut self,
        transfer: &Descriptor,
        completion: bool,
    ) -> Result<(), RdmaError> {
        let options = Options { notify: true, completion, ..transfer.options };
        self.put_long(&Descriptor { options, ..*transfer }).await
    }

    /// Waits until all that was posted to `host` before, transfers and messages, is in its memory, or
    /// was refused, or lost, and says how many packets were, since the last fence; which is in
    /// [`ErrorRecord`]s, that may come after this. The refusal of a notification alone, for which the far
    /// host had no place, may be counted in the next fence.
    ///
    /// It waits for the completion word. The far host acknowledges a transfer or message that asks
    /// for `completion` at once; others at the latest when
    /// [`probe_cycles`](EndpointConfig::probe_cycles) have passed twice, and that is how long this
    /// may take unless the last one of each kind asks.
    ///
    /// # Errors
    /// When not all is acknowledged in time, and once after the far host was reset. A transfer that
    /// a reset cut in two leaves numbers that are never used; then no fence to this host ends before
    /// the endpoint is opened anew.
    pub async fn fence(&mut self, host: HostId) -> Result<u32, RdmaError> {
        let at = self.host(host)?;
        let (word, waited) = (COMPLETED + BEAT * at, self.config.patience);
        let deadline = self.memory.now().saturating_add(waited);
        let mut seen = self.memory.load64(word).await?;
        loop {
            let done = Completion::from(seen);
            let missing = self.posted[at].packets.wrapping_sub(done.number);
            if missing == 0 && !done.pending {
                // A word of zero: nothing was sent, so there was no session.
                let session = if seen == 0 { self.posted[at].session } else { done.session };
                let before = std::mem::replace(&mut self.posted[at].session, session);
                let refusals = std::mem::replace(&mut self.posted[at].refusals, done.refusals);
                if before != session {
                    return Err(RdmaError::Session { host });
                }
                return Ok(done.refusals.wrapping_sub(refusals));
            }
            let left = deadline.saturating_sub(self.memory.now());
            match self.watch_word(word, seen, left).await? {
                Some(word) => seen = word,
                None => return Err(RdmaError::Fence { host, missing, waited }),
            }
        }
    }

    /// Whether a [`fence`](Self::fence) to `host` would end at once.
    ///
    /// # Errors
    /// When there is no such host, or its completion word cannot be read.
    pub async fn settled(&mut self, host: HostId) -> Result<bool, RdmaError> {
        let at = self.host(host)?;
        let done = Completion::from(self.memory.load64(COMPLETED + BEAT * at).await?);
        Ok(self.posted[at].packets == done.number && !done.pending)
    }

    /// A [`fence`](Self::fence) to every host; the sum of the refusals.
    ///
    /// # Errors
    /// The first host's whose fence failed. All have been waited for.
    pub async fn flush_all(&mut self) -> Result<u32, RdmaError> {
        let mut known = Ok(0);
        for host in 0..self.hosts {
            let here = self.fence(host).await;
            known = known.and_then(|sum: u32| here.map(|refusals| sum.wrapping_add(refusals)));
        }
        known
    }

    /// Hosts that it addresses: 0 to one less.
    #[must_use]
    pub fn hosts(&self) -> HostId {
        self.hosts
    }

    /// How it was opened.
    #[must_use]
    pub fn config(&self) -> &EndpointConfig {
        &self.config
    }

    /// Waits until at most `most` slots of a host's request queue are not given back.
    async fn wait_slots(&mut self, host: HostId, most: u16) -> Result<(), RdmaError> {
        let at = self.host(host)?;
        let word = LOCAL + BEAT * at;
        loop {
            let posted = self.posted[at];
            if posted.slots.wrapping_sub(posted.slots_back) <= most {
                return Ok(());
            }
            let back = self.changed(word, posted.slots_back.into(), host, "request").await?;
            self.posted[at].slots_back = back;
        }
    }

    async fn changed(
        &mut self,
        word: usize,
        seen: u64,
        host: HostId,
        queue: &'static str,
    ) -> Result<u16, RdmaError> {
        let waited = self.config.patience;
        match self.watch_word(word, seen, waited).await? {
            None => Err(RdmaError::Stuck { host, queue, waited }),
            Some(back) => Ok(back as u16),
        }
    }

    /// Waits until the 8 bytes at `at` of its memory are not `seen`, and gives what they are then;
    /// none when `patience` passes first. The last word of a transfer that asks for no notification
    /// can be watched so, over one path: over several another word may come last.
    ///
    /// # Errors
    /// When they are not in the memory at a multiple of 8.
    pub async fn watch_word(
        &mut self,
        at: usize,
        seen: u64,
        patience: Duration,
    ) -> Result<Option<u64>, RdmaError> {
        let size = self.memory.size();
        if !at.is_multiple_of(BEAT) || at.checked_add(BEAT).is_none_or(|end| end > size) {
            return Err(RdmaError::Place { at, size });
        }
        let mut word = self.memory.load64(at).await?;
        if word == seen && !patience.is_zero() {
            let deadline = self.memory.now().saturating_add(patience);
            word = self.memory.poll64(at, seen, deadline).await?;
        }
        Ok((word != seen).then_some(word))
    }

    /// Waits until all transfers posted to a host have left.
    ///
    /// # Errors
    /// When they do not.
    pub async fn departed(&mut self, host: HostId) -> Result<(), RdmaError> {
        self.wait_slots(host, 0).await
    }

    /// Appends a message to a far host's queue.
    ///
    /// # Errors
    /// When the body is not legal, or no room comes back.
    pub async fn send(
        &mut self,
        host: HostId,
        queue: u8,
        body: &[u8],
        options: Options,
        immediate: u32,
    ) -> Result<(), RdmaError> {
        self.send_list(host, queue, &[Message { body, options, immediate }]).await
    }

    /// Appends messages to a far host's queue, one behind the other: short ones share the bursts in which
    /// the processor writes them.
    ///
    /// # Errors
    /// When a body is not legal, and then none is sent; or when no room comes back: those that had room are
    /// sent.
    pub async fn send_list<'a>(
        &mut self,
        host: HostId,
        queue: u8,
        messages: &[Message<'a>],
    ) -> Result<(), RdmaError> {
        let entry = |message: &Message<'a>| {
            let Message { body, options, immediate } = *message;
            let header = MessageHeader { bytes: body.len(), queue, options, immediate };
            Ok((vec![header.beat()?], body))
        };
        let entries: Result<Vec<_>, WordError> = messages.iter().map(entry).collect();
        self.append(host, entries?).await
    }

    /// Writes into a far host's memory what the processor has at hand, without a buffer that the interface would
    /// read: the shortest way for a few words. They leave in the order of messages; transfers posted
    /// otherwise may pass them, or be passed.
    ///
    /// # Errors
    /// When a body or a target is not legal, and then none is written; or when no room comes back: those that had
    /// room are written.
    pub async fn put_inline(
        &mut self,
        host: HostId,
        writes: &[InlineWrite<'_>],
    ) -> Result<(), RdmaError> {
        let entries: Result<Vec<_>, WordError> =
            writes.iter().map(|write| Ok((write.head()?, write.body))).collect();
        self.append(host, entries?).await
    }

    /// Appends to a message queue: header and what follows it, then the body.
    async fn append(
        &mut self,
        host: HostId,
        entries: Vec<(Vec<u64>, &[u8])>,
    ) -> Result<(), RdmaError> {
        let at = self.host(host)?;
        let free = |posted: &Posted| MESSAGE_BEATS - posted.beats.wrapping_sub(posted.beats_back);
        // Encoded and not written yet: the queue's last beats.
        let mut bytes = Vec::new();
        for (mut head, body) in entries {
            let beats = (head.len() + body.len().div_ceil(BEAT)) as u16;
            // Room comes back with messages that say so: every one that fills the half of the queue.
            let half = MESSAGE_BEATS / 2;
            if self.posted[at].beats / half != self.posted[at].beats.wrapping_add(beats) / half {
                head[0] |= MessageHeader::LOCAL;
            }
            while free(&self.posted[at]) < beats {
                // What is waited for may be among what is not written yet.
                self.write_messages(at, &mut bytes).await?;
                let (word, seen) = (LOCAL_MESSAGES + BEAT * at, self.posted[at].beats_back);
                let back = self.changed(word, seen.into(), host, "message").await?;
                self.posted[at].beats_back = back;
            }
            self.posted[at].packets = self.posted[at].packets.wrapping_add(1);
            self.posted[at].beats = self.posted[at].beats.wrapping_add(beats);
            bytes.extend(head.iter().flat_map(|beat| beat.to_le_bytes()));
            bytes.extend_from_slice(body);
        }
        self.write_messages(at, &mut bytes).await
    }

    /// Writes the last beats of a message queue.
    async fn write_messages(&mut self, at: usize, bytes: &mut Vec<u8>) -> Result<(), RdmaError> {
        let ring = offset::MESSAGES + offset::QUEUE_BYTES * at as u64;
        let first = self.posted[at].beats.wrapping_sub((bytes.len() / BEAT) as u16);
        let first = BEAT * usize::from(first % MESSAGE_BEATS);
        let until_end = BEAT * usize::from(MESSAGE_BEATS) - first;
        let (head, tail) = bytes.split_at(until_end.min(bytes.len()));
        if !head.is_empty() {
            self.mmio.write_combined(ring + first as u64, head).await?;
        }
        if !tail.is_empty() {
            self.mmio.write_combined(ring, tail).await?;
        }
        bytes.clear();
        Ok(())
    }

    /// A source's notification as it stands.
    ///
    /// # Errors
    /// When there is no such host.
    pub async fn notification(&mut self, source: HostId) -> Result<Notification, RdmaError> {
        let at = self.host(source)?;
        Ok(self.memory.load64(NOTIFIED + BEAT * at).await?.into())
    }

    /// Waits for a source's next notification after `seen`; none when `patience` passes first.
    ///
    /// # Errors
    /// When there is no such host.
    pub async fn notified(
        &mut self,
        source: HostId,
        seen: u16,
    ) -> Result<Option<Notification>, RdmaError> {
        let word = NOTIFIED + BEAT * self.host(source)?;
        let now = self.memory.load64(word).await?;
        if Notification::from(now).count != seen {
            return Ok(Some(now.into()));
        }
        Ok(self.watch_word(word, now, self.config.patience).await?.map(Into::into))
    }

    /// A destination's completion as it stands.
    ///
    /// # Errors
    /// When there is no such host.
    pub async fn completion(&mut self, host: HostId) -> Result<Completion, RdmaError> {
        let at = self.host(host)?;
        Ok(self.memory.load64(COMPLETED + BEAT * at).await?.into())
    }

    /// The oldest error that was not taken.
    ///
    /// # Errors
    /// When the machine refuses.
    pub async fn error(&mut self) -> Result<Option<ErrorRecord>, RdmaError> {
        let at = ERRORS + 16 * usize::from(self.errors % ERROR_RECORDS);
        let phase = (self.errors / ERROR_RECORDS).is_multiple_of(2);
        let first = self.memory.load64(at).await?;
        let second = self.memory.load64(at + BEAT).await?;
        let Some(record) = ErrorRecord::parse([first, second], phase) else { return Ok(None) };
        self.errors = self.errors.wrapping_add(1);
        self.mmio.write32(regs::ERR_TAIL.into(), self.errors.into()).await?;
        Ok(Some(record))
    }
}

/// The reader of a remote queue: of slots by their frame words, of a packed one by its messages' last word.
#[derive(Debug)]
pub struct Inbox {
    index: u8,
    place: usize,
    bytes: usize,
    slot: usize,
    at: usize,
    phase: bool,
    /// Slots are given back so many at a time; taken and not given back yet.
    every: usize,
    kept: usize,
}

impl Inbox {
    /// Gives slots back with every `messages`th message, and when the queue is found empty: a store to the
    /// interface each time that is saved. 1, as it is at first, to half the slots; what is outside is taken
    /// as the nearest. Senders then have [`room`](Self::room) for as many less.
    pub fn give_back_every(&mut self, messages: usize) {
        let half = self.bytes.checked_div(self.slot).unwrap_or(0) / 2;
        self.every = messages.clamp(1, half.max(1));
    }

    /// Waits for the next message or notification, and receives it; none when `patience` passes
    /// first. It watches the frame word, which is written when the body is there.
    ///
    /// # Errors
    /// As [`receive`](Self::receive).
    pub async fn wait<M: Mmio, D: DmaMemory>(
        &mut self,
        endpoint: &mut Endpoint<M, D>,
        patience: Duration,
    ) -> Result<Option<(Frame, Vec<u8>)>, RdmaError> {
        if self.slot == 0 {
            return Ok(None);
        }
        self.give_back_kept(endpoint).await?;
        let place = self.place + self.at;
        let seen = endpoint.memory.load64(place).await?;
        let due = Frame::from(seen).phase != self.phase;
        if due && endpoint.watch_word(place, seen, patience).await?.is_none() {
            return Ok(None);
        }
        self.receive(endpoint).await
    }

    /// Messages and notifications that can always wait in it: one fewer than it has slots, without those that
    /// were taken and not given back.
    #[must_use]
    pub fn room(&self) -> usize {
        self.bytes.checked_div(self.slot).map_or(0, |slots| slots - self.every)
    }

    /// Bytes of a body, at most: a slot without its frame.
    #[must_use]
    pub fn body(&self) -> usize {
        self.slot.saturating_sub(BEAT)
    }

    /// Its number in the queue table.
    #[must_use]
    pub fn index(&self) -> u8 {
        self.index
    }

    /// The next message or notification, if it is there. Its slot is given back. A message of no
    /// bytes is one whose body could not be written.
    ///
    /// # Errors
    /// When the machine refuses. A packed queue has no frames: it never has anything here, but in
    /// [`receive_packed`](Self::receive_packed).
    pub async fn receive<M: Mmio, D: DmaMemory>(
        &mut self,
        endpoint: &mut Endpoint<M, D>,
    ) -> Result<Option<(Frame, Vec<u8>)>, RdmaError> {
        if self.slot == 0 {
            return Ok(None);
        }
        let place = self.place + self.at;
        let frame = Frame::from(endpoint.memory.load64(place).await?);
        // Counts begin at 1: a slot that was never written has none.
        if frame.phase != self.phase {
            self.give_back_kept(endpoint).await?;
            return Ok(None);
        }
        let bytes = if frame.notification { 0 } else { frame.bytes.min(self.slot - BEAT) };
        let mut body = vec![0; bytes];
        endpoint.memory.read(place + BEAT, &mut body).await?;
        self.at += self.slot;
        if self.at == self.bytes {
            (self.at, self.phase) = (0, !self.phase);
        }
        self.kept += 1;
        if self.kept >= self.every {
            self.give_back(endpoint).await?;
        }
        Ok(Some((frame, body)))
    }

    /// The next `bytes` of a packed queue, when their last word is not zero; none when `patience`
    /// passes first. They are made zero and given back.
    ///
    /// A packed queue says neither where a message ends nor from whom it is, and costs the bus one write
    /// instead of two. So its programs agree on the length, or send it, and end each message in a word that
    /// is not zero. Over several links messages may overtake each other, and a longer one be watched
    /// at a place where a shorter one ended.
    ///
    /// # Errors
    /// When `bytes` is no multiple of 8 from 8 to the queue's length, or the queue has slots, or the
    /// machine refuses.
    pub async fn receive_packed<M: Mmio, D: DmaMemory>(
        &mut self,
        endpoint: &mut Endpoint<M, D>,
        bytes: usize,
        patience: Duration,
    ) -> Result<Option<Vec<u8>>, RdmaError> {
        if self.slot != 0 || bytes == 0 || bytes > self.bytes || !bytes.is_multiple_of(BEAT) {
            return Err(RdmaError::Packed { bytes, ring: self.bytes, slots: self.slot != 0 });
        }
        let last = self.place + (self.at + bytes - BEAT) % self.bytes;
        if endpoint.watch_word(last, 0, patience).await?.is_none() {
            return Ok(None);
        }
        let mut body = vec![0; bytes];
        let first = bytes.min(self.bytes - self.at);
        for (place, part) in [(self.place + self.at, 0..first), (self.place, first..bytes)] {
            if !part.is_empty() {
                let zeros = vec![0; part.len()];
                endpoint.memory.read(place, &mut body[part]).await?;
                endpoint.memory.write(place, &zeros).await?;
            }
        }
        self.at = (self.at + bytes) % self.bytes;
        self.give_back(endpoint).await?;
        Ok(Some(body))
    }

    async fn give_back_kept<M: Mmio, D: DmaMemory>(
        &mut self,
        endpoint: &mut Endpoint<M, D>,
    ) -> Result<(), RdmaError> {
        if self.kept > 0 { self.give_back(endpoint).await } else { Ok(()) }
    }

    async fn give_back<M: Mmio, D: DmaMemory>(
        &mut self,
        endpoint: &mut Endpoint<M, D>,
    ) -> Result<(), RdmaError> {
        self.kept = 0;
        let tail = (self.at / BEAT) as u64;
        endpoint.table(offset::TAILS + 8 * u64::from(self.index), &[tail]).await
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::*;
    use crate::rdma::MAX_INLINE;
    use crate::rdma::{Fault, Key};
    use crate::transport::block_on;

    const BASE: u64 = 0x1000_0000;

    /// A board that gives back slots and beats, as many as it is allowed to, when they start.
    #[derive(Debug, Default)]
    struct Board {
        bar: std::collections::BTreeMap<u64, u64>,
        memory: Vec<u8>,
        identity: u32,
        gives_back: bool,
        starts: Vec<(usize, usize)>,
        looks: u32,
        clock: Duration,
        /// What the device writes to memory, and when.
        later: std::collections::VecDeque<(Duration, usize, Vec<u64>)>,
    }

    #[derive(Clone, Debug)]
    struct Fake(Rc<RefCell<Board>>);

    impl Fake {
        fn new() -> Self {
            let identity = IDENTITY;
            let (memory, gives_back) = (vec![0; 0x4000], true);
            Self(Rc::new(RefCell::new(Board { memory, identity, gives_back, ..Board::default() })))
        }

        async fn open(&self) -> Result<Endpoint<Self, Self>, RdmaError> {
            let config = EndpointConfig { host: 1, session: 9, ..EndpointConfig::default() };
            Endpoint::open(self.clone(), self.clone(), config).await
        }

        fn beat(&self, at: u64) -> u64 {
            self.0.borrow().bar.get(&at).copied().unwrap_or(0)
        }

        fn put(&self, at: usize, beats: &[u64]) {
            for (index, beat) in beats.iter().enumerate() {
                let at = at + 8 * index;
                self.0.borrow_mut().memory[at..at + 8].copy_from_slice(&beat.to_le_bytes());
            }
        }
    }

    impl Mmio for Fake {
        async fn read32(&mut self, at: u64) -> Result<u32, TransportError> {
            Ok(match at as u32 {
                regs::ID => self.0.borrow().identity,
                regs::VERSION => VERSION,
                regs::LIMITS => 0x14,
                // Running a look after it was enabled.
                regs::STATE => {
                    let enabled = self.beat(regs::CONTROL.into()) as u32 & 1;
                    let looks = self.0.borrow().looks;
                    self.0.borrow_mut().looks = (looks + 1) * enabled;
                    READY | u32::from(looks > 0)
                }
                _ => self.beat(at) as u32,
            })
        }

        async fn write32(&mut self, at: u64, value: u32) -> Result<(), TransportError> {
            self.0.borrow_mut().bar.insert(at, value.into());
            Ok(())
        }

        async fn write_combined(&mut self, at: u64, data: &[u8]) -> Result<(), TransportError> {
            let mut board = self.0.borrow_mut();
            let queues = offset::REQUESTS..offset::QUEUE_TABLE;
            assert!(!queues.contains(&at) || board.looks > 1, "posted before it runs");
            assert!(at.is_multiple_of(8) && data.len().is_multiple_of(8));
            for (index, bytes) in data.chunks(8).enumerate() {
                let (at, beat) =
                    (at + 8 * index as u64, u64::from_le_bytes(bytes.try_into().unwrap()));
                board.bar.insert(at, beat);
                let request = (offset::REQUESTS..offset::MESSAGES).contains(&at) && at % 16 == 8;
                if request && beat >> 49 & 1 == 1 {
                    let host = ((at - offset::REQUESTS) / offset::QUEUE_BYTES) as usize;
                    let slot = (at % offset::QUEUE_BYTES / 16) as usize;
                    board.starts.push((host, slot));
                    if board.gives_back {
                        let word = LOCAL + 8 * host;
                        let back = u16::from_le_bytes([board.memory[word], board.memory[word + 1]]);
                        let step = (slot as u16 + 1).wrapping_sub(back) % SLOTS;
                        let back = back.wrapping_add(if step == 0 { SLOTS } else { step });
                        board.memory[word..word + 2].copy_from_slice(&back.to_le_bytes());
                    }
                }
            }
            Ok(())
        }
    }

    impl DmaMemory for Fake {
        fn bus_address(&self) -> u64 {
            BASE
        }

        fn size(&self) -> usize {
            self.0.borrow().memory.len()
        }

        fn now(&self) -> Duration {
            self.0.borrow().clock
        }

        async fn read(&mut self, at: usize, buffer: &mut [u8]) -> Result<(), TransportError> {
            buffer.copy_from_slice(&self.0.borrow().memory[at..at + buffer.len()]);
            Ok(())
        }

        async fn write(&mut self, at: usize, data: &[u8]) -> Result<(), TransportError> {
            self.0.borrow_mut().memory[at..at + data.len()].copy_from_slice(data);
            Ok(())
        }

        async fn load64(&mut self, at: usize) -> Result<u64, TransportError> {
            let mut word = [0; 8];
            self.read(at, &mut word).await?;
            Ok(u64::from_le_bytes(word))
        }

        async fn poll64(
            &mut self,
            at: usize,
            seen: u64,
            until: Duration,
        ) -> Result<u64, TransportError> {
            loop {
                let due = self.0.borrow().later.front().is_some_and(|(time, ..)| *time <= until);
                let next = if due { self.0.borrow_mut().later.pop_front() } else { None };
                let Some((time, place, beats)) = next else {
                    self.0.borrow_mut().clock = until;
                    return self.load64(at).await;
                };
                self.0.borrow_mut().clock = time;
                self.put(place, &beats);
                let word = self.load64(at).await?;
                if word != seen {
                    return Ok(word);
                }
            }
        }
    }

    fn transfer(host: HostId, bytes: usize) -> Descriptor {
        let options = Options::default();
        Descriptor { source: 0x40, target: 0x80, bytes, host, options, key: None, start: false }
    }

    #[test]
    fn opening_tells_the_board_where_its_words_go() {
        block_on(async {
            let board = Fake::new();
            board.open().await.unwrap();
            for (table, place) in [
                (offset::LOCAL, LOCAL),
                (offset::LOCAL_MESSAGES, LOCAL_MESSAGES),
                (offset::NOTIFIED, NOTIFIED),
                (offset::COMPLETED, COMPLETED),
            ] {
                assert_eq!(board.beat(table + 24), BASE + place as u64 + 24);
            }
            assert_eq!(board.beat(regs::HOST.into()), 1 | 9 << 8);
            assert_eq!(board.beat(regs::CONTROL.into()), 0xF1);
            assert_eq!(board.beat(regs::ERR_BASE_LO.into()), BASE + ERRORS as u64);
        });
    }

    #[test]
    fn another_board_or_an_unknown_host_is_refused_by_name() {
        block_on(async {
            let board = Fake::new();
            board.0.borrow_mut().identity = 0xDEAD_BEEF;
            let error = board.open().await.unwrap_err().to_string();
            assert!(error.contains("0xdeadbeef") && error.contains("0x52444d41"), "{error}");
            let mut endpoint = Fake::new().open().await.unwrap();
            let error = endpoint.put(&transfer(4, 8)).await.unwrap_err().to_string();
            assert_eq!(error, "host 4: this interface addresses 0..3");
        });
    }

    #[test]
    fn descriptors_fill_their_ring_in_order_and_go_on_at_its_begin() {
        block_on(async {
            let board = Fake::new();
            let mut endpoint = board.open().await.unwrap();
            for number in 0..300 {
                endpoint.put(&transfer(2, 8 + 8 * (number % 512))).await.unwrap();
            }
            let starts = board.0.borrow().starts.clone();
            let expected: Vec<_> = (0..300).map(|number| (2, number % 128)).collect();
            assert_eq!(starts, expected);
            let at = offset::REQUESTS + 2 * offset::QUEUE_BYTES + 16 * (299 % 128);
            assert_eq!(board.beat(at + 8) >> 32 & 0x3FF, 300);
        });
    }

    #[test]
    fn a_cluster_starts_with_its_last_descriptor_and_may_cross_the_ring_s_end() {
        block_on(async {
            let board = Fake::new();
            let mut endpoint = board.open().await.unwrap();
            for _ in 0..127 {
                endpoint.put(&transfer(0, 8)).await.unwrap();
            }
            let keyed = Descriptor { key: Some((Key::new(3, 1), 5)), ..transfer(0, 8) };
            board.0.borrow_mut().starts.clear();
            endpoint.post(0, &[keyed, transfer(0, 16)], Posting::Circular).await.unwrap();
            assert_eq!(board.0.borrow().starts, [(0, 1)]);
            assert_eq!(board.beat(offset::REQUESTS + 16 * 127 + 8) >> 54 & 1, 1);
            assert_eq!(board.beat(offset::REQUESTS + 8), 5, "the immediate, in slot 0");
            assert_eq!(board.beat(offset::REQUESTS + 24) >> 49 & 3, 3, "start and local");
        });
    }

    #[test]
    fn a_queue_that_gives_nothing_back_is_an_error_and_nothing_is_overwritten() {
        block_on(async {
            let board = Fake::new();
            let mut endpoint = board.open().await.unwrap();
            board.0.borrow_mut().gives_back = false;
            for _ in 0..128 {
                endpoint.put(&transfer(3, 8)).await.unwrap();
            }
            let error = endpoint.put(&transfer(3, 16)).await.unwrap_err().to_string();
            assert_eq!(error, "host 3: its request queue gave no room back in 1s");
            assert_eq!(board.0.borrow().starts.len(), 128);
            let lazy = Posting::Lazy {
                every: 4,
                opt_in: LazyPosting::i_know_that_the_queue_may_overrun(),
            };
            endpoint.posted[3].unseen = 0;
            endpoint.post(3, &[transfer(3, 8)], lazy).await.unwrap();
        });
    }

    #[test]
    fn who_looks_every_fourth_time_waits_for_room_for_four() {
        block_on(async {
            let board = Fake::new();
            let mut endpoint = board.open().await.unwrap();
            let lazy = Posting::Lazy {
                every: 4,
                opt_in: LazyPosting::i_know_that_the_queue_may_overrun(),
            };
            board.0.borrow_mut().gives_back = false;
            for _ in 0..128 {
                endpoint.post(3, &[transfer(3, 8)], lazy).await.unwrap();
            }
            board.put(LOCAL + 24, &[3]);
            assert!(endpoint.post(3, &[transfer(3, 8)], lazy).await.is_err(), "room for three");
            board.put(LOCAL + 24, &[4]);
            for _ in 0..4 {
                endpoint.post(3, &[transfer(3, 8)], lazy).await.unwrap();
            }
            assert!(endpoint.post(3, &[transfer(3, 8)], lazy).await.is_err());
        });
    }

    #[test]
    fn errors_come_in_the_ring_s_order_through_its_end() {
        block_on(async {
            let board = Fake::new();
            let mut endpoint = board.open().await.unwrap();
            assert_eq!(endpoint.error().await.unwrap(), None);
            for number in 0..150_u64 {
                let phase = (number / 64 + 1) % 2;
                let record = phase << 63 | 1 << 23 | 2 << 16 | (number % 128) << 8 | 4;
                board.put(ERRORS + 16 * (number % 64) as usize, &[record, 0x100 + number]);
                let found = endpoint.error().await.unwrap().unwrap();
                assert_eq!((found.fault, found.host, found.ours), (Some(Fault::Bounds), 2, true));
                assert_eq!((u64::from(found.tag), found.address), (number % 128, 0x100 + number));
                assert_eq!(endpoint.error().await.unwrap(), None);
                assert_eq!(board.beat(regs::ERR_TAIL.into()), number + 1);
            }
        });
    }

    #[test]
    fn an_inbox_gives_messages_in_order_and_their_slots_back() {
        block_on(async {
            let board = Fake::new();
            let mut endpoint = board.open().await.unwrap();
            let (base, bytes) = (BASE + 0x1000, 256);
            let entry = QueueEntry { base, bytes, layout: Layout::Slots(64), sources: 0xF };
            let mut inbox = endpoint.open_queue(7, &entry).await.unwrap();
            for number in 0..10_u64 {
                assert!(inbox.receive(&mut endpoint).await.unwrap().is_none());
                let phase = (number / 4 + 1) % 2;
                let frame = phase | 2 << 1 | 3 << 8 | (number + 1) << 16 | 0xAB << 32;
                board.put(0x1000 + 64 * (number % 4) as usize, &[frame, number, !number]);
                let (frame, body) = inbox.receive(&mut endpoint).await.unwrap().unwrap();
                assert_eq!(
                    (frame.source, frame.count, frame.immediate),
                    (3, number as u16 + 1, 0xAB)
                );
                assert_eq!(body[..8], number.to_le_bytes());
                assert_eq!(board.beat(offset::TAILS + 56), (number + 1) % 4 * 8);
            }
            let outside = QueueEntry { base: BASE, ..entry };
            assert!(endpoint.open_queue(8, &outside).await.is_err());
        });
    }

    #[test]
    fn who_waits_at_an_inbox_gets_what_comes_next_or_nothing_in_time() {
        block_on(async {
            let board = Fake::new();
            let mut endpoint = board.open().await.unwrap();
            let (base, bytes) = (BASE + 0x1000, 256);
            let entry = QueueEntry { base, bytes, layout: Layout::Slots(64), sources: 0xF };
            let mut inbox = endpoint.open_queue(7, &entry).await.unwrap();
            assert_eq!((inbox.room(), inbox.body(), inbox.index()), (3, 56, 7));
            let ms = Duration::from_millis;
            assert!(inbox.wait(&mut endpoint, ms(5)).await.unwrap().is_none());
            assert_eq!(board.0.borrow().clock, ms(5));
            for number in 0..10_u64 {
                let phase = (number / 4 + 1) % 2;
                let place = 0x1000 + 64 * (number % 4) as usize;
                let frame = phase | 1 << 1 | 3 << 8 | (number + 1) << 16;
                let start = board.0.borrow().clock;
                // The body is there before its frame.
                let times = [(start + ms(1), place + 8, number), (start + ms(2), place, frame)];
                for (time, place, beat) in times {
                    board.0.borrow_mut().later.push_back((time, place, vec![beat]));
                }
                let (frame, body) = inbox.wait(&mut endpoint, ms(9)).await.unwrap().unwrap();
                assert_eq!((frame.count, body), (number as u16 + 1, number.to_le_bytes().to_vec()));
                assert_eq!(board.0.borrow().clock, start + ms(2));
            }
            // What is there already is given at once.
            board.put(0x1000 + 128, &[1 | 1 << 1 | 1 << 16, 77]);
            let before = board.0.borrow().clock;
            assert!(inbox.wait(&mut endpoint, ms(9)).await.unwrap().is_some());
            assert_eq!(board.0.borrow().clock, before);
        });
    }

    #[test]
    fn a_watched_word_is_one_of_the_memory() {
        block_on(async {
            let board = Fake::new();
            let mut endpoint = board.open().await.unwrap();
            let ms = Duration::from_millis;
            board.put(0x2000, &[5]);
            assert_eq!(endpoint.watch_word(0x2000, 4, ms(1)).await.unwrap(), Some(5));
            assert_eq!(endpoint.watch_word(0x2000, 5, ms(1)).await.unwrap(), None);
            assert_eq!(endpoint.watch_word(0x2000, 5, Duration::ZERO).await.unwrap(), None);
            assert_eq!(board.0.borrow().clock, ms(1), "no patience, no time");
            board.0.borrow_mut().later.push_back((ms(2), 0x2000, vec![6]));
            assert_eq!(endpoint.watch_word(0x2000, 5, Duration::MAX).await.unwrap(), Some(6));
            assert_eq!(board.0.borrow().clock, ms(2));
            for at in [0x2004, 0x3FFC, 0x4000, usize::MAX - 7] {
                let error = endpoint.watch_word(at, 0, ms(1)).await.unwrap_err().to_string();
                assert!(error.contains("in a memory of 16384 bytes"), "{error}");
            }
        });
    }

    #[test]
    fn a_write_may_lie_in_the_message_queue_with_its_data() {
        block_on(async {
            let board = Fake::new();
            let mut endpoint = board.open().await.unwrap();
            let (none, told) = (
                Options::default(),
                Options { notify: true, completion: true, ..Options::default() },
            );
            let body = [7; 24];
            let plain =
                InlineWrite { body: &body, target: 0x1_2345_6780, options: none, key: None };
            let keyed = InlineWrite { options: told, key: Some((Key::new(9, 5), 0xABC)), ..plain };
            endpoint.put_inline(2, &[plain, keyed]).await.unwrap();
            endpoint.send(2, 3, &[1; 8], none, 0).await.unwrap();
            let ring = offset::MESSAGES + 2 * offset::QUEUE_BYTES;
            let word = u64::from_le_bytes([7; 8]);
            let expected = [
                4 | 1 << 20,
                0x1_2345_6780,
                word,
                word,
                word,
                5 | 1 << 17 | 1 << 19 | 3 << 20,
                0x1_2345_6780,
                0xABC << 32 | 5 << 8 | 9,
                word,
                word,
                word,
                1 | 3 << 8,
            ];
            for (at, beat) in expected.into_iter().enumerate() {
                assert_eq!(board.beat(ring + 8 * at as u64), beat, "beat {at}");
            }
            let long = [0; MAX_INLINE + 8];
            for (write, what) in [
                (InlineWrite { target: 4, ..plain }, "target"),
                (InlineWrite { body: &long, ..plain }, "inline write"),
                (InlineWrite { body: &long[8..], ..keyed }, "inline write"),
                (InlineWrite { body: &body[4..], ..plain }, "inline write"),
                (InlineWrite { body: &[], ..plain }, "inline write"),
            ] {
                let error = endpoint.put_inline(2, &[plain, write]).await.unwrap_err().to_string();
                assert!(error.contains(what), "{error}");
            }
            assert_eq!(board.beat(ring + 8 * 13), 0, "nothing of what was refused is there");
            let longest = InlineWrite { body: &long[8..], ..plain };
            endpoint.put_inline(2, &[longest]).await.unwrap();
        });
    }

    #[test]
    fn messages_lie_behind_each_other_and_wait_for_room() {
        block_on(async {
            let board = Fake::new();
            let mut endpoint = board.open().await.unwrap();
            let none = Options::default();
            for number in 0..51_u64 {
                endpoint.send(2, 7, &[number as u8; 32], none, 0).await.unwrap();
            }
            let ring = offset::MESSAGES + 2 * offset::QUEUE_BYTES;
            assert_eq!(board.beat(ring + 8 * 50), 4 | 7 << 8);
            assert_eq!(board.beat(ring + 8 * 51), 0x0A0A_0A0A_0A0A_0A0A);
            let error = endpoint.send(2, 7, &[1; 32], none, 0).await.unwrap_err().to_string();
            assert!(error.contains("message queue"), "{error}");
            board.put(LOCAL_MESSAGES + 16, &[200]);
            endpoint.send(2, 7, &[1; 32], none, 0).await.unwrap();
            assert_eq!(board.beat(ring + 8 * 255) & 0xFFFF, 4 | 7 << 8);
            assert_eq!(board.beat(ring), 0x0101_0101_0101_0101);
        });
    }
}
