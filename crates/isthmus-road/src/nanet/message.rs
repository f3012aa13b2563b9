// SPDX-License-Identifier: Apache-2.0
//! A program sends messages, a program of another host takes them: two interfaces, back to back.
//!
//! A message begins when its program has it and starts to store it in the send memory; at a rate, when it should have
//! started, whatever came in between. It ends when the other program has read all of it out of the buffer that its
//! event announced. Each byte is compared there.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use serde_json::json;

use isthmus_host::nic::{MAX_POSTS, Nic};
use isthmus_host::pcie::DmaMemory;
use isthmus_sim::kernel::Sim;
use isthmus_sim::world::PhyFrame;
use isthmus_sim::world::pcie::Direction;
use isthmus_sim::{Picoseconds, Simulation};

use super::pair::{End, Pair};
use super::program::{noise_of, resume, wait};
use super::scenario::NanetScenario;
use super::send::{One, measurement};
use super::world::{NanetPort, Station};
use crate::arrivals::{Starts, stream_of};
use crate::error::RoadError;
use crate::host_bus::{Bar, HostMemory};
use crate::measurement::{Measurement, Stage};
use crate::model::MakeModel;
use crate::noise::Noise;
use crate::stages::Way;
use crate::watch::{Step, Watch, follow};

/// Longest wait of either program, beside its noise and the time between two messages at a rate.
const SILENCE: Picoseconds = Picoseconds::from_ms(1);

/// One message.
struct Message {
    begun: Picoseconds,
    /// When the program took it up; later than `begun` where it was busy or not woken.
    started: Picoseconds,
    payload: Vec<u8>,
    /// When it is in the send memory.
    stored: Picoseconds,
    /// When the other program has its event, and all of its bytes.
    came: Picoseconds,
    taken: Picoseconds,
}

/// What the two programs and the check share; it costs them nothing.
#[derive(Default)]
struct Flow {
    messages: RefCell<Vec<Message>>,
    /// Of them, those that were taken.
    taken: Cell<usize>,
    listens: Cell<bool>,
    waiting: RefCell<Option<Waker>>,
}

impl Flow {
    fn wake(&self) {
        if let Some(waker) = self.waiting.take() {
            waker.wake();
        }
    }

    /// Waits until `ready` says so, which it can after a [`wake`](Self::wake).
    async fn until(
        &self,
        (sim, longest): (&Sim, Picoseconds),
        ready: impl Fn(&Self) -> bool,
    ) -> Result<(), RoadError> {
        let waits = poll_fn(|context| {
            if ready(self) {
                return Poll::Ready(());
            }
            *self.waiting.borrow_mut() = Some(context.waker().clone());
            Poll::Pending
        });
        sim.timeout(longest, waits)
            .await
            .map_err(|_| wrong(format!("message {} was not taken", self.taken.get())))
    }
}

fn wrong(what: String) -> RoadError {
    RoadError::Violation(format!("nanet: {what}"))
}

fn failed(error: isthmus_host::nic::NicError) -> RoadError {
    RoadError::program("nanet", error)
}

/// One of the two programs: its host, its interface.
struct Program {
    sim: Sim,
    flow: Rc<Flow>,
    scenario: Rc<NanetScenario>,
    host: isthmus_sim::world::host::MmioHost,
    config: isthmus_host::nic::NicConfig,
    peer: std::net::SocketAddrV4,
    noise: Option<Noise>,
    longest: Picoseconds,
    total: usize,
}

impl Program {
    async fn open(&self) -> Result<(Nic<Bar, HostMemory>, HostMemory), RoadError> {
        let memory = HostMemory::new(&self.sim, &self.host);
        let nic = Nic::open(Bar::new(&self.host), memory.clone(), &self.config).await;
        Ok((nic.map_err(failed)?, memory))
    }

