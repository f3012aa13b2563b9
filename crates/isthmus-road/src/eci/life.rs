// SPDX-License-Identifier: Apache-2.0
//! One line's life: both ends use it in turn, and after each step both tracers say what was sent and what state it has.
//!
//! The program is what a user of `isthmus_host::coherent` can write: it reads each end's tracer from the other end.

use isthmus_host::coherent::{
    Caching, CoherentError, FPGA_MEMORY, Filter, Keep, LINE_BYTES, LineState, Node, Record, Region,
};
use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::Sim;
use serde::Serialize;
use serde_json::json;

use super::NAME;
use super::nodes::{CoherentLink, Homes, LinkPort, NodeProgram};
use super::scenario::{EciDevice, EciScenario};
use crate::error::RoadError;
use crate::measurement::{Carried, Checked, Measurement, Origin, Samples, SimulationCost};
use crate::road::Context;

/// Longer than all messages of a step take, those that are sent again included.
const SETTLED: Picoseconds = Picoseconds(4_000_000);
const NAMES: [&str; 2] = ["host", "fpga"];

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum Access {
    Load,
    Store,
    Evict,
}

/// Who does what: the end with the cache, or the line's home. Every answer and every state of a line that is at rest
/// is among them.
const STEPS: [(bool, Access); 22] = [
    (true, Access::Load),
    (false, Access::Load),
    (true, Access::Store),
    (false, Access::Load),
    (false, Access::Store),
    (true, Access::Load),
    (true, Access::Store),
    (true, Access::Evict),
    (true, Access::Store),
    (false, Access::Store),
    (true, Access::Store),
    (false, Access::Load),
    (true, Access::Store),
    (true, Access::Evict),
    (true, Access::Load),
    (true, Access::Evict),
    (true, Access::Load),
    (false, Access::Store),
    (true, Access::Load),
    (true, Access::Evict),
    (true, Access::Load),
    (true, Access::Store),
];

/// A message, as both tracers saw it; times are in clocks since the simulation began.
#[derive(Serialize)]
struct Seen {
    name: &'static str,
    from: &'static str,
    circuit: u8,
    link: u8,
    id: u8,
    dirty: bool,
    sent: u64,
    received: u64,
}

#[derive(Serialize)]
struct Step {
    end: &'static str,
    does: Access,
    begin_clocks: f64,
    end_clocks: f64,
    messages: Vec<Seen>,
    /// Of the end with the cache, and of the home, after it.
    cache: &'static str,
    home: &'static str,
    directory: &'static str,
    pinned: bool,
}

#[derive(Serialize)]
struct Life {
    line: u64,
    cache_end: &'static str,
    steps: Vec<Step>,
}

/// Both ends' programs in one.
struct Ends {
    nodes: [Node<LinkPort>; 2],
    regions: [Region; 2],
    /// The end with the cache.
    agent: usize,
    first: u64,
    sim: Sim,
    clock_ps: f64,
    /// Clocks before those that the tracers count, of each end.
    resets: [u64; 2],
    seed: u64,
}

fn failed(source: CoherentError) -> RoadError {
    RoadError::Program { during: "one line's life".to_owned(), note: None, source: source.into() }
}

impl Ends {
    fn wrong(&self, reason: &str) -> RoadError {
        RoadError::Violation(format!("eci: one line's life: {reason}; seed {}", self.seed))
    }

    async fn access(&mut self, end: usize, line: u64, what: Access) -> Result<u64, CoherentError> {
        let (node, region) = (&mut self.nodes[end], &self.regions[end]);
        let at = line * LINE_BYTES as u64;
        match what {
            Access::Load => return node.load64(region, at).await,
            Access::Store => node.store64(region, at, self.sim.now().0).await?,
            Access::Evict => node.flush(region, at, LINE_BYTES).await?,
        }
        Ok(0)
    }

