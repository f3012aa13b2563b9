// SPDX-License-Identifier: Apache-2.0
//! Etherbone over every bus: host program, driver, bus, FPGA.

mod access;
mod breakdown;
mod bus;
mod device;
mod fuzz;
mod library;
mod line_rate;
mod program;
mod reference;
mod requests;
pub mod scenario;
mod scene;
pub mod serve;
mod session;
mod steady;
mod task;
mod transport;
mod wire;
mod world;

use serde_json::{Map, Value, json};

use isthmus_sim::Picoseconds;

use crate::arrivals::Arrivals;
use crate::error::RoadError;
use crate::measurement::{
    Carried, Checked, Excluded, Measurement, Samples, SimulationCost, Throughput,
};
use crate::model::MakeModel;
use crate::road::{Context, Road, ServeWatch};
use crate::watch::{Step, Watch, follow};
use breakdown::{Breakdown, Trip};
use scenario::{EtherboneBus, EtherboneScenario, EtherboneWorkload, Method};
use task::{Access, Outcome, Requests, Run, Task};
use world::World;

/// Etherbone over every bus.
pub struct Etherbone;

impl Road for Etherbone {
    fn name(&self) -> &'static str {
        scenario::NAME
    }

    fn schema(&self) -> schemars::Schema {
        crate::schema::of::<EtherboneScenario>()
    }

    fn run(&self, json: &str, context: &Context<'_>) -> Result<Vec<Measurement>, RoadError> {
        let scenario = EtherboneScenario::parse(json)?;
        run(&scenario, context.make_model, context.watch)
    }

    fn serve(
        &self,
        json: &str,
        make_model: MakeModel<'_>,
        watch: ServeWatch<'_>,
    ) -> Result<(), RoadError> {
        let mut watch = |status: &serve::ServeStatus| watch(&status.to_json());
        serve::serve_with(&crate::scenario::parse(json)?, make_model, &mut watch)
    }
}

/// Runs every measurement of a scenario.
fn run(
    scenario: &EtherboneScenario,
    make_model: MakeModel<'_>,
    watch: &Watch,
) -> Result<Vec<Measurement>, RoadError> {
    match &scenario.workload {
        EtherboneWorkload::LineRate { frames, timestamps_per_cycle } => {
            let load = line_rate::Load { frames: *frames, timestamps: *timestamps_per_cycle };
            return line_rate::run(scenario, make_model, watch, load).map(|one| vec![one]);
        }
        EtherboneWorkload::Fuzz { frames } => {
            return fuzz::run(scenario, make_model, watch, *frames).map(|one| vec![one]);
        }
        _ => {}
    }
    let tasks = tasks(&scenario.workload)?;
    let total = tasks.len();
    let mut results = Vec::with_capacity(total);
    for (done, task) in tasks.into_iter().enumerate() {
        let world = World::build(scenario, make_model, done == 0)?;
        let transfers_total = cycles(&task);
        let of = Step { done, total, transfers_total, ..Step::default() };
        follow(&world.simulation, watch, of);
        let result = measure(scenario, &world, &task)?;
        let step = Step {
            done: done + 1,
            total,
            transfers: transfers_total,
            transfers_total,
            now: world.simulation.now(),
            device_cycles: result.simulation.device_cycles,
        };
        results.push(result);
        if watch.borrow_mut()(step).is_break() {
            return Err(isthmus_sim::SimError::Interrupted { at: step.now }.into());
        }
    }
    Ok(results)
}

