// SPDX-License-Identifier: Apache-2.0
//! The host programs: what runs on the simulated host.

use std::collections::VecDeque;

use serde_json::Value;

use isthmus_host::etherbone::{Client, Cycle, Error, Pending};
use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::Sim;

use super::library::LibraryCosts;
use super::scenario::{Method, Procedure};
use super::session::{MAX_READS, Series, Session, bus, client_config};
use super::steady::{Look, MOST, Window};
use super::task::{During, Finished, Outcome, Task};
use super::transport::{Carrier, Measured};
use crate::noise::Noise;

/// Cycles before a steady window of blocking cycles. They absorb start-up effects: the first
/// interrupt, which is not moderated, and cold caches.
const WARM_UP: usize = 2;

/// New cycles are submitted when this part of those in flight has ended, so that several fill a
/// datagram.
const ROUNDS: usize = 8;

/// A host program, ready to run.
pub(super) struct Program {
    sim: Sim,
    epoch_ns: u64,
    costs: LibraryCosts,
    noise: Option<Noise>,
}

impl Program {
    pub(super) fn new(sim: Sim, epoch_ns: u64, costs: LibraryCosts, noise: Option<Noise>) -> Self {
        Self { sim, epoch_ns, costs, noise }
    }

    pub(super) async fn run<C: Carrier>(self, carrier: C, task: Task) -> Finished {
        let (transport, log) = Measured::new(&self.sim, carrier, self.costs, self.noise);
        let meter = transport.meter();
        let client = Client::connect_metered(transport, client_config(), meter);
        let client = client.await.during("probe")?;
        let mut session = Session {
            sim: self.sim,
            epoch_ns: self.epoch_ns,
            client,
            log,
            idle: Picoseconds::ZERO,
        };
        let mut outcome = match task {
            Task::Timestamps { method, per_cycle, cycles, run, .. } => {
                session.check_ram(64).await?;
                match run.procedure {
                    Procedure::Published => session.timestamps(method, per_cycle, cycles).await?,
                    Procedure::Steady => {
                        session.steady(method, per_cycle, cycles, run.window).await?
                    }
                }
            }
            Task::Words { method, words, iterations } => {
                session.words(method, words, iterations).await?
            }
            Task::Tlu { method, cycles } => session.latch_unit(method, cycles).await?,
            Task::Path { reads } => session.path(reads).await?,
            Task::Access(access) => session.access(&access).await?,
        };
        outcome.statistics = session.client.statistics();
        Ok(outcome)
    }
}

impl<C: Carrier> Session<C> {
    /// Pairs of TIME_HI and TIME_LO as times, checked. `operations` are the reads of each cycle.
    fn take_timestamps(&self, series: &Series, operations: usize, floor: &mut u64) -> Vec<u64> {
        let cycle = |read: usize| series.log.get(read / operations.max(1));
        let mut times = Vec::with_capacity(series.reads.len() / 2);
        for (index, pair) in series.reads.chunks_exact(2).enumerate() {
            if let Some(sent) = cycle(2 * index) {
                *floor = (*floor).max(self.time_ns(sent.begin));
            }
            let received = cycle(2 * index + 1).map_or(series.end, |cycle| cycle.end);
            let mut time = pair[0] << 32 | pair[1];
            // The two halves are not latched together: LO may have wrapped after HI was read.
            if time + (1 << 31) < *floor {
                time += 1 << 32;
            }
            self.check_time("timestamp", time, floor, self.time_ns(received) + 1);
            times.push(time);
        }
        times
    }

    async fn single_timestamp(
        &mut self,
        what: &'static str,
        floor: &mut u64,
    ) -> Result<u64, (&'static str, Error)> {
        let cycle = Cycle::new().read(bus::TIME_HI).read(bus::TIME_LO);
        let series = self.series(Method::Blocking, &[cycle]).await.during(what)?;
        let times = self.take_timestamps(&series, 2, floor);
        // A cycle of two reads that succeeded brought one time.
        Ok(times.first().copied().unwrap_or_default())
    }

