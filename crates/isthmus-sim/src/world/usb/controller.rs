// SPDX-License-Identifier: Apache-2.0
//! A host controller with one high-speed device on its bus: it takes transfers (URBs) in order,
//! makes transactions of them, and interrupts when they are done.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::{Rc, Weak};

use serde::{Deserialize, Serialize};

use super::bus::{
    DATA_PIDS, MAX_PACKET_BYTES, MICROFRAME, MICROFRAME_BITS, REFUSED_BITS, START_OF_FRAME_BITS,
    Transaction, bit_times,
};
use super::fx2::Fx2;
use super::signal::Signal;
use crate::kernel::{
    Counter, FrameId, OneshotReceiver, OneshotSender, Picoseconds, SERVICE, Sim, SimError, oneshot,
};

/// How a controller polls a device that refuses, and when it interrupts.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, tag = "kind", rename_all = "snake_case")]
pub enum ControllerKind {
    /// Enhanced host controller: an asynchronous list in host memory.
    Ehci {
        /// Interrupts come at multiples of this many microframes (1 to 64).
        interrupt_threshold_microframes: u64,
        /// Consecutive refusals after which the controller pauses.
        nak_reload: u64,
        /// Length of the pause before it checks the list again.
        async_sleep_ns: f64,
    },
    /// Extensible host controller: rings, doorbells, an event ring.
    Xhci {
        /// The least time between two interrupts.
        interrupt_moderation_ns: f64,
        /// The time from a refusal to the next try.
        nak_retry_ns: f64,
    },
}

/// A host controller.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControllerConfig {
    /// Its kind.
    pub kind: ControllerKind,
    /// From the driver's last write (list entry or doorbell) to descriptor and data in the
    /// controller.
    pub fetch_latency_ns: f64,
    /// From a transfer's last handshake to its status, and data, in host memory.
    pub completion_latency_ns: f64,
}

/// Which way a transfer goes, seen from the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Out,
    In,
}

/// A transfer that is done: its bytes, and since when they are in host memory.
pub(super) struct Done {
    pub id: FrameId,
    pub bytes: Vec<u8>,
    pub in_memory: Picoseconds,
}

struct Transfer {
    id: FrameId,
    /// OUT: all bytes. IN: the bytes received so far.
    bytes: Vec<u8>,
    /// OUT: bytes acknowledged. IN: bytes requested.
    mark: usize,
    started: Option<Picoseconds>,
    done: OneshotSender<Done>,
}

#[derive(Default)]
struct Pipe {
    queue: VecDeque<Transfer>,
    toggle: usize,
}

enum Interrupts {
    Threshold(u64),
    Moderated(Picoseconds),
}

struct Shared {
    this: Weak<Shared>,
    sim: Sim,
    name: Rc<str>,
    fx2: Fx2,
    interrupts: Interrupts,
    /// Consecutive refusals, and the pause after them.
    naks: u64,
    rest: Picoseconds,
    /// Poll period of an empty list; a doorbell is noticed at once.
    sleep: Picoseconds,
    fetch_latency: Picoseconds,
    completion_latency: Picoseconds,
    out: RefCell<Pipe>,
    into: RefCell<Pipe>,
    /// When each packet from the device was acknowledged, and the bit times it took on the bus.
    read: RefCell<Vec<(Picoseconds, u64)>>,
    written: RefCell<Vec<(Picoseconds, u64)>>,
    finished: RefCell<VecDeque<(Done, OneshotSender<Done>)>>,
    last_interrupt: Cell<Option<Picoseconds>>,
    scheduled: Cell<bool>,
    raised: Signal,
    transactions: Counter,
    interrupt_count: Counter,
    stage_fetch: Rc<str>,
    stage_bus: Rc<str>,
}

/// A host controller; clones are the same.
#[derive(Clone)]
pub(super) struct Controller(Rc<Shared>);

