// SPDX-License-Identifier: Apache-2.0
//! The bus itself: requests, grants, and how long each transaction takes.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use super::bridge::{Bridge, Split};
use super::config::{PcixConfig, Times};
use super::core::{Core, ReadSequence, WriteSequence};
use super::record::{PcixAgent, PcixKind, PcixOutcome, PcixRecord, phases};
use crate::kernel::{Counter, FaultPoint, FrameId, Picoseconds, Sim, SimError};
use crate::world::host::Memory;

/// Purpose of an agent's request for the bus.
pub(super) enum Body {
    Store { offset: u64, data: Vec<u8> },
    Load { offset: u64, bytes: usize },
    Answer { offset: u64, bytes: usize, data: Option<Vec<u8>> },
    Write(Rc<WriteSequence>),
    Read(Rc<ReadSequence>),
    Completion(Rc<Split>),
    Interrupt(u32),
}

/// Classes within which order is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Posted,
    Request,
    Completion,
}

const CLASSES: [Class; 3] = [Class::Posted, Class::Request, Class::Completion];

/// A piece of work that waits for the bus, maybe for several transactions.
pub(super) struct Item {
    pub(super) id: FrameId,
    pub(super) body: Body,
    /// Rises in the order in which an agent's work came.
    order: u64,
    /// When REQ# may go up for it.
    ready: Picoseconds,
    /// End of its spans so far.
    since: Cell<Picoseconds>,
    /// It was retried: others that may pass it go first.
    refused: Cell<bool>,
}

impl Item {
    pub(super) fn kind(&self) -> PcixKind {
        match self.body {
            Body::Store { .. } => PcixKind::Store,
            Body::Load { .. } => PcixKind::Load,
            Body::Answer { .. } => PcixKind::Answer,
            Body::Write(_) => PcixKind::Write,
            Body::Read(_) => PcixKind::Read,
            Body::Completion(_) => PcixKind::Completion,
            Body::Interrupt(_) => PcixKind::Interrupt,
        }
    }

    /// End of its spans so far.
    pub(super) fn since(&self) -> Picoseconds {
        self.since.get()
    }

    fn class(&self) -> Class {
        match self.body {
            Body::Store { .. } | Body::Write(_) | Body::Interrupt(_) => Class::Posted,
            Body::Load { .. } | Body::Read(_) => Class::Request,
            Body::Answer { .. } | Body::Completion(_) => Class::Completion,
        }
    }
}

#[derive(Default)]
struct AgentState {
    queues: [VecDeque<Rc<Item>>; 3],
    order: u64,
    /// Time since which it has a transaction that may start, with its REQ#.
    requested: Option<Picoseconds>,
    /// Its REQ# was up before, with nothing to send; since when.
    announced: Option<Picoseconds>,
    /// Time from which the arbitration of its transaction counts.
    counted: Picoseconds,
    /// It owns the bus.
    on_bus: bool,
    /// Until when it holds REQ# back.
    quiet_until: Picoseconds,
}

struct AgentCounters {
    transactions: Counter,
    payload_bytes: Counter,
    data_cycles: Counter,
    wait_cycles: Counter,
    protocol_cycles: Counter,
    retries: Counter,
    disconnects: Counter,
}

struct Names {
    agents: [Rc<str>; 2],
    bus: Rc<str>,
    queue: Rc<str>,
    arbitrate: Rc<str>,
    address: Rc<str>,
    wait: Rc<str>,
    data: Rc<str>,
    turn: Rc<str>,
}

/// A transaction that has the bus.
pub(super) struct Running {
    pub(super) item: Rc<Item>,
    pub(super) record: PcixRecord,
    /// Its data has wrong parity.
    pub(super) bad: bool,
    /// Data of a load that is answered at once.
    pub(super) answer: Option<Vec<u8>>,
}

