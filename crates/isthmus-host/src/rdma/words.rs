// SPDX-License-Identifier: Apache-2.0
//! Words between a host and its RDMA network interface: what queues and tables take, what the
//! interface writes to memory. Formats: `docs/reference/registers.md`; the places of their fields are generated.

use crate::regs::rdma_words::{
    code, completion, descriptor, descriptor_immediate, descriptor_key, frame, inline_key, key,
    message, notification, queue, record, region,
};

/// A host's number.
pub type HostId = u8;

/// Bytes of a transfer by descriptor, at most.
pub const MAX_TRANSFER: usize = 4096;
/// Bytes of a message's body, at most.
pub const MAX_MESSAGE: usize = 512;
/// Descriptor slots of a request queue.
pub const SLOTS: u16 = 128;
/// Bytes of a write that brings its data with it, at most: its address takes 8 of a message's.
pub const MAX_INLINE: usize = MAX_MESSAGE - 8;
/// Beats of 8 bytes of a message queue.
pub const MESSAGE_BEATS: u16 = 256;

/// Offsets in BAR 0; queues and tables repeat from there on.
pub mod offset {
    /// Request queue of host 0; the next host's is [`QUEUE_BYTES`] further.
    pub const REQUESTS: u64 = 0x4000;
    /// Message queue of host 0.
    pub const MESSAGES: u64 = 0x8000;
    /// Bytes of one request or message queue.
    pub const QUEUE_BYTES: u64 = 0x800;
    /// Queue table, 16 bytes an entry.
    pub const QUEUE_TABLE: u64 = 0xC000;
    /// What consumers have taken, 8 bytes a queue.
    pub const TAILS: u64 = 0xD000;
    /// Region table, 32 bytes an entry.
    pub const REGIONS: u64 = 0xE000;
    /// Where the local notification of requests to a host goes.
    pub const LOCAL: u64 = 0xF000;
    /// Where that of messages goes.
    pub const LOCAL_MESSAGES: u64 = 0xF040;
    /// Where the notification of a source goes.
    pub const NOTIFIED: u64 = 0xF080;
    /// Where the completion of a destination goes.
    pub const COMPLETED: u64 = 0xF0C0;
}

/// What words cannot say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WordError {
    /// An address, a size or a base that is not a multiple of 8.
    #[error("{what} {value:#x} is not a multiple of 8")]
    Alignment {
        /// Which.
        what: &'static str,
        /// It.
        value: u64,
    },
    /// A number outside its range.
    #[error("{what} is {value}, legal is {least}..{most}")]
    Range {
        /// Which.
        what: &'static str,
        /// It.
        value: u64,
        /// Lowest legal.
        least: u64,
        /// Highest legal.
        most: u64,
    },
}

fn aligned(what: &'static str, value: u64) -> Result<u64, WordError> {
    if value.is_multiple_of(8) { Ok(value) } else { Err(WordError::Alignment { what, value }) }
}

fn within(what: &'static str, value: u64, least: u64, most: u64) -> Result<u64, WordError> {
    if (least..=most).contains(&value) {
        Ok(value)
    } else {
        Err(WordError::Range { what, value, least, most })
    }
}

/// Which host is notified of a transfer, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The sender, when it has left.
    pub local: bool,
    /// The receiver, when it and all before it are in its memory.
    pub notify: bool,
    /// The receiver by an interrupt, then.
    pub interrupt: bool,
    /// The sender, then.
    pub completion: bool,
}

impl Options {
    fn of_descriptor(self) -> u64 {
        descriptor::LOCAL_NOTIFY.put(self.local)
            | descriptor::NOTIFY.put(self.notify)
            | descriptor::IRQ.put(self.interrupt)
            | descriptor::COMPLETION.put(self.completion)
    }

    fn of_message(self) -> u64 {
        message::LOCAL_NOTIFY.put(self.local)
            | message::NOTIFY.put(self.notify)
            | message::IRQ.put(self.interrupt)
            | message::COMPLETION.put(self.completion)
    }
}

/// A region's key: which entry of the remote host's region table, and its nonce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(u32);

