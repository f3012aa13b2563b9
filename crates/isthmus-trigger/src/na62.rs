// SPDX-License-Identifier: Apache-2.0
//! The public packet formats of NA62's readout and of its L0 trigger. Bounded: any bytes give a value or an
//! error, and what is read encodes to the same bytes again.
//!
//! [`mep`] is the datagram of a readout board, [`tel62`] the data of one event of a TEL62 board inside it,
//! [`primitives`] the datagram of results to the L0 trigger processor. [`cable`] says which channel a
//! photomultiplier is on: the experiment's own map is not public, so this one is isthmus's.

pub mod cable;
pub mod mep;
pub mod primitives;
pub mod tel62;

/// What bytes are not, or a packet cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// The bytes end inside a structure.
    #[error("{what} at byte {at}: {got} bytes left, {needed} needed")]
    Short {
        /// Which structure.
        what: &'static str,
        /// Where it begins.
        at: usize,
        /// Bytes left.
        got: usize,
        /// Bytes it has.
        needed: usize,
    },
    /// A length that is not that of what follows.
    #[error("{what} says {said}, found {found}")]
    Length {
        /// Which field.
        what: &'static str,
        /// Its value.
        said: usize,
        /// What is there.
        found: usize,
    },
    /// A field with a value that it may not have.
    #[error("{what} is {value:#x}")]
    Value {
        /// Which field.
        what: &'static str,
        /// Its value.
        value: u64,
    },
}

/// Reads little-endian fields one after another.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    fn take(&mut self, what: &'static str, needed: usize) -> Result<&'a [u8], FormatError> {
        let got = self.bytes.len() - self.at;
        let short = FormatError::Short { what, at: self.at, got, needed };
        let found = self.bytes[self.at..].get(..needed).ok_or(short)?;
        self.at += needed;
        Ok(found)
    }

    fn word(&mut self, what: &'static str) -> Result<u32, FormatError> {
        let bytes = self.take(what, 4)?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    fn end(&self, what: &'static str) -> Result<(), FormatError> {
        if self.at == self.bytes.len() {
            return Ok(());
        }
        Err(FormatError::Length { what, said: self.at, found: self.bytes.len() })
    }
}

fn fits(what: &'static str, value: u64, bits: u32) -> Result<u32, FormatError> {
    if value >> bits == 0 { Ok(value as u32) } else { Err(FormatError::Value { what, value }) }
}
