// SPDX-License-Identifier: Apache-2.0

use super::wire::{
    Codec, Flags, Format, Header, Message, OhwrCodec, PROBE_LENGTH, Record, Width, Widths,
    put_data_header,
};

/// A bus access that ended with an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BusFault;

/// The Wishbone side of a [`SoftSlave`].
pub trait Bus {
    /// Reads the word at `address`, a multiple of the width; lanes that are not enabled may hold
    /// anything.
    fn read(&mut self, address: u64, width: Width, byte_enable: u8) -> Result<u64, BusFault>;

    /// Writes the enabled lanes of the word at `address`, a multiple of the width.
    fn write(
        &mut self,
        address: u64,
        width: Width,
        byte_enable: u8,
        data: u64,
    ) -> Result<(), BusFault>;
}

/// Big-endian memory at a base address; everything else is a bus error.
#[derive(Debug, Clone)]
pub struct Memory {
    base: u64,
    bytes: Vec<u8>,
}

impl Memory {
    /// Memory of zeros.
    pub fn new(base: u64, length: usize) -> Self {
        Self { base, bytes: vec![0; length] }
    }

    /// The bytes, lowest address first.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn word(&mut self, address: u64, width: Width) -> Result<&mut [u8], BusFault> {
        let offset = address.checked_sub(self.base).ok_or(BusFault)?;
        let start = usize::try_from(offset).map_err(|_| BusFault)?;
        let end = start.checked_add(width.bytes()).ok_or(BusFault)?;
        self.bytes.get_mut(start..end).ok_or(BusFault)
    }
}

