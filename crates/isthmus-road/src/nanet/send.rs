// SPDX-License-Identifier: Apache-2.0
//! A program sends datagrams from its memory by port 0; the other end of the cable compares each byte.
//!
//! The payload is in the send memory before its post: putting it there is no part of the measurement.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use isthmus_host::nic::MAX_POSTS;
use isthmus_sim::world::packet::{Packet, parse};
use isthmus_sim::{Picoseconds, Simulation};

use super::scenario::{NAME, NanetScenario};
use super::world::{NanetPort, World};
use crate::arrivals::is_saturated;
use crate::error::RoadError;
use crate::host_bus::HostMemory;
use crate::measurement::{
    Carried, Checked, Excluded, Measurement, Origin, Samples, SimulationCost, Throughput,
};
use crate::model::MakeModel;
use crate::operation::Operation;
use crate::watch::{Step, Watch, follow};

/// Longest wait for a frame.
const SILENCE: Picoseconds = Picoseconds::from_ms(1);

/// One datagram.
pub(super) struct One {
    /// When its program began to send it; at a rate, when it should have.
    pub(super) posted: Picoseconds,
    /// Its first preamble byte on the interface's pins.
    pub(super) first: Picoseconds,
    /// Its last bit at the other end of the cable; or when the program there has it.
    pub(super) arrived: Picoseconds,
}

pub(super) fn run(
    scenario: &NanetScenario,
    make_model: MakeModel<'_>,
    watch: &Watch,
) -> Result<Vec<Measurement>, RoadError> {
    let begin = Instant::now();
    let mut world = World::build(scenario, make_model)?;
    let (head, tail) = scenario.excluded()?;
    let total = head + scenario.workload.iterations + tail;
    follow(&world.simulation, watch, Step { total: 1, transfers_total: total, ..Step::default() });
    let port = world.ports.remove(0);
    let task = world.simulation.spawn(program(Program::new(&world, scenario, port, total)));
    let sent = world.simulation.run_until_complete(&task)??;
    Ok(vec![measurement(&world.simulation, scenario, &sent, begin)?])
}

/// What the program and the other end of the cable need.
struct Program {
    sim: isthmus_sim::kernel::Sim,
    host: isthmus_sim::world::host::MmioHost,
    config: isthmus_host::nic::NicConfig,
    port: NanetPort,
    bytes: usize,
    place: usize,
    window: usize,
    total: u64,
}

impl Program {
    fn new(world: &World, scenario: &NanetScenario, port: NanetPort, total: u64) -> Self {
        Self {
            sim: world.simulation.handle(),
            host: world.host.clone(),
            config: world.config.clone(),
            port,
            bytes: scenario.workload.bytes,
            place: scenario.place_bytes(),
            window: scenario.workload.window.unwrap_or(1) as usize,
            total,
        }
    }
}

async fn program(run: Program) -> Result<Vec<One>, RoadError> {
    let failed = |error| RoadError::program("nanet", error);
    let wrong = |what: String| RoadError::Violation(format!("nanet: {what}"));
    let memory = HostMemory::new(&run.sim, &run.host);
    let mut nic = World::open(&run.host, memory, &run.config).await.map_err(failed)?;
    let offset = run.config.send.as_ref().map_or(0, |memory| memory.offset);
    let mut random = run.sim.random("nanet:send");
    let (mut posted, mut payloads) = (Vec::new(), std::collections::VecDeque::new());
    let mut done = Vec::new();
    let mut announced = 0;
    while (done.len() as u64) < run.total {
        while payloads.len() < run.window && (posted.len() as u64) < run.total {
            let place = posted.len() % MAX_POSTS as usize * run.place;
            let payload: Vec<u8> = (0..run.bytes).map(|_| random.bits() as u8).collect();
            let written = run.host.memory().write(offset + place, &payload);
            written.map_err(|error| wrong(error.to_string()))?;
            posted.push(run.sim.now());
            nic.send(place, run.bytes, 0).await.map_err(failed)?;
            payloads.push_back(payload);
        }
        let frame = run.sim.timeout(SILENCE, run.port.source.recv()).await;
        let frame = frame.map_err(|_| wrong(format!("datagram {} was not sent", done.len())))?;
        let expected = payloads.pop_front().unwrap_or_default();
        match parse(&frame.bytes) {
            Ok(Packet::Udp(datagram)) if datagram.payload == expected => (),
            _ => return Err(wrong(format!("datagram {}: another one expected", done.len()))),
        }
        let on_pins = run.port.sent_since(done.len());
        let first = on_pins.first().map_or(frame.time, |frame| frame.first);
        done.push(One { posted: posted[done.len()], first, arrived: frame.time });
        run.sim.count_transfers(1);
        // Its last byte was read long before: its event is there, and takes no waiting.
        while announced < done.len() {
            let patience = run.sim.now() + SILENCE;
            let sent = nic.sent(Duration::from_nanos(patience.0 / 1_000)).await.map_err(failed)?;
            match sent {
                Some(sent) if !sent.error && sent.refused.is_none() => announced += 1,
                _ => return Err(wrong(format!("post {announced}: {sent:?}"))),
            }
        }
    }
    if nic.spoiled().await.map_err(failed)? > 0 {
        return Err(wrong("frames with a wrong frame check sequence".to_owned()));
    }
    nic.close().await.map_err(failed)?;
    Ok(done)
}