pub(super) struct Shared {
    pub(super) sim: Sim,
    pub(super) config: PcixConfig,
    pub(super) times: Times,
    pub(super) bridge: Bridge,
    pub(super) core: Core,
    agents: RefCell<[AgentState; 2]>,
    /// From when on the bus may be taken; `None` while a transaction has it.
    free: Cell<Option<Picoseconds>>,
    last: Cell<PcixAgent>,
    kick_at: Cell<Option<Picoseconds>>,
    records: RefCell<Vec<PcixRecord>>,
    remembers: Cell<bool>,
    counters: [AgentCounters; 2],
    names: Names,
    parity_error: FaultPoint,
    master_abort: FaultPoint,
    target_abort: FaultPoint,
    parity_errors: Counter,
    master_aborts: Counter,
    target_aborts: Counter,
}

/// Cuts what users attached, which may hold the bus, when the simulation is torn down.
struct Connections(Rc<Shared>);

impl Drop for Connections {
    fn drop(&mut self) {
        self.0.core.disconnect();
        self.0.bridge.disconnect();
        let queued = std::mem::take(&mut *self.0.agents.borrow_mut());
        drop(queued);
    }
}

/// A PCI-X bus with a host's bridge and a device's core on it.
///
/// Its counters are `<name>.<bridge|device>.<transactions|payload_bytes|data_cycles|wait_cycles|
/// protocol_cycles|retries|disconnects>` of the transactions that each starts,
/// `<name>.<parity_errors|master_aborts|target_aborts>`, `<name>.bridge.stray_writes`,
/// `<name>.device.<interrupts|broken_sequences|bar_write_errors>`. Its fault points are `<name>.parity_error` (an
/// opportunity a transaction with data), `<name>.master_abort` (one that a target would answer) and
/// `<name>.target_abort` (one that a target has room for).
#[derive(Clone)]
pub struct Pcix(pub(super) Rc<Shared>);

impl Pcix {
    /// A bus, configured, with bus mastering and BAR 0 enabled; its host memory is `memory`.
    ///
    /// # Errors
    /// When the configuration makes no sense.
    pub fn new(sim: &Sim, config: &PcixConfig, memory: &Memory) -> Result<Self, SimError> {
        let times = config.check()?;
        let name = &config.name;
        let counters = PcixAgent::BOTH.map(|agent| {
            let counter =
                |what: &str| sim.counters().counter(format!("{name}.{}.{what}", agent.name()));
            AgentCounters {
                transactions: counter("transactions"),
                payload_bytes: counter("payload_bytes"),
                data_cycles: counter("data_cycles"),
                wait_cycles: counter("wait_cycles"),
                protocol_cycles: counter("protocol_cycles"),
                retries: counter("retries"),
                disconnects: counter("disconnects"),
            }
        });
        let fault = |what: &str| sim.faults().point(&format!("{name}.{what}"));
        let counter = |what: &str| sim.counters().counter(format!("{name}.{what}"));
        let shared = Rc::new(Shared {
            sim: sim.clone(),
            times,
            bridge: Bridge::new(sim, config, memory),
            core: Core::new(sim, config),
            agents: RefCell::default(),
            free: Cell::new(Some(Picoseconds::ZERO)),
            last: Cell::new(PcixAgent::Device),
            kick_at: Cell::default(),
            records: RefCell::default(),
            remembers: Cell::new(true),
            counters,
            names: Names {
                agents: PcixAgent::BOTH.map(|agent| format!("{name}.{}", agent.name()).into()),
                bus: format!("{name}.bus").into(),
                queue: "queue".into(),
                arbitrate: "arbitrate".into(),
                address: "address, attribute, response".into(),
                wait: "wait for the target".into(),
                data: "data".into(),
                turn: "turn round".into(),
            },
            parity_error: fault("parity_error"),
            master_abort: fault("master_abort"),
            target_abort: fault("target_abort"),
            parity_errors: counter("parity_errors"),
            master_aborts: counter("master_aborts"),
            target_aborts: counter("target_aborts"),
            config: config.clone(),
        });
        sim.keep(Rc::new(Connections(Rc::clone(&shared))));
        Ok(Self(shared))
    }

    /// Switches recording of transactions on or off; the default is on.
    pub fn remember(&self, on: bool) {
        self.0.remembers.set(on);
    }

    /// The transactions that are remembered, in the order of the bus, from number `first` on.
    #[must_use]
    pub fn records_since(&self, first: usize) -> Vec<PcixRecord> {
        self.0.records.borrow().get(first..).map_or_else(Vec::new, <[_]>::to_vec)
    }

