// SPDX-License-Identifier: Apache-2.0
//! Both ends of a link and what lies between them: the events that move TLPs.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use super::config::{PcieConfig, StrayWrite};
use super::endpoint::EndpointState;
use super::lane::{Body, Class, Cost, Lane, Next, Tlp};
use super::peer::Passed;
use super::wire::{Direction, TlpRecord, pieces};
use crate::kernel::{Counter, FaultPoint, FrameId, OneshotSender, Picoseconds, Sim, SimError};
use crate::world::host::{Memory, OnInterrupt};

/// How a load from the device ended, at the root port.
pub(super) type LoadResult = Option<Vec<u8>>;

pub(super) struct Root {
    pub(super) memory: Memory,
    memory_read: Picoseconds,
    memory_write: Picoseconds,
    /// Time at which all posted writes received so far are visible.
    visible: Cell<Picoseconds>,
    loads: RefCell<BTreeMap<u64, OneshotSender<LoadResult>>>,
    /// Links behind the same root complex, to whose BARs it passes requests.
    pub(super) peers: RefCell<Vec<Rc<Shared>>>,
    /// Reads that came from other links, by the request on this one.
    pub(super) passed: RefCell<BTreeMap<u64, Passed>>,
    pub(super) on_interrupt: RefCell<Option<OnInterrupt>>,
    lost: FaultPoint,
    poisoned: FaultPoint,
    unsupported: Counter,
    stage_read: Rc<str>,
    stage_write: Rc<str>,
}

pub(super) struct Shared {
    pub(super) sim: Sim,
    pub(super) config: PcieConfig,
    pub(super) lanes: [Lane; 2],
    credit_update: [Picoseconds; 2],
    pub(super) root: Root,
    pub(super) endpoint: EndpointState,
    received: [Cell<u64>; 2],
    released: [Cell<u64>; 2],
}

/// Cuts what users attached, which may hold the link, when the simulation is torn down.
struct Connections(Rc<Shared>);

impl Drop for Connections {
    fn drop(&mut self) {
        self.0.endpoint.disconnect();
        drop(self.0.root.on_interrupt.take());
        self.0.root.peers.borrow_mut().clear();
        self.0.root.passed.borrow_mut().clear();
    }
}

/// A link with a root port at one end and an endpoint's hard block at the other.
///
/// Its counters are `<name>.<up|down>.<tlps|wire_bytes|payload_bytes|dllp_bytes|replays>`,
/// `<name>.root.unsupported_requests` and
/// `<name>.endpoint.<completion_timeouts|poisoned_completions|unsupported_completions|
/// unexpected_completions|interrupts>`. Its fault points are `<name>.<up|down>.lcrc_error` (an
/// opportunity a transmission) and `<name>.root.<completion_lost|completion_poisoned>` (an
/// opportunity a completion with data).
#[derive(Clone)]
pub struct Pcie(pub(super) Rc<Shared>);

impl Pcie {
    /// A link, trained, with bus mastering and BAR 0 enabled; its host memory is `memory`.
    ///
    /// # Errors
    /// When the configuration makes no sense.
    pub fn new(sim: &Sim, config: &PcieConfig, memory: &Memory) -> Result<Self, SimError> {
        let (root_times, endpoint_times) = config.check()?;
        let name = &config.name;
        let ns = |field, value| crate::world::time(name, field, value);
        let way =
            (ns("propagation_ns", config.propagation_ns)?, ns("replay_ns", config.replay_ns)?);
        let lane = |direction, from, to| Lane::new(sim, config, direction, from, to, way);
        let fault = |what: &str| sim.faults().point(&format!("{name}.root.{what}"));
        let root = Root {
            memory: memory.clone(),
            memory_read: ns("root.memory_read_ns", config.root.memory_read_ns)?,
            memory_write: ns("root.memory_write_ns", config.root.memory_write_ns)?,
            visible: Cell::default(),
            loads: RefCell::default(),
            peers: RefCell::default(),
            passed: RefCell::default(),
            on_interrupt: RefCell::default(),
            lost: fault("completion_lost"),
            poisoned: fault("completion_poisoned"),
            unsupported: sim.counters().counter(format!("{name}.root.unsupported_requests")),
            stage_read: "memory read".into(),
            stage_write: "memory write".into(),
        };
        let shared = Rc::new(Shared {
            sim: sim.clone(),
            lanes: [
                lane(Direction::Down, root_times, endpoint_times),
                lane(Direction::Up, endpoint_times, root_times),
            ],
            credit_update: [endpoint_times.credit_update, root_times.credit_update],
            root,
            endpoint: EndpointState::new(sim, config)?,
            received: Default::default(),
            released: Default::default(),
            config: config.clone(),
        });
        sim.keep(Rc::new(Connections(Rc::clone(&shared))));
        Ok(Self(shared))
    }

