// SPDX-License-Identifier: Apache-2.0

use std::ops::Range;
use std::time::Duration;

use super::endpoint::{CONTROL_BYTES, Endpoint};
use super::error::RdmaError;
use super::inbox::Inbox;
use super::phases::{PhaseTimer, Phases};
use super::words::{
    Descriptor, Frame, HostId, Key, Layout, Options, QueueEntry, Region, WordError,
};
use crate::pcie::{DmaMemory, Mmio};

const BEAT: usize = 8;

/// What a message or a notification of a group is about; with its call's number and an index in
/// the immediate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Barrier = 1,
    Block = 2,
    Part = 3,
    Credit = 4,
    Hello = 5,
    Welcome = 6,
}

const INDEX_BITS: u32 = 20;
/// The last part of a block.
const LAST: u32 = 1 << (INDEX_BITS - 1);

fn tag(call: u8, kind: Kind, index: u32) -> u32 {
    u32::from(call) << 24 | (kind as u32) << INDEX_BITS | index
}

/// Where the others write at a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Its address on that host's bus.
    pub address: u64,
    /// Its bytes.
    pub bytes: u64,
    /// The key of its region.
    pub key: Key,
}

/// What a member of a group gives to it.
#[derive(Clone, Debug)]
pub struct GroupConfig {
    /// All members, in the same order at each; a host's place is its *rank*.
    pub members: Vec<HostId>,
    /// The same queue at each, used by the group alone.
    pub queue: u8,
    /// Where that queue lies in the endpoint's memory.
    pub ring: Range<usize>,
    /// Bytes of its slots: 64, 128, 256 or 512.
    pub slot: usize,
    /// The region entry that the window takes.
    pub region: u8,
    /// Its nonce.
    pub nonce: u32,
    /// Where in the endpoint's memory the others write; not empty.
    pub window: Range<usize>,
}

/// Something that came and was not asked for yet.
#[derive(Debug)]
struct Arrived {
    rank: usize,
    tag: u32,
    body: Vec<u8>,
}

/// Hosts that do something together: every member makes the same calls in the same order.
///
/// A member leaves a call only when all have entered it. So what two calls write can be in flight
/// at a time, never more; the queue has room for that, or the call says so.
#[derive(Debug)]
pub struct Group {
    members: Vec<HostId>,
    rank: usize,
    inbox: Inbox,
    place: Range<usize>,
    own: Window,
    windows: Vec<Option<Window>>,
    call: u8,
    early: Vec<Arrived>,
}

impl Group {
    /// Opens this member's queue and window. Nothing is sent. If it is known that all
    /// others have opened theirs, and where, go on with [`know`](Self::know), else with
    /// [`join`](Self::join).
    ///
    /// # Errors
    /// When this host is not a member or is listed twice, ranges are not in the endpoint's memory,
    /// or the queue has not room for two barriers.
    pub async fn open<M: Mmio, D: DmaMemory>(
        endpoint: &mut Endpoint<M, D>,
        config: &GroupConfig,
    ) -> Result<Self, RdmaError> {
        let GroupConfig { members, queue, ring, slot, region, nonce, window } = config;
        let host = endpoint.config().host;
        let mut sources = 0;
        for member in members {
            if *member >= endpoint.hosts() || sources >> member & 1 == 1 {
                let most = endpoint.hosts() - 1;
                return Err(RdmaError::Host { host: *member, most });
            }
            sources |= 1 << member;
        }
        let Some(rank) = members.iter().position(|member| *member == host) else {
            return Err(RdmaError::Host { host, most: endpoint.hosts() - 1 });
        };
        let (size, base) = (endpoint.memory().size(), endpoint.memory().bus_address());
        for range in [ring, window] {
            if range.start < CONTROL_BYTES || range.end > size || range.is_empty() {
                let needed = range.end.max(CONTROL_BYTES);
                return Err(RdmaError::Memory { size, address: base, needed });
            }
        }
        let entry = QueueEntry {
            base: base + ring.start as u64,
            bytes: ring.len() as u64,
            layout: Layout::Slots(*slot),
            sources,
        };
        let own = Window {
            address: base + window.start as u64,
            bytes: window.len() as u64,
            key: Key::new(*region, *nonce),
        };
        let inbox = endpoint.open_queue(*queue, &entry).await?;
        let (bytes, queue, nonce) = (own.bytes, Some(*queue), *nonce);
        let window_region = Region { base: own.address, bytes, sources, nonce, queue };
        endpoint.register(*region, &window_region).await?;
        let mut windows = vec![None; members.len()];
        windows[rank] = Some(own);
        let members = members.clone();
        let place = window.clone();
        let group = Self { members, rank, inbox, place, own, windows, call: 0, early: vec![] };
        let rounds = group.len().next_power_of_two().trailing_zeros() as usize;
        group.require_slots("two barriers", 2 * rounds.max(group.len() - 1))?;
        Ok(group)
    }

