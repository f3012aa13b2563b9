// SPDX-License-Identifier: Apache-2.0
//! From all transactions to a measurement.

use std::collections::BTreeMap;

use isthmus_sim::Picoseconds;
use serde_json::{Value, json};

use super::super::scenario::{CcixLockMode, CcixLocks, CcixScenario, NAME};
use super::super::world::World;
use super::state::Logic;
use super::waits;
use crate::error::RoadError;
use crate::measurement::{
    Carried, Checked, Measurement, Origin, Samples, SimulationCost, Throughput,
};

/// What became of the unit; null where nothing was planned.
fn faults(logic: &Logic) -> Value {
    let of = &logic.faults;
    if of.resets + of.holds == 0 {
        return Value::Null;
    }
    json!({
        "resets": of.resets,
        "holds": of.holds,
        "lease_ps": logic.lease.0,
        "undone": of.undone,
        "whole": of.whole,
        "longest_ps": of.longest.0,
    })
}

/// What became of it where all of the FPGA was reset; null where nothing was planned.
fn losses(logic: &Logic) -> Value {
    let of = &logic.fpga.losses;
    if logic.of.fpga_resets == 0 {
        return Value::Null;
    }
    json!({
        "resets": of.count,
        "redone": of.redone,
        "ended": of.ended,
        "whole": of.whole,
        "waited": of.waited,
        "restored": of.restored,
        "detect_ps": logic.fpga.detect.0,
        "outage_ps": of.outage.0 / u64::from(of.count.max(1)),
    })
}

/// Waits of both sides: of all, of those that met no lock that was held, and what the load itself makes of them.
fn waits_of_all(logic: &Logic, of: &CcixLocks, elapsed: Picoseconds) -> Result<Value, RoadError> {
    if of.mode == CcixLockMode::Cas || of.resets + of.holds + of.fpga_resets > 0 {
        return Ok(Value::Null);
    }
    let mut samples = [Samples::new()?, Samples::new()?];
    let mut alone = [Picoseconds(u64::MAX); 2];
    for (state, transaction) in logic.states.iter().zip(&of.transactions) {
        let wait = state.locked.unwrap_or_default() - state.begin;
        samples[0].add(wait);
        if !state.met && state.aborts == 0 {
            samples[1].add(wait);
        }
        let side = usize::from(transaction.fpga);
        alone[side] = alone[side].min(wait);
    }
    // To the table at the other side and back; to that of the own side nothing.
    let is_far = |side: usize| (of.mode == CcixLockMode::Host) == (side == 1);
    let single = of.transactions.iter().all(|one| one.steps.len() == 1 && one.steps[0].update);
    let holds: Vec<_> = logic
        .states
        .iter()
        .zip(&of.transactions)
        .map(|(state, one)| {
            let side = usize::from(one.fpga);
            let own = state.end.unwrap_or_default() - state.locked.unwrap_or_default();
            let way = if is_far(side) { alone[side] } else { Picoseconds::ZERO };
            waits::Hold { record: one.steps[0].record, held: own + way, alone: alone[side] }
        })
        .collect();
    let load = single.then(|| waits::Load::of(&holds, of.requesters, elapsed));
    Ok(json!({
        "all_ps": samples[0].latency(),
        "free_ps": samples[1].latency(),
        "met": samples[0].count() - samples[1].count(),
        "load": load,
    }))
}

pub(super) fn measurement(
    world: &World,
    scenario: &CcixScenario,
    of: &CcixLocks,
    logic: &Logic,
    start: Picoseconds,
    wire: [u64; 2],
) -> Result<Measurement, RoadError> {
    let mut samples = Samples::new()?;
    let mut waits = [Samples::new()?, Samples::new()?];
    let mut aborts = [0_u64; 2];
    // Aborted attempts and the times between them; the locks of the last attempt; records.
    let mut stages = [[0_u64; 3]; 2];
    for (state, transaction) in logic.states.iter().zip(&of.transactions) {
        let side = usize::from(transaction.fpga);
        let end = state.end.unwrap_or_default();
        samples.add(end - state.begin);
        let locked = state.locked.unwrap_or_default();
        waits[side].add(locked - state.begin);
        let edges = [state.begin, state.attempt, locked, end];
        for (stage, edge) in stages[side].iter_mut().zip(edges.windows(2)) {
            *stage += (edge[1] - edge[0]).0;
        }
        aborts[side] += u64::from(state.aborts);
    }
    let elapsed = logic.last - start;
    let origin = Origin {
        road: NAME,
        platform: &scenario.platform.name,
        profile: scenario.profile.name(),
        method: scenario.workload.operation.name(),
        seed: scenario.seed,
    };
    let carried = Carried {
        operation: scenario.workload.operation,
        bytes: 8,
        driver: scenario.workload.driver.name(),
        window: Some(of.requesters),
        rate_per_s: None,
        noise: false,
        busy: BTreeMap::new(),
        saturated: false,
    };
    let side = |number: usize| -> Value {
        let count = waits[number].count();
        json!({
            "transactions": count,
            "aborts": aborts[number],
            "wait_ps": waits[number].latency(),
            "stages_ps": {
                "attempts": stages[number][0] / count.max(1),
                "locks": stages[number][1] / count.max(1),
                "records": stages[number][2] / count.max(1),
            },
        })
    };
    let steps = of.transactions.iter().map(|one| one.steps.len() as u64).sum::<u64>();
    let mut workload = carried.to_workload();
    workload.insert(
        "locks".to_owned(),
        json!({
            "trace": of.trace,
            "mode": of.mode.name(),
            "rows": of.rows,
            "requesters": of.requesters,
            "steps": steps,
            "elapsed_ps": elapsed.0,
            "host": side(0),
            "fpga": side(1),
            "to_host_bytes": wire[0],
            "to_fpga_bytes": wire[1],
            "faults": faults(logic),
            "losses": losses(logic),
            "waits": waits_of_all(logic, of, elapsed)?,
        }),
    );
    let count = samples.count();
    let mut name = format!("locks-{}-{}-q{}", of.trace, of.mode.name(), of.requesters);
    if of.resets + of.holds > 0 {
        name += &format!("-resets{}-holds{}", of.resets, of.holds);
    }
    if of.fpga_resets > 0 {
        name += &format!("-fpga-resets{}", of.fpga_resets);
    }
    Ok(Measurement {
        workload,
        throughput: Some(Throughput::new(8 * steps, None, count, None, elapsed)),
        checked: Checked { bytes: 8 * steps, ..Checked::default() },
        counters: world.counters(),
        simulation: SimulationCost::of(&world.simulation.statistics()),
        ..Measurement::of(&origin, &name, &samples)
    }
    .described("whole_call", "closed-loop".to_owned()))
}
