// SPDX-License-Identifier: Apache-2.0
//! A Cypress FX2LP (CY7C68013A) at a device's pins: its synchronous slave FIFO interface.
//!
//! Endpoint 2 (OUT) and endpoint 6 (IN) have four buffers of 512 bytes each, and pass complete
//! packets at once (automatic mode, AUTOINLEN 512). The model checks the data sheet's requirements
//! and ends the run at the first violation: no word read from an empty FIFO, none written into a
//! full one, FIFOADR stable for two clocks at each strobe, and never two drivers on FD, not even in
//! adjacent clocks.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::bus::MAX_PACKET_BYTES;
use super::signal::Signal;
use crate::kernel::{
    Counter, DeviceHandle, InputPin, OutputPin, Picoseconds, PinAgent, Sim, SimError,
};

/// Buffers of each of the two endpoints.
const BUFFERS: usize = 4;
/// From the port pin to the FIFOs' reset: three instructions of the firmware (MOVX, 4 to 5 cycles
/// of 12 MHz each; CY7C68013A technical reference, chapter 4).
const FIFO_RESET_DELAY: Picoseconds = Picoseconds::from_us(1);
/// FIFOADR of endpoint 2 and endpoint 6.
const ADDRESS_OUT: u64 = 0;
const ADDRESS_IN: u64 = 2;

/// An FX2LP.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fx2Config {
    /// Its name in this world.
    pub name: String,
    /// Width of FD in bits: 8 or 16.
    pub width_bits: u32,
}

/// Contents of the buffers.
#[derive(Default)]
struct Buffers {
    /// Packets from the host; the first may be read in part.
    out: VecDeque<Vec<u8>>,
    out_taken: usize,
    /// Packets for the host, and the one the device is writing.
    ready: VecDeque<Vec<u8>>,
    filling: Vec<u8>,
    open: bool,
}

struct Shared {
    sim: Sim,
    device: DeviceHandle,
    name: Rc<str>,
    word_bytes: usize,
    buffers: RefCell<Buffers>,
    /// Something changed that the pins do not show yet.
    dirty: Cell<bool>,
    /// The host side sleeps on this: a packet is ready, or a buffer is free again.
    changed: Signal,
    packets_out: Counter,
    packets_in: Counter,
}

/// An FX2LP attached to a device's pins.
#[derive(Clone)]
pub struct Fx2(Rc<Shared>);

impl Fx2 {
    /// Attaches an FX2LP to the ports `<bundle>_clk_i`, `<bundle>_fd_i` and so on.
    ///
    /// # Errors
    /// When a port is missing or has another width, or the configuration makes no sense.
    pub fn attach(
        sim: &Sim,
        device: &DeviceHandle,
        bundle: &str,
        config: &Fx2Config,
    ) -> Result<Self, SimError> {
        let name = crate::world::ethernet::named(&config.name)?;
        let width = config.width_bits;
        if width != 8 && width != 16 {
            let reason = format!("width_bits = {width}: 8 or 16 expected");
            return Err(crate::world::config_error(name, reason));
        }
        let input = |port: &str, width| device.input(&format!("{bundle}_{port}"), width);
        let output = |port: &str, width| device.output(&format!("{bundle}_{port}"), width);
        let counter = |what: &str| sim.counters().counter(format!("{name}.{what}"));
        let shared = Rc::new(Shared {
            sim: sim.clone(),
            device: device.clone(),
            name: name.into(),
            word_bytes: width as usize / 8,
            buffers: RefCell::default(),
            dirty: Cell::new(true),
            changed: Signal::default(),
            packets_out: counter("packets_out"),
            packets_in: counter("packets_in"),
        });
        let pins = Pins {
            shared: Rc::clone(&shared),
            reset_n: device.input("rst_ni", 1)?,
            fd_in: input("fd_i", width)?,
            fd_out: output("fd_o", width)?,
            fd_oe: output("fd_oe_o", 1)?,
            address: output("fifoadr_o", 2)?,
            sloe_n: output("sloe_no", 1)?,
            slrd_n: output("slrd_no", 1)?,
            slwr_n: output("slwr_no", 1)?,
            pktend_n: output("pktend_no", 1)?,
            flag_empty_n: input("flag_empty_ni", 1)?,
            flag_last_n: input("flag_last_ni", 1)?,
            flag_full_n: input("flag_full_ni", 1)?,
            flag_tight_n: input("flag_tight_ni", 1)?,
            open: input("open_i", 1)?,
            before: None,
        };
        device.attach(&format!("{bundle}_clk_i"), Box::new(pins))?;
        Ok(Self(shared))
    }

