// SPDX-License-Identifier: Apache-2.0
//! Ethernet for all models: frames in flight, ports, and a serialising transmitter.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt;
use std::rc::{Rc, Weak};
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cable::{LinkDirection, Outgoing};
use crate::kernel::{Bytes, Counter, FrameId, Hertz, Picoseconds, Sim, SimError};

/// Seven octets of preamble and the start-of-frame delimiter (IEEE 802.3 clause 3.2).
pub const PREAMBLE: [u8; 8] = [0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, SFD];
/// The start-of-frame delimiter.
pub const SFD: u8 = 0xd5;
/// The shortest frame without its FCS (IEEE 802.3 clause 3.2.7: 64 octets with it).
pub const MIN_FRAME_BYTES: usize = 60;
/// The frame check sequence.
pub const FCS_BYTES: usize = 4;
/// The gap a transmitter leaves between frames (IEEE 802.3 clause 4.4.2: 96 bit times).
pub const INTERFRAME_GAP_BYTES: u64 = 12;

/// A MAC address; written as `02:00:00:00:00:01`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct MacAddress(pub [u8; 6]);

impl MacAddress {
    /// All stations.
    pub const BROADCAST: Self = Self([0xff; 6]);

    /// True for a multicast or broadcast address.
    #[must_use]
    pub fn is_group(self) -> bool {
        self.0[0] & 1 == 1
    }

    /// As the low 48 bits of a number, first octet highest: how configuration ports carry it.
    #[must_use]
    pub fn as_u64(self) -> u64 {
        self.0.iter().fold(0, |number, octet| number << 8 | u64::from(*octet))
    }
}

impl fmt::Display for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl fmt::Debug for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Text that is not a MAC address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a MAC address: six octets such as 02:00:00:00:00:01 expected")]
pub struct MacAddressError(String);

impl FromStr for MacAddress {
    type Err = MacAddressError;

    fn from_str(text: &str) -> Result<Self, MacAddressError> {
        let octets: Option<Vec<u8>> = text
            .split(':')
            .map(|octet| {
                let hex = octet.len() == 2 && octet.bytes().all(|c| c.is_ascii_hexdigit());
                hex.then(|| u8::from_str_radix(octet, 16).ok()).flatten()
            })
            .collect();
        octets
            .and_then(|octets| octets.try_into().ok())
            .map(Self)
            .ok_or_else(|| MacAddressError(text.to_owned()))
    }
}

impl TryFrom<String> for MacAddress {
    type Error = MacAddressError;
    fn try_from(text: String) -> Result<Self, MacAddressError> {
        text.parse()
    }
}

impl From<MacAddress> for String {
    fn from(address: MacAddress) -> Self {
        address.to_string()
    }
}

/// Why a receiver throws a frame away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameError {
    /// No start-of-frame delimiter behind the preamble.
    NoDelimiter,
    /// Shorter than 64 octets.
    Runt,
    /// The frame check sequence is wrong, or the sender said the frame is bad.
    Fcs,
}

/// The octets of a frame on the wire: preamble, the frame padded to its least length, FCS.
#[must_use]
pub fn to_wire(frame: &[u8]) -> Vec<u8> {
    let mut wire =
        Vec::with_capacity(PREAMBLE.len() + frame.len().max(MIN_FRAME_BYTES) + FCS_BYTES);
    wire.extend(PREAMBLE);
    wire.extend(frame);
    wire.resize(wire.len().max(PREAMBLE.len() + MIN_FRAME_BYTES), 0);
    let fcs = crc32fast::hash(&wire[PREAMBLE.len()..]);
    wire.extend(fcs.to_le_bytes());
    wire
}

/// The octets behind the preamble, FCS included.
#[must_use]
pub fn behind_preamble(wire: &[u8]) -> Option<&[u8]> {
    let delimiter = wire.iter().position(|octet| *octet != PREAMBLE[0])?;
    (wire[delimiter] == SFD).then(|| &wire[delimiter + 1..])
}

