// SPDX-License-Identifier: Apache-2.0
//! Lines to which the FPGA and the host store at random at the same time: the document's fourth experiment.
//!
//! Each side has half of every line, so every store of either must be there in the end; and a store of the host must
//! find the FPGA's half as one of the stores made it that were issued, none older than the last that was done before.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use serde_json::{Value, json};

use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::{RandomStream, Sim};
use isthmus_sim::world::ccix::Way;
use isthmus_sim::world::tasks::{Task, TaskPins, TaskUser};

use super::home::{Content, Home, Transfers};
use super::scenario::{CcixContention, CcixScenario, HALF_BYTES, LINE_BYTES, MOST_FORWARDS, NAME};
use super::world::{Progress, World};
use crate::dma::{Line, first_seed, pattern};
use crate::error::RoadError;
use crate::measurement::{
    Carried, Checked, Measurement, Origin, Samples, SimulationCost, Throughput,
};

const STUCK: Picoseconds = Picoseconds::from_us(500);
const MOST_TASKS: u8 = 128;
/// Lines on which the terms of the model are measured.
const PROBED: u32 = 8;

/// What is known of a line.
#[derive(Default)]
struct Log {
    /// Seeds of the FPGA's stores in the order of their issue.
    device: Vec<u32>,
    /// Of these, how many are done, and how many a store of the host has found.
    done: usize,
    found: usize,
    /// Seed of the host's last store that took effect.
    host: Option<u32>,
}

/// One side's accesses.
struct Part {
    window: u32,
    random: RandomStream,
    /// Lines to be accessed first, one at a time, instead of random ones.
    script: VecDeque<u64>,
    limit: u64,
    begun: u64,
    ended: u64,
    /// Since when places for accesses are free: an access begins then, whenever it is taken.
    free: VecDeque<Picoseconds>,
    spans: Vec<Picoseconds>,
    /// The longest, from where it is offered.
    longest_offered: Picoseconds,
}

impl Part {
    fn new(seed: u64, name: &str, window: u32) -> Self {
        let random = RandomStream::new(seed, name);
        Self {
            window,
            random,
            script: VecDeque::new(),
            limit: 0,
            begun: 0,
            ended: 0,
            free: VecDeque::new(),
            spans: Vec::new(),
            longest_offered: Picoseconds::ZERO,
        }
    }

    /// The line of the next access, and since when it could begin, if it may.
    fn next(&mut self, lines: u32, now: Picoseconds) -> Option<(u64, Picoseconds)> {
        if self.begun == self.limit || self.begun - self.ended >= u64::from(self.window) {
            return None;
        }
        if self.free.is_empty() {
            // The first: all places are free.
            self.free = vec![now; self.window as usize].into();
        }
        let begin = self.free.pop_front()?;
        self.begun += 1;
        let random = self.script.is_empty();
        let line = if random {
            Some(self.random.below(u64::from(lines)))
        } else {
            self.script.pop_front()
        };
        line.map(|line| (line, begin))
    }

    /// One ends that was offered at a time, and for which a place was free since another.
    fn end(&mut self, now: Picoseconds, begin: Picoseconds, offered: Picoseconds) {
        self.ended += 1;
        self.free.push_back(now);
        if self.begun == self.limit && self.ended == self.limit {
            self.free.clear();
        }
        self.spans.push(now - begin);
        self.longest_offered = self.longest_offered.max(now - offered);
    }

    fn mean_ps(&self) -> f64 {
        self.spans.iter().map(|span| span.0 as f64).sum::<f64>() / self.spans.len().max(1) as f64
    }

    fn longest(&self) -> Picoseconds {
        self.spans.iter().copied().max().unwrap_or_default()
    }
}

struct Logic {
    sim: Sim,
    seed: u64,
    lines: u32,
    bytes: usize,
    home: Rc<Home>,
    device: Part,
    host: Part,
    logs: Vec<Log>,
    last_seed: u32,
    tags: VecDeque<u8>,
    /// Line, number in its log, begin and offer of the FPGA's stores by tag.
    open: Vec<Option<(u64, usize, [Picoseconds; 2])>>,
    last: Picoseconds,
    checked: u64,
    wrong: Option<String>,
}

