// SPDX-License-Identifier: Apache-2.0
//! The multi-trigger packet: primitives of one detector to the L0 trigger processor, every 6.4 us and empty
//! where there are none (after the header comments of the processor's public firmware).

use super::{Cursor, FormatError, fits};

/// Bytes of the header.
pub const HEADER_BYTES: usize = 8;
/// Bytes of a primitive.
pub const PRIMITIVE_BYTES: usize = 8;

/// A result of one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Primitive {
    /// What was found: its bits are the detector's.
    pub id: u16,
    /// In clocks of 24.95 ns.
    pub timestamp: u32,
    /// In 256ths of them.
    pub fine: u8,
}

/// A packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// Which detector.
    pub source: u8,
    /// Which part of it.
    pub part: u8,
    /// High 24 bits of the timestamp at which the packet's period begins.
    pub period: u32,
    /// 255 at most.
    pub primitives: Vec<Primitive>,
}

impl Packet {
    /// Reads a whole datagram.
    pub fn decode(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut cursor = Cursor::new(bytes);
        let head = cursor.word("MTP header")?;
        let word = cursor.word("MTP header")?;
        let said = (word >> 16) as usize;
        if said != bytes.len() {
            return Err(FormatError::Length { what: "MTP length", said, found: bytes.len() });
        }
        let mut primitives = Vec::new();
        for _ in 0..word >> 8 & 0xFF {
            let high = cursor.word("timestamp")?;
            if high >> 24 != 0 {
                return Err(FormatError::Value {
                    what: "timestamp's high byte",
                    value: high.into(),
                });
            }
            let low = cursor.word("primitive")?;
            let timestamp = high << 8 | low >> 16 & 0xFF;
            primitives.push(Primitive { id: low as u16, timestamp, fine: (low >> 24) as u8 });
        }
        cursor.end("number of primitives: bytes")?;
        Ok(Self { source: head as u8, part: word as u8, period: head >> 8, primitives })
    }

    /// The datagram.
    pub fn encode(&self) -> Result<Vec<u8>, FormatError> {
        let count = fits("number of primitives", self.primitives.len() as u64, 8)?;
        let period = fits("period", self.period.into(), 24)?;
        let length = HEADER_BYTES + PRIMITIVE_BYTES * self.primitives.len();
        let mut bytes = Vec::with_capacity(length);
        bytes.extend((u32::from(self.source) | period << 8).to_le_bytes());
        bytes.extend((u32::from(self.part) | count << 8 | (length as u32) << 16).to_le_bytes());
        for one in &self.primitives {
            bytes.extend((one.timestamp >> 8).to_le_bytes());
            let low = (one.timestamp & 0xFF) << 16 | u32::from(one.fine) << 24;
            bytes.extend((u32::from(one.id) | low).to_le_bytes());
        }
        Ok(bytes)
    }
}
