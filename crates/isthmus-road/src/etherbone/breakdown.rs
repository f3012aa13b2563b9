// SPDX-License-Identifier: Apache-2.0
//! The time of one transfer by stages: common parts of every bus's breakdown.

use std::collections::HashSet;

use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::{FrameId, ProbeRecord};
use isthmus_sim::trace::Span;

use super::scene::Scene;
use super::transport::CycleLog;
use crate::error::RoadError;
use crate::measurement::{Stage, TimelineSpan};
use crate::stages::Way;

/// The stages and the timeline of one transfer.
#[derive(Debug, Default)]
pub(super) struct Breakdown {
    pub(super) stages: Vec<Stage>,
    pub(super) timeline: Vec<TimelineSpan>,
}

/// One transfer: a cycle, or several that follow each other without waiting.
#[derive(Debug, Clone)]
pub(super) struct Trip {
    /// From the first cycle's request to the last one's reply.
    pub(super) cycle: CycleLog,
    /// The carrier of the last cycle's request, and the begin of its send call.
    pub(super) last_request: Option<(FrameId, Picoseconds)>,
    /// Writes only: the time at which the device had the last word. The transfer ends there.
    pub(super) taken: Option<Picoseconds>,
    /// For several cycles: the place that limits their rate.
    pub(super) further: Option<&'static str>,
}

impl Trip {
    /// A transfer of one cycle, with a reply.
    pub(super) fn single(cycle: &CycleLog) -> Self {
        let last_request = cycle.request;
        Self { cycle: cycle.clone(), last_request, taken: None, further: None }
    }

    /// When it ends.
    pub(super) fn end(&self) -> Picoseconds {
        self.taken.unwrap_or(self.cycle.end)
    }

    /// Place and name of a stage in which the parts of a transfer of several cycles overlap; of one cycle
    /// it is `place` and `name`.
    pub(super) fn parts(
        &self,
        place: &'static str,
        name: &'static str,
    ) -> (&'static str, &'static str) {
        self.further.map_or((place, name), |place| (place, "further parts"))
    }
}

/// The stages of one transfer over a bus without frames, whose program waits for each transfer: all
/// activity between its begin and its end belongs to it.
pub(super) struct Marks<'a> {
    scene: Scene<'a>,
    trip: &'a Trip,
    sent: Picoseconds,
    received: Picoseconds,
    spans: Vec<Span>,
    probes: Vec<ProbeRecord>,
    way: Way,
    at: Picoseconds,
}

impl<'a> Marks<'a> {
    pub(super) fn new(scene: Scene<'a>, trip: &'a Trip) -> Result<Self, RoadError> {
        let cycle = &trip.cycle;
        let missing = |what: &str| RoadError::Inconsistent(format!("the transfer has no {what}"));
        let (_, sent) = cycle.request.ok_or_else(|| missing("request"))?;
        let replied = cycle.reply.map(|(_, received)| received);
        let received = trip.taken.or(replied).ok_or_else(|| missing("reply"))?;
        let mut spans = scene.simulation.spans().since(0);
        spans.retain(|span| span.start >= cycle.begin && span.end <= trip.end());
        let mut probes = scene.simulation.probes().since(0);
        probes.retain(|probe| {
            probe.device == scene.device.index() && (sent..=received).contains(&probe.time)
        });
        let mut way = Way::new(cycle.asked);
        way.until("host", "wait to be built", cycle.begin)?;
        way.until("host", "build request", cycle.built)?;
        way.until("host", "build further requests", sent)?;
        Ok(Self { scene, trip, sent, received, spans, probes, way, at: sent })
    }