impl Key {
    /// Of entry `region`, with the lowest 24 bits of `nonce`.
    #[must_use]
    pub const fn new(region: u8, nonce: u32) -> Self {
        Self(nonce << key::NONCE.low | region as u32)
    }

    /// As encoded in descriptors.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }
}

/// A remote write: up to [`MAX_TRANSFER`] bytes out of this host's memory into another's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Where the data are, on this host's bus.
    pub source: u64,
    /// Where they go, on the remote host's bus. Without a key below 4 GiB.
    pub target: u64,
    /// Bytes.
    pub bytes: usize,
    /// The destination.
    pub host: HostId,
    /// Notifications.
    pub options: Options,
    /// With one, two slots: a 64-bit target, and an immediate for the notified program.
    pub key: Option<(Key, u32)>,
    /// This slot and all before it may go.
    pub start: bool,
}

impl Descriptor {
    /// Slots it takes.
    #[must_use]
    pub const fn slots(&self) -> u16 {
        if self.key.is_some() { 2 } else { 1 }
    }

    /// Its beats, 2 a slot.
    ///
    /// # Errors
    /// When an address or the size is not a multiple of 8, or the size or the target is out of range.
    pub fn beats(&self) -> Result<Vec<u64>, WordError> {
        let bytes = within("size", self.bytes as u64, 8, MAX_TRANSFER as u64)?;
        let most = if self.key.is_some() { u64::MAX } else { u32::MAX.into() };
        let target = within("target", aligned("target", self.target)?, 0, most)?;
        let second = descriptor::ADDRESS.put(target)
            | descriptor::SIZE.put(aligned("size", bytes)? / 8)
            | descriptor::DST.put(self.host)
            | descriptor::START.put(self.start)
            | self.options.of_descriptor()
            | descriptor::EXTENDED.put(self.key.is_some());
        let mut beats = vec![aligned("source", self.source)?, second];
        if let Some((key, immediate)) = self.key {
            beats.extend([
                descriptor_key::ADDRESS.put(target >> descriptor::ADDRESS.bits)
                    | descriptor_key::KEY.put(key.bits()),
                descriptor_immediate::IMMEDIATE.put(immediate),
            ]);
        }
        Ok(beats)
    }
}

/// A message to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// A multiple of 8 bytes, 8 to 512.
    pub body: &'a [u8],
    /// Notifications.
    pub options: Options,
    /// For its reader.
    pub immediate: u32,
}

/// A message's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageHeader {
    /// Bytes of the body.
    pub bytes: usize,
    /// The remote host's queue.
    pub queue: u8,
    /// Notifications.
    pub options: Options,
    /// For its reader.
    pub immediate: u32,
}

impl MessageHeader {
    /// The bit that asks for a local notification.
    pub(super) const LOCAL: u64 = 1 << message::LOCAL_NOTIFY.low;

    /// Its beat.
    ///
    /// # Errors
    /// When the body is not a multiple of 8 bytes, empty, or too long.
    pub fn beat(&self) -> Result<u64, WordError> {
        let bytes = within("message", self.bytes as u64, 8, MAX_MESSAGE as u64)?;
        Ok(message::BEATS.put(aligned("message", bytes)? / 8)
            | message::QID.put(self.queue)
            | self.options.of_message()
            | message::IMMEDIATE.put(self.immediate))
    }
}

/// A remote write that brings its data with it: the processor writes them into the message queue behind their
/// address, and the interface reads no memory for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InlineWrite<'a> {
    /// A multiple of 8 bytes, 8 to [`MAX_INLINE`], with a key 8 less.
    pub body: &'a [u8],
    /// Where they go, on the remote host's bus.
    pub target: u64,
    /// Notifications.
    pub options: Options,
    /// Which region, and an immediate for the notified program; without one it is that of this
    /// host.
    pub key: Option<(Key, u32)>,
}