    /// Time for which transactions have occupied the bus so far, from the address phase to the
    /// turn-around.
    #[must_use]
    pub fn busy(&self) -> Picoseconds {
        let cycles = self.0.counters.iter().map(|counters| {
            counters.data_cycles.get() + counters.wait_cycles.get() + counters.protocol_cycles.get()
        });
        self.0.times.cycle * cycles.sum::<u64>()
    }

    /// The time of one clock.
    #[must_use]
    pub fn cycle(&self) -> Picoseconds {
        self.0.times.cycle
    }
}

impl Shared {
    pub(super) fn cycles(&self, count: u32) -> Picoseconds {
        self.times.cycle * u64::from(count)
    }

    /// The bus clock's first edge that is not before `time`.
    pub(super) fn edge(&self, time: Picoseconds) -> Picoseconds {
        Picoseconds(time.0.next_multiple_of(self.times.cycle.0))
    }

    /// The track of an agent's spans.
    pub(super) fn track(&self, agent: PcixAgent) -> &Rc<str> {
        &self.names.agents[agent.index()]
    }

    /// Takes work of an agent; REQ# may go up for it `delay` clocks later.
    pub(super) fn hand(
        self: &Rc<Self>,
        agent: PcixAgent,
        id: FrameId,
        body: Body,
        delay: u32,
    ) -> Rc<Item> {
        let now = self.sim.now();
        let ready = self.edge(now) + self.cycles(delay);
        let mut agents = self.agents.borrow_mut();
        let state = &mut agents[agent.index()];
        let item = Rc::new(Item {
            id,
            body,
            order: state.order,
            ready,
            since: Cell::new(now),
            refused: Cell::default(),
        });
        state.order += 1;
        state.queues[item.class() as usize].push_back(Rc::clone(&item));
        drop(agents);
        self.kick_later(ready);
        item
    }

    /// Takes work back that is not on the bus.
    pub(super) fn withdraw(&self, agent: PcixAgent, item: &Rc<Item>) {
        let queue = &mut self.agents.borrow_mut()[agent.index()].queues[item.class() as usize];
        queue.retain(|known| !Rc::ptr_eq(known, item));
    }

    /// Posted writes of an agent that wait for the bus.
    pub(super) fn posted(&self, agent: PcixAgent) -> usize {
        self.agents.borrow()[agent.index()].queues[Class::Posted as usize].len()
    }

    /// Requests of an agent that wait for the bus.
    pub(super) fn requests(&self, agent: PcixAgent) -> usize {
        self.agents.borrow()[agent.index()].queues[Class::Request as usize].len()
    }

    /// Arbitrates again at `time`.
    pub(super) fn kick_later(self: &Rc<Self>, time: Picoseconds) {
        if self.kick_at.replace(Some(time)) == Some(time) {
            return;
        }
        let this = Rc::clone(self);
        self.sim.at(time, move || {
            if this.kick_at.get() == Some(time) {
                this.kick_at.set(None);
            }
            this.kick();
        });
    }

    /// The next transaction of an agent: its oldest work that may start.
    ///
    /// Within a class order is kept. Requests and completions never pass an earlier posted write. A
    /// retried transaction lets others pass, as far as this rule allows.
    fn choose(&self, state: &AgentState, now: Picoseconds) -> Option<Rc<Item>> {
        let oldest_posted = state.queues[Class::Posted as usize].front().map(|item| item.order);
        let mut chosen: Option<&Rc<Item>> = None;
        for class in CLASSES {
            let Some(head) = state.queues[class as usize].front() else { continue };
            if head.ready > now
                || (class != Class::Posted && oldest_posted.is_some_and(|o| o < head.order))
            {
                continue;
            }
            let may_go = match &head.body {
                Body::Write(sequence) => sequence.next_block_is_here(),
                Body::Read(_) => self.core.may_read(),
                _ => true,
            };
            let key = |item: &Rc<Item>| (item.refused.get(), item.order);
            if may_go && chosen.is_none_or(|before| key(head) < key(before)) {
                chosen = Some(head);
            }
        }
        chosen.cloned()
    }

