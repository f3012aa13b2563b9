// SPDX-License-Identifier: Apache-2.0
//! Records: the operations of a message, and their flags.

use super::error::EncodeError;
use super::width::{Format, Width};

/// Flags of a record. Requests and replies use the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(pub u8);

impl Flags {
    /// The base return address lies in the requester's configuration space.
    pub const BCA: Flags = Flags(0x80);
    /// Read addresses lie in configuration space.
    pub const RCA: Flags = Flags(0x40);
    /// Read results all go to the one base return address.
    pub const RFF: Flags = Flags(0x20);
    /// Drop the cycle line after this record.
    pub const CYC: Flags = Flags(0x08);
    /// Write addresses lie in configuration space.
    pub const WCA: Flags = Flags(0x04);
    /// Write all values to the one base write address.
    pub const WFF: Flags = Flags(0x02);

    /// True if all bits of `other` are set.
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// As LiteEth's dialect has them, and back.
    pub(crate) const fn mirrored(self) -> Flags {
        Flags(self.0.reverse_bits())
    }

    /// The flags of the reply to a record with these flags.
    pub const fn reply(self) -> Flags {
        let mut bits = self.0 & Flags::CYC.0;
        if self.has(Flags::BCA) {
            bits |= Flags::WCA.0;
        }
        if self.has(Flags::RFF) {
            bits |= Flags::WFF.0;
        }
        Flags(bits)
    }
}

impl std::ops::BitOr for Flags {
    type Output = Flags;
    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

impl std::ops::BitOrAssign for Flags {
    fn bitor_assign(&mut self, other: Flags) {
        self.0 |= other.0;
    }
}

/// One record: writes, executed first, then reads.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Record {
    /// Flags.
    pub flags: Flags,
    /// Byte lanes of every operation, the least significant byte's lane in bit 0.
    pub byte_enable: u8,
    /// Address of the writes; on the wire only if there are any.
    pub write_base: u64,
    /// Values to write.
    pub writes: Vec<u64>,
    /// Address of the results in the requester; on the wire only if there are reads.
    pub return_base: u64,
    /// Addresses to read.
    pub reads: Vec<u64>,
}

impl Record {
    /// Bytes on the wire.
    pub fn encoded_len(&self, format: Format) -> usize {
        let part = |n: usize| if n == 0 { 0 } else { (1 + n) * format.word() };
        format.header() + part(self.writes.len()) + part(self.reads.len())
    }

    /// True if the record requests nothing, like padding.
    pub fn is_empty(&self) -> bool {
        self.writes.is_empty() && self.reads.is_empty()
    }

    /// Appends the record's bytes.
    pub fn encode(&self, format: Format, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let count =
            |what, n: usize| u8::try_from(n).map_err(|_| EncodeError::Count { what, count: n });
        let (wcount, rcount) =
            (count("writes", self.writes.len())?, count("reads", self.reads.len())?);
        let start = out.len();
        out.extend([self.flags.0, self.byte_enable, wcount, rcount]);
        out.resize(start + format.header(), 0);
        if wcount > 0 {
            put(out, format, "write address", self.write_base, format.address)?;
            for value in &self.writes {
                put(out, format, "write value", *value, format.data)?;
            }
        }
        if rcount > 0 {
            put(out, format, "return address", self.return_base, format.address)?;
            for address in &self.reads {
                put(out, format, "read address", *address, format.address)?;
            }
        }
        Ok(())
    }

    /// Takes one record from the front of `bytes`: the record and its length, or `None` if the
    /// bytes end inside it.
    pub fn decode(format: Format, bytes: &[u8]) -> Option<(Record, usize)> {
        let (view, length) = RecordView::decode(format, bytes)?;
        Some((view.to_record(), length))
    }
}

/// A record in place, without a copy.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecordView<'a> {
    pub(crate) flags: Flags,
    pub(crate) byte_enable: u8,
    pub(crate) write_base: u64,
    pub(crate) return_base: u64,
    writes: &'a [u8],
    reads: &'a [u8],
    format: Format,
}

impl<'a> RecordView<'a> {
    /// As [`Record::decode`].
    #[inline]
    pub(crate) fn decode(format: Format, bytes: &'a [u8]) -> Option<(Self, usize)> {
        let [flags, byte_enable, wcount, rcount, ..] = *bytes else {
            return None;
        };
        let word = format.word();
        let part = |n: u8| if n == 0 { 0 } else { (1 + usize::from(n)) * word };
        let first_read = format.header() + part(wcount);
        let length = first_read + part(rcount);
        let writes = bytes.get(format.header()..first_read)?;
        let reads = bytes.get(first_read..length)?;
        let base = |part: &'a [u8]| match part.split_at_checked(word) {
            Some((base, rest)) => (slot(base) & format.address.mask(), rest),
            None => (0, part),
        };
        let (write_base, writes) = base(writes);
        let (return_base, reads) = base(reads);
        let flags = Flags(flags);
        let view = Self { flags, byte_enable, write_base, return_base, writes, reads, format };
        Some((view, length))
    }

    pub(crate) fn writes(&self) -> impl ExactSizeIterator<Item = u64> + use<'a> {
        let mask = self.format.data.mask();
        slots(self.writes, self.format.word()).map(move |word| word & mask)
    }

    pub(crate) fn reads(&self) -> impl ExactSizeIterator<Item = u64> + use<'a> {
        let mask = self.format.address.mask();
        slots(self.reads, self.format.word()).map(move |word| word & mask)
    }

    /// The length of the record at the front of `bytes`; `None` if they end inside it.
    #[inline]
    pub(crate) fn length(format: Format, bytes: &[u8]) -> Option<usize> {
        let [_, _, wcount, rcount, ..] = *bytes else { return None };
        let slots = |n: u8| if n == 0 { 0 } else { 1 + usize::from(n) };
        let length = format.header() + (slots(wcount) + slots(rcount)) * format.word();
        (length <= bytes.len()).then_some(length)
    }

    pub(crate) fn has_writes(&self) -> bool {
        !self.writes.is_empty()
    }

    pub(crate) fn has_reads(&self) -> bool {
        !self.reads.is_empty()
    }

    pub(crate) fn to_record(self) -> Record {
        Record {
            flags: self.flags,
            byte_enable: self.byte_enable,
            write_base: self.write_base,
            writes: self.writes().collect(),
            return_base: self.return_base,
            reads: self.reads().collect(),
        }
    }
}

fn slot(bytes: &[u8]) -> u64 {
    match bytes.try_into() {
        // The one width there is in gateware.
        Ok(word) => u64::from(u32::from_be_bytes(word)),
        Err(_) => bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)),
    }
}

fn slots(bytes: &[u8], word: usize) -> impl ExactSizeIterator<Item = u64> + use<'_> {
    bytes.chunks_exact(word).map(slot)
}

/// Appends a number in a slot of the format's word. What does not fit is cut off.
pub(crate) fn put_slot(out: &mut Vec<u8>, word: usize, value: u64) {
    if word == 4 {
        out.extend_from_slice(&(value as u32).to_be_bytes());
    } else {
        let bytes = value.to_be_bytes();
        out.extend_from_slice(&bytes[bytes.len() - word..]);
    }
}

fn put(
    out: &mut Vec<u8>,
    format: Format,
    what: &'static str,
    value: u64,
    width: Width,
) -> Result<(), EncodeError> {
    if value > width.mask() {
        return Err(EncodeError::Value { what, value, bits: 8 * width.bytes() });
    }
    put_slot(out, format.word(), value);
    Ok(())
}