    /// Members.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "this host is always a member")]
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// This host's place among them.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// A member's host.
    #[must_use]
    pub fn host(&self, rank: usize) -> HostId {
        self.members[rank]
    }

    /// This member's window, for the others to [`know`](Self::know).
    #[must_use]
    pub fn window(&self) -> Window {
        self.own
    }

    /// All windows, by rank, where they are known otherwise: all members have opened theirs.
    ///
    /// # Errors
    /// When there are not as many as members.
    pub fn know(&mut self, windows: &[Window]) -> Result<(), RdmaError> {
        if windows.len() != self.len() {
            let (needed, has) = (self.len(), windows.len());
            return Err(RdmaError::Room { what: "all windows", needed, has });
        }
        self.windows = windows.iter().copied().map(Some).collect();
        Ok(())
    }

    /// Asks the others where their windows are, and sends the place of its own.
    ///
    /// A member that has not opened its queue refuses the question: an error record of fault
    /// [`Queue`](super::Fault::Queue) is left in this endpoint's ring, and it asks itself when it joins.
    /// Questions and answers count in the [notification](Endpoint::notification) of their receiver.
    ///
    /// # Errors
    /// When one does not answer in time.
    pub async fn join<M: Mmio, D: DmaMemory>(
        &mut self,
        endpoint: &mut Endpoint<M, D>,
    ) -> Result<(), RdmaError> {
        let waited = endpoint.config().timeout;
        let deadline = endpoint.memory().now().saturating_add(waited);
        loop {
            for rank in 0..self.len() {
                if self.windows[rank].is_none() {
                    self.tell(endpoint, rank, Kind::Hello).await?;
                }
            }
            let again = endpoint.memory().now().saturating_add(waited / 8).min(deadline);
            loop {
                let Some(missing) = self.windows.iter().position(Option::is_none) else {
                    return Ok(());
                };
                let now = endpoint.memory().now();
                if now >= deadline {
                    let host = self.members[missing];
                    return Err(RdmaError::Silent { what: "its window", host, waited });
                }
                if !self.listen(endpoint, again.saturating_sub(now)).await? {
                    break;
                }
            }
        }
    }

    async fn tell<M: Mmio, D: DmaMemory>(
        &self,
        endpoint: &mut Endpoint<M, D>,
        rank: usize,
        kind: Kind,
    ) -> Result<(), RdmaError> {
        let Window { address, bytes, key } = self.own;
        let beats = [address, bytes, key.bits().into()];
        let body: Vec<u8> = beats.into_iter().flat_map(u64::to_le_bytes).collect();
        // A refused question marks its flow as failed until the next notification, which is its own.
        let options = Options { notify: true, ..Options::default() };
        let (host, queue) = (self.members[rank], self.inbox.index());
        endpoint.send(host, queue, &body, options, tag(0, kind, 0)).await
    }

    async fn send<M: Mmio, D: DmaMemory>(
        &self,
        endpoint: &mut Endpoint<M, D>,
        rank: usize,
        body: &[u8],
        tag: u32,
    ) -> Result<(), RdmaError> {
        let (host, queue) = (self.members[rank], self.inbox.index());
        endpoint.send(host, queue, body, Options::default(), tag).await
    }

