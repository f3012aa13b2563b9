// SPDX-License-Identifier: Apache-2.0
//! What the commands of isthmus print and draw, as plain data.

use crate::bench::{FINDERS, Kind, Ready, Row, SLICE, Summary, seconds};
use crate::events::{Ring, Sample, Truth, generate, sample};
use crate::file::{self, FileError, MAX_EVENTS, Origin};
use crate::geometry::Geometry;
use crate::paced::{Times, on_a_core};
use crate::record::{self, RECORD_BYTES, Record};
use crate::rings::{Config, Finder, Found};
use crate::score::{MATCH_MM, Quality, distance_mm};
use crate::simd::Level;
use crate::single::{self, Fits, Method};
use serde::Serialize;

/// Why there is no report.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ReportError {
    /// A name that is none.
    #[error("unknown {what} '{name}'; choose from {known}")]
    Unknown {
        /// Of what.
        what: &'static str,
        /// Given.
        name: String,
        /// Legal.
        known: String,
    },
    /// An instruction set that this processor lacks.
    #[error("this processor has no {0}")]
    Level(&'static str),
    /// A number outside its range.
    #[error("{what} is {value}, legal is {least} to {most}")]
    Range {
        /// Which.
        what: &'static str,
        /// Given.
        value: f64,
        /// Lowest.
        least: f64,
        /// Highest.
        most: f64,
    },
    /// A file that is none.
    #[error(transparent)]
    File(#[from] FileError),
}

fn unknown<'a>(
    what: &'static str,
    name: &str,
    known: impl Iterator<Item = &'a str>,
) -> ReportError {
    let known = known.collect::<Vec<_>>().join(", ");
    ReportError::Unknown { what, name: name.to_owned(), known }
}

pub(crate) fn chosen_sample(name: &str) -> Result<Sample, ReportError> {
    let known = crate::events::SAMPLES.iter().map(|sample| sample.name);
    sample(name).ok_or_else(|| unknown("sample", name, known))
}

pub(crate) fn chosen_level(name: Option<&str>) -> Result<Level, ReportError> {
    let Some(name) = name else { return Ok(Level::best()) };
    let found = Level::ALL.into_iter().find(|level| level.name() == name);
    let level =
        found.ok_or_else(|| unknown("level", name, Level::ALL.iter().map(|level| level.name())))?;
    if level.is_available() { Ok(level) } else { Err(ReportError::Level(level.name())) }
}

fn within(what: &'static str, value: f64, least: f64, most: f64) -> Result<(), ReportError> {
    if (least..=most).contains(&value) {
        Ok(())
    } else {
        Err(ReportError::Range { what, value, least, most })
    }
}

/// A file of events, and that of their truths.
pub fn events(
    name: &str,
    seed: u64,
    count: usize,
    rate_hz: f64,
) -> Result<(Vec<u8>, Vec<u8>), ReportError> {
    let sample = asked(name, count, rate_hz)?;
    let (records, truths) = generate(&Geometry::na62(), &sample, seed, count);
    let origin = Origin { sample: name.to_owned(), seed, rate_hz };
    Ok((file::encode(&origin, &records), file::encode_truths(&origin, &truths)))
}

/// A sample at a rate, if so many events of it can be made.
pub fn asked(name: &str, count: usize, rate_hz: f64) -> Result<Sample, ReportError> {
    within("number of events", count as f64, 1.0, MAX_EVENTS as f64)?;
    // The slowest has days between events, the fastest one in each TDC unit.
    within("rate", rate_hz, 1e-3, 1e9)?;
    Ok(Sample { rate_hz, ..chosen_sample(name)? })
}

/// What a finder made of a file.
#[derive(Clone, Debug, Serialize)]
pub struct FindReport {
    /// Sample and seed of the events.
    pub sample: String,
    /// See `sample`.
    pub seed: u64,
    /// Events.
    pub events: usize,
    /// Hits of an event, in the mean.
    pub hits: f64,
    /// Events in which 0, 1, 2 and 3 circles were found.
    pub found: [u64; 4],
    /// Speed; and quality where the truth is known.
    pub row: Row,
}