    /// Switches recording of TLPs on or off; the default is on.
    pub fn remember(&self, on: bool) {
        self.0.lanes.iter().for_each(|lane| lane.remember(on));
    }

    /// Time for which TLPs and DLLPs have occupied one direction of the wire so far, including the
    /// reserved symbols of the link's rate.
    #[must_use]
    pub fn busy(&self, direction: Direction) -> Picoseconds {
        self.0.lane(direction).busy()
    }

    /// The TLPs of one direction so far, in the order of the wire, from number `first` on.
    #[must_use]
    pub fn records_since(&self, direction: Direction, first: usize) -> Vec<TlpRecord> {
        self.0.lanes[direction.index()].records_since(first)
    }
}

impl Shared {
    pub(super) fn lane(&self, direction: Direction) -> &Lane {
        &self.lanes[direction.index()]
    }

    /// Hands a TLP to a port.
    pub(super) fn send(self: &Rc<Self>, direction: Direction, tlp: Tlp) {
        let ready = self.lane(direction).hand(tlp);
        let this = Rc::clone(self);
        self.sim.at(ready, move || this.pump(direction));
    }

    /// Sends what can be sent now.
    fn pump(self: &Rc<Self>, direction: Direction) {
        let lane = self.lane(direction);
        loop {
            match lane.step() {
                Next::Nothing => return,
                Next::Wait(until) => {
                    if !lane.awaiting_wire.replace(true) {
                        let this = Rc::clone(self);
                        self.sim.at(until, move || {
                            this.lane(direction).awaiting_wire.set(false);
                            this.pump(direction);
                        });
                    }
                    return;
                }
                Next::Deliver(tlp, at) => {
                    let this = Rc::clone(self);
                    self.sim.at(at, move || this.deliver(direction, tlp));
                }
            }
        }
    }

    fn deliver(self: &Rc<Self>, direction: Direction, tlp: Tlp) {
        self.dllp(direction, &self.received, self.config.ack_every_tlps);
        match direction {
            Direction::Up => self.at_root(tlp),
            Direction::Down => self.at_endpoint(tlp),
        }
    }

    /// The receiver has taken a TLP out of its buffer: the credits go back.
    pub(super) fn release(self: &Rc<Self>, direction: Direction, cost: Cost) {
        self.dllp(direction, &self.released, self.config.update_every_tlps);
        let this = Rc::clone(self);
        self.sim.after(self.credit_update[direction.index()], move || {
            this.lane(direction).give(cost);
            this.pump(direction);
        });
    }

    /// Counts an event that every so often sends a DLLP the other way.
    fn dllp(&self, direction: Direction, counts: &[Cell<u64>; 2], every: u32) {
        if every == 0 {
            return;
        }
        let count = &counts[direction.index()];
        count.set(count.get() + 1);
        if count.get().is_multiple_of(every.into()) {
            self.lane(direction.opposite()).put_dllp();
        }
    }

    fn at_root(self: &Rc<Self>, tlp: Tlp) {
        let now = self.sim.now();
        let root = &self.root;
        let cost = tlp.cost();
        // Nothing overtakes a posted write, not even on the path to memory.
        let after = match tlp.body {
            // The other link and its device have the cost.
            Body::Write(_) | Body::Read { .. } if self.peer(&tlp).is_some() => Picoseconds::ZERO,
            Body::Write(_) | Body::Interrupt(_) => root.memory_write,
            Body::Read { .. } => root.memory_read,
            Body::Completion { .. } => Picoseconds::ZERO,
        };
        let at = (now + after).max(root.visible.get());
        if cost.class == Class::Posted {
            root.visible.set(at);
        }
        self.release(Direction::Up, cost);
        let this = Rc::clone(self);
        self.sim.at(at, move || this.in_root(tlp, now));
    }