    /// All steps, of the line with this number in its memory.
    async fn live(&mut self, line: u64) -> Result<(Life, Picoseconds), RoadError> {
        let number = self.first + line;
        let filter = Filter { line: Some(number), keep: Keep::Oldest, ..Filter::default() };
        for node in &mut self.nodes {
            node.tracer().await.map_err(failed)?.start(&filter).await.map_err(failed)?;
        }
        let (mut steps, mut took, mut value) = (Vec::new(), Picoseconds::ZERO, 0);
        for (by_agent, does) in STEPS {
            let end = if by_agent { self.agent } else { 1 - self.agent };
            let begin = self.sim.now();
            let found = self.access(end, line, does).await.map_err(failed)?;
            let done = self.sim.now();
            match does {
                Access::Load if found != value => {
                    return Err(self.wrong(&format!("{found:#x} is loaded, and {value:#x} stored")));
                }
                Access::Store => value = begin.0,
                _ => {}
            }
            took += done - begin;
            self.sim.sleep(SETTLED).await;
            let (mut records, mut states) = (Vec::new(), Vec::new());
            // The far end's tracer is the one that a node reads.
            for (far, name) in NAMES.iter().enumerate() {
                let mut tracer = self.nodes[1 - far].tracer().await.map_err(failed)?;
                states.push(tracer.state(number).await.map_err(failed)?);
                records.push(tracer.records().await.map_err(failed)?);
                let lost = tracer.lost().await.map_err(failed)?;
                if lost.messages > 0 || lost.overwritten {
                    let reason = format!("the {name}'s tracer has lost messages");
                    return Err(self.wrong(&reason));
                }
            }
            let clocks = |time: Picoseconds| time.0 as f64 / self.clock_ps;
            let messages = self.paired(&records)?;
            let settled = clocks(done + SETTLED);
            let inside = |one: &Seen| {
                let times = [one.sent as f64 + 1.0, one.received as f64 + 1.0, settled];
                clocks(begin) <= times[0] && times.is_sorted()
            };
            if !messages.iter().all(inside) {
                return Err(self.wrong("a message is not inside its step"));
            }
            let (home, directory, pinned) = match states[1 - self.agent] {
                LineState::NoEntry => ("I", "I", false),
                LineState::Home { home, directory, pinned, .. } => {
                    (home.name(), directory.name(), pinned)
                }
                LineState::Cached(_) => return Err(self.wrong("the home has a cache's state")),
            };
            let LineState::Cached(cache) = states[self.agent] else {
                return Err(self.wrong("the cache has a home's state"));
            };
            steps.push(Step {
                end: NAMES[end],
                does,
                begin_clocks: clocks(begin),
                end_clocks: clocks(done),
                messages,
                cache: cache.name(),
                home,
                directory,
                pinned,
            });
        }
        Ok((Life { line: number, cache_end: NAMES[self.agent], steps }, took))
    }

    /// Each message that one end has sent, with what the other one received: every one once.
    fn paired(&self, records: &[Vec<Record>]) -> Result<Vec<Seen>, RoadError> {
        let same = |sent: &Record, came: &Record| {
            let of = |one: &Record| (one.circuit, one.code, one.id, one.line, one.dirty);
            came.received && of(sent) == of(came)
        };
        let mut made = Vec::new();
        for from in 0..2 {
            for sent in records[from].iter().filter(|one| !one.received) {
                let Some(message) = sent.message else {
                    return Err(self.wrong(&format!("{sent:?} is no message about a line")));
                };
                let came: Vec<_> =
                    records[1 - from].iter().filter(|came| same(sent, came)).collect();
                let [came] = came[..] else {
                    let (name, count) = (message.name(), came.len());
                    return Err(self.wrong(&format!("{name} has been received {count} times")));
                };
                made.push(Seen {
                    name: message.name(),
                    from: NAMES[from],
                    circuit: sent.circuit,
                    link: came.link,
                    id: sent.id,
                    dirty: sent.dirty,
                    sent: self.resets[from] + u64::from(sent.ticks),
                    received: self.resets[1 - from] + u64::from(came.ticks),
                });
            }
        }
        let received = records.iter().flatten().filter(|one| one.received).count();
        if received != made.len() {
            let reason = format!("{received} messages received, {} sent", made.len());
            return Err(self.wrong(&reason));
        }
        made.sort_by_key(|one| one.sent);
        Ok(made)
    }
}

