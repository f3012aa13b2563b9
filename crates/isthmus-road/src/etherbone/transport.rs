// SPDX-License-Identifier: Apache-2.0
//! The client's transport over a simulated bus, and the log that measurements are made from.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use isthmus_host::etherbone::{Meter, Work};
use isthmus_host::transport::{Kind, Transport, TransportError};
use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::{FrameId, Sim};
use isthmus_sim::world::host::Cpu;

use super::library::LibraryCosts;
use crate::noise::Noise;

/// One Etherbone cycle, from the program's call to its result.
#[derive(Debug, Clone, Default)]
pub(super) struct CycleLog {
    /// The program requested it: its latency counts from here.
    pub(super) asked: Picoseconds,
    /// The library begins to build the request.
    pub(super) begin: Picoseconds,
    /// It is built.
    pub(super) built: Picoseconds,
    /// The carrier of the request, and the begin of its send call.
    pub(super) request: Option<(FrameId, Picoseconds)>,
    /// The carrier of the reply, and the return of the receive call.
    pub(super) reply: Option<(FrameId, Picoseconds)>,
    /// The program runs again, after any delay of the operating system.
    pub(super) resumed: Picoseconds,
    /// The library begins to take the reply apart.
    pub(super) matched: Picoseconds,
    /// The program has the result.
    pub(super) end: Picoseconds,
}

/// All cycles of a client, in the order in which they were built.
#[derive(Debug, Default)]
pub(super) struct Log {
    pub(super) cycles: Vec<CycleLog>,
    /// Request times of the cycles that are queued and not yet built.
    pub(super) asked: VecDeque<Picoseconds>,
    /// When the program has something else to do than to wait for replies.
    pub(super) wake_at: Option<Picoseconds>,
    sent: usize,
    completed: usize,
    reply: Option<(FrameId, Picoseconds)>,
    resumed: Picoseconds,
}

/// Until when a program waits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Until {
    pub(super) time: Picoseconds,
    /// The program has other work at that time: no reply until then is not an error.
    pub(super) busy: bool,
}

/// A bus with its driver, as a program sees it: bytes to one device, and bytes from it.
pub(super) trait Carrier {
    /// True if message boundaries are preserved.
    fn kind(&self) -> Kind;

    /// The host of the program.
    fn cpu(&self) -> &Cpu;

    /// Sends a message, with the driver's cost; returns what carries it.
    async fn send(&mut self, message: &[u8]) -> Result<FrameId, TransportError>;

    /// Waits for bytes, with the driver's cost; how many, and what carried them.
    async fn recv(
        &mut self,
        buffer: &mut [u8],
        until: Until,
    ) -> Result<(usize, FrameId), TransportError>;

    /// The time that the program waited for the device: the processor did nothing for it.
    fn blocked(&self) -> Picoseconds;
}

/// A carrier with the cost of the library's own work, keeping the log.
pub(super) struct Measured<C> {
    sim: Sim,
    carrier: C,
    costs: LibraryCosts,
    log: Rc<RefCell<Log>>,
    noise: Option<Noise>,
}

impl<C: Carrier> Measured<C> {
    pub(super) fn new(
        sim: &Sim,
        carrier: C,
        costs: LibraryCosts,
        noise: Option<Noise>,
    ) -> (Self, Rc<RefCell<Log>>) {
        let log = Rc::new(RefCell::new(Log::default()));
        (Self { sim: sim.clone(), carrier, costs, log: Rc::clone(&log), noise }, log)
    }

    /// The meter of the client over this transport.
    pub(super) fn meter(&self) -> LibraryMeter {
        LibraryMeter {
            sim: self.sim.clone(),
            cpu: self.carrier.cpu().clone(),
            costs: self.costs,
            log: Rc::clone(&self.log),
        }
    }

    /// The carrier below.
    pub(super) fn carrier(&self) -> &C {
        &self.carrier
    }

    /// Another program, or the kernel, has the processor.
    pub(super) async fn interrupted(&self) {
        if let Some(noise) = &self.noise {
            noise.delay(&self.sim).await;
        }
    }
}

impl<C: Carrier> Transport for Measured<C> {
    fn kind(&self) -> Kind {
        self.carrier.kind()
    }

    fn now(&self) -> Duration {
        Duration::from_nanos(self.sim.now().0 / 1_000)
    }

    async fn send(&mut self, message: &[u8]) -> Result<(), TransportError> {
        let start = self.sim.now();
        let frame = self.carrier.send(message).await?;
        let mut log = self.log.borrow_mut();
        let first = log.sent;
        log.sent = log.cycles.len();
        for cycle in &mut log.cycles[first..] {
            cycle.request = Some((frame, start));
            span(&self.sim, "build request", cycle.begin, cycle.built, frame.0);
        }
        Ok(())
    }

    async fn recv(
        &mut self,
        buffer: &mut [u8],
        deadline: Duration,
    ) -> Result<usize, TransportError> {
        self.carrier.cpu().run(self.costs.event_loop).await;
        let deadline = Picoseconds(deadline.as_nanos() as u64 * 1_000);
        let wake_at = self.log.borrow().wake_at.filter(|wake_at| *wake_at < deadline);
        let until = Until { time: wake_at.unwrap_or(deadline), busy: wake_at.is_some() };
        let received = self.carrier.recv(buffer, until).await;
        let woken = self.sim.now();
        self.interrupted().await;
        let (length, frame) = received?;
        let mut log = self.log.borrow_mut();
        (log.reply, log.resumed) = (Some((frame, woken)), self.sim.now());
        Ok(length)
    }
}

/// The processor's time for the library's own work, in the log.
pub(super) struct LibraryMeter {
    sim: Sim,
    cpu: Cpu,
    costs: LibraryCosts,
    log: Rc<RefCell<Log>>,
}

impl Meter for LibraryMeter {
    async fn work(&mut self, work: Work) {
        let begin = self.sim.now();
        match work {
            Work::Build { operations } => {
                self.cpu.run(self.costs.build(operations)).await;
                let built = self.sim.now();
                let mut log = self.log.borrow_mut();
                let asked = log.asked.pop_front().unwrap_or(begin);
                log.cycles.push(CycleLog { asked, begin, built, ..CycleLog::default() });
            }
            Work::Complete { operations } => {
                self.cpu.run(self.costs.complete(operations)).await;
                let end = self.sim.now();
                let mut log = self.log.borrow_mut();
                let (index, reply, resumed) = (log.completed, log.reply, log.resumed);
                log.completed += 1;
                self.sim.count_transfers(1);
                if let Some(cycle) = log.cycles.get_mut(index) {
                    cycle.resumed = resumed;
                    cycle.matched = begin;
                    cycle.end = end;
                    cycle.reply = reply;
                }
                if let Some((frame, _)) = reply {
                    span(&self.sim, "take reply apart", begin, end, frame.0);
                }
            }
        }
    }
}

fn span(sim: &Sim, stage: &str, start: Picoseconds, end: Picoseconds, tag: u64) {
    if end > start {
        sim.spans().record(&"host".into(), &stage.into(), start, end, tag);
    }
}
