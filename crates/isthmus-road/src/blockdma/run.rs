// SPDX-License-Identifier: Apache-2.0
//! One run: host, link and FPGA, the program, and what it measured.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use isthmus_host::pcie::{DESCRIPTOR_BYTES, Descriptor, DescriptorRing, RECORD_STRIDE, RingPlace};
use isthmus_sim::kernel::{DeviceHandle, RandomStream, Sim};
use isthmus_sim::world::host::Cpu;
use isthmus_sim::world::pcie::{Direction, Pcie, PciePins, TlpKind, TlpRecord};
use isthmus_sim::world::tasks::TaskPins;
use isthmus_sim::world::{CpuConfig, Memory};
use isthmus_sim::{ClockConfig, DeviceConfig, Hertz, Picoseconds, Simulation};

use super::NAME;
use super::engine::{Doorbell, Logic, Moved};
use super::scenario::{BlockDmaScenario, DATA_LINES, SLOTS};
use crate::arrivals::{Starts, is_saturated};
use crate::dma::{LINE_BYTES, pattern};
use crate::error::RoadError;
use crate::host_bus::{Bar, HostMemory, MEMORY_BASE, host_config, memory, pcie_config};
use crate::measurement::{
    Carried, Checked, Excluded, Measurement, Origin, Samples, SimulationCost, Stage, Throughput,
};
use crate::road::Context;
use crate::stages::Way;
use crate::watch::{Step, follow};

/// The doorbell and nothing else.
const BAR_BYTES: u64 = 0x1000;
/// A block that takes longer has been lost.
const STUCK: Duration = Duration::from_millis(10);

const PLACE: RingPlace = RingPlace {
    descriptors: DATA_LINES as usize * LINE_BYTES,
    records: DATA_LINES as usize * LINE_BYTES + SLOTS as usize * DESCRIPTOR_BYTES,
    slots: SLOTS,
};
const MEMORY_BYTES: usize = PLACE.records + SLOTS as usize * RECORD_STRIDE;
const FIRST_LINE: u64 = MEMORY_BASE / LINE_BYTES as u64;

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
    fpga: DeviceHandle,
    link: Pcie,
    cpu: Cpu,
    memory: Memory,
    moved: Rc<RefCell<Moved>>,
    bar: Bar,
    host_memory: HostMemory,
}

impl World {
    fn build(scenario: &BlockDmaScenario, context: &Context<'_>) -> Result<Self, RoadError> {
        let platform = &scenario.platform;
        let simulation = Simulation::new(scenario.limits.simulation(scenario.seed));
        let config = DeviceConfig {
            name: "fpga".to_owned(),
            model_path: scenario.fpga.model_path.clone(),
            clocks: vec![ClockConfig::new(
                "clk_i",
                Hertz((platform.clock_mhz * 1e6).round() as u64),
            )],
            reset_cycles: scenario.fpga.reset_cycles,
            cfg: BTreeMap::new(),
            epoch_ns: 0,
            trace: None,
            resets: Vec::new(),
            holds: Vec::new(),
        };
        let model = (context.make_model)(&scenario.fpga.model_path, None)?;
        let fpga = simulation.add_model(model, &config)?;
        let memory = memory("host", MEMORY_BYTES, &platform.host)?;
        let first_seed = scenario.seed as u32;
        for line in 0..DATA_LINES {
            store(&memory, line as usize * LINE_BYTES, &pattern(FIRST_LINE + line, first_seed))?;
        }
        let ends = [&platform.root, &platform.endpoint];
        let config = pcie_config("pcie", &platform.link, ends, &platform.memory, BAR_BYTES);
        let link = Pcie::new(&simulation, &config, &memory)?;
        PciePins::attach(&simulation, &fpga, &link)?;
        simulation.spans().set_enabled(false);
        simulation.probes().set_enabled(false);
        let doorbell = Rc::new(Doorbell::default());
        link.endpoint().serve(Rc::<Doorbell>::clone(&doorbell));
        let cpu = Cpu::new(&simulation, "host", &CpuConfig { cores: platform.host.cores })?;
        let host = link.host(&host_config("host", &platform.host), &cpu, &memory)?;
        let moved = Rc::new(RefCell::new(Moved::default()));
        let random = RandomStream::new(scenario.seed, "blockdma:data");
        let logic = Logic::new(&doorbell, &memory, PLACE, &moved, random, first_seed);
        TaskPins::attach(&fpga, &Rc::new(RefCell::new(logic)))?;
        let (bar, host_memory) = (Bar::new(&host), HostMemory::new(&simulation, &host));
        Ok(Self { simulation, fpga, link, cpu, memory, moved, bar, host_memory })
    }
}