    async fn sends(self) -> Result<(), RoadError> {
        let (mut nic, mut memory) = self.open().await?;
        let wait = (&self.sim, self.longest);
        self.flow.until(wait, |flow| flow.listens.get()).await?;
        let peer = nic.peer(self.peer).await.map_err(failed)?;
        let (bytes, place) = (self.scenario.workload.bytes, self.scenario.place_bytes());
        let arrivals = self.scenario.arrivals()?;
        let window = arrivals.window().unwrap_or(MAX_POSTS) as usize;
        let starts = |rate| Starts::new(rate, self.sim.random(&stream_of(0)), self.sim.now());
        let mut starts = arrivals.rate_per_s().map(starts);
        let base = self.config.send.as_ref().map_or(0, |memory| memory.offset);
        let mut random = self.sim.random("nanet:message");
        let mut announced = 0;
        for number in 0..self.total {
            let asleep = self.sim.now();
            self.flow.until(wait, |flow| number - flow.taken.get() < window).await?;
            let due = starts.as_mut().and_then(Iterator::next);
            if let Some(due) = due {
                self.sim.sleep_until(due).await;
            }
            resume(&self.sim, self.noise.as_ref(), asleep).await;
            // What was taken there has been read here: its event takes no waiting.
            while announced < self.flow.taken.get() {
                let patience = self.sim.now() + SILENCE;
                let sent = nic.sent(Duration::from_nanos(patience.0 / 1_000)).await;
                match sent.map_err(failed)? {
                    Some(sent) if !sent.error && sent.refused.is_none() => announced += 1,
                    other => return Err(wrong(format!("post {announced}: {other:?}"))),
                }
            }
            let payload: Vec<u8> = (0..bytes).map(|_| random.bits() as u8).collect();
            let started = self.sim.now();
            let at = number % MAX_POSTS as usize * place;
            let written = memory.write(base + at, &payload).await;
            written.map_err(|error| wrong(error.to_string()))?;
            let zero = Picoseconds::ZERO;
            let stored = self.sim.now();
            let begun = due.unwrap_or(started);
            let message = Message { begun, started, payload, stored, came: zero, taken: zero };
            self.flow.messages.borrow_mut().push(message);
            nic.send(at, bytes, peer).await.map_err(failed)?;
        }
        self.flow.until(wait, |flow| flow.taken.get() == self.total).await?;
        if nic.spoiled().await.map_err(failed)? > 0 {
            return Err(wrong("frames with a wrong frame check sequence".to_owned()));
        }
        nic.close().await.map_err(failed)
    }

    /// Takes all; the time that the program has waited for events.
    async fn takes(self) -> Result<Picoseconds, RoadError> {
        let (mut nic, memory) = self.open().await?;
        let slept = Cell::default();
        self.flow.listens.set(true);
        self.flow.wake();
        for number in 0..self.total {
            let driver = self.scenario.workload.driver;
            let asleep = self.sim.now();
            let event = wait((&self.sim, &self.host, &slept), &mut nic, driver, self.longest).await;
            let Some(event) = event.map_err(failed)? else {
                return Err(wrong(format!("message {number} did not come")));
            };
            resume(&self.sim, self.noise.as_ref(), asleep).await;
            let came = self.sim.now();
            let offset =
                self.config.lists[usize::from(event.list)].offsets[usize::from(event.index)];
            let mut found = vec![0; event.bytes as usize];
            nic.read(offset, &mut found).await.map_err(failed)?;
            let taken = self.sim.now();
            match self.flow.messages.borrow_mut().get_mut(number) {
                Some(message) if !event.error && message.payload == found => {
                    (message.came, message.taken) = (came, taken);
                }
                _ => return Err(wrong(format!("message {number}: another one expected"))),
            }
            self.flow.taken.set(number + 1);
            self.sim.count_transfers(1);
            self.flow.wake();
            nic.recycle(event.list).await.map_err(failed)?;
        }
        nic.close().await.map_err(failed)?;
        Ok(memory.blocked() + slept.get())
    }
}

pub(super) fn run(
    scenario: &NanetScenario,
    make_model: MakeModel<'_>,
    watch: &Watch,
) -> Result<Vec<Measurement>, RoadError> {
    let begin = Instant::now();
    let pair = Pair::build(scenario, &Station::default(), make_model)?;
    let (head, tail) = scenario.excluded()?;
    let total = head + scenario.workload.iterations + tail;
    follow(&pair.simulation, watch, Step { total: 1, transfers_total: total, ..Step::default() });
    let flow = Rc::new(Flow::default());
    let shared = Rc::new(scenario.clone());
    let sim = pair.simulation.handle();
    let noises = [0, 1].map(|host| noise_of(&sim, scenario, host));
    let late = noises.iter().flatten().map(Noise::longest).max().unwrap_or_default();
    let longest = SILENCE + late + late + scenario.arrivals()?.longest_gap();
    let program = |end: &End, noise: &Option<Noise>| Program {
        sim: pair.simulation.handle(),
        flow: Rc::clone(&flow),
        scenario: Rc::clone(&shared),
        host: end.host.clone(),
        config: end.config.clone(),
        peer: end.peer,
        noise: noise.clone(),
        longest,
        total: total as usize,
    };
    let taking = pair.simulation.spawn(program(&pair.ends[1], &noises[1]).takes());
    let sending = pair.simulation.spawn(program(&pair.ends[0], &noises[0]).sends());
    let sent = pair.simulation.run_until_complete(&sending)?;
    let waited = pair.simulation.run_until_complete(&taking)?;
    // Of two errors the sender's is the cause.
    sent?;
    let waited = waited?;
    let run = Run { scenario, pair: &pair, messages: &flow.messages.borrow() };
    Ok(vec![run.measurement(waited, begin)?])
}

