// SPDX-License-Identifier: Apache-2.0
//! A cache-coherent link between a processor and an FPGA: each reads and writes lines of the other's memory.

mod breakdown;
mod life;
mod nodes;
mod pattern;
mod pcie;
mod port;
mod program;
pub mod scenario;
mod words;
mod world;

use std::collections::BTreeMap;

use isthmus_sim::Picoseconds;
use serde_json::{Map, Value, json};

use crate::dma;
use crate::error::RoadError;
use crate::host_bus::byte_fs;
use crate::measurement::{
    Carried, Checked, Excluded, Measurement, Origin, SimulationCost, Throughput,
};
use crate::platform::PcieLink;
use crate::road::{Context, Road};
use crate::watch::{Step, follow};
pub use nodes::{CoherentLink, Homes, LinkPort, NodeProgram};
use program::{Counts, Outcome};
use scenario::{EciDriver, EciScenario};
use world::World;

const NAME: &str = "eci";

/// The coherent link.
pub struct Eci;

impl Road for Eci {
    fn name(&self) -> &'static str {
        NAME
    }

    fn schema(&self) -> schemars::Schema {
        crate::schema::of::<EciScenario>()
    }

    fn run(&self, json: &str, context: &Context<'_>) -> Result<Vec<Measurement>, RoadError> {
        let scenario = EciScenario::parse(json)?;
        if scenario.workload.life {
            return Ok(vec![life::run(&scenario, context)?]);
        }
        if let Some(pcie) = scenario.platform.pcie.filter(|_| scenario.over_pcie()) {
            let (outcome, found) = pcie::run(&scenario, &pcie, context)?;
            let made = measurement(&scenario, &outcome, found.counters, found.cost)?;
            return Ok(vec![made.staged(found.stages)]);
        }
        let world = World::build(&scenario, context.make_model)?;
        let beside = scenario.beside();
        let sides: Vec<&EciScenario> = std::iter::once(&scenario).chain(&beside).collect();
        let total = sides.len() as u64 * (scenario.series() + 1);
        let of = Step { total: 1, transfers_total: total, ..Step::default() };
        follow(&world.simulation, context.watch, of);
        world.start()?;
        let outcomes = match scenario.words() {
            true => vec![words::run(&world, &scenario)?],
            false => program::run(&world, &sides)?,
        };
        if scenario.over_axi() {
            port::check(&world, &scenario)?;
        }
        let mut made = Vec::new();
        for (scenario, outcome) in sides.into_iter().zip(&outcomes) {
            let stages = breakdown::stages(&world, scenario, outcome)?;
            if scenario.workload.driver == EciDriver::Uncached {
                world.check_memory(scenario, &outcome.lines)?;
            }
            let cost = SimulationCost::of(&world.simulation.statistics());
            let one = measurement(scenario, outcome, world.counters()?, cost)?;
            made.push(one.staged(stages));
        }
        Ok(made)
    }
}

fn measurement(
    scenario: &EciScenario,
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
    let (from, until) = (&outcome.from, &outcome.until);
    let rates = match &scenario.platform.pcie {
        Some(pcie) if scenario.over_pcie() => Rates::of_pcie(moved, &pcie.link, from, until),
        _ => Rates::of(scenario, from, until),
    };
    let saturated = arrivals.rate_per_s().is_some() && outcome.times.are_saturated(&counted);
    let mut busy = BTreeMap::from([("wire", rates.busy)]);
    if scenario.through_cache() {
        busy.insert(scenario.places()[0], cache_busy(scenario, count, elapsed));
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
    let driver = match workload.driver {
        EciDriver::Uncached => String::new(),
        other => format!("{}-", other.name()),
    };
    let port = match scenario.over_axi() {
        true => format!("{}-", workload.port.name()),
        false => String::new(),
    };
    let policy = match workload.links {
        1 => String::new(),
        _ => format!("{}-", workload.policy.name()),
    };
    let errors = scenario.errors().map_or_else(String::new, |rate| format!("-e{rate:e}"));
    let homes = match (scenario.both_homes(), scenario.other()) {
        (false, _) => String::new(),
        (true, None) => "peers-".to_owned(),
        (true, Some(other)) => format!("beside-{}-", other.name()),
    };
    let (bytes, suffix) = (workload.bytes, arrivals.suffix());
    let name = format!("{policy}{homes}{port}{driver}{bytes}-{suffix}{errors}");
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
    .described(if scenario.one_way() { "one_way" } else { "rtt" }, arrivals.to_string()))
}