/// The frame in what came over the wire: without preamble and FCS, padding left on.
///
/// # Errors
/// When a receiver would throw it away.
pub fn from_wire(wire: &[u8]) -> Result<&[u8], FrameError> {
    let frame = behind_preamble(wire).ok_or(FrameError::NoDelimiter)?;
    if frame.len() < MIN_FRAME_BYTES + FCS_BYTES {
        return Err(FrameError::Runt);
    }
    let (frame, fcs) = frame.split_at(frame.len() - FCS_BYTES);
    if crc32fast::hash(frame).to_le_bytes() != fcs {
        return Err(FrameError::Fcs);
    }
    Ok(frame)
}

/// A frame in flight. Its bytes grow while the sender still sends.
pub struct InFlight {
    /// Its number.
    pub id: FrameId,
    bytes: RefCell<Vec<u8>>,
    error_at: Cell<Option<usize>>,
    complete: Cell<bool>,
}

impl InFlight {
    pub(super) fn new(id: FrameId) -> Rc<Self> {
        Rc::new(Self {
            id,
            bytes: RefCell::default(),
            error_at: Cell::default(),
            complete: Cell::default(),
        })
    }

    pub(super) fn push(&self, byte: u8) {
        self.bytes.borrow_mut().push(byte);
    }

    pub(super) fn set_error(&self) {
        if self.error_at.get().is_none() {
            self.error_at.set(Some(self.bytes.borrow().len()));
        }
    }

    pub(super) fn finish(&self) {
        self.complete.set(true);
    }

    /// Octet `index` and whether the sender marked it bad; `None` when it was not sent.
    #[must_use]
    pub fn byte(&self, index: usize) -> Option<(u8, bool)> {
        let byte = *self.bytes.borrow().get(index)?;
        Some((byte, self.error_at.get().is_some_and(|at| index >= at)))
    }

    /// True when all octets have arrived.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.complete.get()
    }

    /// Number of octets that have arrived, preamble included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.borrow().len()
    }

    /// True when no octet has arrived.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A copy of all octets, preamble included.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.bytes.borrow().clone()
    }

    /// The frame, as [`from_wire`] gives it.
    ///
    /// # Errors
    /// When a receiver would throw it away.
    pub fn frame(&self) -> Result<Vec<u8>, FrameError> {
        if self.error_at.get().is_some() {
            return Err(FrameError::Fcs);
        }
        from_wire(&self.bytes.borrow()).map(<[u8]>::to_vec)
    }
}

/// The receiver of what arrives at a port.
pub trait Sink {
    /// The first bit of a frame arrives.
    fn begin(&self, frame: &Rc<InFlight>);
    /// The last bit of a frame has arrived.
    fn end(&self, frame: &Rc<InFlight>);
}

pub(super) struct PortInner {
    pub(super) name: Rc<str>,
    pub(super) sink: RefCell<Option<Weak<dyn Sink>>>,
    pub(super) link: RefCell<Option<Rc<LinkDirection>>>,
    unconnected: Counter,
}

/// A socket for an Ethernet cable.
#[derive(Clone)]
pub struct Port(pub(super) Rc<PortInner>);

/// Anything an Ethernet cable can be plugged into.
pub trait EthernetPort {
    /// Its socket.
    fn port(&self) -> &Port;
}

impl EthernetPort for Port {
    fn port(&self) -> &Port {
        self
    }
}

impl Port {
    /// A port with its own name.
    #[must_use]
    pub fn new(sim: &Sim, name: &str) -> Self {
        Self(Rc::new(PortInner {
            name: name.into(),
            sink: RefCell::default(),
            link: RefCell::default(),
            unconnected: sim.counters().counter(format!("{name}.frames_sent_unconnected")),
        }))
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &Rc<str> {
        &self.0.name
    }

    /// Whether a cable is plugged in.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.0.link.borrow().is_some()
    }

    /// Sets the receiver. The simulation has to keep it alive (see [`Sim::keep`]).
    pub fn set_sink(&self, sink: Weak<dyn Sink>) {
        *self.0.sink.borrow_mut() = Some(sink);
    }

