// SPDX-License-Identifier: Apache-2.0
//! Two programs at the ends of a ring: one puts, the other one sees and compares each byte.
//!
//! The payload is in the put memory before its post: putting it there is no part of the measurement. Inline it is in the
//! program's processor, and stored with the post. At a rate a put or
//! a get begins when it is due, whatever its program does then.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Instant;

use serde_json::json;

use isthmus_host::nic::{MAX_PUTS, NicConfig};
use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::{Receiver, Sender, Sim, channel};
use isthmus_sim::world::host::MmioHost;

use super::ends::{End, One, Shape, Shared, TAGS, Usage, compare, failed, payload, random, wrong};
use super::get::gets;
use super::scenario::{ApenetScenario, ApenetTarget, ApenetTest, FLIT_BYTES, NAME};
use super::world::{Sent, World};
use crate::arrivals::is_saturated;
use crate::error::RoadError;
use crate::gpu::{Data, DataMemory};
use crate::host_bus::{self};
use crate::measurement::{
    Carried, Checked, Excluded, Measurement, Origin, Samples, SimulationCost, Stage, Throughput,
};
use crate::noise::Noise;
use crate::road::Context;
use crate::stages::Way;
use crate::together::{TaskOf, try_all};
use crate::watch::{Step, follow};

pub(super) fn run(
    scenario: &ApenetScenario,
    context: &Context<'_>,
) -> Result<Measurement, RoadError> {
    let begin = Instant::now();
    let world = World::build(scenario, context.make_model)?;
    let (head, tail) = scenario.excluded();
    let total = (head + scenario.workload.iterations + tail) as usize;
    let step = Step { total: 1, transfers_total: total as u64, ..Step::default() };
    follow(&world.simulation, context.watch, step);
    let shared = Rc::new(Shared::default());
    let (sender, receiver) = channel(total.max(1));
    let task = world.simulation.spawn(programs(Programs::new(
        &world,
        scenario,
        (total, &shared),
        (sender, receiver),
    )));
    world.simulation.run_until_complete(&task)??;
    measurement(&world, scenario, &shared, begin)
}

/// What both programs need.
struct Programs {
    sim: Sim,
    scenario: ApenetScenario,
    hosts: [(MmioHost, NicConfig, Rc<Data>); 2],
    carried: Box<dyn Fn() -> Sent>,
    total: usize,
    shared: Rc<Shared>,
    free: (Sender<()>, Receiver<()>),
}

impl Programs {
    fn new(
        world: &World,
        scenario: &ApenetScenario,
        (total, shared): (usize, &Rc<Shared>),
        free: (Sender<()>, Receiver<()>),
    ) -> Self {
        let nodes = [&world.nodes[0], &world.nodes[scenario.far()]];
        Self {
            sim: world.simulation.handle(),
            scenario: scenario.clone(),
            hosts: nodes
                .map(|node| (node.host.clone(), node.config.clone(), Rc::clone(&node.data))),
            carried: Box::new(world.carried(
                match scenario.workload.test {
                    ApenetTest::Get => scenario.far(),
                    _ => 0,
                },
                scenario.far(),
            )),
            total,
            shared: Rc::clone(shared),
            free,
        }
    }
}

async fn programs(of: Programs) -> Result<(), RoadError> {
    let Programs { sim, scenario, hosts: [near, far], carried, total, shared, free } = of;
    let noise = scenario.noise.as_ref();
    let noise = |host: usize| {
        noise.map(|noise| Noise::new(noise, sim.random(&format!("{NAME}:noise:{host}"))))
    };
    // No program of the far host takes part in these.
    let alone = matches!(scenario.workload.test, ApenetTest::Put | ApenetTest::Get);
    let near = End::open(sim.clone(), near, &scenario, noise(0)).await?;
    let far = End::open(sim.clone(), far, &scenario, noise(1).filter(|_| !alone)).await?;
    let window = far.shape.window;
    let (data, shape) = (Rc::clone(&far.data), far.shape);
    let mut seen = Vec::new();
    let compared = (0..window).map(|place| {
        let (sender, receiver) = channel(total.max(1));
        seen.push(sender);
        let count = (total + window - 1 - place) / window;
        let free = free.0.clone();
        let checked = (Rc::clone(&data), shape);
        Box::pin(compares(checked, count, Rc::clone(&shared), receiver, free)) as TaskOf<_, _>
    });
    let compared: Vec<_> = compared.collect();
    let both: Vec<TaskOf<(), RoadError>> = match scenario.workload.test {
        ApenetTest::OneWay | ApenetTest::Put | ApenetTest::Burst => {
            let mut tasks = compared;
            let watched = (scenario.workload.test == ApenetTest::Put).then_some(data);
            tasks.push(Box::pin(puts(near, total, Rc::clone(&shared), (free.1, watched))));
            let put = scenario.workload.test == ApenetTest::Put;
            tasks.push(Box::pin(sees(far, (total, put), shared, carried, seen)));
            tasks
        }
        ApenetTest::PingPong => vec![
            Box::pin(pings(near, total, Rc::clone(&shared), carried, scenario.far())),
            Box::pin(pongs(far, total, shared)),
        ],
        ApenetTest::Get => vec![Box::pin(gets(near, far, total, shared, carried))],
    };
    try_all(both).await.map(|_| ())
}

