// SPDX-License-Identifier: Apache-2.0

use std::fmt;

use super::wire::{Codec, Flags, LiteCodec, Message, OhwrCodec, Record};
use super::{Bus, BusFault, Dialect, Peer, Width};

/// The contents of a datagram, a line for each operation: for monitors.
///
/// A value that a reply brings is shown with the return address that the request named; a datagram
/// that is not of the dialect is one line that says why.
pub fn describe(dialect: Dialect, datagram: &[u8]) -> Vec<String> {
    let message = match dialect {
        Dialect::Ohwr => OhwrCodec.decode(datagram),
        Dialect::LiteEth => LiteCodec.decode(datagram),
    };
    match message {
        Ok(Message::Probe { widths, id }) => vec![format!("probe {id:#x}: {widths}")],
        Ok(Message::ProbeReply { widths, id }) => vec![format!("probe reply {id:#x}: {widths}")],
        Ok(Message::Data { format, records, .. }) => {
            records.iter().flat_map(|record| operations(record, format.data)).collect()
        }
        Err(error) => vec![format!("malformed: {error}")],
    }
}

fn operations(record: &Record, width: Width) -> Vec<String> {
    let (lanes, digits, stride) = (width.bytes(), 2 + 2 * width.bytes(), width.bytes() as u64);
    let enable = record.byte_enable;
    let space = |config: Flags| if record.flags.has(config) { "config " } else { "" };
    let step = if record.flags.has(Flags::WFF) { 0 } else { stride };
    let mut lines = Vec::with_capacity(record.writes.len() + record.reads.len());
    for (index, value) in record.writes.iter().enumerate() {
        let address = record.write_base.wrapping_add(step * index as u64);
        let space = space(Flags::WCA);
        lines.push(format!("{space}write {address:#010x}/{enable:0lanes$b} {value:#0digits$x}"));
    }
    for (index, address) in record.reads.iter().enumerate() {
        let step = if record.flags.has(Flags::RFF) { 0 } else { stride };
        let back = record.return_base.wrapping_add(step * index as u64);
        let space = space(Flags::RCA);
        lines.push(format!("{space}read  {address:#010x}/{enable:0lanes$b} to {back:#x}"));
    }
    lines
}

/// An event on a bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BusEvent {
    /// The cycle line rises.
    Begin(Peer),
    /// A read ended.
    Read {
        /// Its address.
        address: u64,
        /// Width of the data port.
        width: Width,
        /// Lanes.
        byte_enable: u8,
        /// The value, or a bus error.
        result: Result<u64, BusFault>,
    },
    /// A write ended.
    Write {
        /// Its address.
        address: u64,
        /// Width of the data port.
        width: Width,
        /// Lanes.
        byte_enable: u8,
        /// The value.
        data: u64,
        /// True for a bus error.
        result: Result<(), BusFault>,
    },
    /// The cycle line falls.
    End,
}

impl fmt::Display for BusEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, address, width, byte_enable, value, failed) = match *self {
            BusEvent::Begin(peer) => return write!(f, "cycle by {peer}"),
            BusEvent::End => return f.write_str("end of cycle"),
            BusEvent::Read { address, width, byte_enable, result } => {
                ("read ", address, width, byte_enable, result.ok(), result.is_err())
            }
            BusEvent::Write { address, width, byte_enable, data, result } => {
                ("write", address, width, byte_enable, Some(data), result.is_err())
            }
        };
        let lanes = width.bytes();
        write!(f, "{name} {address:#010x}/{byte_enable:0lanes$b}")?;
        if let Some(value) = value {
            let digits = 2 + 2 * lanes;
            write!(f, " {value:#0digits$x}")?;
        }
        if failed { f.write_str(" bus error") } else { Ok(()) }
    }
}

/// A bus whose every operation is reported to a closure: to print, to record, to count.
pub struct Snoop<B, F> {
    bus: B,
    tell: F,
}

impl<B: fmt::Debug, F> fmt::Debug for Snoop<B, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snoop").field("bus", &self.bus).finish_non_exhaustive()
    }
}

impl<B: Bus, F: FnMut(&BusEvent)> Snoop<B, F> {
    /// Reports all operations of `bus` to `tell`.
    pub fn new(bus: B, tell: F) -> Self {
        Self { bus, tell }
    }

    /// The bus itself.
    pub fn bus(&mut self) -> &mut B {
        &mut self.bus
    }
}

impl<B: Bus, F: FnMut(&BusEvent)> Bus for Snoop<B, F> {
    fn read(&mut self, address: u64, width: Width, byte_enable: u8) -> Result<u64, BusFault> {
        let result = self.bus.read(address, width, byte_enable);
        (self.tell)(&BusEvent::Read { address, width, byte_enable, result });
        result
    }

    fn write(
        &mut self,
        address: u64,
        width: Width,
        byte_enable: u8,
        data: u64,
    ) -> Result<(), BusFault> {
        let result = self.bus.write(address, width, byte_enable, data);
        (self.tell)(&BusEvent::Write { address, width, byte_enable, data, result });
        result
    }

    fn begin_cycle(&mut self, peer: Peer) {
        self.bus.begin_cycle(peer);
        (self.tell)(&BusEvent::Begin(peer));
    }

    fn end_cycle(&mut self) {
        self.bus.end_cycle();
        (self.tell)(&BusEvent::End);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(dialect: Dialect, words: &[u32]) -> Vec<String> {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        describe(dialect, &bytes)
    }

    #[test]
    fn what_an_onlooker_sees() {
        let ohwr = |words: &[u32]| lines(Dialect::Ohwr, words);
        assert_eq!(ohwr(&[0x4E6F_11FF, 7]), ["probe 0x7: address 8/16/32/64 data 8/16/32/64 bit"]);
        assert_eq!(ohwr(&[0x4E6F_1644, 7]), ["probe reply 0x7: address 32 data 32 bit"]);
        let request = [0x4E6F_1044, 0xA00F_0202, 0x100, 1, 2, 0x8002, 4, 8, 0xE80F_0001, 0x8003, 4];
        assert_eq!(
            ohwr(&request),
            [
                "write 0x00000100/1111 0x00000001",
                "write 0x00000104/1111 0x00000002",
                "read  0x00000004/1111 to 0x8002",
                "read  0x00000008/1111 to 0x8002",
                "config read  0x00000004/1111 to 0x8003",
            ]
        );
        let reply = [0x4E6F_1444, 0x060F_0200, 0x8002, 5, 6];
        assert_eq!(
            ohwr(&reply),
            ["config write 0x00008002/1111 0x00000005", "config write 0x00008002/1111 0x00000006"]
        );
        assert_eq!(ohwr(&[0x4E6F_1044]), [""; 0]);
        assert_eq!(ohwr(&[0x1234_1044]), ["malformed: magic 0x1234, Etherbone begins with 0x4e6f"]);
        let lite = lines(Dialect::LiteEth, &[0x4E6F_1044, 0, 0x000F_0001, 9, 4]);
        assert_eq!(lite, ["read  0x00000004/1111 to 0x9"]);
        assert!(lines(Dialect::LiteEth, &request)[0].starts_with("malformed: not LiteEth"));
    }
}
