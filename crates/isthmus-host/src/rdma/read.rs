// SPDX-License-Identifier: Apache-2.0

use std::ops::Range;
use std::time::Duration;

use super::endpoint::{CONTROL_BYTES, Endpoint};
use super::error::RdmaError;
use super::group::beats;
use super::inbox::Inbox;
use super::words::{
    Descriptor, Frame, HostId, Key, Layout, MAX_TRANSFER, Options, QueueEntry, Region, WordError,
};
use crate::pcie::{DmaMemory, Mmio};

const BEAT: usize = 8;
/// What begins a request: no other message begins so by mistake.
const REQUEST: u64 = 0x4441_4552;
const REQUEST_BEATS: usize = 6;

/// Memory that others may read, by asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Readable {
    /// Its address on this host's bus.
    pub base: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Hosts that may, a bit each.
    pub sources: u8,
    /// Lowest 24 bits: what a key must repeat. The key's entry is the place in the list.
    pub nonce: u32,
}

/// Why a host did not give what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// No such entry, wrong nonce, or this host may not read there.
    #[error("refused: no such memory, wrong key, or this host may not read it")]
    Key,
    /// Outside.
    #[error("refused: outside the readable memory")]
    Bounds,
    /// A transfer of the answer, or one before it, was refused or lost.
    #[error("the answer is incomplete")]
    Spoilt,
    /// Nothing was answered. Records of the endpoint's errors say whether the question was refused.
    #[error("no answer in {0:?}")]
    TimedOut(Duration),
    /// An answer of which nothing is known here.
    #[error("refused: code {0}")]
    Other(u64),
}

impl ReadError {
    /// As a refusal says it.
    fn code(self) -> u64 {
        match self {
            Self::Key => 1,
            Self::Bounds => 2,
            Self::Other(code) => code,
            Self::Spoilt | Self::TimedOut(_) => 0,
        }
    }

    fn from_code(code: u64) -> Self {
        match code {
            1 => Self::Key,
            2 => Self::Bounds,
            other => Self::Other(other),
        }
    }
}

/// What is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remote {
    /// Whose memory.
    pub host: HostId,
    /// The queue at which that host serves.
    pub queue: u8,
    /// Where, on that host's bus.
    pub address: u64,
    /// Bytes, a multiple of 8.
    pub bytes: usize,
    /// The key of its [`Readable`].
    pub key: Key,
}

/// A read that was begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ticket(u32);

/// A read that has ended: either way nothing of it is written any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Which.
    pub ticket: Ticket,
    /// The host that was read.
    pub host: HostId,
    /// All is in memory, or why not.
    pub result: Result<(), ReadError>,
}

#[derive(Debug)]
struct Flight {
    ticket: Ticket,
    host: HostId,
    region: u8,
    /// Transfers of the answer that have not been notified.
    missing: usize,
    spoilt: bool,
    began: Duration,
}

/// What a reader needs of its endpoint.
#[derive(Clone, Debug)]
pub struct ReaderConfig {
    /// The queue to which answers come, the reader's alone.
    pub queue: u8,
    /// Where it lies in the endpoint's memory: slots of 64 bytes.
    pub ring: Range<usize>,
    /// Region entries of which each read in progress takes one, not one of the first 8.
    pub regions: Range<u8>,
    /// Begin of the nonces; another one at each opening of the endpoint.
    pub nonce: u32,
    /// How long an answer may take.
    pub timeout: Duration,
}

/// Reads other hosts' memory: the interface writes alone, so the remote host's program is asked for
/// a write, and its [`serve_reads`] posts it.
///
/// Each read has a region of its own, with a nonce that is used once: an answer to a read that has ended,
/// or a second answer, is refused before it is written.
#[derive(Debug)]
pub struct Reader {
    config: ReaderConfig,
    inbox: Inbox,
    free: Vec<u8>,
    flights: Vec<Flight>,
    next: u32,
}