    /// Begins to send a frame whose first bit leaves at `at`, now or later.
    #[must_use]
    pub fn open(&self, id: FrameId, at: Picoseconds) -> Outgoing {
        let link = self.0.link.borrow().clone();
        if link.is_none() {
            self.0.unconnected.increment();
        }
        Outgoing::open(link, id, at)
    }

    pub(super) fn sink(&self) -> Option<Rc<dyn Sink>> {
        self.0.sink.borrow().as_ref().and_then(Weak::upgrade)
    }
}

struct Waiting {
    id: FrameId,
    wire: Vec<u8>,
    error_at: Option<usize>,
    since: Picoseconds,
}

/// Sends whole frames one after another, with the gap between them; a bounded queue before it.
pub(super) struct Transmitter {
    sim: Sim,
    port: Port,
    bit_rate: Hertz,
    queue: RefCell<VecDeque<Waiting>>,
    queued_bytes: Cell<u64>,
    limit_bytes: u64,
    busy: Cell<bool>,
    sent: Counter,
    dropped: Counter,
    stage_queue: Rc<str>,
    stage_serialise: Rc<str>,
}

impl Transmitter {
    pub(super) fn new(sim: &Sim, port: &Port, bit_rate: Hertz, limit_bytes: u64) -> Rc<Self> {
        let name = port.name();
        Rc::new(Self {
            sim: sim.clone(),
            port: port.clone(),
            bit_rate,
            queue: RefCell::default(),
            queued_bytes: Cell::default(),
            limit_bytes,
            busy: Cell::default(),
            sent: sim.counters().counter(format!("{name}.frames_sent")),
            dropped: sim.counters().counter(format!("{name}.frames_dropped_queue_full")),
            stage_queue: "wait for the wire".into(),
            stage_serialise: "serialise".into(),
        })
    }

    /// Queues what goes over the wire, preamble and FCS included; false when there is no room.
    pub(super) fn send(self: &Rc<Self>, id: FrameId, wire: Vec<u8>) -> bool {
        self.send_marked(id, wire, None)
    }

    /// As [`send`](Self::send); octet `error_at` and all later ones are marked bad.
    pub(super) fn send_marked(
        self: &Rc<Self>,
        id: FrameId,
        wire: Vec<u8>,
        error_at: Option<usize>,
    ) -> bool {
        let bytes = wire.len() as u64;
        if self.queued_bytes.get() + bytes > self.limit_bytes {
            self.dropped.increment();
            note_drop(&self.sim, self.port.name(), &wire, "dropped: transmit queue full");
            return false;
        }
        self.queued_bytes.set(self.queued_bytes.get() + bytes);
        let since = self.sim.now();
        self.queue.borrow_mut().push_back(Waiting { id, wire, error_at, since });
        if !self.busy.get() {
            self.start();
        }
        true
    }

    fn start(self: &Rc<Self>) {
        let Some(next) = self.queue.borrow_mut().pop_front() else {
            self.busy.set(false);
            return;
        };
        self.busy.set(true);
        let now = self.sim.now();
        let bytes = next.wire.len() as u64;
        self.queued_bytes.set(self.queued_bytes.get() - bytes);
        let end = now + Bytes(bytes).serialisation(self.bit_rate);
        let free = now + Bytes(bytes + INTERFRAME_GAP_BYTES).serialisation(self.bit_rate);
        let name = self.port.name();
        if next.since < now {
            self.sim.spans().record(name, &self.stage_queue, next.since, now, next.id.0);
        }
        self.sim.spans().record(name, &self.stage_serialise, now, end, next.id.0);
        self.sent.increment();
        let mut outgoing = self.port.open(next.id, now);
        for (index, byte) in next.wire.into_iter().enumerate() {
            if next.error_at == Some(index) {
                outgoing.set_error();
            }
            outgoing.push(byte);
        }
        self.sim.at(end, move || outgoing.close(end));
        let transmitter = Rc::clone(self);
        self.sim.at(free, move || transmitter.start());
    }
}

