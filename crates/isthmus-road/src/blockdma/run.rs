// SPDX-License-Identifier: Apache-2.0
//! One run: host, link and FPGA, the program, and what it measured.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use isthmus_host::pcie::{Descriptor, DescriptorRing, RingPlace};
use isthmus_sim::kernel::{RandomStream, Sim};
use isthmus_sim::world::host::Cpu;
use isthmus_sim::world::pcie::{Direction, Pcie};
use isthmus_sim::world::tasks::TaskPins;
use isthmus_sim::world::{CpuConfig, Memory};
use isthmus_sim::{Picoseconds, Simulation};

use super::NAME;
use super::engine::{Doorbell, Logic, Moved};
use super::scenario::{BlockDmaScenario, DATA_LINES, SLOTS};
use crate::arrivals::{Starts, is_saturated, stream};
use crate::dma::{
    BASE_LINE, Card, Dma, Engine, LINE_BYTES, Status, Tlps, fetch, first_seed, pattern, ring_lines,
};
use crate::error::RoadError;
use crate::host_bus::{Bar, HostMemory, MEMORY_BASE, host_config, memory};
use crate::measurement::{
    Carried, Checked, Excluded, Measurement, Origin, Samples, SimulationCost, Stage, Throughput,
};
use crate::road::Context;
use crate::stages::Way;
use crate::watch::{Step, follow};

/// A block that takes longer has been lost.
const STUCK: Duration = Duration::from_millis(10);

const RING: (RingPlace, u64) = ring_lines(DATA_LINES, SLOTS);

/// State of the counters at one time.
#[derive(Clone, Copy, Default)]
struct Counts {
    at: Picoseconds,
    wire: Picoseconds,
    host: Picoseconds,
}

/// What the program saw.
#[derive(Default)]
struct Outcome {
    due: Vec<Picoseconds>,
    done: Vec<Picoseconds>,
    from: Counts,
    until: Counts,
    checked: u64,
}

struct World {
    simulation: Simulation,
    status: Status,
    dma: Dma,
    cpu: Cpu,
    moved: Rc<RefCell<Moved>>,
    bar: Bar,
    host_memory: HostMemory,
}

impl World {
    fn build(scenario: &BlockDmaScenario, context: &Context<'_>) -> Result<Self, RoadError> {
        let platform = &scenario.platform;
        let simulation = Simulation::new(scenario.limits.simulation(scenario.seed));
        let card = Card {
            model_path: &scenario.fpga.model_path,
            reset_cycles: scenario.fpga.reset_cycles,
            waveform: None,
            clock_mhz: platform.clock_mhz,
            pcie: platform.memory_over_pcie(),
        };
        let fpga = card.add(&simulation, context.make_model)?;
        let memory = memory("host", RING.1 as usize * LINE_BYTES, &platform.host)?;
        let dma = Dma::attach(&simulation, &fpga, &card.pcie, memory)?;
        let first_seed = first_seed(scenario.seed);
        for line in 0..DATA_LINES {
            dma.set(line, &pattern(BASE_LINE + line, first_seed))?;
        }
        simulation.probes().set_enabled(false);
        let doorbell = Rc::new(Doorbell::default());
        dma.link.endpoint().serve(Rc::<Doorbell>::clone(&doorbell));
        let cpu = Cpu::new(&simulation, "host", &CpuConfig { cores: platform.host.cores })?;
        let host = dma.link.host(&host_config("host", &platform.host), &cpu, &dma.memory)?;
        let moved = Rc::new(RefCell::new(Moved::default()));
        let random = RandomStream::new(scenario.seed, "blockdma:data");
        let engine = Engine::new(&dma.memory, Some(RING.0), random, first_seed);
        let logic = Logic { doorbell, engine, moved: Rc::clone(&moved), fetched: 0 };
        TaskPins::attach(&fpga, &Rc::new(RefCell::new(logic)))?;
        let (bar, host_memory) = (Bar::new(&host), HostMemory::new(&simulation, &host));
        let status = Status::new(&fpga)?;
        Ok(Self { simulation, status, dma, cpu, moved, bar, host_memory })
    }
}

struct Program {
    sim: Sim,
    scenario: BlockDmaScenario,
    ring: DescriptorRing<Bar, HostMemory>,
    link: Pcie,
    cpu: Cpu,
    memory: Memory,
    moved: Rc<RefCell<Moved>>,
    outcome: Outcome,
}

impl Program {
    fn counts(&self) -> Counts {
        let way = if self.scenario.to_host() { Direction::Up } else { Direction::Down };
        Counts { at: self.sim.now(), wire: self.link.busy(way), host: self.cpu.busy() }
    }