/// One task per measurement, each in a separate world, so that none can depend on earlier ones.
fn tasks(workload: &EtherboneWorkload) -> Result<Vec<Task>, RoadError> {
    Ok(match workload {
        EtherboneWorkload::Timestamps {
            method,
            timestamps_per_cycle,
            iterations,
            procedure,
            window,
        } => {
            vec![Task::Timestamps {
                method: *method,
                per_cycle: *timestamps_per_cycle,
                cycles: *iterations,
                run: Run { procedure: *procedure, window: *window },
                stages: true,
            }]
        }
        EtherboneWorkload::Throughput { timestamps_per_cycle, iterations, procedure, window } => {
            vec![Task::Timestamps {
                method: Method::Pipelined,
                per_cycle: *timestamps_per_cycle,
                cycles: *iterations,
                run: Run { procedure: *procedure, window: *window },
                stages: false,
            }]
        }
        EtherboneWorkload::Words { method, words, iterations } => words
            .iter()
            .map(|words| Task::Words { method: *method, words: *words, iterations: *iterations })
            .collect(),
        EtherboneWorkload::Tlu { method, iterations } => {
            vec![Task::Tlu { method: *method, cycles: *iterations }]
        }
        EtherboneWorkload::Path { reads } => {
            reads.iter().map(|reads| Task::Path { reads: *reads }).collect()
        }
        EtherboneWorkload::Access { operation, bytes, iterations, window, rate_per_s } => {
            let (operation, bytes, iterations) = (*operation, *bytes, *iterations);
            let arrivals = Arrivals::of("workload", *window, *rate_per_s)?;
            vec![Task::Access(Access { operation, bytes, iterations, arrivals })]
        }
        // No host program runs: these drive the wire themselves.
        EtherboneWorkload::LineRate { .. } | EtherboneWorkload::Fuzz { .. } => Vec::new(),
    })
}

/// Etherbone cycles of a task, to show its progress.
fn cycles(task: &Task) -> u64 {
    let (cycles, each) = match task {
        Task::Timestamps { method: Method::Convenience, per_cycle, cycles, .. } => {
            (*cycles, 2 * per_cycle)
        }
        Task::Timestamps { cycles, .. } => (*cycles, 1),
        Task::Words { method: Method::Convenience, words, iterations } => (*iterations, *words),
        Task::Words { words, iterations, .. } => (*iterations, words.div_ceil(session::MAX_READS)),
        Task::Tlu { method: Method::Convenience, cycles } => (*cycles, 4),
        Task::Tlu { cycles, .. } => (*cycles, 1),
        Task::Path { .. } => (3, 1),
        Task::Access(access) => (access.iterations, access::cycles_of(access.words())),
    };
    u64::from(cycles) * u64::from(each)
}

fn measure(
    scenario: &EtherboneScenario,
    world: &World,
    task: &Task,
) -> Result<Measurement, RoadError> {
    let finished = world.simulation.run_until_complete(&world.start(task))?;
    let outcome = finished.map_err(|(during, source)| {
        let (at, done) = (world.simulation.now(), world.simulation.transfers());
        RoadError::program(during, source).with(format!("at {at}, after {done} Etherbone cycles"))
    })?;
    // Replies in flight and pipelines inside the device come to rest before counters are read.
    world.settle()?;
    world.write_timeline()?;
    let checked = world.simulation.scoreboard().verdict()?;
    if let (Task::Access(access), Some(requests)) = (task, &outcome.requests) {
        return carried(scenario, world, access, (&outcome, requests), checked);
    }
    let breakdown = breakdown(world, &outcome, task);
    // A fault may break a transfer's way into pieces that do not join.
    let breakdown = match breakdown {
        Err(_) if !scenario.faults.is_empty() => Breakdown::default(),
        other => other?,
    };
    let mut samples = Samples::new()?;
    if task.has_latency() {
        outcome.samples.iter().for_each(|sample| samples.add(*sample));
    }

    let method = task.method().name();
    let (end, workload) = describe(scenario, world, task, &outcome)?;
    let statistics = world.simulation.statistics();
    let intervals = outcome.intervals.iter();
    let wire_bytes =
        intervals.map(|(start, end)| world.bus.wire_bytes(world.scene(), *start, *end)).sum();
    let stages_total_ps = breakdown.stages.iter().map(|stage| stage.ps).sum();
    Ok(Measurement {
        workload,
        excluded: Excluded { head: outcome.excluded.0, tail: outcome.excluded.1 },
        windows_ps: outcome.windows.clone(),
        throughput: Some(Throughput::new(
            outcome.payload_bytes,
            Some(wire_bytes),
            outcome.cycles,
            outcome.timestamps,
            outcome.elapsed(),
        )),
        stages_total_ps,
        stages: breakdown.stages,
        timeline: breakdown.timeline,
        checked: Checked { bytes: checked.bytes, wrong: checked.wrong, lost: checked.lost },
        counters: world.counters(&outcome.statistics),
        simulation: SimulationCost::of(&statistics),
        iterations: if task.has_latency() { samples.count() } else { outcome.cycles },
        ..Measurement::of(&scenario.origin(method), &end, &samples)
    }
    .described("rtt", task.arrivals()))
}

