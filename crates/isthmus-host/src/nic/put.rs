// SPDX-License-Identifier: Apache-2.0
//! Puts of a torus node: a program's memory into that of another node. Gets: that of another node into its own.

use std::collections::BTreeMap;
use std::fmt;

use super::{EVENT_BYTES, Event, KEY, NicError, PLACE_BYTES, Window};
use crate::pcie::Mmio;
use crate::regs::{nanet_inline as window, nanet_put as regs};
use crate::transport::TransportError;

/// Where the put queue's registers are.
const MAP: u32 = 0x200;
/// Where the window for payload is: in a page of its own, which is mapped write-combining.
const WINDOW: u64 = 0x1000;
/// Longest put that brings its payload.
pub const MAX_INLINE_BYTES: usize = 64;
/// Longest put, and longest put memory.
pub const MAX_PUT_BYTES: usize = 4 << 20;
const MAX_TARGETS: usize = 16;
/// Puts that may wait, beside those under way.
pub const MAX_PUTS: u32 = 16;
/// The lists in events of puts that were sent, and that came.
pub(super) const DONE: u8 = 0x81;
pub(super) const ARRIVED: u8 = 0x82;
/// And of gets that were answered, or refused.
pub(super) const ANSWERED: u8 = 0x83;
/// Gets of a program that may be unanswered: what a node keeps of all others together.
pub const MAX_GETS: u32 = 16;
const POST_GET: u32 = 1 << 31;
const SERVES: u32 = 1 << 16;
/// Behind the largest place that a get can name in another node's put memory.
const PLACES: u64 = 1 << 16;
const TARGET_VALID: u32 = 1 << 24;
const TARGET_LIST: u32 = 1 << 25;
const LISTS: u32 = 1 << 16;
/// Longest put into a list: a message is one packet.
pub const MAX_MESSAGE_BYTES: usize = 4096;

/// Coordinates of a node, x first, each below 32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Along x.
    pub x: u8,
    /// Along y.
    pub y: u8,
    /// Along z.
    pub z: u8,
}

impl Place {
    /// As packets and registers have it.
    #[must_use]
    pub const fn code(self) -> u16 {
        (self.x as u16 & 31) | (self.y as u16 & 31) << 5 | (self.z as u16 & 31) << 10
    }

    const fn of(code: u16) -> Self {
        Self { x: (code & 31) as u8, y: (code >> 5 & 31) as u8, z: (code >> 10 & 31) as u8 }
    }

    /// Whether a torus whose highest coordinates are `last` has it.
    const fn is_within(self, last: Self) -> bool {
        self.x <= last.x && self.y <= last.y && self.z <= last.z
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {}, {})", self.x, self.y, self.z)
    }
}

/// Registered memory of a node that may be put into, or its list of buffers; for gets, a part of its put memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The node: one of the torus.
    pub node: Place,
    /// The key with which its program registered its pages: [`KEY`](super::KEY) where it uses this driver. For gets
    /// the one of [`PutMemory::serves`] there, for a list that of [`PutMemory::messages`].
    pub key: u16,
    /// Where the target begins in those pages, or in its put memory: a multiple of [`PLACE_BYTES`]. Of a list 0.
    pub offset: u64,
    /// Puts go into the node's circular list of buffers, each as a message of at most [`MAX_MESSAGE_BYTES`].
    pub list: bool,
}

/// The memory that is put from, and where to. The node reads no other memory for puts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PutMemory {
    /// Where it begins in the memory, or in the window: a multiple of [`PLACE_BYTES`].
    pub offset: usize,
    /// It is in the memory of another device; none: of the host.
    pub window: Option<Window>,
    /// Its length: a multiple of [`PLACE_BYTES`], at most 4 MiB.
    pub bytes: usize,
    /// Up to 16.
    pub targets: Vec<Target>,
    /// Puts from other nodes whose events may wait. What finds no room is in memory, and not announced.
    pub arrivals: usize,
    /// Gets that may be unanswered, up to [`MAX_GETS`]. A node keeps 16 gets of all others; what finds no room there is
    /// not answered. So the programs that ask one node have 16 together. A get waits for the one 16 before it.
    pub gets: u32,
    /// Other nodes may get from this memory, with this key.
    pub serves: Option<u16>,
    /// Other nodes may put messages into the list of this one, with this key: [`Nic::next`](super::Nic::next) has them.
    pub messages: Option<u16>,
}

