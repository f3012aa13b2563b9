// SPDX-License-Identifier: Apache-2.0
//! A trigger on rings, whole: detector events by four links, merged by time stamp, their rings found on the bytes
//! that the interface wrote, each answer out by the interface's result pins.
//!
//! The rings are really found; how long that takes is drawn from measured distributions. The interface releases each
//! answer a given time after its event; this module compares that, and counts what is late by itself.

mod draws;
mod log;
mod plan;
mod program;

use std::rc::Rc;
use std::time::Instant;

use serde_json::{Value, json};

use isthmus_host::nic::Released;
use isthmus_sim::Picoseconds;

use super::release;
use super::scenario::{NAME, NanetChain, NanetScenario};
use super::world::{NanetPort, World, whereabouts};
use crate::arrivals::is_saturated;
use crate::error::RoadError;
use crate::measurement::{
    Checked, Excluded, Measurement, Origin, Samples, SimulationCost, Throughput,
};
use crate::model::MakeModel;
use crate::stages::Way;
use crate::watch::{Step, Watch, follow};
use log::{Log, Trip};
use plan::Plan;
use program::{Outcome, Program};

/// Runs a chain.
pub(super) fn run(
    scenario: &NanetScenario,
    chain: &NanetChain,
    make_model: MakeModel<'_>,
    watch: &Watch,
) -> Result<Vec<Measurement>, RoadError> {
    let begin = Instant::now();
    let plan = Plan::of(scenario, chain)?;
    let mut world = World::build(scenario, make_model)?;
    world.simulation.probes().set_enabled(false);
    follow(
        &world.simulation,
        watch,
        Step { total: 1, transfers_total: plan.total, ..Step::default() },
    );
    let ports = Rc::new(std::mem::take(&mut world.ports));
    let program = Program::new(&world, &ports, (chain, scenario.faults.lost_every), &plan)?;
    let log = program.log();
    let task = world.simulation.spawn(program.run(world.config.clone()));
    let outcome = world.simulation.run_until_complete(&task)??;
    let mut log = log.borrow_mut();
    log.results(world.results.take())?;
    let released = match &world.release {
        Some(release) => Some(
            release
                .check(&log.answers(), release::clocks(chain.release_us))
                .map_err(|wrong| RoadError::Violation(format!("nanet: {wrong}")))?,
        ),
        None => None,
    };
    let missing = log.missing();
    if missing > 0 && !scenario.workload.may_lose {
        return Err(RoadError::Violation(format!(
            "nanet: {missing} events got no answer: {}",
            lost(&outcome)
        )));
    }
    let clock = ports.first().map(NanetPort::receive_clock).unwrap_or_default();
    let octet = world.device.clock_period(&clock).unwrap_or_default();
    let frames: Vec<_> = ports.iter().map(|port| port.received_since(0)).collect();
    let trips = log.trips(&frames, octet)?;
    let end =
        End { scenario, chain, plan: &plan, world: &world, log: &log, trips: &trips, released };
    Ok(vec![end.measurement(&outcome, begin)?])
}

/// Where datagrams and fragments went, in words.
fn lost(outcome: &Outcome) -> String {
    let mut text = whereabouts(&outcome.statistics);
    for (port, of) in outcome.joined.iter().flat_map(|joined| joined.ports.iter().enumerate()) {
        for (name, count) in of.named().filter(|(_, count)| *count > 0) {
            text.push_str(&format!(", port {port} {name} {count}"));
        }
    }
    text
}

/// A run that has ended.
struct End<'a> {
    scenario: &'a NanetScenario,
    chain: &'a NanetChain,
    plan: &'a Plan,
    world: &'a World,
    log: &'a Log,
    trips: &'a [Trip],
    /// Clocks in which the trigger lines changed, if the interface releases.
    released: Option<u64>,
}