impl Bus for Memory {
    fn read(&mut self, address: u64, width: Width, _byte_enable: u8) -> Result<u64, BusFault> {
        let word = self.word(address, width)?;
        Ok(word.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    fn write(
        &mut self,
        address: u64,
        width: Width,
        byte_enable: u8,
        data: u64,
    ) -> Result<(), BusFault> {
        let word = self.word(address, width)?;
        for (lane, byte) in word.iter_mut().rev().enumerate() {
            if byte_enable >> lane & 1 == 1 {
                *byte = (data >> (8 * lane)) as u8;
            }
        }
        Ok(())
    }
}

/// A software Etherbone slave: the reference model that clients and gateware are tested against.
///
/// It executes operations one after the other, keeps the error register, answers probes, and
/// ignores what is malformed.
#[derive(Debug)]
pub struct SoftSlave<B> {
    bus: B,
    widths: Widths,
    sdb_address: u64,
    errors: u64,
    zero_padding: bool,
    stream: StreamState,
}

#[derive(Debug, Default)]
struct StreamState {
    format: Option<Format>,
    buffer: Vec<u8>,
    broken: bool,
}

impl<B: Bus> SoftSlave<B> {
    /// A slave with 32-bit addresses and data.
    pub fn new(bus: B) -> Self {
        Self {
            bus,
            widths: Widths::W32,
            sdb_address: 0,
            errors: 0,
            zero_padding: false,
            stream: StreamState::default(),
        }
    }

    /// Offers other widths.
    pub fn with_widths(mut self, widths: Widths) -> Self {
        self.widths = widths;
        self
    }

    /// Where the bus says its self-description lies (configuration register 8).
    pub fn with_sdb_address(mut self, address: u64) -> Self {
        self.sdb_address = address;
        self
    }

    /// Answers as gateware does, which never changes a frame's length: writes become empty records
    /// in front of the reply.
    pub fn with_zero_padding(mut self) -> Self {
        self.zero_padding = true;
        self
    }

    /// The bus behind the slave.
    pub fn bus(&mut self) -> &mut B {
        &mut self.bus
    }

    /// Executes one datagram and returns the reply, if there is one.
    pub fn datagram(&mut self, request: &[u8]) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        match OhwrCodec.decode(request).ok()? {
            Message::Probe { id, .. } => {
                let reply = Message::ProbeReply { widths: self.widths, id };
                OhwrCodec.encode(&reply, &mut out).ok()?;
            }
            Message::ProbeReply { .. } => return None,
            Message::Data { no_reads, format, records } => {
                if self.widths.address & format.address as u8 == 0
                    || self.widths.data & format.data as u8 == 0
                {
                    return None;
                }
                put_data_header(&mut out, format, true);
                let header = out.len();
                for record in &records {
                    self.execute(record, format, &mut out);
                }
                if no_reads || out.len() == header {
                    return None;
                }
            }
        }
        Some(out)
    }

    /// Executes the bytes of a stream, however they are cut, and returns the bytes of the reply.
    /// A stream that does not begin with a probe gets no answer at all.
    pub fn stream(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        if self.stream.broken {
            return out;
        }
        self.stream.buffer.extend_from_slice(bytes);
        let mut buffer = std::mem::take(&mut self.stream.buffer);
        let mut used = 0;
        loop {
            let rest = &buffer[used..];
            match self.stream.format {
                None => {
                    let Some(probe) = rest.get(..PROBE_LENGTH) else { break };
                    let format = match (OhwrCodec.decode(probe), Header::decode(probe)) {
                        (Ok(Message::Probe { widths, id }), Ok(_)) => {
                            let reply = Message::ProbeReply { widths: self.widths, id };
                            let _ = OhwrCodec.encode(&reply, &mut out);
                            self.widths.negotiate(widths)
                        }
                        _ => None,
                    };
                    if format.is_none() {
                        self.stream.broken = true;
                        break;
                    }
                    self.stream.format = format;
                    used += PROBE_LENGTH;
                }
                Some(format) => {
                    let Some((record, length)) = Record::decode(format, rest) else { break };
                    self.execute(&record, format, &mut out);
                    used += length;
                }
            }
        }
        self.stream.buffer = buffer.split_off(used);
        out
    }

    fn execute(&mut self, record: &Record, format: Format, out: &mut Vec<u8>) {
        let (width, enable) = (format.data, record.byte_enable);
        let stride = width.bytes() as u64;
        let aligned = |address: u64| address - address % stride;
        let mut address = record.write_base;
        for value in &record.writes {
            if !record.flags.has(Flags::WCA) {
                let done = match legal(enable, width) {
                    true => self.bus.write(aligned(address), width, enable, *value),
                    false => Err(BusFault),
                };
                self.errors = self.errors << 1 | u64::from(done.is_err());
            }
            if !record.flags.has(Flags::WFF) {
                address = address.wrapping_add(stride) & format.address.mask();
            }
        }
        if self.zero_padding && !record.writes.is_empty() && format.word() >= 4 {
            out.resize(out.len() + (record.writes.len() + 1) * format.word(), 0);
        }
        if record.reads.is_empty() {
            return;
        }
        let mut reply = Record {
            flags: record.flags.reply(),
            byte_enable: enable,
            write_base: record.return_base,
            ..Record::default()
        };
        for address in &record.reads {
            let value = if record.flags.has(Flags::RCA) {
                self.config(*address, width)
            } else {
                let value = match legal(enable, width) {
                    true => self.bus.read(aligned(*address), width, enable),
                    false => Err(BusFault),
                };
                self.errors = self.errors << 1 | u64::from(value.is_err());
                value.unwrap_or(0)
            };
            reply.writes.push(value & width.mask());
        }
        // Counts and values come from a decoded record, so they fit.
        let _ = reply.encode(format, out);
    }

    fn config(&self, address: u64, width: Width) -> u64 {
        let space = u128::from(self.errors) << 64 | u128::from(self.sdb_address);
        let bytes = space.to_be_bytes();
        usize::try_from(address)
            .ok()
            .map(|start| start - start % width.bytes())
            .and_then(|start| bytes.get(start..start + width.bytes()))
            .map_or(0, |word| word.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }
}

/// Byte enables must be one aligned group of 1, 2, 4 or 8 lanes of the port.
fn legal(byte_enable: u8, width: Width) -> bool {
    let lanes = byte_enable.count_ones() as usize;
    let first = byte_enable.trailing_zeros() as usize;
    lanes.is_power_of_two()
        && first.is_multiple_of(lanes)
        && first + lanes <= width.bytes()
        && byte_enable.leading_zeros() as usize == 8 - first - lanes
}