impl InlineWrite<'_> {
    /// The beats in front of its body: header, address, key.
    ///
    /// # Errors
    /// When body or target are no multiple of 8 bytes, or the body is empty or too long.
    pub fn head(&self) -> Result<Vec<u64>, WordError> {
        let most = MAX_INLINE - if self.key.is_some() { 8 } else { 0 };
        let bytes = within("inline write", self.body.len() as u64, 8, most as u64)?;
        let beats = aligned("inline write", bytes)? / 8 + 1 + u64::from(self.key.is_some());
        let header = message::BEATS.put(beats)
            | self.options.of_message()
            | message::WRITE.put(true)
            | message::EXTENDED.put(self.key.is_some());
        let mut head = vec![header, aligned("target", self.target)?];
        head.extend(self.key.map(|(key, immediate)| {
            inline_key::KEY.put(key.bits()) | inline_key::IMMEDIATE.put(immediate)
        }));
        Ok(head)
    }
}

/// Memory that others may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// Its address on this host's bus.
    pub base: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Hosts that may write it, a bit each.
    pub sources: u8,
    /// Lowest 24 bits: what a key must repeat.
    pub nonce: u32,
    /// Notifications go to this queue and not to the source's word.
    pub queue: Option<u8>,
}

impl Region {
    /// Its beats in the region table.
    ///
    /// # Errors
    /// When it is not aligned, or passes the end of the address space.
    pub fn beats(&self) -> Result<[u64; 3], WordError> {
        let room = u64::MAX - self.base;
        let bytes = within("region", aligned("region", self.bytes)?, 8, room)?;
        let rest = region::VALID.put(true)
            | region::SOURCES.put(self.sources)
            | region::TO_QUEUE.put(self.queue.is_some())
            | region::QID.put(self.queue.unwrap_or(0))
            | region::NONCE.put(self.nonce);
        Ok([aligned("region", self.base)?, self.base + bytes, rest])
    }
}

/// How a remote queue's messages lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Bodies behind each other, as published.
    Packed,
    /// A slot of 64, 128, 256 or 512 bytes each, a [`Frame`] first.
    Slots(usize),
}

/// A ring in this host's memory that others may append to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueEntry {
    /// Its address on this host's bus.
    pub base: u64,
    /// Its bytes, below 1 MiB.
    pub bytes: u64,
    /// How it is filled.
    pub layout: Layout,
    /// Hosts that may, a bit each.
    pub sources: u8,
}

impl QueueEntry {
    /// Its beats in the queue table.
    ///
    /// # Errors
    /// When it is not aligned, too large, or no whole number of slots.
    pub fn beats(&self) -> Result<[u64; 2], WordError> {
        let wrap = within("queue", aligned("queue", self.bytes)? / 8, 1, queue::WRAP.most())?;
        let slot = match self.layout {
            Layout::Packed => 0_u8,
            Layout::Slots(bytes) => {
                let class = match bytes {
                    64 => 1,
                    128 => 2,
                    256 => 3,
                    512 => 4,
                    _ => {
                        let (value, least, most) = (bytes as u64, 64, 512);
                        return Err(WordError::Range { what: "slot", value, least, most });
                    }
                };
                if !self.bytes.is_multiple_of(bytes as u64) {
                    return Err(WordError::Alignment { what: "queue of slots", value: self.bytes });
                }
                class
            }
        };
        let second = queue::WRAP.put(wrap)
            | queue::SLOT.put(slot)
            | queue::SOURCES.put(self.sources)
            | queue::VALID.put(true);
        Ok([aligned("queue", self.base)?, second])
    }
}

/// The first word of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Turns with each round of the ring, true in the first.
    pub phase: bool,
    /// Bytes of the body; of a notification 8 when a transfer failed before it, else 0.
    pub bytes: usize,
    /// The sender.
    pub source: HostId,
    /// A notification, not a message.
    pub notification: bool,
    /// Messages in this queue so far, modulo 2^16.
    pub count: u16,
    /// As the sender gave it.
    pub immediate: u32,
}

impl From<u64> for Frame {
    fn from(word: u64) -> Self {
        Self {
            phase: frame::PHASE.is_set(word),
            bytes: frame::BEATS.get(word) as usize * 8,
            source: frame::SRC.get(word) as HostId,
            notification: frame::NOTIFICATION.is_set(word),
            count: frame::COUNT.get(word) as u16,
            immediate: frame::IMMEDIATE.get(word) as u32,
        }
    }
}