    /// Bytes from the host that the device has not read yet.
    #[must_use]
    pub fn unread_bytes(&self) -> usize {
        let buffers = self.0.buffers.borrow();
        buffers.out.iter().map(Vec::len).sum::<usize>() - buffers.out_taken
    }

    /// The firmware is notified that a program opened or closed the device. It shows the device
    /// which of the two it was, and empties both FIFOs of a closed one a moment later.
    pub(super) fn set_open(&self, open: bool) {
        self.0.device.wake();
        self.0.buffers.borrow_mut().open = open;
        self.0.touch();
        if open {
            return;
        }
        let shared = Rc::clone(&self.0);
        self.0.sim.after(FIFO_RESET_DELAY, move || {
            shared.device.wake();
            let buffers = &mut *shared.buffers.borrow_mut();
            *buffers = Buffers { open: buffers.open, ..Buffers::default() };
            shared.touch();
        });
    }

    /// Waits for a packet to the host, or room for one from it.
    pub(super) async fn changed(&self) {
        self.0.changed.wait().await;
    }

    /// Lets [`changed`](Self::changed) return.
    pub(super) fn nudge(&self) {
        self.0.changed.raise();
    }

    pub(super) fn has_room(&self) -> bool {
        self.0.buffers.borrow().out.len() < BUFFERS
    }

    /// A packet from the host; the caller has checked for space.
    pub(super) fn receive(&self, packet: Vec<u8>) {
        self.0.packets_out.increment();
        if packet.is_empty() {
            return;
        }
        self.0.device.wake();
        self.0.buffers.borrow_mut().out.push_back(packet);
        self.0.touch();
    }

    pub(super) fn has_packet(&self) -> bool {
        !self.0.buffers.borrow().ready.is_empty()
    }

    /// A copy of the packet that the host would get, if there is one.
    pub(super) fn peek(&self) -> Option<Vec<u8>> {
        self.0.buffers.borrow().ready.front().cloned()
    }

    /// The host has acknowledged that packet.
    pub(super) fn acknowledge(&self) {
        self.0.packets_in.increment();
        self.0.device.wake();
        self.0.buffers.borrow_mut().ready.pop_front();
        self.0.touch();
    }
}

impl Shared {
    fn touch(&self) {
        self.dirty.set(true);
    }

    fn violation(&self, what: &str) {
        let reason = format!("{}: {what} at {}", self.name, self.sim.now());
        self.sim.fail(SimError::Device { device: self.device.name().to_owned(), reason });
    }

    fn read(&self) {
        let buffers = &mut *self.buffers.borrow_mut();
        let Some(front) = buffers.out.front() else {
            return self.violation("a word is read from the empty endpoint 2");
        };
        buffers.out_taken += self.word_bytes;
        if buffers.out_taken >= front.len() {
            buffers.out.pop_front();
            buffers.out_taken = 0;
            self.changed.raise();
        }
        self.touch();
    }

    fn write(&self, word: u64) {
        let buffers = &mut *self.buffers.borrow_mut();
        if buffers.ready.len() == BUFFERS {
            return self.violation("a word is written into the full endpoint 6");
        }
        buffers.filling.extend(&word.to_le_bytes()[..self.word_bytes]);
        if buffers.filling.len() == MAX_PACKET_BYTES {
            self.commit(buffers);
        }
        self.touch();
    }

    fn end_packet(&self) {
        let buffers = &mut *self.buffers.borrow_mut();
        if buffers.ready.len() == BUFFERS {
            return self.violation("PKTEND while endpoint 6 is full");
        }
        self.commit(buffers);
        self.touch();
    }

