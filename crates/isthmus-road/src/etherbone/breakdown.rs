// SPDX-License-Identifier: Apache-2.0
//! Where the time of one transfer goes: what every bus's breakdown is made of.

use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::ProbeRecord;
use isthmus_sim::trace::Span;

use super::program::{Outcome, Task};
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
    world.bus.breakdown(world, cycle)
}

/// A bar of a timeline: track, name, start, end, tag.
pub(super) type Bar = (String, String, Picoseconds, Picoseconds, u64);

/// What overlaps inside the device, from pairs of probes: `(bar, first, last)`.
pub(super) fn bars(
    world: &World,
    probes: &[ProbeRecord],
    pairs: &[(&str, &str, &str)],
    from: Picoseconds,
    tag: u64,
) -> Vec<Bar> {
    let at = |probe: &str, from: Picoseconds| {
        let matches = |p: &&ProbeRecord| world.stage(p.stage) == Some(probe) && p.time >= from;
        probes.iter().find(matches).map(|probe| probe.time)
    };
    let bar = |(bar, first, last): &(&str, &str, &str)| {
        let start = at(first, from)?;
        Some(("fpga".to_owned(), (*bar).to_owned(), start, at(last, start)?, tag))
    };
    pairs.iter().filter_map(bar).collect()
}

/// The timeline of what lies between two times: spans with one of these tags, and `bars`.
pub(super) fn timeline(
    spans: &[Span],
    tags: &[u64],
    bars: Vec<Bar>,
    (begin, end): (Picoseconds, Picoseconds),
) -> Vec<TimelineSpan> {
    let mut made: Vec<TimelineSpan> = spans
        .iter()
        .filter(|span| tags.contains(&span.tag))
        .map(|s| (s.track.to_string(), s.stage.to_string(), s.start, s.end, s.tag))
        .chain(bars)
        .filter(|(_, _, start, until, _)| *start >= begin && *until <= end && until > start)
        .map(|(track, name, start, until, tag)| TimelineSpan {
            track,
            name,
            start_ps: (start - begin).0,
            end_ps: (until - begin).0,
            tag,
        })
        .collect();
    made.sort_by_key(|bar| (bar.start_ps, bar.end_ps));
    made
}

/// Follows a frame's spans, which the world lays end to end, between two times.
pub(super) fn along(
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
