// SPDX-License-Identifier: Apache-2.0
//! UDP from the wire into registered memory: sources on Gigabit Ethernet, a network interface, a host that
//! polls its events.

mod breakdown;
mod chain;
mod commodity;
mod interface;
mod ledger;
mod message;
mod pair;
mod program;
mod release;
mod results;
pub mod scenario;
mod search;
mod send;
mod serve;
mod world;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

use serde_json::{Value, json};

use isthmus_host::nic::Translations;
use isthmus_sim::Picoseconds;

use crate::arrivals::{Arrivals, is_saturated};
use crate::error::RoadError;
use crate::gpu::DataMemory;
pub use crate::host_bus::{Bar, HostMemory, InterruptLine, Machine};
use crate::measurement::{
    Carried, Checked, Excluded, Measurement, Origin, Samples, SimulationCost, Throughput,
};
use crate::model::MakeModel;
use crate::operation::Operation;
use crate::road::{Context, Road, ServeWatch};
use crate::watch::{Step, Watch, follow};
pub use interface::{Interface, Source};
use ledger::{Ledger, Sent};
use program::{Outcome, Program};
use scenario::{NAME, NanetScenario};
use world::{NanetPort, World, whereabouts};

/// UDP into registered memory.
pub struct Nanet;

impl Road for Nanet {
    fn name(&self) -> &'static str {
        NAME
    }

    fn schema(&self) -> schemars::Schema {
        crate::schema::of::<NanetScenario>()
    }

    fn run(&self, json: &str, context: &Context<'_>) -> Result<Vec<Measurement>, RoadError> {
        run(&NanetScenario::parse(json)?, context.make_model, context.watch)
    }

    fn serve(
        &self,
        json: &str,
        make_model: MakeModel<'_>,
        watch: ServeWatch<'_>,
    ) -> Result<(), RoadError> {
        serve::serve(json, make_model, watch)
    }
}

/// Runs a scenario.
pub(crate) fn run(
    scenario: &NanetScenario,
    make_model: MakeModel<'_>,
    watch: &Watch,
) -> Result<Vec<Measurement>, RoadError> {
    if let Some(commodity) = scenario.platform.commodity.filter(|_| scenario.commodity) {
        return commodity::run(scenario, &commodity);
    }
    if scenario.workload.remote {
        return message::run(scenario, make_model, watch);
    }
    if scenario.sends() {
        return send::run(scenario, make_model, watch);
    }
    if let Some(chain) = &scenario.chain {
        return chain::run(scenario, chain, make_model, watch);
    }
    let begin = Instant::now();
    let mut world = World::build(scenario, make_model)?;
    let (head, tail) = scenario.excluded()?;
    let all = (head + scenario.workload.iterations + tail) * scenario.interface.ports as u64;
    follow(&world.simulation, watch, Step { total: 1, transfers_total: all, ..Step::default() });
    let ports = Rc::new(std::mem::take(&mut world.ports));
    let ledgers: Rc<Vec<RefCell<Ledger>>> =
        Rc::new((0..ports.len()).map(|port| RefCell::new(Ledger::new(scenario, port))).collect());
    let program = Program::new(&world, &ports, &ledgers, &Rc::new(scenario.clone()))?;
    let task = world.simulation.spawn(program.run(world.config.clone()));
    let outcome = world.simulation.run_until_complete(&task)??;
    let lost = lost(&ledgers);
    if lost > 0 && !scenario.workload.may_lose {
        return Err(RoadError::Violation(format!(
            "nanet: {lost} datagrams were lost: {}",
            whereabouts(&outcome.statistics)
        )));
    }
    let run = Run { scenario, world: &world, ports: &ports, ledgers: &ledgers, outcome: &outcome };
    Ok(vec![run.measurement(begin)?])
}

fn lost(ledgers: &[RefCell<Ledger>]) -> u64 {
    let of = |ledger: &RefCell<Ledger>| {
        ledger.borrow().sent.iter().filter(|one| one.good && one.seen.is_none()).count()
    };
    ledgers.iter().map(of).sum::<usize>() as u64
}

/// A run that has ended.
struct Run<'a> {
    scenario: &'a NanetScenario,
    world: &'a World,
    ports: &'a [NanetPort],
    ledgers: &'a [RefCell<Ledger>],
    outcome: &'a Outcome,
}

