// SPDX-License-Identifier: Apache-2.0
//! Coherent host memory over CCIX: an FPGA's request agent reads and writes lines at the host's home.

mod breakdown;
mod contention;
mod directory;
mod home;
mod locks;
mod messages;
mod pcie;
mod program;
pub mod scenario;
mod svm;
mod updates;
mod visits;
mod world;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use isthmus_sim::Picoseconds;

use crate::error::RoadError;
use crate::measurement::{
    Carried, Checked, Excluded, Measurement, Origin, SimulationCost, Throughput,
};
use crate::road::{Context, Road};
use crate::watch::{Step, follow};
use program::{Counts, Outcome};
use scenario::{CcixDriver, CcixPort, CcixScenario, NAME};
use world::World;

/// Coherent host memory over CCIX.
pub struct Ccix;

impl Road for Ccix {
    fn name(&self) -> &'static str {
        NAME
    }

    fn schema(&self) -> schemars::Schema {
        crate::schema::of::<CcixScenario>()
    }

    fn run(&self, json: &str, context: &Context<'_>) -> Result<Vec<Measurement>, RoadError> {
        let scenario = CcixScenario::parse(json)?;
        if let Some(pcie) = scenario.over_pcie() {
            let (outcome, found) = pcie::run(&scenario, pcie, context)?;
            let made = measurement(&scenario, &outcome, found.counters, found.cost)?;
            return Ok(vec![made.staged(found.stages)]);
        }
        let world = World::build(&scenario, context.make_model)?;
        let total = scenario.series() + 1;
        let of = Step { total: 1, transfers_total: total, ..Step::default() };
        follow(&world.simulation, context.watch, of);
        world.start()?;
        if let Some(contention) = &scenario.workload.contention {
            return Ok(vec![contention::run(&world, &scenario, contention)?]);
        }
        if let Some(locks) = &scenario.workload.locks {
            return Ok(vec![locks::run(&world, &scenario, locks)?]);
        }
        if let Some(of) = scenario.workload.updates {
            let (outcome, described, stages) = updates::run(&world, &scenario, of)?;
            compare(&world, &scenario, &outcome)?;
            let cost = SimulationCost::of(&world.simulation.statistics());
            let mut made = measurement(&scenario, &outcome, world.counters(), cost)?;
            made.workload.insert("updates".to_owned(), described);
            return Ok(vec![made.staged(stages)]);
        }
        let outcome = program::run(&world, &scenario)?;
        let stages = breakdown::stages(&world, &scenario, &outcome)?;
        compare(&world, &scenario, &outcome)?;
        let cost = SimulationCost::of(&world.simulation.statistics());
        let measured = measurement(&scenario, &outcome, world.counters(), cost)?;
        Ok(vec![measured.staged(stages)])
    }
}

/// Compares memory with what must be in it.
fn compare(world: &World, scenario: &CcixScenario, outcome: &Outcome) -> Result<(), RoadError> {
    if scenario.is_cached() {
        world.load_written(&outcome.lines)?;
        world.check(scenario.seed)?;
    }
    world.check_memory(&outcome.lines, scenario.seed)
}