    /// Runs cycles, `window` of them in flight, until a window of at least `least` is complete.
    /// Whenever an eighth of them has ended, the same number is submitted. Returns the series and
    /// its part that counts.
    async fn windowed(
        &mut self,
        cycle: &Cycle,
        window: u32,
        least: u32,
    ) -> Result<(Series, Window), Error> {
        let first = self.log.borrow().cycles.len();
        let start = self.sim.now();
        let mut measured = Window::new(u64::from(window), u64::from(least), MOST);
        let (mut reads, mut ended) = (Vec::new(), 0);
        let mut pending: VecDeque<Pending> = VecDeque::new();
        let round = (window as usize).div_ceil(ROUNDS);
        loop {
            while let Some(result) = pending.front().and_then(Pending::take) {
                reads.extend(result?.reads);
                pending.pop_front();
                ended += 1;
            }
            if pending.len() + round > window as usize {
                self.client.step().await?;
                continue;
            }
            if measured.look(Look { at: self.sim.now(), ended }) {
                break;
            }
            while pending.len() < window as usize {
                self.log.borrow_mut().asked.push_back(self.sim.now());
                pending.push_back(self.client.submit(cycle)?);
            }
            self.client.flush().await?;
        }
        self.client.settle().await?;
        for result in pending {
            reads.extend(result.take().unwrap_or(Err(Error::Dropped))?.reads);
        }
        let log = self.log.borrow().cycles.get(first..).unwrap_or_default().to_vec();
        Ok((Series { reads, start, end: self.sim.now(), log }, measured))
    }

    /// Timestamps at a steady rate: neither the filling of the pipe nor its running empty counts.
    async fn steady(
        &mut self,
        method: Method,
        per_cycle: u32,
        least: u32,
        window: u32,
    ) -> Finished {
        const SERIES: &str = "series of timestamps";
        let mut floor = 0;
        let addresses =
            (0..2 * per_cycle).map(|i| if i % 2 == 0 { bus::TIME_HI } else { bus::TIME_LO });
        let whole = Cycle::new().reads(addresses.clone());
        // Cycles that belong together, the span that counts, and the cycles in it.
        let (series, (from, to), counted, steady) = match method {
            Method::Pipelined => {
                let (series, measured) =
                    self.windowed(&whole, window, least).await.during(SERIES)?;
                let (first, last) = measured.edges();
                let counted = first.ended as usize..last.ended as usize;
                (series, (first.at, last.at), counted, Some(measured.is_steady()))
            }
            Method::Convenience | Method::Blocking => {
                let group: Vec<Cycle> = match method {
                    Method::Convenience => addresses.map(|a| Cycle::new().read(a)).collect(),
                    _ => vec![whole],
                };
                let head = WARM_UP * group.len();
                let groups = WARM_UP + least as usize;
                let requests: Vec<Cycle> =
                    std::iter::repeat_n(&group, groups).flatten().cloned().collect();
                let series = self.series(method, &requests).await.during(SERIES)?;
                let from = series.log.get(head).map_or(series.start, |cycle| cycle.asked);
                let span = (from, series.end);
                let counted = head..series.log.len();
                (series, span, counted, None)
            }
        };
        let operations = if method == Method::Convenience { 1 } else { 2 * per_cycle as usize };
        let times = self.take_timestamps(&series, operations, &mut floor);
        let all = series.log.len();
        let cycles = &series.log[counted.clone()];
        let stamps = counted.start * operations / 2..counted.end * operations / 2;
        let inside = match per_cycle {
            2.. if method != Method::Convenience => inside_cycle(&times[stamps.clone()], per_cycle),
            _ => Value::Null,
        };
        let timestamps = stamps.len() as u64;
        Ok(Outcome {
            intervals: vec![(from, to)],
            samples: cycles.iter().map(|cycle| cycle.end.saturating_sub(cycle.asked)).collect(),
            cycle_of_sample: Some((0..cycles.len()).collect()),
            excluded: (counted.start as u64, (all - counted.end) as u64),
            timestamps: Some(timestamps),
            steady,
            windows: [("inside_cycle_per_timestamp".to_owned(), inside)].into_iter().collect(),
            payload_bytes: 8 * timestamps,
            cycles: cycles.len() as u64,
            log: cycles.to_vec(),
            ..Outcome::default()
        })
    }