    /// Raises and lowers REQ#, and gives the bus to the agent whose turn it is.
    ///
    /// An agent that asserted REQ# before it had a transaction has completed its arbitration,
    /// unless the other agent requested first: then GNT# went there. It uses only clocks in which
    /// the other agent could not have started.
    pub(super) fn kick(self: &Rc<Self>) {
        let now = self.sim.now();
        let free = self.free.get();
        let arbitration = self.cycles(self.config.arbitration_cycles);
        let mut agents = self.agents.borrow_mut();
        let mut first: Option<Picoseconds> = None;
        let mut candidates: [Option<Rc<Item>>; 2] = [None, None];
        for agent in PcixAgent::BOTH {
            let at = agent.index();
            let other = agents[1 - at].requested;
            let state = &mut agents[at];
            if state.on_bus {
                continue;
            }
            let asked = self.edge(now).max(state.quiet_until);
            let Some(item) = self.choose(state, now) else {
                state.requested = None;
                let announced = agent == PcixAgent::Device && self.core.announces();
                state.announced = announced.then(|| state.announced.unwrap_or(asked));
                continue;
            };
            if state.requested.is_none() {
                state.requested = Some(asked);
                let announced = state.announced.take();
                let kept = announced.filter(|_| other.is_none_or(|other| other >= asked));
                state.counted = kept.unwrap_or(asked);
            }
            let requested = state.requested.unwrap_or(asked);
            let Some(free) = free else { continue };
            let start = (state.counted + arbitration).max(requested).max(free);
            first = Some(first.map_or(start, |before| before.min(start)));
            if start <= now {
                candidates[at] = Some(item);
            }
        }
        let winner = match &candidates {
            [Some(_), Some(_)] if self.last.get() == PcixAgent::Bridge => PcixAgent::Device,
            [Some(_), _] => PcixAgent::Bridge,
            [None, Some(_)] => PcixAgent::Device,
            [None, None] => {
                drop(agents);
                if let Some(start) = first {
                    self.kick_later(start);
                }
                return;
            }
        };
        let state = &mut agents[winner.index()];
        let requested = state.requested.take().unwrap_or(now);
        state.on_bus = true;
        drop(agents);
        self.last.set(winner);
        self.free.set(None);
        if let Some(item) = candidates[winner.index()].take() {
            self.begin(winner, item, requested);
        }
    }

    /// The phases before the first data phase.
    fn head(&self) -> Picoseconds {
        let PcixConfig { address_cycles, attribute_cycles, response_cycles, .. } = self.config;
        self.cycles(address_cycles + attribute_cycles + response_cycles)
    }

    fn begin(self: &Rc<Self>, initiator: PcixAgent, item: Rc<Item>, requested: Picoseconds) {
        let now = self.sim.now();
        let data = now + self.head();
        let kind = item.kind();
        let record = PcixRecord {
            id: item.id,
            initiator,
            kind,
            outcome: PcixOutcome::Whole,
            address: self.address(&item.body),
            bytes: 0,
            requested,
            start: now,
            data,
            data_end: data,
            end: data,
            data_phases: 0,
            wait_cycles: 0,
        };
        let running = Running { item, record, bad: false, answer: None };
        if !self.claims(&running.item.body) || self.master_abort.fires(now) {
            self.abort(running, PcixOutcome::MasterAbort);
        } else if !self.has_room(&running.item.body) {
            self.finish(running, 1, PcixOutcome::Retry);
        } else if matches!(
            kind,
            PcixKind::Store | PcixKind::Load | PcixKind::Write | PcixKind::Read
        ) && self.target_abort.fires(now)
        {
            self.abort(running, PcixOutcome::TargetAbort);
        } else {
            self.transfer(running);
        }
    }

    fn address(&self, body: &Body) -> u64 {
        match body {
            Body::Store { offset, .. }
            | Body::Load { offset, .. }
            | Body::Answer { offset, .. } => self.config.core.bar_base + offset,
            Body::Write(sequence) => sequence.next_address(),
            Body::Read(sequence) => sequence.address,
            Body::Completion(split) => split.next_address(),
            // The address of x86 interrupt messages.
            Body::Interrupt(_) => 0xFEE0_0000,
        }
    }

