// SPDX-License-Identifier: Apache-2.0
//! The bytes of Etherbone version 1. Pure functions; any input gives a value or an error.

use std::fmt;

const MAGIC: [u8; 2] = [0x4E, 0x6F];
const VERSION: u8 = 1;
const HEADER_NO_READS: u8 = 0x04;
const HEADER_PROBE_REPLY: u8 = 0x02;
const HEADER_PROBE: u8 = 0x01;
/// Length of a probe and of its reply.
pub const PROBE_LENGTH: usize = 8;
/// The same in LiteEth's dialect.
pub const LITE_PROBE_LENGTH: usize = 12;
/// Length of a LiteEth message's header.
pub(crate) const LITE_HEADER: usize = 8;
/// Operations of one kind that one record can hold.
pub const MAX_COUNT: usize = 255;

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

    fn exactly(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|w| *w as u8 == code)
    }

    fn largest(mask: u8) -> Option<Self> {
        Self::ALL.into_iter().rev().find(|w| mask & *w as u8 != 0)
    }
}

/// Sets of address and data widths: what a probe offers.
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

    fn byte(self) -> u8 {
        (self.address & 0xF) << 4 | self.data & 0xF
    }

    fn from_byte(byte: u8) -> Self {
        Widths { address: byte >> 4, data: byte & 0xF }
    }

    /// Whether a message of this format is among them.
    pub(crate) fn offers(self, format: Format) -> bool {
        self.address & format.address as u8 != 0 && self.data & format.data as u8 != 0
    }

    /// What both sides can do, the largest of each.
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

    fn widths(self) -> Widths {
        Widths { address: self.address as u8, data: self.data as u8 }
    }
}

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

    /// Whether all bits of `other` are set.
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
    /// Where the writes go; on the wire only if there are any.
    pub write_base: u64,
    /// Values to write.
    pub writes: Vec<u64>,
    /// Where results go in the requester; on the wire only if there are reads.
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

    /// Whether the record asks for nothing, as padding does.
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

/// A record where it stands, without a copy.
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
        /// The message asks for no reply.
        no_reads: bool,
        /// Widths of every record.
        format: Format,
        /// The records, in order of execution.
        records: Vec<Record>,
    },
}

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
        /// What was being read.
        what: &'static str,
        /// Where it begins.
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

/// A header as it stands on the wire, before it is known to begin a probe or data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    flags: u8,
    widths: Widths,
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

fn put_header(out: &mut Vec<u8>, flags: u8, widths: Widths) {
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

/// Etherbone comes in two dialects that do not understand each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// Etherbone version 1 as published on the Open Hardware Repository.
    #[default]
    Ohwr,
    /// What LiteEth and LiteX speak: other header length, mirrored flags, one record a message.
    LiteEth,
}

impl Dialect {
    /// The dialect's codec.
    pub fn codec(self) -> &'static dyn Codec {
        match self {
            Dialect::Ohwr => &OhwrCodec,
            Dialect::LiteEth => &LiteCodec,
        }
    }

    /// The UDP port that its devices listen on.
    pub fn default_port(self) -> u16 {
        match self {
            Dialect::Ohwr => super::DEFAULT_PORT,
            Dialect::LiteEth => super::LITE_PORT,
        }
    }
}

impl std::str::FromStr for Dialect {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "ohwr" => Ok(Dialect::Ohwr),
            "liteeth" | "litex" => Ok(Dialect::LiteEth),
            _ => Err(format!("unknown dialect {text:?}; expected ohwr or liteeth (also: litex)")),
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Dialect::Ohwr => "ohwr",
            Dialect::LiteEth => "liteeth",
        })
    }
}

/// The codec of [`Dialect::Ohwr`].
#[derive(Debug, Clone, Copy, Default)]
pub struct OhwrCodec;

impl Codec for OhwrCodec {
    fn encode(&self, message: &Message, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        match message {
            Message::Probe { widths, id } => {
                put_header(out, HEADER_PROBE, *widths);
                out.extend(id.to_be_bytes());
            }
            Message::ProbeReply { widths, id } => {
                put_header(out, HEADER_PROBE_REPLY | HEADER_NO_READS, *widths);
                out.extend(id.to_be_bytes());
            }
            Message::Data { no_reads, format, records } => {
                put_data_header(out, *format, *no_reads);
                for record in records {
                    record.encode(*format, out)?;
                }
            }
        }
        Ok(())
    }