/// As many lives as the workload has iterations, each of the next line.
pub(super) fn run(scenario: &EciScenario, context: &Context<'_>) -> Result<Measurement, RoadError> {
    let link = CoherentLink::of(scenario, context.make_model)?;
    let count = scenario.workload.iterations;
    let agent = usize::from(!scenario.home_at_fpga());
    let first = match link.homes() {
        Homes::Both if agent == 0 => FPGA_MEMORY / LINE_BYTES as u64,
        _ => 0,
    };
    let port = |port: Option<LinkPort>| {
        port.map(Node::new).ok_or_else(|| RoadError::Inconsistent("a port is taken".to_owned()))
    };
    let mut nodes = [port(link.host())?, port(link.fpga())?];
    let bytes = count * LINE_BYTES as u64;
    let mut map = |end: usize| {
        nodes[end].map(first * LINE_BYTES as u64, bytes, Caching::Cached).map_err(failed)
    };
    let regions = [map(0)?, map(1)?];
    let clock_ps = 1e6 / scenario.platform.clock_mhz;
    let (sim, seed) = (link.sim(), scenario.seed);
    let cycles = |of: &EciDevice| u64::from(of.reset_cycles);
    let resets = [scenario.host.as_ref().map_or(0, cycles), cycles(&scenario.fpga)];
    let mut ends = Ends { nodes, regions, agent, first, sim, clock_ps, resets, seed };
    let program: NodeProgram<Vec<(Life, Picoseconds)>, RoadError> = Box::pin(async move {
        let mut lives = Vec::new();
        for line in 0..count {
            lives.push(ends.live(line).await?);
        }
        Ok(lives)
    });
    let lives = link.run(vec![program])?.pop().unwrap_or_default();
    let mut samples = Samples::new()?;
    lives.iter().for_each(|(_, took)| samples.add(*took));
    let lives: Vec<_> = lives.into_iter().map(|(life, _)| life).collect();
    let workload = &scenario.workload;
    let carried = Carried {
        operation: workload.operation,
        bytes: LINE_BYTES as u64,
        driver: workload.driver.name(),
        window: None,
        rate_per_s: None,
        noise: false,
        busy: Default::default(),
        saturated: false,
    };
    let origin = Origin {
        road: NAME,
        platform: &scenario.platform.name,
        profile: scenario.profile.name(),
        method: workload.operation.name(),
        seed,
    };
    let mut described = carried.to_workload();
    let counters = link.counters()?;
    let bad = counters.iter().filter(|(name, _)| name.ends_with(".bad")).map(|(_, count)| count);
    let more = json!({
        "life": lives, "lines": 1, "links": workload.links, "clock_ps": clock_ps,
        "bad_blocks": bad.sum::<u64>(),
    });
    described.extend(more.as_object().cloned().unwrap_or_default());
    let name = format!("life-{}-{}", workload.links, workload.policy.name());
    let name = if scenario.both_homes() { format!("{name}-peers") } else { name };
    let loads = STEPS.iter().filter(|(_, what)| matches!(what, Access::Load)).count() as u64;
    Ok(Measurement {
        workload: described,
        checked: Checked { bytes: 8 * loads * count, ..Checked::default() },
        counters,
        simulation: SimulationCost::of(&link.simulation().statistics()),
        ..Measurement::of(&origin, &name, &samples)
    }
    .described("rtt", "one step after the other".to_owned()))
}
