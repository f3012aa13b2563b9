// SPDX-License-Identifier: Apache-2.0
//! One event of a TEL62 board: for each of its FPGAs the frames that have hits, a word a TDC edge. Layout as in
//! the experiment's public decoder (format of 2015, empty frames left out).

use super::{Cursor, FormatError, fits};

/// Words of data after which reading ends: no event of a board has as many edges.
pub const MAX_WORDS: usize = 16_384;

/// What a board sends of one event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Board {
    /// Which.
    pub number: u8,
    /// Type of the trigger that asked for it.
    pub trigger: u8,
    /// Version of the format.
    pub format: u8,
    /// One to four.
    pub fpgas: Vec<Fpga>,
}

/// What one FPGA sends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fpga {
    /// 0 to 3.
    pub number: u8,
    /// Frames that were asked for, empty ones too.
    pub frames_read: u8,
    /// Those that have hits.
    pub frames: Vec<Frame>,
}

/// Edges of one period of 24.95 ns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Low 16 bits of the period's number.
    pub timestamp: u16,
    /// In the order of the packet.
    pub edges: Vec<Edge>,
}

/// A TDC edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Low 19 bits of the time, in 256ths of the period.
    pub time: u32,
    /// Channel of the chip, 0 to 31.
    pub channel: u8,
    /// Chip, 0 to 3.
    pub tdc: u8,
    /// Two bits that the reader does not judge.
    pub crc: u8,
    /// The pulse begins; otherwise it ends.
    pub leading: bool,
}

const LEADING: u32 = 4;
const TRAILING: u32 = 5;

impl Board {
    /// Reads the data of one event.
    pub fn decode(bytes: &[u8]) -> Result<Self, FormatError> {
        if bytes.len() > 4 * MAX_WORDS {
            let found = 4 * MAX_WORDS;
            return Err(FormatError::Length { what: "TEL62 data", said: bytes.len(), found });
        }
        let mut cursor = Cursor::new(bytes);
        let head = cursor.word("board header")?;
        // One flag, and its place is the number of FPGAs.
        let flags = head & 0xFF;
        if !matches!(flags, 1 | 2 | 4 | 8) {
            return Err(FormatError::Value { what: "FPGA flags", value: flags.into() });
        }
        let (trigger, number, format) = ((head >> 8) as u8, (head >> 16) as u8, (head >> 24) as u8);
        let fpgas = (0..=flags.trailing_zeros()).map(|_| Fpga::decode(&mut cursor));
        let fpgas = fpgas.collect::<Result<_, _>>()?;
        cursor.end("FPGA flags: bytes")?;
        Ok(Self { number, trigger, format, fpgas })
    }

    /// The bytes.
    pub fn encode(&self) -> Result<Vec<u8>, FormatError> {
        if !(1..=4).contains(&self.fpgas.len()) {
            let value = self.fpgas.len() as u64;
            return Err(FormatError::Value { what: "number of FPGAs", value });
        }
        let flags = 1u8 << (self.fpgas.len() - 1);
        let mut bytes = vec![flags, self.trigger, self.number, self.format];
        for fpga in &self.fpgas {
            let frames = fits("number of frames", fpga.frames.len() as u64, 8)? as u8;
            fits("FPGA", fpga.number.into(), 2)?;
            bytes.extend([frames, fpga.frames_read, fpga.number, 0]);
            for frame in &fpga.frames {
                let words = fits("words of a frame", frame.edges.len() as u64 + 1, 16)? as u16;
                bytes.extend(frame.timestamp.to_le_bytes());
                bytes.extend(words.to_le_bytes());
                for edge in &frame.edges {
                    bytes.extend(edge.encode()?.to_le_bytes());
                }
            }
        }
        Ok(bytes)
    }
}

impl Fpga {
    fn decode(cursor: &mut Cursor<'_>) -> Result<Self, FormatError> {
        let head = cursor.word("FPGA header")?;
        let (number, errors) = ((head >> 16) as u8, head >> 24);
        if errors != 0 {
            return Err(FormatError::Value { what: "FPGA error flags", value: errors.into() });
        }
        if number > 3 {
            return Err(FormatError::Value { what: "FPGA", value: number.into() });
        }
        let frames = (0..head & 0xFF).map(|_| Frame::decode(cursor)).collect::<Result<_, _>>()?;
        Ok(Self { number, frames_read: (head >> 8) as u8, frames })
    }
}

impl Frame {
    fn decode(cursor: &mut Cursor<'_>) -> Result<Self, FormatError> {
        let head = cursor.word("frame header")?;
        let words = head >> 16;
        if words == 0 {
            return Err(FormatError::Value { what: "words of a frame", value: 0 });
        }
        let data = cursor.take("TDC words", 4 * (words as usize - 1))?;
        let (words, _) = data.as_chunks::<4>();
        let edges = words.iter().map(|word| Edge::decode(u32::from_le_bytes(*word)));
        Ok(Self { timestamp: head as u16, edges: edges.collect::<Result<_, _>>()? })
    }
}

impl Edge {
    fn decode(word: u32) -> Result<Self, FormatError> {
        let kind = word >> 28;
        if kind != LEADING && kind != TRAILING {
            return Err(FormatError::Value { what: "kind of TDC word", value: kind.into() });
        }
        let (channel, tdc, crc) = (word >> 19 & 0x1F, word >> 24 & 3, word >> 26 & 3);
        Ok(Self {
            time: word & 0x7_FFFF,
            channel: channel as u8,
            tdc: tdc as u8,
            crc: crc as u8,
            leading: kind == LEADING,
        })
    }

    fn encode(self) -> Result<u32, FormatError> {
        let kind = if self.leading { LEADING } else { TRAILING };
        Ok(fits("time", self.time.into(), 19)?
            | fits("channel", self.channel.into(), 5)? << 19
            | fits("TDC", self.tdc.into(), 2)? << 24
            | fits("CRC", self.crc.into(), 2)? << 26
            | kind << 28)
    }
}
