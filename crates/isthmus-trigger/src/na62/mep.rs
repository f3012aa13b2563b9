// SPDX-License-Identifier: Apache-2.0
//! The multi-event packet of a readout board, one a UDP datagram, and its event fragments (NA62-11-02,
//! table 2, as the farm's public library has them).

use super::{Cursor, FormatError, fits};

/// Bytes of a packet's header.
pub const HEADER_BYTES: usize = 8;
/// Bytes of a fragment's header.
pub const FRAGMENT_HEADER_BYTES: usize = 8;
/// Source id of the RICH.
pub const RICH: u8 = 0x1C;

/// A packet. The fragments' data are where the bytes are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mep<'a> {
    /// Number of the first event, 24 bits; the others follow one by one.
    pub first_event: u32,
    /// Which detector.
    pub source: u8,
    /// Which board.
    pub board: u8,
    /// One a event, 255 at most.
    pub fragments: Vec<Fragment<'a>>,
}

/// One event of one board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment<'a> {
    /// In clocks of 24.95 ns.
    pub timestamp: u32,
    /// The burst ends with this event.
    pub last_of_burst: bool,
    /// What the detector sends, such as [`super::tel62`].
    pub data: &'a [u8],
}

/// Bytes of the packet that begins here.
///
/// # Errors
/// When its header is not whole.
pub fn length(bytes: &[u8]) -> Result<usize, FormatError> {
    let mut cursor = Cursor::new(bytes);
    cursor.word("MEP header")?;
    Ok((cursor.word("MEP header")? & 0xFFFF) as usize)
}

impl<'a> Mep<'a> {
    /// Reads a whole datagram. Its length, those of its fragments and their event numbers must fit together.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, FormatError> {
        let mut cursor = Cursor::new(bytes);
        let number = cursor.word("MEP header")?;
        let word = cursor.word("MEP header")?;
        let said = (word & 0xFFFF) as usize;
        if said != bytes.len() {
            return Err(FormatError::Length { what: "MEP length", said, found: bytes.len() });
        }
        let first_event = number & 0xFF_FFFF;
        let events = word >> 16 & 0xFF;
        let mut fragments = Vec::with_capacity(events as usize);
        for at in 0..events {
            let head = cursor.word("fragment header")?;
            let timestamp = cursor.word("fragment header")?;
            let length = (head & 0xFFFF) as usize;
            let Some(data) = length.checked_sub(FRAGMENT_HEADER_BYTES) else {
                let (what, found) = ("fragment length", FRAGMENT_HEADER_BYTES);
                return Err(FormatError::Length { what, said: length, found });
            };
            let lsb = (head >> 16 & 0xFF) as usize;
            let expected = (first_event.wrapping_add(at) & 0xFF) as usize;
            if lsb != expected {
                let what = "event number's low byte";
                return Err(FormatError::Length { what, said: lsb, found: expected });
            }
            let reserved = head >> 24 & 0x7F;
            if reserved != 0 {
                return Err(FormatError::Value { what: "reserved bits", value: reserved.into() });
            }
            let data = cursor.take("fragment data", data)?;
            fragments.push(Fragment { timestamp, last_of_burst: head >> 31 == 1, data });
        }
        cursor.end("event count: bytes")?;
        let (source, board) = ((number >> 24) as u8, (word >> 24) as u8);
        Ok(Self { first_event, source, board, fragments })
    }

    /// The datagram.
    pub fn encode(&self) -> Result<Vec<u8>, FormatError> {
        let first = fits("event number", self.first_event.into(), 24)?;
        let events = fits("event count", self.fragments.len() as u64, 8)?;
        let length = HEADER_BYTES
            + self.fragments.iter().map(|f| FRAGMENT_HEADER_BYTES + f.data.len()).sum::<usize>();
        let length = fits("MEP length", length as u64, 16)?;
        let mut bytes = Vec::with_capacity(length as usize);
        bytes.extend((first | u32::from(self.source) << 24).to_le_bytes());
        bytes.extend((length | events << 16 | u32::from(self.board) << 24).to_le_bytes());
        for (at, fragment) in self.fragments.iter().enumerate() {
            let length = (FRAGMENT_HEADER_BYTES + fragment.data.len()) as u32;
            let lsb = (first.wrapping_add(at as u32) & 0xFF) << 16;
            let last = u32::from(fragment.last_of_burst) << 31;
            bytes.extend((length | lsb | last).to_le_bytes());
            bytes.extend(fragment.timestamp.to_le_bytes());
            bytes.extend(fragment.data);
        }
        Ok(bytes)
    }
}
