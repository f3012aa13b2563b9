// SPDX-License-Identifier: Apache-2.0
//! The record of one event as the trigger reads it from the wire, and the datagram that carries records.
//! Formats: `docs/reference/trigger-formats.md`.

use crate::geometry::{ID_BITS, NULL_ID};

/// Hit slots of a record.
pub const SLOTS: usize = 32;
/// Bytes of a record's header.
pub const HEADER_BYTES: usize = 6;
/// Bytes of a record: the header and two for each slot.
pub const RECORD_BYTES: usize = HEADER_BYTES + 2 * SLOTS;
/// Bytes before the records of a datagram.
pub const DATAGRAM_HEADER_BYTES: usize = 4;
/// Records of a datagram, at most: as many as fit an Ethernet frame's 1472 bytes of UDP payload.
pub const DATAGRAM_RECORDS: usize = 20;
/// A time unit of the TDC: a 256th of the machine's clock period of 24.951059536 ns.
pub const TDC_NS: f64 = 24.951_059_536 / 256.0;

/// One event, as it is in the datagram.
pub type Record = [u8; RECORD_BYTES];

/// What bytes are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// Not as many bytes as the header says.
    #[error("{got} bytes where the header says {expected}")]
    Length {
        /// Expected.
        expected: usize,
        /// Given.
        got: usize,
    },
    /// More hits than slots.
    #[error("record {record}: {hits} hits, a record has {SLOTS} slots")]
    Hits {
        /// Which record of the datagram.
        record: usize,
        /// What it says.
        hits: u8,
    },
    /// A slot beyond the hits that is not null, or a hit that is.
    #[error("record {record}, slot {slot}: {what}")]
    Slot {
        /// Which record of the datagram.
        record: usize,
        /// Which slot.
        slot: usize,
        /// What is wrong.
        what: &'static str,
    },
    /// A number that its field cannot hold.
    #[error("{what} {value} is beyond {most}")]
    Range {
        /// Which.
        what: &'static str,
        /// It.
        value: u64,
        /// The highest.
        most: u64,
    },
}

/// A hit: which photomultiplier, and when, in TDC units after the event's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Photomultiplier.
    pub id: u16,
    /// -32..=31.
    pub time: i8,
}

/// When and where an event was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// In machine clocks of 24.95 ns.
    pub timestamp: u32,
    /// In TDC units after it.
    pub fine: u8,
    /// 0 or 1.
    pub disk: u8,
}

/// Encodes an event. Hits beyond [`SLOTS`] and times beyond six bits are refused.
pub fn encode(header: Header, hits: &[Hit]) -> Result<Record, RecordError> {
    let within = |what, value: u64, most: u64| {
        if value <= most { Ok(()) } else { Err(RecordError::Range { what, value, most }) }
    };
    within("number of hits", hits.len() as u64, SLOTS as u64)?;
    within("disk", u64::from(header.disk), 1)?;
    let mut record = [0; RECORD_BYTES];
    record[..4].copy_from_slice(&header.timestamp.to_le_bytes());
    record[4] = header.fine;
    record[5] = hits.len() as u8 | header.disk << 6;
    for slot in 0..SLOTS {
        let value = match hits.get(slot) {
            Some(hit) => {
                within("photomultiplier", u64::from(hit.id), u64::from(NULL_ID) - 1)?;
                within("time of a hit", u64::from(hit.time.unsigned_abs()), 31)?;
                hit.id | (hit.time as u16) << ID_BITS
            }
            None => NULL_ID,
        };
        record[HEADER_BYTES + 2 * slot..][..2].copy_from_slice(&value.to_le_bytes());
    }
    Ok(record)
}

/// When and where.
#[must_use]
pub fn header(record: &Record) -> Header {
    Header {
        timestamp: u32::from_le_bytes([record[0], record[1], record[2], record[3]]),
        fine: record[4],
        disk: record[5] >> 6 & 1,
    }
}

/// Hits in the record; more than there are slots count as all slots.
#[inline(always)]
#[must_use]
pub fn count(record: &Record) -> usize {
    usize::from(record[5] & 0x3F).min(SLOTS)
}