impl Logic {
    fn new(world: &World, scenario: &CcixScenario, of: &CcixContention, home: &Rc<Home>) -> Self {
        let window = scenario.workload.window.unwrap_or(1);
        Self {
            sim: world.simulation.handle(),
            seed: scenario.seed,
            lines: of.lines,
            bytes: scenario.workload.bytes,
            home: Rc::clone(home),
            device: Part::new(scenario.seed, "ccix:contention:fpga", window),
            host: Part::new(scenario.seed, "ccix:contention:host", of.host_window),
            logs: (0..of.lines).map(|_| Log::default()).collect(),
            last_seed: first_seed(scenario.seed),
            tags: (0..MOST_TASKS).collect(),
            open: vec![None; MOST_TASKS as usize],
            last: Picoseconds::ZERO,
            checked: 0,
            wrong: None,
        }
    }

    fn new_seed(&mut self) -> u32 {
        self.last_seed = self.last_seed.wrapping_add(1);
        self.last_seed
    }

    fn fail(&mut self, reason: String) {
        self.wrong.get_or_insert(reason);
    }

    /// The line's bytes of the FPGA are those of one of its stores, not of one before `least`.
    fn check_device(&mut self, line: u64, content: &Line, least: usize) {
        let (bytes, first) = (self.bytes, first_seed(self.seed));
        let log = &mut self.logs[line as usize];
        let least = least.max(log.found);
        let is = |seed: u32| pattern(line, seed)[..bytes] == content[..bytes];
        let found = (least..=log.device.len())
            .find(|number| is(number.checked_sub(1).map_or(first, |one| log.device[one])));
        match found {
            Some(number) => log.found = number,
            None => self.fail(format!("the host found line {line} without a store of the FPGA")),
        }
        self.checked += bytes as u64;
    }

    /// The host's bytes are those of its last store.
    fn check_host(&mut self, line: u64, content: &Line) {
        let seed = self.logs[line as usize].host.unwrap_or_else(|| first_seed(self.seed));
        if pattern(line, seed)[HALF_BYTES..] != content[HALF_BYTES..] {
            self.fail(format!("a store of the host to line {line} was lost"));
        }
        self.checked += HALF_BYTES as u64;
    }

    fn is_done(&self) -> bool {
        [&self.device, &self.host].iter().all(|part| part.ended == part.limit)
    }

    /// What memory must have.
    fn expected(&self) -> Content {
        let first = first_seed(self.seed);
        let mut content = Content::new(0, first);
        for (line, log) in (0..).zip(&self.logs) {
            let stored = content.line_mut(line);
            if let Some(seed) = log.device.last() {
                stored[..self.bytes].copy_from_slice(&pattern(line, *seed)[..self.bytes]);
            }
            if let Some(seed) = log.host {
                stored[HALF_BYTES..].copy_from_slice(&pattern(line, seed)[HALF_BYTES..]);
            }
        }
        content
    }
}

impl TaskUser for Logic {
    fn offer(&mut self, time: Picoseconds) -> Option<Task> {
        let tag = *self.tags.front()?;
        let (line, begin) = self.device.next(self.lines, time)?;
        self.tags.pop_front();
        let seed = self.new_seed();
        let log = &mut self.logs[line as usize];
        log.device.push(seed);
        self.open[usize::from(tag)] = Some((line, log.device.len(), [begin, time]));
        let address = line * LINE_BYTES as u64;
        Some(Task { write: true, tag, address, bytes: self.bytes as u32, seed })
    }

    fn done(&mut self, time: Picoseconds, tag: u8, fault: bool) {
        self.last = time;
        let open = self.open.get_mut(usize::from(tag)).and_then(Option::take);
        let Some((line, number, [begin, offered])) = open.filter(|_| !fault) else {
            return self.fail(format!("task {tag} is not open, or ended with a fault"));
        };
        self.tags.push_back(tag);
        let log = &mut self.logs[line as usize];
        log.done = log.done.max(number);
        self.device.end(time, begin, offered);
        self.sim.count_transfers(1);
    }
}