/// Finds the circles of a file's events.
pub fn find(
    events: &[u8],
    truths: Option<&[u8]>,
    finder: &str,
    level: Option<&str>,
    passes: usize,
) -> Result<FindReport, ReportError> {
    let level = chosen_level(level)?;
    let entry = FINDERS.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(finder));
    let entry =
        entry.ok_or_else(|| unknown("finder", finder, FINDERS.iter().map(|(name, _)| *name)))?;
    let (origin, records, truths) = match truths {
        Some(truths) => {
            let (origin, records, truths) = file::decode_both(events, truths)?;
            (origin, records, Some(truths))
        }
        None => {
            let (origin, records) = file::decode(events)?;
            (origin, records, None)
        }
    };
    let sample = origin.known().unwrap_or(crate::events::REFERENCE);
    let ready = Ready::new(&Geometry::na62(), &Config::default());
    let empty = Vec::new();
    let known = truths.as_ref().unwrap_or(&empty);
    let mut row = ready.row(entry, level, &sample, records, known, passes);
    if truths.is_none() {
        row.quality = None;
    }
    let mut found = Vec::new();
    ready.find(level, entry.1, records, &mut found);
    let mut counts = [0; 4];
    for one in &found {
        counts[usize::from(one.count)] += 1;
    }
    let hits = records.iter().map(record::count).sum::<usize>() as f64;
    Ok(FindReport {
        sample: origin.sample,
        seed: origin.seed,
        events: records.len(),
        hits: hits / records.len().max(1) as f64,
        found: counts,
        row,
    })
}

/// Circles of records as words, for programs: of each event its number of circles, the margin, and x, y and radius
/// of three circles in mm as the bits of floats, all little-endian.
pub fn circles(records: &[u8], level: Option<&str>) -> Result<Vec<u8>, ReportError> {
    let level = chosen_level(level)?;
    let events = whole(records)?;
    let mut found = Vec::new();
    Finder::new(&Geometry::na62(), &Config::default()).find(level, events, &mut found);
    let mut made = Vec::with_capacity(44 * found.len());
    for one in &found {
        let start = made.len();
        made.extend(u32::from(one.count).to_le_bytes());
        made.extend(one.margin.to_le_bytes());
        let all = one.rings().iter().flat_map(|ring| [ring.x, ring.y, ring.r]);
        all.for_each(|value| made.extend(value.to_le_bytes()));
        made.resize(start + 44, 0);
    }
    Ok(made)
}

/// One circle of each record: x, y, radius and rms in mm, floats.
pub fn single_circles(records: &[u8], level: Option<&str>) -> Result<Vec<u8>, ReportError> {
    let level = chosen_level(level)?;
    let events = whole(records)?;
    let mut fits = Fits::default();
    single::fit(level, &Geometry::na62(), events, Method::Taubin, &mut fits);
    let each = (0..events.len()).map(|at| fits.get(at));
    Ok(each
        .flat_map(|(ring, rms)| [ring.x, ring.y, ring.r, rms])
        .flat_map(f32::to_le_bytes)
        .collect())
}

fn whole(records: &[u8]) -> Result<&[Record], ReportError> {
    let (events, rest) = records.as_chunks::<RECORD_BYTES>();
    if !rest.is_empty() {
        let expected = (events.len() * RECORD_BYTES) as u64;
        return Err(FileError::Length { expected, got: records.len() }.into());
    }
    record::check(events).map_err(FileError::from)?;
    Ok(events)
}

/// An event to look at, mm.
#[derive(Clone, Debug, Serialize)]
pub struct Display {
    /// Its number in the sample.
    pub event: usize,
    /// x, y, and which rings it belongs to: a bit each, 0 for noise.
    pub hits: Vec<(f64, f64, u8)>,
    /// x, y, r, and whether it was found.
    pub truth: Vec<(f32, f32, f32, bool)>,
    /// x, y, r, and whether it is a true one.
    pub found: Vec<(f32, f32, f32, bool)>,
}

