// SPDX-License-Identifier: Apache-2.0
//! Widths of addresses and of the data port, and the format that a pair of them gives.

use std::fmt;

/// Width of an address or of the data port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Width {
    /// 8 bit.
    W8 = 1,
    /// 16 bit.
    W16 = 2,
    /// 32 bit.
    W32 = 4,
    /// 64 bit.
    W64 = 8,
}

impl Width {
    /// All widths, narrow to wide.
    pub const ALL: [Width; 4] = [Width::W8, Width::W16, Width::W32, Width::W64];

    /// Bytes; also the width's bit in a mask of widths.
    pub const fn bytes(self) -> usize {
        self as usize
    }

    /// The largest value.
    pub const fn mask(self) -> u64 {
        u64::MAX >> (64 - 8 * self.bytes())
    }

    /// Byte enables of all lanes.
    pub(crate) const fn mask_of_lanes(self) -> u8 {
        ((1u16 << self.bytes()) - 1) as u8
    }

    pub(super) fn exactly(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|w| *w as u8 == code)
    }

    fn largest(mask: u8) -> Option<Self> {
        Self::ALL.into_iter().rev().find(|w| mask & *w as u8 != 0)
    }
}

/// Sets of address and data widths, as offered by a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Widths {
    /// Address widths, a bit each (1: 8 bit … 8: 64 bit).
    pub address: u8,
    /// Data widths, the same code.
    pub data: u8,
}

impl Widths {
    /// Every width.
    pub const ANY: Widths = Widths { address: 0xF, data: 0xF };
    /// 32-bit addresses and data only.
    pub const W32: Widths = Widths { address: 4, data: 4 };

    pub(super) fn byte(self) -> u8 {
        (self.address & 0xF) << 4 | self.data & 0xF
    }

    pub(super) fn from_byte(byte: u8) -> Self {
        Widths { address: byte >> 4, data: byte & 0xF }
    }

    /// True if a message of this format is among them.
    pub(crate) fn offers(self, format: Format) -> bool {
        self.address & format.address as u8 != 0 && self.data & format.data as u8 != 0
    }

    /// The largest widths that both sides support.
    pub fn negotiate(self, other: Widths) -> Option<Format> {
        Some(Format {
            address: Width::largest(self.address & other.address)?,
            data: Width::largest(self.data & other.data)?,
        })
    }
}

impl fmt::Display for Widths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |mask: u8| {
            let names: Vec<String> = Width::ALL
                .into_iter()
                .filter(|w| mask & *w as u8 != 0)
                .map(|w| (8 * w.bytes()).to_string())
                .collect();
            if names.is_empty() { "none".to_owned() } else { names.join("/") }
        };
        write!(f, "address {} data {} bit", list(self.address), list(self.data))
    }
}

/// The widths of one conversation, and with them the alignment of everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    /// Address width.
    pub address: Width,
    /// Data port width.
    pub data: Width,
}

impl Format {
    /// 32-bit addresses and data: what gateware offers.
    pub const W32: Format = Format { address: Width::W32, data: Width::W32 };

    /// Bytes of one address or data slot.
    #[inline]
    pub fn word(self) -> usize {
        self.address.bytes().max(self.data.bytes()).max(2)
    }

    /// Bytes of the header and of a record's header: 4, or 8 when words are 64 bit.
    pub fn header(self) -> usize {
        self.word().max(4)
    }

    pub(super) fn widths(self) -> Widths {
        Widths { address: self.address as u8, data: self.data as u8 }
    }
}
