// SPDX-License-Identifier: Apache-2.0
//! Etherbone version 1 as published on the Open Hardware Repository.

use super::error::{DecodeError, EncodeError};
use super::message::{
    Codec, HEADER_NO_READS, HEADER_PROBE, HEADER_PROBE_REPLY, Header, Message, put_data_header,
    put_header,
};
use super::record::Record;

/// Length of a probe and of its reply.
pub const PROBE_LENGTH: usize = 8;

/// The codec of [`Dialect::Ohwr`](super::Dialect::Ohwr).
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
