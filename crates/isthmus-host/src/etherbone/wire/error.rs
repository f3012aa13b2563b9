// SPDX-License-Identifier: Apache-2.0
//! What cannot be written or read, and why.

/// Operations of one kind that one record can hold.
pub const MAX_COUNT: usize = 255;

/// Why a message cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// Too many operations in one record.
    #[error("{count} {what} in one record, the most is {MAX_COUNT}")]
    Count {
        /// Reads or writes.
        what: &'static str,
        /// How many.
        count: usize,
    },
    /// A number that its field cannot hold.
    #[error("{what} {value:#x} does not fit {bits} bit")]
    Value {
        /// Which field.
        what: &'static str,
        /// The number.
        value: u64,
        /// The field's width.
        bits: usize,
    },
    /// LiteEth's dialect carries exactly one record of 32-bit words in a message.
    #[error("LiteEth carries one record of 32-bit words, not {0}")]
    Lite(usize),
}

/// Why bytes are not a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The bytes end too early.
    #[error("{what} at byte {offset} is cut off (message of {length} bytes)")]
    Short {
        /// The item that was being parsed.
        what: &'static str,
        /// Its begin.
        offset: usize,
        /// Length of the whole message.
        length: usize,
    },
    /// The first two bytes are not Etherbone's.
    #[error("magic {0:#06x}, Etherbone begins with 0x4e6f")]
    Magic(u16),
    /// Another protocol version.
    #[error("version {0}, this is version 1")]
    Version(u8),
    /// A data message whose widths are not exactly one each.
    #[error("widths {0:#04x} of a data message: each half must name exactly one")]
    Widths(u8),
    /// A probe of the wrong length.
    #[error("probe of {0} bytes, a probe has {1}")]
    Probe(usize, usize),
    /// Not what LiteEth's dialect looks like.
    #[error("not LiteEth's dialect: {0}")]
    NotLite(&'static str),
}
