// SPDX-License-Identifier: Apache-2.0
//! Hosts with RDMA network interfaces, joined by links and switches: writes into another's memory,
//! messages into another's queue.

mod account;
mod application;
mod breakdown;
mod carry;
mod device;
mod network;
mod packets;
mod pair;
mod program;
pub mod scenario;
mod soak;
mod sort;
mod usage;
mod work;
mod world;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use isthmus_host::rdma::HostId;
use isthmus_sim::Picoseconds;

use crate::error::RoadError;
pub use crate::host_bus::{Bar, HostMemory, InterruptLine, Machine};
use crate::measurement::{
    Carried, Checked, Excluded, HostSamples, Measurement, Samples, SimulationCost, Throughput,
};
use crate::model::MakeModel;
use crate::noise::Noise;
use crate::operation::Operation;
use crate::road::{Context, Road};
use crate::together::try_all;
use crate::watch::{Step, Watch, follow};
use breakdown::{Breakdown, Observer};
use carry::Surroundings;
pub use network::{HostProgram, Network};
use pair::Pair;
use program::{ProgramOutcome, Side, Task};
use scenario::{PostingName, RdmaScenario, RdmaTest};
use usage::{Meters, Waits};
use world::{Node, Program, World};

/// Bits of a word on a link.
const WORD_BITS: f64 = 32.0;

/// Hosts with RDMA network interfaces.
pub struct Rdma;

impl Road for Rdma {
    fn name(&self) -> &'static str {
        "rdma"
    }

    fn schema(&self) -> schemars::Schema {
        crate::schema::of::<RdmaScenario>()
    }

    fn run(&self, json: &str, context: &Context<'_>) -> Result<Vec<Measurement>, RoadError> {
        run(&RdmaScenario::parse(json)?, context.make_model, context.watch)
    }
}

/// Runs it.
pub(crate) fn run(
    scenario: &RdmaScenario,
    make_model: MakeModel<'_>,
    watch: &Watch,
) -> Result<Vec<Measurement>, RoadError> {
    let begin = Instant::now();
    let world = World::build(scenario, make_model)?;
    let of = Step { total: 1, transfers_total: transfers(scenario), ..Step::default() };
    follow(&world.simulation, watch, of);
    // Of millions of transfers nothing is remembered one by one; the observed one switches it on.
    world.simulation.probes().set_enabled(false);
    world.simulation.spans().set_enabled(false);
    world.bring_up(scenario)?;
    let programs = open(&world, scenario)?;
    if scenario.workload.test.is_accounted() {
        let (outcomes, account) = soaked(&world, scenario, programs)?;
        let (checked, counted) = account::verdict(&account, &world.nodes, scenario)?;
        let mut made = measurement(scenario, &world, &outcomes, Breakdown::default(), begin)?;
        account.borrow().compare(&made.counters)?;
        // Transfers have lengths of their own: a rate in bytes of the longest would be made up.
        made.throughput = account.borrow().throughput();
        if let Some(rates) = &made.throughput {
            made.workload.insert("messages_per_s".to_owned(), json!(rates.cycles_per_s));
        }
        made.checked.bytes = checked;
        made.counters.extend(counted);
        return Ok(vec![made]);
    }
    if scenario.workload.test.is_for_all() {
        let (outcomes, phases) = application::run(&world, scenario, programs)?;
        let mut made = measurement(scenario, &world, &outcomes, Breakdown::default(), begin)?;
        let ps = |span: Duration| span.as_nanos() as u64 * 1_000;
        let phases = json!({
            "compute": ps(phases.compute),
            "post": ps(phases.post),
            "network": ps(phases.network),
            "wait": ps(phases.wait),
        });
        made.workload.insert("phases_ps".to_owned(), phases);
        return Ok(vec![made]);
    }
    if let Some(operation) = scenario.workload.test.operation() {
        return carried(&world, scenario, programs, operation, begin).map(|made| vec![made]);
    }
    let observer = Observer::new(&world);
    let outcomes = execute(&world, scenario, programs, &observer)?;
    let breakdown = match outcomes.iter().find_map(|outcome| outcome.observed) {
        Some(observed) if !scenario.faults.any() => {
            breakdown::of(&world, scenario, &observer, observed)?
        }
        _ => Breakdown::default(),
    };
    Ok(vec![measurement(scenario, &world, &outcomes, breakdown, begin)?])
}