/// A put whose event was seen, and what it must hold.
type Seen = (usize, Vec<u8>);

/// Compares the puts of one place, beside the program that takes their events, and frees it.
async fn compares(
    (data, shape): (Rc<Data>, Shape),
    count: usize,
    shared: Rc<Shared>,
    mut seen: Receiver<Seen>,
    free: Sender<()>,
) -> Result<(), RoadError> {
    for _ in 0..count {
        let next = seen.recv().await;
        let (number, expected) = next.ok_or_else(|| wrong("a put was not seen".to_owned()))?;
        compare((&data, shape), number, &expected, &shared).await?;
        let _ = free.try_send(());
    }
    Ok(())
}

async fn puts(
    mut end: End,
    total: usize,
    shared: Rc<Shared>,
    (mut free, watched): (Receiver<()>, Option<Rc<Data>>),
) -> Result<(), RoadError> {
    let mut random = random(&end.sim, "put");
    let mut starts = end.starts();
    for number in 0..total {
        let before = end.usage();
        if number >= end.shape.window {
            end.sleeps(free.recv()).await;
        }
        // A place is free for the program when its put is announced.
        end.below(MAX_PUTS.min(end.shape.window as u32)).await?;
        let due = starts.as_mut().and_then(Iterator::next);
        if let Some(due) = due {
            let sim = end.sim.clone();
            end.sleeps(sim.sleep_until(due)).await;
        }
        end.resume(before).await;
        let payload = payload(&mut random, end.shape.bytes);
        end.fill(number, &payload)?;
        shared.payloads.borrow_mut().push_back(payload.clone());
        let usage = [end.usage(), Usage::default()];
        let begun = due.unwrap_or(end.sim.now());
        shared.ones.borrow_mut().push(One { begun, usage, ..One::default() });
        if let Some(data) = &watched {
            let (data, slot, shared) =
                (Rc::clone(data), end.shape.slot(number), Rc::clone(&shared));
            let sim = end.sim.clone();
            end.sim.spawn(async move {
                data.landed(slot, &payload).await?;
                shared.ones.borrow_mut()[number].landed = sim.now();
                Ok::<(), RoadError>(())
            });
        }
        let posted = end.put(number).await?;
        if let Some(one) = shared.ones.borrow_mut().get_mut(number) {
            one.posted = posted;
        }
    }
    end.below(1).await
}

async fn sees(
    mut end: End,
    (total, put): (usize, bool),
    shared: Rc<Shared>,
    carried: Box<dyn Fn() -> Sent>,
    seen: Vec<Sender<Seen>>,
) -> Result<(), RoadError> {
    for number in 0..total {
        let came = end.came(number, 0).await?;
        if let Some(one) = shared.ones.borrow_mut().get_mut(number) {
            let seen = if put { one.landed } else { end.sim.now() };
            if seen == Picoseconds::ZERO {
                return Err(wrong(format!("put {number} was announced before it was in memory")));
            }
            (one.came, one.seen, one.carried) = (came, seen, carried());
            if !put {
                one.usage[1] = end.usage();
            }
        }
        end.sim.count_transfers(1);
        let expected = shared.payloads.borrow_mut().pop_front().unwrap_or_default();
        let _ = seen[number % seen.len()].try_send((number, expected));
    }
    let statistics = end.nic.put_statistics().await.map_err(failed)?;
    if !statistics.is_whole() {
        return Err(wrong(format!("not whole: {statistics}")));
    }
    Ok(())
}

