// SPDX-License-Identifier: Apache-2.0
//! A VME64 backplane: a CPU board whose bridge makes A32/D32 single cycles, and a slave at a device's
//! pins.
//!
//! The handshake is that of the standard (ANSI/VITA 1-1994, section 2): address and data are valid
//! before the strobes, the slave answers DTACK* or BERR*, and both sides release their signals in
//! turn. What a bridge and a CPU's access to it cost comes from the configuration.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use serde::{Deserialize, Serialize};

use super::host::Cpu;
use crate::kernel::{
    Counter, DeviceHandle, InputPin, OneshotSender, OutputPin, Picoseconds, PinAgent, Receiver,
    SERVICE, Sender, Sim, SimError, channel, oneshot,
};

/// Address modifier of an A32 data access without privilege.
const A32_DATA: u64 = 0x09;
/// A master's set-up of address and write data before its strobes.
const SETUP: Picoseconds = Picoseconds::from_ns(35);
/// The skew of the bus: read data is good this long after DTACK*.
const SKEW: Picoseconds = Picoseconds::from_ns(25);
/// How long the strobes stay high between two cycles.
const STROBE_HIGH: Picoseconds = Picoseconds::from_ns(40);
/// The earliest answer a slave may give after its data strobes.
const EARLIEST_ANSWER: Picoseconds = Picoseconds::from_ns(30);

/// A CPU board on a VME backplane.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VmeConfig {
    /// Its name in this world.
    pub name: String,
    /// From a CPU's load to the request at the bridge, and from the answer at the bridge back.
    pub cpu_read_ns: f64,
    /// From a CPU's store until it is posted: the program's cost.
    pub cpu_write_ns: f64,
    /// Time in the bridge from a request to its bus cycle.
    pub bridge_request_ns: f64,
    /// Time in the bridge from the end of a read's bus cycle to its answer.
    pub bridge_answer_ns: f64,
    /// Stores that the bridge holds; the next one waits.
    pub posted_writes: usize,
    /// From bus request to bus grant, when the bridge does not own the bus.
    pub arbitration_ns: f64,
    /// The bridge gives the bus away after each cycle (release when done), else on request only.
    pub release_when_done: bool,
    /// One way through both boards' transceivers and the backplane.
    pub signal_ns: f64,
    /// When the bus timer answers BERR* for a slave that does not.
    pub bus_timeout_ns: f64,
}

/// Why an access failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VmeError {
    /// The slave answered BERR*.
    #[error("VME address {0:#010x}: bus error")]
    BusError(u32),
    /// No slave answered.
    #[error("VME address {0:#010x}: no answer before the bus timeout")]
    NoAnswer(u32),
    /// Not the address of a 32-bit word.
    #[error("VME address {0:#010x}: not a multiple of 4")]
    Alignment(u32),
}

struct Operation {
    address: u32,
    write: Option<u32>,
    done: Option<OneshotSender<Result<u32, VmeError>>>,
}

struct Times {
    cpu_read: Picoseconds,
    cpu_write: Picoseconds,
    request: Picoseconds,
    answer: Picoseconds,
    arbitration: Picoseconds,
    signal: Picoseconds,
    timeout: Picoseconds,
}