/// The host begins as many stores as it may.
fn host_stores(logic: &Rc<RefCell<Logic>>) {
    loop {
        let mut now = logic.borrow_mut();
        let lines = now.lines;
        let time = now.sim.now();
        let Some((line, begin)) = now.host.next(lines, time) else { return };
        let seed = now.new_seed();
        let (least, home) = (now.logs[line as usize].done, Rc::clone(&now.home));
        drop(now);
        let shared = Rc::clone(logic);
        let store = move |content: &mut Line| {
            let mut logic = shared.borrow_mut();
            logic.check_device(line, content, least);
            logic.check_host(line, content);
            content[HALF_BYTES..].copy_from_slice(&pattern(line, seed)[HALF_BYTES..]);
            logic.logs[line as usize].host = Some(seed);
            let now = logic.sim.now();
            logic.last = now;
            logic.host.end(now, begin, begin);
            logic.sim.count_transfers(1);
            let (sim, next) = (logic.sim.clone(), Rc::clone(&shared));
            sim.after(Picoseconds::ZERO, move || host_stores(&next));
        };
        home.access(line, true, Box::new(store));
    }
}

/// Runs until both sides have made their accesses.
fn complete(world: &World, logic: &Rc<RefCell<Logic>>) -> Result<(), RoadError> {
    let seed = logic.borrow().seed;
    world.complete(seed, STUCK, || {
        let logic = logic.borrow();
        match &logic.wrong {
            Some(wrong) => Progress::Wrong(wrong.clone()),
            None if logic.is_done() => Progress::Done,
            None => Progress::Going { last: logic.last, ended: "the last store".to_owned() },
        }
    })
}

/// One side stores to each of some lines, one at a time; the mean.
fn alone(world: &World, logic: &Rc<RefCell<Logic>>, host: bool) -> Result<f64, RoadError> {
    let lines = u64::from(PROBED.min(logic.borrow().lines));
    let window = {
        let mut now = logic.borrow_mut();
        now.last = now.sim.now();
        let part = if host { &mut now.host } else { &mut now.device };
        part.script = (0..lines).collect();
        part.limit += lines;
        std::mem::replace(&mut part.window, 1)
    };
    if host {
        host_stores(logic);
    }
    complete(world, logic)?;
    let mut now = logic.borrow_mut();
    let part = if host { &mut now.host } else { &mut now.device };
    let mean = part.mean_ps();
    part.spans.clear();
    (part.window, part.longest_offered) = (window, Picoseconds::ZERO);
    Ok(mean)
}

/// The host stores to each line, so that all are there; that counts nowhere.
fn gather(world: &World, logic: &Rc<RefCell<Logic>>) -> Result<(), RoadError> {
    let (window, kept) = {
        let mut now = logic.borrow_mut();
        now.last = now.sim.now();
        let lines = u64::from(now.lines);
        let part = &mut now.host;
        part.script = (0..lines).collect();
        part.limit += lines;
        let kept = (part.spans.len(), part.longest_offered);
        (std::mem::replace(&mut part.window, MOST_FORWARDS), kept)
    };
    host_stores(logic);
    complete(world, logic)?;
    let mut now = logic.borrow_mut();
    now.host.spans.truncate(kept.0);
    (now.host.window, now.host.longest_offered) = (window, kept.1);
    Ok(())
}

