// SPDX-License-Identifier: Apache-2.0
//! Where the time of one transfer goes.

use isthmus_sim::Picoseconds;
use isthmus_sim::trace::Span;

use super::program::{Outcome, Task};
use super::transport::CycleLog;
use super::world::World;
use crate::error::RoadError;
use crate::measurement::{Stage, TimelineSpan};
use crate::stages::Way;

/// The stages and the timeline of one transfer.
#[derive(Debug, Default)]
pub(super) struct Breakdown {
    pub(super) stages: Vec<Stage>,
    pub(super) timeline: Vec<TimelineSpan>,
}

/// The probe that ends each stage inside the device, by the name the gateware gives it.
const FPGA_STAGES: &[(&str, &str)] = &[
    ("MacRxLast", "clock crossing"),
    ("MacRxVerdict", "frame check"),
    ("EbFirstWord", "take request"),
    ("WbIssue", "bus operations"),
    ("EbReplyWhole", "finish reply"),
    ("MacTxFirst", "begin transmit"),
];
/// Pairs of probes that enclose what overlaps with other things.
const FPGA_BARS: &[(&str, &str, &str)] = &[
    ("receive", "MacRxFirst", "MacRxLast"),
    ("execute", "EbFirstWord", "EbReplyWhole"),
    ("transmit", "MacTxFirst", "MacTxLast"),
];

/// The breakdown of the transfer with the median latency; nothing where a sample is no single
/// cycle, or where it was not asked for.
pub(super) fn of(world: &World, outcome: &Outcome, task: &Task) -> Result<Breakdown, RoadError> {
    if matches!(task, Task::Timestamps { stages: false, .. }) {
        return Ok(Breakdown::default());
    }
    let Some(cycles) = &outcome.cycle_of_sample else { return Ok(Breakdown::default()) };
    let mut order: Vec<usize> = (0..outcome.samples.len()).collect();
    order.sort_by_key(|sample| outcome.samples[*sample]);
    let median = order.len().checked_sub(1).and_then(|last| order.get(last / 2));
    let cycle = median.and_then(|sample| outcome.log.get(*cycles.get(*sample)?));
    let Some(cycle) = cycle else { return Ok(Breakdown::default()) };
    transfer(world, cycle)
}

fn transfer(world: &World, cycle: &CycleLog) -> Result<Breakdown, RoadError> {
    let missing = |what: &str| RoadError::Inconsistent(format!("the transfer has no {what}"));
    let (request, send_call) = cycle.request.ok_or_else(|| missing("request"))?;
    let (reply, received) = cycle.reply.ok_or_else(|| missing("reply"))?;
    let (pins_in, pins_out) =
        world.pins(request, reply).ok_or_else(|| missing("frames on the device's pins"))?;
    let spans = world.simulation.spans().since(0);

    let mut way = Way::new(cycle.begin);
    way.until("host", "build request", cycle.built)?;
    way.until("host", "build further requests", send_call)?;
    along(&mut way, &spans, request.0, (send_call, pins_in.last))?;
    // The device takes the last octet one receive clock after it was driven onto the pins.
    let (receive_period, main_period) = world.periods();
    let taken = (pins_in.last + receive_period).min(pins_out.first);
    way.until("wire", "PHY receive", taken)?;
    let tag = tag_of(world, taken, main_period);
    let mut probes = world.simulation.probes().since(0);
    probes.retain(|probe| Some(probe.tag) == tag && probe.device == world.device.index());
    let name = |stage: u16| world.device.stages().get(usize::from(stage)).map(String::as_str);
    for probe in &probes {
        let known = FPGA_STAGES.iter().find(|(end, _)| Some(*end) == name(probe.stage));
        if let Some((_, stage)) = known
            && (taken..=pins_out.first).contains(&probe.time)
        {
            way.until("fpga", stage, probe.time)?;
        }
    }
    way.until("fpga", "begin transmit", pins_out.first)?;
    along(&mut way, &spans, reply.0, (pins_out.first, received))?;
    way.until("host", "take earlier replies apart", cycle.matched)?;
    way.until("host", "take reply apart", cycle.end)?;
    let stages = way.finish(cycle.end)?;

    let mut timeline: Vec<TimelineSpan> = spans
        .iter()
        .filter(|span| span.tag == request.0 || span.tag == reply.0)
        .map(|span| {
            (span.track.to_string(), span.stage.to_string(), span.start, span.end, span.tag)
        })
        .chain(FPGA_BARS.iter().filter_map(|(bar, first, last)| {
            let at = |probe_name: &str, from: Picoseconds| {
                let matches = |p: &&isthmus_sim::kernel::ProbeRecord| {
                    name(p.stage) == Some(probe_name) && p.time >= from
                };
                probes.iter().find(matches).map(|probe| probe.time)
            };
            let start = at(first, pins_in.first)?;
            let end = at(last, start)?;
            Some(("fpga".to_owned(), (*bar).to_owned(), start, end, request.0))
        }))
        .filter(|(_, _, start, end, _)| *start >= cycle.begin && *end <= cycle.end && end > start)
        .map(|(track, name, start, end, tag)| TimelineSpan {
            track,
            name,
            start_ps: (start - cycle.begin).0,
            end_ps: (end - cycle.begin).0,
            tag,
        })
        .collect();
    timeline.sort_by_key(|bar| (bar.start_ps, bar.end_ps));
    Ok(Breakdown { stages, timeline })
}

/// Follows a frame's spans, which the world lays end to end, between two times.
fn along(
    way: &mut Way,
    spans: &[Span],
    frame: u64,
    (from, until): (Picoseconds, Picoseconds),
) -> Result<(), RoadError> {
    let mut own: Vec<&Span> = spans
        .iter()
        .filter(|span| span.tag == frame && span.start >= from && span.end <= until)
        .filter(|span| !OWN_WORK.contains(&&*span.stage))
        .collect();
    own.sort_by_key(|span| (span.start, span.end));
    for span in own {
        way.joins(span.start, &span.stage)?;
        way.until(place(&span.track, &span.stage), &span.stage, span.end)?;
    }
    way.joins(until, "the end of a frame's way")
}

/// Stages of the library's own work, which the log tells more exactly.
const OWN_WORK: [&str; 2] = ["build request", "take reply apart"];

fn place(track: &str, stage: &str) -> &'static str {
    match (track, stage) {
        (_, "serialise" | "wait for the wire" | "cable") => "wire",
        ("host", _) => "host",
        ("host.nic", _) => "nic",
        (track, _) if track.starts_with("switch") => "switch",
        _ => "wire",
    }
}

/// The number the device gave the frame whose last octet it took at `taken`.
fn tag_of(world: &World, taken: Picoseconds, period: Picoseconds) -> Option<u8> {
    let stages = world.device.stages();
    let last = stages.iter().position(|stage| stage == "MacRxLast")?;
    let window = taken..=taken + period * 16;
    let probes = world.simulation.probes().since(0);
    let found = probes.iter().find(|probe| {
        probe.device == world.device.index()
            && usize::from(probe.stage) == last
            && window.contains(&probe.time)
    })?;
    Some(found.tag)
}
