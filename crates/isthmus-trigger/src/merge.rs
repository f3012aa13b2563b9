// SPDX-License-Identifier: Apache-2.0
//! Streams of the readout's multi-event packets, one a link: made from events, and merged into events again by
//! event number and time stamp.

use std::collections::{BTreeMap, VecDeque};

use crate::geometry::NULL_ID;
use crate::na62::mep::{self, Fragment, Mep};
use crate::na62::tel62::Board;
use crate::na62::{FormatError, cable};
use crate::record::{self, HEADER_BYTES, Record, SLOTS};

/// Events of a datagram that the interface has merged, at most.
pub const MERGED_EVENTS: usize = 18;
/// Bytes of such a datagram before its records, and of an event's word behind them.
const MERGED_HEADER_BYTES: usize = 4;
const MERGED_WORD_BYTES: usize = 8;

/// Links from the readout.
pub const LINKS: usize = 4;
/// Incomplete groups that are kept; the oldest goes, and counts as incomplete.
const KEPT: usize = 64;

/// What a fragment of an event holds, and how events are spread over links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Two bytes a hit, as in a record's slots: 48 bytes for an event of 20 hits. Groups of events take turns
    /// over the links.
    Packed,
    /// The data of a TEL62 board. Each board has a link, and sends the hits of its channels of every event.
    Tel62,
}

impl Format {
    /// All.
    pub const ALL: [Self; 2] = [Self::Packed, Self::Tel62];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Packed => "packed",
            Self::Tel62 => "tel62",
        }
    }

    /// The format of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }
}

/// A datagram, and the link that it is sent on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// 0 to 3.
    pub link: usize,
    /// A multi-event packet.
    pub bytes: Vec<u8>,
}

/// The datagrams of a group: consecutive events, the first of which has this number.
///
/// # Errors
/// More events, or more bytes, than a packet can hold.
pub fn packets(
    format: Format,
    group: usize,
    first_event: u32,
    events: &[Record],
) -> Result<Vec<Packet>, FormatError> {
    let packet = |link: usize, data: &[Vec<u8>]| {
        let fragments = events.iter().zip(data).map(|(event, data)| Fragment {
            timestamp: record::header(event).timestamp,
            last_of_burst: false,
            data,
        });
        let (source, board) = (mep::RICH, link as u8);
        let made = Mep { first_event, source, board, fragments: fragments.collect() };
        Ok(Packet { link, bytes: made.encode()? })
    };
    match format {
        Format::Packed => {
            let data: Vec<Vec<u8>> = events
                .iter()
                .map(|event| event[HEADER_BYTES..][..2 * record::count(event)].to_vec())
                .collect();
            Ok(vec![packet(group % LINKS, &data)?])
        }
        Format::Tel62 => {
            let mut data = vec![Vec::new(); LINKS];
            for event in events {
                for (board, data) in cable::boards(event).iter().zip(&mut data) {
                    data.push(board.encode()?);
                }
            }
            data.iter().enumerate().map(|(link, data)| packet(link, data)).collect()
        }
    }
}

/// Events of a group whose packets have all come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Number of the first event.
    pub first_event: u32,
    /// Their time stamps, in the order of their numbers.
    pub timestamps: Vec<u32>,
    /// As the finder reads them.
    pub records: Vec<Record>,
}

/// What the interface says of an event that it has merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Joined {
    /// That of its fragments, in clocks of 24.95 ns.
    pub timestamp: u32,
    /// Boards whose hits are in it, a bit each.
    pub boards: u8,
    /// Boards whose fragment had another time stamp.
    pub other: u8,
}

impl Joined {
    /// Whether all boards' hits are in it.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.boards == (1 << LINKS) - 1
    }
}

/// A datagram of merged events, its records where they are: nothing is copied. Every field is checked.
///
/// # Errors
/// When its length is not that of its events, or a record or a word has what none has.
pub fn merged(bytes: &[u8]) -> Result<(u32, &[Record], Vec<Joined>), FormatError> {
    let wrong =
        |said| FormatError::Length { what: "merged events: bytes", said, found: bytes.len() };
    let (head, rest) = bytes.split_first_chunk().ok_or_else(|| wrong(MERGED_HEADER_BYTES))?;
    let head = u32::from_le_bytes(*head);
    let events = (head >> 24) as usize;
    let expected = events * (record::RECORD_BYTES + MERGED_WORD_BYTES);
    if rest.len() != expected {
        return Err(wrong(MERGED_HEADER_BYTES + expected));
    }
    let (records, words) = rest.split_at(events * record::RECORD_BYTES);
    let (records, _) = records.as_chunks();
    if record::check(records).is_err() {
        return Err(FormatError::Value { what: "slot of a merged event", value: head.into() });
    }
    let (words, _) = words.as_chunks();
    let joined = words.iter().map(|word| {
        let value = u64::from_le_bytes(*word);
        if value >> 40 != 0 {
            return Err(FormatError::Value { what: "word of a merged event", value });
        }
        let (boards, other) = ((value >> 32 & 0xF) as u8, (value >> 36 & 0xF) as u8);
        Ok(Joined { timestamp: value as u32, boards, other })
    });
    Ok((head & 0xFF_FFFF, records, joined.collect::<Result<_, _>>()?))
}

