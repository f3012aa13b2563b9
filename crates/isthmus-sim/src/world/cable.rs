// SPDX-License-Identifier: Apache-2.0
//! A full-duplex cable: propagation delay, and what can go wrong on a wire.

use std::rc::{Rc, Weak};

use serde::{Deserialize, Serialize};

use super::ethernet::{EthernetPort, InFlight, Port, PortInner, behind_preamble, from_wire, named};
use crate::kernel::{Counter, FaultPoint, FrameId, Picoseconds, Sim, SimError};
use crate::trace::{Capture, CaptureInterface};

/// A cable.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CableConfig {
    /// Its name in this world.
    pub name: String,
    /// Its length.
    pub length_m: f64,
    /// Its propagation delay.
    pub delay_ns_per_m: f64,
    /// How late a reordered frame comes, and the second copy of a duplicated one.
    #[serde(default)]
    pub fault_delay_ns: f64,
}

/// A cable between two ports.
///
/// Its fault points are `<name>.a_to_b.<what>` and `<name>.b_to_a.<what>`, with `bit_error` (an
/// opportunity a bit, preamble included), `drop`, `duplicate` and `reorder` (an opportunity a
/// frame).
#[derive(Clone, Copy, Debug)]
pub struct Cable;

impl Cable {
    /// Plugs a cable into two ports.
    ///
    /// # Errors
    /// When a port already has a cable, or the configuration makes no sense.
    pub fn connect(
        sim: &Sim,
        a: &impl EthernetPort,
        b: &impl EthernetPort,
        config: &CableConfig,
    ) -> Result<(), SimError> {
        let name = named(&config.name)?;
        let (a, b) = (a.port(), b.port());
        if Rc::ptr_eq(&a.0, &b.0) {
            return Err(super::config_error(name, "both ends are the same port".into()));
        }
        for port in [a, b] {
            if port.is_connected() {
                let reason = format!("port {} already has a cable", port.name());
                return Err(super::config_error(name, reason));
            }
        }
        let delay = super::time(
            name,
            "length_m * delay_ns_per_m",
            config.length_m * config.delay_ns_per_m,
        )?;
        let fault_delay = super::time(name, "fault_delay_ns", config.fault_delay_ns)?;
        let capture = match sim.capture() {
            Some(capture) => Some((capture.interface_named(name)?, capture)),
            None => None,
        };
        for (from, to, direction, inbound) in [(a, b, "a_to_b", false), (b, a, "b_to_a", true)] {
            let point = |what| sim.faults().point(&format!("{name}.{direction}.{what}"));
            let link = LinkDirection {
                sim: sim.clone(),
                name: name.into(),
                stage: "cable".into(),
                delay,
                fault_delay,
                peer: Rc::downgrade(&to.0),
                bit_error: point("bit_error"),
                drop: point("drop"),
                duplicate: point("duplicate"),
                reorder: point("reorder"),
                dropped: sim.counters().counter(format!("{name}.{direction}.frames_dropped")),
                capture: capture.clone(),
                inbound,
            };
            *from.0.link.borrow_mut() = Some(Rc::new(link));
        }
        Ok(())
    }
}

/// One direction of a cable.
pub(super) struct LinkDirection {
    sim: Sim,
    name: Rc<str>,
    stage: Rc<str>,
    delay: Picoseconds,
    fault_delay: Picoseconds,
    peer: Weak<PortInner>,
    bit_error: FaultPoint,
    drop: FaultPoint,
    duplicate: FaultPoint,
    reorder: FaultPoint,
    dropped: Counter,
    capture: Option<(CaptureInterface, Rc<Capture>)>,
    inbound: bool,
}

impl LinkDirection {
    fn deliver(&self, frame: &Rc<InFlight>, at: Picoseconds, last_bit: bool) {
        let Some(peer) = self.peer.upgrade().map(Port) else { return };
        let frame = Rc::clone(frame);
        self.sim.at(at, move || {
            let Some(sink) = peer.sink() else { return };
            if last_bit { sink.end(&frame) } else { sink.begin(&frame) }
        });
    }
}

/// A frame that is being sent into a cable.
pub struct Outgoing {
    link: Option<Rc<LinkDirection>>,
    frame: Rc<InFlight>,
    start: Picoseconds,
    delay: Picoseconds,
    lost: bool,
    bits_flipped: u32,
}

impl Outgoing {
    pub(super) fn open(link: Option<Rc<LinkDirection>>, id: FrameId, at: Picoseconds) -> Self {
        let mut outgoing = Self {
            link,
            frame: InFlight::new(id),
            start: at,
            delay: Picoseconds::ZERO,
            lost: false,
            bits_flipped: 0,
        };
        if let Some(link) = &outgoing.link {
            let now = link.sim.now();
            outgoing.lost = link.drop.fires(now);
            outgoing.delay = link.delay;
            if link.reorder.fires(now) {
                outgoing.delay += link.fault_delay;
            }
            if !outgoing.lost {
                link.deliver(&outgoing.frame, at + outgoing.delay, false);
            }
        }
        outgoing
    }

    /// The frame's number.
    #[must_use]
    pub fn id(&self) -> FrameId {
        self.frame.id
    }

    /// When its first bit goes into the cable.
    #[must_use]
    pub fn start(&self) -> Picoseconds {
        self.start
    }

    /// Sends an octet.
    pub fn push(&mut self, mut byte: u8) {
        if let Some(link) = &self.link {
            let now = link.sim.now();
            for bit in 0..8 {
                if link.bit_error.fires(now) {
                    byte ^= 1 << bit;
                    self.bits_flipped += 1;
                }
            }
        }
        self.frame.push(byte);
    }

    /// Marks the next octet, and with it the frame, as bad.
    pub fn set_error(&mut self) {
        self.frame.set_error();
    }

    /// The last bit leaves at `at`, now or later.
    pub fn close(self, at: Picoseconds) {
        self.frame.finish();
        let Some(link) = &self.link else { return };
        self.capture(link);
        if self.lost {
            link.dropped.increment();
            return;
        }
        let arrival = at + self.delay;
        link.sim.spans().record(&link.name, &link.stage, at, arrival, self.frame.id.0);
        link.deliver(&self.frame, arrival, true);
        if link.duplicate.fires(link.sim.now()) {
            let length = at.saturating_sub(self.start);
            let again = arrival + link.fault_delay;
            link.deliver(&self.frame, again, false);
            link.deliver(&self.frame, again + length, true);
        }
    }

    fn capture(&self, link: &LinkDirection) {
        let Some((interface, capture)) = &link.capture else { return };
        let wire = self.frame.bytes();
        let comment = if self.lost {
            Some("dropped: cable fault".to_owned())
        } else if self.bits_flipped > 0 {
            Some(format!("cable fault: {} bits flipped", self.bits_flipped))
        } else if from_wire(&wire).is_err() {
            Some("FCS wrong".to_owned())
        } else {
            None
        };
        let frame = behind_preamble(&wire).unwrap_or(&wire);
        let written =
            capture.frame(*interface, self.start, frame, link.inbound, comment.as_deref());
        if let Err(error) = written {
            link.sim.fail(error);
        }
    }
}