    /// All blocks, the last one alone.
    async fn run(mut self) -> Result<Outcome, RoadError> {
        let (series, rate) = (self.scenario.series(), self.scenario.workload.rate_per_s);
        let random = stream(self.scenario.seed);
        let mut starts = rate.map(|rate| Starts::new(rate, random, self.sim.now()));
        let mut next = starts.as_mut().and_then(Iterator::next);
        self.outcome.from = self.counts();
        let mut ended = 0;
        while ended < series {
            let posted = self.outcome.due.len() as u64;
            let now = self.sim.now();
            let room = posted < series && self.ring.in_flight() < self.scenario.most();
            if room && next.is_none_or(|due| due <= now) {
                self.post(next.unwrap_or(now)).await?;
                next = starts.as_mut().and_then(Iterator::next);
                continue;
            }
            let until =
                next.filter(|_| room).map(|due| Duration::from_nanos(due.0.div_ceil(1_000)));
            if self.ring.in_flight() == 0 {
                self.sim.sleep_until(next.unwrap_or(now)).await;
            } else if self.end(until).await? {
                ended += 1;
                let counted = self.scenario.counted();
                if ended == counted.start {
                    self.outcome.from = self.counts();
                }
                if ended == counted.end {
                    self.outcome.until = self.counts();
                }
            }
        }
        self.post(self.sim.now()).await?;
        self.end(None).await?;
        Ok(self.outcome)
    }

    /// The place of a block in memory.
    fn offset(&self, block: u64) -> usize {
        let lines = self.scenario.lines();
        (block % (DATA_LINES / lines) * lines) as usize * LINE_BYTES
    }

    async fn post(&mut self, due: Picoseconds) -> Result<(), RoadError> {
        let block = self.outcome.due.len() as u64;
        self.outcome.due.push(due);
        let descriptor = Descriptor {
            address: MEMORY_BASE + self.offset(block) as u64,
            bytes: self.scenario.workload.bytes as u32,
            to_host: self.scenario.to_host(),
        };
        let number = self.ring.post(descriptor).await;
        number.map(drop).map_err(|error| RoadError::program(NAME, error))
    }

    /// Waits for the next block's end until a time; whether it came.
    async fn end(&mut self, until: Option<Duration>) -> Result<bool, RoadError> {
        let now = Duration::from_nanos(self.sim.now().0 / 1_000);
        let deadline = until.unwrap_or(now + STUCK);
        let ended =
            self.ring.next(deadline).await.map_err(|error| RoadError::program(NAME, error))?;
        let Some(block) = ended else {
            if until.is_some() {
                return Ok(false);
            }
            return Err(RoadError::Violation(format!(
                "blockdma: stuck after {} blocks: none ended for {STUCK:?}; seed {}",
                self.outcome.done.len(),
                self.scenario.seed
            )));
        };
        let done = match self.scenario.to_host() {
            true => {
                self.compare(block)?;
                self.sim.now()
            }
            false => self.moved.borrow_mut().arrived.remove(&block).ok_or_else(|| {
                RoadError::Violation(format!("blockdma: block {block} ended before its data came"))
            })?,
        };
        self.outcome.done.push(done);
        self.outcome.checked += self.scenario.workload.bytes as u64;
        self.sim.count_transfers(1);
        Ok(true)
    }

    /// A block in host memory must be what the engine made.
    fn compare(&self, block: u64) -> Result<(), RoadError> {
        let seed = self.moved.borrow_mut().seeds.remove(&block);
        let (offset, bytes) = (self.offset(block), self.scenario.workload.bytes);
        let found = self.memory.read(offset, bytes).unwrap_or_default();
        let first = BASE_LINE + (offset / LINE_BYTES) as u64;
        let must = seed.into_iter().flat_map(|seed| {
            (first..).take(self.scenario.lines() as usize).flat_map(move |line| pattern(line, seed))
        });
        if found.iter().copied().eq(must.take(bytes)) {
            return Ok(());
        }
        let seed = self.scenario.seed;
        Err(RoadError::Violation(format!("blockdma: block {block} has wrong bytes; seed {seed}")))
    }
}

/// Runs all blocks.
pub(super) fn run(
    scenario: &BlockDmaScenario,
    context: &Context<'_>,
) -> Result<Measurement, RoadError> {
    let begin = Instant::now();
    let world = World::build(scenario, context)?;
    let of = Step { total: 1, transfers_total: scenario.series() + 1, ..Step::default() };
    follow(&world.simulation, context.watch, of);
    let program = Program {
        sim: world.simulation.handle(),
        scenario: scenario.clone(),
        ring: DescriptorRing::new(world.bar.clone(), world.host_memory.clone(), RING.0),
        link: world.dma.link.clone(),
        cpu: world.cpu.clone(),
        memory: world.dma.memory.clone(),
        moved: Rc::clone(&world.moved),
        outcome: Outcome::default(),
    };
    let task = world.simulation.spawn(program.run());
    let outcome = world.simulation.run_until_complete(&task)??;
    let moved = world.moved.borrow();
    let reason = moved.wrong.clone().or_else(|| world.status.problem(moved.descriptors, true));
    if let Some(reason) = reason {
        return Err(RoadError::Violation(format!("blockdma: {reason}; seed {}", scenario.seed)));
    }
    let stages = stages(&world, scenario, &outcome)?;
    let mut made = measurement(&world, scenario, &outcome)?.staged(stages);
    made.simulation.wall_s = begin.elapsed().as_secs_f64();
    Ok(made)
}

