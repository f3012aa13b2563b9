// SPDX-License-Identifier: Apache-2.0
//! AXI4 signal by signal: names, widths, bursts, and words wider than 64 bits.

use crate::kernel::{DeviceHandle, Direction, InputPin, OutputPin, Picoseconds, SimError};

/// An increasing burst.
const INCREMENT: u64 = 1;

pub(super) const OKAY: u64 = 0;
pub(super) const SLVERR: u64 = 2;

/// The ports of one bundle.
pub(super) struct Bundle<'a> {
    pub(super) device: &'a DeviceHandle,
    pub(super) name: &'a str,
}

impl Bundle<'_> {
    /// True when the device has accepted it.
    pub(super) fn exists(&self) -> bool {
        let prefix = format!("{}_", self.name);
        self.device.description().ports.iter().any(|port| port.name.starts_with(&prefix))
    }

    fn width(&self, port: &str, direction: Direction) -> u32 {
        let ports = &self.device.description().ports;
        let found = ports.iter().find(|known| known.name == port && known.direction == direction);
        found.map_or(1, |port| port.width)
    }

    /// An input of the device; `None` as width takes what there is.
    pub(super) fn input(&self, signal: &str, width: Option<u32>) -> Result<InputPin, SimError> {
        let port = format!("{}_{signal}_i", self.name);
        let width = width.unwrap_or_else(|| self.width(&port, Direction::Input));
        self.device.input(&port, width)
    }

    /// An output of the device; `None` as width takes what there is.
    pub(super) fn output(&self, signal: &str, width: Option<u32>) -> Result<OutputPin, SimError> {
        let port = format!("{}_{signal}_o", self.name);
        let width = width.unwrap_or_else(|| self.width(&port, Direction::Output));
        self.device.output(&port, width)
    }

    /// An output that not every device has, of any width.
    pub(super) fn optional_output(&self, signal: &str) -> Result<Option<OutputPin>, SimError> {
        let port = format!("{}_{signal}_o", self.name);
        let found = self.device.description().ports.iter().find(|known| known.name == port);
        found.map(|known| self.device.output(&port, known.width)).transpose()
    }

    /// An input that not every device has, of one bit.
    pub(super) fn optional_input(&self, signal: &str) -> Result<Option<InputPin>, SimError> {
        let port = format!("{}_{signal}_i", self.name);
        let found = self.device.description().ports.iter().any(|known| known.name == port);
        found.then(|| self.device.input(&port, 1)).transpose()
    }

    /// The octets of the data bus, checked against its strobes.
    pub(super) fn data_bytes(&self, data: u32, strobes: u32) -> Result<usize, SimError> {
        let bytes = data / 8;
        if !data.is_multiple_of(8) || !bytes.is_power_of_two() || !(4..=64).contains(&bytes) {
            return Err(self.refuse(format!(
                "{}_wdata is {data} bits wide: 32 to 512, a power of two, expected",
                self.name
            )));
        }
        if strobes != bytes {
            return Err(self.refuse(format!(
                "{}_wstrb is {strobes} bits wide: {bytes} expected for {data} bits of data",
                self.name
            )));
        }
        Ok(bytes as usize)
    }

    pub(super) fn refuse(&self, reason: String) -> SimError {
        SimError::Device { device: self.device.name().to_owned(), reason }
    }
}

/// Puts octets onto a data bus, octet 0 in the lowest lane.
pub(super) fn put_octets(pin: &InputPin, octets: &[u8]) {
    let word = |at: usize| {
        let part = octets.get(4 * at..).unwrap_or_default();
        part.iter().take(4).rev().fold(0_u32, |word, octet| word << 8 | u32::from(*octet))
    };
    if pin.width() <= 64 {
        pin.set(u64::from(word(0)) | u64::from(word(1)) << 32);
    } else {
        (0..octets.len().div_ceil(4)).for_each(|at| pin.set_word(at, word(at)));
    }
}