/// Pairs of true and found circles that are the same.
fn matched(truth: &Truth, found: &Found) -> (Vec<bool>, Vec<bool>) {
    let mut pairs: Vec<(f32, usize, usize)> = Vec::new();
    for (at, one) in truth.rings.iter().enumerate() {
        for (other, ring) in found.rings().iter().enumerate() {
            pairs.push((distance_mm(&one.ring, ring), at, other));
        }
    }
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut a, mut b) = (vec![false; truth.rings.len()], vec![false; found.rings().len()]);
    for (away, at, other) in pairs {
        if away < MATCH_MM && !a[at] && !b[other] {
            (a[at], b[other]) = (true, true);
        }
    }
    (a, b)
}

fn display(
    disk: &Geometry,
    event: usize,
    record: &Record,
    truth: &Truth,
    found: &Found,
) -> Display {
    let hits = record::hits(record).zip(truth.labels).filter_map(|(hit, label)| {
        let (x, y) = disk.place_mm(hit.id)?;
        Some((x, y, label))
    });
    let (seen, right) = matched(truth, found);
    let circle = |ring: &Ring, flag| (ring.x, ring.y, ring.r, flag);
    Display {
        event,
        hits: hits.collect(),
        truth: truth.rings.iter().zip(seen).map(|(one, flag)| circle(&one.ring, flag)).collect(),
        found: found.rings().iter().zip(right).map(|(one, flag)| circle(one, flag)).collect(),
    }
}

/// Events of a batch whose latency is measured: as many as the published system took together.
pub const BATCH: usize = 20;
/// Batches a pass of the benchmark.
const PACED: usize = 2500;
/// Events of batches whose rate is measured.
pub const BATCHES: [usize; 8] = [1, 2, 4, 8, 16, 20, 64, 256];

/// A processor that finds the rings of batches.
#[derive(Clone, Debug, Serialize)]
pub struct Way {
    /// Which finder, where.
    pub name: String,
    /// Events of the batches of `first` and `last`.
    pub batch: usize,
    /// Of these, events a second that are due.
    pub rate_hz: f64,
    /// From the time at which a batch is due to the rings of its first event.
    pub first: Times,
    /// To those of its last; a core has all of them together.
    pub last: Times,
    /// Events of a batch, and events a second where the next batch is always there.
    pub rates: Vec<(usize, f64)>,
}

/// Latency and rate of batches on one core. It is offered half of what it can do, so that a batch rarely waits for
/// the one before.
fn on_one_core(
    ready: &Ready,
    (name, kind): (&str, Kind),
    records: &[Record],
    passes: usize,
) -> Way {
    let mut found = Vec::new();
    let mut rates = Vec::new();
    for batch in BATCHES {
        let took = seconds(records.len(), passes, |slice| {
            for few in records[slice].chunks(batch) {
                ready.find(Level::best(), kind, few, &mut found);
            }
        });
        rates.push((batch, records.len() as f64 / took));
    }
    let full = rates.iter().find(|rate| rate.0 == BATCH).map_or(1e6, |rate| rate.1);
    let rate_hz = full / 2.0;
    let times = on_a_core(records, BATCH, rate_hz, PACED * passes.max(1), |few| {
        ready.find(Level::best(), kind, few, &mut found);
    });
    let name = format!("{name}, one core");
    Way { name, batch: BATCH, rate_hz, first: times.clone(), last: times, rates }
}

/// Bins of an error's histogram: half a millimetre each, from -10 mm.
pub const BINS: usize = 40;