    fn commit(&self, buffers: &mut Buffers) {
        buffers.ready.push_back(std::mem::take(&mut buffers.filling));
        self.changed.raise();
    }
}

#[derive(Clone, Copy)]
struct Seen {
    address: u64,
    strobe: bool,
    fx2_drives: bool,
    device_drives: bool,
}

struct Pins {
    shared: Rc<Shared>,
    reset_n: InputPin,
    fd_in: InputPin,
    fd_out: OutputPin,
    fd_oe: OutputPin,
    address: OutputPin,
    sloe_n: OutputPin,
    slrd_n: OutputPin,
    slwr_n: OutputPin,
    pktend_n: OutputPin,
    flag_empty_n: InputPin,
    flag_last_n: InputPin,
    flag_full_n: InputPin,
    flag_tight_n: InputPin,
    open: InputPin,
    before: Option<Seen>,
}

impl Pins {
    /// The pins' request; none while the device is in reset and its pins float.
    fn look(&self) -> Option<Seen> {
        (self.reset_n.get() != 0).then(|| Seen {
            address: self.address.get(),
            strobe: [&self.slrd_n, &self.slwr_n, &self.pktend_n].iter().any(|pin| pin.get() == 0),
            fx2_drives: self.sloe_n.get() == 0,
            device_drives: self.fd_oe.get() != 0,
        })
    }

    fn check(&self, seen: Seen) {
        let shared = &self.shared;
        let before = self.before.unwrap_or(seen);
        if (seen.fx2_drives || before.fx2_drives) && seen.device_drives
            || before.device_drives && seen.fx2_drives
        {
            shared.violation("two drivers on FD without a clock between them");
        }
        // Set-up of FIFOADR is longer than a period, and its hold is not zero.
        if (seen.strobe || before.strobe) && seen.address != before.address {
            shared.violation("FIFOADR changes at a strobe");
        }
        let (read, write) = (self.slrd_n.get() == 0, self.slwr_n.get() == 0);
        if read && !(seen.fx2_drives && seen.address == ADDRESS_OUT) {
            shared.violation("SLRD without SLOE, or not at endpoint 2");
        }
        if write && !(seen.device_drives && seen.address == ADDRESS_IN) {
            shared.violation("SLWR without data on FD, or not at endpoint 6");
        }
        if self.pktend_n.get() == 0 && seen.address != ADDRESS_IN {
            shared.violation("PKTEND not at endpoint 6");
        }
    }
}

impl PinAgent for Pins {
    fn sample(&mut self, _time: Picoseconds) {
        let seen = self.look();
        if let Some(seen) = seen {
            self.check(seen);
            let shared = &self.shared;
            if self.slrd_n.get() == 0 {
                shared.read();
            }
            if self.slwr_n.get() == 0 {
                shared.write(self.fd_out.get());
            }
            if self.pktend_n.get() == 0 {
                shared.end_packet();
            }
        }
        self.before = seen;
    }

    fn drive(&mut self, _time: Picoseconds) {
        let shared = &self.shared;
        let buffers = shared.buffers.borrow();
        let word = shared.word_bytes;
        let words = buffers.out.iter().map(|packet| packet.len().div_ceil(word)).sum::<usize>()
            - buffers.out_taken / word;
        let room = (BUFFERS - buffers.ready.len()) * MAX_PACKET_BYTES - buffers.filling.len();
        self.flag_empty_n.set(u64::from(words > 0));
        self.flag_last_n.set(u64::from(words > 1));
        self.flag_full_n.set(u64::from(room > 0));
        self.flag_tight_n.set(u64::from(room >= 2 * word));
        self.open.set(u64::from(buffers.open));
        // FD follows SLOE and the read pointer within the cycle.
        let shown = match buffers.out.front() {
            Some(packet) if self.sloe_n.get() == 0 => {
                let end = packet.len().min(buffers.out_taken + word);
                let bytes = &packet[buffers.out_taken..end];
                bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
            }
            _ => 0,
        };
        self.fd_in.set(shown);
        shared.dirty.set(false);
    }

    fn quiet(&self) -> bool {
        !self.shared.dirty.get() && self.before.is_none_or(|seen| !seen.strobe)
    }
}
