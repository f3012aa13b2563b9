// SPDX-License-Identifier: Apache-2.0
//! A host's network interface: DMA latencies, a receive ring, moderated interrupts.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::{Rc, Weak};
use std::task::{Poll, Waker};

use serde::{Deserialize, Serialize};

use super::ethernet::{
    EthernetPort, InFlight, MacAddress, Port, ReceiveCheck, Sink, Transmitter, named, note_drop,
    to_wire,
};
use crate::kernel::{Counter, FrameId, Picoseconds, Sim, SimError};

/// A network interface.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NicConfig {
    /// Its address.
    pub mac: MacAddress,
    /// The rate of its port.
    pub bit_rate_bit_s: u64,
    /// From the driver's doorbell to the first bit on a free wire: the write to the device, the
    /// fetch of descriptor and data over PCIe.
    pub transmit_latency_ns: f64,
    /// From a frame's last bit to the frame and its descriptor in host memory.
    pub receive_latency_ns: f64,
    /// The least time between two interrupts.
    pub interrupt_gap_ns: f64,
    /// How much waits to be sent before frames are dropped; preamble and FCS count.
    pub transmit_queue_bytes: u64,
    /// How many received frames wait for the driver before frames are dropped.
    pub receive_ring_frames: usize,
}

/// A frame in host memory that the driver has not taken yet.
#[derive(Clone, Debug)]
pub struct RingFrame {
    /// Its number.
    pub id: FrameId,
    /// The frame without preamble and FCS, padding left on.
    pub bytes: Vec<u8>,
    /// Since when it is in host memory.
    pub in_memory: Picoseconds,
}

struct Shared {
    this: Weak<Shared>,
    sim: Sim,
    mac: MacAddress,
    port: Port,
    transmitter: Rc<Transmitter>,
    check: ReceiveCheck,
    transmit_latency: Picoseconds,
    receive_latency: Picoseconds,
    interrupt_gap: Picoseconds,
    ring_frames: usize,
    /// Frames in the ring, and those whose DMA is in progress.
    ring: RefCell<VecDeque<RingFrame>>,
    in_dma: Cell<usize>,
    /// The driver takes interrupts; false from an interrupt until the driver has emptied the ring.
    armed: Cell<bool>,
    scheduled: Cell<bool>,
    raised: Cell<bool>,
    last_interrupt: Cell<Option<Picoseconds>>,
    driver: RefCell<Option<Waker>>,
    interrupts: Counter,
    ring_full: Counter,
    not_for_us: Counter,
    stage_transmit: Rc<str>,
    stage_receive: Rc<str>,
}

/// A network interface, and the calls of its driver.
#[derive(Clone)]
pub struct Nic(Rc<Shared>);

impl Nic {
    /// An interface to plug a cable into.
    ///
    /// # Errors
    /// When the configuration makes no sense.
    pub fn new(sim: &Sim, name: &str, config: &NicConfig) -> Result<Self, SimError> {
        let name = named(name)?;
        if config.mac.is_group() {
            return Err(super::config_error(name, format!("mac {} is a group's", config.mac)));
        }
        let port = Port::new(sim, name);
        let bit_rate = super::bit_rate(name, config.bit_rate_bit_s)?;
        let ns = |field, value| super::time(name, field, value);
        let transmit_latency = ns("transmit_latency_ns", config.transmit_latency_ns)?;
        let receive_latency = ns("receive_latency_ns", config.receive_latency_ns)?;
        let interrupt_gap = ns("interrupt_gap_ns", config.interrupt_gap_ns)?;
        let counter = |what: &str| sim.counters().counter(format!("{name}.{what}"));
        let shared = Rc::new_cyclic(|this: &Weak<Shared>| Shared {
            this: this.clone(),
            sim: sim.clone(),
            mac: config.mac,
            transmitter: Transmitter::new(sim, &port, bit_rate, config.transmit_queue_bytes),
            check: ReceiveCheck::new(sim, name),
            port,
            transmit_latency,
            receive_latency,
            interrupt_gap,
            ring_frames: config.receive_ring_frames,
            ring: RefCell::default(),
            in_dma: Cell::default(),
            armed: Cell::new(true),
            scheduled: Cell::default(),
            raised: Cell::default(),
            last_interrupt: Cell::default(),
            driver: RefCell::default(),
            interrupts: counter("interrupts"),
            ring_full: counter("frames_dropped_ring_full"),
            not_for_us: counter("frames_ignored_address"),
            stage_transmit: "NIC transmit".into(),
            stage_receive: "NIC receive".into(),
        });
        shared.port.set_sink(shared.this.clone());
        sim.keep(shared.clone());
        Ok(Self(shared))
    }