    /// Takes one thing that came to the queue; false when `timeout` passes first.
    async fn listen<M: Mmio, D: DmaMemory>(
        &mut self,
        endpoint: &mut Endpoint<M, D>,
        timeout: Duration,
    ) -> Result<bool, RdmaError> {
        let Some((frame, body)) = self.inbox.wait(endpoint, timeout).await? else {
            return Ok(false);
        };
        let Frame { source: host, immediate, .. } = frame;
        // No member: the queue's sources have been changed.
        let Some(rank) = self.members.iter().position(|member| *member == host) else {
            return Ok(true);
        };
        if (frame.notification && frame.bytes != 0) || (!frame.notification && frame.bytes == 0) {
            return Err(RdmaError::Spoilt { host });
        }
        let hello = immediate == tag(0, Kind::Hello, 0);
        if hello || immediate == tag(0, Kind::Welcome, 0) {
            if let Some([address, bytes, key]) = beats(&body) {
                let key = Key::new(key as u8, (key >> 8) as u32);
                self.windows[rank] = Some(Window { address, bytes, key });
            }
            if hello {
                self.tell(endpoint, rank, Kind::Welcome).await?;
            }
        } else {
            self.early.push(Arrived { rank, tag: immediate, body });
        }
        Ok(true)
    }

    /// What member `rank` sent for this index of this call.
    async fn take<M: Mmio, D: DmaMemory>(
        &mut self,
        endpoint: &mut Endpoint<M, D>,
        rank: usize,
        kind: Kind,
        index: u32,
    ) -> Result<Vec<u8>, RdmaError> {
        let wanted = tag(self.call, kind, index);
        let what = match kind {
            Kind::Barrier => "its word of the barrier",
            Kind::Credit => "room for more",
            _ => "its block",
        };
        Ok(self.find(endpoint, rank, [wanted, wanted], what).await?.body)
    }

    async fn find<M: Mmio, D: DmaMemory>(
        &mut self,
        endpoint: &mut Endpoint<M, D>,
        rank: usize,
        tags: [u32; 2],
        what: &'static str,
    ) -> Result<Arrived, RdmaError> {
        let waited = endpoint.config().timeout;
        let deadline = endpoint.memory().now().saturating_add(waited);
        loop {
            let here = |it: &Arrived| it.rank == rank && tags.contains(&it.tag);
            if let Some(found) = self.early.iter().position(here) {
                return Ok(self.early.swap_remove(found));
            }
            let left = deadline.saturating_sub(endpoint.memory().now());
            if !self.listen(endpoint, left).await? {
                return Err(RdmaError::Silent { what, host: self.members[rank], waited });
            }
        }
    }

    /// Begins a call of the program's own, made of [`put_block`](Self::put_block),
    /// [`take_block`](Self::take_block), [`release`](Self::release) and [`released`](Self::released). What an
    /// older call left in the queue is discarded. All members begin the same calls in the same order.
    pub fn begin(&mut self) {
        self.call = self.call.wrapping_add(1);
        let (this, next) = (self.call, self.call.wrapping_add(1));
        self.early.retain(|it| [this, next].contains(&((it.tag >> 24) as u8)));
    }

    /// A short word for member `rank`.
    async fn say<M: Mmio, D: DmaMemory>(
        &self,
        endpoint: &mut Endpoint<M, D>,
        rank: usize,
        kind: Kind,
        index: u32,
    ) -> Result<(), RdmaError> {
        self.send(endpoint, rank, &[0; BEAT], tag(self.call, kind, index)).await
    }

    /// Checks that the queue can hold `needed` messages and notifications; `what` names them in the error.
    ///
    /// # Errors
    /// When it cannot.
    pub fn require_slots(&self, what: &'static str, needed: usize) -> Result<(), RdmaError> {
        let has = self.inbox.room();
        if needed > has { Err(RdmaError::Room { what, needed, has }) } else { Ok(()) }
    }

    /// Messages that a member receives from two exchanges of blocks of `bytes` bytes.
    #[must_use]
    pub fn messages(&self, bytes: usize) -> usize {
        let parts = bytes.div_ceil(self.inbox.body());
        parts.saturating_mul(2 * (self.len() - 1))
    }

    /// Where this member's window lies in the endpoint's memory.
    #[must_use]
    pub fn window_range(&self) -> Range<usize> {
        self.place.clone()
    }

    /// Waits until member `rank` has put the block of this round of this call.
    ///
    /// # Errors
    /// When it does not come before the endpoint's timeout, or arrives corrupt.
    pub async fn take_block<M: Mmio, D: DmaMemory>(
        &mut self,
        endpoint: &mut Endpoint<M, D>,
        rank: usize,
        round: u32,
    ) -> Result<(), RdmaError> {
        self.take(endpoint, rank, Kind::Block, round).await.map(drop)
    }

