// SPDX-License-Identifier: Apache-2.0
//! Many programs put into one node's list as fast as they can. Each message has one end, and the ends are counted.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use serde_json::json;

use isthmus_host::nic::{Event, MAX_PUTS, Message, NicConfig, PutStatistics, Statistics};
use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::Sim;
use isthmus_sim::world::host::MmioHost;

use super::ends::{End, failed, payload, random, wrong};
use super::scenario::{ApenetList, ApenetPolicy, ApenetScenario, NAME};
use super::world::World;
use crate::error::RoadError;
use crate::gpu::Data;
use crate::measurement::{
    Carried, Checked, Excluded, Measurement, Origin, Samples, SimulationCost, Throughput,
};
use crate::road::Context;
use crate::together::{TaskOf, try_all};
use crate::watch::{Step, follow};

/// After this time without an event nothing comes any more.
const QUIET: Picoseconds = Picoseconds::from_us(50);

/// What was posted, by node and number: when, and the bytes. What was seen of it, and what the node counted.
#[derive(Default)]
struct Ledger {
    posted: BTreeMap<(usize, u32), (Picoseconds, Vec<u8>)>,
    seen: Vec<(Picoseconds, Picoseconds)>,
    compared: u64,
    overtaken: u64,
    statistics: Statistics,
    puts: PutStatistics,
}

type Shared = Rc<RefCell<Ledger>>;
type Parts = (MmioHost, NicConfig, Rc<Data>);

pub(super) fn run(
    scenario: &ApenetScenario,
    list: ApenetList,
    context: &Context<'_>,
) -> Result<Measurement, RoadError> {
    let begin = Instant::now();
    let world = World::build(scenario, context.make_model)?;
    let total = scenario.workload.iterations * (scenario.workload.nodes as u64 - 1);
    let step = Step { total: 1, transfers_total: total, ..Step::default() };
    follow(&world.simulation, context.watch, step);
    let shared = Shared::default();
    let hosts: Vec<Parts> = world
        .nodes
        .iter()
        .map(|node| (node.host.clone(), node.config.clone(), Rc::clone(&node.data)))
        .collect();
    let task = world.simulation.spawn(programs(
        world.simulation.handle(),
        (scenario.clone(), list),
        hosts,
        Rc::clone(&shared),
    ));
    world.simulation.run_until_complete(&task)??;
    let ledger = shared.borrow();
    balance(&ledger, list)?;
    measurement(&world, (scenario, list), &ledger, begin)
}

async fn programs(
    sim: Sim,
    (scenario, list): (ApenetScenario, ApenetList),
    hosts: Vec<Parts>,
    shared: Shared,
) -> Result<(), RoadError> {
    let mut tasks: Vec<TaskOf<(), RoadError>> = Vec::new();
    let mut senders = Vec::new();
    let mut receiver = None;
    for (number, parts) in hosts.into_iter().enumerate() {
        let end = End::open(sim.clone(), parts, &scenario, None).await?;
        if number == scenario.far() {
            receiver = Some(end);
        } else {
            senders.push((number, end));
        }
    }
    for (number, end) in senders {
        tasks.push(Box::pin(sends(end, number, scenario.workload.iterations, Rc::clone(&shared))));
    }
    if let Some(end) = receiver {
        tasks.push(Box::pin(receives(end, list, shared)));
    }
    try_all(tasks).await.map(|_| ())
}

fn deadline(sim: &Sim) -> Duration {
    Duration::from_nanos((sim.now() + QUIET).0 / 1_000)
}