/// The slave's answer as the pins show it.
#[derive(Default)]
struct Answer {
    level: Cell<bool>,
    error: Cell<bool>,
    data: Cell<u64>,
    drives: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl Answer {
    async fn until(&self, level: bool) {
        poll_fn(|context| {
            if self.level.get() == level {
                return Poll::Ready(());
            }
            *self.waker.borrow_mut() = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

struct Shared {
    sim: Sim,
    name: Rc<str>,
    device: DeviceHandle,
    times: Times,
    release_when_done: bool,
    pins: Pins,
    answer: Rc<Answer>,
    /// Since when the strobes are low.
    strobed: Rc<Cell<Option<Picoseconds>>>,
    write_errors: RefCell<VecDeque<VmeError>>,
    cycles: Counter,
    /// From when to when the bus was taken.
    taken: RefCell<Vec<(Picoseconds, Picoseconds)>>,
    stage_bridge: Rc<str>,
    stage_bus: Rc<str>,
    stage_cpu: Rc<str>,
}

struct Pins {
    as_n: InputPin,
    ds_n: InputPin,
    write_n: InputPin,
    lword_n: InputPin,
    iack_n: InputPin,
    am: InputPin,
    addr: InputPin,
    data: InputPin,
}

/// A CPU board's access to the slave; clones are the same board.
#[derive(Clone)]
pub struct VmeHost {
    shared: Rc<Shared>,
    cpu: Cpu,
    queue: Sender<Operation>,
}

impl VmeHost {
    /// Attaches a bus to the ports `<bundle>_as_ni` and so on, and a board to the bus.
    ///
    /// # Errors
    /// When a port is missing or has another width, or the configuration makes no sense.
    pub fn attach(
        sim: &Sim,
        cpu: &Cpu,
        device: &DeviceHandle,
        bundle: &str,
        config: &VmeConfig,
    ) -> Result<Self, SimError> {
        let name = super::ethernet::named(&config.name)?;
        let ns = |field, value| super::time(name, field, value);
        if config.posted_writes == 0 {
            let reason = "posted_writes = 0: at least 1 expected".into();
            return Err(super::config_error(name, reason));
        }
        let times = Times {
            cpu_read: ns("cpu_read_ns", config.cpu_read_ns)?,
            cpu_write: ns("cpu_write_ns", config.cpu_write_ns)?,
            request: ns("bridge_request_ns", config.bridge_request_ns)?,
            answer: ns("bridge_answer_ns", config.bridge_answer_ns)?,
            arbitration: ns("arbitration_ns", config.arbitration_ns)?,
            signal: ns("signal_ns", config.signal_ns)?,
            timeout: ns("bus_timeout_ns", config.bus_timeout_ns)?,
        };
        let input = |port: &str, width| device.input(&format!("{bundle}_{port}"), width);
        let output = |port: &str, width| device.output(&format!("{bundle}_{port}"), width);
        let pins = Pins {
            as_n: input("as_ni", 1)?,
            ds_n: input("ds_ni", 2)?,
            write_n: input("write_ni", 1)?,
            lword_n: input("lword_ni", 1)?,
            iack_n: input("iack_ni", 1)?,
            am: input("am_i", 6)?,
            addr: input("addr_i", 31)?,
            data: input("data_i", 32)?,
        };
        for pin in [&pins.as_n, &pins.write_n, &pins.lword_n, &pins.iack_n] {
            pin.set(1);
        }
        pins.ds_n.set(3);
        let answer = Rc::new(Answer::default());
        let strobed = Rc::new(Cell::new(None));
        let watch = Watch {
            sim: sim.clone(),
            device: device.clone(),
            name: name.into(),
            reset_n: device.input("rst_ni", 1)?,
            dtack_n: output("dtack_no", 1)?,
            berr_n: output("berr_no", 1)?,
            data: output("data_o", 32)?,
            data_oe: output("data_oe_o", 1)?,
            answer: Rc::clone(&answer),
            strobed: Rc::clone(&strobed),
        };
        device.attach("clk_i", Box::new(watch))?;
        let shared = Rc::new(Shared {
            sim: sim.clone(),
            name: name.into(),
            device: device.clone(),
            times,
            release_when_done: config.release_when_done,
            pins,
            answer,
            strobed,
            write_errors: RefCell::default(),
            cycles: sim.counters().counter(format!("{name}.cycles")),
            stage_bridge: "VME bridge".into(),
            taken: RefCell::default(),
            stage_bus: "VME cycle".into(),
            stage_cpu: "CPU to bridge".into(),
        });
        let (queue, operations) = channel(config.posted_writes);
        let bridge = Rc::clone(&shared);
        sim.spawn_named(&format!("{SERVICE}{name}"), async move { bridge.run(operations).await });
        Ok(Self { shared, cpu: cpu.clone(), queue })
    }

    /// A load: goes behind every store before it, and holds the program until it is answered.
    ///
    /// # Errors
    /// When the slave answers with a bus error, or none does.
    pub async fn read32(&self, address: u32) -> Result<u32, VmeError> {
        if !address.is_multiple_of(4) {
            return Err(VmeError::Alignment(address));
        }
        let (done, answer) = oneshot();
        let start = self.shared.sim.now();
        self.cpu.run(self.shared.times.cpu_read).await;
        self.shared.span(&self.shared.stage_cpu, start, address);
        self.send(Operation { address, write: None, done: Some(done) }).await;
        answer.recv().await.unwrap_or(Err(VmeError::NoAnswer(address)))
    }

    /// A store: posted. It returns before the slave has it; errors are reported by
    /// [`take_write_error`](Self::take_write_error).
    ///
    /// # Errors
    /// When the address is not that of a word.
    pub async fn write32(&self, address: u32, value: u32) -> Result<(), VmeError> {
        if !address.is_multiple_of(4) {
            return Err(VmeError::Alignment(address));
        }
        self.cpu.run(self.shared.times.cpu_write).await;
        self.send(Operation { address, write: Some(value), done: None }).await;
        Ok(())
    }

    /// The oldest error of a posted store.
    #[must_use]
    pub fn take_write_error(&self) -> Option<VmeError> {
        self.shared.write_errors.borrow_mut().pop_front()
    }

    /// The time between two times for which cycles had the bus.
    #[must_use]
    pub fn bus_busy(&self, from: Picoseconds, until: Picoseconds) -> Picoseconds {
        let taken = self.shared.taken.borrow();
        let inside = |(start, end): &(Picoseconds, Picoseconds)| {
            (*end).min(until).saturating_sub((*start).max(from))
        };
        taken.iter().map(inside).sum()
    }

    async fn send(&self, operation: Operation) {
        // The bridge lives as long as the simulation.
        let _ = self.queue.send(operation).await;
    }
}

impl Shared {
    fn span(&self, stage: &Rc<str>, start: Picoseconds, address: u32) {
        self.sim.spans().record(&self.name, stage, start, self.sim.now(), u64::from(address));
    }

    async fn run(&self, mut operations: Receiver<Operation>) {
        let mut owner = false;
        let mut strobes_rose = Picoseconds::ZERO;
        while let Some(operation) = operations.recv().await {
            let start = self.sim.now();
            let arbitration = if owner { Picoseconds::ZERO } else { self.times.arbitration };
            owner = !self.release_when_done;
            self.sim.sleep(self.times.request + arbitration).await;
            self.span(&self.stage_bridge, start, operation.address);
            let start = self.sim.now();
            let result = self.strobe(&operation, strobes_rose).await;
            self.span(&self.stage_bus, start, operation.address);
            strobes_rose = self.sim.now();
            if let (Err(error), None) = (&result, &operation.done) {
                self.write_errors.borrow_mut().push_back(*error);
            }
            if let Some(done) = operation.done {
                let answer = self.times.answer;
                self.sim.after(answer, move || {
                    // The program's wait may have timed out.
                    let _ = done.send(result);
                });
            }
            self.release().await;
            self.taken.borrow_mut().push((start, self.sim.now()));
        }
    }

    /// The first half of a cycle, up to the master's raising its strobes.
    async fn strobe(
        &self,
        operation: &Operation,
        strobes_rose: Picoseconds,
    ) -> Result<u32, VmeError> {
        let (sim, pins, signal) = (&self.sim, &self.pins, self.times.signal);
        self.cycles.increment();
        // Signals of the master reach the pins `signal` later, and the other way round.
        sim.sleep(signal).await;
        self.device.wake();
        pins.addr.set(u64::from(operation.address >> 1));
        pins.am.set(A32_DATA);
        pins.lword_n.set(0);
        pins.write_n.set(u64::from(operation.write.is_none()));
        pins.data.set(u64::from(operation.write.unwrap_or(0)));
        sim.sleep_until((sim.now() + SETUP).max(strobes_rose + signal + STROBE_HIGH)).await;
        self.device.wake();
        pins.as_n.set(0);
        pins.ds_n.set(0);
        self.strobed.set(Some(sim.now()));
        let answered = sim.timeout(self.times.timeout, self.answer.until(true)).await.is_ok();
        let data = self.answer.data.get() as u32;
        if answered && operation.write.is_none() && !self.answer.error.get() {
            if !self.answer.drives.get() {
                let reason = format!("{}: DTACK without data at {}", self.name, sim.now());
                let device = self.device.name().to_owned();
                sim.fail(SimError::Device { device, reason });
            }
            sim.sleep(SKEW).await;
        }
        sim.sleep(signal).await;
        match (answered, self.answer.error.get()) {
            (false, _) => Err(VmeError::NoAnswer(operation.address)),
            (true, true) => Err(VmeError::BusError(operation.address)),
            (true, false) => Ok(data),
        }
    }

    /// The second half: strobes deasserted, then the slave's answer.
    async fn release(&self) {
        let (sim, pins, signal) = (&self.sim, &self.pins, self.times.signal);
        sim.sleep(signal).await;
        self.device.wake();
        pins.ds_n.set(3);
        pins.as_n.set(1);
        self.strobed.set(None);
        self.answer.until(false).await;
        sim.sleep(signal).await;
    }
}

/// Looks at the slave's answer after each edge of its clock.
struct Watch {
    sim: Sim,
    device: DeviceHandle,
    name: Rc<str>,
    reset_n: InputPin,
    dtack_n: OutputPin,
    berr_n: OutputPin,
    data: OutputPin,
    data_oe: OutputPin,
    answer: Rc<Answer>,
    strobed: Rc<Cell<Option<Picoseconds>>>,
}

impl Watch {
    fn violation(&self, what: &str) {
        let reason = format!("{}: {what} at {}", self.name, self.sim.now());
        self.sim.fail(SimError::Device { device: self.device.name().to_owned(), reason });
    }
}

impl PinAgent for Watch {
    fn sample(&mut self, _time: Picoseconds) {}

    fn drive(&mut self, time: Picoseconds) {
        if self.reset_n.get() == 0 {
            return;
        }
        let (dtack, berr) = (self.dtack_n.get() == 0, self.berr_n.get() == 0);
        let level = dtack || berr;
        if dtack && berr {
            self.violation("DTACK and BERR together");
        }
        if level == self.answer.level.get() {
            return;
        }
        match (level, self.strobed.get()) {
            (true, None) => self.violation("an answer without a data strobe"),
            (true, Some(since)) if time < since + EARLIEST_ANSWER => {
                self.violation("an answer within 30 ns of the data strobe");
            }
            (false, Some(_)) => self.violation("the answer is gone before the data strobe"),
            _ => {}
        }
        self.answer.error.set(berr);
        self.answer.data.set(self.data.get());
        self.answer.drives.set(self.data_oe.get() != 0);
        self.answer.level.set(level);
        if let Some(waker) = self.answer.waker.borrow_mut().take() {
            waker.wake();
        }
    }

    fn quiet(&self) -> bool {
        true
    }
}
