// SPDX-License-Identifier: Apache-2.0
//! Where the observed transfer spent its time: from the link's records and the device's probes.

use isthmus_sim::Picoseconds;
use isthmus_sim::world::ccix::{CcixLink, PacketRecord, Way as Direction};

use super::messages::{DIRECT, TRANSLATE, TRANSLATED, is_of_a_line};
use super::program::Outcome;
use super::scenario::CcixScenario;
use super::world::{Agent, World};
use crate::error::RoadError;
use crate::measurement::Stage;
use crate::stages::Way;

/// Path of a packet over the link.
#[derive(Clone, Copy)]
struct Hop {
    handed: Picoseconds,
    start: Picoseconds,
    end: Picoseconds,
    delivered: Picoseconds,
}

impl Hop {
    fn of(one: &PacketRecord) -> Self {
        Self { handed: one.handed, start: one.start, end: one.end, delivered: one.delivered }
    }
}

/// A message of these kinds is in the packet.
fn has(packet: &PacketRecord, kind: impl Fn(u64) -> bool) -> bool {
    has_message(packet, |message| kind(message[0] >> 60))
}

/// A message that begins so is in the packet.
fn has_message(packet: &PacketRecord, wanted: impl Fn(&[u64]) -> bool) -> bool {
    let mut rest = &packet.words[..];
    while let Some(first) = rest.first() {
        if wanted(rest) {
            return true;
        }
        rest = rest.get((first >> 56 & 0xF).max(1) as usize..).unwrap_or_default();
    }
    false
}

/// The request for a translation that a line waited for until `end`, and its answer.
fn translation(link: &CcixLink, end: Picoseconds) -> Option<[Hop; 2]> {
    let first = |way, wanted| {
        let records = link.records(way);
        records.iter().find(|one| has(one, |kind| kind == wanted)).map(Hop::of)
    };
    let [asked, answer] = [first(Direction::Up, TRANSLATE)?, first(Direction::Down, TRANSLATED)?];
    (answer.delivered <= end).then_some([asked, answer])
}

/// The first line was requested with its virtual address.
fn is_direct(link: &CcixLink) -> bool {
    let records = link.records(Direction::Up);
    let first = records.iter().find(|one| has(one, is_of_a_line));
    first.is_some_and(|one| {
        has_message(one, |message| {
            is_of_a_line(message[0] >> 60) && message.get(1).is_some_and(|word| word & DIRECT != 0)
        })
    })
}

/// Hops of the observed transfer: requests or written lines to the host, responses back.
struct Hops {
    up: Vec<Hop>,
    down: Vec<Hop>,
    propagation: Picoseconds,
}

impl Hops {
    fn of(link: &CcixLink, scenario: &CcixScenario) -> Self {
        let lines = |way| {
            let records = link.records(way).into_iter();
            records.filter(|one| has(one, is_of_a_line)).map(|one| Hop::of(&one)).collect()
        };
        let propagation = scenario.platform.transport.propagation_ns;
        Self {
            up: lines(Direction::Up),
            down: lines(Direction::Down),
            propagation: Picoseconds::from_ns_f64(propagation),
        }
    }
}

/// The end of a walk in a span, else its begin.
fn walk(walked: &[Picoseconds], from: Picoseconds, to: Picoseconds) -> Picoseconds {
    walked.iter().copied().find(|time| (from..=to).contains(time)).unwrap_or(from)
}

