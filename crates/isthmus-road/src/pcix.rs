// SPDX-License-Identifier: Apache-2.0
//! A PCI-X bus alone, measured as by counters on the bus: stores of its host, and reads and writes
//! of a device that always has the next access pending.

pub mod scenario;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::Instant;

use serde_json::{Map, Value, json};

use isthmus_sim::kernel::RandomStream;
use isthmus_sim::world::host::{Cpu, MmioHost};
use isthmus_sim::world::pcix::{BarTarget, Pcix, PcixKind, PcixRecord, ReadReply, Taken};
use isthmus_sim::world::{CpuConfig, Memory};
use isthmus_sim::{Picoseconds, SimConfig, Simulation};

use crate::error::RoadError;
use crate::host_bus;
use crate::measurement::{
    Checked, Excluded, Measurement, Origin, Samples, SimulationCost, Throughput,
};
use crate::road::{Context, Road};
use crate::watch::{Step, Watch, follow};
use scenario::{PcixScenario, PcixTest};

/// Address of the device's reads and writes: a separate page.
const PLACE: usize = 4096;
const MEMORY_BYTES: usize = 4 * PLACE;
/// Longer than any access in progress when the last one was submitted.
const SETTLE: Picoseconds = Picoseconds::from_us(100);

/// The device's registers: what stores have left there.
struct Registers(RefCell<Vec<u8>>);

impl BarTarget for Registers {
    fn write(&self, offset: u64, data: Vec<u8>, _taken: Taken) {
        let at = offset as usize;
        self.0.borrow_mut()[at..at + data.len()].copy_from_slice(&data);
    }

    fn read(&self, offset: u64, bytes: usize, reply: ReadReply) {
        let at = offset as usize;
        let data = self.0.borrow()[at..at + bytes].to_vec();
        reply.send(data);
    }
}

const NAME: &str = "pcix";

/// A PCI-X bus alone.
pub struct PcixBus;

impl Road for PcixBus {
    fn name(&self) -> &'static str {
        NAME
    }

    fn schema(&self) -> schemars::Schema {
        crate::schema::of::<PcixScenario>()
    }

    fn run(&self, json: &str, context: &Context<'_>) -> Result<Vec<Measurement>, RoadError> {
        run(&PcixScenario::parse(json)?, context.watch)
    }
}

/// Runs it. No device's gateware takes part.
pub(crate) fn run(scenario: &PcixScenario, watch: &Watch) -> Result<Vec<Measurement>, RoadError> {
    let begin = Instant::now();
    let bus = Bus::build(scenario)?;
    let of = Step { total: 1, transfers_total: scenario.workload.times, ..Step::default() };
    follow(&bus.simulation, watch, of);
    let found = bus.execute(scenario)?;
    if found != bus.data {
        return Err(RoadError::Violation(format!(
            "pcix: {} of {} bytes came wrong; seed {}",
            scenario.workload.test.name(),
            scenario.workload.bytes,
            scenario.seed
        )));
    }
    let records = bus.bus.records_since(0);
    let seen = Seen::of(scenario, &records, bus.bus.cycle())?;
    Ok(vec![measurement(scenario, &seen, begin)?])
}

struct Bus {
    simulation: Simulation,
    bus: Pcix,
    host: MmioHost,
    memory: Memory,
    registers: Rc<Registers>,
    /// The data it carries.
    data: Vec<u8>,
}

impl Bus {
    fn build(scenario: &PcixScenario) -> Result<Self, RoadError> {
        let simulation = Simulation::new(SimConfig {
            skip_idle: true,
            idle_confirm_cycles: 4,
            wake_cycles: 4,
            ..scenario.limits.simulation(scenario.seed)
        });
        simulation.spans().set_enabled(false);
        let costs = &scenario.platform.host;
        let memory = host_bus::memory("host", MEMORY_BYTES, costs)?;
        let bus = Pcix::new(&simulation, &scenario.platform.bus, &memory)?;
        let cpu = Cpu::new(&simulation, "host", &CpuConfig { cores: costs.cores })?;
        let host = bus.host(&host_bus::host_config("host", costs), &cpu, &memory)?;
        let bar_bytes = scenario.platform.bus.core.bar_bytes as usize;
        let registers = Rc::new(Registers(RefCell::new(vec![0; bar_bytes])));
        bus.endpoint().serve(Rc::<Registers>::clone(&registers));
        let mut random = RandomStream::new(scenario.seed, "pcix:data");
        let words = scenario.workload.bytes.div_ceil(8);
        let mut data: Vec<u8> = (0..words).flat_map(|_| random.bits().to_le_bytes()).collect();
        data.truncate(scenario.workload.bytes);
        Ok(Self { simulation, bus, host, memory, registers, data })
    }

