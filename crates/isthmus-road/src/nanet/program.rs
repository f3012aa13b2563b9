// SPDX-License-Identifier: Apache-2.0
//! The host program and the sources: datagrams out, events in, buffers back.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use isthmus_host::nic::{Event, NicConfig, NicError, Statistics, Translations};
use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::Sim;
use isthmus_sim::world::host::MmioHost;
use isthmus_sim::world::pcie::{Direction, Pcie};

use super::ledger::Ledger;
use super::scenario::{NanetDriver, NanetPolicy, NanetScenario};
use super::world::{Driver, NanetPort, World};
use crate::arrivals::{Arrivals, Starts, stream_of};
use crate::error::RoadError;
use crate::gpu::{Data, DataMemory};
use crate::host_bus::HostMemory;
use crate::noise::Noise;

/// Longest wait for an event, beside the time that a buffer waits for more datagrams.
const SILENCE: Picoseconds = Picoseconds::from_ms(1);

/// Result of a run.
pub(super) struct Outcome {
    pub(super) statistics: Vec<Statistics>,
    /// Counters of the address translation, if the interface has one.
    pub(super) translations: Option<Translations>,
    /// Utilisation over the measured time, and its begin and end.
    pub(super) busy: BTreeMap<&'static str, f64>,
    pub(super) span: [Picoseconds; 2],
}

/// Busy times up to one point in time.
struct Usage {
    at: Picoseconds,
    waited: Picoseconds,
    bus: Picoseconds,
}

/// Sources and program of a run.
pub(super) struct Program {
    sim: Sim,
    host: MmioHost,
    link: Pcie,
    ports: Rc<Vec<NanetPort>>,
    ledgers: Rc<Vec<RefCell<Ledger>>>,
    data: Rc<Data>,
    /// Time that the program waited for a GPU's memory, or slept until an interrupt.
    waited: Cell<Picoseconds>,
    scenario: Rc<NanetScenario>,
    noise: Option<Noise>,
    arrivals: Arrivals,
    /// Datagrams per port: all, and the range of the measured ones.
    total: u64,
    counted: std::ops::Range<u64>,
}

impl Program {
    pub(super) fn new(
        world: &World,
        ports: &Rc<Vec<NanetPort>>,
        ledgers: &Rc<Vec<RefCell<Ledger>>>,
        scenario: &Rc<NanetScenario>,
    ) -> Result<Self, RoadError> {
        let (head, tail) = scenario.excluded()?;
        let until = head + scenario.workload.iterations;
        Ok(Self {
            sim: world.simulation.handle(),
            host: world.host.clone(),
            link: world.link.clone(),
            ports: Rc::clone(ports),
            ledgers: Rc::clone(ledgers),
            data: Rc::clone(&world.data),
            waited: Cell::default(),
            scenario: Rc::clone(scenario),
            noise: noise_of(&world.simulation.handle(), scenario, 0),
            arrivals: scenario.arrivals()?,
            // Of whole buffers.
            total: (until + tail).next_multiple_of(u64::from(scenario.workload.datagrams)),
            counted: head..until,
        })
    }

