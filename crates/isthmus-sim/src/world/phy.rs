// SPDX-License-Identifier: Apache-2.0
//! A Gigabit PHY at a device's GMII pins: one octet a clock, each way.
//!
//! Transmit is sampled at `clk_i`, or at `eth_clk_i` where the device has that; receive is driven at the bundle's own receive clock. The PHY
//! neither adds nor removes preamble or FCS: the MACs at the pins and at the other end do. [`super::xgmii`] has the pins of 10 Gb/s.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::{Rc, Weak};

use serde::{Deserialize, Serialize};

use super::cable::Outgoing;
use super::ethernet::{EthernetPort, InFlight, Port, Sink, named};
use crate::kernel::{
    Counter, DeviceHandle, FrameId, InputPin, OutputPin, Picoseconds, PinAgent, Sim, SimError,
};

/// The least gap at a receiver's GMII (IEEE 802.3 clause 4.4.2, note: 64 bit times at 1 Gb/s).
const RECEIVE_GAP_CYCLES: u32 = 8;

/// The clock of transmit pins, in devices whose main clock is another one.
const TRANSMIT_CLOCK: &str = "eth_clk_i";

/// A Gigabit PHY.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhyConfig {
    /// Its name in this world.
    pub name: String,
    /// From the clock edge that samples an octet at the pins to the octet's first bit on the cable.
    pub transmit_latency_ns: f64,
    /// From an octet's first bit on the cable to the earliest clock edge that drives it onto the
    /// pins; at least one octet's time, for an octet must be there before it can be driven.
    pub receive_latency_ns: f64,
}

/// When a frame was on the pins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhyFrame {
    /// The frame's number.
    pub id: FrameId,
    /// Received by the device: the edge that drove the first preamble octet. Sent by it: the edge
    /// that sampled it.
    pub first: Picoseconds,
    /// The same for the last octet of the FCS.
    pub last: Picoseconds,
    /// Octets on the pins, preamble and FCS included.
    pub bytes: u64,
}

/// What a PHY is beside its pins.
pub(super) struct Shared {
    this: Weak<Shared>,
    pub(super) sim: Sim,
    pub(super) port: Port,
    device: DeviceHandle,
    transmit_latency: Picoseconds,
    receive_latency: Picoseconds,
    /// Frames that have arrived, or begun to, and when.
    pub(super) incoming: RefCell<VecDeque<(Rc<InFlight>, Picoseconds)>>,
    pub(super) receiving: Cell<bool>,
    /// Frames whose last bit has arrived and whose last octet was not driven yet, with the time.
    ended: RefCell<VecDeque<(FrameId, Picoseconds)>>,
    received: RefCell<Vec<PhyFrame>>,
    sent: RefCell<Vec<PhyFrame>>,
    sent_count: Counter,
    received_count: Counter,
    pub(super) underruns: Counter,
    stage_receive: Rc<str>,
    stage_transmit: Rc<str>,
    stage_serialise: Rc<str>,
}

/// A PHY attached to a device's pins.
#[derive(Clone)]
pub struct GmiiPhy(Rc<Shared>);