    /// True if a target answers at the address.
    fn claims(&self, body: &Body) -> bool {
        match body {
            Body::Write(sequence) => self.place(sequence.address, sequence.total()).is_some(),
            Body::Read(sequence) => self.place(sequence.address, sequence.total).is_some(),
            _ => true,
        }
    }

    fn has_room(&self, body: &Body) -> bool {
        match body {
            Body::Store { data, .. } => self.core.stores_fit(data.len()),
            Body::Write(sequence) => self.bridge.room() >= sequence.next_block(),
            Body::Read(_) => self.bridge.may_split(),
            _ => true,
        }
    }

    /// True if a transaction's data is bad.
    pub(super) fn has_bad_parity(&self) -> bool {
        let bad = self.parity_error.fires(self.sim.now());
        if bad {
            self.parity_errors.increment();
        }
        bad
    }

    fn transfer(self: &Rc<Self>, mut running: Running) {
        let width = self.config.data_bytes;
        let address = running.record.address;
        running.bad = match running.item.kind() {
            PcixKind::Read | PcixKind::Load => false,
            _ => self.has_bad_parity(),
        };
        let item = Rc::clone(&running.item);
        match &item.body {
            Body::Store { data, .. } => {
                running.record.bytes = data.len() as u64;
                let count = phases(address, data.len(), self.config.bridge.store_bytes);
                self.finish(running, count, PcixOutcome::Whole);
            }
            Body::Answer { bytes, .. } => {
                running.record.bytes = *bytes as u64;
                self.finish(running, phases(address, *bytes, width), PcixOutcome::Whole);
            }
            Body::Interrupt(_) => {
                running.record.bytes = 4;
                self.finish(running, 1, PcixOutcome::Whole);
            }
            Body::Read(_) => self.finish(running, 1, PcixOutcome::Split),
            Body::Load { offset, bytes } => self.load_phase(running, *offset, *bytes),
            Body::Completion(split) => {
                let bytes = split.next_piece(&self.config);
                running.record.bytes = bytes as u64;
                let whole = split.sent.get() + bytes == split.bytes;
                let outcome = if whole { PcixOutcome::Whole } else { PcixOutcome::Cut };
                let count = phases(address, bytes, width);
                self.complete(split, bytes, &running);
                self.finish(running, count, outcome);
            }
            Body::Write(sequence) => {
                let most = self.bridge.room().min(self.config.bridge.accept_bytes as usize);
                let limit = sequence.cut(most);
                self.write_block(running, limit);
            }
        }
    }

    /// No target answers, or the target aborts.
    fn abort(self: &Rc<Self>, mut running: Running, outcome: PcixOutcome) {
        let record = &mut running.record;
        if outcome == PcixOutcome::MasterAbort {
            self.master_aborts.increment();
            let waited = self.cycles(self.config.address_cycles)
                + self.cycles(self.config.master_abort_cycles);
            record.data = record.start + waited;
        } else {
            self.target_aborts.increment();
        }
        self.finish(running, 0, outcome);
    }

    /// Ends a transaction `count` data phases after its first began.
    pub(super) fn finish(self: &Rc<Self>, mut running: Running, count: u64, outcome: PcixOutcome) {
        let record = &mut running.record;
        record.outcome = outcome;
        record.data_phases = count;
        record.data_end = record.data + self.times.cycle * count;
        let single = if count == 1 { self.config.single_cycles } else { 0 };
        record.end = record.data_end + self.cycles(single + self.config.turnaround_cycles);
        let (data_end, end) = (record.data_end, record.end);
        let record = *record;
        let this = Rc::clone(self);
        self.sim.at(data_end, move || this.arrived(&running));
        let this = Rc::clone(self);
        self.sim.at(end, move || this.ended(&record));
    }