    pub(super) async fn run(self, config: NicConfig) -> Result<Outcome, RoadError> {
        let failed = |error| RoadError::program("nanet", error);
        let memory = HostMemory::new(&self.sim, &self.host);
        let mut nic = World::open(&self.host, memory.clone(), &config).await.map_err(failed)?;
        if let Arrivals::Rate(rate) = self.arrivals {
            for port in 0..self.ports.len() {
                self.spawn_source(port, rate);
            }
        }
        let counted_of_all = self.ports.len() as u64;
        let mut marks: Vec<Usage> = Vec::new();
        (0..self.ports.len()).for_each(|port| self.top_up(port));
        while !self.ended() {
            let driver = self.scenario.workload.driver;
            let patience =
                SILENCE + Picoseconds::from_ns_f64(self.scenario.workload.flush_us * 1e3);
            let asleep = self.sim.now();
            let Some(event) =
                wait((&self.sim, &self.host, &self.waited), &mut nic, driver, patience)
                    .await
                    .map_err(failed)?
            else {
                if self.all_sent() {
                    break;
                }
                continue;
            };
            if event.error {
                return Err(RoadError::Violation("nanet: memory refused a write".to_owned()));
            }
            resume(&self.sim, self.noise.as_ref(), asleep).await;
            let came = self.sim.now();
            let port = usize::from(event.list);
            let offset = config.lists[port].offsets[usize::from(event.index)];
            let (datagrams, bytes) = (usize::from(event.datagrams), event.bytes as usize);
            self.arrived((port, datagrams), (offset, bytes)).await?;
            let seen = self.sim.now();
            // The check of the data costs the program nothing.
            let found = self.data.now(offset, bytes)?;
            // What was filled anew is not what this event announced, and is skipped.
            let intact = self.scenario.workload.policy != NanetPolicy::Oldest
                || nic.is_intact(&event).await.map_err(failed)?;
            if intact {
                self.ledgers[port].borrow_mut().buffer(datagrams, &found, [came, seen])?;
            }
            self.sim.count_transfers(u64::from(event.datagrams));
            let seen: u64 = self.ledgers.iter().map(|ledger| ledger.borrow().seen).sum();
            let due = [self.counted.start, self.counted.end].map(|one| one * counted_of_all);
            if due.get(marks.len()).is_some_and(|due| seen >= *due) {
                marks.push(self.usage(&memory));
            }
            if intact {
                let work = Picoseconds::from_ns_f64(self.scenario.workload.work_ns);
                self.host.cpu().run(work).await;
            }
            nic.recycle(event.list).await.map_err(failed)?;
            self.top_up(port);
        }
        let mut statistics = Vec::new();
        for port in 0..self.ports.len() {
            statistics.push(nic.statistics(port as u8).await.map_err(failed)?);
        }
        let translations = match config.paging {
            Some(_) => Some(nic.translations().await.map_err(failed)?),
            None => None,
        };
        nic.close().await.map_err(failed)?;
        let (busy, span) = self.shares(&marks);
        Ok(Outcome { statistics, translations, busy, span })
    }

    /// Has the data of an announced buffer where it is used. A program sees the event of a peer's write perhaps before the
    /// GPU's memory has the last bytes; it waits for them without cost.
    async fn arrived(
        &self,
        (port, datagrams): (usize, usize),
        (offset, bytes): (usize, usize),
    ) -> Result<(), RoadError> {
        self.data.copy_in(offset, bytes).await?;
        if self.scenario.workload.memory != DataMemory::Gpu {
            return Ok(());
        }
        let ledger = &self.ledgers[port];
        let whole = |found: &[u8]| ledger.borrow().holds(datagrams, found);
        let asleep = self.sim.now();
        // What does not become right is found wrong when it is compared.
        let waited = self.sim.timeout(SILENCE, self.data.whole((offset, bytes), whole)).await;
        self.waited.set(self.waited.get() + (self.sim.now() - asleep));
        waited.unwrap_or(Ok(()))
    }

    fn all_sent(&self) -> bool {
        self.ledgers.iter().all(|ledger| ledger.borrow().sent.len() as u64 >= self.total)
    }

    fn ended(&self) -> bool {
        self.all_sent() && self.ledgers.iter().all(|ledger| ledger.borrow().in_flight == 0)
    }

    /// Sends as many datagrams as the window allows.
    fn top_up(&self, port: usize) {
        let Some(window) = self.arrivals.window() else { return };
        loop {
            let ledger = self.ledgers[port].borrow();
            let full = ledger.in_flight >= u64::from(window);
            if full || ledger.sent.len() as u64 >= self.total {
                return;
            }
            drop(ledger);
            self.send(port, self.sim.now());
        }
    }