fn store(memory: &Memory, at: usize, bytes: &[u8]) -> Result<(), RoadError> {
    memory.write(at, bytes).map_err(|error| RoadError::Inconsistent(format!("blockdma: {error}")))
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
        let random = RandomStream::new(self.scenario.seed, "blockdma:arrivals");
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
        let first = FIRST_LINE + (offset / LINE_BYTES) as u64;
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
    let status = ["status_wrong_o", "status_fail_o"];
    let [wrong, fail] = [world.fpga.output(status[0], 32)?, world.fpga.output(status[1], 1)?];
    let program = Program {
        sim: world.simulation.handle(),
        scenario: scenario.clone(),
        ring: DescriptorRing::new(world.bar.clone(), world.host_memory.clone(), PLACE),
        link: world.link.clone(),
        cpu: world.cpu.clone(),
        memory: world.memory.clone(),
        moved: Rc::clone(&world.moved),
        outcome: Outcome::default(),
    };
    let task = world.simulation.spawn(program.run());
    let outcome = world.simulation.run_until_complete(&task)??;
    let moved = world.moved.borrow();
    // The engine compares each line that it reads; descriptors are none of the pattern's.
    let lines = u64::from(wrong.get() as u32).saturating_sub(moved.descriptors);
    let reason = match &moved.wrong {
        Some(reason) => Some(reason.clone()),
        None if lines > 0 => Some(format!("{lines} lines came to the FPGA with wrong bytes")),
        None if fail.get() != 0 => Some("the FPGA's contract with its block broke".to_owned()),
        None => None,
    };
    if let Some(reason) = reason {
        return Err(RoadError::Violation(format!("blockdma: {reason}; seed {}", scenario.seed)));
    }
    let stages = stages(&world, scenario, &outcome)?;
    let mut made = measurement(&world, scenario, &outcome)?;
    made.stages_total_ps = stages.iter().map(|stage| stage.ps).sum();
    made.stages = stages;
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
    for (name, way) in [("to_host", Direction::Up), ("to_fpga", Direction::Down)] {
        let records = world.link.records_since(way, 0);
        made.counters.insert(format!("{name}.packets"), records.len() as u64);
        let bytes = records.iter().map(|one| one.wire_bytes).sum();
        made.counters.insert(format!("{name}.wire_bytes"), bytes);
    }
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
    let of = |direction, kind| -> Vec<TlpRecord> {
        let records = world.link.records_since(direction, 0).into_iter();
        records.filter(|one| one.kind == kind && one.handed >= begin).collect()
    };
    let rings = of(Direction::Down, TlpKind::Write);
    let answers = of(Direction::Down, TlpKind::Completion);
    let asked = of(Direction::Up, TlpKind::Read);
    let written = of(Direction::Up, TlpKind::Write);
    let mut way = Way::new(begin);
    let bell = rings.first().ok_or_else(missing)?;
    way.until("host", "descriptor and doorbell stored", bell.handed)?;
    way.until("pcie", "doorbell", bell.delivered)?;
    let ask = asked.first().ok_or_else(missing)?;
    let answer = answers.first().ok_or_else(missing)?;
    way.until("fpga", "descriptor asked for", ask.handed)?;
    way.until("pcie", "descriptor, to the host", ask.delivered)?;
    way.until("host", "descriptor, memory", answer.handed)?;
    way.until("pcie", "descriptor, back", answer.delivered)?;
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
