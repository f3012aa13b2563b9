// SPDX-License-Identifier: Apache-2.0
//! Entries of page tables: ARMv8-A VMSA, stage 1, granule of 4 KiB, 48 bits of address.
//!
//! A table has 512 entries of 8 bytes, little-endian. Bit 0: valid; bit 1: a table (levels 0 to 2) or a page (level
//! 3), else a block, which levels 1 and 2 may have; bits 47:12: the address; bit 7, AP\[2\]: read only; bit 6, AP\[1\]:
//! open to programs; bit 10, AF: in use (without it an access faults).

use super::{Access, PageSize};

/// Levels of tables, 0 the root.
pub const LEVELS: usize = 4;
/// Entries of a table.
pub const ENTRIES: u64 = 512;
const VALID: u64 = 1;
const TABLE: u64 = 1 << 1;
const PROGRAM: u64 = 1 << 6;
const READ_ONLY: u64 = 1 << 7;
const SHAREABLE: u64 = 3 << 8;
const ACCESSED: u64 = 1 << 10;
const ADDRESS: u64 = 0x0000_FFFF_FFFF_F000;

/// What an entry says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Nothing.
    Empty,
    /// The table of the next level at this physical address.
    Table(u64),
    /// A page at this physical address.
    Page(u64, PageSize, Access),
    /// What no table of this level may have, or what is not in use or not open to programs.
    Reserved,
}

impl Entry {
    /// An entry of a table of `level`.
    #[must_use]
    pub fn decode(word: u64, level: usize) -> Self {
        if word & VALID == 0 {
            return Self::Empty;
        }
        let last = level == LEVELS - 1;
        if word & TABLE != 0 && !last {
            return Self::Table(word & ADDRESS);
        }
        let size = PageSize::ALL.into_iter().find(|size| size.level() == level);
        let Some(size) = size.filter(|_| (word & TABLE != 0) == last) else {
            return Self::Reserved;
        };
        if word & (PROGRAM | ACCESSED) != PROGRAM | ACCESSED {
            return Self::Reserved;
        }
        let access = if word & READ_ONLY == 0 { Access::ReadWrite } else { Access::Read };
        Self::Page(word & ADDRESS & !(size.bytes() - 1), size, access)
    }

    /// The word of it.
    #[must_use]
    pub fn encode(self) -> u64 {
        match self {
            Self::Empty | Self::Reserved => 0,
            Self::Table(address) => address & ADDRESS | TABLE | VALID,
            Self::Page(address, size, access) => {
                let kind = if size == PageSize::Base { TABLE } else { 0 };
                let rights = if access == Access::Read { READ_ONLY } else { 0 };
                address & ADDRESS | ACCESSED | SHAREABLE | PROGRAM | rights | kind | VALID
            }
        }
    }
}

/// The place of an address's entry in a table of `level`, in bytes.
#[must_use]
pub const fn offset(address: u64, level: usize) -> u64 {
    (address >> (12 + 9 * (LEVELS - 1 - level)) & (ENTRIES - 1)) * 8
}