fn measurement(
    world: &World,
    scenario: &BlockDmaScenario,
    outcome: &Outcome,
) -> Result<Measurement, RoadError> {
    let (workload, counted) = (&scenario.workload, scenario.counted());
    let arrivals = scenario.arrivals()?;
    let range = counted.start as usize..counted.end as usize;
    let mut samples = Samples::new()?;
    for (due, done) in outcome.due[range.clone()].iter().zip(&outcome.done[range.clone()]) {
        samples.add(*done - *due);
    }
    let elapsed = outcome.until.at - outcome.from.at;
    let share = |from: Picoseconds, until: Picoseconds| {
        ((until - from).0 as f64 / elapsed.0.max(1) as f64).clamp(0.0, 1.0)
    };
    let carried = Carried {
        operation: workload.operation,
        bytes: workload.bytes as u64,
        driver: "ring",
        window: arrivals.window(),
        rate_per_s: arrivals.rate_per_s(),
        noise: false,
        busy: BTreeMap::from([
            ("pcie", share(outcome.from.wire, outcome.until.wire)),
            ("host", share(outcome.from.host, outcome.until.host)),
        ]),
        saturated: arrivals.rate_per_s().is_some()
            && is_saturated(&outcome.due, &outcome.done, range),
    };
    let origin = Origin {
        road: NAME,
        platform: &scenario.platform.name,
        profile: scenario.profile.name(),
        method: workload.operation.name(),
        seed: scenario.seed,
    };
    let name = format!("ring-{}-{}", workload.bytes, arrivals.suffix());
    let definition = if scenario.to_host() { "rtt" } else { "one_way" };
    let mut made =
        Measurement::of(&origin, &name, &samples).described(definition, arrivals.to_string());
    made.workload = carried.to_workload();
    made.excluded = Excluded { head: counted.start, tail: scenario.series() - counted.end + 1 };
    let count = counted.end - counted.start;
    let moved = count * workload.bytes as u64;
    made.throughput = Some(Throughput::new(moved, None, count, None, elapsed));
    made.checked = Checked { bytes: outcome.checked, ..Checked::default() };
    made.counters = world.dma.counters();
    made.simulation = SimulationCost::of(&world.simulation.statistics());
    Ok(made)
}

/// Stages of the last block, which ran alone.
fn stages(
    world: &World,
    scenario: &BlockDmaScenario,
    outcome: &Outcome,
) -> Result<Vec<Stage>, RoadError> {
    let missing =
        || RoadError::Inconsistent("blockdma: the observed block left no trace".to_owned());
    let begin = *outcome.due.last().ok_or_else(missing)?;
    let end = *outcome.done.last().ok_or_else(missing)?;
    let Tlps { stores, asked, answers, written } = Tlps::since(&world.dma.link, begin);
    let mut way = Way::new(begin);
    let bell = stores.first().ok_or_else(missing)?;
    way.until("host", "descriptor and doorbell stored", bell.handed)?;
    way.until("pcie", "doorbell", bell.delivered)?;
    let ask = asked.first().ok_or_else(missing)?;
    fetch(&mut way, "pcie", ask, answers.first().ok_or_else(missing)?)?;
    if scenario.to_host() {
        let (record, data) = written.split_last().ok_or_else(missing)?;
        let [first, last] = [data.first(), data.last()].map(|one| one.ok_or_else(missing));
        way.until("fpga", "burst", first?.handed)?;
        way.until("pcie", "data", last?.delivered)?;
        way.until("pcie", "record behind it", record.delivered)?;
        let write = Picoseconds::from_ns_f64(scenario.platform.memory.write_ns);
        way.until("host", "record, memory", (record.delivered + write).min(end))?;
        way.until("host", "program sees it", end)?;
        return way.finish(end);
    }
    let ask = asked.get(1).ok_or_else(missing)?;
    let first = answers.get(1).ok_or_else(missing)?;
    let last = answers.iter().rfind(|one| one.delivered <= end).ok_or_else(missing)?;
    way.until("fpga", "burst", ask.handed)?;
    way.until("pcie", "data, asked for", ask.delivered)?;
    way.until("host", "data, memory", first.handed)?;
    way.until("pcie", "data", last.delivered)?;
    way.until("fpga", "beats", end)?;
    way.finish(end)
}
