// SPDX-License-Identifier: Apache-2.0
//! Breakdown of a datagram's latency, from pins and probes.

use std::collections::BTreeMap;

use isthmus_sim::Picoseconds;
use isthmus_sim::world::PhyFrame;
use serde_json::Value;

use super::ledger::Ledger;
use super::world::{NanetPort, World};
use crate::error::RoadError;
use crate::gpu::DataMemory;
use crate::measurement::{Samples, Stage};
use crate::stages::Way;

/// Number of datagrams of a port that a probe's tag can distinguish.
const TAGS: usize = 64;
/// Names of the probes, in the order in which a datagram passes them.
const PROBES: [&str; 7] =
    ["UdpFirst", "Requested", "Accepted", "Answered", "CtrlLast", "Written", "Completed"];

/// When a datagram passed each of [`PROBES`].
type Passed = [Picoseconds; PROBES.len()];

/// Times of one datagram.
struct Trip {
    due: Picoseconds,
    pins: PhyFrame,
    passed: Passed,
    came: Picoseconds,
    seen: Picoseconds,
}

/// Result of the probes over a run.
pub(super) struct Breakdown {
    /// Name of a part, and its figures over all counted datagrams.
    pub(super) parts: BTreeMap<String, Value>,
    pub(super) stages: Vec<Stage>,
    pub(super) total: Picoseconds,
}

/// Breakdown of the measured datagrams of port 0. Each fills a buffer, and none was lost.
pub(super) fn of(
    world: &World,
    port: &NanetPort,
    ledger: &Ledger,
    (counted, memory): (std::ops::Range<usize>, DataMemory),
) -> Result<Breakdown, RoadError> {
    let trips = trips(world, port, ledger, counted)?;
    let octet = world.device.clock_period(&port.receive_clock()).unwrap_or_default();
    let mut parts = BTreeMap::new();
    let mut part =
        |name: &str, of: &dyn Fn(&Trip) -> Option<Picoseconds>| -> Result<(), RoadError> {
            let mut samples = Samples::new()?;
            trips.iter().filter_map(of).for_each(|one| samples.add(one));
            if let Some(latency) = samples.latency() {
                parts.insert(name.to_owned(), serde_json::to_value(latency).unwrap_or_default());
            }
            Ok(())
        };
    let between = |from: usize, to: usize| {
        move |trip: &Trip| trip.passed[to].0.checked_sub(trip.passed[from].0).map(Picoseconds)
    };
    let [first, requested, accepted, answered, last, _, completed] = [0, 1, 2, 3, 4, 5, 6];
    part("udp", &between(first, last))?;
    part("wake", &between(requested, accepted))?;
    part("work", &between(accepted, answered))?;
    part("write", &between(answered, completed))?;
    part("inside", &between(first, completed))?;
    // The device takes an octet one receive clock after it was driven onto the pins.
    part("after_frame", &|trip| Some(trip.passed[completed] - (trip.pins.last + octet)))?;
    part("to_program", &|trip| Some(trip.came - (trip.pins.last + octet)))?;
    if memory != DataMemory::Host {
        part("to_gpu", &|trip| Some(trip.seen - (trip.pins.last + octet)))?;
    }
    let Some(trip) = trips.last() else {
        return Err(RoadError::Inconsistent("nanet: no datagram counts".to_owned()));
    };
    let total = trip.seen - trip.due;
    Ok(Breakdown { parts, stages: stages(trip, octet, memory)?, total })
}