/// A run that has ended.
struct Run<'a> {
    scenario: &'a NanetScenario,
    pair: &'a Pair,
    messages: &'a [Message],
}

impl Run<'_> {
    fn measurement(&self, waited: Picoseconds, begin: Instant) -> Result<Measurement, RoadError> {
        let pins = self.pins()?;
        let all: Vec<One> = self
            .messages
            .iter()
            .zip(&pins)
            .map(|(one, pins)| One { posted: one.begun, first: pins[0].first, arrived: one.taken })
            .collect();
        let simulation = &self.pair.simulation;
        let mut made = measurement(simulation, self.scenario, &all, begin)?;
        self.busy(&mut made, waited);
        let (head, _) = self.scenario.excluded()?;
        let last = (head + self.scenario.workload.iterations) as usize - 1;
        let (message, pins) = (&self.messages[last], &pins[last]);
        made.stages = self.stages(message, pins)?;
        made.stages_total_ps = (message.taken - message.begun).0;
        Ok(made)
    }

    /// Shares of the whole run, beside the wire's: the bus of either host that carries more, and the host that takes.
    fn busy(&self, made: &mut Measurement, waited: Picoseconds) {
        let (Some(first), Some(last)) = (self.messages.first(), self.messages.last()) else {
            return;
        };
        let span = last.taken.saturating_sub(first.begun);
        if span == Picoseconds::ZERO {
            return;
        }
        let share = |time: Picoseconds| (time.0 as f64 / span.0 as f64).clamp(0.0, 1.0);
        let ways = [Direction::Up, Direction::Down];
        let buses = self.pair.ends.iter().flat_map(|end| ways.map(|way| share(end.link.busy(way))));
        let bus = buses.fold(0.0, f64::max);
        if let Some(busy) = made.workload.get_mut("busy").and_then(|busy| busy.as_object_mut()) {
            busy.insert("bus".to_owned(), json!(bus));
            busy.insert("host".to_owned(), json!(1.0 - share(waited)));
        }
    }

    /// Of each message its frame at the sender's pins and at the taker's.
    fn pins(&self) -> Result<Vec<[PhyFrame; 2]>, RoadError> {
        let [sender, taker] = &self.pair.ends[..] else { return Ok(Vec::new()) };
        // What is shorter or before them is ARP.
        let frame = NanetPort::frame_bytes(self.scenario.workload.bytes);
        let received = taker.phy.received_since(0);
        let sent = sender.phy.sent_since(0);
        let pairs: Vec<_> = sent
            .iter()
            .filter_map(|one| {
                received.iter().find(|other| other.id == one.id).map(|other| [*one, *other])
            })
            .skip(sent.len().saturating_sub(self.messages.len()))
            .filter(|[one, _]| one.bytes == frame)
            .collect();
        if pairs.len() == self.messages.len() {
            return Ok(pairs);
        }
        let reason = format!("nanet: {} frames of {}", pairs.len(), self.messages.len());
        Err(RoadError::Inconsistent(reason))
    }

    fn stages(&self, message: &Message, pins: &[PhyFrame; 2]) -> Result<Vec<Stage>, RoadError> {
        let taker = &self.pair.ends[1];
        let written = completed(&self.pair.simulation, taker, message.came);
        let octet = taker.device.clock_period(&taker.receive_clock()).unwrap_or_default();
        let mut way = Way::new(message.begun);
        let mut at = message.begun;
        for (place, name, time) in [
            ("host", "wait for the program", message.started),
            ("host", "program stores it", message.stored),
            ("bus", "post, read of the payload", pins[0].first),
            ("wire", "frame and cable", pins[1].last + octet),
            ("fpga", "MAC, list, event to the bus", written.unwrap_or(pins[1].last + octet)),
            ("bus", "memory, program sees it", message.came),
            ("host", "program reads it", message.taken),
        ] {
            at = at.max(time);
            way.until(place, name, at)?;
        }
        way.finish(message.taken)
    }
}

/// When the event that came at this time went to the bus.
fn completed(simulation: &Simulation, end: &End, came: Picoseconds) -> Option<Picoseconds> {
    let stage = end.device.stages().iter().position(|stage| stage == "Completed")?;
    let records = simulation.probes().since(0);
    let mine = records.iter().filter(|one| {
        one.device == end.device.index() && usize::from(one.stage) == stage && one.time <= came
    });
    mine.map(|one| one.time).max()
}