/// The measurement of requests.
fn carried(
    scenario: &EtherboneScenario,
    world: &World,
    access: &Access,
    (outcome, requests): (&Outcome, &Requests),
    checked: isthmus_sim::kernel::Checked,
) -> Result<Measurement, RoadError> {
    let (scene, bus) = (world.scene(), &world.bus);
    let ends = requests::ends(scene, access, requests)?;
    let latencies: Vec<Picoseconds> =
        ends.iter().zip(&requests.due).map(|(end, due)| end.saturating_sub(*due)).collect();
    let mut samples = Samples::new()?;
    // If the backlog grows, a latency only reflects the length of the run.
    if !requests.saturated {
        latencies.iter().for_each(|latency| samples.add(*latency));
    }
    let span = outcome.intervals.first().copied().unwrap_or_default();
    let mut busy = requests::busy(scene, requests, span);
    busy.insert("wire", bus.wire_busy(span.0, span.1));
    let busiest = busy.iter().max_by(|a, b| a.1.total_cmp(b.1)).map_or("wire", |(place, _)| *place);
    let driver = scenario.platform.bus.driver();
    let mut workload = Carried {
        operation: access.operation,
        bytes: access.bytes.into(),
        driver,
        window: access.arrivals.window(),
        rate_per_s: access.arrivals.rate_per_s(),
        noise: scenario.noise.is_some(),
        busy,
        saturated: requests.saturated,
    }
    .to_workload();
    workload.insert("iterations".to_owned(), access.iterations.into());
    workload.insert("cycles_per_request".to_owned(), requests.cycles_each.into());
    workload.insert("topology".to_owned(), topology(scenario).into());
    if let Some(steady) = outcome.steady {
        workload.insert("steady".to_owned(), steady.into());
    }

    // In a stream the bytes of requests in flight cannot be distinguished.
    let apart = access.arrivals == Arrivals::Window(1) || !bus.is_stream();
    let found = median(&latencies).filter(|_| apart && !requests.saturated).and_then(|request| {
        let cycles = outcome.log.chunks(requests.cycles_each.max(1)).nth(request)?;
        requests::trip(cycles, access, ends[request], busiest)
    });
    let breakdown = match found.map(|trip| bus.breakdown(scene, &trip)) {
        // A fault may break a transfer's way into pieces that do not join.
        Some(Err(_)) if !scenario.faults.is_empty() => Breakdown::default(),
        Some(breakdown) => breakdown?,
        None => Breakdown::default(),
    };
    let definition = if access.is_write() { "one_way" } else { "rtt" };
    let name = format!("{}{}{}", access.operation, access.bytes, access.arrivals.suffix());
    let wire_bytes = bus.wire_bytes(scene, span.0, span.1);
    let statistics = world.simulation.statistics();
    Ok(Measurement {
        workload,
        iterations: requests.counted.len() as u64,
        excluded: Excluded { head: outcome.excluded.0, tail: outcome.excluded.1 },
        throughput: Some(Throughput::new(
            outcome.payload_bytes,
            Some(wire_bytes),
            outcome.cycles,
            None,
            outcome.elapsed(),
        )),
        stages_total_ps: breakdown.stages.iter().map(|stage| stage.ps).sum(),
        stages: breakdown.stages,
        timeline: breakdown.timeline,
        checked: Checked { bytes: checked.bytes, wrong: checked.wrong, lost: checked.lost },
        counters: world.counters(&outcome.statistics),
        simulation: SimulationCost::of(&statistics),
        ..Measurement::of(&scenario.origin(driver), &name, &samples)
    }
    .described(definition, access.arrivals.to_string()))
}