/// The datagrams of a run as a measurement, without stages.
pub(super) fn measurement(
    simulation: &Simulation,
    scenario: &NanetScenario,
    sent: &[One],
    begin: Instant,
) -> Result<Measurement, RoadError> {
    let workload = &scenario.workload;
    let (head, tail) = scenario.excluded()?;
    let counted = &sent[head as usize..(head + workload.iterations) as usize];
    let arrivals = scenario.arrivals()?;
    let mut samples = Samples::new()?;
    counted.iter().for_each(|one| samples.add(one.arrived.saturating_sub(one.posted)));
    let origin = Origin {
        road: NAME,
        platform: &scenario.platform.name,
        profile: scenario.profile.name(),
        method: scenario.driver(),
        seed: scenario.seed,
    };
    let to = if workload.remote { "-remote" } else { "" };
    let name = format!("message/b{}-{}{to}", workload.bytes, arrivals.suffix());
    let mut made =
        Measurement::of(&origin, &name, &samples).described("one_way", arrivals.to_string());
    let begun = sent[head as usize - 1].arrived;
    let ended = counted.last().map_or(begun, |one| one.arrived);
    let span = ended.saturating_sub(begun);
    let wire = workload.iterations * NanetPort::wire_bytes(workload.bytes);
    let octet_ps = 8e12 / (scenario.platform.cable.rate_mbit_s * 1e6);
    let busy = if span == Picoseconds::ZERO { 0.0 } else { wire as f64 * octet_ps / span.0 as f64 };
    let times = |of: fn(&One) -> Picoseconds| sent.iter().map(of).collect::<Vec<_>>();
    let saturated = arrivals.rate_per_s().is_some()
        && is_saturated(
            &times(|one| one.posted),
            &times(|one| one.arrived),
            head as usize..(head + workload.iterations) as usize,
        );
    let core = Carried {
        operation: Operation::Message,
        bytes: workload.bytes as u64,
        driver: scenario.driver(),
        window: arrivals.window(),
        rate_per_s: arrivals.rate_per_s(),
        noise: scenario.noise.is_some(),
        busy: BTreeMap::from([("wire", busy.clamp(0.0, 1.0))]),
        saturated,
    };
    made.workload.extend(core.to_workload());
    let to_wire: Vec<u64> =
        counted.iter().map(|one| one.first.saturating_sub(one.posted).0).collect();
    let mean = to_wire.iter().sum::<u64>() as f64 / to_wire.len() as f64;
    let parts = json!({"to_wire": {
        "min": to_wire.iter().min(), "avg": mean, "max": to_wire.iter().max(),
    }});
    for (key, value) in [
        ("ports", json!(1)),
        ("lost", json!(0)),
        ("remote", json!(workload.remote)),
        ("parts_ps", parts),
    ] {
        made.workload.insert(key.to_owned(), value);
    }
    made.workload.insert("sent".to_owned(), Value::from(sent.len()));
    made.excluded = Excluded { head, tail };
    if span > Picoseconds::ZERO {
        let payload = workload.iterations * workload.bytes as u64;
        made.throughput =
            Some(Throughput::new(payload, Some(wire), workload.iterations, None, span));
    }
    if saturated {
        (made.latency_ps, made.histogram) = (None, None);
    }
    made.counters.extend(simulation.counters().values());
    made.checked = Checked { bytes: (sent.len() * workload.bytes) as u64, wrong: 0, lost: 0 };
    made.simulation = SimulationCost::of(&simulation.statistics());
    made.simulation.wall_s = begin.elapsed().as_secs_f64();
    Ok(made)
}
