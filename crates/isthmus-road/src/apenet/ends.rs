// SPDX-License-Identifier: Apache-2.0
//! An end of the ring: its program, memory and node, and what both ends' programs know of each other.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use isthmus_host::nic::{Arrival, Message, Nic, NicConfig, Place};
use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::Sim;
use isthmus_sim::world::host::MmioHost;

use super::kernel::{Kernel, ProgramBar, ProgramMemory, program};
use super::scenario::{ApenetScenario, NAME};
use super::world::Sent;
use crate::arrivals::{Arrivals, Starts, stream_of};
use crate::error::RoadError;
use crate::gpu::Data;
use crate::noise::Noise;

/// Longest wait for an event, beside noise and the time between two puts at a rate.
pub(super) const SILENCE: Picoseconds = Picoseconds::from_ms(2);
/// What a probe's tag can tell apart.
pub(super) const TAGS: usize = 256;

/// How long a program had waited by some time: the rest of it, it occupied its processor.
#[derive(Clone, Copy, Default)]
pub(super) struct Usage {
    pub(super) at: Picoseconds,
    pub(super) waited: Picoseconds,
}

impl Usage {
    /// The share of the time since `before` for which the program did not wait.
    pub(super) fn share_since(self, before: Self) -> f64 {
        let span = self.at.saturating_sub(before.at).0 as f64;
        let waited = self.waited.saturating_sub(before.waited).0 as f64;
        if span > 0.0 { (1.0 - waited / span).clamp(0.0, 1.0) } else { 0.0 }
    }
}

/// One put or get of the first program.
#[derive(Clone, Copy, Default)]
pub(super) struct One {
    /// The program wants it put; at a rate, should have wanted it.
    pub(super) begun: Picoseconds,
    /// The post, behind the copy out of a GPU where there is one.
    pub(super) posted: Picoseconds,
    /// The far program has the event, which the copy into a GPU follows.
    pub(super) came: Picoseconds,
    /// With test put: the last byte is in the far memory.
    pub(super) landed: Picoseconds,
    /// The far program has its data; with ping-pong this one has that of the answer.
    pub(super) seen: Picoseconds,
    /// What the links had carried by then.
    pub(super) carried: Sent,
    /// The first program when it took this one up, and the far one when it had it, where that takes part.
    pub(super) usage: [Usage; 2],
}

/// What both programs know of each other: it costs no simulated time.
#[derive(Default)]
pub(super) struct Shared {
    pub(super) ones: RefCell<Vec<One>>,
    pub(super) payloads: RefCell<VecDeque<Vec<u8>>>,
    pub(super) compared: Cell<u64>,
}

pub(super) fn failed(error: isthmus_host::nic::NicError) -> RoadError {
    RoadError::program(NAME, error)
}

pub(super) fn wrong(what: String) -> RoadError {
    RoadError::Violation(format!("{NAME}: {what}"))
}

/// Bytes of a put, distance of two of them in memory, how many places there are, and buffers of a list instead.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) bytes: usize,
    pub(super) place: usize,
    pub(super) window: usize,
    pub(super) buffers: usize,
}

impl Shape {
    /// Where put `number` is in the put memory, and in a target that is no list.
    pub(super) fn slot(self, number: usize) -> usize {
        number % self.window * self.place
    }

    /// Where put `number` is in the target.
    pub(super) fn landing(self, number: usize) -> usize {
        match self.buffers {
            0 => self.slot(number),
            buffers => number % buffers * self.place,
        }
    }
}

/// One end: a host's program with its node.
pub(super) struct End {
    pub(super) sim: Sim,
    pub(super) data: Rc<Data>,
    pub(super) nic: Nic<ProgramBar, ProgramMemory>,
    /// What is put next, where it is stored together with its post.
    brought: Option<RefCell<Vec<u8>>>,
    /// Posts that are not announced.
    pub(super) waiting: u32,
    pub(super) arrivals: Arrivals,
    pub(super) shape: Shape,
    /// Of the operating system, where its program is delayed.
    pub(super) noise: Option<Noise>,
    /// The time that its program waited for something else than events.
    pub(super) slept: Picoseconds,
    /// What an event may take longer, for noise and the time between two puts.
    pub(super) late: Picoseconds,
}

impl End {
    pub(super) async fn open(
        sim: Sim,
        (host, config, data): (MmioHost, NicConfig, Rc<Data>),
        scenario: &ApenetScenario,
        noise: Option<Noise>,
    ) -> Result<Self, RoadError> {
        let inline = scenario.workload.inline;
        let turn = Picoseconds::from_ns_f64(scenario.platform.kernel_ns);
        let gpu = data.peer().filter(|_| inline);
        let (bar, memory) = program(&sim, &host, gpu.map(|gpu| Kernel::new(&sim, gpu, turn)));
        let nic = Nic::open(bar, memory, &config).await.map_err(failed)?;
        nic.memory().start();
        let arrivals = scenario.arrivals();
        Ok(Self {
            sim,
            data,
            nic,
            brought: inline.then(RefCell::default),
            waiting: 0,
            arrivals,
            noise,
            slept: Picoseconds::ZERO,
            late: arrivals.longest_gap() + scenario.longest_noise(),
            shape: Shape {
                bytes: scenario.workload.bytes,
                place: scenario.place_bytes(),
                window: scenario.workload.window as usize,
                buffers: scenario.buffers(),
            },
        })
    }

    pub(super) fn deadline(&self) -> Duration {
        Duration::from_nanos((self.sim.now() + SILENCE + self.late).0 / 1_000)
    }