impl End<'_> {
    fn counted(&self) -> impl Iterator<Item = &Trip> {
        let range = self.plan.range();
        self.trips.iter().filter(move |trip| range.contains(&trip.group))
    }

    fn measurement(&self, outcome: &Outcome, begin: Instant) -> Result<Measurement, RoadError> {
        let (scenario, chain, plan) = (self.scenario, self.chain, self.plan);
        let mut samples = Samples::new()?;
        self.counted().for_each(|trip| samples.add(trip.answered - trip.wire));
        let origin = Origin {
            road: NAME,
            platform: &scenario.platform.name,
            profile: scenario.profile.name(),
            method: &chain.finder,
            seed: scenario.seed,
        };
        let name = format!(
            "wire-to-trigger/{}{}-e{}-s{}-c{}-r{}{}",
            plan.format.name(),
            if chain.search.is_some() {
                "-fpga"
            } else if chain.merge {
                "-merged"
            } else {
                ""
            },
            chain.events,
            chain.share(),
            chain.cores,
            chain.rate_per_s,
            if chain.times.noise { "" } else { "-quiet" }
        );
        let arrivals = format!("poisson:{}/s", chain.rate_per_s);
        let mut made = Measurement::of(&origin, &name, &samples).described("one_way", arrivals);
        made.excluded = Excluded { head: plan.head, tail: plan.total - plan.head - plan.counted };
        self.times(&mut made)?;
        self.quality(&mut made);
        self.rates(&mut made, outcome);
        for (port, statistics) in outcome.statistics.iter().enumerate() {
            for (name, count) in statistics.named() {
                made.counters.insert(format!("port{port}.{name}"), count);
            }
        }
        made.counters.insert("merge.incomplete".to_owned(), outcome.incomplete);
        if let Some(joined) = &outcome.joined {
            made.counters.insert("merge.events".to_owned(), joined.merged.into());
            made.counters.insert("merge.incomplete_events".to_owned(), joined.incomplete.into());
            for (port, of) in joined.ports.iter().enumerate() {
                for (name, count) in of.named() {
                    made.counters.insert(format!("port{port}.{name}"), count);
                }
            }
        }
        if let Some(released) = self.released {
            made.counters.insert("release.clocks".to_owned(), released);
            for (name, count) in outcome.released.iter().flat_map(Released::named) {
                // The registers of the interface; its pins say the same.
                let pin = self.world.device.output(&format!("status_{name}_o"), 32)?;
                if pin.get() != count {
                    let pin = pin.get();
                    let what =
                        format!("nanet: {count} answers {name} in the register, {pin} at the pins");
                    return Err(RoadError::Violation(what));
                }
                made.counters.insert(format!("release.{name}"), count);
            }
        }
        made.counters.extend(self.world.simulation.counters().values());
        let missing = self.log.missing();
        let answers = self.log.events.len() as u64 - missing;
        // Each answer is compared with that of a finder which read the event before it was sent.
        let unexplained = missing.saturating_sub(self.counted_losses(outcome));
        made.checked = Checked { bytes: 4 * answers, wrong: 0, lost: 4 * unexplained };
        made.simulation = SimulationCost::of(&self.world.simulation.statistics());
        made.simulation.wall_s = begin.elapsed().as_secs_f64();
        Ok(made)
    }

    /// Events without an answer that the ports' counters explain, where losses are allowed.
    fn counted_losses(&self, outcome: &Outcome) -> u64 {
        if !self.scenario.workload.may_lose {
            return 0;
        }
        let datagrams: u64 = outcome
            .statistics
            .iter()
            .map(|of| u64::from(of.overflow) + u64::from(of.no_buffer))
            .sum();
        datagrams * self.chain.events as u64
    }

    /// Parts of the way, the time from an event to its answer, and what was late.
    fn times(&self, made: &mut Measurement) -> Result<(), RoadError> {
        let mut parts = serde_json::Map::new();
        let mut part = |name: &str,
                        times: &mut dyn Iterator<Item = Picoseconds>|
         -> Result<(), RoadError> {
            let mut samples = Samples::new()?;
            times.for_each(|one| samples.add(one));
            if let Some(latency) = samples.latency() {
                parts.insert(name.to_owned(), serde_json::to_value(latency).unwrap_or_default());
            }
            Ok(())
        };
        part("seen", &mut self.counted().map(|trip| trip.seen - trip.wire))?;
        part("merge", &mut self.counted().map(|trip| trip.merged - trip.seen))?;
        part("core", &mut self.counted().map(|trip| trip.begun - trip.merged))?;
        part("find", &mut self.counted().map(|trip| trip.found - trip.begun))?;
        part("answer", &mut self.counted().map(|trip| trip.answered - trip.found))?;
        let release = Picoseconds::from_ns_f64(self.chain.release_us * 1e3);
        let mut age = Samples::new()?;
        let (mut late, mut events) = (0u64, 0u64);
        for trip in self.counted() {
            for event in self.log.of(trip.group) {
                events += 1;
                let answered = event.answered.map(|at| at.saturating_sub(event.time));
                late += u64::from(answered.is_none_or(|age| age > release));
                if let Some(one) = answered {
                    age.add(one);
                }
            }
        }
        let workload = &mut made.workload;
        workload.insert("parts_ps".to_owned(), Value::Object(parts));
        if let (Some(latency), Some(buckets)) = (age.latency(), age.buckets()) {
            workload.insert(
                "event_to_answer".to_owned(),
                json!({ "latency_ps": latency, "histogram": buckets }),
            );
        }
        let missing = self.log.missing();
        for (key, value) in [
            ("driver", json!("poll")),
            ("sample", json!(self.chain.sample)),
            ("format", json!(self.plan.format.name())),
            ("merged_by", json!(if self.chain.merge { "fpga" } else { "cpu" })),
            ("events", json!(self.chain.events)),
            ("share", json!(self.chain.share())),
            ("links", json!(self.scenario.interface.ports)),
            ("link_mbit_s", json!(self.scenario.platform.cable.rate_mbit_s)),
            ("rate_per_s", json!(self.chain.rate_per_s)),
            ("finder", json!(self.chain.finder)),
            ("cores", json!(self.chain.cores)),
            ("release_us", json!(self.chain.release_us)),
            ("times", json!(self.chain.times.machine)),
            ("counted_events", json!(events)),
            ("late", json!(late)),
            ("lost", json!(missing)),
            ("noise", json!(self.chain.times.noise)),
        ] {
            workload.insert(key.to_owned(), value);
        }
        if let Some(trip) = self.counted().last() {
            let mut way = Way::new(trip.wire);
            for (place, name, time) in [
                ("fpga", "interface, bus, program sees it", trip.seen),
                ("host", "merge", trip.merged),
                ("host", "core to core, core free", trip.begun),
                ("host", "rings", trip.found),
                ("host", "answers to the result pins", trip.answered),
            ] {
                way.until(place, name, time)?;
            }
            made.stages = way.finish(trip.answered)?;
            made.stages_total_ps = (trip.answered - trip.wire).0;
        }
        Ok(())
    }

    /// How well rings were found, beside how fast; with a search what its candidates alone are.
    fn quality(&self, made: &mut Measurement) {
        let place = if self.chain.search.is_some() { "fpga" } else { "cpu" };
        made.workload.insert("search".to_owned(), json!(place));
        if let Some(search) = self.chain.search {
            made.workload.insert("search_mhz".to_owned(), json!(search.clock_mhz));
        }
        for (key, of) in [("quality", &self.log.quality), ("candidates", &self.log.alone)] {
            if of.events == 0 {
                continue;
            }
            // Of a kind of events that did not come there is no share.
            let share = |value: f64| if value.is_finite() { json!(value) } else { Value::Null };
            let value = json!({
                "events": of.events,
                "efficiency": ([1, 2, 3].map(|number| share(of.efficiency(number)))),
                "multiplicity": ([1, 2, 3].map(|number| share(of.multiplicity(number)))),
                "fakes": of.fake_rate(),
            });
            made.workload.insert(key.to_owned(), value);
        }
    }

    fn rates(&self, made: &mut Measurement, outcome: &Outcome) {
        let trips: Vec<&Trip> = self.counted().collect();
        let range = self.plan.range();
        let groups = &self.log.groups;
        let due: Vec<_> = groups.iter().map(|group| group.due).collect();
        let mut ended: Vec<_> = self.trips.iter().map(|trip| trip.answered).collect();
        ended.sort_unstable();
        made.workload.insert("saturated".to_owned(), json!(is_saturated(&due, &ended, range)));
        let Some((first, rest)) = trips.split_first() else { return };
        let until = trips.iter().map(|trip| trip.wire).max().unwrap_or_default();
        let span = until.saturating_sub(first.wire);
        if span == Picoseconds::ZERO {
            return;
        }
        // Of the first group only the end lies in the span.
        let sum = |of: &dyn Fn(usize) -> u64| {
            rest.iter()
                .flat_map(|trip| &groups[trip.group].frames)
                .map(|frame| of(frame.bytes))
                .sum()
        };
        let payload: u64 = sum(&|bytes| bytes as u64);
        let wire: u64 = sum(&NanetPort::wire_bytes);
        let events = (rest.len() * self.chain.events) as u64;
        made.throughput = Some(Throughput::new(payload, Some(wire), events, None, span));
        let share = |time: Picoseconds, of: usize| {
            (time.0 as f64 / (outcome.span.0 as f64 * of as f64)).clamp(0.0, 1.0)
        };
        let octet = 8e12 / (self.scenario.platform.cable.rate_mbit_s * 1e6);
        let links = self.scenario.interface.ports as f64;
        let busy = json!({
            "wire": (wire as f64 * octet / (links * span.0 as f64)).clamp(0.0, 1.0),
            "cores": share(outcome.finding, self.chain.cores),
            "merger": share(outcome.merging, 1),
        });
        made.workload.insert("busy".to_owned(), busy);
        let bytes = payload as f64 / events.max(1) as f64;
        made.workload.insert("bytes_an_event".to_owned(), json!(bytes));
    }
}