/// The photomultiplier of a slot. No byte makes it leave a table of [`crate::geometry::TABLE`].
#[inline(always)]
#[must_use]
pub fn id(record: &Record, slot: usize) -> usize {
    let at = HEADER_BYTES + 2 * slot;
    usize::from(u16::from_le_bytes([record[at], record[at + 1]]) & NULL_ID)
}

/// Slots 4 n to 4 n + 3 as they are, the first in the lowest 16 bits.
#[inline(always)]
#[must_use]
pub(crate) fn four(record: &Record, n: usize) -> u64 {
    let (fours, _) = record[HEADER_BYTES..].as_chunks::<8>();
    u64::from_le_bytes(fours[n])
}

/// All hits of a record.
pub fn hits(record: &Record) -> impl ExactSizeIterator<Item = Hit> + '_ {
    (0..count(record)).map(|slot| {
        let at = HEADER_BYTES + 2 * slot;
        let value = i16::from_le_bytes([record[at], record[at + 1]]);
        Hit { id: value as u16 & NULL_ID, time: (value >> ID_BITS) as i8 }
    })
}

/// Encodes a datagram: number of its first event (24 bits), then up to 255 records.
pub fn encode_datagram(first: u32, records: &[Record]) -> Result<Vec<u8>, RecordError> {
    let most = DATAGRAM_RECORDS as u64;
    if records.len() > DATAGRAM_RECORDS {
        let value = records.len() as u64;
        return Err(RecordError::Range { what: "number of records", value, most });
    }
    if first >> 24 != 0 {
        let value = u64::from(first);
        return Err(RecordError::Range { what: "event number", value, most: 0xFF_FFFF });
    }
    let mut bytes = (first | (records.len() as u32) << 24).to_le_bytes().to_vec();
    bytes.extend_from_slice(records.as_flattened());
    Ok(bytes)
}

/// The records inside a datagram, where they are: nothing is copied. Every field is checked.
pub fn datagram(bytes: &[u8]) -> Result<(u32, &[Record]), RecordError> {
    let short = RecordError::Length { expected: DATAGRAM_HEADER_BYTES, got: bytes.len() };
    let (head, rest) = bytes.split_first_chunk::<DATAGRAM_HEADER_BYTES>().ok_or(short)?;
    let word = u32::from_le_bytes(*head);
    let (records, tail) = rest.as_chunks::<RECORD_BYTES>();
    let expected = (word >> 24) as usize;
    if records.len() != expected || !tail.is_empty() {
        let expected = DATAGRAM_HEADER_BYTES + RECORD_BYTES * expected;
        return Err(RecordError::Length { expected, got: bytes.len() });
    }
    if expected > DATAGRAM_RECORDS {
        let most = DATAGRAM_RECORDS as u64;
        return Err(RecordError::Range { what: "number of records", value: expected as u64, most });
    }
    check(records)?;
    Ok((word & 0xFF_FFFF, records))
}

/// Checks the hits of records: as many as slots at most, none null, and null all slots beyond them.
pub fn check(records: &[Record]) -> Result<(), RecordError> {
    for (at, record) in records.iter().enumerate() {
        let hits = record[5] & 0x3F;
        if usize::from(hits) > SLOTS {
            return Err(RecordError::Hits { record: at, hits });
        }
        for slot in 0..SLOTS {
            let null = id(record, slot) == usize::from(NULL_ID);
            if null == (slot < usize::from(hits)) {
                let what = if null { "a hit without a photomultiplier" } else { "not null" };
                return Err(RecordError::Slot { record: at, slot, what });
            }
        }
    }
    Ok(())
}

/// A record without hits.
pub const EMPTY: Record = {
    let mut record = [0; RECORD_BYTES];
    let mut slot = 0;
    while slot < SLOTS {
        record[HEADER_BYTES + 2 * slot] = 0xFF;
        record[HEADER_BYTES + 2 * slot + 1] = 3;
        slot += 1;
    }
    record
};