/// Puts one bit an octet onto the strobes.
pub(super) fn put_strobes(pin: &InputPin, strobes: u128) {
    if pin.width() <= 64 {
        pin.set(strobes as u64);
    } else {
        (0..4).for_each(|at| pin.set_word(at, (strobes >> (32 * at)) as u32));
    }
}

/// The octets on a data bus.
pub(super) fn octets(pin: &OutputPin, bytes: usize) -> Vec<u8> {
    (0..bytes.div_ceil(4)).flat_map(|at| pin.word(at).to_le_bytes()).take(bytes).collect()
}

/// The strobes, one bit an octet.
pub(super) fn strobes(pin: &OutputPin) -> u128 {
    (0..4).fold(0, |all, at| all | u128::from(pin.word(at)) << (32 * at))
}

/// An address channel's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Burst {
    pub(super) id: u64,
    pub(super) address: u64,
    /// Beats, less one.
    pub(super) len: u64,
    /// Octets a beat, as a power of two.
    pub(super) size: u64,
    /// The channel's user signal, where the device has one.
    pub(super) user: Option<u64>,
    kind: u64,
}

impl Burst {
    /// Why a hard block cannot take it: the signal's name without its bundle, and the reason.
    pub(super) fn fault(&self, channel: &str, bus_bytes: usize) -> Option<(String, String)> {
        let Self { address, size, kind, .. } = *self;
        let signal = |name: &str| format!("{channel}{name}");
        if kind != INCREMENT {
            return Some((signal("burst"), format!("{kind}: 1 (INCR) expected")));
        }
        if 1 << size > bus_bytes {
            let reason = format!("{size}: {} bytes a beat on a bus of {bus_bytes}", 1_u64 << size);
            return Some((signal("size"), reason));
        }
        let bytes = self.bytes() as u64;
        if address % 4096 + bytes > 4096 {
            let reason = format!("a burst of {bytes} bytes from {address:#x} crosses 4 KiB");
            return Some((signal("addr"), reason));
        }
        None
    }

    /// Octets from its address to the end of its last beat.
    pub(super) fn bytes(&self) -> usize {
        (((self.len + 1) << self.size) - self.address % (1 << self.size)) as usize
    }

    /// Begin and end of beat `beat`, relative to the burst's address.
    pub(super) fn beat(&self, beat: u64) -> (usize, usize) {
        let into = self.address % (1 << self.size);
        let end = ((beat + 1) << self.size) - into;
        let start = (beat << self.size).saturating_sub(into);
        (start as usize, end as usize)
    }
}

/// An address channel that the device masters.
pub(super) struct AddressOut {
    valid: OutputPin,
    ready: InputPin,
    id: OutputPin,
    address: OutputPin,
    len: OutputPin,
    size: OutputPin,
    kind: OutputPin,
    user: Option<OutputPin>,
    name: String,
    waiting: Option<Burst>,
}

/// The sampled state of a channel, or the signal that violated the protocol and how.
pub(super) type Seen<T> = Result<Option<T>, (String, String)>;

impl AddressOut {
    pub(super) fn new(bundle: &Bundle, channel: &str) -> Result<Self, SimError> {
        let output = |signal: &str, width| bundle.output(&format!("{channel}{signal}"), width);
        Ok(Self {
            valid: output("valid", Some(1))?,
            ready: bundle.input(&format!("{channel}ready"), Some(1))?,
            id: output("id", None)?,
            address: output("addr", None)?,
            len: output("len", Some(8))?,
            size: output("size", Some(3))?,
            kind: output("burst", Some(2))?,
            user: bundle.optional_output(&format!("{channel}user"))?,
            name: channel.to_owned(),
            waiting: None,
        })
    }

    pub(super) fn id_width(&self) -> u32 {
        self.id.width()
    }

