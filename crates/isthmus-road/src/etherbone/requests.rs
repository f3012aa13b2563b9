// SPDX-License-Identifier: Apache-2.0
//! The world's report of a run of requests: arrival times of writes at the device, and busy times.

use std::collections::BTreeMap;

use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::ProbeRecord;

use super::breakdown::Trip;
use super::scene::Scene;
use super::task::{Access, Requests};
use super::transport::CycleLog;
use crate::error::RoadError;

/// The probe of an operation that goes to the device's bus.
const ISSUE: &str = "WbIssue";
/// The probe of its answer, where operations follow each other only when they have theirs.
const ANSWER: &str = "WbAnswer";

/// When each of the requests that count had ended: a read with its data in the program, a write with its last
/// word on the device's bus.
pub(super) fn ends(
    scene: Scene<'_>,
    access: &Access,
    requests: &Requests,
) -> Result<Vec<Picoseconds>, RoadError> {
    if !access.is_write() {
        return Ok(requests.ended.clone());
    }
    let (start, end) = requests.series;
    let probes = strobes(scene, ISSUE);
    let inside = probes.iter().filter(|probe| probe.time > start && probe.time <= end);
    let issued: Vec<Picoseconds> = inside.map(|probe| probe.time).collect();
    let words = access.words() as usize;
    let expected = requests.all * words;
    if issued.len() != expected {
        return Err(RoadError::Violation(format!(
            "{expected} words were written, {} reached the device's bus",
            issued.len()
        )));
    }
    Ok(requests.counted.clone().map(|request| issued[(request + 1) * words - 1]).collect())
}

/// The shares of a time span in which host and device were busy. The bus reports the share of the
/// medium.
pub(super) fn busy(
    scene: Scene<'_>,
    requests: &Requests,
    (from, until): (Picoseconds, Picoseconds),
) -> BTreeMap<&'static str, f64> {
    let mut shares = BTreeMap::from([("host", requests.host_busy)]);
    let issued = strobes(scene, ISSUE);
    if !issued.is_empty() {
        let span = until.saturating_sub(from).0.max(1) as f64;
        let clock = scene.device.clock_period("clk_i").unwrap_or_default();
        let answered = strobes(scene, ANSWER);
        let taken: Picoseconds = if answered.is_empty() {
            clock
                * issued.iter().filter(|probe| (from..=until).contains(&probe.time)).count() as u64
        } else {
            let pairs = issued.iter().zip(&answered);
            let inside = pairs.filter(|(issue, answer)| issue.time >= from && answer.time <= until);
            inside.map(|(issue, answer)| answer.time.saturating_sub(issue.time) + clock).sum()
        };
        shares.insert("fpga", (taken.0 as f64 / span).min(1.0));
    }
    shares
}

/// A request as one transfer. `place`: where the time of its parts goes, if it has several.
pub(super) fn trip(
    cycles: &[CycleLog],
    access: &Access,
    end: Picoseconds,
    place: &'static str,
) -> Option<Trip> {
    let (first, last) = (cycles.first()?, cycles.last()?);
    let CycleLog { reply, resumed, matched, .. } = *last;
    Some(Trip {
        cycle: CycleLog { reply, resumed, matched, end: last.end, ..first.clone() },
        last_request: last.request,
        taken: access.is_write().then_some(end),
        further: (cycles.len() > 1).then_some(place),
    })
}

/// The strobes of a probe of the device, in the order of time.
fn strobes(scene: Scene<'_>, stage: &str) -> Vec<ProbeRecord> {
    let mut probes = scene.simulation.probes().since(0);
    let device = scene.device.index();
    probes.retain(|probe| probe.device == device && scene.stage(probe.stage) == Some(stage));
    probes
}