/// Transfers of a run, as its programs count them.
fn transfers(scenario: &RdmaScenario) -> u64 {
    let workload = &scenario.workload;
    let hosts = workload.hosts as u64;
    let senders = match workload.test {
        // One call that does it all.
        RdmaTest::Sort => return 0,
        RdmaTest::Trace => return workload.trace.len() as u64,
        RdmaTest::Exchange => hosts,
        _ if workload.test.is_accounted() || workload.both_ways => hosts,
        _ => hosts / 2,
    };
    let (before, behind) = match workload.test.operation() {
        Some(_) => scenario.excluded().unwrap_or_default(),
        None => (workload.warmup, 0),
    };
    senders * (before + workload.iterations + behind)
}

/// Opens every interface.
fn open(world: &World, scenario: &RdmaScenario) -> Result<Vec<Program>, RoadError> {
    let sim = world.simulation.handle();
    let opening = world.nodes.iter().map(|node| {
        let (number, host) = (node.number, node.host.clone());
        let opened = Node::open(sim.clone(), host, number, scenario.clone(), world.layout);
        let task: Task<_> = Box::pin(async move {
            opened.await.map_err(|source| RoadError::of_host(number, "open", source))
        });
        task
    });
    let all = try_all(opening.collect());
    world.simulation.run_until_complete(&world.simulation.spawn(all))?
}

/// Runs the programs of a soak to their end.
fn soaked(
    world: &World,
    scenario: &RdmaScenario,
    programs: Vec<Program>,
) -> Result<(Vec<ProgramOutcome>, Rc<RefCell<account::Account>>), RoadError> {
    let sim = world.simulation.handle();
    let account = account::open(scenario, &world.nodes, world.layout, &sim);
    let scenario = Rc::new(scenario.clone());
    let tasks = world.nodes.iter().zip(programs).map(|(node, program)| {
        let soaker = soak::Soaker::new(&sim, node, program, &scenario, world.layout, &account);
        let task: Task<_> = Box::pin(soaker.run());
        task
    });
    let all = try_all(tasks.collect());
    let outcomes = world.simulation.run_until_complete(&world.simulation.spawn(all))??;
    Ok((outcomes, account))
}

/// The programs of all hosts, each the peer of its neighbour.
fn sides(world: &World, scenario: &Rc<RdmaScenario>, programs: Vec<Program>) -> Vec<Side> {
    let sources: Vec<Rc<Vec<u8>>> =
        world.nodes.iter().map(|node| Rc::new(node.source.clone())).collect();
    let sides = world.nodes.iter().zip(programs).map(|(node, program)| {
        let peer: HostId = node.number ^ 1;
        Side {
            sim: world.simulation.handle(),
            host: node.host.clone(),
            remote: world.nodes[usize::from(peer)].host.clone(),
            number: node.number,
            peer,
            program,
            scenario: Rc::clone(scenario),
            layout: world.layout,
            own: Rc::clone(&sources[usize::from(node.number)]),
            theirs: Rc::clone(&sources[usize::from(peer)]),
            seen: 0,
            next: 0,
            early: BTreeSet::new(),
            outcome: ProgramOutcome::default(),
        }
    });
    sides.collect()
}