/// Who put the last message into a buffer of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The node.
    pub source: Place,
    /// Number of the put there, modulo 2^32: those that were refused there have none.
    pub number: u32,
}

impl Message {
    /// Of an event of a list of a torus' node.
    #[must_use]
    pub fn of(event: &Event) -> Self {
        Self { source: Place::of(event.source.port()), number: u32::from(*event.source.ip()) }
    }
}

/// Why a node refused a put or a get. Of posts the driver's own checks find each before; a get is refused by the
/// node that was asked, before it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutRefusal {
    /// No bytes, or too many: more than 4 MiB, or than [`MAX_MESSAGE_BYTES`] into a list.
    Bytes,
    /// It leaves the put memory.
    Outside,
    /// Its target is not set, or the far node's put memory has another key or is not served.
    Target,
}

/// A put was read and sent: its place may be used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// Number of the post, from 0 on.
    pub sequence: u32,
    /// Where it began in the put memory.
    pub offset: usize,
    /// Its bytes.
    pub bytes: usize,
    /// Memory answered a read with an error: the far node does not announce it.
    pub error: bool,
    /// Nothing was sent.
    pub refused: Option<PutRefusal>,
}

impl PutRefusal {
    /// Of an event's first byte.
    const fn of(byte: u8) -> Option<Self> {
        match byte >> 1 {
            0 => None,
            1 => Some(Self::Bytes),
            2 => Some(Self::Outside),
            _ => Some(Self::Target),
        }
    }
}

/// A get is in memory, whole, or was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Got {
    /// Its number, from 0 on.
    pub sequence: u32,
    /// Where it begins in the registered pages.
    pub offset: usize,
    /// Its bytes.
    pub bytes: usize,
    /// Nothing came.
    pub refused: Option<PutRefusal>,
    /// The node's clock when its last packet had come.
    pub cycles: u64,
}

/// A put from another node is in memory, whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Where it came from.
    pub source: Place,
    /// Its number at the source, modulo 2^32: those that were refused there have none.
    pub number: u32,
    /// Where it begins in the registered pages.
    pub offset: u64,
    /// Its bytes.
    pub bytes: usize,
    /// Packets that it came in.
    pub packets: u16,
    /// Puts so far that came with something missing or wrong, modulo 2^32.
    pub broken: u32,
    /// The node's clock when its last packet had come.
    pub cycles: u64,
}

impl Done {
    pub(super) fn decode(bytes: &[u8; EVENT_BYTES]) -> Self {
        let event = Event::decode(bytes);
        Self {
            sequence: event.sequence,
            offset: usize::from(event.index) * PLACE_BYTES,
            bytes: event.bytes as usize,
            error: event.error,
            refused: PutRefusal::of(bytes[0]),
        }
    }
}

impl Arrival {
    pub(super) fn of(event: &Event) -> Self {
        Self {
            source: Place::of(event.source.port()),
            number: event.sequence,
            offset: u64::from(u32::from(*event.source.ip())) * PLACE_BYTES as u64,
            bytes: event.bytes as usize,
            packets: event.datagrams,
            broken: event.lost,
            cycles: event.cycles,
        }
    }
}

/// Outcome of packets and puts that came to a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PutStatistics {
    /// Packets, modulo 2^32.
    pub packets: u32,
    /// Of them with a wrong CRC, length or header, or refused by memory or translation, modulo 2^16.
    pub bad_packets: u16,
    /// Puts whose last packet came, but not all of them, or not all good, modulo 2^16.
    pub broken: u16,
    /// Posts that found no room, modulo 2^16.
    pub full: u16,
    /// Messages with another key than the list's, modulo 2^16: nothing of them was written. They are in `bad_packets` too.
    pub refused_messages: u16,
    /// Packets that answered or refused a get that was not open, modulo 2^16: of an earlier program's, or of one that was
    /// answered already. Nothing of them was written. They are in `bad_packets` too.
    pub late_answers: u16,
}