impl GmiiPhy {
    /// Attaches a PHY to the ports `<bundle>_rx_clk_i`, `<bundle>_rxd_i` and so on.
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
        let input = |port: &str, width| device.input(&format!("{bundle}_{port}_i"), width);
        let output = |port: &str, width| device.output(&format!("{bundle}_{port}_o"), width);
        let (rxd, rx_dv, rx_er) = (input("rxd", 8)?, input("rx_dv", 1)?, input("rx_er", 1)?);
        let (txd, tx_en, tx_er) = (output("txd", 8)?, output("tx_en", 1)?, output("tx_er", 1)?);
        let shared = Shared::new(sim, device, &receive_clock, config)?;
        let receive = Receive {
            shared: Rc::clone(&shared),
            rxd,
            rx_dv,
            rx_er,
            frame: None,
            index: 0,
            first: Picoseconds::ZERO,
            last: Picoseconds::ZERO,
            gap: 0,
        };
        let transmit = Transmit {
            shared: Rc::clone(&shared),
            txd,
            tx_en,
            tx_er,
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

impl EthernetPort for GmiiPhy {
    fn port(&self) -> &Port {
        &self.0.port
    }
}

/// The clock of a device's transmit pins.
pub(super) fn transmit_clock(device: &DeviceHandle) -> &'static str {
    if device.clock_period(TRANSMIT_CLOCK).is_some() { TRANSMIT_CLOCK } else { "clk_i" }
}

impl Shared {
    /// A PHY whose receive pins have the clock `receive_clock`: one period of it is the least that it must wait for what it drives.
    pub(super) fn new(
        sim: &Sim,
        device: &DeviceHandle,
        receive_clock: &str,
        config: &PhyConfig,
    ) -> Result<Rc<Self>, SimError> {
        let name = named(&config.name)?;
        let receive_latency = super::time(name, "receive_latency_ns", config.receive_latency_ns)?;
        let word = device.clock_period(receive_clock).unwrap_or_default();
        if receive_latency < word {
            return Err(super::config_error(
                name,
                format!(
                    "receive_latency_ns = {}: at least one period of the pins' clock, {word}, expected",
                    config.receive_latency_ns
                ),
            ));
        }
        let counter = |what: &str| sim.counters().counter(format!("{name}.{what}"));
        let transmit_latency =
            super::time(name, "transmit_latency_ns", config.transmit_latency_ns)?;
        let shared = Rc::new_cyclic(|this: &Weak<Self>| Self {
            this: this.clone(),
            sim: sim.clone(),
            port: Port::new(sim, name),
            device: device.clone(),
            transmit_latency,
            receive_latency,
            incoming: RefCell::default(),
            receiving: Cell::default(),
            ended: RefCell::default(),
            received: RefCell::default(),
            sent: RefCell::default(),
            sent_count: counter("frames_sent"),
            received_count: counter("frames_received"),
            underruns: counter("receive_underruns"),
            stage_receive: "PHY receive".into(),
            stage_transmit: "PHY transmit".into(),
            stage_serialise: "serialise".into(),
        });
        shared.port.set_sink(shared.this.clone());
        sim.keep(shared.clone());
        Ok(shared)
    }

    pub(super) fn received_since(&self, first: usize) -> Vec<PhyFrame> {
        self.received.borrow().get(first..).map_or_else(Vec::new, <[_]>::to_vec)
    }

    pub(super) fn sent_since(&self, first: usize) -> Vec<PhyFrame> {
        self.sent.borrow().get(first..).map_or_else(Vec::new, <[_]>::to_vec)
    }

    pub(super) fn forget(&self) {
        self.received.borrow_mut().clear();
        self.sent.borrow_mut().clear();
    }

    /// The last octet of `frame` was driven.
    pub(super) fn delivered(&self, frame: PhyFrame) {
        self.received_count.increment();
        let mut ended = self.ended.borrow_mut();
        let end = ended.iter().position(|(id, _)| *id == frame.id);
        let arrival = end.and_then(|at| ended.remove(at)).map_or(frame.last, |(_, time)| time);
        let spans = self.sim.spans();
        spans.record(self.port.name(), &self.stage_receive, arrival, frame.last, frame.id.0);
        self.received.borrow_mut().push(frame);
    }

    /// A frame whose first octet was sampled at `time`.
    pub(super) fn open(&self, time: Picoseconds) -> Outgoing {
        self.port.open(self.sim.new_frame_id(), time + self.transmit_latency)
    }

    /// The frame's end was sampled at `time`.
    pub(super) fn close(&self, outgoing: Outgoing, time: Picoseconds, frame: PhyFrame) {
        let end = time + self.transmit_latency;
        let (name, spans) = (self.port.name(), self.sim.spans());
        spans.record(name, &self.stage_transmit, frame.first, outgoing.start(), frame.id.0);
        spans.record(name, &self.stage_serialise, outgoing.start(), end, frame.id.0);
        self.sent_count.increment();
        self.sent.borrow_mut().push(frame);
        outgoing.close(end);
    }
}

impl Sink for Shared {
    fn begin(&self, frame: &Rc<InFlight>) {
        let (this, frame) = (self.this.clone(), Rc::clone(frame));
        // A separate event, so that the device can stay asleep during the latency.
        self.sim.after(self.receive_latency, move || {
            let Some(this) = this.upgrade() else { return };
            this.device.wake();
            this.incoming.borrow_mut().push_back((frame, this.sim.now()));
            this.receiving.set(true);
        });
    }