    /// Notifies member `rank` that the block of its round has been taken: its place in the window is free.
    ///
    /// # Errors
    /// When the message cannot be sent.
    pub async fn release<M: Mmio, D: DmaMemory>(
        &self,
        endpoint: &mut Endpoint<M, D>,
        rank: usize,
        round: u32,
    ) -> Result<(), RdmaError> {
        self.say(endpoint, rank, Kind::Credit, round).await
    }

    /// Waits until member `rank` has released the block of this round.
    ///
    /// # Errors
    /// When it does not before the endpoint's timeout.
    pub async fn released<M: Mmio, D: DmaMemory>(
        &mut self,
        endpoint: &mut Endpoint<M, D>,
        rank: usize,
        round: u32,
    ) -> Result<(), RdmaError> {
        self.take(endpoint, rank, Kind::Credit, round).await.map(drop)
    }

    /// Writes `bytes` bytes from `from` in the endpoint's memory to `to` in member `rank`'s window, with a
    /// notification of this round.
    ///
    /// # Errors
    /// When the window is unknown or too small, the round needs more than 20 bits, or the interface refuses.
    pub async fn put_block<M: Mmio, D: DmaMemory>(
        &self,
        endpoint: &mut Endpoint<M, D>,
        rank: usize,
        (from, to, bytes): (usize, usize, usize),
        round: u32,
    ) -> Result<(), RdmaError> {
        if round >> INDEX_BITS != 0 {
            let needed = usize::try_from(round).unwrap_or(usize::MAX).saturating_add(1);
            return Err(RdmaError::Room { what: "rounds", needed, has: 1 << INDEX_BITS });
        }
        let host = self.members[rank];
        let Some(window) = self.windows[rank] else {
            let waited = Duration::ZERO;
            return Err(RdmaError::Silent { what: "its window", host, waited });
        };
        // What a member says of its window is its own affair.
        if (to + bytes) as u64 > window.bytes {
            let has = usize::try_from(window.bytes).unwrap_or(usize::MAX);
            return Err(RdmaError::Room { what: "a block in a window", needed: to + bytes, has });
        }
        let put = Descriptor {
            source: endpoint.memory().bus_address() + from as u64,
            target: window.address.wrapping_add(to as u64),
            bytes,
            host,
            options: Options::default(),
            key: Some((window.key, tag(self.call, Kind::Block, round))),
            start: false,
        };
        endpoint.put_notify(&put, false).await
    }

    /// Waits until all members are here: each notifies another one in as many rounds as it takes
    /// for the word to reach all, log2 of their number.
    ///
    /// # Errors
    /// When one does not come in time.
    pub async fn barrier<M: Mmio, D: DmaMemory>(
        &mut self,
        endpoint: &mut Endpoint<M, D>,
    ) -> Result<(), RdmaError> {
        self.begin();
        let (count, rank) = (self.len(), self.rank);
        let mut step = 1;
        let mut round = 0;
        while step < count {
            self.say(endpoint, (rank + step) % count, Kind::Barrier, round).await?;
            self.take(endpoint, (rank + count - step) % count, Kind::Barrier, round).await?;
            (step, round) = (2 * step, round + 1);
        }
        Ok(())
    }

    /// Each member gives each a block of `block` bytes, by remote writes: what it has at
    /// `from + block * R` of the endpoint's memory goes to member R's window, to
    /// `to + block * (own rank)`. When this returns all blocks are in this member's window and its
    /// own ones have left. What it returns says where its time went.
    ///
    /// The others write to the window as soon as they have entered: a program that still reads the
    /// last call's data takes another `to` for this one, and the first one again for the next.
    ///
    /// # Errors
    /// When a block is not a multiple of 8 bytes or not inside a window, one is missing when the
    /// endpoint's timeout has passed, or one is incomplete.
    pub async fn all_to_all<M: Mmio, D: DmaMemory>(
        &mut self,
        endpoint: &mut Endpoint<M, D>,
        from: usize,
        to: usize,
        block: usize,
    ) -> Result<Phases, RdmaError> {
        let (count, rank) = (self.len(), self.rank);
        self.require_slots("the notifications of two exchanges", 2 * (count - 1))?;
        let size = endpoint.memory().size();
        let own = from.saturating_add(block.saturating_mul(count));
        if own > size {
            return Err(RdmaError::Place { at: own, size });
        }
        let (needed, has) = (to.saturating_add(block.saturating_mul(count)), self.place.len());
        if needed > has {
            return Err(RdmaError::Room { what: "the blocks in a window", needed, has });
        }
        let mut watch = PhaseTimer::new(endpoint.memory().now());
        self.begin();
        // Each begins with another one, so that no member is written to by all at once.
        for step in 1..count {
            let far = (rank + step) % count;
            self.put_block(endpoint, far, (from + block * far, to + block * rank, block), 0)
                .await?;
        }
        watch.lap(endpoint.memory().now(), |phases| &mut phases.post);
        let mut data = vec![0; block];
        endpoint.memory().read(from + block * rank, &mut data).await?;
        endpoint.memory().write(self.place.start + to + block * rank, &data).await?;
        watch.lap(endpoint.memory().now(), |phases| &mut phases.compute);
        for step in 1..count {
            self.take(endpoint, (rank + count - step) % count, Kind::Block, 0).await?;
        }
        for step in 1..count {
            endpoint.departed(self.members[(rank + step) % count]).await?;
        }
        watch.lap(endpoint.memory().now(), |phases| &mut phases.network);
        Ok(watch.phases())
    }

