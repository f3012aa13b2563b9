// SPDX-License-Identifier: Apache-2.0
//! LiteEth's dialect.

use super::error::{DecodeError, EncodeError};
use super::message::{
    Codec, HEADER_NO_READS, HEADER_PROBE, HEADER_PROBE_REPLY, Header, Message, put_header,
};
use super::record::RecordView;
use super::width::{Format, Widths};

/// Length of a probe and of its reply.
pub const LITE_PROBE_LENGTH: usize = 12;
/// Length of a message's header.
const LITE_HEADER: usize = 8;

/// The codec of [`Dialect::LiteEth`](super::Dialect::LiteEth): a header of 8 bytes, the flags of a record mirrored, one
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
