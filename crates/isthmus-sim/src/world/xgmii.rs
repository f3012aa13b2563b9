// SPDX-License-Identifier: Apache-2.0
//! A 10 Gb/s PHY at a device's XGMII pins: eight octets a clock, each way, a start in lane 0 or 4.
//!
//! What a word carries arrived in the clock before it. A frame starts in the first half of a word that begins at or after its arrival, so
//! frames that come with an average gap of 12 octets start in both lanes, as a transmitter with a deficit idle count would start them.

use std::rc::Rc;

use super::cable::Outgoing;
use super::ethernet::{EthernetPort, InFlight, Port};
use super::phy::{PhyConfig, PhyFrame, Shared, transmit_clock};
use crate::kernel::{DeviceHandle, InputPin, OutputPin, Picoseconds, PinAgent, Sim, SimError};

/// The least gap at a receiver's XGMII, terminate included (IEEE 802.3 clause 46.2.1).
const RECEIVE_GAP: u32 = 5;
const IDLE: u8 = 0x07;
const START: u8 = 0xFB;
const TERMINATE: u8 = 0xFD;
const ERROR: u8 = 0xFE;
const PREAMBLE: u8 = 0x55;
/// Lanes of a column: a frame starts in the first of them.
const COLUMN: usize = 4;

/// A character, and whether it is a control character.
type Lane = (u8, bool);

/// A PHY attached to a device's XGMII pins.
#[derive(Clone)]
pub struct XgmiiPhy(Rc<Shared>);

impl XgmiiPhy {
    /// Attaches a PHY to the ports `<bundle>_rx_clk_i`, `<bundle>_rxd_i` and so on. Transmit is sampled at `eth_clk_i`.
    ///
    /// # Errors
    /// When a port is missing or has another width, or the configuration makes no sense.
    pub fn attach(
        sim: &Sim,
        device: &DeviceHandle,
        bundle: &str,
        config: &PhyConfig,
    ) -> Result<Self, SimError> {
        let receive_clock = format!("{bundle}_rx_clk_i");
        let rxd = device.input(&format!("{bundle}_rxd_i"), 64)?;
        let rxc = device.input(&format!("{bundle}_rxc_i"), 8)?;
        let txd = device.output(&format!("{bundle}_txd_o"), 64)?;
        let txc = device.output(&format!("{bundle}_txc_o"), 8)?;
        let shared = Shared::new(sim, device, &receive_clock, config)?;
        let receive = Receive {
            shared: Rc::clone(&shared),
            word: device.clock_period(&receive_clock).unwrap_or_default(),
            rxd,
            rxc,
            frame: None,
            index: 0,
            first: Picoseconds::ZERO,
            last: Picoseconds::ZERO,
            gap: RECEIVE_GAP,
            idle: false,
        };
        let transmit = Transmit {
            shared: Rc::clone(&shared),
            txd,
            txc,
            outgoing: None,
            first: Picoseconds::ZERO,
            last: Picoseconds::ZERO,
            bytes: 0,
        };
        device.attach(&receive_clock, Box::new(receive))?;
        device.attach(transmit_clock(device), Box::new(transmit))?;
        Ok(Self(shared))
    }

    /// The frames driven onto the device's receive pins so far, from number `first` on.
    #[must_use]
    pub fn received_since(&self, first: usize) -> Vec<PhyFrame> {
        self.0.received_since(first)
    }

    /// The frames sampled at the device's transmit pins so far, from number `first` on.
    #[must_use]
    pub fn sent_since(&self, first: usize) -> Vec<PhyFrame> {
        self.0.sent_since(first)
    }

    /// Forgets the frames so far, of both directions: the next one is number 0.
    pub fn forget(&self) {
        self.0.forget();
    }
}

impl EthernetPort for XgmiiPhy {
    fn port(&self) -> &Port {
        &self.0.port
    }
}

struct Receive {
    shared: Rc<Shared>,
    /// A word's time.
    word: Picoseconds,
    rxd: InputPin,
    rxc: InputPin,
    frame: Option<Rc<InFlight>>,
    index: usize,
    first: Picoseconds,
    last: Picoseconds,
    /// Octets since the last frame, its terminate included.
    gap: u32,
    /// The pins carry idle in all lanes.
    idle: bool,
}