/// A source's notification word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notification {
    /// Address of the last beat that was written.
    pub address: u64,
    /// Notifications so far, modulo 2^15.
    pub count: u16,
    /// A transfer failed since the last one.
    pub failed: bool,
}

impl From<u64> for Notification {
    fn from(word: u64) -> Self {
        Self {
            address: notification::ADDRESS.get(word),
            count: notification::COUNT.get(word) as u16,
            failed: notification::FAILED.is_set(word),
        }
    }
}

/// A destination's completion word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Packets before this number are in the remote host's memory, or refused.
    pub number: u16,
    /// The flow is open.
    pub open: bool,
    /// The remote end has refusals to report that are not counted here yet.
    pub pending: bool,
    /// Its session.
    pub session: u8,
    /// Sessions of the flow that have ended since the endpoint was opened, modulo 64.
    pub ended: u8,
    /// Refusals so far.
    pub refusals: u32,
}

impl From<u64> for Completion {
    fn from(word: u64) -> Self {
        Self {
            number: completion::ACKNOWLEDGED.get(word) as u16,
            open: completion::OPEN.is_set(word),
            pending: completion::PENDING.is_set(word),
            session: completion::SESSION.get(word) as u8,
            ended: completion::ENDED.get(word) as u8,
            refusals: completion::REFUSALS.get(word) as u32,
        }
    }
}

/// Why something was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Code 1.
    #[error("the descriptor is not legal")]
    Descriptor,
    /// Code 2.
    #[error("the source could not be read on this host's bus")]
    Read,
    /// Code 3.
    #[error("no such region, wrong key, or this host may not write there")]
    Key,
    /// Code 4.
    #[error("outside the region's bounds")]
    Bounds,
    /// Code 5.
    #[error("no such queue, or this host may not append to it")]
    Queue,
    /// Code 6.
    #[error("the queue is full")]
    Full,
    /// Code 7.
    #[error("the remote host's bus refused the write")]
    Write,
    /// Code 8.
    #[error("lost in transit")]
    Lost,
    /// Code 9.
    #[error("the remote host was reset")]
    Session,
    /// A code that this library does not know.
    #[error("code {0}")]
    Other(u8),
}

impl From<u8> for Fault {
    fn from(code: u8) -> Self {
        match code {
            code::DESCRIPTOR => Self::Descriptor,
            code::READ => Self::Read,
            code::KEY => Self::Key,
            code::BOUNDS => Self::Bounds,
            code::QUEUE => Self::Queue,
            code::FULL => Self::Full,
            code::WRITE => Self::Write,
            code::LOST => Self::Lost,
            code::SESSION => Self::Session,
            other => Self::Other(other),
        }
    }
}

/// An entry of the error ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorRecord {
    /// What happened; none: only `more` says something.
    pub fault: Option<Fault>,
    /// A message, by its number; else a descriptor, by its slot.
    pub message: bool,
    /// Its number modulo 128, or its slot.
    pub tag: u8,
    /// The other host.
    pub host: HostId,
    /// This host refused or lost what the other sent; else the other way round.
    pub ours: bool,
    /// Further ones that are not itemised.
    pub more: u16,
    /// Where there is one.
    pub address: u64,
}