impl PutStatistics {
    /// Whether all that came was whole, and asked for.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.bad_packets == 0 && self.broken == 0
    }
}

impl fmt::Display for PutStatistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { packets, bad_packets, broken, full, refused_messages, late_answers } = self;
        write!(f, "{packets} packets came, {bad_packets} of them bad")?;
        if *late_answers > 0 {
            write!(f, "; {late_answers} answered a get that was not open, and were dropped")?;
        }
        if *refused_messages > 0 {
            write!(f, "; {refused_messages} were for a list with another key")?;
        }
        if *broken > 0 {
            write!(f, "; {broken} puts or answers were not whole")?;
        }
        if *full > 0 {
            write!(f, "; {full} posts found no room")?;
        }
        Ok(())
    }
}

/// State of an open put queue.
pub(super) struct Putting {
    bytes: usize,
    targets: Vec<Target>,
    posted: u32,
    announced: u32,
    /// Bytes of a put that may bring its payload; 0: the node has no window.
    carried: usize,
    /// Of gets: those that may be unanswered, those asked, and those not answered, with their place and bytes.
    gets: u32,
    asked: u32,
    /// The node's number of this program's first get. The node does not reset its count between programs.
    before: u32,
    unanswered: BTreeMap<u32, (usize, usize)>,
}

impl Putting {
    /// Sets the queue up.
    ///
    /// # Errors
    /// When the torus has no node of a target: routers discard what is sent there. When an access fails.
    pub(super) async fn open<M: Mmio>(
        bar: &mut M,
        base: u64,
        memory: &PutMemory,
    ) -> Result<Self, NicError> {
        let last = Place::of(bar.read32(u64::from(MAP + regs::SHAPE)).await? as u16);
        let outside = |target: &&Target| !target.node.is_within(last);
        if let Some(Target { node, .. }) = memory.targets.iter().find(outside) {
            let what = format!("a target at node {node}: the last node of the torus is {last}");
            return Err(NicError::Config { what });
        }
        let base = memory.window.map_or(base, |window| window.bus_address);
        let at = base + memory.offset as u64;
        let mut stores = vec![
            (regs::PUT_LO, at as u32),
            (regs::PUT_HI, (at >> 32) as u32),
            (regs::PUT_BYTES, memory.bytes as u32),
            (regs::LAND, u32::from(KEY)),
            (regs::SERVE, memory.serves.map_or(0, |key| SERVES | u32::from(key))),
            (regs::LIST_KEY, memory.messages.map_or(0, |key| LISTS | u32::from(key))),
        ];
        for (number, target) in memory.targets.iter().enumerate() {
            let high = (target.offset >> 32) as u32 & 0xffff;
            let kind = TARGET_VALID | if target.list { TARGET_LIST } else { 0 };
            stores.extend([
                (regs::TARGET_LO, target.offset as u32),
                (regs::TARGET_HI, u32::from(target.key) << 16 | high),
                (regs::TARGET_SET, kind | u32::from(target.node.code()) << 8 | number as u32),
            ]);
        }
        for (register, value) in stores {
            bar.write32(u64::from(MAP + register), value).await?;
        }
        Ok(Self {
            bytes: memory.bytes,
            targets: memory.targets.clone(),
            posted: 0,
            announced: 0,
            carried: bar.read32(u64::from(MAP + regs::CARRIED)).await? as usize,
            gets: memory.gets,
            asked: 0,
            before: bar.read32(u64::from(MAP + regs::ASKED)).await?,
            unanswered: BTreeMap::new(),
        })
    }