/// What one board sent of a group.
struct Part {
    timestamps: Vec<u32>,
    boards: Vec<Board>,
}

/// Merges the links' packets.
pub struct Merger {
    format: Format,
    /// By the number of the first event: what each board sent.
    open: BTreeMap<u32, [Option<Part>; LINKS]>,
    /// Groups in the order in which their first packets came; some are complete already.
    came: VecDeque<u32>,
    incomplete: u64,
}

impl Merger {
    /// Nothing has come.
    #[must_use]
    pub fn new(format: Format) -> Self {
        Self { format, open: BTreeMap::new(), came: VecDeque::new(), incomplete: 0 }
    }

    /// Groups given up: a packet of theirs never came.
    #[must_use]
    pub fn incomplete(&self) -> u64 {
        self.incomplete
    }

    /// Takes a datagram. The group that it completes, if any.
    ///
    /// # Errors
    /// When it is no packet of this format, or its boards' time stamps or numbers of events differ.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Option<Group>, FormatError> {
        let packet = Mep::decode(bytes)?;
        let first_event = packet.first_event;
        match self.format {
            Format::Packed => {
                // Filled in place: to collect results would not know how many there are, and move them as it grows.
                let mut records = vec![record::EMPTY; packet.fragments.len()];
                for (fragment, record) in packet.fragments.iter().zip(&mut records) {
                    unpack(fragment, record)?;
                }
                let timestamps = packet.fragments.iter().map(|one| one.timestamp).collect();
                Ok(Some(Group { first_event, timestamps, records }))
            }
            Format::Tel62 => self.join(&packet),
        }
    }

    fn join(&mut self, packet: &Mep<'_>) -> Result<Option<Group>, FormatError> {
        let (first_event, link) = (packet.first_event, usize::from(packet.board));
        let boards = packet.fragments.iter().map(|one| Board::decode(one.data));
        let part = Part {
            timestamps: packet.fragments.iter().map(|one| one.timestamp).collect(),
            boards: boards.collect::<Result<_, _>>()?,
        };
        if link >= LINKS {
            return Err(FormatError::Value { what: "board", value: link as u64 });
        }
        let parts = self.open.entry(first_event).or_insert_with(|| {
            self.came.push_back(first_event);
            Default::default()
        });
        let place = &mut parts[link];
        if place.replace(part).is_some() {
            return Err(FormatError::Value { what: "board's second packet", value: link as u64 });
        }
        let complete = parts.iter().all(Option::is_some);
        if !complete {
            // The one that came first goes, whatever its number: a wrong one would stay for ever.
            while self.open.len() > KEPT {
                let Some(oldest) = self.came.pop_front() else { break };
                self.incomplete += u64::from(self.open.remove(&oldest).is_some());
            }
            return Ok(None);
        }
        let parts = self.open.remove(&first_event).unwrap_or_default();
        self.came.retain(|one| *one != first_event);
        let parts: Vec<Part> = parts.into_iter().flatten().collect();
        let times = &parts[0].timestamps;
        for part in &parts[1..] {
            if part.timestamps.len() != times.len() {
                let (said, found) = (times.len(), part.timestamps.len());
                return Err(FormatError::Length { what: "number of events", said, found });
            }
            if let Some((_, other)) = times.iter().zip(&part.timestamps).find(|(a, b)| a != b) {
                return Err(FormatError::Value { what: "time stamp", value: (*other).into() });
            }
        }
        let records = times.iter().enumerate().map(|(at, time)| {
            cable::record(parts.iter().filter_map(|part| part.boards.get(at)), *time)
        });
        let records = records.collect::<Result<_, _>>()?;
        Ok(Some(Group { first_event, timestamps: times.clone(), records }))
    }
}

/// The record of a packed fragment, an empty one so far: its slots are the fragment's bytes.
fn unpack(fragment: &Fragment<'_>, made: &mut Record) -> Result<(), FormatError> {
    let (slots, rest) = fragment.data.as_chunks::<2>();
    if !rest.is_empty() || slots.len() > SLOTS {
        let found = fragment.data.len();
        return Err(FormatError::Length { what: "hits", said: 2 * SLOTS, found });
    }
    if slots.iter().any(|slot| u16::from_le_bytes(*slot) & NULL_ID == NULL_ID) {
        return Err(FormatError::Value { what: "photomultiplier", value: NULL_ID.into() });
    }
    made[..4].copy_from_slice(&fragment.timestamp.to_le_bytes());
    made[5] = slots.len() as u8;
    made[HEADER_BYTES..][..fragment.data.len()].copy_from_slice(fragment.data);
    Ok(())
}