fn measurement(
    scenario: &CcixScenario,
    outcome: &Outcome,
    counters: BTreeMap<String, u64>,
    cost: SimulationCost,
) -> Result<Measurement, RoadError> {
    let workload = &scenario.workload;
    let arrivals = scenario.arrivals()?;
    let counted = scenario.counted();
    let samples = outcome.times.samples(&counted)?;
    let elapsed = outcome.until.at - outcome.from.at;
    let count = counted.end - counted.start;
    let moved = count * workload.bytes as u64;
    let rates = Rates::of(scenario, &outcome.from, &outcome.until);
    let saturated = arrivals.rate_per_s().is_some() && outcome.times.are_saturated(&counted);
    let mut busy = BTreeMap::from([("wire", rates.busy)]);
    if workload.cache || matches!(workload.driver, CcixDriver::Cached | CcixDriver::CachedHit) {
        // The cache is asked for a line a clock, of the bytes of a beat on an AXI port.
        let clocks = elapsed.0 as f64 * scenario.platform.clock_mhz / 1e6;
        busy.insert("fpga", ((count * scenario.lines()) as f64 / clocks).min(1.0));
    }
    let carried = Carried {
        operation: workload.operation,
        bytes: workload.bytes as u64,
        driver: workload.driver.name(),
        window: arrivals.window(),
        rate_per_s: arrivals.rate_per_s(),
        noise: false,
        busy,
        saturated,
    };
    let origin = Origin {
        road: NAME,
        platform: &scenario.platform.name,
        profile: scenario.profile.name(),
        method: workload.operation.name(),
        seed: scenario.seed,
    };
    let mut described = carried.to_workload();
    described.append(&mut rates.describe(scenario, outcome));
    let by = match workload.driver {
        CcixDriver::RequestAgent => "",
        CcixDriver::Svm => "-svm",
        CcixDriver::Cached => "-cached",
        CcixDriver::CachedHit => "-hit",
        CcixDriver::Contended => "-contended",
        CcixDriver::Locks => "-locks",
        CcixDriver::PcieDma => "-dma",
    };
    let translated =
        workload.translation.map_or_else(String::new, |one| format!("-{}", one.name()));
    let port = match workload.port {
        CcixPort::Lines => "",
        CcixPort::Axi => "-axi",
    };
    let cache = if workload.cache { "-cache" } else { "" };
    let name = format!("{}-{}{by}{cache}{port}{translated}", workload.bytes, arrivals.suffix());
    Ok(Measurement {
        workload: described,
        iterations: samples.count(),
        excluded: Excluded { head: counted.start, tail: scenario.series() - counted.end + 1 },
        throughput: Some(Throughput::new(moved, None, count, None, elapsed)),
        checked: Checked { bytes: outcome.checked, ..Checked::default() },
        counters,
        simulation: cost,
        ..Measurement::of(&origin, &name, &samples)
    }
    .described(if scenario.stores_at_home() { "one_way" } else { "rtt" }, arrivals.to_string()))
}

/// What the direction with the data carried between two moments.
struct Rates {
    /// All bytes of packets a second, framing and headers included.
    link_bytes_s: f64,
    /// Of its time, that of packets.
    busy: f64,
    /// Messages of a packet, on the mean: requests of a write, answers of a read.
    messages: f64,
    /// Translations that the host was asked for, for a transfer.
    translations: f64,
    /// Requests with virtual addresses, for a transfer.
    direct: f64,
    /// Of lines, those that the FPGA's cache had.
    hits: f64,
}

impl Rates {
    fn of(scenario: &CcixScenario, from: &Counts, until: &Counts) -> Self {
        let ends =
            [from, until].map(|counts| if scenario.writes() { counts.up } else { counts.down });
        let bytes = (ends[1].wire_bytes - ends[0].wire_bytes) as f64;
        let packets = (ends[1].packets - ends[0].packets) as f64;
        let elapsed = (until.at - from.at).0 as f64;
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let requests = (until.requests - from.requests) as f64;
        let a_transfer = |part: u64| share(part as f64, requests / scenario.lines() as f64);
        Self {
            link_bytes_s: share(bytes, elapsed * 1e-12),
            busy: share(bytes * scenario.byte_fs() / 1e3, elapsed).min(1.0),
            messages: share(requests, packets),
            translations: a_transfer(until.walks - from.walks),
            direct: a_transfer(until.direct - from.direct),
            hits: 1.0
                - share(
                    (until.granted - from.granted + until.direct - from.direct) as f64,
                    requests,
                ),
        }
    }

    fn describe(&self, scenario: &CcixScenario, outcome: &Outcome) -> Map<String, Value> {
        let period = Picoseconds((1e6 / scenario.platform.clock_mhz).round() as u64);
        let fastest = outcome.times.fastest(&scenario.counted());
        let described = json!({
            "lines": scenario.lines(),
            "link_bytes_s": self.link_bytes_s,
            "packet_messages": self.messages,
            "fastest_cycles": fastest.0 as f64 / period.0 as f64,
            "acknowledged_ps": outcome.times.acknowledged_ps(&scenario.counted()),
        });
        let mut described = match described {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        if scenario.workload.port != CcixPort::Lines {
            described.insert("port".to_owned(), json!(scenario.workload.port.name()));
        }
        if let Some(of) = &scenario.workload.translation {
            let translated = json!({
                "page": of.page.name(),
                "order": of.order.name(),
                "footprint_bytes": of.footprint_bytes,
                "warm": of.warm,
                "walks": self.translations,
                "direct": self.direct,
                "retries": outcome.retries,
            });
            if scenario.workload.cache {
                described.insert("cache".to_owned(), json!({ "hits": self.hits }));
            }
            described.insert("translation".to_owned(), translated);
        }
        described
    }
}
