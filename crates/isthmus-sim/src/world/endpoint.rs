// SPDX-License-Identifier: Apache-2.0
//! An end of a cable driven by the caller: a test, or a bridge to a real network.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use serde::{Deserialize, Serialize};

use super::ethernet::{
    EthernetPort, InFlight, Port, ReceiveCheck, Sink, Transmitter, named, to_wire,
};
use crate::kernel::{FrameId, Picoseconds, Sim, SimError};

/// An endpoint.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndpointConfig {
    /// Its name in this world.
    pub name: String,
    /// The rate at which it sends.
    pub bit_rate_bit_s: u64,
    /// How much may wait to be sent; preamble and FCS count.
    pub queue_bytes: u64,
}

/// A frame that arrived at an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedFrame {
    /// Its number.
    pub id: FrameId,
    /// When its last bit arrived.
    pub time: Picoseconds,
    /// The frame without preamble and FCS, padding left on.
    pub bytes: Vec<u8>,
}

struct Shared {
    sim: Sim,
    port: Port,
    transmitter: Rc<Transmitter>,
    check: ReceiveCheck,
    received: RefCell<VecDeque<ReceivedFrame>>,
    waiting: RefCell<Vec<Waker>>,
}

/// An endpoint. Between two calls of [`Simulation::run_for`](crate::Simulation::run_for) the caller
/// takes received frames and sends frames of other sources.
#[derive(Clone)]
pub struct FrameEndpoint(Rc<Shared>);

impl FrameEndpoint {
    /// An endpoint to plug a cable into.
    ///
    /// # Errors
    /// When the configuration makes no sense.
    pub fn new(sim: &Sim, config: &EndpointConfig) -> Result<Self, SimError> {
        let name = named(&config.name)?;
        let port = Port::new(sim, name);
        let bit_rate = super::bit_rate(name, config.bit_rate_bit_s)?;
        let shared = Rc::new(Shared {
            sim: sim.clone(),
            transmitter: Transmitter::new(sim, &port, bit_rate, config.queue_bytes),
            check: ReceiveCheck::new(sim, name),
            port,
            received: RefCell::default(),
            waiting: RefCell::default(),
        });
        let weak = Rc::downgrade(&shared);
        shared.port.set_sink(weak);
        sim.keep(shared.clone());
        Ok(Self(shared))
    }

    /// Sends a frame, given from its destination address to its payload: preamble, padding and FCS
    /// are added. `None` when the queue is full.
    pub fn send(&self, frame: &[u8]) -> Option<FrameId> {
        self.send_wire(to_wire(frame))
    }

    /// Sends octets unchanged, from the first of the preamble to the last of the FCS.
    pub fn send_wire(&self, wire: Vec<u8>) -> Option<FrameId> {
        let id = self.0.sim.new_frame_id();
        self.0.transmitter.send(id, wire).then_some(id)
    }

    /// As [`send_wire`](Self::send_wire), with octet `error_at` and all later ones marked bad, like
    /// a repeater or a PHY that cannot decode its input.
    pub fn send_wire_marked(&self, wire: Vec<u8>, error_at: Option<usize>) -> Option<FrameId> {
        let id = self.0.sim.new_frame_id();
        self.0.transmitter.send_marked(id, wire, error_at).then_some(id)
    }

    /// Takes all frames that arrived whole.
    #[must_use]
    pub fn take(&self) -> Vec<ReceivedFrame> {
        self.0.received.borrow_mut().drain(..).collect()
    }

    /// Waits for a frame.
    pub async fn recv(&self) -> ReceivedFrame {
        poll_fn(|context| {
            if let Some(frame) = self.0.received.borrow_mut().pop_front() {
                return Poll::Ready(frame);
            }
            self.0.waiting.borrow_mut().push(context.waker().clone());
            Poll::Pending
        })
        .await
    }
}

impl EthernetPort for FrameEndpoint {
    fn port(&self) -> &Port {
        &self.0.port
    }
}

impl Sink for Shared {
    fn begin(&self, _frame: &Rc<InFlight>) {}

    fn end(&self, frame: &Rc<InFlight>) {
        let Some(bytes) = self.check.frame(frame) else { return };
        let received = ReceivedFrame { id: frame.id, time: self.sim.now(), bytes };
        self.received.borrow_mut().push_back(received);
        for waker in self.waiting.borrow_mut().drain(..) {
            waker.wake();
        }
    }
}