    fn decode(&self, bytes: &[u8]) -> Result<Message, DecodeError> {
        let header = Header::decode(bytes)?;
        if header.is_probe() {
            let Ok(whole) = <[u8; PROBE_LENGTH]>::try_from(bytes) else {
                return Err(DecodeError::Probe(bytes.len(), PROBE_LENGTH));
            };
            let [_, _, _, _, id @ ..] = whole;
            let (widths, id) = (header.widths, u32::from_be_bytes(id));
            return Ok(if header.flags & HEADER_PROBE_REPLY != 0 {
                Message::ProbeReply { widths, id }
            } else {
                Message::Probe { widths, id }
            });
        }
        let format = header.format()?;
        let short = |what, offset| DecodeError::Short { what, offset, length: bytes.len() };
        let mut offset = format.header();
        if bytes.len() < offset {
            return Err(short("header", 0));
        }
        let mut records = Vec::new();
        while offset < bytes.len() {
            let (record, length) =
                Record::decode(format, &bytes[offset..]).ok_or_else(|| short("record", offset))?;
            records.push(record);
            offset += length;
        }
        Ok(Message::Data { no_reads: header.flags & HEADER_NO_READS != 0, format, records })
    }
}

/// The codec of [`Dialect::LiteEth`]: a header of 8 bytes, the flags of a record mirrored, one
/// record of 32-bit words a message, probes of 12 bytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct LiteCodec;

impl LiteCodec {
    /// The one record of a data message.
    pub(crate) fn record(bytes: &[u8]) -> Result<RecordView<'_>, DecodeError> {
        let header = Header::decode(bytes)?;
        let short = |what, offset| DecodeError::Short { what, offset, length: bytes.len() };
        let (Some([0, 0, 0, 0]), Some(rest)) = (bytes.get(4..8), bytes.get(LITE_HEADER..)) else {
            return Err(DecodeError::NotLite("bytes 4 to 7 of the header must be 0"));
        };
        if header.is_probe() {
            return Err(DecodeError::Probe(bytes.len(), LITE_PROBE_LENGTH));
        }
        if header.format()? != Format::W32 {
            return Err(DecodeError::Widths(header.widths.byte()));
        }
        let (mut record, length) =
            RecordView::decode(Format::W32, rest).ok_or_else(|| short("record", LITE_HEADER))?;
        if length != rest.len() {
            return Err(DecodeError::NotLite("bytes after the record"));
        }
        record.flags = record.flags.mirrored();
        Ok(record)
    }

    /// A probe or its reply: its header's flags, widths and number.
    pub(crate) fn probe(bytes: &[u8]) -> Option<(bool, Widths, u32)> {
        let header = Header::decode(bytes).ok().filter(|header| header.is_probe())?;
        let &[_, _, _, _, a, b, c, d, ..] = <&[u8; LITE_PROBE_LENGTH]>::try_from(bytes).ok()?;
        let reply = header.flags & HEADER_PROBE_REPLY != 0;
        Some((reply, header.widths, u32::from_be_bytes([a, b, c, d])))
    }
}

impl Codec for LiteCodec {
    fn encode(&self, message: &Message, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        match message {
            Message::Probe { widths, id } | Message::ProbeReply { widths, id } => {
                let reply = matches!(message, Message::ProbeReply { .. });
                put_header(out, if reply { HEADER_PROBE_REPLY } else { HEADER_PROBE }, *widths);
                out.extend(id.to_be_bytes());
                out.extend([0; 4]);
            }
            Message::Data { no_reads, format, records } => {
                let ([record], true) = (records.as_slice(), *format == Format::W32) else {
                    return Err(EncodeError::Lite(records.len()));
                };
                put_lite_header(out, *no_reads);
                let start = out.len();
                record.encode(*format, out)?;
                if let Some(flags) = out.get_mut(start) {
                    *flags = flags.reverse_bits();
                }
            }
        }
        Ok(())
    }

    fn decode(&self, bytes: &[u8]) -> Result<Message, DecodeError> {
        if let Some((reply, widths, id)) = Self::probe(bytes) {
            return Ok(match reply {
                true => Message::ProbeReply { widths, id },
                false => Message::Probe { widths, id },
            });
        }
        let record = Self::record(bytes)?;
        Ok(Message::Data {
            no_reads: Header::decode(bytes)?.no_reads(),
            format: Format::W32,
            records: vec![record.to_record()],
        })
    }
}

