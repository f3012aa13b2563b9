// SPDX-License-Identifier: Apache-2.0
//! Etherbone over every bus: host program, driver, bus, FPGA.

mod breakdown;
mod bus;
mod fuzz;
mod line_rate;
mod program;
mod reference;
mod steady;
mod transport;
mod wire;
mod world;

use serde_json::{Map, Value, json};

use crate::device::MakeModel;
use crate::error::RoadError;
use crate::measurement::{Checked, Excluded, Measurement, Samples, SimulationCost, Throughput};
use crate::scenario::{Bus, Method, Scenario, Workload};
use crate::watch::{Step, Watch, follow};
use program::{Outcome, Run, Task};
use world::World;

/// Runs every measurement of a scenario.
pub(crate) fn run(
    scenario: &Scenario,
    make_model: MakeModel<'_>,
    watch: &Watch,
) -> Result<Vec<Measurement>, RoadError> {
    match &scenario.workload {
        Workload::LineRate { frames, timestamps_per_cycle } => {
            let load = line_rate::Load { frames: *frames, timestamps: *timestamps_per_cycle };
            return line_rate::run(scenario, make_model, watch, load).map(|one| vec![one]);
        }
        Workload::Fuzz { frames } => {
            return fuzz::run(scenario, make_model, watch, *frames).map(|one| vec![one]);
        }
        _ => {}
    }
    let tasks = tasks(&scenario.workload);
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

/// One task a measurement, each in a world of its own: none can depend on those before it.
fn tasks(workload: &Workload) -> Vec<Task> {
    match workload {
        Workload::Timestamps { method, timestamps_per_cycle, iterations, procedure, window } => {
            vec![Task::Timestamps {
                method: *method,
                per_cycle: *timestamps_per_cycle,
                cycles: *iterations,
                run: Run { procedure: *procedure, window: *window },
                stages: true,
            }]
        }
        Workload::Throughput { timestamps_per_cycle, iterations, procedure, window } => {
            vec![Task::Timestamps {
                method: Method::Pipelined,
                per_cycle: *timestamps_per_cycle,
                cycles: *iterations,
                run: Run { procedure: *procedure, window: *window },
                stages: false,
            }]
        }
        Workload::Words { method, words, iterations } => words
            .iter()
            .map(|words| Task::Words { method: *method, words: *words, iterations: *iterations })
            .collect(),
        Workload::Tlu { method, iterations } => {
            vec![Task::Tlu { method: *method, cycles: *iterations }]
        }
        Workload::Path { reads } => {
            reads.iter().map(|reads| Task::Path { reads: *reads }).collect()
        }
        // No host program runs: these drive the wire themselves.
        Workload::LineRate { .. } | Workload::Fuzz { .. } => Vec::new(),
    }
}

/// Etherbone cycles of a task, to show how far it is.
fn cycles(task: &Task) -> u64 {
    let (cycles, each) = match task {
        Task::Timestamps { method: Method::Convenience, per_cycle, cycles, .. } => {
            (*cycles, 2 * per_cycle)
        }
        Task::Timestamps { cycles, .. } => (*cycles, 1),
        Task::Words { method: Method::Convenience, words, iterations } => (*iterations, *words),
        Task::Words { words, iterations, .. } => (*iterations, words.div_ceil(program::MAX_READS)),
        Task::Tlu { method: Method::Convenience, cycles } => (*cycles, 4),
        Task::Tlu { cycles, .. } => (*cycles, 1),
        Task::Path { .. } => (3, 1),
    };
    u64::from(cycles) * u64::from(each)
}

fn measure(scenario: &Scenario, world: &World, task: &Task) -> Result<Measurement, RoadError> {
    let finished = world.simulation.run_until_complete(&world.start(task))?;
    let outcome = finished.map_err(|(during, source)| {
        let (at, done) = (world.simulation.now(), world.simulation.transfers());
        RoadError::Access { during, at, done, source }
    })?;
    // Replies on their way and pipelines inside the device come to rest before counters are read.
    world.settle()?;
    world.write_timeline()?;
    let checked = world.simulation.scoreboard().verdict()?;
    let breakdown = breakdown::of(world, &outcome, task);
    // A fault may break a transfer's way into pieces that do not join.
    let breakdown = match breakdown {
        Err(_) if !scenario.faults.is_empty() => breakdown::Breakdown::default(),
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
    let wire_bytes = intervals.map(|(start, end)| world.bus.wire_bytes(world, *start, *end)).sum();
    Ok(Measurement {
        id: format!(
            "etherbone/{}/{}/{method}/{end}",
            scenario.platform.name,
            scenario.profile.name()
        ),
        road: "etherbone",
        platform: scenario.platform.name.clone(),
        profile: scenario.profile.name().to_owned(),
        method: method.to_owned(),
        workload,
        definition: "rtt",
        arrivals: task.arrivals(),
        seed: scenario.seed,
        iterations: if task.has_latency() { samples.count() } else { outcome.cycles },
        excluded: Excluded { head: outcome.excluded.0, tail: outcome.excluded.1 },
        latency_ps: samples.latency(),
        histogram: samples.buckets(),
        samples: Vec::new(),
        windows_ps: outcome.windows.clone(),
        throughput: Some(Throughput::new(
            outcome.payload_bytes,
            Some(wire_bytes),
            outcome.cycles,
            outcome.timestamps,
            outcome.elapsed(),
        )),
        stages_total_ps: breakdown.stages.iter().map(|stage| stage.ps).sum(),
        stages: breakdown.stages,
        timeline: breakdown.timeline,
        checked: Checked { bytes: checked.bytes, wrong: checked.wrong, lost: checked.lost },
        counters: world.counters(&outcome.statistics),
        simulation: SimulationCost {
            device_cycles: statistics.device_cycles,
            evaluated_cycles: statistics.evaluated_cycles,
            wall_s: statistics.wall_s,
        },
    })
}

/// The end of the id, and the workload as results show it.
fn describe(
    scenario: &Scenario,
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
                _ => (*words).min(program::MAX_READS),
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
    let topology = match &scenario.platform.bus {
        Bus::Gige(gige) if gige.switch.is_some() => "switch",
        _ => "direct",
    };
    workload.insert("topology".to_owned(), topology.into());
    Ok((end, workload))
}