    /// The last data phase has ended: the transaction's data is valid.
    fn arrived(self: &Rc<Self>, running: &Running) {
        let Running { item, record, bad, answer } = running;
        let agent = record.initiator;
        let outcome = record.outcome;
        let over = !matches!(outcome, PcixOutcome::Cut | PcixOutcome::Retry);
        item.refused.set(outcome == PcixOutcome::Retry);
        self.note(item, record, over && outcome != PcixOutcome::Split);
        if over {
            self.withdraw(agent, item);
        }
        let moved = matches!(outcome, PcixOutcome::Whole | PcixOutcome::Cut);
        match &item.body {
            Body::Store { offset, data } => {
                if over {
                    self.bridge.unblock();
                }
                if moved && !bad {
                    self.deliver_store(item.id, *offset, data.clone());
                }
            }
            Body::Load { offset, bytes } => match outcome {
                PcixOutcome::Split => {
                    if self.config.core.immediate_cycles == 0 {
                        let at = record.end + self.cycles(self.config.core.receive_cycles);
                        self.deliver_load(item, at, *offset, *bytes);
                    }
                }
                _ => self.bridge.loaded(item.id, answer.clone().filter(|_| moved && !bad)),
            },
            Body::Answer { data, .. } => {
                let data = data.clone().filter(|_| moved && !bad);
                self.bridge.loaded(item.id, data);
            }
            Body::Write(sequence) => {
                if moved {
                    let bytes = record.bytes as usize;
                    self.take_write(item, sequence, bytes, *bad);
                } else if over {
                    self.refuse_write(sequence, outcome);
                }
            }
            Body::Read(sequence) => match outcome {
                PcixOutcome::Split => self.split(item, sequence, record.end),
                PcixOutcome::Retry => {}
                _ => self.fail_read(sequence, outcome),
            },
            Body::Completion(split) => {
                split.sent.set(split.sent.get() + record.bytes as usize);
                if over {
                    self.bridge.done();
                }
            }
            Body::Interrupt(vector) => {
                if moved && !bad {
                    self.message(item.id, *vector);
                }
            }
        }
    }

    /// The bus is free again.
    fn ended(self: &Rc<Self>, record: &PcixRecord) {
        let cut = matches!(record.outcome, PcixOutcome::Cut | PcixOutcome::Retry);
        let hold = if cut { self.config.release_cycles } else { 0 };
        let state = &mut self.agents.borrow_mut()[record.initiator.index()];
        state.on_bus = false;
        state.quiet_until = record.end + self.cycles(hold);
        self.free.set(Some(record.end));
        self.kick_later(record.end);
    }

    /// Books a transaction: its record, its cycles, its spans. `last`: no other of its item comes.
    fn note(&self, item: &Item, record: &PcixRecord, last: bool) {
        let counters = &self.counters[record.initiator.index()];
        let all = (record.end - record.start).0 / self.times.cycle.0;
        counters.transactions.increment();
        counters.payload_bytes.add(record.bytes);
        counters.data_cycles.add(record.data_phases);
        counters.wait_cycles.add(record.wait_cycles);
        counters.protocol_cycles.add(all - record.data_phases - record.wait_cycles);
        match record.outcome {
            PcixOutcome::Cut => counters.disconnects.increment(),
            PcixOutcome::Retry => counters.retries.increment(),
            _ => {}
        }
        if self.remembers.get() {
            self.records.borrow_mut().push(*record);
        }
        let (spans, names, id) = (self.sim.spans(), &self.names, record.id.0);
        let agent = self.track(record.initiator);
        let mut at = item.since.get();
        let mut span = |track: &Rc<str>, stage: &Rc<str>, until: Picoseconds| {
            if until > at {
                spans.record(track, stage, at, until, id);
                at = until;
            }
        };
        let waited = self.times.cycle * record.wait_cycles;
        span(agent, &names.queue, record.requested);
        span(agent, &names.arbitrate, record.start);
        span(&names.bus, &names.address, record.data - waited);
        span(&names.bus, &names.wait, record.data);
        span(&names.bus, &names.data, record.data_end);
        if !last {
            span(&names.bus, &names.turn, record.end);
        }
        item.since.set(at);
    }

    /// Position of a bus address in the host memory.
    pub(super) fn place(&self, address: u64, bytes: usize) -> Option<usize> {
        let at = usize::try_from(address.checked_sub(self.config.bridge.memory_base)?).ok()?;
        (at.checked_add(bytes)? <= self.bridge.memory.size()).then_some(at)
    }
}