    fn in_root(self: &Rc<Self>, tlp: Tlp, arrived: Picoseconds) {
        let (root, now) = (&self.root, self.sim.now());
        let track = self.lane(Direction::Up).names().1;
        let span = |stage| self.sim.spans().record(track, stage, arrived, now, tlp.id.0);
        if let Some(peer) = self.peer(&tlp) {
            return self.pass(&peer, tlp);
        }
        match tlp.body {
            Body::Write(data) => {
                span(&root.stage_write);
                let place = self.place(tlp.address, data.len());
                if place.is_none_or(|at| root.memory.write(at, &data).is_err()) {
                    root.unsupported.increment();
                    if self.config.root.stray_writes == StrayWrite::Fail {
                        self.sim.fail(self.stray(tlp.address, data.len()));
                    }
                }
            }
            Body::Interrupt(vector) => {
                span(&root.stage_write);
                if let Some(call) = &*root.on_interrupt.borrow() {
                    call(vector, tlp.id);
                }
            }
            Body::Read { bytes, tag } => {
                span(&root.stage_read);
                self.complete(tlp.id, tlp.address, bytes, tag);
            }
            Body::Completion { request, offset, data, poisoned, .. } => {
                let Some(data) = self.pass_back(request, offset, data, poisoned) else { return };
                // The program's wait may have timed out.
                if let Some(load) = root.loads.borrow_mut().remove(&request.0) {
                    let _ = load.send(data);
                }
            }
        }
    }

    /// Position of a bus address in the host memory.
    pub(super) fn place(&self, address: u64, bytes: usize) -> Option<usize> {
        let at = usize::try_from(address.checked_sub(self.config.root.memory_base)?).ok()?;
        (at.checked_add(bytes)? <= self.root.memory.size()).then_some(at)
    }

    fn stray(&self, address: u64, bytes: usize) -> SimError {
        let base = self.config.root.memory_base;
        SimError::Pin {
            device: self.config.name.clone(),
            signal: "a posted write".into(),
            at: self.sim.now(),
            reason: format!(
                "{bytes} bytes to {address:#x}: outside the host memory {base:#x} to {:#x}",
                base + self.root.memory.size() as u64
            ),
        }
    }

    /// Answers a read request of the device.
    fn complete(self: &Rc<Self>, request: FrameId, address: u64, bytes: usize, tag: u32) {
        let root = &self.root;
        let send = |offset: usize, data: Option<Vec<u8>>, poisoned: bool| {
            let body = Body::Completion { request, tag, offset, data, poisoned };
            let address = address + offset as u64;
            self.send(Direction::Down, Tlp { id: self.sim.new_frame_id(), address, body });
        };
        let data = self.place(address, bytes).and_then(|at| root.memory.read(at, bytes).ok());
        let Some(data) = data else {
            root.unsupported.increment();
            send(0, None, false);
            return;
        };
        let boundary = self.config.read_completion_bytes;
        for (offset, length) in pieces(address, bytes, boundary as usize, boundary.into()) {
            let now = self.sim.now();
            let poisoned = root.poisoned.fires(now);
            if root.lost.fires(now) {
                self.expire(tag, request);
            } else {
                send(offset, Some(data[offset..offset + length].to_vec()), poisoned);
            }
        }
    }

    /// Sends a load's request; the answer goes to `answer`.
    pub(super) fn load(
        self: &Rc<Self>,
        offset: u64,
        bytes: usize,
        answer: OneshotSender<LoadResult>,
    ) -> FrameId {
        let id = self.sim.new_frame_id();
        self.root.loads.borrow_mut().insert(id.0, answer);
        let body = Body::Read { bytes, tag: 0 };
        self.send(
            Direction::Down,
            Tlp { id, address: self.config.endpoint.bar_base + offset, body },
        );
        id
    }

    /// This load is no longer pending: its answer is dropped.
    pub(super) fn forget_load(&self, id: FrameId) {
        self.root.loads.borrow_mut().remove(&id.0);
    }
}