impl Controller {
    pub(super) fn new(
        sim: &Sim,
        name: &str,
        fx2: &Fx2,
        config: &ControllerConfig,
    ) -> Result<Self, SimError> {
        let ns = |field, value| crate::world::time(name, field, value);
        let (interrupts, naks, rest, sleep) = match config.kind {
            ControllerKind::Ehci {
                interrupt_threshold_microframes: threshold,
                nak_reload,
                async_sleep_ns,
            } => {
                if !(1..=64).contains(&threshold) || !(1..=15).contains(&nak_reload) {
                    let reason = format!(
                        "interrupt_threshold_microframes = {threshold}, nak_reload = {nak_reload}: \
                         1 to 64 and 1 to 15 expected"
                    );
                    return Err(crate::world::config_error(name, reason));
                }
                let sleep = ns("async_sleep_ns", async_sleep_ns)?;
                (Interrupts::Threshold(threshold), nak_reload, sleep, sleep)
            }
            ControllerKind::Xhci { interrupt_moderation_ns, nak_retry_ns } => {
                let gap = ns("interrupt_moderation_ns", interrupt_moderation_ns)?;
                let retry = ns("nak_retry_ns", nak_retry_ns)?;
                (Interrupts::Moderated(gap), 1, retry, Picoseconds::ZERO)
            }
        };
        let counter = |what: &str| sim.counters().counter(format!("{name}.{what}"));
        let fetch_latency = ns("fetch_latency_ns", config.fetch_latency_ns)?;
        let completion_latency = ns("completion_latency_ns", config.completion_latency_ns)?;
        let shared = Rc::new_cyclic(|this: &Weak<Shared>| Shared {
            this: this.clone(),
            sim: sim.clone(),
            name: name.into(),
            fx2: fx2.clone(),
            interrupts,
            naks,
            rest,
            sleep,
            fetch_latency,
            completion_latency,
            out: RefCell::default(),
            into: RefCell::default(),
            read: RefCell::default(),
            written: RefCell::default(),
            finished: RefCell::default(),
            last_interrupt: Cell::default(),
            scheduled: Cell::default(),
            raised: Signal::default(),
            transactions: counter("transactions"),
            interrupt_count: counter("interrupts"),
            stage_fetch: "controller fetch".into(),
            stage_bus: "USB transfer".into(),
        });
        let schedule = Rc::clone(&shared);
        sim.spawn_named(&format!("{SERVICE}{name}"), async move { schedule.run().await });
        Ok(Self(shared))
    }

    /// The driver hands over a transfer: OUT with its bytes, IN with room for `limit` of them.
    pub(super) fn submit(
        &self,
        way: Way,
        bytes: Vec<u8>,
        limit: usize,
    ) -> (FrameId, OneshotReceiver<Done>) {
        let shared = Rc::clone(&self.0);
        let (done, receiver) = oneshot();
        let id = shared.sim.new_frame_id();
        let mark = if way == Way::Out { 0 } else { limit };
        let transfer = Transfer { id, bytes, mark, started: None, done };
        let submitted = shared.sim.now();
        self.0.sim.after(self.0.fetch_latency, move || {
            let now = shared.sim.now();
            shared.span(&shared.stage_fetch, submitted, now, id);
            shared.pipe(way).borrow_mut().queue.push_back(transfer);
            shared.fx2.nudge();
        });
        (id, receiver)
    }

    /// Bit times that packets from the device took on the bus between two times.
    pub(super) fn read_bits(&self, from: Picoseconds, until: Picoseconds) -> u64 {
        bits_between(&self.0.read.borrow(), from, until)
    }

    /// The same of packets to the device.
    pub(super) fn written_bits(&self, from: Picoseconds, until: Picoseconds) -> u64 {
        bits_between(&self.0.written.borrow(), from, until)
    }

    /// Waits for an interrupt.
    pub(super) async fn interrupt(&self) {
        self.0.raised.wait().await;
    }