    /// The document's measurement: single timestamp, series, concluding timestamp.
    async fn timestamps(&mut self, method: Method, per_cycle: u32, cycles: u32) -> Finished {
        let mut floor = 0;
        let before = self.single_timestamp("first timestamp", &mut floor).await?;
        let addresses = |count: u32| {
            (0..2 * count).map(|i| if i % 2 == 0 { bus::TIME_HI } else { bus::TIME_LO })
        };
        let (requests, operations): (Vec<Cycle>, u32) = match method {
            Method::Convenience => {
                (addresses(per_cycle * cycles).map(|a| Cycle::new().read(a)).collect(), 1)
            }
            Method::Blocking | Method::Pipelined => {
                let cycle = Cycle::new().reads(addresses(per_cycle));
                (vec![cycle; cycles as usize], 2 * per_cycle)
            }
        };
        let series = self.series(method, &requests).await.during("series of timestamps")?;
        let times = self.take_timestamps(&series, operations as usize, &mut floor);
        let after = self.single_timestamp("concluding timestamp", &mut floor).await?;

        let first = times.first().copied().unwrap_or(before);
        let last = times.last().copied().unwrap_or(before);
        let ps = |from: u64, to: u64| Value::from(to.saturating_sub(from) * 1_000);
        let inside = match per_cycle {
            2.. if method != Method::Convenience => inside_cycle(&times, per_cycle),
            _ => Value::Null,
        };
        let windows = [
            ("realistic", ps(before, last)),
            ("underestimated", ps(first, last)),
            ("overestimated", ps(before, after)),
            ("inside_cycle_per_timestamp", inside),
        ];
        Ok(Outcome {
            windows: windows.map(|(name, value)| (name.to_owned(), value)).into_iter().collect(),
            excluded: (1, 1),
            timestamps: Some(u64::from(per_cycle) * u64::from(cycles)),
            payload_bytes: 8 * u64::from(per_cycle) * u64::from(cycles),
            ..Outcome::of_cycles(series)
        })
    }

    /// Reads a number of words of the ECA, repeatedly.
    async fn words(&mut self, method: Method, words: u32, iterations: u32) -> Finished {
        let per_cycle = match method {
            Method::Convenience => 1,
            Method::Blocking | Method::Pipelined => MAX_READS,
        } as usize;
        let addresses: Vec<u64> =
            (0..words).map(|i| if i % 2 == 0 { bus::TIME_HI } else { bus::TIME_LO }).collect();
        let cycles: Vec<Cycle> = addresses
            .chunks(per_cycle)
            .map(|chunk| Cycle::new().reads(chunk.iter().copied()))
            .collect();
        let mut floor = 0;
        self.single_timestamp("first timestamp", &mut floor).await?;
        let mut outcome = Outcome { excluded: (1, 0), ..Outcome::default() };
        for _ in 0..iterations {
            let series = self.series(method, &cycles).await.during("series of words")?;
            self.take_timestamps(&series, per_cycle, &mut floor);
            outcome.samples.push(series.end - series.start);
            outcome.intervals.push((series.start, series.end));
            outcome.log.extend(series.log);
        }
        outcome.payload_bytes = 4 * u64::from(words) * u64::from(iterations);
        outcome.cycles = outcome.log.len() as u64;
        // A sample of one blocking cycle ends with the cycle, and so do its stages.
        let single = cycles.len() == 1;
        outcome.cycle_of_sample = single.then(|| (0..outcome.log.len()).collect());
        Ok(outcome)
    }