/// Both sides' stores, and what they cost alone.
pub(super) fn run(
    world: &World,
    scenario: &CcixScenario,
    of: &CcixContention,
) -> Result<Measurement, RoadError> {
    let home = &world.agent.home;
    let logic = Rc::new(RefCell::new(Logic::new(world, scenario, of, home)));
    TaskPins::attach(&world.fpga, &logic)?;
    // The lines begin at the host, and are there again behind this.
    let terms = json!({
        "fpga_remote": alone(world, &logic, false)?,
        "fpga_local": alone(world, &logic, false)?,
        "host_remote": alone(world, &logic, true)?,
        "host_local": alone(world, &logic, true)?,
    });
    let (mut elapsed, mut moved, mut wire) = (Picoseconds::ZERO, Transfers::default(), 0);
    for round in 0..of.rounds {
        if round > 0 {
            gather(world, &logic)?;
        }
        let (begin, before) = (world.simulation.handle().now(), home.transfers());
        let carried = [Way::Up, Way::Down].map(|way| world.agent.link.carried(way));
        {
            let mut logic = logic.borrow_mut();
            logic.last = begin;
            logic.device.limit += scenario.workload.iterations;
            logic.host.limit += scenario.workload.iterations;
        }
        host_stores(&logic);
        complete(world, &logic)?;
        elapsed += logic.borrow().last - begin;
        let after = home.transfers();
        moved.granted += after.granted - before.granted;
        moved.taken += after.taken - before.taken;
        let now = [Way::Up, Way::Down].map(|way| world.agent.link.carried(way));
        wire += now
            .iter()
            .zip(carried)
            .map(|(now, then)| now.wire_bytes - then.wire_bytes)
            .sum::<u64>();
    }
    let expected = logic.borrow().expected();
    world.load_written(&expected)?;
    world.check(scenario.seed)?;
    world.check_memory(&expected, scenario.seed)?;
    measurement(world, scenario, of, &logic.borrow(), elapsed, &moved, wire, terms)
}

#[expect(clippy::too_many_arguments, reason = "the parts of one result")]
fn measurement(
    world: &World,
    scenario: &CcixScenario,
    of: &CcixContention,
    logic: &Logic,
    elapsed: Picoseconds,
    moved: &Transfers,
    wire: u64,
    terms: Value,
) -> Result<Measurement, RoadError> {
    let mut samples = Samples::new()?;
    let spans = logic.device.spans.iter().chain(&logic.host.spans);
    spans.for_each(|span| samples.add(*span));
    let arrivals = scenario.arrivals()?;
    let origin = Origin {
        road: NAME,
        platform: &scenario.platform.name,
        profile: scenario.profile.name(),
        method: scenario.workload.operation.name(),
        seed: scenario.seed,
    };
    let carried = Carried {
        operation: scenario.workload.operation,
        bytes: scenario.workload.bytes as u64,
        driver: scenario.workload.driver.name(),
        window: arrivals.window(),
        rate_per_s: None,
        noise: false,
        busy: std::collections::BTreeMap::new(),
        saturated: false,
    };
    let part = |part: &Part, transfers: u64| {
        json!({
            "window": part.window,
            "accesses": part.spans.len(),
            "mean_ps": part.mean_ps(),
            "longest_ps": part.longest().0,
            "longest_offered_ps": part.longest_offered.0,
            "transfers": transfers,
        })
    };
    let mut workload = carried.to_workload();
    workload.insert(
        "contention".to_owned(),
        json!({
            "lines": of.lines,
            "rounds": of.rounds,
            "elapsed_ps": elapsed.0,
            "fpga": part(&logic.device, moved.granted),
            "host": part(&logic.host, moved.taken),
            "link_bytes": wire,
            "terms_ps": terms,
        }),
    );
    let count = samples.count();
    let payload = count * scenario.workload.bytes as u64;
    let suffix = arrivals.suffix();
    let name =
        format!("{}-{suffix}-contended-{}-h{}", scenario.workload.bytes, of.lines, of.host_window);
    Ok(Measurement {
        workload,
        throughput: Some(Throughput::new(payload, None, count, None, elapsed)),
        checked: Checked { bytes: logic.checked, ..Checked::default() },
        counters: world.counters(),
        simulation: SimulationCost::of(&world.simulation.statistics()),
        ..Measurement::of(&origin, &name, &samples)
    }
    .described("rtt", arrivals.to_string()))
}