/// Runs an operation and measures it.
fn carried(
    world: &World,
    scenario: &RdmaScenario,
    programs: Vec<Program>,
    operation: Operation,
    begin: Instant,
) -> Result<Measurement, RoadError> {
    let test = scenario.workload.test;
    let shared = Rc::new(scenario.clone());
    let sim = world.simulation.handle();
    let waits: Vec<Rc<Waits>> = world.nodes.iter().map(|_| Rc::default()).collect();
    // At the destination of a write no program takes part.
    let takes_part = |node: &Node| test.is_send() || node.number.is_multiple_of(2);
    let taking = world.nodes.iter().zip(&waits).zip(&programs);
    let taking = taking.filter(|((node, _), _)| takes_part(node));
    let taking = taking.map(|((_, waits), program)| (Rc::clone(waits), program.memory.clone()));
    let meters = Rc::new(Meters::new(world, taking.collect()));
    // More pairs than one would be in the way of an observed transfer.
    let observer = (world.nodes.len() == 2 && !test.is_devices()).then(|| Observer::new(world));
    let pairs = (0..world.nodes.len() / 2)
        .map(|_| Pair::new(&sim, scenario, &meters, observer.as_ref()))
        .collect::<Result<Vec<_>, _>>()?;
    if test.is_devices() {
        device::node(world, scenario).bus.remember(true);
    }
    let tasks = sides(world, &shared, programs).into_iter().zip(&waits);
    let tasks = tasks.filter_map(|(side, waits)| -> Option<Task<ProgramOutcome>> {
        let noise = scenario
            .noise
            .as_ref()
            .map(|noise| Noise::new(noise, sim.random(&format!("rdma:noise:{}", side.number))));
        let pair = Rc::clone(&pairs[usize::from(side.number) / 2]);
        let by = Surroundings { pair, waits: Rc::clone(waits), noise };
        match (side.number.is_multiple_of(2), test.is_send()) {
            (true, _) => Some(Box::pin(side.carry(by))),
            (false, true) => Some(Box::pin(side.take(by))),
            (false, false) => None,
        }
    });
    let all = try_all(tasks.collect());
    let ended = world.simulation.run_until_complete(&sim.spawn(all))??;
    let compared: u64 = ended.iter().map(|outcome| outcome.checked).sum();
    let mut series = pairs.iter().map(|pair| pair.finish()).collect::<Result<Vec<_>, _>>()?;
    let breakdown = match (&observer, series.first().and_then(|one| one.outcome.observed)) {
        (Some(observer), Some(observed)) => breakdown::of(world, scenario, observer, observed)?,
        _ => Breakdown::default(),
    };
    let stages = if test.is_devices() {
        let found = device::on_the_bus(world, scenario, &series[0])?;
        series[0].outcome.samples = found.samples;
        found.stages
    } else {
        Vec::new()
    };
    let outcomes: Vec<ProgramOutcome> =
        series.iter_mut().map(|one| std::mem::take(&mut one.outcome)).collect();
    let mut made = measurement(scenario, world, &outcomes, breakdown, begin)?;
    made.checked.bytes += compared;
    let arrivals = scenario.arrivals()?;
    let saturated = arrivals.window().is_none() && series.iter().any(|one| one.saturated);
    let busy = series[0].usage[1].shares_since(&series[0].usage[0]);
    let core = Carried {
        operation,
        bytes: scenario.workload.size_bytes as u64,
        driver: scenario.driver(),
        window: arrivals.window(),
        rate_per_s: arrivals.rate_per_s(),
        noise: scenario.noise.is_some(),
        // The bus of one transfer is idle while the next is prepared.
        busy: if test.is_devices() { BTreeMap::new() } else { busy },
        saturated,
    };
    made.workload.extend(core.to_workload());
    made.arrivals = arrivals.to_string();
    (made.excluded.head, made.excluded.tail) = series[0].excluded;
    made.definition = if test == RdmaTest::DeviceRead { "rtt" } else { "one_way" };
    if test.is_devices() {
        made.throughput = None;
        made.stages_total_ps = stages.iter().map(|stage| stage.ps).sum();
        made.stages = stages;
    } else if arrivals.window().is_some() {
        // From a transfer's start until its sender may post another one for it.
        made.workload.insert("acknowledged_ps".to_owned(), json!(series[0].known_ps));
    }
    if saturated {
        (made.latency_ps, made.histogram) = (None, None);
    }
    Ok(made)
}