    /// Its address.
    #[must_use]
    pub fn mac(&self) -> MacAddress {
        self.0.mac
    }

    /// The driver rings the doorbell for a frame (destination address to payload).
    pub fn transmit(&self, id: FrameId, frame: &[u8]) {
        let (shared, wire) = (Rc::clone(&self.0), to_wire(frame));
        let now = shared.sim.now();
        shared.sim.clone().after(shared.transmit_latency, move || {
            let (name, stage) = (shared.port.name(), &shared.stage_transmit);
            shared.sim.spans().record(name, stage, now, shared.sim.now(), id.0);
            shared.transmitter.send(id, wire);
        });
    }

    /// Waits for an interrupt. Interrupts stay masked until [`rearm`](Self::rearm).
    pub async fn interrupt(&self) {
        poll_fn(|context| {
            if self.0.raised.replace(false) {
                return Poll::Ready(());
            }
            *self.0.driver.borrow_mut() = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Takes the oldest frame out of the ring.
    #[must_use]
    pub fn poll(&self) -> Option<RingFrame> {
        self.0.ring.borrow_mut().pop_front()
    }

    /// Unmasks interrupts. Returns false and keeps them masked if a frame has arrived meanwhile.
    #[must_use]
    pub fn rearm(&self) -> bool {
        if !self.0.ring.borrow().is_empty() {
            return false;
        }
        self.0.armed.set(true);
        true
    }
}

impl EthernetPort for Nic {
    fn port(&self) -> &Port {
        &self.0.port
    }
}

impl Shared {
    fn in_memory(&self, frame: RingFrame) {
        self.in_dma.set(self.in_dma.get() - 1);
        self.ring.borrow_mut().push_back(frame);
        if !self.armed.get() || self.scheduled.get() {
            return;
        }
        let now = self.sim.now();
        let earliest = self.last_interrupt.get().map_or(now, |last| last + self.interrupt_gap);
        self.scheduled.set(true);
        let this = self.this.clone();
        self.sim.at(earliest.max(now), move || {
            if let Some(this) = this.upgrade() {
                this.raise();
            }
        });
    }

    fn raise(&self) {
        self.scheduled.set(false);
        self.armed.set(false);
        self.raised.set(true);
        self.last_interrupt.set(Some(self.sim.now()));
        self.interrupts.increment();
        if let Some(waker) = self.driver.borrow_mut().take() {
            waker.wake();
        }
    }
}

impl Sink for Shared {
    fn begin(&self, _frame: &Rc<InFlight>) {}

    fn end(&self, frame: &Rc<InFlight>) {
        let Some(bytes) = self.check.frame(frame) else { return };
        let group = bytes[0] & 1 == 1;
        if !group && bytes[..6] != self.mac.0 {
            self.not_for_us.increment();
            return;
        }
        if self.ring.borrow().len() + self.in_dma.get() >= self.ring_frames {
            self.ring_full.increment();
            let comment = "dropped: receive ring full";
            note_drop(&self.sim, self.port.name(), &frame.bytes(), comment);
            return;
        }
        self.in_dma.set(self.in_dma.get() + 1);
        let (this, id, arrived) = (self.this.clone(), frame.id, self.sim.now());
        self.sim.after(self.receive_latency, move || {
            let Some(this) = this.upgrade() else { return };
            let in_memory = this.sim.now();
            let (name, stage) = (this.port.name(), &this.stage_receive);
            this.sim.spans().record(name, stage, arrived, in_memory, id.0);
            this.in_memory(RingFrame { id, bytes, in_memory });
        });
    }
}