    /// Each member gives each a block, by messages: block R goes to member R, and what comes back
    /// has member R's at place R. Without a round trip of host memory, so better for short blocks;
    /// above a slot's bytes a block takes several messages.
    ///
    /// # Errors
    /// When blocks are not as many as members, empty or no multiple of 8 bytes, two calls of such
    /// blocks have not room in the queue, or a block is missing when the endpoint's timeout has passed.
    pub async fn all_to_all_messages<M: Mmio, D: DmaMemory>(
        &mut self,
        endpoint: &mut Endpoint<M, D>,
        blocks: &[Vec<u8>],
    ) -> Result<Vec<Vec<u8>>, RdmaError> {
        let (count, rank, most) = (self.len(), self.rank, self.inbox.body());
        if blocks.len() != count {
            let has = blocks.len();
            return Err(RdmaError::Room { what: "a block for each", needed: count, has });
        }
        let mut longest = 0;
        for block in blocks {
            let value = block.len() as u64;
            if block.is_empty() || !block.len().is_multiple_of(BEAT) {
                return Err(WordError::Alignment { what: "block", value }.into());
            }
            longest = longest.max(block.len());
        }
        self.require_slots("the messages of two exchanges", self.messages(longest))?;
        self.begin();
        for step in 1..count {
            let far = (rank + step) % count;
            let mut index = 0;
            let mut parts = blocks[far].chunks(most).peekable();
            while let Some(part) = parts.next() {
                let last = if parts.peek().is_none() { LAST } else { 0 };
                self.send(endpoint, far, part, tag(self.call, Kind::Part, index | last)).await?;
                index += 1;
            }
        }
        let mut gathered = vec![vec![]; count];
        gathered[rank].clone_from(&blocks[rank]);
        for step in 1..count {
            let from = (rank + count - step) % count;
            gathered[from] = self.parts(endpoint, from).await?;
        }
        Ok(gathered)
    }

    /// All parts of a member's block, in whatever order they came.
    async fn parts<M: Mmio, D: DmaMemory>(
        &mut self,
        endpoint: &mut Endpoint<M, D>,
        rank: usize,
    ) -> Result<Vec<u8>, RdmaError> {
        let mut block = vec![];
        for index in 0.. {
            let last = tag(self.call, Kind::Part, index | LAST);
            let found = self.find(endpoint, rank, [last ^ LAST, last], "its block").await?;
            block.extend_from_slice(&found.body);
            if found.tag == last {
                break;
            }
        }
        Ok(block)
    }

    /// Each member gives all the same block; what comes back has member R's at place R.
    ///
    /// # Errors
    /// As [`all_to_all_messages`](Self::all_to_all_messages).
    pub async fn all_gather<M: Mmio, D: DmaMemory>(
        &mut self,
        endpoint: &mut Endpoint<M, D>,
        block: &[u8],
    ) -> Result<Vec<Vec<u8>>, RdmaError> {
        self.all_to_all_messages(endpoint, &vec![block.to_vec(); self.len()]).await
    }
}

/// A body of exactly this many beats.
pub(super) fn beats<const COUNT: usize>(body: &[u8]) -> Option<[u64; COUNT]> {
    let (chunks, rest) = body.as_chunks::<BEAT>();
    let beats: Vec<u64> = chunks.iter().map(|beat| u64::from_le_bytes(*beat)).collect();
    if rest.is_empty() { beats.try_into().ok() } else { None }
}