    /// A burst that is taken at this edge.
    pub(super) fn sample(&mut self) -> Seen<Burst> {
        if self.valid.get() == 0 {
            return match self.waiting {
                Some(_) => Err((format!("{}valid", self.name), fell("ready"))),
                None => Ok(None),
            };
        }
        let burst = Burst {
            id: self.id.get(),
            address: self.address.get(),
            len: self.len.get(),
            size: self.size.get(),
            user: self.user.as_ref().map(OutputPin::get),
            kind: self.kind.get(),
        };
        if self.waiting.is_some_and(|before| before != burst) {
            return Err((format!("{}addr", self.name), changed(&format!("{}ready", self.name))));
        }
        let taken = self.ready.get() != 0;
        self.waiting = (!taken).then_some(burst);
        Ok(taken.then_some(burst))
    }

    pub(super) fn reset(&mut self) {
        self.waiting = None;
    }

    pub(super) fn ready(&self, ready: bool) {
        self.ready.set(ready.into());
    }

    pub(super) fn is_ready(&self) -> bool {
        self.ready.get() != 0
    }
}

pub(super) fn fell(ready: &str) -> String {
    format!("fell before it was taken ({ready} was low)")
}

pub(super) fn changed(ready: &str) -> String {
    format!("a signal of this channel changed while {ready} was low")
}

/// An address channel that the device serves.
pub(super) struct AddressIn {
    valid: InputPin,
    ready: OutputPin,
    address: InputPin,
    len: InputPin,
    size: InputPin,
}

impl AddressIn {
    pub(super) fn new(bundle: &Bundle, channel: &str) -> Result<Self, SimError> {
        let input = |signal: &str, width| bundle.input(&format!("{channel}{signal}"), width);
        // One ID: requests keep their order.
        input("id", None)?.set(0);
        input("burst", Some(2))?.set(INCREMENT);
        Ok(Self {
            valid: input("valid", Some(1))?,
            ready: bundle.output(&format!("{channel}ready"), Some(1))?,
            address: input("addr", None)?,
            len: input("len", Some(8))?,
            size: input("size", Some(3))?,
        })
    }

    pub(super) fn address_width(&self) -> u32 {
        self.address.width()
    }

    pub(super) fn is_valid(&self) -> bool {
        self.valid.get() != 0
    }

    /// True if the device accepts the offer at this edge.
    pub(super) fn taken(&self) -> bool {
        self.is_valid() && self.ready.get() != 0
    }

    pub(super) fn offer(&self, burst: Option<(u64, u64, u64)>) {
        self.valid.set(burst.is_some().into());
        if let Some((address, len, size)) = burst {
            self.address.set(address);
            self.len.set(len);
            self.size.set(size);
        }
    }
}

pub(super) fn violation(
    device: &DeviceHandle,
    bundle: &str,
    (signal, reason): (String, String),
    at: Picoseconds,
) -> SimError {
    let signal = format!("{bundle}_{signal}_o");
    SimError::Pin { device: device.name().to_owned(), signal, at, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn burst(address: u64, len: u64, size: u64) -> Burst {
        Burst { id: 0, address, len, size, user: None, kind: INCREMENT }
    }

    #[test]
    fn an_unaligned_burst_has_a_short_first_beat() {
        let burst = burst(0x1003, 2, 3);
        assert_eq!(burst.bytes(), 21);
        assert_eq!([0, 1, 2].map(|beat| burst.beat(beat)), [(0, 5), (5, 13), (13, 21)]);
    }

    #[test]
    fn a_burst_that_crosses_4_kib_or_does_not_increase_is_refused() {
        assert_eq!(burst(0xF80, 15, 3).fault("aw", 8), None);
        let (signal, reason) = burst(0xF88, 15, 3).fault("aw", 8).unwrap();
        assert_eq!(signal, "awaddr");
        assert!(reason.contains("0xf88") && reason.contains("4 KiB"), "{reason}");
        let fixed = Burst { kind: 0, ..burst(0, 0, 3) };
        assert_eq!(fixed.fault("ar", 8).unwrap().0, "arburst");
        assert_eq!(burst(0, 0, 4).fault("ar", 8).unwrap().0, "arsize");
    }
}
