// SPDX-License-Identifier: Apache-2.0

use std::fmt;

use super::{Bus, BusFault, Peer, Width};

/// What happens on a bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BusEvent {
    /// The cycle line rises.
    Begin(Peer),
    /// A read ended.
    Read {
        /// Where.
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
        /// Where.
        address: u64,
        /// Width of the data port.
        width: Width,
        /// Lanes.
        byte_enable: u8,
        /// The value.
        data: u64,
        /// Whether it was a bus error.
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

/// A bus whose every operation is told to a closure: to print, to record, to count.
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
    /// Tells `tell` of everything that `bus` does.
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