    fn send(&self, port: usize, due: Picoseconds) {
        send(&self.ports[port], &mut self.ledgers[port].borrow_mut(), due);
    }

    /// Starts a source that sends at a given rate.
    fn spawn_source(&self, port: usize, rate_per_s: f64) {
        let (sim, ports, ledgers) =
            (self.sim.clone(), Rc::clone(&self.ports), Rc::clone(&self.ledgers));
        let random = sim.random(&stream_of(port));
        let starts = Starts::new(rate_per_s, random, sim.now()).take(self.total as usize);
        self.sim.spawn(async move {
            for due in starts {
                sim.sleep_until(due).await;
                send(&ports[port], &mut ledgers[port].borrow_mut(), due);
            }
        });
    }

    fn usage(&self, memory: &HostMemory) -> Usage {
        let waited = memory.blocked() + self.waited.get();
        Usage { at: self.sim.now(), waited, bus: self.link.busy(Direction::Up) }
    }

    fn shares(&self, marks: &[Usage]) -> (BTreeMap<&'static str, f64>, [Picoseconds; 2]) {
        let [first, last] = marks else { return (BTreeMap::new(), [Picoseconds::ZERO; 2]) };
        let span = last.at.saturating_sub(first.at);
        if span == Picoseconds::ZERO {
            return (BTreeMap::new(), [first.at, last.at]);
        }
        let share = |time: Picoseconds| (time.0 as f64 / span.0 as f64).clamp(0.0, 1.0);
        let octet = 8e12 / (self.scenario.platform.cable.rate_mbit_s * 1e6);
        let wire = NanetPort::wire_bytes(self.scenario.workload.bytes) as f64 * octet;
        let sent = self.scenario.workload.iterations as f64;
        let busy = BTreeMap::from([
            ("host", 1.0 - share(last.waited - first.waited)),
            ("bus", share(last.bus - first.bus)),
            ("wire", (wire * sent / span.0 as f64).clamp(0.0, 1.0)),
        ]);
        (busy, [first.at, last.at])
    }
}

/// The next event; `None` after the timeout. The time for which the program slept adds to `slept`.
pub(super) async fn wait(
    (sim, host, slept): (&Sim, &MmioHost, &Cell<Picoseconds>),
    nic: &mut Driver,
    driver: NanetDriver,
    patience: Picoseconds,
) -> Result<Option<Event>, NicError> {
    let at = |time: Picoseconds| Duration::from_nanos(time.0 / 1_000);
    let deadline = sim.now() + patience;
    if driver == NanetDriver::Poll {
        return nic.next(at(deadline)).await;
    }
    loop {
        // What is there is taken without sleeping.
        let event = nic.next(at(sim.now())).await?;
        let left = deadline.saturating_sub(sim.now());
        if event.is_some() {
            return Ok(event);
        }
        let asleep = sim.now();
        let woken = sim.timeout(left, host.interrupt(0)).await;
        slept.set(slept.get() + (sim.now() - asleep));
        if woken.is_err() {
            return Ok(None);
        }
    }
}

/// The noise of a host, by its number.
pub(super) fn noise_of(sim: &Sim, scenario: &NanetScenario, host: usize) -> Option<Noise> {
    let noise = scenario.noise.as_ref()?;
    Some(Noise::new(noise, sim.random(&format!("nanet:noise:{host}"))))
}

/// The operating system lets a program run again that has waited since `asleep`, if it has.
pub(super) async fn resume(sim: &Sim, noise: Option<&Noise>, asleep: Picoseconds) {
    if let Some(noise) = noise.filter(|_| sim.now() > asleep) {
        noise.delay(sim).await;
    }
}

fn send(port: &NanetPort, ledger: &mut Ledger, due: Picoseconds) {
    let (payload, spoil) = ledger.make();
    if let Some(id) = port.send(&payload, spoil) {
        ledger.send(id, due, spoil);
    }
}