    /// When its puts or gets are due, where they come at a rate.
    pub(super) fn starts(&self) -> Option<Starts> {
        let starts = |rate| Starts::new(rate, self.sim.random(&stream_of(0)), self.sim.now());
        self.arrivals.rate_per_s().map(starts)
    }

    /// Waits for something else than an event.
    pub(super) async fn sleeps<F: Future>(&mut self, what: F) -> F::Output {
        let asleep = self.sim.now();
        let output = what.await;
        self.slept += self.sim.now() - asleep;
        output
    }

    /// How long its program has waited, by now.
    pub(super) fn usage(&self) -> Usage {
        Usage { at: self.sim.now(), waited: self.nic.memory().blocked() + self.slept }
    }

    /// The operating system lets its program run again, if that has waited since `before`.
    pub(super) async fn resume(&self, before: Usage) {
        if let Some(noise) = self.noise.as_ref().filter(|_| self.usage().waited > before.waited) {
            noise.delay(&self.sim).await;
        }
    }

    /// Has `payload` at the place of put `number`, or in its processor.
    pub(super) fn fill(&self, number: usize, payload: &[u8]) -> Result<(), RoadError> {
        if let Some(brought) = &self.brought {
            brought.replace(payload.to_vec());
            return Ok(());
        }
        self.data.fill(self.shape.slot(number), payload)
    }

    /// Posts put `number`; gives when, behind the copy that it may need.
    pub(super) async fn put(&mut self, number: usize) -> Result<Picoseconds, RoadError> {
        let slot = self.shape.slot(number);
        self.data.copy_out(slot, self.shape.bytes).await?;
        let posted = self.sim.now();
        let remote = if self.shape.buffers > 0 { 0 } else { slot };
        match &self.brought {
            Some(payload) => self.nic.put_inline(&payload.take(), 0, remote).await,
            None => self.nic.put(slot, self.shape.bytes, 0, remote).await,
        }
        .map_err(failed)?;
        self.waiting += 1;
        Ok(posted)
    }

    /// Takes announcements until fewer than `most` posts are without one.
    pub(super) async fn below(&mut self, most: u32) -> Result<(), RoadError> {
        while self.waiting >= most {
            match self.nic.put_done(self.deadline()).await.map_err(failed)? {
                Some(done) if !done.error && done.refused.is_none() => self.waiting -= 1,
                other => return Err(wrong(format!("a put that was posted: {other:?}"))),
            }
        }
        Ok(())
    }

    /// The next put, which must be `number`, from `source`; gives when its event was seen, before the copy that it
    /// may need.
    pub(super) async fn came(
        &mut self,
        number: usize,
        source: usize,
    ) -> Result<Picoseconds, RoadError> {
        if self.shape.buffers > 0 {
            return self.listed(number, source).await;
        }
        let before = self.usage();
        let found = self.nic.came(self.deadline()).await.map_err(failed)?;
        self.resume(before).await;
        let place = Place { x: source as u8, y: 0, z: 0 };
        match found {
            Some(Arrival { source, number: sequence, offset, bytes, .. })
                if source == place
                    && sequence as usize == number
                    && offset == self.shape.slot(number) as u64
                    && bytes == self.shape.bytes =>
            {
                let seen = self.sim.now();
                self.data.copy_in(self.shape.slot(number), self.shape.bytes).await?;
                Ok(seen)
            }
            Some(other) => Err(wrong(format!("put {number} expected, and {other:?} came"))),
            None => Err(wrong(format!("put {number} did not come"))),
        }
    }

    /// The same of a message. A buffer is given back behind its comparison: the sender has posted no more than
    /// `window` that are not compared.
    pub(super) async fn listed(
        &mut self,
        number: usize,
        source: usize,
    ) -> Result<Picoseconds, RoadError> {
        if number > self.shape.window {
            self.nic.recycle(0).await.map_err(failed)?;
        }
        let before = self.usage();
        let found = self.nic.next(self.deadline()).await.map_err(failed)?;
        self.resume(before).await;
        let Some(event) = found else {
            return Err(wrong(format!("message {number} did not come")));
        };
        let expected =
            Message { source: Place { x: source as u8, y: 0, z: 0 }, number: number as u32 };
        if Message::of(&event) != expected
            || event.bytes as usize != self.shape.bytes
            || usize::from(event.index) != number % self.shape.buffers
            || event.error
        {
            return Err(wrong(format!("message {number} expected, and {event:?} came")));
        }
        Ok(self.sim.now())
    }
}

pub(super) fn random(sim: &Sim, name: &str) -> isthmus_sim::kernel::RandomStream {
    sim.random(&format!("{NAME}:{name}"))
}

pub(super) fn payload(random: &mut isthmus_sim::kernel::RandomStream, bytes: usize) -> Vec<u8> {
    let words = (0..bytes.div_ceil(8)).flat_map(|_| random.bits().to_le_bytes());
    words.take(bytes).collect()
}

/// Compares put `number` at its end.
pub(super) async fn compare(
    (data, shape): (&Data, Shape),
    number: usize,
    expected: &[u8],
    shared: &Shared,
) -> Result<(), RoadError> {
    let found = data.found(shape.landing(number), shape.bytes).await?;
    if found != expected {
        let at = found.iter().zip(expected).position(|(found, expected)| found != expected);
        return Err(wrong(format!("put {number}: byte {} is wrong", at.unwrap_or_default())));
    }
    shared.compared.set(shared.compared.get() + found.len() as u64);
    Ok(())
}