    fn of<'s>(&'s self, track: &'s str, stage: &'s str) -> impl Iterator<Item = &'s Span> {
        self.spans.iter().filter(move |span| &*span.track == track && &*span.stage == stage)
    }

    /// When the first of these spans begins that begins not before this point of the way.
    pub(super) fn begin_of(&self, track: &str, stage: &str) -> Option<Picoseconds> {
        self.of(track, stage).map(|span| span.start).filter(|time| *time >= self.at).min()
    }

    /// When the first of these spans ends that ends not before this point of the way.
    pub(super) fn end_of(&self, track: &str, stage: &str) -> Option<Picoseconds> {
        self.of(track, stage).map(|span| span.end).filter(|time| *time >= self.at).min()
    }

    /// When the last of these spans ends.
    pub(super) fn last_end_of(&self, track: &str, stage: &str) -> Option<Picoseconds> {
        self.of(track, stage).map(|span| span.end).max()
    }

    /// When the program's send call began.
    pub(super) fn sent(&self) -> Picoseconds {
        self.sent
    }

    /// When the program had the reply; of a write, when the device had the last word.
    pub(super) fn received(&self) -> Picoseconds {
        self.received
    }

    /// When a probe of the device first fires.
    pub(super) fn first(&self, probe: &str) -> Option<Picoseconds> {
        self.fired(probe).min()
    }

    /// When a probe of the device last fires.
    pub(super) fn last(&self, probe: &str) -> Option<Picoseconds> {
        self.fired(probe).max()
    }

    /// Every time a probe of the device fires, in order.
    pub(super) fn all(&self, probe: &str) -> Vec<Picoseconds> {
        self.fired(probe).collect()
    }

    fn fired(&self, probe: &str) -> impl Iterator<Item = Picoseconds> {
        let named = move |p: &&ProbeRecord| self.scene.stage(p.stage) == Some(probe);
        self.probes.iter().filter(named).map(|probe| probe.time)
    }

    /// A stage ends at `time`. One that ends behind another that it overlaps with takes no time.
    pub(super) fn until(
        &mut self,
        place: &str,
        name: &str,
        time: Option<Picoseconds>,
    ) -> Result<(), RoadError> {
        let Some(time) = time.filter(|time| (self.at..=self.received).contains(time)) else {
            return Ok(());
        };
        self.at = time;
        self.way.until(place, name, time)
    }

    /// The rest of the way is the library's; a write has none. `pairs` of probes make the device's bars.
    pub(super) fn finish(mut self, pairs: &[(&str, &str, &str)]) -> Result<Breakdown, RoadError> {
        let (asked, end) = (self.trip.cycle.asked, self.trip.end());
        if self.trip.taken.is_some() {
            self.until("fpga", "bus operations", Some(self.received))?;
        } else {
            let CycleLog { resumed, matched, .. } = self.trip.cycle;
            self.until("host", "receive call", Some(self.received))?;
            self.way.until("host", "operating system", resumed)?;
            self.way.until("host", "take earlier replies apart", matched)?;
            self.way.until("host", "take reply apart", end)?;
        }
        let stages = merged(self.way.finish(end)?);
        let bars = bars(self.scene, &self.probes, pairs, asked, 0);
        let tags: Vec<u64> = self.spans.iter().map(|span| span.tag).collect();
        let timeline = timeline(&self.spans, &tags, bars, (asked, end));
        Ok(Breakdown { stages, timeline })
    }
}

/// Stages that the way passes repeatedly become one each.
fn merged(stages: Vec<Stage>) -> Vec<Stage> {
    let mut made: Vec<Stage> = Vec::new();
    for stage in stages {
        match made.iter_mut().find(|s| s.name == stage.name && s.place == stage.place) {
            Some(known) => known.ps += stage.ps,
            None => made.push(stage),
        }
    }
    made
}

/// A bar of a timeline: track, name, start, end, tag.
pub(super) type Bar = (String, String, Picoseconds, Picoseconds, u64);

/// Overlapping activity inside the device, from pairs of probes: `(bar, first, last)`.
pub(super) fn bars(
    scene: Scene<'_>,
    probes: &[ProbeRecord],
    pairs: &[(&str, &str, &str)],
    from: Picoseconds,
    tag: u64,
) -> Vec<Bar> {
    let at = |probe: &str, from: Picoseconds| {
        let matches = |p: &&ProbeRecord| scene.stage(p.stage) == Some(probe) && p.time >= from;
        probes.iter().find(matches).map(|probe| probe.time)
    };
    let bar = |(bar, first, last): &(&str, &str, &str)| {
        let start = at(first, from)?;
        Some(("fpga".to_owned(), (*bar).to_owned(), start, at(last, start)?, tag))
    };
    pairs.iter().filter_map(bar).collect()
}

/// Bars that a timeline has at most: the first ones. Of a large transfer word by word they would be millions.
const MOST_BARS: usize = 10_000;

/// The timeline of what lies between two times: spans with one of these tags, and `bars`; the first `MOST_BARS`.
pub(super) fn timeline(
    spans: &[Span],
    tags: &[u64],
    bars: Vec<Bar>,
    (begin, end): (Picoseconds, Picoseconds),
) -> Vec<TimelineSpan> {
    let tags: HashSet<u64> = tags.iter().copied().collect();
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
    made.truncate(MOST_BARS);
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

/// Stages of the library's own work, which the log gives more exactly.
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