    /// The latch unit's benchmark: three reads and one write. Timestamps for it are made before.
    async fn latch_unit(&mut self, method: Method, cycles: u32) -> Finished {
        const SETUP: &str = "set up the latch unit";
        let setup = Cycle::new()
            .write(bus::CH_SELECT, 0)
            .write(bus::ARMSET, 1)
            .write(bus::FIFO_CLEAR, 1)
            .read(bus::FIFOSIZE);
        let reply = self.client.execute(setup).await.during(SETUP)?;
        let capacity = reply.reads.first().copied().unwrap_or_default().clamp(1, 64) as u32;
        let operations = [
            Cycle::new().read(bus::FIFO_READY),
            Cycle::new().read(bus::FTSHI),
            Cycle::new().read(bus::FTSLO),
            Cycle::new().write(bus::FIFO_POP, 0),
        ];
        let whole =
            Cycle::new().reads([bus::FIFO_READY, bus::FTSHI, bus::FTSLO]).write(bus::FIFO_POP, 0);
        let mut outcome = Outcome::default();
        let mut floor = 0;
        let mut left = cycles;
        while left > 0 {
            let batch = left.min(capacity);
            left -= batch;
            let filled_from = self.time_ns(self.sim.now());
            // A test input is an edge: it has to fall before it can rise again.
            let edges = (0..2 * batch).map(|i| u64::from(i % 2 == 0));
            let fill = Cycle::new().write_fifo(bus::TEST, edges);
            self.client.execute(fill).await.during("make timestamps")?;
            let filled_until = self.time_ns(self.sim.now());
            let requests: Vec<Cycle> = match method {
                Method::Convenience => (0..batch).flat_map(|_| operations.clone()).collect(),
                Method::Blocking | Method::Pipelined => vec![whole.clone(); batch as usize],
            };
            let series = self.series(method, &requests).await.during("read the latch unit")?;
            // Latched times are whole units: up to one less than the true time.
            floor = floor.max(filled_from - bus::TLU_UNIT_NS);
            for reads in series.reads.chunks_exact(3) {
                self.compare_words("FIFO_READY", &[1], &[reads[0] & 1]);
                let time = (reads[1] << 32 | reads[2]) * bus::TLU_UNIT_NS;
                self.check_time("latched time", time, &mut floor, filled_until + 1);
            }
            outcome.payload_bytes += 16 * u64::from(batch);
            outcome.absorb(series);
        }
        Ok(outcome)
    }

    /// One cycle of reads, so that nothing else is in the gateware.
    async fn path(&mut self, reads: u32) -> Finished {
        let pattern = self.check_ram(reads).await?;
        let cycle = Cycle::new().reads((0..u64::from(reads)).map(|i| bus::RAM + 4 * i)).silent();
        let series = self.series(Method::Blocking, &[cycle]).await.during("read the RAM")?;
        self.compare_words("RAM", &pattern, &series.reads);
        Ok(Outcome { payload_bytes: 4 * u64::from(reads), ..Outcome::of_cycles(series) })
    }
}

/// The mean distance of neighbouring timestamps of one cycle, in picoseconds.
fn inside_cycle(times: &[u64], per_cycle: u32) -> Value {
    let cycles = times.chunks_exact(per_cycle as usize);
    let count = cycles.len();
    let spans = cycles.map(|cycle| {
        let (first, last) = (cycle[0], cycle[cycle.len() - 1]);
        last.saturating_sub(first) as f64 / f64::from(per_cycle - 1)
    });
    Value::from(1e3 * spans.sum::<f64>() / count as f64)
}

impl Outcome {
    /// Every cycle of the series is a sample.
    fn of_cycles(series: Series) -> Self {
        let mut outcome = Self::default();
        outcome.absorb(series);
        outcome
    }

    fn absorb(&mut self, series: Series) {
        self.intervals.push((series.start, series.end));
        let from = self.log.len();
        self.samples.extend(series.log.iter().map(|cycle| cycle.end.saturating_sub(cycle.asked)));
        self.log.extend(series.log);
        self.cycles = self.log.len() as u64;
        self.cycle_of_sample.get_or_insert_default().extend(from..self.log.len());
    }
}