    /// Runs the accesses and returns the data that has arrived at the other side.
    fn execute(&self, scenario: &PcixScenario) -> Result<Vec<u8>, RoadError> {
        let (test, times) = (scenario.workload.test, scenario.workload.times);
        let inconsistent = |error: String| RoadError::Inconsistent(format!("pcix: {error}"));
        let place = self.memory_place();
        if test == PcixTest::Read {
            let stored = self.memory.write(PLACE, &self.data);
            stored.map_err(|error| inconsistent(error.to_string()))?;
            let bytes = self.data.len();
            let readers: Vec<_> = (0..times)
                .map(|_| {
                    let endpoint = self.bus.endpoint();
                    let sim = self.simulation.handle();
                    self.simulation.spawn(async move {
                        let read = endpoint.read(place, bytes).await;
                        sim.count_transfers(1);
                        read
                    })
                })
                .collect();
            let mut found = Vec::new();
            for reader in readers {
                let read = self.simulation.run_until_complete(&reader)?;
                found = read.map_err(|error| inconsistent(format!("read: {error:?}")))?;
                if found != self.data {
                    break;
                }
            }
            self.simulation.run_for(SETTLE)?;
            return Ok(found);
        }
        let (host, endpoint, data) = (self.host.clone(), self.bus.endpoint(), self.data.clone());
        let sim = self.simulation.handle();
        let program = self.simulation.spawn(async move {
            for _ in 0..times {
                match test {
                    PcixTest::Store => {
                        for (at, word) in data.chunks_exact(4).enumerate() {
                            let value =
                                word.iter().rev().fold(0, |all, byte| all << 8 | u32::from(*byte));
                            host.mmio_write32(4 * at as u64, value).await?;
                        }
                    }
                    PcixTest::StoreCombined => {
                        host.write_combined(0, &data).await?;
                        host.fence().await;
                    }
                    PcixTest::Write | PcixTest::Read => endpoint.write(place, &data).await,
                }
                sim.count_transfers(1);
            }
            Ok(())
        });
        let done: Result<(), isthmus_sim::world::pcix::MmioError> =
            self.simulation.run_until_complete(&program)?;
        done.map_err(|error| inconsistent(format!("{}: {error:?}", test.name())))?;
        self.simulation.run_for(SETTLE)?;
        match test {
            PcixTest::Write => self
                .memory
                .read(PLACE, self.data.len())
                .map_err(|error| inconsistent(error.to_string())),
            _ => Ok(self.registers.0.borrow()[..self.data.len()].to_vec()),
        }
    }

    fn memory_place(&self) -> u64 {
        self.host.bus_address(PLACE)
    }
}

/// The bus activity, in bus clocks.
struct Seen {
    cycle: Picoseconds,
    /// From the first REQ# to the end of the last transaction.
    whole: Picoseconds,
    data_cycles: u64,
    transactions: usize,
    /// Reads only: from the end of the request to the end of the first data phase.
    first_data: Option<Picoseconds>,
    /// Reads only: the longest gap between completions.
    between: Option<Picoseconds>,
    /// REQ# of each sequence.
    sequences: Vec<Picoseconds>,
}