/// Posts its messages; gives up where the network stands still.
async fn sends(mut end: End, node: usize, total: u64, shared: Shared) -> Result<(), RoadError> {
    let mut random = random(&end.sim, &format!("burst{node}"));
    let most = MAX_PUTS.min(end.shape.window as u32);
    for number in 0..=total {
        let below = if number == total { 1 } else { most };
        while end.waiting >= below {
            match end.nic.put_done(deadline(&end.sim)).await.map_err(failed)? {
                Some(done) if !done.error && done.refused.is_none() => end.waiting -= 1,
                None => return Ok(()),
                other => return Err(wrong(format!("a message that was posted: {other:?}"))),
            }
        }
        if number < total {
            let payload = payload(&mut random, end.shape.bytes);
            end.fill(number as usize, &payload)?;
            let now = end.sim.now();
            shared.borrow_mut().posted.insert((node, number as u32), (now, payload));
            end.put(number as usize).await?;
        }
    }
    Ok(())
}

async fn receives(mut end: End, list: ApenetList, shared: Shared) -> Result<(), RoadError> {
    let mut next = BTreeMap::new();
    let mut kept = Vec::new();
    while let Some(event) = end.nic.next(deadline(&end.sim)).await.map_err(failed)? {
        let now = end.sim.now();
        let from = Message::of(&event);
        let least = next.insert(from.source.code(), from.number + 1).unwrap_or_default();
        let posted = {
            let ledger = shared.borrow();
            let key = (usize::from(from.source.x), from.number);
            ledger.posted.get(&key).map(|(at, payload)| (*at, payload.clone()))
        };
        let Some((at, expected)) = posted else {
            return Err(wrong(format!("{event:?} of a message that was not posted")));
        };
        if event.bytes as usize != expected.len() || event.error || from.number < least {
            return Err(wrong(format!("{event:?}; number {least} or a later one expected")));
        }
        shared.borrow_mut().seen.push((at, now));
        end.sim.count_transfers(1);
        if list.recycles {
            compare(&mut end, &event, &expected, list, &shared).await?;
            end.nic.recycle(0).await.map_err(failed)?;
        } else {
            kept.push((event, expected));
        }
    }
    // What a program that gives nothing back still has.
    let from = match list.policy {
        ApenetPolicy::Oldest => kept.len().saturating_sub(list.buffers),
        ApenetPolicy::Newest | ApenetPolicy::Hold => 0,
    };
    for (event, expected) in &kept[from..] {
        compare(&mut end, event, expected, list, &shared).await?;
    }
    let puts = end.nic.put_statistics().await.map_err(failed)?;
    // Closed, it lets what waits go on: dropped, and counted.
    let mut counters = end.nic.counters();
    end.nic.close().await.map_err(failed)?;
    end.sim.sleep(QUIET).await;
    let statistics = counters.statistics(0).await.map_err(failed)?;
    let mut ledger = shared.borrow_mut();
    (ledger.puts, ledger.statistics) = (puts, statistics);
    Ok(())
}

/// Compares a buffer. Where it was filled anew meanwhile, that is known.
async fn compare(
    end: &mut End,
    event: &Event,
    expected: &[u8],
    list: ApenetList,
    shared: &Shared,
) -> Result<(), RoadError> {
    let offset = end.shape.landing(event.sequence as usize);
    let found = end.data.found(offset, expected.len()).await?;
    let intact = list.policy != ApenetPolicy::Oldest
        || !list.recycles
        || end.nic.is_intact(event).await.map_err(failed)?;
    let mut ledger = shared.borrow_mut();
    if !intact {
        ledger.overtaken += 1;
    } else if found == expected {
        ledger.compared += found.len() as u64;
    } else {
        return Err(wrong(format!("buffer {} of {event:?} has other bytes", event.index)));
    }
    Ok(())
}