impl ErrorRecord {
    /// The record, if it has been written in the round of the ring that `phase` stands for.
    #[must_use]
    pub fn parse(beats: [u64; 2], phase: bool) -> Option<Self> {
        let [first, address] = beats;
        if record::PHASE.is_set(first) != phase {
            return None;
        }
        let why = record::CODE.get(first) as u8;
        Some(Self {
            fault: (why != code::NONE).then(|| why.into()),
            message: record::MESSAGE.is_set(first),
            tag: record::TAG.get(first) as u8,
            host: record::HOST.get(first) as HostId,
            ours: record::OURS.is_set(first),
            more: record::MORE.get(first) as u16,
            address,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Descriptor = Descriptor {
        source: 0x1_0000_0040,
        target: 0x8000_0008,
        bytes: 4096,
        host: 5,
        options: Options { local: true, notify: false, interrupt: false, completion: true },
        key: None,
        start: true,
    };

    #[test]
    fn a_descriptor_has_its_fields_where_the_page_says() {
        let beats = PLAIN.beats().unwrap();
        assert_eq!(beats[0], 0x1_0000_0040);
        assert_eq!(beats[1] & 0xFFFF_FFFF, 0x8000_0008);
        assert_eq!(beats[1] >> 32 & 0x3FF, 512);
        assert_eq!(beats[1] >> 42 & 0x7F, 5);
        assert_eq!(beats[1] >> 49, 0b1_0011, "start, local, completion");
    }

    #[test]
    fn a_key_takes_a_second_slot_and_reaches_64_bits() {
        let key = Key::new(7, 0x00AB_CDEF);
        let keyed = Descriptor { target: 0x12_3456_7890, key: Some((key, 99)), ..PLAIN };
        let beats = keyed.beats().unwrap();
        assert_eq!((beats.len(), keyed.slots()), (4, 2));
        assert_eq!(beats[1] >> 54 & 1, 1);
        assert_eq!(beats[1] as u32, 0x3456_7890);
        assert_eq!(beats[2] as u32, 0x12);
        assert_eq!(beats[2] >> 32, 0xABCD_EF07);
        assert_eq!(beats[3], 99);
    }

    #[test]
    fn what_a_word_cannot_say_is_an_error_that_names_it() {
        let wrong = [
            (Descriptor { source: 4, ..PLAIN }, "source 0x4 is not a multiple of 8"),
            (Descriptor { bytes: 0, ..PLAIN }, "size is 0, legal is 8..4096"),
            (Descriptor { bytes: 4104, ..PLAIN }, "size is 4104, legal is 8..4096"),
            (Descriptor { bytes: 12, ..PLAIN }, "size 0xc is not a multiple of 8"),
            (
                Descriptor { target: 1 << 32, ..PLAIN },
                "target is 4294967296, legal is 0..4294967295",
            ),
        ];
        for (descriptor, text) in wrong {
            assert_eq!(descriptor.beats().unwrap_err().to_string(), text);
        }
        let queue = QueueEntry { base: 0, bytes: 96, layout: Layout::Slots(64), sources: 1 };
        assert!(queue.beats().unwrap_err().to_string().contains("queue of slots"));
        let region = Region { base: u64::MAX - 7, bytes: 16, sources: 1, nonce: 0, queue: None };
        assert!(region.beats().is_err());
    }

    #[test]
    fn a_region_says_who_may_write_where_and_whom_it_tells() {
        let region =
            Region { base: 0x1000, bytes: 0x800, sources: 0b110, nonce: 0x123456, queue: Some(9) };
        let [base, limit, rest] = region.beats().unwrap();
        assert_eq!((base, limit), (0x1000, 0x1800));
        assert_eq!(rest, 1 | 0b110 << 1 | 1 << 9 | 9 << 10 | 0x12_3456 << 32);
    }

    #[test]
    fn what_the_interface_writes_is_read_back() {
        let frame = Frame::from(1 | 3 << 1 | 6 << 8 | 41 << 16 | 0xFEED << 32);
        assert_eq!((frame.phase, frame.bytes, frame.source), (true, 24, 6));
        assert_eq!((frame.count, frame.immediate), (41, 0xFEED));
        let told = Notification::from(1 << 63 | 7 << 48 | 0x1F8);
        assert_eq!(told, Notification { address: 0x1F8, count: 7, failed: true });
        let done = Completion::from(3 << 32 | 0x21 << 24 | 5 << 18 | 1 << 16 | 500);
        let (number, session, ended, refusals) = (500, 0x21, 5, 3);
        let expected = Completion { number, open: true, pending: false, session, ended, refusals };
        assert_eq!(done, expected);
        assert!(Completion::from(1 << 17).pending);
        let first = 1 << 63 | 2 << 24 | 1 << 23 | 4 << 16 | 0x85 << 8 | 6;
        let record = ErrorRecord::parse([first, 0x40], true).unwrap();
        assert_eq!((record.fault, record.message, record.tag), (Some(Fault::Full), true, 5));
        assert_eq!((record.host, record.ours, record.more), (4, true, 2));
        assert_eq!(ErrorRecord::parse([first, 0x40], false), None);
    }
}