    /// Posts a put.
    pub(super) async fn post<M: Mmio>(
        &mut self,
        bar: &mut M,
        offset: usize,
        bytes: usize,
        (target, remote): (usize, usize),
    ) -> Result<u32, NicError> {
        let refuse = |what: String| Err(NicError::Send { what });
        let end = offset.checked_add(bytes);
        if bytes == 0
            || !offset.is_multiple_of(PLACE_BYTES)
            || end.is_none_or(|end| end > self.bytes)
        {
            return refuse(format!(
                "a put of {bytes} bytes from {offset:#x}: inside the put memory of {} bytes, at a multiple of \
                 {PLACE_BYTES}, expected",
                self.bytes
            ));
        }
        self.check(bytes, target, remote)?;
        let places = ((remote / PLACE_BYTES) as u32) << 16 | (offset / PLACE_BYTES) as u32;
        let post = (target as u32) << 24 | bytes as u32;
        bar.write64(u64::from(MAP + regs::POST_PLACES), words(places, post)).await?;
        Ok(self.count())
    }

    /// Posts a put together with its payload.
    pub(super) async fn post_inline<M: Mmio>(
        &mut self,
        bar: &mut M,
        payload: &[u8],
        (target, remote): (usize, usize),
    ) -> Result<u32, NicError> {
        let bytes = payload.len();
        if payload.is_empty() || bytes > self.carried.min(MAX_INLINE_BYTES) {
            let what = match self.carried {
                0 => "this node has no window for payload with a post".to_owned(),
                most => format!("a put of {bytes} bytes with its post: 1 to {most} expected"),
            };
            return Err(NicError::Send { what });
        }
        self.check(bytes, target, remote)?;
        const { assert!(window::POST == window::PLACE + 4 && window::PAYLOAD0 == window::PLACE + 8) };
        let post =
            words(((remote / PLACE_BYTES) as u32) << 16, (target as u32) << 24 | bytes as u32);
        let mut stores = [0; 8 + MAX_INLINE_BYTES];
        stores[..8].copy_from_slice(&post.to_le_bytes());
        stores[8..8 + bytes].copy_from_slice(payload);
        // Nothing behind the last word of 8 bytes: the node would take it for the next put's.
        let stores = &stores[..8 + bytes.next_multiple_of(8)];
        bar.write_combined(WINDOW + u64::from(window::PLACE), stores).await?;
        Ok(self.count())
    }

    /// The number of a put that is posted.
    const fn count(&mut self) -> u32 {
        let sequence = self.posted;
        self.posted = self.posted.wrapping_add(1);
        sequence
    }

    /// Refuses a put into a target that is not set or has no such place, and one too many.
    fn check(&self, bytes: usize, target: usize, remote: usize) -> Result<(), NicError> {
        let refuse = |what: String| Err(NicError::Send { what });
        if !remote.is_multiple_of(PLACE_BYTES) || remote >= MAX_PUT_BYTES {
            return refuse(format!(
                "a put to {remote:#x} of its target: a multiple of {PLACE_BYTES} below 4 MiB expected"
            ));
        }
        let Some(to) = self.targets.get(target) else {
            return refuse(format!("target {target}: {} are set", self.targets.len()));
        };
        if to.list && (bytes > MAX_MESSAGE_BYTES || remote != 0) {
            return refuse(format!(
                "a message of {bytes} bytes to {remote:#x} of a list: at most {MAX_MESSAGE_BYTES} bytes, to 0, expected"
            ));
        }
        if self.posted.wrapping_sub(self.announced) >= MAX_PUTS {
            return Err(NicError::SendQueueFull);
        }
        Ok(())
    }