/// Share of the clocks in which the cache of the end that asks is asked for a line; through an AXI port, in
/// which that carries a beat of 64 bytes.
fn cache_busy(scenario: &EciScenario, transfers: u64, elapsed: Picoseconds) -> f64 {
    let each = match scenario.over_axi() {
        true => (scenario.workload.bytes as u64).div_ceil(dma::LINE_BYTES as u64),
        false => scenario.lines(),
    };
    let clocks = elapsed.0 as f64 * scenario.platform.clock_mhz / 1e6;
    ((transfers * each) as f64 / clocks).min(1.0)
}

/// What the direction with the data carried between two moments, over all links; or over PCIe.
struct Rates {
    /// Of the words, those of the second link.
    second: f64,
    /// Words of messages a second, in bytes; over PCIe bytes of TLPs.
    words_bytes_s: f64,
    /// Of the payload words of numbered blocks, those that carried a word; over PCIe, of the bytes of TLPs, the
    /// data of transfers.
    packing: f64,
    /// Of the time of its lanes, that of numbered blocks.
    busy: f64,
}

impl Rates {
    fn of(scenario: &EciScenario, from: &Counts, until: &Counts) -> Self {
        let words = f64::from(until.words.wrapping_sub(from.words));
        let blocks = f64::from(until.blocks.wrapping_sub(from.blocks));
        let elapsed = (until.at - from.at).0 as f64;
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let second = f64::from(until.second.wrapping_sub(from.second));
        let lanes = f64::from(scenario.workload.links);
        Self {
            second: share(second, words),
            words_bytes_s: share(words * 8.0, elapsed * 1e-12),
            packing: share(words, blocks * 7.0),
            busy: share(blocks * scenario.platform.lanes.block_ps(), elapsed * lanes).min(1.0),
        }
    }

    fn of_pcie(moved: u64, link: &PcieLink, from: &Counts, until: &Counts) -> Self {
        let bytes = (until.wire_bytes - from.wire_bytes) as f64;
        let elapsed = (until.at - from.at).0 as f64;
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        Self {
            second: 0.0,
            words_bytes_s: share(bytes, elapsed * 1e-12),
            packing: share(moved as f64, bytes).min(1.0),
            busy: share(bytes * byte_fs(link) / 1e3, elapsed).min(1.0),
        }
    }

    fn describe(&self, scenario: &EciScenario, outcome: &Outcome) -> Map<String, Value> {
        let fastest = outcome.times.fastest(&scenario.counted());
        let described = json!({
            "lines": scenario.lines(),
            "link_bytes_s": self.words_bytes_s,
            "packing_share": self.packing,
            "fastest_cycles": fastest.0 as f64 * scenario.clock_mhz() / 1e6,
            "acknowledged_ps": outcome.times.acknowledged_ps(&scenario.counted()),
            "bad_blocks": outcome.until.bad,
            "blocks_again": outcome.until.again,
        });
        let two = json!({
            "links": scenario.workload.links,
            "policy": scenario.workload.policy.name(),
            "second_link_share": self.second,
        });
        let pcie = scenario.platform.pcie.filter(|_| scenario.over_pcie()).map(
            |pcie| json!({ "pcie": format!("Gen{} x{}", pcie.link.generation, pcie.link.lanes) }),
        );
        let two = (scenario.workload.links > 1).then_some(two);
        let port = scenario.over_axi().then(|| json!({ "port": scenario.workload.port.name() }));
        let errors = scenario.errors().map(|rate| json!({ "errors": rate }));
        let homes = scenario.both_homes().then(|| json!({ "homes": "both" }));
        let beside = scenario.other().map(|other| json!({ "beside": other.name() }));
        let parts = std::iter::once(described).chain(two).chain(pcie).chain(port).chain(errors);
        let parts = parts.chain(homes).chain(beside);
        parts.filter_map(|part| part.as_object().cloned()).flatten().collect()
    }
}
