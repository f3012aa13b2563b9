// SPDX-License-Identifier: Apache-2.0
//! Speed and quality of the finders on one sample, in one run.

use crate::events::{Sample, Truth};
use crate::geometry::Geometry;
use crate::peers::{self, Peer};
use crate::record::Record;
use crate::rings::{Config, Finder, Found};
use crate::score::{Quality, rms, width68};
use crate::simd::Level;
use crate::single::{self, Fits, Method};
use serde::Serialize;
use std::ops::Range;
use std::time::Instant;

/// Events that are timed together.
pub const SLICE: usize = 512;

/// Seconds for all events: the sum over slices of the shortest of `passes` runs. All slices have their turn before
/// one is run again, so that no branch is learnt by heart, and what else the machine does is left out.
pub fn seconds(events: usize, passes: usize, mut run: impl FnMut(Range<usize>)) -> f64 {
    let slices: Vec<Range<usize>> =
        (0..events).step_by(SLICE).map(|at| at..(at + SLICE).min(events)).collect();
    let mut best = vec![f64::INFINITY; slices.len()];
    for _ in 0..passes.max(1) {
        for (slice, best) in slices.iter().zip(&mut best) {
            let start = Instant::now();
            run(slice.clone());
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    best.iter().sum()
}

/// Which finder of several circles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// That of [`crate::rings`].
    Likelihood,
    /// One of [`crate::peers`].
    Peer(Peer),
}

/// All finders of several circles.
pub const FINDERS: [(&str, Kind); 3] = [
    ("isthmus", Kind::Likelihood),
    ("Almagest", Kind::Peer(Peer::Almagest)),
    ("histogram", Kind::Peer(Peer::Histogram)),
];

/// One finder on one sample.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Its name.
    pub finder: &'static str,
    /// Instructions it used.
    pub level: &'static str,
    /// Events of one core, a second, from the records as they are on the wire.
    pub per_second: f64,
    /// Microseconds for sixteen events that come together: the median, and the shortest.
    pub sixteen_us: [f64; 2],
    /// Quality; that of a single circle is not scored.
    pub quality: Option<Summary>,
}

/// Quality as people read it.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Events it is of.
    pub events: u64,
    /// Share of true circles found, in events of 1, 2 and 3.
    pub efficiency: [f64; 3],
    /// Share of events of 0 to 3 with the right number.
    pub multiplicity: [f64; 4],
    /// Events by true and found number.
    pub confusion: [[u64; 4]; 4],
    /// Fakes an event.
    pub fakes: f64,
    /// Errors of the radius, mm: root mean square, and half the width of 68 %.
    pub radius_mm: [f64; 2],
    /// Of the centre, an axis.
    pub centre_mm: [f64; 2],
}

impl From<&Quality> for Summary {
    fn from(q: &Quality) -> Self {
        Self {
            events: q.events,
            efficiency: [1, 2, 3].map(|number| q.efficiency(number)),
            multiplicity: [0, 1, 2, 3].map(|number| q.multiplicity(number)),
            confusion: q.confusion,
            fakes: q.fake_rate(),
            radius_mm: [rms(&q.radius_mm), width68(&q.radius_mm)],
            centre_mm: [rms(&q.centre_mm), width68(&q.centre_mm)],
        }
    }
}

/// A finder that is ready.
pub struct Ready {
    geometry: Geometry,
    finder: Finder,
}

impl Ready {
    /// For a disk.
    #[must_use]
    pub fn new(geometry: &Geometry, config: &Config) -> Self {
        Self { geometry: geometry.clone(), finder: Finder::new(geometry, config) }
    }

    /// The circles of all events.
    pub fn find(&self, level: Level, method: Kind, events: &[Record], found: &mut Vec<Found>) {
        match method {
            Kind::Likelihood => self.finder.find(level, events, found),
            Kind::Peer(peer) => peers::find(level, &self.geometry, peer, events, found),
        }
    }

    /// The finder of [`Kind::Likelihood`].
    #[must_use]
    pub fn finder(&self) -> &Finder {
        &self.finder
    }

    /// Speed and quality of one finder.
    #[must_use]
    pub fn row(
        &self,
        (finder, method): (&'static str, Kind),
        level: Level,
        sample: &Sample,
        events: &[Record],
        truths: &[Truth],
        passes: usize,
    ) -> Row {
        let mut found = Vec::new();
        let took = seconds(events.len(), passes, |slice| {
            self.find(level, method, &events[slice], &mut found);
        });
        let sixteen_us = sixteen(events, |few| self.find(level, method, few, &mut found));
        self.find(level, method, events, &mut found);
        let quality = Summary::from(&Quality::of(truths, &found, sample.counted_hits));
        let per_second = events.len() as f64 / took;
        Row { finder, level: level.name(), per_second, sixteen_us, quality: Some(quality) }
    }

    /// Speed of the single circle.
    #[must_use]
    pub fn single(&self, method: Method, level: Level, events: &[Record], passes: usize) -> Row {
        let mut fits = Fits::default();
        let took = seconds(events.len(), passes, |slice| {
            single::fit(level, &self.geometry, &events[slice], method, &mut fits);
        });
        let sixteen_us = sixteen(events, |few| {
            single::fit(level, &self.geometry, few, method, &mut fits);
        });
        let finder = match method {
            Method::Kasa => "one circle, Kasa",
            Method::Taubin => "one circle, Taubin",
        };
        let per_second = events.len() as f64 / took;
        Row { finder, level: level.name(), per_second, sixteen_us, quality: None }
    }
}

/// Median and shortest time of sixteen events, each time others.
fn sixteen(events: &[Record], mut run: impl FnMut(&[Record])) -> [f64; 2] {
    let mut times: Vec<f64> = events
        .as_chunks::<16>()
        .0
        .iter()
        .take(1000)
        .map(|few| {
            let start = Instant::now();
            run(few);
            start.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_unstable_by(f64::total_cmp);
    [times.get(times.len() / 2), times.first()].map(|time| time.copied().unwrap_or(f64::NAN))
}