/// Runs the programs of all hosts to their end.
fn execute(
    world: &World,
    scenario: &RdmaScenario,
    programs: Vec<Program>,
    observer: &Rc<Observer>,
) -> Result<Vec<ProgramOutcome>, RoadError> {
    let scenario = Rc::new(scenario.clone());
    let observed = Rc::new(RefCell::new([Picoseconds::ZERO; 2]));
    let tasks =
        sides(world, &scenario, programs).into_iter().zip(&world.nodes).map(|(side, node)| {
            let first = node.number.is_multiple_of(2);
            let workload = &scenario.workload;
            let task: Task<_> = if workload.test.is_latency() {
                let observer = Rc::clone(observer);
                let observe: Rc<dyn Fn(bool)> = match node.number {
                    0 | 1 => Rc::new(move |on| observer.observe(on)),
                    _ => Rc::new(|_| {}),
                };
                let observed = match node.number {
                    0 | 1 => Rc::clone(&observed),
                    _ => Rc::default(),
                };
                Box::pin(side.ping_pong(first, observe, observed))
            } else {
                let both = workload.both_ways;
                Box::pin(side.stream(first || both, !first || both))
            };
            task
        });
    let all = try_all(tasks.collect());
    world.simulation.run_until_complete(&world.simulation.spawn(all))?
}

fn measurement(
    scenario: &RdmaScenario,
    world: &World,
    outcomes: &[ProgramOutcome],
    breakdown: Breakdown,
    begin: Instant,
) -> Result<Measurement, RoadError> {
    let workload = &scenario.workload;
    let mut samples = Samples::new()?;
    outcomes.iter().flat_map(|outcome| &outcome.samples).for_each(|sample| samples.add(*sample));
    let counters = counters(world);
    let arrived: u64 = outcomes.iter().map(|outcome| outcome.arrived).sum();
    let payload = arrived * workload.size_bytes as u64;
    let intervals = || outcomes.iter().filter_map(|outcome| outcome.interval);
    let from = intervals().map(|interval| interval.0).min();
    let until = intervals().map(|interval| interval.1).max();
    let elapsed = from.zip(until).map(|(from, until)| until - from);
    let throughput = elapsed
        .filter(|elapsed| *elapsed > Picoseconds::ZERO)
        .map(|elapsed| Throughput::new(payload, None, arrived, None, elapsed));
    let (platform, profile) = (scenario.platform.name.clone(), scenario.profile.name());
    let method = scenario.method();
    // Of all interfaces and switches.
    let statistics = world.simulation.statistics();
    Ok(Measurement {
        id: format!("rdma/{platform}/{profile}/{method}/{}", scenario.name()),
        road: "rdma",
        platform,
        profile: profile.to_owned(),
        method,
        workload: describe(scenario, throughput.as_ref(), outcomes, &breakdown),
        definition: match workload.test {
            test if test.is_latency() => "half_round_trip",
            RdmaTest::Exchange | RdmaTest::Sort => "whole_call",
            RdmaTest::Trace => "one_way",
            _ => "per_transfer",
        },
        arrivals: arrivals(workload.test).to_owned(),
        seed: scenario.seed,
        iterations: samples.count().max(1),
        excluded: Excluded {
            head: outcomes.iter().map(|one| one.skipped).max().unwrap_or(0).max(workload.warmup),
            tail: 0,
        },
        latency_ps: samples.latency(),
        histogram: samples.buckets(),
        samples: if workload.keep_samples { kept(outcomes) } else { Vec::new() },
        windows_ps: Map::new(),
        throughput,
        stages_total_ps: breakdown.stages.iter().map(|stage| stage.ps).sum(),
        stages: breakdown.stages,
        timeline: breakdown.timeline,
        checked: Checked {
            bytes: outcomes.iter().map(|outcome| outcome.checked).sum(),
            ..Checked::default()
        },
        counters,
        simulation: SimulationCost {
            device_cycles: statistics.device_cycles,
            evaluated_cycles: statistics.evaluated_cycles,
            wall_s: begin.elapsed().as_secs_f64(),
        },
    })
}