/// Writes a frame that goes no further into the capture, if there is one.
pub(super) fn note_drop(sim: &Sim, at: &str, wire: &[u8], comment: &str) {
    let Some(capture) = sim.capture() else { return };
    let frame = behind_preamble(wire).unwrap_or(wire);
    let written = capture
        .interface_named(&format!("{at} drops"))
        .and_then(|interface| capture.frame(interface, sim.now(), frame, true, Some(comment)));
    if let Err(error) = written {
        sim.fail(error);
    }
}

/// Checks a received frame; counts and records discarded ones.
pub(super) struct ReceiveCheck {
    sim: Sim,
    name: Rc<str>,
    fcs: Counter,
    malformed: Counter,
}

impl ReceiveCheck {
    pub(super) fn new(sim: &Sim, name: &str) -> Self {
        Self {
            sim: sim.clone(),
            name: name.into(),
            fcs: sim.counters().counter(format!("{name}.frames_dropped_fcs")),
            malformed: sim.counters().counter(format!("{name}.frames_dropped_malformed")),
        }
    }

    pub(super) fn frame(&self, frame: &InFlight) -> Option<Vec<u8>> {
        let error = match frame.frame() {
            Ok(frame) => return Some(frame),
            Err(error) => error,
        };
        let comment = match error {
            FrameError::Fcs => "dropped: FCS wrong",
            FrameError::Runt => "dropped: shorter than 64 octets",
            FrameError::NoDelimiter => "dropped: no start-of-frame delimiter",
        };
        if error == FrameError::Fcs { &self.fcs } else { &self.malformed }.increment();
        note_drop(&self.sim, &self.name, &frame.bytes(), comment);
        None
    }
}

/// An error with a name, for models that are built from a configuration.
pub(super) fn named(model: &str) -> Result<&str, SimError> {
    if model.is_empty() {
        return Err(super::config_error("world", "a model has an empty name".into()));
    }
    Ok(model)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_frame_is_padded_to_64_octets_and_its_fcs_holds() {
        let wire = to_wire(&[1, 2, 3]);
        assert_eq!(wire.len(), 8 + 64);
        let frame = from_wire(&wire).unwrap();
        assert_eq!(&frame[..4], [1, 2, 3, 0]);
        assert_eq!(frame.len(), 60);
    }

    #[test]
    fn any_flipped_bit_behind_the_delimiter_is_an_fcs_error() {
        let wire = to_wire(&[0xa5; 100]);
        for bit in 0..(wire.len() - 8) * 8 {
            let mut bad = wire.clone();
            bad[8 + bit / 8] ^= 1 << (bit % 8);
            assert_eq!(from_wire(&bad), Err(FrameError::Fcs), "bit {bit}");
        }
    }

    #[test]
    fn the_fcs_of_a_known_frame_is_the_standard_one() {
        // The CRC-32 of "123456789", least significant octet first.
        let frame: Vec<u8> = b"123456789".to_vec();
        assert_eq!(crc32fast::hash(&frame).to_le_bytes(), [0x26, 0x39, 0xf4, 0xcb]);
    }

    #[test]
    fn a_wire_without_delimiter_or_with_a_runt_is_refused() {
        assert_eq!(from_wire(&[0x55; 20]), Err(FrameError::NoDelimiter));
        assert_eq!(from_wire(&[]), Err(FrameError::NoDelimiter));
        assert_eq!(from_wire(&[0x55, 0xd5, 1, 2]), Err(FrameError::Runt));
    }

    #[test]
    fn a_mac_address_reads_as_it_prints() {
        let address: MacAddress = "02:00:5e:10:00:ff".parse().unwrap();
        assert_eq!(address.to_string(), "02:00:5e:10:00:ff");
        assert_eq!(address.as_u64(), 0x0200_5e10_00ff);
        for wrong in ["", "02:00", "02:00:5e:10:00:fff", "02:00:5e:10:00:+f", "g2:00:5e:10:00:ff"] {
            assert!(wrong.parse::<MacAddress>().is_err(), "{wrong}");
        }
    }
}
