// SPDX-License-Identifier: Apache-2.0
//! Messages, and the header in front of their records.

use std::fmt;

use super::error::{DecodeError, EncodeError};
use super::record::Record;
use super::width::{Format, Width, Widths};

const MAGIC: [u8; 2] = [0x4E, 0x6F];
const VERSION: u8 = 1;
pub(super) const HEADER_NO_READS: u8 = 0x04;
pub(super) const HEADER_PROBE_REPLY: u8 = 0x02;
pub(super) const HEADER_PROBE: u8 = 0x01;

/// One datagram, or the beginning of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// "Which devices are present?"
    Probe {
        /// Widths the sender can use.
        widths: Widths,
        /// Echoed by the reply.
        id: u32,
    },
    /// "I am."
    ProbeReply {
        /// Widths the slave can use.
        widths: Widths,
        /// The probe's.
        id: u32,
    },
    /// Records.
    Data {
        /// The message requests no reply.
        no_reads: bool,
        /// Widths of every record.
        format: Format,
        /// The records, in order of execution.
        records: Vec<Record>,
    },
}

/// A header as on the wire, before it is known whether it begins a probe or data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub(super) flags: u8,
    pub(super) widths: Widths,
}

impl Header {
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let [m0, m1, version_flags, widths, ..] = *bytes else {
            return Err(DecodeError::Short { what: "header", offset: 0, length: bytes.len() });
        };
        if [m0, m1] != MAGIC {
            return Err(DecodeError::Magic(u16::from_be_bytes([m0, m1])));
        }
        if version_flags >> 4 != VERSION {
            return Err(DecodeError::Version(version_flags >> 4));
        }
        Ok(Self { flags: version_flags & 0xF, widths: Widths::from_byte(widths) })
    }

    pub(crate) fn is_probe(self) -> bool {
        self.flags & (HEADER_PROBE | HEADER_PROBE_REPLY) != 0
    }

    pub(crate) fn no_reads(self) -> bool {
        self.flags & HEADER_NO_READS != 0
    }

    pub(crate) fn format(self) -> Result<Format, DecodeError> {
        match (Width::exactly(self.widths.address), Width::exactly(self.widths.data)) {
            (Some(address), Some(data)) => Ok(Format { address, data }),
            _ => Err(DecodeError::Widths(self.widths.byte())),
        }
    }
}

pub(super) fn put_header(out: &mut Vec<u8>, flags: u8, widths: Widths) {
    out.extend(MAGIC);
    out.extend([VERSION << 4 | flags, widths.byte()]);
}

/// Appends the header of a data message.
pub(crate) fn put_data_header(out: &mut Vec<u8>, format: Format, no_reads: bool) {
    let start = out.len();
    put_header(out, if no_reads { HEADER_NO_READS } else { 0 }, format.widths());
    out.resize(start + format.header(), 0);
}

/// A dialect's messages to bytes and back. No state, no I/O.
pub trait Codec: fmt::Debug + Sync {
    /// Appends a message's bytes.
    fn encode(&self, message: &Message, out: &mut Vec<u8>) -> Result<(), EncodeError>;

    /// Reads one whole datagram.
    fn decode(&self, bytes: &[u8]) -> Result<Message, DecodeError>;
}