/// All finders on one sample.
#[derive(Clone, Debug, Serialize)]
pub struct BenchReport {
    /// Sample, seed and events.
    pub sample: String,
    /// See `sample`.
    pub seed: u64,
    /// See `sample`.
    pub events: usize,
    /// Hits of an event, in the mean.
    pub hits: f64,
    /// Instruction sets of this processor.
    pub levels: Vec<&'static str>,
    /// One circle, then several, level by level; then the published finders.
    pub rows: Vec<Row>,
    /// Quality of our finder on every sample, as many events of each.
    pub samples: Vec<(&'static str, Summary)>,
    /// Share of radii whose error lies in each bin.
    pub radius: Vec<f64>,
    /// Share of coordinates of centres.
    pub centre: Vec<f64>,
    /// Latency and rate of batches, of the finders that a trigger could use.
    pub ways: Vec<Way>,
    /// The first right ones of each number of circles, and the first wrong ones.
    pub displays: Vec<Display>,
}

fn histogram(errors: &[f32]) -> Vec<f64> {
    let mut bins = vec![0u64; BINS];
    for error in errors {
        let at = f64::from(*error) * 2.0 + BINS as f64 / 2.0;
        if (0.0..BINS as f64).contains(&at) {
            bins[at as usize] += 1;
        }
    }
    bins.into_iter().map(|count| count as f64 / errors.len().max(1) as f64).collect()
}

/// Measures all finders. `progress` is called with jobs done and jobs in all; false ends it.
pub fn bench(
    name: &str,
    seed: u64,
    count: usize,
    passes: usize,
    mut progress: impl FnMut(usize, usize) -> bool,
) -> Result<Option<BenchReport>, ReportError> {
    within("number of events", count as f64, SLICE as f64, MAX_EVENTS as f64)?;
    let sample = chosen_sample(name)?;
    let disk = Geometry::na62();
    let (records, truths) = generate(&disk, &sample, seed, count);
    let ready = Ready::new(&disk, &Config::default());
    let levels: Vec<Level> = Level::ALL.into_iter().filter(|level| level.is_available()).collect();
    // The histogram of distances is no method for a trigger: a hundred times as slow.
    let triggers = || FINDERS.into_iter().filter(|(name, _)| *name != "histogram");
    let total =
        3 * levels.len() + FINDERS.len() - 1 + triggers().count() + crate::events::SAMPLES.len();
    let mut rows = Vec::new();
    let mut done = 0;
    let mut step = || {
        done += 1;
        progress(done, total)
    };
    for &level in &levels {
        for method in [Method::Kasa, Method::Taubin] {
            rows.push(ready.single(method, level, &records, 4 * passes));
            if !step() {
                return Ok(None);
            }
        }
        rows.push(ready.row(FINDERS[0], level, &sample, &records, &truths, passes));
        if !step() {
            return Ok(None);
        }
    }
    for finder in &FINDERS[1..] {
        // The histogram takes a hundred times as long.
        let passes = if finder.0 == "histogram" { 1 } else { passes };
        rows.push(ready.row(*finder, Level::best(), &sample, &records, &truths, passes));
        if !step() {
            return Ok(None);
        }
    }
    let mut ways = Vec::new();
    for finder in triggers() {
        ways.push(on_one_core(&ready, finder, &records, passes));
        if !step() {
            return Ok(None);
        }
    }
    let mut found = Vec::new();
    let mut samples = Vec::new();
    for other in crate::events::SAMPLES {
        let (records, truths) = generate(&disk, other, seed, count);
        ready.find(Level::best(), Kind::Likelihood, &records, &mut found);
        samples.push((other.name, (&Quality::of(&truths, &found, other.counted_hits)).into()));
        if !step() {
            return Ok(None);
        }
    }
    ready.find(Level::best(), Kind::Likelihood, &records, &mut found);
    let quality = Quality::of(&truths, &found, sample.counted_hits);
    let all =
        || (0..records.len()).map(|at| display(&disk, at, &records[at], &truths[at], &found[at]));
    let right =
        |one: &Display| one.truth.iter().all(|ring| ring.3) && one.found.iter().all(|ring| ring.3);
    let mut displays: Vec<Display> = Vec::new();
    for number in 1..=3 {
        displays.extend(all().filter(|one| one.truth.len() == number && right(one)).take(2));
    }
    displays.extend(all().filter(|one| !right(one)).take(6));
    let hits = records.iter().map(record::count).sum::<usize>() as f64;
    Ok(Some(BenchReport {
        sample: name.to_owned(),
        seed,
        events: count,
        hits: hits / count as f64,
        levels: levels.into_iter().map(Level::name).collect(),
        rows,
        samples,
        radius: histogram(&quality.radius_mm),
        centre: histogram(&quality.centre_mm),
        ways,
        displays,
    }))
}