    /// Asks another node; `offset` in the registered pages, of which there are `room` bytes.
    pub(super) async fn ask<M: Mmio>(
        &mut self,
        bar: &mut M,
        (offset, room): (usize, usize),
        bytes: usize,
        (target, remote): (usize, usize),
    ) -> Result<u32, NicError> {
        let refuse = |what: String| Err(NicError::Send { what });
        let end = offset.checked_add(bytes);
        if bytes == 0
            || bytes > MAX_PUT_BYTES
            || !offset.is_multiple_of(PLACE_BYTES)
            || offset >= MAX_PUT_BYTES
            || end.is_none_or(|end| end > room)
        {
            return refuse(format!(
                "a get of {bytes} bytes to {offset:#x}: 1 byte to 4 MiB in the registered pages of {room} bytes, at a \
                 multiple of {PLACE_BYTES} below 4 MiB, expected"
            ));
        }
        let Some(from) = self.targets.get(target) else {
            return refuse(format!("target {target}: {} are set", self.targets.len()));
        };
        if from.list {
            return refuse(format!("a get from target {target}, a list: a put memory expected"));
        }
        let place = from.offset / PLACE_BYTES as u64 + (remote / PLACE_BYTES) as u64;
        if !remote.is_multiple_of(PLACE_BYTES) || remote >= MAX_PUT_BYTES || place >= PLACES {
            return refuse(format!(
                "a get from {remote:#x} of its target: a multiple of {PLACE_BYTES} in the first 4 MiB of a put memory \
                 expected"
            ));
        }
        // The node keeps an open get in the place of its number's low bits: a younger one would close it.
        let full = self.unanswered.len() >= self.gets as usize;
        if full || self.unanswered.contains_key(&self.asked.wrapping_sub(MAX_GETS)) {
            return Err(NicError::SendQueueFull);
        }
        let places = ((remote / PLACE_BYTES) as u32) << 16 | (offset / PLACE_BYTES) as u32;
        let post = POST_GET | (target as u32) << 24 | bytes as u32;
        bar.write64(u64::from(MAP + regs::POST_PLACES), words(places, post)).await?;
        let sequence = self.asked;
        self.asked = self.asked.wrapping_add(1);
        self.unanswered.insert(sequence, (offset, bytes));
        Ok(sequence)
    }

    /// Notes a get that is answered or refused. `None`: a get of an earlier program.
    pub(super) fn answer(&mut self, bytes: &[u8; EVENT_BYTES]) -> Result<Option<Got>, NicError> {
        let event = Event::decode(bytes);
        let sequence = event.sequence.wrapping_sub(self.before);
        let Some((offset, asked)) = self.unanswered.remove(&sequence) else {
            // Numbers below this program's first one belong to earlier programs.
            if sequence >> 31 == 1 && self.asked >> 31 == 0 {
                return Ok(None);
            }
            let reason = format!("get {sequence} answered, which is not pending");
            return Err(NicError::Event { reason });
        };
        let refused = PutRefusal::of(bytes[0]);
        if event.bytes as usize != asked || refused.is_some() != event.error {
            let reason = format!("get {sequence} of {asked} bytes answered: {event:?}");
            return Err(NicError::Event { reason });
        }
        let cycles = event.cycles;
        Ok(Some(Got { sequence, offset, bytes: asked, refused, cycles }))
    }

    /// Notes a put that is announced.
    pub(super) fn announce(&mut self, done: &Done) -> Result<(), NicError> {
        if done.sequence != self.announced || self.posted == self.announced {
            let reason = format!("put {} sent, {} expected", done.sequence, self.announced);
            return Err(NicError::Event { reason });
        }
        self.announced = self.announced.wrapping_add(1);
        Ok(())
    }
}

/// Both registers of a post, which are neighbours: one store.
const fn words(places: u32, post: u32) -> u64 {
    const { assert!(regs::POST == regs::POST_PLACES + 4 && (MAP + regs::POST_PLACES).is_multiple_of(8)) };
    (post as u64) << 32 | places as u64
}

pub(super) async fn statistics<M: Mmio>(bar: &mut M) -> Result<PutStatistics, TransportError> {
    let packets = bar.read32(u64::from(MAP + regs::PACKETS)).await?;
    let bad = bar.read32(u64::from(MAP + regs::BAD)).await?;
    let full = bar.read32(u64::from(MAP + regs::FULL)).await?;
    let refused = bar.read32(u64::from(MAP + regs::LIST_REFUSED)).await?;
    let late = bar.read32(u64::from(MAP + regs::LATE)).await?;
    Ok(PutStatistics {
        packets,
        bad_packets: bad as u16,
        broken: (bad >> 16) as u16,
        full: full as u16,
        refused_messages: refused as u16,
        late_answers: late as u16,
    })
}