/// Every message that was posted has one end, and the counters say what was seen.
fn balance(ledger: &Ledger, list: ApenetList) -> Result<(), RoadError> {
    let of = &ledger.statistics;
    let posted = ledger.posted.len() as u64;
    let refused = u64::from(ledger.puts.refused_messages);
    let came = u64::from(of.frames_good);
    let ends: u64 = [of.closed, of.no_buffer, of.too_long, of.bad, of.no_event]
        .into_iter()
        .map(u64::from)
        .sum();
    let delivered = u64::from(of.delivered);
    let whole = posted == came + refused
        && came == ends + delivered
        && delivered == ledger.seen.len() as u64
        && u64::from(ledger.puts.bad_packets) == refused;
    let allowed = match list.policy {
        ApenetPolicy::Newest => of.overwritten == 0 && of.closed == 0,
        ApenetPolicy::Oldest => of.no_buffer == 0 && of.closed == 0,
        ApenetPolicy::Hold => of.no_buffer == 0 && of.overwritten == 0,
    };
    if whole && allowed && of.too_long == 0 && of.bad == 0 && of.no_event == 0 {
        return Ok(());
    }
    let seen = ledger.seen.len();
    let puts = &ledger.puts;
    Err(wrong(format!("{posted} messages posted, {refused} refused, {seen} seen: {of:?}; {puts}")))
}

fn measurement(
    world: &World,
    (scenario, list): (&ApenetScenario, ApenetList),
    ledger: &Ledger,
    begin: Instant,
) -> Result<Measurement, RoadError> {
    let workload = &scenario.workload;
    let mut samples = Samples::new()?;
    for (at, seen) in &ledger.seen {
        samples.add(seen.saturating_sub(*at));
    }
    let origin = Origin {
        road: NAME,
        platform: &scenario.platform.name,
        profile: scenario.profile.name(),
        method: "poll",
        seed: scenario.seed,
    };
    let (bytes, nodes, buffers) = (workload.bytes, workload.nodes, list.buffers);
    let mut name = format!("put/b{bytes}-burst-n{nodes}-l{buffers}-{}", list.policy.name());
    if scenario.over_lanes() {
        name += "-lanes";
    }
    let arrivals = format!("closed loop, {} in flight of each node", workload.window);
    let mut made = Measurement::of(&origin, &name, &samples).described("one_way", arrivals);
    let core = Carried {
        operation: workload.operation,
        bytes: workload.bytes as u64,
        driver: "dma",
        window: Some(workload.window),
        rate_per_s: None,
        noise: false,
        busy: BTreeMap::new(),
        saturated: false,
    };
    made.workload.extend(core.to_workload());
    for (key, value) in [
        ("test", json!(workload.test.name())),
        ("nodes", json!(workload.nodes)),
        ("target", json!(workload.target.name())),
        ("buffers", json!(list.buffers)),
        ("policy", json!(list.policy.name())),
        ("recycles", json!(list.recycles)),
        ("wrong_key", json!(list.wrong_key)),
        ("hop_clocks", json!(scenario.hop_clocks())),
        ("link_limit_byte_s", json!(scenario.link_limit())),
        ("bus_limit_byte_s", json!(scenario.bus_limit())),
    ] {
        made.workload.insert(key.to_owned(), value);
    }
    made.excluded = Excluded { head: 0, tail: 0 };
    if let (Some((_, first)), Some((_, last))) = (ledger.seen.first(), ledger.seen.last())
        && last > first
    {
        let count = ledger.seen.len() as u64 - 1;
        let span = last.saturating_sub(*first);
        let payload = count * workload.bytes as u64;
        made.throughput = Some(Throughput::new(payload, None, count, None, span));
    }
    for (name, value) in ledger.statistics.named() {
        made.counters.insert(format!("list.{name}"), value);
    }
    for (name, value) in [
        ("posted", ledger.posted.len() as u64),
        ("refused", u64::from(ledger.puts.refused_messages)),
        ("overtaken", ledger.overtaken),
    ] {
        made.counters.insert(format!("list.{name}"), value);
    }
    made.checked = Checked { bytes: ledger.compared, wrong: 0, lost: 0 };
    made.simulation = SimulationCost::of(&world.simulation.statistics());
    made.simulation.wall_s = begin.elapsed().as_secs_f64();
    Ok(made)
}