/// Which of some latencies is the median.
fn median(latencies: &[Picoseconds]) -> Option<usize> {
    let mut order: Vec<usize> = (0..latencies.len()).collect();
    order.sort_by_key(|sample| latencies[*sample]);
    order.get(order.len().checked_sub(1)? / 2).copied()
}

fn topology(scenario: &EtherboneScenario) -> &'static str {
    match &scenario.platform.bus {
        EtherboneBus::Gige(gige) if gige.switch.is_some() => "switch",
        _ => "direct",
    }
}

/// The breakdown of the transfer with the median latency; none if a sample is not a single cycle,
/// or if it was not requested.
fn breakdown(world: &World, outcome: &Outcome, task: &Task) -> Result<Breakdown, RoadError> {
    if matches!(task, Task::Timestamps { stages: false, .. }) || !task.has_latency() {
        return Ok(Breakdown::default());
    }
    // In a stream the bytes of cycles in flight cannot be distinguished.
    if task.method() == Method::Pipelined && world.bus.is_stream() {
        return Ok(Breakdown::default());
    }
    let Some(cycles) = &outcome.cycle_of_sample else { return Ok(Breakdown::default()) };
    let cycle = median(&outcome.samples).and_then(|sample| outcome.log.get(*cycles.get(sample)?));
    let Some(cycle) = cycle else { return Ok(Breakdown::default()) };
    world.bus.breakdown(world.scene(), &Trip::single(cycle))
}

/// The end of the id, and the workload as results show it.
fn describe(
    scenario: &EtherboneScenario,
    world: &World,
    task: &Task,
    outcome: &Outcome,
) -> Result<(String, Map<String, Value>), RoadError> {
    let (end, value) = match task {
        Task::Timestamps { per_cycle, cycles, method, run, stages } => {
            let operations = if *method == Method::Convenience { 1 } else { 2 * per_cycle };
            let end = if *stages { "ts" } else { "max" };
            let mut described = json!({
                "timestamps_per_cycle": per_cycle,
                "iterations": cycles,
                "operations_per_cycle": operations,
                "procedure": run.procedure.name(),
            });
            if let Some(steady) = outcome.steady {
                described["window"] = run.window.into();
                described["steady"] = steady.into();
            }
            (format!("{end}{per_cycle}"), described)
        }
        Task::Words { words, iterations, method } => {
            let operations = match method {
                Method::Convenience => 1,
                _ => (*words).min(session::MAX_READS),
            };
            (
                format!("words{words}"),
                json!({
                    "words": words,
                    "iterations": iterations,
                    "operations_per_cycle": operations,
                }),
            )
        }
        Task::Tlu { cycles, .. } => (
            "tlu".to_owned(),
            json!({"reads": 3, "writes": 1, "iterations": cycles, "operations_per_cycle": 4}),
        ),
        // Requests are described where they are measured.
        Task::Access(_) => (String::new(), Value::Null),
        Task::Path { reads } => {
            let none = || RoadError::Inconsistent("no cycle was measured".into());
            let cycle = outcome.log.first().ok_or_else(none)?;
            let clocks = world.bus.path_clocks(&world.device, cycle)?;
            (
                format!("path{reads}"),
                json!({
                    "reads": reads,
                    "iterations": 1,
                    "operations_per_cycle": reads,
                    "clocks": clocks,
                }),
            )
        }
    };
    let mut workload = match value {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    workload.insert("topology".to_owned(), topology(scenario).into());
    Ok((end, workload))
}