impl Reader {
    /// Opens its queue.
    ///
    /// # Errors
    /// When queue, ring or regions cannot be.
    pub async fn open<M: Mmio, D: DmaMemory>(
        endpoint: &mut Endpoint<M, D>,
        config: ReaderConfig,
    ) -> Result<Self, RdmaError> {
        if config.regions.start < 8 || config.regions.end > 64 || config.regions.is_empty() {
            let index = usize::from(config.regions.end);
            return Err(RdmaError::Entry { table: "readers' region", index });
        }
        let entry = QueueEntry {
            base: endpoint.memory().bus_address() + config.ring.start as u64,
            bytes: config.ring.len() as u64,
            layout: Layout::Slots(64),
            sources: 0xFF,
        };
        let inbox = endpoint.open_queue(config.queue, &entry).await?;
        let free = config.regions.clone().rev().collect();
        let next = config.nonce;
        Ok(Self { config, inbox, free, flights: vec![], next })
    }

    /// Reads in progress.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.flights.len()
    }

    /// Whether another read of `bytes` can begin before one ends.
    #[must_use]
    pub fn has_room(&self, bytes: usize) -> bool {
        !self.free.is_empty() && self.due(bytes) <= self.inbox.room()
    }

    /// What may come to the queue: each transfer's notification, or one refusal.
    fn due(&self, bytes: usize) -> usize {
        let due: usize = self.flights.iter().map(|flight| flight.missing.max(1)).sum();
        due + bytes.div_ceil(MAX_TRANSFER).max(1)
    }

    /// Asks for `remote`, to be written to `place` in the endpoint's memory, and does not wait.
    ///
    /// # Errors
    /// When it has no room, lengths or places cannot be, or the question cannot be posted.
    pub async fn begin<M: Mmio, D: DmaMemory>(
        &mut self,
        endpoint: &mut Endpoint<M, D>,
        remote: &Remote,
        place: usize,
    ) -> Result<Ticket, RdmaError> {
        let Remote { host, queue, address, bytes, key } = *remote;
        let (size, base) = (endpoint.memory().size(), endpoint.memory().bus_address());
        for (what, value) in [("size", bytes), ("place", place)] {
            let value = value as u64;
            if !value.is_multiple_of(8) {
                return Err(WordError::Alignment { what, value }.into());
            }
        }
        if bytes == 0 || !address.is_multiple_of(8) {
            let (what, value) = ("address, or size,", if bytes == 0 { 0 } else { address });
            return Err(WordError::Alignment { what, value }.into());
        }
        if place < CONTROL_BYTES || place.checked_add(bytes).is_none_or(|end| end > size) {
            return Err(RdmaError::Place { at: place, size });
        }
        if host >= endpoint.hosts() {
            return Err(RdmaError::Host { host, most: endpoint.hosts() - 1 });
        }
        let (needed, has) = (self.due(bytes), self.inbox.room());
        if needed > has {
            return Err(RdmaError::Room { what: "transfers in progress to a reader", needed, has });
        }
        let Some(region) = self.free.pop() else {
            let (needed, has) = (self.flights.len() + 1, self.config.regions.len());
            return Err(RdmaError::Room { what: "reads at a time", needed, has });
        };
        let ticket = Ticket(self.next & 0xFF_FFFF);
        self.next = self.next.wrapping_add(1);
        let target = base + place as u64;
        let own = Region {
            base: target,
            bytes: bytes as u64,
            sources: 1 << host,
            nonce: ticket.0,
            queue: Some(self.inbox.index()),
        };
        endpoint.register(region, &own).await?;
        let words = [
            REQUEST | u64::from(self.inbox.index()) << 32,
            ticket.0.into(),
            address,
            bytes as u64,
            u64::from(key.bits()) | u64::from(Key::new(region, ticket.0).bits()) << 32,
            target,
        ];
        let body: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
        let (missing, spoilt) = (bytes.div_ceil(MAX_TRANSFER), false);
        let began = endpoint.memory().now();
        self.flights.push(Flight { ticket, host, region, missing, spoilt, began });
        endpoint.send(host, queue, &body, Options::default(), 0).await?;
        Ok(ticket)
    }

    /// The next read that ends; none when `timeout` passes first, or nothing is in progress.
    ///
    /// # Errors
    /// When the machine refuses. What happens to a read is in its result.
    pub async fn ended<M: Mmio, D: DmaMemory>(
        &mut self,
        endpoint: &mut Endpoint<M, D>,
        timeout: Duration,
    ) -> Result<Option<Ended>, RdmaError> {
        let deadline = endpoint.memory().now().saturating_add(timeout);
        while !self.flights.is_empty() {
            let now = endpoint.memory().now();
            let oldest = self.flights.iter().map(|flight| flight.began).min().unwrap_or(now);
            let over = oldest.saturating_add(self.config.timeout);
            let left = over.min(deadline).saturating_sub(now);
            if let Some((frame, body)) = self.inbox.wait(endpoint, left).await? {
                if let Some((at, result)) = self.told(frame, &body) {
                    return self.end(endpoint, at, result).await.map(Some);
                }
                continue;
            }
            let now = endpoint.memory().now();
            let late = |flight: &Flight| flight.began.saturating_add(self.config.timeout) <= now;
            if let Some(at) = self.flights.iter().position(late) {
                let result = Err(ReadError::TimedOut(self.config.timeout));
                return self.end(endpoint, at, result).await.map(Some);
            }
            if now >= deadline {
                break;
            }
        }
        Ok(None)
    }

    /// Which read ends with this, and how.
    fn told(&mut self, frame: Frame, body: &[u8]) -> Option<(usize, Result<(), ReadError>)> {
        let at = self
            .flights
            .iter()
            .position(|flight| flight.ticket.0 == frame.immediate && flight.host == frame.source)?;
        let flight = &mut self.flights[at];
        if !frame.notification {
            let code = beats(body).map_or(0, |[code]: [u64; 1]| code);
            return Some((at, Err(ReadError::from_code(code))));
        }
        flight.spoilt |= frame.bytes != 0;
        flight.missing = flight.missing.saturating_sub(1);
        let result = if flight.spoilt { Err(ReadError::Spoilt) } else { Ok(()) };
        (flight.missing == 0).then_some((at, result))
    }

    async fn end<M: Mmio, D: DmaMemory>(
        &mut self,
        endpoint: &mut Endpoint<M, D>,
        at: usize,
        result: Result<(), ReadError>,
    ) -> Result<Ended, RdmaError> {
        let Flight { ticket, host, region, .. } = self.flights.swap_remove(at);
        endpoint.unregister(region).await?;
        self.free.insert(0, region);
        Ok(Ended { ticket, host, result })
    }

    /// Reads, and waits for it; results of other reads that end meanwhile are dropped, so this is
    /// for programs that have one at a time.
    ///
    /// # Errors
    /// As [`begin`](Self::begin); what went wrong with the read is the inner result.
    pub async fn read<M: Mmio, D: DmaMemory>(
        &mut self,
        endpoint: &mut Endpoint<M, D>,
        remote: &Remote,
        place: usize,
    ) -> Result<Result<(), ReadError>, RdmaError> {
        let ticket = self.begin(endpoint, remote, place).await?;
        let timeout = self.config.timeout;
        while let Some(ended) = self.ended(endpoint, timeout).await? {
            if ended.ticket == ticket {
                return Ok(ended.result);
            }
        }
        Ok(Err(ReadError::TimedOut(timeout)))
    }
}