    /// The oldest transfer that is done and not yet reported to its owner.
    pub(super) fn finished(&self) -> Option<(Done, OneshotSender<Done>)> {
        self.0.finished.borrow_mut().pop_front()
    }
}

impl Shared {
    fn pipe(&self, way: Way) -> &RefCell<Pipe> {
        match way {
            Way::Out => &self.out,
            Way::In => &self.into,
        }
    }

    fn pending(&self, way: Way) -> bool {
        !self.pipe(way).borrow().queue.is_empty()
    }

    /// True if a transaction in that direction would move data now.
    fn productive(&self, way: Way) -> bool {
        self.pending(way)
            && match way {
                Way::Out => self.fx2.has_room(),
                Way::In => self.fx2.has_packet(),
            }
    }

    fn span(&self, stage: &Rc<str>, start: Picoseconds, end: Picoseconds, id: FrameId) {
        self.sim.spans().record(&self.name, stage, start, end, id.0);
    }

    /// The schedule: one transaction an endpoint in turn, as long as either moves data.
    async fn run(&self) {
        // After a NAK or NYET the host sends PING before it sends data again.
        let mut ping = false;
        let mut turn = Way::Out;
        loop {
            if !self.productive(Way::Out) && !self.productive(Way::In) {
                ping |= self.pending(Way::Out);
                self.sleep_until_productive().await;
                continue;
            }
            let way = turn;
            turn = if way == Way::Out { Way::In } else { Way::Out };
            if !self.pending(way) {
                continue;
            }
            if !self.productive(way) {
                self.fit(REFUSED_BITS).await;
                self.sim.sleep(bit_times(REFUSED_BITS)).await;
                ping |= way == Way::Out;
                continue;
            }
            match way {
                Way::Out => {
                    if ping {
                        self.fit(REFUSED_BITS).await;
                        self.sim.sleep(bit_times(REFUSED_BITS)).await;
                    }
                    self.send().await;
                    // NYET: that was the last buffer.
                    ping = !self.fx2.has_room();
                }
                Way::In => self.receive().await,
            }
        }
    }

    /// No data moves: the controller polls or pauses. Refused polls are not simulated one by one;
    /// the first that can succeed lies on the grid of polls from now on.
    async fn sleep_until_productive(&self) {
        let start = self.sim.now();
        let polls = self.pending(Way::Out) || self.pending(Way::In);
        while !self.productive(Way::Out) && !self.productive(Way::In) {
            self.fx2.changed().await;
        }
        let elapsed = (self.sim.now() - start).0;
        let poll = if polls { bit_times(REFUSED_BITS).0 } else { 0 };
        let rest = if polls { self.rest } else { self.sleep };
        let burst = poll * self.naks;
        let period = burst + rest.0;
        if period == 0 {
            return;
        }
        let at = elapsed % period;
        let wait = if at == 0 {
            0
        } else if at < burst {
            // Within a burst: the next poll, or the rest when this was the last.
            let next = at.div_ceil(poll) * poll;
            if next < burst { next - at } else { period - at }
        } else {
            period - at
        };
        self.sim.sleep(Picoseconds(wait)).await;
    }

    /// Waits until this many bit times fit before the next start of frame.
    async fn fit(&self, bits: u64) {
        let into = Picoseconds(self.sim.now().0 % MICROFRAME.0);
        let first = bit_times(START_OF_FRAME_BITS);
        if into < first {
            self.sim.sleep(first - into).await;
        } else if into + bit_times(bits) > bit_times(MICROFRAME_BITS) {
            self.sim.sleep(MICROFRAME - into + first).await;
        }
    }

    async fn begin(&self, way: Way, transaction: Transaction) {
        self.fit(transaction.next).await;
        let now = self.sim.now();
        if let Some(transfer) = self.pipe(way).borrow_mut().queue.front_mut() {
            transfer.started.get_or_insert(now);
        }
        self.transactions.increment();
    }