/// How transfers come, as results name it.
fn arrivals(test: RdmaTest) -> &'static str {
    match test {
        test if test.is_latency() => "closed-loop",
        RdmaTest::Exchange | RdmaTest::Sort => "closed-loop",
        RdmaTest::Trace => "open-loop trace",
        // The program posts the next transfer as soon as there is room.
        _ => "backlog",
    }
}

/// Of the hosts that took samples, in the order of their numbers.
fn kept(outcomes: &[ProgramOutcome]) -> Vec<HostSamples> {
    let of_hosts = outcomes.iter().enumerate().map(|(host, outcome)| {
        let ps = outcome.samples.iter().map(|sample| sample.0).collect();
        HostSamples { host, ps }
    });
    of_hosts.filter(|taken| !taken.ps.is_empty()).collect()
}

fn counters(world: &World) -> BTreeMap<String, u64> {
    let mut counters: BTreeMap<String, u64> = world.simulation.counters().values();
    let interfaces = world.nodes.iter().map(|node| &node.device);
    for device in interfaces.chain(world.switches.iter().map(|(device, _)| device)) {
        for (name, value) in device.status() {
            counters.insert(format!("{}.{name}", device.name()), value);
        }
    }
    let ports = world.nodes.iter().map(|node| &node.ports);
    let (mut bits, mut lost, mut corrupted, mut resets) = (0, 0, 0, 0);
    for ports in ports.chain(world.switches.iter().map(|(_, ports)| ports)) {
        let faults = ports.faults();
        bits += faults.bit_errors;
        lost += faults.credits_lost;
        corrupted += faults.credits_corrupted;
        resets += faults.resets;
    }
    for (name, value) in [
        ("links.bit_errors", bits),
        ("links.credits_lost", lost),
        ("links.credits_corrupted", corrupted),
        ("links.resets", resets),
    ] {
        counters.insert(name.to_owned(), value);
    }
    counters
}

fn describe(
    scenario: &RdmaScenario,
    throughput: Option<&Throughput>,
    outcomes: &[ProgramOutcome],
    breakdown: &Breakdown,
) -> Map<String, Value> {
    let workload = &scenario.workload;
    let (posting, every) = match workload.posting {
        PostingName::V1 => ("v1", None),
        PostingName::V2 => ("v2", None),
        PostingName::V3(every) => ("v3", Some(every)),
    };
    let senders = outcomes.iter().filter(|outcome| outcome.arrived > 0).count().max(1) as f64;
    let link_bit_s = scenario.platform.link_mhz * 1e6 * WORD_BITS;
    let share = throughput
        .map(|rate| rate.payload_bit_s / (senders * scenario.interface.links as f64 * link_bit_s));
    let described = json!({
        "test": workload.test.name(),
        "hosts": workload.hosts,
        "links": scenario.interface.links,
        "size_bytes": workload.size_bytes,
        "iterations": workload.iterations,
        "warmup": workload.warmup,
        "posting": posting,
        "looks_every": every,
        "combined": workload.combined,
        "both_ways": workload.both_ways,
        "post_list": workload.post_list,
        "notify": workload.notify,
        "hop_clocks": scenario.hop_clocks(),
        "messages_per_s": throughput.map(|rate| rate.cycles_per_s),
        "link_share": share,
        "components_ps": breakdown.components,
        "injection_ps": breakdown.injection_ps,
        "network_ps": breakdown.network_ps,
        "packets": breakdown.packets,
    });
    match described {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