impl Receive {
    /// The next four lanes, of a column that begins at `begin`; the word is driven at `time`.
    fn column(&mut self, begin: Picoseconds, time: Picoseconds) -> [Lane; COLUMN] {
        if self.frame.is_none() && self.gap >= RECEIVE_GAP {
            let mut incoming = self.shared.incoming.borrow_mut();
            if incoming.front().is_some_and(|(_, arrived)| *arrived <= begin) {
                self.frame = incoming.pop_front().map(|(frame, _)| frame);
                self.index = 0;
                self.first = time;
            }
        }
        let mut lanes = [(IDLE, true); COLUMN];
        for lane in &mut lanes {
            *lane = self.lane(time);
        }
        lanes
    }

    fn lane(&mut self, time: Picoseconds) -> Lane {
        let Some(frame) = &self.frame else {
            self.gap = self.gap.saturating_add(1);
            return (IDLE, true);
        };
        match frame.byte(self.index) {
            Some((byte, error)) => {
                self.index += 1;
                self.last = time;
                if self.index == 1 {
                    (START, true)
                } else if error {
                    (ERROR, true)
                } else {
                    (byte, false)
                }
            }
            None if frame.is_complete() => {
                let (first, last, bytes) = (self.first, self.last, self.index as u64);
                self.shared.delivered(PhyFrame { id: frame.id, first, last, bytes });
                self.frame = None;
                self.gap = 1;
                (TERMINATE, true)
            }
            None => {
                self.shared.underruns.increment();
                (ERROR, true)
            }
        }
    }

    fn put(&mut self, time: Picoseconds) {
        let begin = time.saturating_sub(self.word);
        let half = Picoseconds(self.word.0 / 2);
        let columns = [self.column(begin, time), self.column(begin + half, time)];
        let (mut data, mut control) = (0, 0);
        self.idle = true;
        for (at, (char, is_control)) in columns.as_flattened().iter().enumerate() {
            data |= u64::from(*char) << (8 * at);
            control |= u64::from(*is_control) << at;
            self.idle &= *is_control && *char == IDLE;
        }
        self.rxd.set(data);
        self.rxc.set(control);
    }
}

impl PinAgent for Receive {
    #[inline]
    fn sample(&mut self, _time: Picoseconds) {}

    #[inline]
    fn drive(&mut self, time: Picoseconds) {
        let shared = &self.shared;
        if !shared.receiving.get() && self.idle {
            return;
        }
        self.put(time);
        if self.idle && self.frame.is_none() && self.shared.incoming.borrow().is_empty() {
            self.shared.receiving.set(false);
        }
    }

    #[inline]
    fn quiet(&self) -> bool {
        !self.shared.receiving.get() && self.idle
    }
}

struct Transmit {
    shared: Rc<Shared>,
    txd: OutputPin,
    txc: OutputPin,
    outgoing: Option<Outgoing>,
    first: Picoseconds,
    last: Picoseconds,
    bytes: u64,
}

impl Transmit {
    fn lane(&mut self, (char, is_control): Lane, lane: usize, time: Picoseconds) {
        match (&mut self.outgoing, is_control, char) {
            (None, true, START) if lane.is_multiple_of(COLUMN) => {
                let mut outgoing = self.shared.open(time);
                outgoing.push(PREAMBLE);
                self.outgoing = Some(outgoing);
                self.first = time;
                self.bytes = 1;
            }
            (None, ..) => {}
            (Some(outgoing), false, byte) => {
                outgoing.push(byte);
                self.last = time;
                self.bytes += 1;
            }
            (Some(outgoing), true, char) => {
                if char != TERMINATE {
                    outgoing.set_error();
                }
                if let Some(outgoing) = self.outgoing.take() {
                    let (first, last, bytes) = (self.first, self.last, self.bytes);
                    let frame = PhyFrame { id: outgoing.id(), first, last, bytes };
                    self.shared.close(outgoing, time, frame);
                }
            }
        }
    }
}

impl PinAgent for Transmit {
    #[inline]
    fn sample(&mut self, time: Picoseconds) {
        let (data, control) = (self.txd.get(), self.txc.get());
        if control == 0xFF && self.outgoing.is_none() {
            return;
        }
        for (at, char) in data.to_le_bytes().into_iter().enumerate() {
            self.lane((char, control >> at & 1 == 1), at, time);
        }
    }

    #[inline]
    fn drive(&mut self, _time: Picoseconds) {}

    #[inline]
    fn quiet(&self) -> bool {
        self.outgoing.is_none()
    }
}