/// What a host did for its readers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// Reads that were answered with data.
    pub reads: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Reads that were refused.
    pub refused: u64,
    /// Messages that were no request.
    pub strange: u64,
}

impl Served {
    fn add(&mut self, other: Self) {
        self.reads += other.reads;
        self.bytes += other.bytes;
        self.refused += other.refused;
        self.strange += other.strange;
    }
}

/// Answers requests that come to `inbox`, a queue of slots of 64 bytes or more, until none has come for
/// `timeout`; with none at all, those that are there.
///
/// # Errors
/// When an answer cannot be posted because no room comes back.
pub async fn serve_reads<M: Mmio, D: DmaMemory>(
    endpoint: &mut Endpoint<M, D>,
    inbox: &mut Inbox,
    readable: &[Readable],
    timeout: Duration,
) -> Result<Served, RdmaError> {
    let mut served = Served::default();
    while let Some((frame, body)) = inbox.wait(endpoint, timeout).await? {
        served.add(answer_read(endpoint, readable, &frame, &body).await?);
    }
    Ok(served)
}

/// Answers one message that a program took from its queue, if it is a request.
///
/// # Errors
/// As [`serve_reads`].
pub async fn answer_read<M: Mmio, D: DmaMemory>(
    endpoint: &mut Endpoint<M, D>,
    readable: &[Readable],
    frame: &Frame,
    body: &[u8],
) -> Result<Served, RdmaError> {
    let mut served = Served::default();
    let request: Option<[u64; REQUEST_BEATS]> = beats(body);
    let Some([first, ticket, address, bytes, keys, target]) =
        request.filter(|[first, ..]| *first as u32 == REQUEST as u32 && !frame.notification)
    else {
        served.strange = 1;
        return Ok(served);
    };
    let (host, queue, ticket) = (frame.source, (first >> 32) as u8, ticket as u32);
    let (key, reply) = (keys as u32, (keys >> 32) as u32);
    match allowed(readable, host, key, address, bytes) {
        Ok(bytes) => {
            // Each transfer is notified, so a lost part is never mistaken for one that arrived.
            for at in (0..bytes).step_by(MAX_TRANSFER) {
                let put = Descriptor {
                    source: address.wrapping_add(at as u64),
                    target: target.wrapping_add(at as u64),
                    bytes: (bytes - at).min(MAX_TRANSFER),
                    host,
                    options: Options { notify: true, ..Options::default() },
                    key: Some((Key::new(reply as u8, reply >> 8), ticket)),
                    start: false,
                };
                match endpoint.put(&put).await {
                    // What the request says cannot be: its reader's time passes.
                    Err(RdmaError::Word(_)) => {
                        served.strange = 1;
                        return Ok(served);
                    }
                    other => other?,
                }
            }
            (served.reads, served.bytes) = (1, bytes as u64);
        }
        Err(error) => {
            let code = error.code().to_le_bytes();
            endpoint.send(host, queue, &code, Options::default(), ticket).await?;
            served.refused = 1;
        }
    }
    Ok(served)
}