impl Run<'_> {
    fn measurement(&self, begin: Instant) -> Result<Measurement, RoadError> {
        let (scenario, workload) = (self.scenario, &self.scenario.workload);
        let (head, tail) = scenario.excluded()?;
        let counted = head as usize..(head + workload.iterations) as usize;
        let arrivals = scenario.arrivals()?;
        let mut samples = Samples::new()?;
        let mut saturated = false;
        for ledger in self.ledgers {
            let ledger = ledger.borrow();
            let seen = ledger.sent[counted.clone()].iter().filter_map(latency);
            seen.for_each(|one| samples.add(one));
            if let Arrivals::Rate(_) = arrivals {
                let due: Vec<_> = ledger.sent.iter().map(|one| one.due).collect();
                let ended: Vec<_> = ledger.sent.iter().filter_map(|one| one.seen).collect();
                saturated |= is_saturated(&due, &ended, counted.clone());
            }
        }
        let name = format!("nic-to-memory/b{}-{}", workload.bytes, arrivals.suffix());
        let name = match self.ports.len() {
            1 => name,
            ports => format!("{name}-p{ports}"),
        };
        let name = match workload.memory {
            DataMemory::Host => name,
            memory => format!("{name}-{}", memory.name()),
        };
        let origin = Origin {
            road: NAME,
            platform: &scenario.platform.name,
            profile: scenario.profile.name(),
            method: scenario.driver(),
            seed: scenario.seed,
        };
        let mut made =
            Measurement::of(&origin, &name, &samples).described("one_way", arrivals.to_string());
        let core = Carried {
            operation: Operation::NicToMemory,
            bytes: workload.bytes as u64,
            driver: scenario.driver(),
            window: arrivals.window(),
            rate_per_s: arrivals.rate_per_s(),
            noise: scenario.noise.is_some(),
            busy: self.outcome.busy.clone(),
            saturated,
        };
        made.workload.extend(core.to_workload());
        for (key, value) in [
            ("ports", json!(self.ports.len())),
            ("buffers", json!(workload.buffers)),
            ("datagrams", json!(workload.datagrams)),
            ("memory", json!(workload.memory.name())),
            ("lost", json!(lost(self.ledgers))),
        ] {
            made.workload.insert(key.to_owned(), value);
        }
        made.excluded = Excluded { head, tail };
        let [from, until] = self.outcome.span;
        if until > from {
            let datagrams = workload.iterations * self.ports.len() as u64;
            let wire = datagrams * NanetPort::wire_bytes(workload.bytes);
            let payload = datagrams * workload.bytes as u64;
            let span = until - from;
            made.throughput = Some(Throughput::new(payload, Some(wire), datagrams, None, span));
        }
        self.counters(&mut made);
        let clean = lost(self.ledgers) == 0 && workload.datagrams == 1;
        if clean {
            let ledger = self.ledgers[0].borrow();
            let found =
                breakdown::of(self.world, &self.ports[0], &ledger, (counted, workload.memory))?;
            made.workload.insert("parts_ps".to_owned(), json!(found.parts));
            made.stages = found.stages;
            made.stages_total_ps = found.total.0;
        }
        if saturated {
            (made.latency_ps, made.histogram) = (None, None);
        }
        made.simulation = SimulationCost::of(&self.world.simulation.statistics());
        made.simulation.wall_s = begin.elapsed().as_secs_f64();
        Ok(made)
    }

    fn counters(&self, made: &mut Measurement) {
        for (port, statistics) in self.outcome.statistics.iter().enumerate() {
            for (name, count) in statistics.named() {
                made.counters.insert(format!("port{port}.{name}"), count);
            }
        }
        for (name, count) in self.outcome.translations.iter().flat_map(Translations::named) {
            made.counters.insert(format!("translate.{name}"), count);
        }
        made.counters.extend(self.world.simulation.counters().values());
        let bytes = self.scenario.workload.bytes as u64;
        made.checked = Checked {
            bytes: self.ledgers.iter().map(|ledger| ledger.borrow().compared).sum(),
            wrong: 0,
            lost: lost(self.ledgers) * bytes,
        };
        let sent: usize = self.ledgers.iter().map(|ledger| ledger.borrow().sent.len()).sum();
        made.workload.insert("sent".to_owned(), Value::from(sent));
    }
}

fn latency(sent: &Sent) -> Option<Picoseconds> {
    sent.seen.map(|seen| seen.saturating_sub(sent.due))
}