async fn pings(
    mut end: End,
    total: usize,
    shared: Rc<Shared>,
    carried: Box<dyn Fn() -> Sent>,
    far: usize,
) -> Result<(), RoadError> {
    let mut random = random(&end.sim, "ping");
    for number in 0..total {
        end.below(1).await?;
        let sent = payload(&mut random, end.shape.bytes);
        end.fill(number, &sent)?;
        shared.payloads.borrow_mut().push_back(sent);
        let begun = end.sim.now();
        let usage = [end.usage(), Usage::default()];
        let posted = end.put(number).await?;
        let came = end.came(number, far).await?;
        let seen = end.sim.now();
        let carried = carried();
        let expected = shared.payloads.borrow_mut().pop_front().unwrap_or_default();
        compare((&end.data, end.shape), number, &expected, &shared).await?;
        let one = One { begun, posted, came, seen, carried, usage, ..One::default() };
        shared.ones.borrow_mut().push(one);
        end.sim.count_transfers(1);
    }
    end.below(1).await
}

/// Answers each put with one of its own, whose bytes wait in its put memory.
async fn pongs(mut end: End, total: usize, shared: Rc<Shared>) -> Result<(), RoadError> {
    let mut random = random(&end.sim, "pong");
    for number in 0..total {
        let sent = payload(&mut random, end.shape.bytes);
        end.fill(number, &sent)?;
        end.came(number, 0).await?;
        let expected = shared.payloads.borrow_mut().pop_front().unwrap_or_default();
        shared.payloads.borrow_mut().push_back(sent);
        end.put(number).await?;
        compare((&end.data, end.shape), number, &expected, &shared).await?;
        end.below(1).await?;
    }
    Ok(())
}

fn measurement(
    world: &World,
    scenario: &ApenetScenario,
    shared: &Shared,
    begin: Instant,
) -> Result<Measurement, RoadError> {
    let workload = &scenario.workload;
    let (head, tail) = scenario.excluded();
    let ones = shared.ones.borrow();
    let counted = &ones[head as usize..(head + workload.iterations) as usize];
    let ping_pong = workload.test == ApenetTest::PingPong;
    let get = workload.test == ApenetTest::Get;
    let mut samples = Samples::new()?;
    for one in counted {
        let took = one.seen.saturating_sub(one.begun);
        samples.add(if ping_pong { Picoseconds(took.0 / 2) } else { took });
    }
    let arrivals = scenario.arrivals();
    let origin = Origin {
        road: NAME,
        platform: &scenario.platform.name,
        profile: scenario.profile.name(),
        method: "poll",
        seed: scenario.seed,
    };
    let suffix = if ping_pong { "ping-pong".to_owned() } else { arrivals.suffix() };
    let what = if get { "get" } else { "put" };
    let mut name = format!("{what}/b{}-{suffix}", workload.bytes);
    if workload.test == ApenetTest::Put {
        name += "-in-memory";
    }
    if workload.target == ApenetTarget::List {
        name += "-list";
    }
    if workload.inline {
        name += "-inline";
    }
    if workload.nodes != 2 {
        name += &format!("-n{}", workload.nodes);
    }
    if scenario.over_lanes() {
        name += "-lanes";
    }
    match (workload.near, workload.far) {
        (DataMemory::Host, DataMemory::Host) => {}
        (near, far) if near == far => name += &format!("-{}", near.name()),
        (near, far) => name += &format!("-{}-{}", near.name(), far.name()),
    }
    let definition = match workload.test {
        ApenetTest::OneWay | ApenetTest::Put | ApenetTest::Burst => "one_way",
        ApenetTest::PingPong => "half_round_trip",
        ApenetTest::Get => "rtt",
    };
    let mut made =
        Measurement::of(&origin, &name, &samples).described(definition, arrivals.to_string());
    let before = ones[head as usize - 1];
    let after = counted.last().copied().unwrap_or(before);
    let span = after.seen.saturating_sub(before.seen);
    let flits = after.carried.flits - before.carried.flits;
    let bus = after.carried.busiest_bus(&before.carried) as f64
        * host_bus::byte_fs(&scenario.platform.link)
        / 1e3;
    let host = (0..2).map(|end| after.usage[end].share_since(before.usage[end]));
    let clocks = span.0 as f64 / world.period.0 as f64;
    let times = |of: fn(&One) -> Picoseconds| ones.iter().map(of).collect::<Vec<_>>();
    let measured = head as usize..(head + workload.iterations) as usize;
    let saturated = workload.rate_per_s.is_some()
        && is_saturated(&times(|one| one.begun), &times(|one| one.seen), measured);
    let core = Carried {
        operation: workload.operation,
        bytes: workload.bytes as u64,
        driver: if workload.inline { "inline" } else { "dma" },
        window: arrivals.window(),
        rate_per_s: arrivals.rate_per_s(),
        noise: scenario.noise.is_some(),
        busy: BTreeMap::from([
            ("host", host.fold(0.0, f64::max)),
            ("wire", (flits as f64 / clocks.max(1.0)).clamp(0.0, 1.0)),
            ("pcie", (bus / (span.0 as f64).max(1.0)).clamp(0.0, 1.0)),
        ]),
        saturated,
    };
    made.workload.extend(core.to_workload());
    for (key, value) in [
        ("test", json!(workload.test.name())),
        ("nodes", json!(workload.nodes)),
        ("near", json!(workload.near.name())),
        ("far", json!(workload.far.name())),
        ("target", json!(workload.target.name())),
        ("hop_clocks", json!(scenario.hop_clocks())),
        ("link_limit_byte_s", json!(scenario.link_limit())),
        ("bus_limit_byte_s", json!(scenario.bus_limit())),
    ] {
        made.workload.insert(key.to_owned(), value);
    }
    if workload.inline {
        made.workload.insert("payload".to_owned(), json!("inline"));
    }
    if scenario.over_lanes() {
        made.workload.insert("links".to_owned(), json!("lanes"));
    }
    made.excluded = Excluded { head, tail };
    if span > Picoseconds::ZERO && !ping_pong {
        let payload = workload.iterations * workload.bytes as u64;
        let wire = flits * FLIT_BYTES;
        made.throughput =
            Some(Throughput::new(payload, Some(wire), workload.iterations, None, span));
    }
    if saturated {
        (made.latency_ps, made.histogram) = (None, None);
    }
    if !ping_pong && arrivals.window() == Some(1) {
        let last = (head + workload.iterations) as usize - 1;
        made.stages = stages(world, scenario, last, ones[last])?;
        made.stages_total_ps = (ones[last].seen - ones[last].begun).0;
    }
    for (number, node) in world.nodes.iter().enumerate() {
        for (name, value) in node.device.status() {
            made.counters.insert(format!("node{number}.{name}"), value);
        }
    }
    made.checked = Checked { bytes: shared.compared.get(), wrong: 0, lost: 0 };
    made.simulation = SimulationCost::of(&world.simulation.statistics());
    made.simulation.wall_s = begin.elapsed().as_secs_f64();
    Ok(made)
}

