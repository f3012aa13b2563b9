// SPDX-License-Identifier: Apache-2.0
//! Files of events: what the finder sees, and its truth in a file of its own.
//! Layout: `docs/reference/trigger-formats.md`.

use crate::events::{MAX_RINGS, Particle, Ring, Sample, TrueRing, Truth, sample};
use crate::record::{self, RECORD_BYTES, Record, RecordError, SLOTS};

/// Bytes before the records.
pub const HEADER_BYTES: usize = 64;
/// Bytes of the truth of one event.
pub const TRUTH_BYTES: usize = 4 + 20 * MAX_RINGS + SLOTS;
/// Events of a file, at most: files are held in memory.
pub const MAX_EVENTS: usize = 8 << 20;

const EVENTS: [u8; 8] = *b"ISTHTRG1";
const TRUTHS: [u8; 8] = *b"ISTHTRU1";

/// What bytes are not.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FileError {
    /// Another kind of file.
    #[error("not a file of {0}")]
    Kind(&'static str),
    /// Not as long as its header says.
    #[error("{got} bytes where the header says {expected}")]
    Length {
        /// Expected.
        expected: u64,
        /// Found.
        got: usize,
    },
    /// A field with a value that it may not have.
    #[error("{what} of event {event} is wrong")]
    Value {
        /// Which field.
        what: &'static str,
        /// Which event.
        event: usize,
    },
    /// A malformed record.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The truth of other events.
    #[error("the truth is that of other events")]
    Other,
}

/// What events were made from.
#[derive(Clone, Debug, PartialEq)]
pub struct Origin {
    /// Name of the sample, 16 bytes at most.
    pub sample: String,
    /// Seed.
    pub seed: u64,
    /// Mean events a second.
    pub rate_hz: f64,
}

impl Origin {
    /// The sample, as far as it is a known one.
    #[must_use]
    pub fn known(&self) -> Option<Sample> {
        sample(&self.sample)
    }

    fn header(&self, kind: [u8; 8], count: usize, bytes: usize) -> Vec<u8> {
        let mut made = Vec::with_capacity(HEADER_BYTES + count * bytes);
        made.extend(kind);
        made.extend(self.seed.to_le_bytes());
        made.extend((count as u64).to_le_bytes());
        made.extend(self.rate_hz.to_le_bytes());
        made.extend(self.sample.as_bytes().iter().take(16));
        made.resize(48, 0);
        made.extend((bytes as u32).to_le_bytes());
        made.resize(HEADER_BYTES, 0);
        made
    }

    fn read<'a>(
        kind: [u8; 8],
        what: &'static str,
        bytes: &'a [u8],
        size: usize,
    ) -> Result<(Self, &'a [u8]), FileError> {
        let (head, rest) =
            bytes.split_first_chunk::<HEADER_BYTES>().ok_or(FileError::Kind(what))?;
        let words = head.as_chunks::<8>().0;
        let word = |at: usize| u64::from_le_bytes(words[at]);
        if words[0] != kind || word(6) != size as u64 {
            return Err(FileError::Kind(what));
        }
        let expected = word(2).saturating_mul(size as u64);
        if expected != rest.len() as u64 {
            let expected = expected.saturating_add(HEADER_BYTES as u64);
            return Err(FileError::Length { expected, got: bytes.len() });
        }
        let name = String::from_utf8_lossy(&head[32..48]).trim_end_matches('\0').to_owned();
        Ok((Self { sample: name, seed: word(1), rate_hz: f64::from_bits(word(3)) }, rest))
    }
}

/// A file of events.
#[must_use]
pub fn encode(origin: &Origin, events: &[Record]) -> Vec<u8> {
    let mut made = origin.header(EVENTS, events.len(), RECORD_BYTES);
    made.extend_from_slice(events.as_flattened());
    made
}

/// The events of a file, where they are.
pub fn decode(bytes: &[u8]) -> Result<(Origin, &[Record]), FileError> {
    let (origin, rest) = Origin::read(EVENTS, "events", bytes, RECORD_BYTES)?;
    let events = rest.as_chunks::<RECORD_BYTES>().0;
    record::check(events)?;
    Ok((origin, events))
}

/// A file of truths.
#[must_use]
pub fn encode_truths(origin: &Origin, truths: &[Truth]) -> Vec<u8> {
    let mut made = origin.header(TRUTHS, truths.len(), TRUTH_BYTES);
    for truth in truths {
        let start = made.len();
        made.extend([truth.rings.len() as u8, 0, 0, 0]);
        for one in truth.rings.iter().take(MAX_RINGS) {
            for value in [one.ring.x, one.ring.y, one.ring.r, one.momentum] {
                made.extend(value.to_le_bytes());
            }
            made.extend([one.particle as u8, one.hits, 0, 0]);
        }
        made.resize(start + TRUTH_BYTES - SLOTS, 0);
        made.extend(truth.labels);
    }
    made
}

/// The truths of a file.
pub fn decode_truths(bytes: &[u8]) -> Result<(Origin, Vec<Truth>), FileError> {
    let (origin, rest) = Origin::read(TRUTHS, "truths", bytes, TRUTH_BYTES)?;
    let truths = rest.as_chunks::<TRUTH_BYTES>().0.iter().enumerate();
    let truths = truths.map(|(event, bytes)| truth(bytes, event)).collect::<Result<_, _>>()?;
    Ok((origin, truths))
}

fn truth(bytes: &[u8; TRUTH_BYTES], event: usize) -> Result<Truth, FileError> {
    let wrong = |what| FileError::Value { what, event };
    let (body, labels) = bytes.split_last_chunk::<SLOTS>().ok_or(wrong("length"))?;
    let number = usize::from(body[0]);
    if number > MAX_RINGS {
        return Err(wrong("number of rings"));
    }
    let mut rings = Vec::with_capacity(number);
    for one in &body[4..].as_chunks::<20>().0[..number] {
        let words = one.as_chunks::<4>().0;
        let value = |at: usize| f32::from_le_bytes(words[at]);
        let ring = Ring { x: value(0), y: value(1), r: value(2) };
        if ![ring.x, ring.y, ring.r, value(3)].iter().all(|value| value.is_finite()) {
            return Err(wrong("ring"));
        }
        let particle = Particle::ALL.get(usize::from(words[4][0])).ok_or(wrong("particle"))?;
        rings.push(TrueRing { ring, particle: *particle, momentum: value(3), hits: words[4][1] });
    }
    Ok(Truth { rings, labels: *labels })
}

/// Events with their truths, which must be of the same origin.
pub fn decode_both<'a>(
    events: &'a [u8],
    truths: &[u8],
) -> Result<(Origin, &'a [Record], Vec<Truth>), FileError> {
    let (origin, events) = decode(events)?;
    let (other, truths) = decode_truths(truths)?;
    if other != origin || truths.len() != events.len() {
        return Err(FileError::Other);
    }
    Ok((origin, events, truths))
}