/// How many bytes, if this host may read all of them.
fn allowed(
    readable: &[Readable],
    host: HostId,
    key: u32,
    address: u64,
    bytes: u64,
) -> Result<usize, ReadError> {
    let entry = readable.get((key & 0xFF) as usize).ok_or(ReadError::Key)?;
    let bits = entry.sources.checked_shr(host.into()).unwrap_or(0);
    if entry.nonce & 0xFF_FFFF != key >> 8 || bits & 1 == 0 {
        return Err(ReadError::Key);
    }
    let inside = address
        .checked_sub(entry.base)
        .and_then(|at| at.checked_add(bytes))
        .is_some_and(|end| end <= entry.bytes);
    let whole = bytes != 0 && bytes.is_multiple_of(BEAT as u64) && address.is_multiple_of(8);
    match usize::try_from(bytes) {
        Ok(bytes) if inside && whole => Ok(bytes),
        _ => Err(ReadError::Bounds),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_read_is_checked_to_the_byte() {
        let base = 0x1000;
        let entry = |nonce| Readable { base, bytes: 64, sources: 0b10, nonce };
        let list = [entry(1), entry(0xFF00_0002), entry(3)];
        let may = |host, index, nonce, address, bytes| {
            allowed(&list, host, Key::new(index, nonce).bits(), address, bytes)
        };
        assert_eq!(may(1, 0, 1, 0x1000, 64), Ok(64));
        assert_eq!(may(1, 2, 3, 0x1038, 8), Ok(8));
        for (host, index, nonce) in
            [(0, 0, 1), (2, 0, 1), (9, 0, 1), (1, 0, 2), (1, 3, 1), (1, 1, 1)]
        {
            assert_eq!(may(host, index, nonce, 0x1000, 8), Err(ReadError::Key));
        }
        for (address, bytes) in [
            (0xFF8, 16),
            (0x1038, 16),
            (0x1040, 8),
            (0x1000, 0),
            (0x1000, 12),
            (0x1004, 8),
            (0x1008, u64::MAX - 7),
            (u64::MAX - 7, 8),
            (0, 8),
        ] {
            assert_eq!(may(1, 0, 1, address, bytes), Err(ReadError::Bounds), "{address:#x}");
        }
    }
}