    async fn send(&self) {
        let (packet, transaction) = {
            let pipe = self.out.borrow();
            let Some(transfer) = pipe.queue.front() else { return };
            let end = transfer.bytes.len().min(transfer.mark + MAX_PACKET_BYTES);
            let packet = transfer.bytes[transfer.mark..end].to_vec();
            let transaction = Transaction::new(DATA_PIDS[pipe.toggle], &packet);
            (packet, transaction)
        };
        self.begin(Way::Out, transaction).await;
        let start = self.sim.now();
        self.sim.sleep_until(start + bit_times(transaction.data)).await;
        let bytes = packet.len();
        self.fx2.receive(packet);
        self.sim.sleep_until(start + bit_times(transaction.handshake)).await;
        self.written.borrow_mut().push((self.sim.now(), transaction.next));
        let finished = {
            let pipe = &mut *self.out.borrow_mut();
            pipe.toggle ^= 1;
            pipe.queue.front_mut().is_none_or(|transfer| {
                transfer.mark += bytes;
                transfer.mark >= transfer.bytes.len()
            })
        };
        if finished {
            self.finish(Way::Out);
        }
        self.sim.sleep_until(start + bit_times(transaction.next)).await;
    }

    async fn receive(&self) {
        let Some(packet) = self.fx2.peek() else { return };
        let transaction = Transaction::new(DATA_PIDS[self.into.borrow().toggle], &packet);
        self.begin(Way::In, transaction).await;
        let start = self.sim.now();
        self.sim.sleep_until(start + bit_times(transaction.handshake)).await;
        let finished = {
            let pipe = &mut *self.into.borrow_mut();
            pipe.toggle ^= 1;
            pipe.queue.front_mut().is_none_or(|transfer| {
                // A short packet ends the transfer; so does the last requested byte.
                transfer.bytes.extend(&packet);
                packet.len() < MAX_PACKET_BYTES || transfer.bytes.len() >= transfer.mark
            })
        };
        self.fx2.acknowledge();
        self.read.borrow_mut().push((self.sim.now(), transaction.next));
        if finished {
            self.finish(Way::In);
        }
        self.sim.sleep_until(start + bit_times(transaction.next)).await;
    }

    fn finish(&self, way: Way) {
        let Some(transfer) = self.pipe(way).borrow_mut().queue.pop_front() else { return };
        let in_memory = self.sim.now() + self.completion_latency;
        let started = transfer.started.unwrap_or(in_memory);
        self.span(&self.stage_bus, started, in_memory, transfer.id);
        let this = self.this.clone();
        self.sim.at(in_memory, move || {
            let Some(this) = this.upgrade() else { return };
            let done = Done { id: transfer.id, bytes: transfer.bytes, in_memory };
            this.finished.borrow_mut().push_back((done, transfer.done));
            this.schedule_interrupt();
        });
    }

    fn schedule_interrupt(&self) {
        let from = self.sim.now();
        if self.scheduled.replace(true) {
            return;
        }
        let at = match self.interrupts {
            // USBINT is set at the threshold's next boundary.
            Interrupts::Threshold(count) => {
                let period = MICROFRAME.0 * count;
                Picoseconds(from.0.div_ceil(period) * period)
            }
            Interrupts::Moderated(gap) => {
                self.last_interrupt.get().map_or(from, |last| (last + gap).max(from))
            }
        };
        let this = self.this.clone();
        self.sim.at(at, move || {
            let Some(this) = this.upgrade() else { return };
            this.scheduled.set(false);
            // The handler of the interrupt before may have taken all there was.
            if !this.finished.borrow().is_empty() {
                this.last_interrupt.set(Some(this.sim.now()));
                this.interrupt_count.increment();
                this.raised.raise();
            }
        });
    }
}

/// The bit times of transactions that ended between two times.
fn bits_between(ended: &[(Picoseconds, u64)], from: Picoseconds, until: Picoseconds) -> u64 {
    let inside = ended.iter().filter(|(time, _)| (from..=until).contains(time));
    inside.map(|(_, bits)| bits).sum()
}