/// What is wrong with a put memory, if anything is.
pub(super) fn fault(memory: &PutMemory, size: usize, version: u32) -> Option<String> {
    let PutMemory { offset, window, bytes, targets, .. } = memory;
    let size = window.map_or(size, |window| window.bytes);
    if version >> 30 & 1 == 0 {
        return Some("this interface is no node of a torus".to_owned());
    }
    if !offset.is_multiple_of(PLACE_BYTES)
        || !bytes.is_multiple_of(PLACE_BYTES)
        || *bytes > MAX_PUT_BYTES
        || offset.checked_add(*bytes).is_none_or(|end| end > size)
    {
        return Some(format!(
            "a put memory of {bytes} bytes at {offset:#x}: inside the memory of {size} bytes, multiples of \
             {PLACE_BYTES}, at most 4 MiB, expected"
        ));
    }
    if memory.gets > MAX_GETS {
        return Some(format!("{} gets that may be unanswered: at most {MAX_GETS}", memory.gets));
    }
    if targets.len() > MAX_TARGETS {
        return Some(format!("{} targets: at most {MAX_TARGETS}", targets.len()));
    }
    let wrong = |target: &&Target| {
        !target.offset.is_multiple_of(PLACE_BYTES as u64)
            || target.offset >> 48 != 0
            || (target.list && target.offset != 0)
    };
    targets.iter().find(wrong).map(|target| {
        format!(
            "a target at {:#x}: a multiple of {PLACE_BYTES} below 2^48 expected, of a list 0",
            target.offset
        )
    })
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    #[test]
    fn places_have_five_bits_a_coordinate_x_lowest() {
        let place = Place { x: 3, y: 17, z: 31 };
        assert_eq!(place.code(), 3 | 17 << 5 | 31 << 10);
        assert_eq!(Place::of(place.code()), place);
    }

    #[test]
    fn a_get_is_answered_once_whole_or_refused() {
        let mut putting = Putting {
            bytes: 0,
            targets: Vec::new(),
            posted: 0,
            announced: 0,
            carried: 64,
            gets: 2,
            asked: 9,
            before: 0xFFFF_FFFE,
            unanswered: BTreeMap::from([(7, (128, 500)), (8, (0, 64))]),
        };
        let event = |first: u8, number: u32, length: u16| {
            let mut bytes = [0; EVENT_BYTES];
            (bytes[0], bytes[1]) = (first, ANSWERED);
            bytes[4..6].copy_from_slice(&length.to_le_bytes());
            bytes[8..12].copy_from_slice(&number.wrapping_sub(2).to_le_bytes());
            bytes
        };
        let got =
            putting.answer(&event(2 << 1 | 1, 8, 64)).expect("pending").expect("of this queue");
        assert_eq!((got.sequence, got.refused), (8, Some(PutRefusal::Outside)));
        let before = event(0, 0xFFFF_FFFF, 500);
        assert_eq!(putting.answer(&before).expect("allowed"), None, "of an earlier program");
        let got = putting.answer(&event(0, 7, 500)).expect("pending").expect("of this queue");
        assert_eq!((got.offset, got.bytes, got.refused), (128, 500, None));
        assert!(putting.answer(&event(0, 7, 500)).is_err(), "answered already");
        putting.unanswered.insert(9, (0, 64));
        assert!(putting.answer(&event(0, 9, 63)).is_err(), "other bytes");
    }

    /// The last store of each register; loads give what was stored.
    #[derive(Default)]
    struct Board(BTreeMap<u64, u32>);

    impl Mmio for Board {
        async fn read32(&mut self, offset: u64) -> Result<u32, TransportError> {
            Ok(self.0.get(&offset).copied().unwrap_or_default())
        }

        async fn write32(&mut self, offset: u64, value: u32) -> Result<(), TransportError> {
            self.0.insert(offset, value);
            Ok(())
        }

        async fn write_combined(&mut self, offset: u64, data: &[u8]) -> Result<(), TransportError> {
            for (at, word) in data.as_chunks::<4>().0.iter().enumerate() {
                self.0.insert(offset + 4 * at as u64, u32::from_le_bytes(*word));
            }
            Ok(())
        }
    }

    fn now<T>(future: impl Future<Output = T>) -> T {
        let mut context = Context::from_waker(Waker::noop());
        match pin!(future).poll(&mut context) {
            Poll::Ready(value) => value,
            Poll::Pending => unreachable!("the board answers at once"),
        }
    }

    #[test]
    fn a_target_at_a_node_that_the_torus_lacks_is_refused_before_anything_is_stored() {
        let shape = Place { x: 3, y: 4, z: 0 };
        let opened = |node| {
            let target = Target { node, key: 0, offset: 0, list: false };
            let memory = PutMemory {
                offset: 0,
                window: None,
                bytes: 64,
                targets: vec![Target { node: Place::default(), ..target }, target],
                arrivals: 1,
                gets: 1,
                serves: None,
                messages: None,
            };
            let mut board = Board::default();
            board.0.insert(u64::from(MAP + regs::SHAPE), u32::from(shape.code()));
            let error = now(Putting::open(&mut board, 0, &memory)).err();
            (error.map(|error| error.to_string()), board.0.len())
        };
        for (x, y) in [(0, 0), (3, 4), (3, 0), (0, 4)] {
            let (error, stored) = opened(Place { x, y, z: 0 });
            assert_eq!(error, None);
            assert!(stored > 1);
        }
        for (x, y, z) in [(4, 0, 0), (0, 5, 0), (0, 0, 1), (31, 31, 31)] {
            let said = format!(
                "a target at node ({x}, {y}, {z}): the last node of the torus is (3, 4, 0)"
            );
            let (error, stored) = opened(Place { x, y, z });
            assert!(error.is_some_and(|error| error.ends_with(&said)));
            assert_eq!(stored, 1);
        }
    }

    /// A program with no put memory, which has posted so many puts.
    fn putting(targets: Vec<Target>, posted: u32) -> Putting {
        Putting {
            bytes: 0,
            targets,
            posted,
            announced: 0,
            carried: 64,
            gets: 16,
            asked: 0,
            before: 0,
            unanswered: BTreeMap::new(),
        }
    }

    #[test]
    fn a_put_stores_its_payload_behind_its_post_and_nothing_behind_that() {
        let target = Target { node: Place::default(), key: 0, offset: 0, list: false };
        let mut putting = putting(vec![target, target], 7);
        let mut board = Board::default();
        let payload: Vec<u8> = (1..=13).collect();
        assert_eq!(now(putting.post_inline(&mut board, &payload, (1, 128))).ok(), Some(7));
        let stored: Vec<_> = board.0.iter().map(|(at, word)| (*at, *word)).collect();
        assert_eq!(
            stored,
            [
                (0x1000, 2 << 16),
                (0x1004, 1 << 24 | 13),
                (0x1008, 0x0403_0201),
                (0x100C, 0x0807_0605),
                (0x1010, 0x0C0B_0A09),
                (0x1014, 0x0D),
            ]
        );
        board.0.clear();
        let mut said = |bytes: usize, target, remote, carried| {
            putting.carried = carried;
            let made = now(putting.post_inline(&mut board, &vec![0; bytes], (target, remote)));
            assert!(board.0.is_empty(), "nothing is posted");
            made.map_err(|error| error.to_string()).expect_err("refused")
        };
        assert!(said(0, 0, 0, 64).ends_with("a put of 0 bytes with its post: 1 to 64 expected"));
        assert!(said(65, 0, 0, 64).ends_with("a put of 65 bytes with its post: 1 to 64 expected"));
        assert!(said(1, 2, 0, 64).ends_with("target 2: 2 are set"));
        assert!(said(1, 0, 65, 64).contains("a multiple of 64 below 4 MiB expected"));
        assert!(said(1, 0, 0, 0).ends_with("this node has no window for payload with a post"));
        putting.carried = 64;
        (putting.posted, putting.announced) = (16, 0);
        let full = now(putting.post_inline(&mut board, &payload, (0, 0)));
        assert!(matches!(full, Err(NicError::SendQueueFull)), "{full:?}");
    }

    #[test]
    fn a_get_waits_for_the_one_whose_place_at_the_node_it_would_take() {
        let target = Target { node: Place::default(), key: 0, offset: 0, list: false };
        let mut putting = putting(vec![target], 0);
        let mut board = Board::default();
        for number in 0..16 {
            let asked = now(putting.ask(&mut board, (0, 64), 64, (0, 0)));
            assert_eq!(asked.ok(), Some(number));
        }
        // All but the oldest are answered.
        putting.unanswered.retain(|&number, _| number == 0);
        board.0.clear();
        let full = now(putting.ask(&mut board, (0, 64), 64, (0, 0)));
        assert!(matches!(full, Err(NicError::SendQueueFull)), "{full:?}");
        assert!(board.0.is_empty(), "nothing is posted");
        putting.unanswered.clear();
        putting.unanswered.insert(1, (0, 64));
        assert_eq!(now(putting.ask(&mut board, (0, 64), 64, (0, 0))).ok(), Some(16));
    }

    #[test]
    fn what_came_too_late_is_read_and_said() {
        let stored = [
            (regs::PACKETS, 70_000),
            (regs::BAD, 2 << 16 | 9),
            (regs::FULL, 1),
            (regs::LIST_REFUSED, 3),
            (regs::LATE, 4),
        ];
        let mut board =
            Board(stored.map(|(register, value)| (u64::from(MAP + register), value)).into());
        let read = now(statistics(&mut board)).expect("the board answers");
        assert_eq!((read.late_answers, read.is_whole()), (4, false));
        assert_eq!(
            read.to_string(),
            "70000 packets came, 9 of them bad; 4 answered a get that was not open, and were dropped; 3 were for a \
             list with another key; 2 puts or answers were not whole; 1 posts found no room"
        );
        let whole = PutStatistics { packets: 5, ..PutStatistics::default() };
        assert!(whole.is_whole());
        assert_eq!(whole.to_string(), "5 packets came, 0 of them bad");
    }

    #[test]
    fn what_a_node_lacks_or_cannot_read_is_refused_in_one_line() {
        let target = Target { node: Place::default(), key: 0, offset: 64, list: false };
        let memory = PutMemory {
            offset: 64,
            window: None,
            bytes: 128,
            targets: vec![target],
            arrivals: 1,
            gets: 16,
            serves: None,
            messages: None,
        };
        assert_eq!(fault(&memory, 192, 1 << 30), None);
        let said = |memory: &PutMemory, version| fault(memory, 192, version).unwrap_or_default();
        assert_eq!(said(&memory, 0), "this interface is no node of a torus");
        let outside = PutMemory { bytes: 192, ..memory.clone() };
        assert!(said(&outside, 1 << 30).contains("inside the memory of 192 bytes"));
        let window = Some(Window { bus_address: 0x8000_0000, bytes: 256 });
        assert_eq!(fault(&PutMemory { window, ..outside.clone() }, 0, 1 << 30), None);
        let window = Some(Window { bus_address: 0x8000_0000, bytes: 128 });
        let outside = PutMemory { window, ..outside };
        assert!(said(&outside, 1 << 30).contains("inside the memory of 128 bytes"));
        let gets = PutMemory { gets: 17, ..memory.clone() };
        assert_eq!(said(&gets, 1 << 30), "17 gets that may be unanswered: at most 16");
        let many = PutMemory { targets: vec![target; 17], ..memory.clone() };
        assert_eq!(said(&many, 1 << 30), "17 targets: at most 16");
        let odd = PutMemory { targets: vec![Target { offset: 65, ..target }], ..memory.clone() };
        assert!(said(&odd, 1 << 30).contains("a target at 0x41"));
        let placed = PutMemory { targets: vec![Target { list: true, ..target }], ..memory };
        assert!(said(&placed, 1 << 30).contains("of a list 0"));
    }
}