impl Seen {
    fn of(
        scenario: &PcixScenario,
        records: &[PcixRecord],
        cycle: Picoseconds,
    ) -> Result<Self, RoadError> {
        let missing = || RoadError::Inconsistent("pcix: nothing was on the bus".to_owned());
        let first = records.first().ok_or_else(missing)?;
        let last = records.last().ok_or_else(missing)?;
        let reads = scenario.workload.test == PcixTest::Read;
        let carries = |record: &&PcixRecord| !reads || record.kind == PcixKind::Completion;
        let mut begun = BTreeMap::new();
        let mut numbers = BTreeSet::new();
        for record in records {
            begun.entry(record.id.0).or_insert(record.requested);
            numbers.insert(record.id.0);
        }
        let mine = |record: &&PcixRecord| carries(record) && record.id == first.id;
        let completions: Vec<&PcixRecord> = records.iter().filter(mine).collect();
        let gaps = completions.windows(2).map(|pair| pair[1].start - pair[0].end);
        let first_data = completions.first().map(|record| record.data + cycle - first.end);
        Ok(Self {
            cycle,
            whole: last.end - first.requested,
            data_cycles: records.iter().filter(carries).map(|record| record.data_phases).sum(),
            transactions: records.len(),
            first_data: first_data.filter(|_| reads),
            between: gaps.max().filter(|_| reads),
            sequences: begun.into_values().collect(),
        })
    }

    fn cycles(&self, span: Picoseconds) -> f64 {
        span.0 as f64 / self.cycle.0 as f64
    }
}

fn measurement(
    scenario: &PcixScenario,
    seen: &Seen,
    begin: Instant,
) -> Result<Measurement, RoadError> {
    let workload = &scenario.workload;
    let mut samples = Samples::new()?;
    // With several outstanding reads the first ones do not wait for an earlier one: they fill the
    // pipe and give no rate.
    let filling = match (workload.test, scenario.platform.bus.core.reads) {
        (PcixTest::Read, reads) if reads > 1 => reads,
        _ => 0,
    };
    let steady = seen.sequences.get(filling..).unwrap_or_default();
    let spans: Vec<Picoseconds> = steady.windows(2).map(|pair| pair[1] - pair[0]).collect();
    if workload.times == 1 {
        samples.add(seen.whole);
    }
    spans.iter().filter(|_| workload.times > 1).for_each(|span| samples.add(*span));
    // From one REQ# to another's: the last one's own length is not in it.
    let elapsed = Picoseconds(spans.iter().map(|span| span.0).sum());
    let moved = spans.len() as u64 * workload.bytes as u64;
    let throughput = (workload.times > 1 && elapsed > Picoseconds::ZERO)
        .then(|| Throughput::new(moved, None, spans.len() as u64, None, elapsed));
    let origin = Origin {
        road: NAME,
        platform: &scenario.platform.name,
        profile: scenario.profile.name(),
        method: workload.test.name(),
        seed: scenario.seed,
    };
    // The device, and the posting host, have the next one pending.
    let (definition, arrivals) =
        if workload.times == 1 { ("stage", "closed-loop") } else { ("per_transfer", "backlog") };
    Ok(Measurement {
        workload: describe(scenario, seen),
        iterations: samples.count().max(1),
        excluded: Excluded { head: if workload.times > 1 { filling as u64 } else { 0 }, tail: 0 },
        throughput,
        checked: Checked { bytes: workload.times * workload.bytes as u64, ..Checked::default() },
        simulation: SimulationCost {
            wall_s: begin.elapsed().as_secs_f64(),
            ..SimulationCost::default()
        },
        ..Measurement::of(&origin, &scenario.name(), &samples)
    }
    .described(definition, arrivals.to_owned()))
}

fn describe(scenario: &PcixScenario, seen: &Seen) -> Map<String, Value> {
    let workload = &scenario.workload;
    let whole = seen.cycles(seen.whole);
    let described = json!({
        "test": workload.test.name(),
        "size_bytes": workload.bytes,
        "times": workload.times,
        "cycles": whole,
        "data_cycles": seen.data_cycles,
        "data_share": seen.data_cycles as f64 / whole,
        "transactions": seen.transactions,
        "first_data_cycles": seen.first_data.map(|span| seen.cycles(span)),
        "between_cycles": seen.between.map(|span| seen.cycles(span)),
    });
    match described {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