    fn end(&self, frame: &Rc<InFlight>) {
        self.ended.borrow_mut().push_back((frame.id, self.sim.now()));
    }
}

struct Receive {
    shared: Rc<Shared>,
    rxd: InputPin,
    rx_dv: InputPin,
    rx_er: InputPin,
    frame: Option<Rc<InFlight>>,
    index: usize,
    first: Picoseconds,
    last: Picoseconds,
    gap: u32,
}

impl Receive {
    fn begin_next(&mut self, time: Picoseconds) {
        let Some((frame, _)) = self.shared.incoming.borrow_mut().pop_front() else {
            self.shared.receiving.set(false);
            return;
        };
        self.index = 0;
        self.first = time;
        self.frame = Some(frame);
        self.put(time);
    }

    fn put(&mut self, time: Picoseconds) {
        let Some(frame) = &self.frame else { return };
        if let Some((byte, error)) = frame.byte(self.index) {
            self.rxd.set(u64::from(byte));
            self.rx_dv.set(1);
            self.rx_er.set(u64::from(error));
            self.index += 1;
            self.last = time;
        } else if frame.is_complete() {
            self.rxd.set(0);
            self.rx_dv.set(0);
            self.rx_er.set(0);
            self.gap = RECEIVE_GAP_CYCLES - 1;
            self.finish();
        } else {
            // The receive clock is faster than the sender's: a real PHY would slip here.
            self.rx_er.set(1);
            self.shared.underruns.increment();
        }
    }

    fn finish(&mut self) {
        let Some(frame) = self.frame.take() else { return };
        self.shared.delivered(PhyFrame {
            id: frame.id,
            first: self.first,
            last: self.last,
            bytes: self.index as u64,
        });
    }
}

impl PinAgent for Receive {
    #[inline]
    fn sample(&mut self, _time: Picoseconds) {}

    #[inline]
    fn drive(&mut self, time: Picoseconds) {
        if !self.shared.receiving.get() {
            return;
        }
        if self.frame.is_some() {
            self.put(time);
        } else if self.gap > 0 {
            self.gap -= 1;
        } else {
            self.begin_next(time);
        }
    }

    #[inline]
    fn quiet(&self) -> bool {
        !self.shared.receiving.get()
    }
}

struct Transmit {
    shared: Rc<Shared>,
    txd: OutputPin,
    tx_en: OutputPin,
    tx_er: OutputPin,
    outgoing: Option<Outgoing>,
    first: Picoseconds,
    last: Picoseconds,
    bytes: u64,
}

impl Transmit {
    fn octet(&mut self, time: Picoseconds) {
        let shared = &self.shared;
        let outgoing = self.outgoing.get_or_insert_with(|| {
            self.first = time;
            self.bytes = 0;
            shared.open(time)
        });
        if self.tx_er.get() != 0 {
            outgoing.set_error();
        }
        outgoing.push(self.txd.get() as u8);
        self.last = time;
        self.bytes += 1;
    }

    fn end(&mut self, outgoing: Outgoing, time: Picoseconds) {
        let frame =
            PhyFrame { id: outgoing.id(), first: self.first, last: self.last, bytes: self.bytes };
        self.shared.close(outgoing, time, frame);
    }
}

impl PinAgent for Transmit {
    #[inline]
    fn sample(&mut self, time: Picoseconds) {
        if self.tx_en.get() != 0 {
            self.octet(time);
        } else if let Some(outgoing) = self.outgoing.take() {
            self.end(outgoing, time);
        }
    }

    #[inline]
    fn drive(&mut self, _time: Picoseconds) {}

    #[inline]
    fn quiet(&self) -> bool {
        self.outgoing.is_none()
    }
}