/// Appends the header of a LiteEth data message.
pub(crate) fn put_lite_header(out: &mut Vec<u8>, no_reads: bool) {
    put_header(out, if no_reads { HEADER_NO_READS } else { 0 }, Widths::W32);
    out.extend([0; 4]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        let digits: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
        digits
            .chunks(2)
            .map(|pair| {
                u8::from_str_radix(std::str::from_utf8(pair).expect("ascii"), 16).expect("hex")
            })
            .collect()
    }

    #[test]
    fn checked_read_is_28_bytes() {
        // Header; read record; status record: the bytes written out by hand from the format.
        let message = Message::Data {
            no_reads: false,
            format: Format::W32,
            records: vec![
                Record {
                    flags: Flags(0xA0),
                    byte_enable: 0xF,
                    return_base: 0x8002,
                    reads: vec![0x0020_0018],
                    ..Record::default()
                },
                Record {
                    flags: Flags(0xE8),
                    byte_enable: 0xF,
                    return_base: 0x8003,
                    reads: vec![4],
                    ..Record::default()
                },
            ],
        };
        let mut out = Vec::new();
        OhwrCodec.encode(&message, &mut out).expect("encodes");
        let expected = hex("4e6f1044 a00f0001 00008002 00200018 e80f0001 00008003 00000004");
        assert_eq!(out, expected);
        assert_eq!(OhwrCodec.decode(&out), Ok(message));
    }

    #[test]
    fn probe_bytes() {
        let mut out = Vec::new();
        let probe = Message::Probe { widths: Widths::ANY, id: 0x0102_0304 };
        OhwrCodec.encode(&probe, &mut out).expect("encodes");
        assert_eq!(out, hex("4e6f11ff 01020304"));
        let reply = Message::ProbeReply { widths: Widths::W32, id: 0x0102_0304 };
        assert_eq!(OhwrCodec.decode(&hex("4e6f1644 01020304")), Ok(reply.clone()));
        // Gateware that leaves NR out is understood as well.
        assert_eq!(OhwrCodec.decode(&hex("4e6f1244 01020304")), Ok(reply));
    }

    #[test]
    fn malformed() {
        let cases = [
            ("", "header at byte 0"),
            ("4e6f10", "header at byte 0"),
            ("4e6e1044", "magic 0x4e6e"),
            ("4e6f2044", "version 2"),
            ("4e6f104c", "widths 0x4c"),
            ("4e6f1040", "widths 0x40"),
            ("4e6f1088", "header at byte 0"),
            ("4e6f1144", "probe of 4 bytes"),
            ("4e6f1144 00000000 00", "probe of 9 bytes"),
            ("4e6f1044 a00f", "record at byte 4"),
            ("4e6f1044 a00f0002 00008000 00000000", "record at byte 4"),
        ];
        for (bytes, expected) in cases {
            let error = OhwrCodec.decode(&hex(bytes)).expect_err(bytes).to_string();
            assert!(error.contains(expected), "{bytes}: {error}");
        }
    }

    #[test]
    fn limits_of_fields() {
        let encode = |record: Record| record.encode(Format::W32, &mut Vec::new());
        assert!(encode(Record { reads: vec![0; 256], ..Record::default() }).is_err());
        assert!(encode(Record { writes: vec![1 << 32], ..Record::default() }).is_err());
        assert!(encode(Record { reads: vec![0; 255], ..Record::default() }).is_ok());
    }

    #[test]
    fn lite_eth_as_bytes() {
        // Header with four zero bytes, flags mirrored (BCA 01, RFF 04, CYC 10), one record.
        let message = Message::Data {
            no_reads: false,
            format: Format::W32,
            records: vec![Record {
                flags: Flags::BCA | Flags::RFF | Flags::CYC,
                byte_enable: 0xF,
                return_base: 0x8000_0001,
                reads: vec![0xF000_0004],
                ..Record::default()
            }],
        };
        let mut out = Vec::new();
        LiteCodec.encode(&message, &mut out).expect("encodes");
        assert_eq!(out, hex("4e6f1044 00000000 150f0001 80000001 f0000004"));
        assert_eq!(LiteCodec.decode(&out), Ok(message));
        let mut probe = Vec::new();
        LiteCodec.encode(&Message::Probe { widths: Widths::W32, id: 7 }, &mut probe).expect("fits");
        assert_eq!(probe, hex("4e6f1144 00000007 00000000"));
        let reply = Message::ProbeReply { widths: Widths::W32, id: 7 };
        assert_eq!(LiteCodec.decode(&hex("4e6f1244 00000007 00000000")), Ok(reply));
    }

    #[test]
    fn lite_eth_refuses_what_is_not_its_own() {
        let cases = [
            ("4e6f1144 00000007", "bytes 4 to 7"),
            ("4e6f1044 a00f0001 00008000 00000000", "bytes 4 to 7"),
            ("4e6f1044 00000000 000f0001 00000000 00000000 00000000", "after the record"),
            ("4e6f1044 00000000 000f0002 00000000 00000000", "record at byte 8"),
            ("4e6f1088 00000000 000f0000 00000000", "widths 0x88"),
            ("4e6f1044 00", "bytes 4 to 7"),
            ("4e6f1144 00000000", "probe of 8 bytes, a probe has 12"),
        ];
        for (bytes, expected) in cases {
            let error = LiteCodec.decode(&hex(bytes)).expect_err(bytes).to_string();
            assert!(error.contains(expected), "{bytes}: {error}");
        }
    }
}