/// Stages of the observed transfer, which ran alone.
pub(super) fn stages(
    world: &World,
    scenario: &CcixScenario,
    outcome: &Outcome,
) -> Result<Vec<Stage>, RoadError> {
    let missing =
        || RoadError::Inconsistent("ccix: the observed transfer left no trace".to_owned());
    let begin = *outcome.times.due.last().ok_or_else(missing)?;
    let end = *outcome.times.done.last().ok_or_else(missing)?;
    let probes = world.simulation.probes().since(0);
    let first_time = |name: &str| -> Option<Picoseconds> {
        let number = world.fpga.stages().iter().position(|stage| stage == name);
        let mine = probes.iter().find(|one| Some(usize::from(one.stage)) == number);
        mine.map(|one| one.time)
    };
    let later = |name: &str, least: Picoseconds| -> Option<Picoseconds> {
        let number = world.fpga.stages().iter().position(|stage| stage == name);
        let mut mine = probes.iter().filter(|one| Some(usize::from(one.stage)) == number);
        mine.find(|one| one.time >= least).map(|one| one.time)
    };
    let mut way = Way::new(begin);
    way.until("fpga", "task taken", first_time("Taken").ok_or_else(missing)?)?;
    // Ends of the host's walks for lines that came with virtual addresses.
    let mut walked = Vec::new();
    let Agent { link, translator, .. } = &*world.agent;
    way.until("fpga", "line requested", first_time("Requested").ok_or_else(missing)?)?;
    let mut sent = first_time("Translated").ok_or_else(missing)?;
    if let Some(translator) = translator
        && is_direct(link)
    {
        // What the transfer waits for is a line behind the first, if one had to wait for the page.
        match translation(link, end).and_then(|[_, answer]| later("Translated", answer.delivered)) {
            Some(time) => sent = time,
            None => walked = translator.located(),
        }
    }
    if let Some([asked, answer]) = translation(link, sent) {
        way.until("fpga", "translation", asked.handed)?;
        way.until("wire", "translation, to the host", asked.delivered)?;
        way.until("host", "page walk", answer.handed)?;
        way.until("wire", "translation, back", answer.delivered)?;
    }
    way.until("fpga", "translation", sent)?;
    if scenario.is_cached() && !link.records(Direction::Up).iter().any(|one| has(one, is_of_a_line))
    {
        way.until("fpga", "cache", end)?;
        return way.finish(end);
    }
    let gateway = Picoseconds::from_ns_f64(scenario.platform.home.gateway_ns);
    let hops = Hops::of(link, scenario);
    let first = hops.up.iter().find(|hop| hop.handed >= sent).ok_or_else(missing)?;
    way.until("fpga", "agent, packer", first.handed)?;
    way.until("fpga", "hard block", first.start)?;
    if scenario.stores_at_home() {
        // All lines go up; what counts is the last.
        let last = hops.up.last().ok_or_else(missing)?;
        way.until("wire", "bits", last.end)?;
        way.until("wire", "propagation", last.end + hops.propagation)?;
        way.until("host", "port", last.delivered)?;
        let home = last.delivered + gateway;
        way.until("host", "home", home)?;
        way.until("host", "page walk", walk(&walked, home, end))?;
        way.until("host", "memory", end)?;
        return way.finish(end);
    }
    there_and_back(&mut way, scenario, &hops, first, &walked)?;
    way.until("fpga", "unpack, respond", end)?;
    way.finish(end)
}

/// The first request goes up; what counts is the last line.
fn there_and_back(
    way: &mut Way,
    scenario: &CcixScenario,
    hops: &Hops,
    first: &Hop,
    walked: &[Picoseconds],
) -> Result<(), RoadError> {
    let missing = || RoadError::Inconsistent("ccix: no answer of the home was seen".to_owned());
    way.until("wire", "bits", first.end)?;
    way.until("wire", "propagation", first.end + hops.propagation)?;
    way.until("host", "port", first.delivered)?;
    let home = first.delivered + Picoseconds::from_ns_f64(scenario.platform.home.gateway_ns);
    way.until("host", "home", home)?;
    let answer = hops.down.iter().find(|hop| hop.handed >= home).ok_or_else(missing)?;
    let last = hops.down.last().ok_or_else(missing)?;
    way.until("host", "page walk", walk(walked, home, answer.handed))?;
    way.until("host", "memory", answer.handed)?;
    way.until("host", "port", answer.start)?;
    way.until("wire", "bits", last.end)?;
    way.until("wire", "propagation", last.end + hops.propagation)?;
    way.until("fpga", "hard block", last.delivered)
}

/// Stages of the last atomic of the FPGA, which ran alone, by physical addresses.
pub(super) fn stages_of_update(
    world: &World,
    scenario: &CcixScenario,
    outcome: &Outcome,
) -> Result<Vec<Stage>, RoadError> {
    let missing = || RoadError::Inconsistent("ccix: no update left a trace".to_owned());
    let begin = *outcome.times.due.last().ok_or_else(missing)?;
    let end = *outcome.times.done.last().ok_or_else(missing)?;
    let hops = Hops::of(&world.agent.link, scenario);
    let mut way = Way::new(begin);
    let Some(first) = hops.up.first() else {
        way.until("fpga", "AXI port, cache", end)?;
        return way.finish(end);
    };
    way.until("fpga", "AXI port, cache", first.handed)?;
    way.until("fpga", "hard block", first.start)?;
    there_and_back(&mut way, scenario, &hops, first, &[])?;
    way.until("fpga", "cache, AXI port", end)?;
    way.finish(end)
}
