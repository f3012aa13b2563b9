// SPDX-License-Identifier: Apache-2.0
//! A Gigabit PHY at a device's GMII pins: one octet a clock, each way.
//!
//! Transmit is sampled at `clk_i`, or at `eth_clk_i` where the device has that; receive is driven at the bundle's own receive clock. The PHY
//! neither adds nor removes preamble or FCS: the MACs at the pins and at the other end do.

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

struct Shared {
    this: Weak<Shared>,
    sim: Sim,
    port: Port,
    device: DeviceHandle,
    transmit_latency: Picoseconds,
    receive_latency: Picoseconds,
    /// Frames that have arrived, or begun to.
    incoming: RefCell<VecDeque<Rc<InFlight>>>,
    receiving: Cell<bool>,
    /// Frames whose last bit has arrived and whose last octet was not driven yet, with the time.
    ended: RefCell<VecDeque<(FrameId, Picoseconds)>>,
    received: RefCell<Vec<PhyFrame>>,
    sent: RefCell<Vec<PhyFrame>>,
    sent_count: Counter,
    received_count: Counter,
    underruns: Counter,
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
        let name = named(&config.name)?;
        let receive_clock = format!("{bundle}_rx_clk_i");
        let input = |port: &str, width| device.input(&format!("{bundle}_{port}_i"), width);
        let output = |port: &str, width| device.output(&format!("{bundle}_{port}_o"), width);
        let (rxd, rx_dv, rx_er) = (input("rxd", 8)?, input("rx_dv", 1)?, input("rx_er", 1)?);
        let (txd, tx_en, tx_er) = (output("txd", 8)?, output("tx_en", 1)?, output("tx_er", 1)?);
        let receive_latency = super::time(name, "receive_latency_ns", config.receive_latency_ns)?;
        let octet = device.clock_period(&receive_clock).unwrap_or_default();
        if receive_latency < octet {
            return Err(super::config_error(
                name,
                format!(
                    "receive_latency_ns = {}: at least one octet's time, {octet}, expected",
                    config.receive_latency_ns
                ),
            ));
        }
        let counter = |what: &str| sim.counters().counter(format!("{name}.{what}"));
        let transmit_latency =
            super::time(name, "transmit_latency_ns", config.transmit_latency_ns)?;
        let shared = Rc::new_cyclic(|this: &Weak<Shared>| Shared {
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
        let own = device.clock_period(TRANSMIT_CLOCK).is_some();
        device.attach(if own { TRANSMIT_CLOCK } else { "clk_i" }, Box::new(transmit))?;
        Ok(Self(shared))
    }

    /// The frames driven onto the device's receive pins so far, from number `first` on.
    #[must_use]
    pub fn received_since(&self, first: usize) -> Vec<PhyFrame> {
        self.0.received.borrow().get(first..).map_or_else(Vec::new, <[_]>::to_vec)
    }

    /// The frames sampled at the device's transmit pins so far, from number `first` on.
    #[must_use]
    pub fn sent_since(&self, first: usize) -> Vec<PhyFrame> {
        self.0.sent.borrow().get(first..).map_or_else(Vec::new, <[_]>::to_vec)
    }
}

impl EthernetPort for GmiiPhy {
    fn port(&self) -> &Port {
        &self.0.port
    }
}

impl Sink for Shared {
    fn begin(&self, frame: &Rc<InFlight>) {
        let (this, frame) = (self.this.clone(), Rc::clone(frame));
        // A separate event, so that the device can stay asleep during the latency.
        self.sim.after(self.receive_latency, move || {
            let Some(this) = this.upgrade() else { return };
            this.device.wake();
            this.incoming.borrow_mut().push_back(frame);
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
        let Some(frame) = self.shared.incoming.borrow_mut().pop_front() else {
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
        let shared = &self.shared;
        shared.received_count.increment();
        let mut ended = shared.ended.borrow_mut();
        let end = ended.iter().position(|(id, _)| *id == frame.id);
        let arrival = end.and_then(|at| ended.remove(at)).map_or(self.last, |(_, time)| time);
        let stage = &shared.stage_receive;
        shared.sim.spans().record(shared.port.name(), stage, arrival, self.last, frame.id.0);
        shared.received.borrow_mut().push(PhyFrame {
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
            shared.port.open(shared.sim.new_frame_id(), time + shared.transmit_latency)
        });
        if self.tx_er.get() != 0 {
            outgoing.set_error();
        }
        outgoing.push(self.txd.get() as u8);
        self.last = time;
        self.bytes += 1;
    }

    fn end(&mut self, outgoing: Outgoing, time: Picoseconds) {
        let shared = &self.shared;
        let (id, start) = (outgoing.id(), outgoing.start());
        let end = time + shared.transmit_latency;
        let name = shared.port.name();
        let spans = shared.sim.spans();
        spans.record(name, &shared.stage_transmit, self.first, start, id.0);
        spans.record(name, &shared.stage_serialise, start, end, id.0);
        shared.sent_count.increment();
        shared.sent.borrow_mut().push(PhyFrame {
            id,
            first: self.first,
            last: self.last,
            bytes: self.bytes,
        });
        outgoing.close(end);
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