/// Stages of one datagram. A probe passed during a longer stage adds no stage of its own.
fn stages(trip: &Trip, octet: Picoseconds, memory: DataMemory) -> Result<Vec<Stage>, RoadError> {
    let mut way = Way::new(trip.due);
    let [first, requested, accepted, answered, last, written, completed] = trip.passed;
    let mut at = trip.due;
    for (place, name, time) in [
        ("wire", "source to pins", trip.pins.first),
        ("wire", "frame on the pins", trip.pins.last + octet),
        ("fpga", "MAC", first),
        ("fpga", "UDP offload", requested),
        ("fpga", "wake-up", accepted),
        ("fpga", "find the buffer", answered),
        ("fpga", "check and queue", last),
        ("fpga", "payload to the bus", written),
        ("fpga", "event to the bus", completed),
        ("host", "bus, memory, program sees it", trip.came),
    ] {
        at = at.max(time);
        way.until(place, name, at)?;
    }
    match memory {
        DataMemory::Host => (),
        DataMemory::Gpu => way.until("gpu", "last bytes visible in the GPU", trip.seen)?,
        DataMemory::Staged => way.until("gpu", "copy into the GPU", trip.seen)?,
    }
    way.finish(trip.seen)
}

fn trips(
    world: &World,
    port: &NanetPort,
    ledger: &Ledger,
    counted: std::ops::Range<usize>,
) -> Result<Vec<Trip>, RoadError> {
    let passed = passed(world, ledger)?;
    let pins = port.received_since(0);
    let missing =
        |number| RoadError::Inconsistent(format!("nanet: datagram {number} is not on the pins"));
    let mut trips = Vec::with_capacity(counted.len());
    for number in counted.filter(|number| ledger.sent[*number].good) {
        let sent = &ledger.sent[number];
        let frame = pins.iter().skip(number.saturating_sub(1)).find(|frame| frame.id == sent.id);
        let (Some(frame), Some(came), Some(seen)) = (frame, sent.came, sent.seen) else {
            return Err(missing(number));
        };
        trips.push(Trip { due: sent.due, pins: *frame, passed: passed[number], came, seen });
    }
    Ok(trips)
}

/// When each datagram of port 0 passed each probe. A corrupted one passes only the first probes.
fn passed(world: &World, ledger: &Ledger) -> Result<Vec<Passed>, RoadError> {
    let mut found = vec![Passed::default(); ledger.sent.len()];
    let device = &world.device;
    let records = world.simulation.probes().since(0);
    for (at, name) in PROBES.iter().enumerate() {
        let stage = device.stages().iter().position(|stage| stage == name);
        let Some(stage) = stage else {
            return Err(RoadError::Inconsistent(format!("nanet: the model has no probe {name}")));
        };
        let mine = records.iter().filter(|one| {
            one.device == device.index() && usize::from(one.stage) == stage && one.tag >> 6 == 0
        });
        let mut number = 0;
        for record in mine {
            let tag = usize::from(record.tag) % TAGS;
            number += (tag + TAGS - number % TAGS) % TAGS;
            let Some(passed) = found.get_mut(number) else {
                let reason = format!("nanet: probe {name} saw datagram {number}, never sent");
                return Err(RoadError::Inconsistent(reason));
            };
            passed[at] = record.time;
            number += 1;
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use isthmus_sim::kernel::FrameId;

    use super::*;

    #[test]
    fn the_stages_add_up_and_a_gpus_is_the_last() {
        let at = |ns: u64| Picoseconds(1_000 * ns);
        let pins = PhyFrame { id: FrameId(1), first: at(100), last: at(900), bytes: 100 };
        let passed = [200, 210, 220, 230, 930, 950, 990].map(at);
        let trip = Trip { due: at(10), pins, passed, came: at(1_200), seen: at(1_350) };
        for (memory, last) in [
            (DataMemory::Gpu, "last bytes visible in the GPU"),
            (DataMemory::Staged, "copy into the GPU"),
        ] {
            let found = stages(&trip, at(8), memory).expect("in order");
            assert_eq!(found.iter().map(|stage| stage.ps).sum::<u64>(), (trip.seen - trip.due).0);
            let stage = found.last().expect("stages");
            assert_eq!((stage.name.as_str(), stage.ps), (last, 150_000));
        }
        let host = Trip { seen: trip.came, ..trip };
        let found = stages(&host, at(8), DataMemory::Host).expect("in order");
        assert_eq!(found.iter().map(|stage| stage.ps).sum::<u64>(), (host.seen - host.due).0);
        assert_eq!(found.last().expect("stages").name, "bus, memory, program sees it");
    }
}