/// The way of put `number`, the only one in flight.
fn stages(
    world: &World,
    scenario: &ApenetScenario,
    number: usize,
    one: One,
) -> Result<Vec<Stage>, RoadError> {
    let passed = |node: usize, name: &str| {
        let device = &world.nodes[node].device;
        let stage = device.stages().iter().position(|stage| stage == name);
        let missing = || RoadError::Inconsistent(format!("{NAME}: put {number} passed no {name}"));
        let stage = stage.ok_or_else(missing)?;
        let records = world.simulation.probes().since(0);
        let found = records.iter().find(|record| {
            record.device == device.index()
                && usize::from(record.stage) == stage
                && usize::from(record.tag) == number % TAGS
                && record.time >= one.posted
        });
        found.map(|record| record.time).ok_or_else(missing)
    };
    let far = scenario.far();
    let mut way = Way::new(one.begun);
    if scenario.workload.test == ApenetTest::Get {
        for (place, name, time) in [
            ("host", "post: program and bus", passed(0, "Posted")?),
            ("wire", "request: routers and links", passed(far, "Came")?),
            ("host", "first bytes from the far memory", passed(far, "Sent")?),
            ("wire", "routers and links", passed(0, "Came")?),
            ("wire", "the rest of its packets", passed(0, "Ended")?),
            ("fpga", "last writes answered", passed(0, "Announced")?),
            ("host", "event, bus, memory, program sees it", one.seen),
        ] {
            way.until(place, name, time)?;
        }
        return way.finish(one.seen);
    }
    if scenario.workload.near == DataMemory::Staged {
        way.until("host", "copy out of the GPU", one.posted)?;
    }
    let framed = |time| match scenario.workload.inline {
        true => ("fpga", "its packet, of what came with the post", time),
        false => ("host", "first bytes from memory", time),
    };
    for (place, name, time) in [
        ("host", "post: program and bus", passed(0, "Posted")?),
        framed(passed(0, "Sent")?),
        ("wire", "routers and links", passed(far, "Came")?),
        ("wire", "the rest of its packets", passed(far, "Ended")?),
        ("fpga", "last writes answered", passed(far, "Announced")?),
    ] {
        way.until(place, name, time)?;
    }
    if scenario.workload.test == ApenetTest::Put {
        way.until("host", "last write: bus and memory", one.seen)?;
        return way.finish(one.seen);
    }
    way.until("host", "event, bus, memory, program sees it", one.came)?;
    if scenario.workload.far == DataMemory::Staged {
        way.until("host", "copy into the GPU", one.seen)?;
    }
    way.finish(one.seen)
}
